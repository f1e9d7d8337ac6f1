#include "model/equality.h"

#include "model/check.h"
#include "model/element.h"
#include "model/joint_type.h"

#include <math.h>

const djChoice dj_equalityNames[] = {{"connect", DJ_EQ_CONNECT},
                                     {"weld", DJ_EQ_WELD},
                                     {"joint", DJ_EQ_JOINT},
                                     {"tendon", DJ_EQ_TENDON},
                                     {NULL, 0}};

int dj_equalityCount(int type) {
  static const int count[] = {
      [DJ_EQ_CONNECT] = 3, [DJ_EQ_WELD] = 6, [DJ_EQ_JOINT] = 1, [DJ_EQ_TENDON] = 1};
  return type >= 0 && type < (int)(sizeof count / sizeof *count) ? count[type] : 0;
}

// ---- checks -----------------------------------------------------------------------------------

// Ids of which the first must exist, and the second may be missing; or neither.
typedef struct Sides {
  const char* missing;
  int id[2], n;
} Sides;

enum { OF_JOINTS, OF_TENDONS, OF_BODIES, OF_SITES, NSIDES };

static void listSides(Sides list[NSIDES], const djModelDef* def, const djEqualityDef* e) {
  list[OF_JOINTS] = (Sides){"a joint does not exist", {e->joint1, e->joint2}, def->njnt};
  list[OF_TENDONS] = (Sides){"a tendon does not exist", {e->tendon1, e->tendon2}, def->ntendon};
  list[OF_BODIES] = (Sides){"a body does not exist", {e->body1, e->body2}, def->nbody};
  list[OF_SITES] = (Sides){"a site does not exist", {e->site1, e->site2}, def->nsite};
}

static const char* scalarProblem(const djModelDef* def, const djEqualityDef* e) {
  const int joint[2] = {e->joint1, e->joint2};
  for (int k = 0; k < 2 && e->type == DJ_EQ_JOINT; k++) {
    if (joint[k] >= 0 && !dj_isScalarJoint((int)def->joint[joint[k]].type)) {
      return "its joints must be slides or hinges";
    }
  }
  if (e->type == DJ_EQ_JOINT && e->joint1 == e->joint2) return "its joints are the same";
  if (e->type == DJ_EQ_TENDON && e->tendon1 == e->tendon2) return "its tendons are the same";
  return NULL;
}

static const char* frameProblem(const djModelDef* def, const djEqualityDef* e) {
  double unit[4];
  int body[2];
  dj_equalityBodies(body, def, e);
  if (body[0] == body[1]) return "its bodies are the same";
  if (!dj_makeUnit(unit, e->quat, 4)) return "quat is zero or not finite";
  return isfinite(e->torquescale) ? NULL : "torquescale is not finite";
}

static const char* sidesProblem(const djModelDef* def, const djEqualityDef* e) {
  Sides list[NSIDES];
  bool bodies = dj_isBetweenBodies((int)e->type);
  bool sites = bodies && (e->site1 >= 0 || e->site2 >= 0);
  int own = e->type == DJ_EQ_JOINT    ? OF_JOINTS
            : e->type == DJ_EQ_TENDON ? OF_TENDONS
            : sites                   ? OF_SITES
                                      : OF_BODIES;
  listSides(list, def, e);
  for (int k = 0; k < NSIDES; k++) {
    const Sides* s = &list[k];
    if (k != own) {
      if (s->id[0] >= 0 || s->id[1] >= 0) return "must be between joints, tendons, bodies or sites";
      continue;
    }
    if (s->id[0] < 0 || s->id[0] >= s->n || s->id[1] >= s->n) return s->missing;
    if (bodies && s->id[1] < 0) return s->missing;
  }
  return NULL;
}

const char* dj_equalityBefore(const djModelDef* def, int i) {
  const djEqualityDef* e = &def->equality[i];
  if (!dj_equalityCount((int)e->type)) return "unknown type";
  const char* problem = sidesProblem(def, e);
  if (problem) return problem;
  return dj_isBetweenBodies((int)e->type) ? frameProblem(def, e) : scalarProblem(def, e);
}

const char* dj_equalityAfter(const djModelDef* def, int i) {
  const djEqualityDef* e = &def->equality[i];
  bool good = dj_allFinite(e->anchor1, 3) && dj_allFinite(e->anchor2, 3);
  return good ? NULL : "anchor is not finite";
}

void dj_equalityBodies(int body[2], const djModelDef* def, const djEqualityDef* e) {
  body[0] = e->site1 >= 0 ? def->site[e->site1].body : e->body1;
  body[1] = e->site2 >= 0 ? def->site[e->site2].body : e->body2;
}
