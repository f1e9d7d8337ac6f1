// The table of losses, row by row: what a row measures gives the term's value, and its forces and
// what it adds by the state are the derivatives of f . (what it measures), f held.

#include "common/make_model.h"
#include "common/near.h"
#include "common/random_model.h"
#include "common/room.h"
#include "common/test.h"
#include "common/worst.h"
#include "gradient/loss_row.h"
#include "model/param.h"

typedef struct Case {
  djModel* m;
  djData* d;
  djLossWork w;
  void* memory;
  djLossTerm t;
  double *qpos, *qvel, *along;   // along: (2 nv) of q and v
  double *q, *v;                 // moved
  djLossAt at;
} Case;

static Case openCase(djRng* rng) {
  Case c = {.m = djt_randomModel(rng, 4, DJT_TENDONS)};
  djError err = {""};
  assert_int_equal(dj_makeData(&c.d, c.m, &err), DJ_OK);
  djt_randomState(rng, c.m, c.d, 1);
  c.memory = djt_room(dj_lossWorkSize(c.m) / sizeof(double) + 1);
  c.w = dj_initLossWork(c.m, c.memory);
  c.along = djt_room(2 * (size_t)c.m->nv);
  c.q = djt_room((size_t)c.m->nq);
  c.v = djt_room((size_t)c.m->nv);
  c.qpos = c.d->qpos;
  c.qvel = c.d->qvel;
  djt_uniforms(c.along, 2 * c.m->nv, rng, -1, 1);
  return c;
}

static void closeCase(Case* c) {
  double* const list[] = {c->memory, c->along, c->q, c->v};
  for (int k = 0; k < 4; k++) free(list[k]);
  djt_delete(c->m, c->d);
}

static void place(Case* c, double s) {
  dj_integratePos(c->q, c->m, c->qpos, c->along, s);
  for (int i = 0; i < c->m->nv; i++) c->v[i] = c->qvel[i] + s * c->along[c->m->nv + i];
  dj_beginLoss(&c->w, c->m, c->d, c->q);
  c->at = (djLossAt){&c->w, c->m, &c->t, c->q, c->v};
}

// What the row measures, and its target; a number as (x, 0, 0).
static djVec3 measure(djVec3* target, const Case* c, const djLossRow* row) {
  *target = dju_vec3(c->t.target[0], 0, 0);
  return row->vector ? row->vector(target, &c->at) : dju_vec3(row->number(&c->at), 0, 0);
}

// A joint with one dof, or -1.
static int plainJoint(const djModel* m) {
  for (int j = 0; j < m->njnt; j++) {
    if (m->jnt_type[j] == DJ_SLIDE || m->jnt_type[j] == DJ_HINGE) return j;
  }
  return -1;
}

static int lastPlainJoint(const djModel* m) {
  int last = -1;
  for (int j = 0; j < m->njnt; j++) {
    if (m->jnt_type[j] == DJ_SLIDE || m->jnt_type[j] == DJ_HINGE) last = j;
  }
  return last;
}

static bool makeTerm(Case* c, djRng* rng, int type) {
  static const djObject point[] = {DJ_OBJ_BODY, DJ_OBJ_SITE, DJ_OBJ_GEOM};
  const djModel* m = c->m;
  c->t = (djLossTerm){.type = (djLossType)type, .object = DJ_OBJ_BODY, .weight = 1};
  c->t.id = 1 + djt_integer(rng, m->nbody - 1);
  c->t.id2 = c->t.id % (m->nbody - 1) + 1;
  djt_uniforms(c->t.target, 4, rng, -1, 1);
  bool at_point = type == DJ_LOSS_POSITION || type == DJ_LOSS_DISTANCE;
  if (at_point) c->t.object = point[djt_integer(rng, 3)];
  if (c->t.object == DJ_OBJ_GEOM && m->ngeom == 0) c->t.object = DJ_OBJ_BODY;
  if (c->t.object == DJ_OBJ_SITE) c->t.id = djt_integer(rng, m->nsite);
  if (c->t.object == DJ_OBJ_GEOM) c->t.id = djt_integer(rng, m->ngeom);
  if (type == DJ_LOSS_DISTANCE && djt_integer(rng, 2)) {
    c->t.object2 = DJ_OBJ_SITE;
    c->t.id2 = djt_integer(rng, m->nsite);
  }
  if (type == DJ_LOSS_QPOS && djt_integer(rng, 2)) {
    c->t.object2 = DJ_OBJ_JOINT;
    c->t.id2 = lastPlainJoint(m);
  }
  if (type == DJ_LOSS_COM && djt_integer(rng, 3) == 0) c->t.id = -1;
  if (type == DJ_LOSS_QPOS || type == DJ_LOSS_QVEL) c->t.id = plainJoint(m);
  return c->t.id >= 0 || type == DJ_LOSS_COM;
}

// f . (what the row measures) where the state has moved.
static double alongAt(Case* c, const djLossRow* row, djVec3 f, double s) {
  djVec3 target;
  place(c, s);
  return dju_dot3(f, measure(&target, c, row));
}

