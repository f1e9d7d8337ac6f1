// What limits count by, and gravity of default rules, in a written scene (import_limit.c).

#include "import.h"
#include "write.h"

#include <math.h>
#include <stdio.h>

typedef struct djmLimits {
  const char* kind;
  djObject object;
  int n;
  const int* limited;
  const double *got, *wanted;
} djmLimits;

static void listLimits(djmLimits list[2], const djModel* got, const djModel* wanted) {
  list[0] = (djmLimits){"joint", DJ_OBJ_JOINT, wanted->njnt, wanted->jnt_limited,
                        got->jnt_effinertia, wanted->jnt_effinertia};
  list[1] = (djmLimits){"tendon", DJ_OBJ_TENDON, wanted->ntendon, wanted->tendon_limited,
                        got->tendon_effinertia, wanted->tendon_effinertia};
}

static void nameField(char* field, size_t size, const djModel* m, const djmLimits* l, int id) {
  const char* own = dj_id2name(m, l->object, id);
  if (*own) snprintf(field, size, "%s%s/%s", djm_limitInertia, l->kind, own);
  else snprintf(field, size, "%s%s/#%d", djm_limitInertia, l->kind, id);
}

bool djm_writeLimits(djmWrite* w, const mjModel* made, bool* changed) {
  djModel* got = NULL;
  djmLimits list[2];
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
  for (int k = 0; k < 2; k++) {
    const djmLimits* l = &list[k];
    for (int i = 0; i < l->n && good; i++) {
      char field[700];
      if (!l->limited[i] || l->got[i] == l->wanted[i]) continue;
      nameField(field, sizeof field, w->wanted, l, i);
      good = djm_setNumber(w, field, l->wanted[i]);
      *changed = true;
    }
  }
  dj_deleteModel(got);
  return good;
}

bool djm_checkLimits(const djModel* got, const djModel* wanted, double tolerance, djError* err) {
  djmLimits list[2];
  const double g = got->contact.gravity, want = wanted->contact.gravity;
  if (fabs(g - want) > tolerance * want) {
    snprintf(err->text, sizeof err->text,
             "%s: could not be written: it is %.17g there, not %.17g", djm_rulesGravity, g, want);
    return false;
  }
  listLimits(list, got, wanted);
  for (int k = 0; k < 2; k++) {
    const djmLimits* l = &list[k];
    for (int i = 0; i < l->n; i++) {
      char field[700];
      if (!l->limited[i] || fabs(l->got[i] - l->wanted[i]) <= tolerance * l->wanted[i]) continue;
      nameField(field, sizeof field, wanted, l, i);
      snprintf(err->text, sizeof err->text,
               "%.200s: could not be written: it is %.17g there, not %.17g", field, l->got[i],
               l->wanted[i]);
      return false;
    }
  }
  return true;
}
