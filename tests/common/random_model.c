#include "random_model.h"

#include "common/random_flex.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_BODY 64
#define MAX_JOINT 128

static void randomBody(djBodyDef* b, djRng* rng, int id, int features) {
  *b = dj_defaultBodyDef();
  b->parent = id == 1 || djt_integer(rng, 5) == 0 ? 0 : 1 + djt_integer(rng, id - 1);
  for (int k = 0; k < 3; k++) b->pos[k] = djt_uniform(rng, -0.5, 0.5);
  for (int k = 0; k < 3; k++) b->ipos[k] = djt_uniform(rng, -0.2, 0.2);
  djt_unitQuat(b->quat, rng);
  djt_unitQuat(b->iquat, rng);
  b->mass = djt_uniform(rng, 0.5, 2);
  double x[3];
  for (int k = 0; k < 3; k++) x[k] = djt_uniform(rng, 0.005, 0.05) * b->mass;
  for (int k = 0; k < 3; k++) b->inertia[k] = x[(k + 1) % 3] + x[(k + 2) % 3];
  if ((features & DJT_SPRINGS) && djt_integer(rng, 3) == 0) {
    b->gravcomp = djt_uniform(rng, 0, 1.5);
  }
}

static void randomJoint(djJointDef* j, djRng* rng, int body, djJointType type, int features) {
  *j = dj_defaultJointDef();
  j->body = body;
  j->type = type;
  if (type != DJ_FREE) {
    for (int k = 0; k < 3; k++) j->pos[k] = djt_uniform(rng, -0.2, 0.2);
  }
  djt_unitVector(j->axis, rng);
  int nq = type == DJ_FREE ? 7 : type == DJ_BALL ? 4 : 1;
  for (int k = 0; k < nq; k++) j->qpos0[k] = j->springref[k] = djt_uniform(rng, -0.3, 0.3);
  if (type == DJ_FREE) djt_unitQuat(j->qpos0 + 3, rng);
  if (type == DJ_FREE) djt_unitQuat(j->springref + 3, rng);
  if (type == DJ_BALL) {
    for (int k = 0; k < 4; k++) j->qpos0[k] = j->springref[k] = k == 0;
  }
  j->armature = 0.02;   // parallel axes of one body stay regular
  if (features & DJT_SPRINGS) {
    j->stiffness = djt_uniform(rng, 0, 5);
    j->stiffnesspoly[0] = djt_uniform(rng, 0, 1);
    j->stiffnesspoly[1] = djt_uniform(rng, 0, 1);
    j->damping = djt_uniform(rng, 0, 0.5);
    j->dampingpoly[0] = djt_uniform(rng, 0, 0.1);
    j->dampingpoly[1] = djt_uniform(rng, 0, 0.1);
    j->armature += djt_uniform(rng, 0, 0.1);
  }
  if (features & DJT_LOSS) j->frictionloss = djt_uniform(rng, 0, 0.3);
  if ((features & DJT_LIMITS) && type != DJ_FREE && djt_integer(rng, 2)) {
    j->limited = true;
    j->range[0] = type == DJ_BALL ? 0 : djt_uniform(rng, -0.5, -0.1);
    j->range[1] = djt_uniform(rng, 0.1, 0.7);
  }
}

static void randomActuator(djActuatorDef* a, djRng* rng, int joint, djJointType type) {
  *a = dj_defaultActuatorDef();
  a->joint = joint;
  for (int k = 0; k < 6; k++) a->gear[k] = djt_uniform(rng, -2, 2);
  if (type == DJ_SLIDE || type == DJ_HINGE) {
    for (int k = 1; k < 6; k++) a->gear[k] = 0;
  } else {
    a->in_parent = djt_integer(rng, 2);
  }
  a->gainprm[0] = djt_uniform(rng, 0.5, 3);
  if (djt_integer(rng, 3) == 0) {
    a->gain = DJ_GAIN_AFFINE;
    a->gainprm[1] = djt_uniform(rng, -0.5, 0.5);
    a->gainprm[2] = djt_uniform(rng, -0.2, 0);
  }
  if (djt_integer(rng, 2)) {
    a->bias = DJ_BIAS_AFFINE;
    a->biasprm[0] = djt_uniform(rng, -0.5, 0.5);
    a->biasprm[1] = djt_uniform(rng, -3, 0);
    a->biasprm[2] = djt_uniform(rng, -0.5, 0);
  }
  a->dyn = (djDyn)djt_integer(rng, 4);
  a->tau = djt_uniform(rng, 0.05, 0.3);
  a->actearly = djt_integer(rng, 2);
  a->ctrllimited = djt_integer(rng, 2);
  a->forcelimited = djt_integer(rng, 2);
  a->actlimited = a->dyn != DJ_DYN_NONE && djt_integer(rng, 2);
  for (int k = 0; k < 2; k++) {
    a->ctrlrange[k] = a->actrange[k] = k ? 0.8 : -0.8;
    a->forcerange[k] = k ? 2 : -1.5;
  }
  a->armature = djt_uniform(rng, 0, 0.02);
  a->damping = djt_uniform(rng, 0, 0.05);
}