static void testRows(void) {
  for (int type = 0; type < DJ_NLOSS; type++) {
    const djLossRow* row = &dj_lossRows[type];
    djRng rng = {(unsigned long long)(100 + type)};
    double worst = 0, size = 0;
    if (type == DJ_LOSS_EFFORT) {
      assert_true(!row->vector && !row->number && row->when == DJ_WHEN_RUNNING);
      continue;
    }
    assert_true(!row->vector != !row->number);
    for (int t = 0; t < 60; t++) {
      Case c = openCase(&rng);
      size_t nv = (size_t)c.m->nv;
      double *dq = djt_room(nv), *dv = djt_room(nv);
      if (makeTerm(&c, &rng, type)) {
        djVec3 target, f, x, miss;
        place(&c, 0);
        x = measure(&target, &c, row);
        miss = dju_sub3(x, target);
        double value = (double)dj_lossValue(&c.w, c.m, &c.t, c.q, c.v);
        djt_near(value, dju_dot3(miss, miss), 1e-12 * (1 + value));
        // any f; along the error where a rotation is measured
        f = dju_vec3(djt_uniform(&rng, -1, 1), 0, 0);
        if (row->vector) f.y = djt_uniform(&rng, -1, 1), f.z = djt_uniform(&rng, -1, 1);
        if (row->quaternion) f = dju_scale3(f.x, x);
        memset(c.w.wrench, 0, (size_t)c.m->nbody * 6 * sizeof(double));
        if (row->push) row->push(&c.at, f);
        if (row->state) row->state(dq, dv, &c.at, f);
        dj_gatherWrench(c.w.wrench, c.m);
        dj_projectWrench(row->of_velocity ? dv : dq, c.m, &c.w.kin, c.w.wrench);
        double slope = 0, h = 1e-3, d[2];
        for (size_t i = 0; i < nv; i++) slope += dq[i] * c.along[i] + dv[i] * c.along[nv + i];
        for (int k = 0; k < 2; k++) {
          double e = h * (k + 1);
          d[k] = (alongAt(&c, row, f, e) - alongAt(&c, row, f, -e)) / (2 * e);
        }
        worst = djt_worst(worst, fabs((4 * d[0] - d[1]) / 3 - slope));
        size = fmax(size, fabs(slope));
      }
      free(dq);
      free(dv);
      closeCase(&c);
    }
    print_message("%s: %.1e of %.1g\n", row->entry.name, worst, size);
    assert_true(worst < 1e-8 && size > 0.1);
  }
}

// What a term is about: what its row names alone, or what the term says.
static void testObjects(void) {
  static const djObject only[DJ_NLOSS] = {
      [DJ_LOSS_POSITION] = DJ_NOBJ,    [DJ_LOSS_ORIENTATION] = DJ_OBJ_BODY,
      [DJ_LOSS_VELOCITY] = DJ_OBJ_BODY, [DJ_LOSS_COM] = DJ_OBJ_BODY,
      [DJ_LOSS_DISTANCE] = DJ_NOBJ,     [DJ_LOSS_QPOS] = DJ_OBJ_JOINT,
      [DJ_LOSS_QVEL] = DJ_OBJ_JOINT,    [DJ_LOSS_EFFORT] = DJ_NOBJ,
      [DJ_LOSS_RELATIVE] = DJ_OBJ_BODY};
  static const djObject given[] = {DJ_OBJ_BODY, DJ_OBJ_SITE, DJ_OBJ_GEOM};
  for (int type = 0; type < DJ_NLOSS; type++) {
    for (int k = 0; k < 3; k++) {
      djLossTerm term = {.type = (djLossType)type, .object = given[k]};
      bool many = type == DJ_LOSS_POSITION || type == DJ_LOSS_DISTANCE;
      assert_int_equal(dj_lossObject(&term), many ? given[k] : only[type]);
      term.object2 = given[k];
      bool second = type == DJ_LOSS_DISTANCE || (type == DJ_LOSS_RELATIVE && k == 0);
      assert_int_equal(dj_lossObject2(&term), second ? given[k] : DJ_NOBJ);
      term.object2 = DJ_OBJ_JOINT;
      djObject other = type == DJ_LOSS_DISTANCE || type == DJ_LOSS_QPOS ? DJ_OBJ_JOINT : DJ_NOBJ;
      assert_int_equal(dj_lossObject2(&term), other);
    }
  }
}

// Bodies at one place have a distance, but it pushes them nowhere.
static void testCoincident(void) {
  djRng rng = {7};
  Case c = openCase(&rng);
  c.t = (djLossTerm){.type = DJ_LOSS_DISTANCE, .id = 1, .id2 = 2, .weight = 1};
  place(&c, 0);
  c.w.kin.body[2].p = c.w.kin.body[1].p;
  memset(c.w.wrench, 0, (size_t)c.m->nbody * 6 * sizeof(double));
  const djLossRow* row = &dj_lossRows[DJ_LOSS_DISTANCE];
  assert_true(row->number(&c.at) == 0);
  row->push(&c.at, dju_vec3(1, 0, 0));
  for (int i = 0; i < 6 * c.m->nbody; i++) assert_true(c.w.wrench[i] == 0);
  closeCase(&c);
}

DJT_MAIN(testRows, testObjects, testCoincident)
