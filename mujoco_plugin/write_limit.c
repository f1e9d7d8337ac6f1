// What limits count by, and gravity of default rules, in a written scene (import_limit.c).

#include "import.h"
#include "write.h"

#include <math.h>
#include <stdio.h>

// width: numbers of an element. limited: of which it is known; NULL: of all.
typedef struct djmLimits {
  const char* kind;
  djObject object;
  int n, width;
  const int* limited;
  const double *got, *wanted;
} djmLimits;

enum { NKIND = 3 };

static void listLimits(djmLimits list[NKIND], const djModel* got, const djModel* wanted) {
  list[0] = (djmLimits){"joint", DJ_OBJ_JOINT, wanted->njnt, 1, wanted->jnt_limited,
                        got->jnt_effinertia, wanted->jnt_effinertia};
  list[1] = (djmLimits){"tendon", DJ_OBJ_TENDON, wanted->ntendon, 1, wanted->tendon_limited,
                        got->tendon_effinertia, wanted->tendon_effinertia};
  list[2] = (djmLimits){"equality", DJ_OBJ_EQUALITY, wanted->nequality, 2, NULL,
                        got->eq_effinertia, wanted->eq_effinertia};
}

// Whether an element's numbers differ by more than a part of them; *k: which.
static bool differs(int* k, const djmLimits* l, int i, double tolerance) {
  if (l->limited && !l->limited[i]) return false;
  for (*k = 0; *k < l->width; (*k)++) {
    const double got = l->got[l->width * i + *k], wanted = l->wanted[l->width * i + *k];
    if (fabs(got - wanted) > tolerance * wanted) return true;
  }
  return false;
}

static void nameField(char* field, size_t size, const djModel* m, const djmLimits* l, int id) {
  const char* own = dj_id2name(m, l->object, id);
  if (*own) snprintf(field, size, "%s%s/%s", djm_limitInertia, l->kind, own);
  else snprintf(field, size, "%s%s/#%d", djm_limitInertia, l->kind, id);
}

bool djm_writeLimits(djmWrite* w, const mjModel* made, bool* changed) {
  djModel* got = NULL;
  djmLimits list[NKIND];
  *changed = false;
  djStatus status = dj_importMuJoCo(&got, NULL, made, w->err);
  if (status != DJ_OK) {
    w->status = status;
    return false;
  }
  bool good = true;
  if (got->contact.gravity != w->wanted->contact.gravity) {
    good = djm_setNumber(w, djm_rulesGravity, w->wanted->contact.gravity);
    *changed = true;
  }
  listLimits(list, got, w->wanted);
  for (int k = 0; k < NKIND; k++) {
    const djmLimits* l = &list[k];
    for (int i = 0, which; i < l->n && good; i++) {
      char field[700];
      if (!differs(&which, l, i, 0)) continue;
      nameField(field, sizeof field, w->wanted, l, i);
      good = djm_setNumbers(w, field, l->width, l->wanted + l->width * i);
      *changed = true;
    }
  }
  dj_deleteModel(got);
  return good;
}

bool djm_checkLimits(const djModel* got, const djModel* wanted, double tolerance, djError* err) {
  djmLimits list[NKIND];
  const double g = got->contact.gravity, want = wanted->contact.gravity;
  if (fabs(g - want) > tolerance * want) {
    snprintf(err->text, sizeof err->text,
             "%s: could not be written: it is %.17g there, not %.17g", djm_rulesGravity, g, want);
    return false;
  }
  listLimits(list, got, wanted);
  for (int k = 0; k < NKIND; k++) {
    const djmLimits* l = &list[k];
    for (int i = 0, which; i < l->n; i++) {
      char field[700];
      if (!differs(&which, l, i, tolerance)) continue;
      nameField(field, sizeof field, wanted, l, i);
      snprintf(err->text, sizeof err->text,
               "%.200s: could not be written: it is %.17g there, not %.17g", field,
               l->got[l->width * i + which], l->wanted[l->width * i + which]);
      return false;
    }
  }
  return true;
}