static void randomSite(djSiteDef* s, djRng* rng, int body) {
  *s = (djSiteDef){.body = body};
  for (int k = 0; k < 3; k++) s->pos[k] = djt_uniform(rng, -0.3, 0.3);
  djt_unitQuat(s->quat, rng);
}

// What paths go around: a geom of each body, sometimes with a site within it or by it.
static void randomAround(djGeomDef* g, djSiteDef* side, djRng* rng, int body) {
  *g = dj_defaultGeomDef();
  g->body = body;
  g->type = djt_integer(rng, 2) ? DJ_SPHERE : DJ_CYLINDER;
  g->size[0] = djt_uniform(rng, 0.03, 0.2);
  g->size[1] = g->type == DJ_CYLINDER ? 0.1 : 0;
  g->contype = g->conaffinity = 0;
  djt_unitQuat(g->quat, rng);
  randomSite(side, rng, body);
  for (int k = 0; k < 3; k++) {
    g->pos[k] = djt_uniform(rng, -0.2, 0.2);
    side->pos[k] = g->pos[k] + 0.5 * g->size[0] * djt_uniform(rng, -1, 1);
  }
  if (djt_integer(rng, 2)) side->pos[djt_integer(rng, 3)] += 2 * g->size[0];
}

// From site to site, with a pulley now and then, around one of ngeom geoms now and then, whose side
// sites begin at `side`. Returns how many wraps.
static int randomPath(djWrapDef* wrap, djRng* rng, int nsite, const djGeomDef* geom, int ngeom,
                      int side) {
  int n = 0, last = -1;
  for (int k = 2 + djt_integer(rng, 3); k > 0; k--) {
    int site;
    do site = djt_integer(rng, nsite);
    while (site == last);
    last = site;
    if (ngeom > 0 && n > 0 && wrap[n - 1].type == DJ_WRAP_SITE && djt_integer(rng, 3)) {
      int g = djt_integer(rng, ngeom);
      djWrap type = geom[g].type == DJ_SPHERE ? DJ_WRAP_SPHERE : DJ_WRAP_CYLINDER;
      wrap[n++] = (djWrapDef){type, g, djt_integer(rng, 2) ? side + g : -1};
    }
    wrap[n++] = (djWrapDef){DJ_WRAP_SITE, site, 0};
    if (k < 3 || n < 2 || wrap[n - 2].type != DJ_WRAP_SITE || djt_integer(rng, 3)) continue;
    wrap[n++] = (djWrapDef){DJ_WRAP_PULLEY, -1, djt_uniform(rng, 0.5, 3)};
  }
  return n;
}

static int randomFixed(djWrapDef* wrap, djRng* rng, const djJointDef* joint, int nj) {
  int n = 0;
  for (int j = 0; j < nj && n < 4; j++) {
    if (joint[j].type == DJ_FREE || joint[j].type == DJ_BALL || djt_integer(rng, 3) == 0) continue;
    wrap[n++] = (djWrapDef){DJ_WRAP_JOINT, j, djt_uniform(rng, -2, 2)};
  }
  return n;
}

