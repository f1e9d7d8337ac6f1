// The pairs of bodies that a guide acts between, by names.

#include "model/guide_bodies.h"

#include "base/pool.h"
#include "base/status.h"
#include "contact/contact.h"
#include "model/kernel_setting.h"
#include "model/make.h"
#include "model/param.h"

#include <string.h>

// Bodies that a name or a pattern stands for, into list (nbody) unless it is NULL; how many.
static int find(int* list, const djModel* m, const char* name) {
  int n = 0, body = dj_name2id(m, DJ_OBJ_BODY, name);
  if (body >= 0) {
    if (list) list[0] = body;
    return 1;
  }
  for (int b = 1; b < m->nbody && strchr(name, '*'); b++) {
    if (!dj_matches(name, strlen(name), dj_id2name(m, DJ_OBJ_BODY, b))) continue;
    if (list) list[n] = b;
    n++;
  }
  return n;
}

static djStatus check(long* count, const djModel* m, int npair, const char* const* names,
                      djError* err) {
  *count = 0;
  for (int i = 0; i < npair; i++) {
    long n = 1;
    for (int k = 0; k < 2; k++) {
      const char* name = names[2 * i + k];
      int found = name ? find(NULL, m, name) : 0;
      if (found == 0) {
        return dj_fail(err, DJ_INVALID, "guide_bodies: there is no body '%.100s'",
                       name ? name : "");
      }
      n *= found;
    }
    *count += n;
    if (*count > 10000000) return dj_fail(err, DJ_INVALID, "guide_bodies: too many pairs");
  }
  return DJ_OK;
}

djStatus dj_setGuideBodies(djModel* m, int npair, const char* const* names, djError* err) {
  if (!m || npair < 0 || (npair > 0 && !names)) {
    return dj_fail(err, DJ_INVALID, "guide_bodies: model or names: NULL");
  }
  djPool pool = {0};
  long count = 0;
  int* list = dj_poolTake(&pool, 2 * (size_t)m->nbody, sizeof *list);
  djStatus status = list ? check(&count, m, npair, names, err) : dj_failMemory(err);
  if (status == DJ_OK) status = dj_resizeGuides(m, (int)count, err);
  for (int i = 0, n = 0; i < npair && status == DJ_OK; i++) {
    int *other = list + m->nbody, n1 = find(list, m, names[2 * i]);
    int n2 = find(other, m, names[2 * i + 1]);
    for (int k = 0; k < n1 * n2; k++, n++) {
      m->guide_body1[n] = list[k / n2];
      m->guide_body2[n] = other[k % n2];
    }
  }
  if (status == DJ_OK) {
    dj_sortGuides(m);
    dj_guidesChanged(m);
  }
  dj_poolFree(&pool);
  return status;
}

// Words of the text, "a b, c d": pairs between commas. Returns how many pairs, or -1: some part has
// not two words.
static int split(const char** name, char* text) {
  int n = 0;
  for (char* part = text; part; ) {
    char* end = strchr(part, ',');
    if (end) *end++ = 0;
    int words = 0;
    for (char* word = part; *word;) {
      if (*word == ' ' || *word == '\t' || *word == '\n') {
        *word++ = 0;
        continue;
      }
      if (words++ < 2) name[n++] = word;
      word += strcspn(word, " \t\n");
    }
    if (words != 2) return -1;
    part = end;
  }
  return n / 2;
}

djStatus dj_setGuideText(djModel* m, const char* text, djError* err) {
  if (!m || !text) return dj_fail(err, DJ_INVALID, "guide_bodies: model or text: NULL");
  if (!*text) return dj_setGuideBodies(m, 0, NULL, err);
  djPool pool = {0};
  char* words = dj_poolText(&pool, text);
  const char** name = dj_poolTake(&pool, strlen(text) + 2, sizeof *name);
  djStatus status = words && name ? DJ_OK : dj_failMemory(err);
  int n = status == DJ_OK ? split(name, words) : 0;
  if (n < 0) {
    status = dj_fail(err, DJ_INVALID, "guide_bodies: '%.100s' is no list of pairs of bodies, as "
                     "\"rod box, rod cube*\"", text);
  }
  if (status == DJ_OK) status = dj_setGuideBodies(m, n, name, err);
  dj_poolFree(&pool);
  return status;
}

// ------------------------------------------ which they are -------------------------------------

static bool actBetween(const djModel* m, int body1, int body2) {
  int end1 = m->body_geomadr[body1] + m->body_geomnum[body1];
  int end2 = m->body_geomadr[body2] + m->body_geomnum[body2];
  for (int i = m->body_geomadr[body1]; i < end1; i++) {
    for (int j = m->body_geomadr[body2]; j < end2; j++) {
      if (dj_actsAfar(m, i, j)) return true;
    }
  }
  return false;
}

int dj_guidedBodies(int* body, int n, const djModel* m) {
  int found = 0;
  if (!m || !dj_ownContact(m)) return 0;
  for (int i = 0; i < m->nbody; i++) {
    for (int j = i + 1; j < m->nbody; j++) {
      if (!dj_isGuided(m, i, j) || !actBetween(m, i, j)) continue;
      if (body && found < n) {
        body[2 * found] = i;
        body[2 * found + 1] = j;
      }
      found++;
    }
  }
  return found;
}

// ------------------------------------------ in runs --------------------------------------------

djStatus dj_setGuideBackwardOnly(djModel* m, bool only) {
  if (!m) return DJ_INVALID;
  m->opt.guide_backward_only = only;
  return DJ_OK;
}

// Whether some pair may have one at all.
static bool guides(const djModel* m) {
  if (!dj_ownContact(m)) return false;
  bool any = m->contact.guide > 0;
  for (int i = 0; i < m->nsetting; i++) {
    int kernel;
    const char* name = dj_settingOfSlot(&kernel, m->setting_slot[i])->name;
    any |= m->setting_value[i] > 0 && strcmp(name, "guide") == 0;
  }
  return any;
}

bool dj_guidesRuns(const djModel* m) { return m && !m->opt.guide_backward_only && guides(m); }

bool dj_guidesDerivatives(const djModel* m) {
  return m && m->opt.guide_backward_only && guides(m);
}