static void randomTendon(djTendonDef* t, djRng* rng, int features) {
  *t = dj_defaultTendonDef();
  if (features & DJT_SPRINGS) {
    t->stiffness = djt_uniform(rng, 1, 10);
    t->stiffnesspoly[0] = djt_uniform(rng, 0, 1);
    t->stiffnesspoly[1] = djt_uniform(rng, 0, 1);
    t->damping = djt_uniform(rng, 0.1, 0.5);
    t->dampingpoly[0] = djt_uniform(rng, 0, 0.1);
    t->dampingpoly[1] = djt_uniform(rng, 0, 0.1);
    t->springlength[0] = djt_uniform(rng, 0, 0.3);
    t->springlength[1] = t->springlength[0];
    if (djt_integer(rng, 2)) t->springlength[1] += djt_uniform(rng, 0.1, 0.3);
    if (djt_integer(rng, 2)) t->armature = djt_uniform(rng, 0.05, 0.3);
  }
  if (features & DJT_LOSS) t->frictionloss = djt_uniform(rng, 0.05, 0.3);
  t->limited = (features & DJT_LIMITS) && djt_integer(rng, 2);
  t->range[0] = djt_uniform(rng, -0.3, 0.5);
  t->range[1] = djt_uniform(rng, 0.6, 1);
  t->actfrclimited = (features & DJT_TOTAL) && djt_integer(rng, 2);
  t->actfrcrange[0] = djt_integer(rng, 3) ? -1.5 : 0;
  t->actfrcrange[1] = 2;
}

enum { MAX_SITE = 3 * MAX_BODY, MAX_TENDON = 4, MAX_WRAP = 14 };

typedef struct Tendons {
  djSiteDef site[MAX_SITE];
  djGeomDef around[MAX_BODY];
  djTendonDef tendon[MAX_TENDON];
  djWrapDef wrap[MAX_TENDON][MAX_WRAP];
} Tendons;

static void addTendons(djModelDef* def, Tendons* t, djRng* rng, int features) {
  for (int b = 0; b < def->nbody; b++) {
    for (int k = 1 + djt_integer(rng, 2); k > 0; k--) randomSite(&t->site[def->nsite++], rng, b);
  }
  const int nsite = def->nsite;
  for (int b = 0; b < def->nbody && features & DJT_WRAPS; b++) {
    randomAround(&t->around[def->ngeom++], &t->site[def->nsite++], rng, b);
  }
  def->geom = t->around;
  if (features & DJT_WRAPS) def->option.wrap_onset = 0.3;   // smooth enough for differences
  for (int i = 0; i < MAX_TENDON; i++) {
    int n = i % 2 ? randomFixed(t->wrap[i], rng, def->joint, def->njnt)
                  : randomPath(t->wrap[i], rng, nsite, t->around, def->ngeom, nsite);
    djTendonDef* tendon = &t->tendon[def->ntendon];
    if (n == 0) continue;
    randomTendon(tendon, rng, features);
    tendon->nwrap = n;
    tendon->wrap = t->wrap[i];
    def->ntendon++;
  }
  def->site = t->site;
  def->tendon = t->tendon;
}

// Of what actuator a of a slide is put on instead.
static void retarget(djActuatorDef* a, djRng* rng, const djModelDef* def) {
  int s = djt_integer(rng, def->nsite), other = djt_integer(rng, def->nsite);
  int type = djt_integer(rng, 4);
  if (type < 2 && def->ntendon > 0) {
    a->joint = -1;
    a->tendon = djt_integer(rng, def->ntendon);
    return;
  }
  a->joint = -1;
  a->armature = a->damping = 0;
  for (int k = 0; k < 6; k++) a->gear[k] = djt_uniform(rng, -1, 1);
  if (type == 2) {
    a->cranksite = s;
    a->slidersite = other;
    a->cranklength = djt_uniform(rng, 2, 3);
    return;
  }
  a->site = s;
  if (djt_integer(rng, 3)) a->refsite = other;
}

static void makeMotor(djActuatorDef* a, djRng* rng) {
  const double gain[8] = {2, 0.5, 0.004, 20, 3, 2, 0.4, 9}, bias[6] = {0.2, 3, 0.3, 0.4, 0.6, 0.8};
  const double own[DJ_NMOTORPRM] = {0.02, 900, 2, 3, 25, 20, 0.3};
  const djActuatorDef old = *a;
  *a = dj_defaultActuatorDef();
  a->name = old.name, a->joint = old.joint;
  a->gain = DJ_GAIN_DCMOTOR, a->bias = DJ_BIAS_DCMOTOR, a->input = DJ_INPUT_POSITION;
  a->gear[0] = 1.2, a->tau = 1, a->actearly = true;
  for (int k = 0; k < 8; k++) a->gainprm[k] = gain[k] * djt_uniform(rng, 0.8, 1.2);
  for (int k = 0; k < 6; k++) a->biasprm[k] = bias[k] * djt_uniform(rng, 0.8, 1.2);
  for (int k = 0; k < DJ_NMOTORPRM; k++) a->motorprm[k] = own[k] * djt_uniform(rng, 0.8, 1.2);
}

enum { MAX_EQUALITY = 5 };

// Two different numbers below n; false: there are not two.
static bool drawPair(int pair[2], djRng* rng, int n) {
  if (n < 2) return false;
  pair[0] = djt_integer(rng, n);
  pair[1] = djt_integer(rng, n - 1);
  if (pair[1] >= pair[0]) pair[1]++;
  return true;
}

// Slides or hinges of which one or two are coupled.
static bool coupleJoints(djEqualityDef* e, djRng* rng, const djModelDef* def) {
  int list[MAX_JOINT], n = 0, pair[2];
  for (int j = 0; j < def->njnt; j++) {
    if (def->joint[j].type == DJ_SLIDE || def->joint[j].type == DJ_HINGE) list[n++] = j;
  }
  if (n == 0) return false;
  e->joint1 = list[0];
  if (!drawPair(pair, rng, n) || djt_integer(rng, 4) == 0) return true;
  e->joint1 = list[pair[0]];
  e->joint2 = list[pair[1]];
  return true;
}

static bool coupleTendons(djEqualityDef* e, djRng* rng, const djModelDef* def) {
  int pair[2];
  if (def->ntendon == 0) return false;
  e->tendon1 = 0;
  if (!drawPair(pair, rng, def->ntendon) || djt_integer(rng, 4) == 0) return true;
  e->tendon1 = pair[0];
  e->tendon2 = pair[1];
  return true;
}

static bool coupleBodies(djEqualityDef* e, djRng* rng, const djModelDef* def) {
  int pair[2];
  e->torquescale = djt_uniform(rng, 0.2, 1);
  djt_unitQuat(e->quat, rng);
  for (int k = 0; k < 3; k++) {
    e->anchor1[k] = djt_uniform(rng, -0.3, 0.3);
    e->anchor2[k] = djt_uniform(rng, -0.3, 0.3);
  }
  if (def->nsite > 0 && djt_integer(rng, 2)) {
    if (!drawPair(pair, rng, def->nsite)) return false;
    e->site1 = pair[0];
    e->site2 = pair[1];
    return def->site[pair[0]].body != def->site[pair[1]].body;
  }
  if (!drawPair(pair, rng, def->nbody)) return false;
  e->body1 = pair[0];
  e->body2 = pair[1];
  return true;
}

static void addEqualities(djModelDef* def, djEqualityDef list[MAX_EQUALITY], djRng* rng) {
  for (int i = 0; i < MAX_EQUALITY; i++) {
    djEqualityDef e = dj_defaultEqualityDef();
    e.type = (djEqualityType)djt_integer(rng, 4);
    e.active = djt_integer(rng, 5) > 0;
    e.stiffness = djt_uniform(rng, 100, 1000);
    e.damping = djt_uniform(rng, 10, 50);
    for (int k = 0; k < 5; k++) e.polycoef[k] = djt_uniform(rng, -0.3, 0.3);
    e.impedance[0] = djt_uniform(rng, 0.2, 0.5);   // by a width that is not exceeded
    e.impedance[1] = djt_uniform(rng, 0.6, 0.9);
    e.impedance[2] = djt_uniform(rng, 3, 5);
    e.impedance[4] = djt_uniform(rng, 2, 3);
    bool good = e.type == DJ_EQ_JOINT    ? coupleJoints(&e, rng, def)
                : e.type == DJ_EQ_TENDON ? coupleTendons(&e, rng, def)
                                         : coupleBodies(&e, rng, def);
    if (good) list[def->nequality++] = e;
  }
  def->equality = list;
}

djModel* djt_randomModel(djRng* rng, int nbody, int features) {
  djBodyDef body[MAX_BODY];
  djJointDef joint[MAX_JOINT];
  djActuatorDef act[MAX_JOINT];
  int nj = 0, nu = 0;
  body[0] = dj_defaultBodyDef();
  for (int b = 1; b <= nbody; b++) {
    randomBody(&body[b], rng, b, features);
    int n = 1 + djt_integer(rng, 3);
    if (body[b].parent == 0 && djt_integer(rng, 2)) {
      randomJoint(&joint[nj++], rng, b, DJ_FREE, features);
      continue;
    }
    for (int k = 0; k < n; k++) {
      djJointType type = DJ_SLIDE + djt_integer(rng, 2);
      if (!(features & DJT_EASY) && djt_integer(rng, 3) == 0) type = DJ_BALL;
      randomJoint(&joint[nj++], rng, b, type, features);
      if (type == DJ_BALL) break;
    }
  }
  for (int j = 0; j < nj && (features & DJT_ACTUATORS); j++) {
    for (int k = djt_integer(rng, 3); k > 0 && nu < MAX_JOINT; k--) {
      randomActuator(&act[nu++], rng, j, joint[j].type);
    }
    bool scalar = joint[j].type == DJ_SLIDE || joint[j].type == DJ_HINGE;
    if ((features & DJT_TOTAL) && scalar && djt_integer(rng, 3) == 0) {
      joint[j].actfrclimited = true;
      joint[j].actfrcrange[0] = -2;
      joint[j].actfrcrange[1] = 2;
    }
  }
  djModelDef def = dj_defaultModelDef();
  def.option.contact = DJ_CONTACT_NONE;
  def.option.frictionloss_eps = 0.05;   // smooth enough for differences
  if (features & DJT_FLUID) {
    def.option.density = 50;
    def.option.viscosity = 0.1;
    def.option.wind[0] = 1;
    def.option.wind[2] = -0.5;
  }
  def.nbody = nbody + 1;
  def.njnt = nj;
  def.nu = nu;
  def.body = body;
  def.joint = joint;
  def.actuator = act;
  Tendons tendons;
  if (features & DJT_TENDONS) {
    addTendons(&def, &tendons, rng, features);
    for (int i = 0; i < nu; i++) {
      djJointType type = joint[act[i].joint].type;
      bool scalar = type == DJ_SLIDE || type == DJ_HINGE;
      if (scalar && djt_integer(rng, 4)) retarget(&act[i], rng, &def);
    }
  }
  for (int i = 0; i < nu && features & DJT_MOTORS; i++) {
    bool turns = act[i].joint < 0 || joint[act[i].joint].type < DJ_SLIDE;
    if (!turns) makeMotor(&act[i], rng);
    if (!turns) break;
  }
  djEqualityDef equality[MAX_EQUALITY];
  if (features & DJT_EQUALITIES) addEqualities(&def, equality, rng);
  djtFlexes flexes;
  if (features & DJT_FLEXES) djt_addFlexes(&def, &flexes, rng);
  djModel* model;
  djError err;
  if (dj_makeModel(&model, &def, &err) < 0) {
    fprintf(stderr, "random model: %s\n", err.text);
    abort();
  }
  return model;
}

void djt_randomState(djRng* rng, const djModel* m, djData* d, double speed) {
  double* v = calloc((size_t)m->nv + 1, sizeof(double));
  for (int i = 0; i < m->nv; i++) v[i] = djt_uniform(rng, -0.7, 0.7);
  dj_integratePos(d->qpos, m, m->qpos0, v, 1);
  for (int i = 0; i < m->nv; i++) d->qvel[i] = speed * djt_uniform(rng, -1, 1);
  for (int i = 0; i < m->na; i++) d->act[i] = djt_uniform(rng, -0.5, 0.5);
  for (int i = 0; i < m->nu; i++) d->ctrl[i] = djt_uniform(rng, -1.2, 1.2);
  for (int i = 0; i < m->nv; i++) d->qfrc_applied[i] = djt_uniform(rng, -1, 1);
  for (int i = 6; i < 6 * m->nbody; i++) d->xfrc_applied[i] = djt_uniform(rng, -1, 1);
  free(v);
}
