// Values of a loss's terms, worked out from the poses of a run that is stepped by hand: by
// positions, rotations, and velocities that are differences of positions; what they take from
// parameters at a given state, against differences; and what is refused.

#include "common/make_model.h"
#include "common/near.h"
#include "common/random_model.h"
#include "common/scene.h"
#include "gradient/loss.h"
#include "gradient/loss_run.h"

#include "common/param_case.h"
#include "common/test.h"

enum { HORIZON = 8 };

static double squaredDistance(const double* x, const double* y) {
  double sum = 0;
  for (int k = 0; k < 3; k++) sum += (x[k] - y[k]) * (x[k] - y[k]);
  return sum;
}

// Angle between two orientations.
static double angleBetween(const double p[4], const double q[4]) {
  double dot = 0, cross = 0, np = 0, nq = 0;
  for (int k = 0; k < 4; k++) {
    dot += p[k] * q[k];
    np += p[k] * p[k];
    nq += q[k] * q[k];
  }
  cross = sqrt(fmax(np * nq - dot * dot, 0));
  return 2 * atan2(cross, fabs(dot));
}

static void originAt(double x[3], const djModel* m, djData* d, int body, double t) {
  double qpos[200];
  assert_true(m->nq <= 200);
  memcpy(qpos, d->qpos, (size_t)m->nq * sizeof(double));
  dj_integratePos(d->qpos, m, qpos, d->qvel, t);
  assert_int_equal(dj_forward(m, d), DJ_OK);
  memcpy(x, d->xpos + 3 * body, 3 * sizeof(double));
  memcpy(d->qpos, qpos, (size_t)m->nq * sizeof(double));
  assert_int_equal(dj_forward(m, d), DJ_OK);
}

static bool below(const djModel* m, int body, int root) {
  while (body > 0 && body != root) body = m->body_parent[body];
  return body == root;
}

static const double* pointAt(const djData* d, djObject object, int id) {
  return (object == DJ_OBJ_SITE   ? d->site_xpos
          : object == DJ_OBJ_GEOM ? d->geom_xpos
                                  : d->xpos) + 3 * id;
}

// Centre of mass of a subtree, or of everything.
static void centreOf(double x[3], const djModel* m, const djData* d, int root) {
  double mass = 0;
  x[0] = x[1] = x[2] = 0;
  for (int b = 1; b < m->nbody; b++) {
    if (root >= 0 && !below(m, b, root)) continue;
    mass += m->body_mass[b];
    for (int k = 0; k < 3; k++) x[k] += m->body_mass[b] * d->xipos[3 * b + k];
  }
  for (int k = 0; k < 3; k++) x[k] /= mass;
}

static double squareOf(const djModel* m, djData* d, const djLossTerm* t) {
  double x[3] = {0, 0, 0}, y[3], sum = 0, e = 1e-5;
  const double* point = pointAt(d, t->object, t->id);
  switch (t->type) {
    case DJ_LOSS_POSITION:
      for (int k = 0; k < (t->nindex > 0 ? t->nindex : 3); k++) {
        int i = t->nindex > 0 ? t->index[k] : k;
        sum += pow(point[i] - t->target[i], 2);
      }
      return sum;
    case DJ_LOSS_ORIENTATION: return pow(angleBetween(d->xquat + 4 * t->id, t->target), 2);
    case DJ_LOSS_VELOCITY:
      originAt(x, m, d, t->id, e);
      originAt(y, m, d, t->id, -e);
      for (int k = 0; k < 3; k++) x[k] = (x[k] - y[k]) / (2 * e);
      return squaredDistance(x, t->target);
    case DJ_LOSS_COM:
      centreOf(x, m, d, t->id);
      return squaredDistance(x, t->target);
    case DJ_LOSS_RELATIVE:
      centreOf(x, m, d, t->id);
      centreOf(y, m, d, t->id2);
      for (int k = 0; k < 3; k++) x[k] -= y[k];
      return squaredDistance(x, t->target);
    case DJ_LOSS_DISTANCE:
      sum = squaredDistance(point, pointAt(d, t->object2, t->id2));
      return pow(sqrt(sum) - t->target[0], 2);
    case DJ_LOSS_QPOS:
      sum = d->qpos[m->jnt_qposadr[t->id]] - t->target[0];
      if (t->object2 == DJ_OBJ_JOINT) sum -= d->qpos[m->jnt_qposadr[t->id2]];
      return sum * sum;
    case DJ_LOSS_QVEL: return pow(d->qvel[m->jnt_dofadr[t->id]] - t->target[0], 2);
    default:
      for (int i = 0; i < m->nu; i++) sum += d->ctrl[i] * d->ctrl[i];
      return sum;
  }
}

static double valueOf(const djModel* m, djData* d, const djLossTerm* t) {
  double x = squareOf(m, d, t), e = t->tolerance > 0 ? t->tolerance : 0;
  return t->norm ? fmax(0, sqrt(x) - e) : fmax(0, x - e * e);
}

static double factorOf(const djModel* m, const djLossTerm* t, int k) {
  if (t->when == DJ_WHEN_EVERY || t->when == DJ_WHEN_RUNNING) {
    int step = t->when == DJ_WHEN_EVERY ? t->every : 1, last = t->to > 0 ? t->to : HORIZON;
    for (int i = t->from > 0 ? t->from : step; i <= last; i += step) {
      if (i == k) return t->weight * (t->when == DJ_WHEN_EVERY ? 1 : m->opt.timestep);
    }
    return 0;
  }
  return k == (t->when == DJ_WHEN_FINAL ? HORIZON : t->step) ? t->weight : 0;
}

// Relative terms get as their target what they measure after step k, if they begin there.
static void noteTargets(djLossTerm* term, int n, const djModel* m, const djData* d, int k) {
  for (int i = 0; i < n; i++) {
    djLossTerm* t = &term[i];
    bool from = t->when == DJ_WHEN_EVERY || t->when == DJ_WHEN_RUNNING;
    if (t->type != DJ_LOSS_RELATIVE || k != (from ? t->from : 0)) continue;
    double other[3];
    centreOf(t->target, m, d, t->id);
    centreOf(other, m, d, t->id2);
    for (int c = 0; c < 3; c++) t->target[c] -= other[c];
  }
}

// Every term of a rollout's loss, and their sum.
static void checkRun(djModel* m, djData* d, djRng* rng, djLossTerm* term, int n) {
  djTape* tape;
  double value[32], expected[32] = {0}, sum = 0, ctrl[HORIZON * 32], start[500];
  assert_true(n <= 32 && m->nu <= 32 && dj_stateSize(m) <= 500);
  assert_int_equal(djd_makeTape(&tape, m, HORIZON, NULL), DJ_OK);
  for (int i = 0; i < HORIZON * m->nu; i++) ctrl[i] = djt_uniform(rng, -1, 1);
  d->time = 0;
  assert_int_equal(dj_getState(start, m, d), DJ_OK);
  djRollout r = {.horizon = HORIZON, .qpos0 = start + 1, .qvel0 = start + 1 + m->nq,
                 .act0 = start + 1 + m->nq + m->nv, .ctrl = ctrl, .nloss = n, .loss = term};
  djRolloutResult result = {.term = value};
  assert_true(djd_rolloutForward(&result, m, d, &r, tape) >= 0);
  assert_int_equal(dj_setState(d, m, start), DJ_OK);
  assert_true(dj_forward(m, d) >= 0);
  noteTargets(term, n, m, d, 0);
  for (int k = 1; k <= HORIZON; k++) {
    memcpy(d->ctrl, ctrl + (size_t)(k - 1) * m->nu, (size_t)m->nu * sizeof(double));
    assert_true(dj_step(m, d) >= 0);
    noteTargets(term, n, m, d, k);
    for (int i = 0; i < n; i++) {
      double factor = factorOf(m, &term[i], k), x;
      if (factor == 0) continue;
      x = valueOf(m, d, &term[i]);
      expected[i] += factor * x;
    }
  }
  for (int i = 0; i < n; i++) {
    djt_near(value[i], expected[i], 1e-7 * (1 + fabs(expected[i])));
    sum += value[i];
  }
  djt_near(result.loss, sum, 1e-13 * (1 + sum));
  djd_deleteTape(tape);
}

static djLossTerm randomTerm(djRng* rng, djLossType type) {
  djLossTerm t = {.type = type, .object = DJ_OBJ_BODY};
  t.weight = djt_uniform(rng, 0.5, 2);
  if (djt_integer(rng, 2)) t.tolerance = djt_uniform(rng, 0, 1);
  t.when = (djWhen)djt_integer(rng, 4);
  t.step = 1 + djt_integer(rng, HORIZON);
  t.every = 1 + djt_integer(rng, 3);
  t.norm = djt_integer(rng, 2);
  if (djt_integer(rng, 2)) t.from = 1 + djt_integer(rng, HORIZON / 2);
  if (djt_integer(rng, 2)) t.to = HORIZON / 2 + djt_integer(rng, HORIZON / 2);
  if (type == DJ_LOSS_POSITION && djt_integer(rng, 2)) {
    t.nindex = 1 + djt_integer(rng, 2);
    t.index[0] = djt_integer(rng, 3);
    t.index[1] = (t.index[0] + 1) % 3;
  }
  for (int k = 0; k < 3; k++) t.target[k] = djt_uniform(rng, -1, 1);
  if (type == DJ_LOSS_ORIENTATION) djt_unitQuat(t.target, rng);
  return t;
}

static void testValues(void) {
  djRng rng = {1};
  for (int trial = 0; trial < 40; trial++) {
    djModel* m = djt_randomModel(&rng, 2 + djt_integer(&rng, 5), DJT_ALL);
    djData* d = sceneData(m);
    djt_randomState(&rng, m, d, 1);
    djLossTerm term[32];
    int n = 0, scalar = -1, first = -1;
    for (int j = 0; j < m->njnt; j++) {
      if (m->jnt_type[j] != DJ_SLIDE && m->jnt_type[j] != DJ_HINGE) continue;
      scalar = j;
      if (first < 0) first = j;
    }
    for (int i = 0; i < 27; i++) {
      djLossTerm t = randomTerm(&rng, (djLossType)(i % DJ_NLOSS));
      t.id = 1 + djt_integer(&rng, m->nbody - 1);
      t.id2 = djt_integer(&rng, m->nbody);
      if (t.type == DJ_LOSS_COM && i >= 18) t.id = -1;
      if (t.type == DJ_LOSS_QPOS || t.type == DJ_LOSS_QVEL) t.id = scalar;
      if (t.type == DJ_LOSS_QPOS && djt_integer(&rng, 2)) {
        t.object2 = DJ_OBJ_JOINT;
        t.id2 = first;
      }
      if (t.id == -1 && t.type != DJ_LOSS_COM) continue;
      term[n++] = t;
    }
    checkRun(m, d, &rng, term, n);
    djt_delete(m, d);
  }
}

// Sites and geoms on a swinging arm.
static djModel* makeArm(void) {
  Scene* s = newScene(3);
  int a = addBody(s, 0, DJ_HINGE, 0, 0, 2, 1, 0.1), b = addBody(s, a, DJ_BALL, 0.4, 0, 0, 1, 0.1);
  addGeom(s, a, DJ_SPHERE, 0.05, 0, 0)->pos[0] = 0.2;
  addGeom(s, b, DJ_BOX, 0.05, 0.06, 0.07)->pos[1] = 0.3;
  djSiteDef site[2] = {{.body = a, .pos = {-0.1, 0, 0.3}, .quat = {1, 0, 0, 0}},
                       {.body = b, .pos = {0.1, 0.2, 0.3}, .quat = {1, 0, 0, 0}}};
  s->def.site = site;
  s->def.nsite = 2;
  return takeScene(s);
}

static void testPoints(void) {
  djRng rng = {2};
  djModel* m = makeArm();
  djData* d = sceneData(m);
  djLossTerm term[16];
  int n = 0;
  for (int i = 0; i < 4; i++) {
    for (int k = 0; k < 2; k++) {
      djLossTerm t = randomTerm(&rng, DJ_LOSS_POSITION);
      t.object = k ? DJ_OBJ_SITE : DJ_OBJ_GEOM;
      t.id = i % 2;
      term[n++] = t;
      t = randomTerm(&rng, DJ_LOSS_DISTANCE);
      t.object = k ? DJ_OBJ_SITE : DJ_OBJ_GEOM;
      t.object2 = i < 2 ? DJ_OBJ_SITE : DJ_OBJ_GEOM;
      t.id = i % 2;
      t.id2 = 1 - t.id;
      term[n++] = t;
    }
  }
  djt_randomState(&rng, m, d, 2);
  checkRun(m, d, &rng, term, n);
  djt_delete(m, d);
}

// ---- parameters -------------------------------------------------------------------------------

static double lossOf(const djModel* m, const djData* d, const djLossTerm* t) {
  void* memory = malloc(dj_lossWorkSize(m) + 64);
  djLossWork w = dj_initLossWork(m, (char*)memory + 64 - (uintptr_t)memory % 64);
  dj_beginLoss(&w, m, d, d->qpos);
  double value = (double)dj_lossValue(&w, m, t, d->qpos, d->qvel);
  free(memory);
  return value;
}

// Counts parameters by field of which the value depends.
static void checkParams(int told[DJ_NFIELD], const djModel* m, const djData* d,
                        const djLossTerm* t) {
  static const djField fields[] = {DJ_FIELD_BODY_POS,  DJ_FIELD_BODY_QUAT, DJ_FIELD_BODY_MASS,
                                   DJ_FIELD_BODY_IPOS, DJ_FIELD_JOINT_POS, DJ_FIELD_JOINT_AXIS,
                                   DJ_FIELD_SITE_POS,  DJ_FIELD_GEOM_POS};
  void* memory = malloc(dj_lossWorkSize(m) + 64);
  djLossWork w = dj_initLossWork(m, (char*)memory + 64 - (uintptr_t)memory % 64);
  double* grad = djt_zeros(dj_paramGradSize(m));
  double* scratch = djt_zeros((size_t)m->nbody * 12);
  const double factor = 0.7, e = 1e-5;
  dj_beginLoss(&w, m, d, d->qpos);
  djVec3 by;
  if (dj_lossSlope(&by, &w, m, t, d->qpos, d->qvel, factor)) {
    dj_pushLossParams(grad, &w, m, t, d->qpos, d->qvel, by, scratch);
  }
  djModel* moved = djt_copy(m);
  for (size_t f = 0; f < sizeof fields / sizeof fields[0]; f++) {
    djParam p;
    bool frame = fields[f] == DJ_FIELD_BODY_POS || fields[f] == DJ_FIELD_BODY_QUAT;
    for (int id = frame; id < 40; id++) {
      if (!dj_makeParam(&p, m, fields[f], id)) continue;
      const double* g = dj_paramEntry(grad, m, fields[f], id);
      for (int k = 0; k < p.ntangent; k++) {
        double base[8], value[8], side[2];
        assert_int_equal(dj_getParam(base, m, &p), DJ_OK);
        if (p.field == DJ_FIELD_BODY_MASS && base[0] < e) continue;   // may not be negative
        for (int i = 0; i < 2; i++) {
          memcpy(value, base, sizeof value);
          djt_moveParam(value, m, &p, k, i ? e : -e);
          assert_int_equal(dj_setParam(moved, &p, value, NULL), DJ_OK);
          side[i] = lossOf(moved, d, t);
        }
        assert_int_equal(dj_setParam(moved, &p, base, NULL), DJ_OK);
        double expected = factor * (side[1] - side[0]) / (2 * e);
        djt_near(g[k], expected, 2e-7 * (1 + fabs(expected)));
        told[fields[f]] += fabs(expected) > 1e-3;
      }
    }
  }
  dj_deleteModel(moved);
  free(scratch);
  free(grad);
  free(memory);
}

static void testParams(void) {
  djRng rng = {3};
  int told[DJ_NFIELD] = {0};
  for (int trial = 0; trial < 20; trial++) {
    bool arm = trial % 4 == 3;
    djModel* m = arm ? makeArm() : djt_randomModel(&rng, 2 + djt_integer(&rng, 4), DJT_ALL);
    djData* d = sceneData(m);
    djt_randomState(&rng, m, d, 1);
    for (int type = 0; type < DJ_NLOSS; type++) {
      if (type > DJ_LOSS_DISTANCE && type != DJ_LOSS_RELATIVE) continue;
      for (int again = 0; again < 3; again++) {
        djLossTerm t = randomTerm(&rng, (djLossType)type);
        t.id = 1 + djt_integer(&rng, m->nbody - 1);
        t.id2 = djt_integer(&rng, m->nbody);
        if (type == DJ_LOSS_DISTANCE && t.id == t.id2) continue;
        if (type == DJ_LOSS_COM && again == 0) t.id = -1;
        if ((type == DJ_LOSS_POSITION || type == DJ_LOSS_DISTANCE) && arm) {
          t.object = again % 2 ? DJ_OBJ_SITE : DJ_OBJ_GEOM;
          t.id = djt_integer(&rng, 2);
        }
        if (type == DJ_LOSS_DISTANCE && arm) {
          t.object2 = again < 2 ? DJ_OBJ_SITE : DJ_OBJ_GEOM;
          t.id2 = 1 - t.id;
        }
        checkParams(told, m, d, &t);
      }
    }
    djt_delete(m, d);
  }
  static const djField all[] = {DJ_FIELD_BODY_POS,  DJ_FIELD_BODY_QUAT, DJ_FIELD_BODY_MASS,
                                DJ_FIELD_BODY_IPOS, DJ_FIELD_JOINT_POS, DJ_FIELD_JOINT_AXIS,
                                DJ_FIELD_SITE_POS,  DJ_FIELD_GEOM_POS};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) assert_true(told[all[i]] > 0);
}

// Only relative terms have a target that the run measures, and only losses with one need room.
static void testReferences(void) {
  const djLossTerm term[] = {{.type = DJ_LOSS_POSITION, .target = {1, 2, 3}},
                             {.type = DJ_LOSS_RELATIVE, .target = {1, 2, 3}}};
  const double reference[6] = {4, 5, 6, 7, 8, 9};
  const djRollout r = {.nloss = 2, .loss = term}, plain = {.nloss = 1, .loss = term};
  assert_int_equal(dj_lossReferences(&r), 12);
  assert_int_equal(dj_lossReferences(&plain), 0);
  for (int k = 0; k < 3; k++) {
    assert_true(dj_termOf(&r, reference, 0).target[k] == k + 1);
    assert_true(dj_termOf(&r, reference, 1).target[k] == k + 7);
    assert_true(dj_termOf(&r, NULL, 1).target[k] == k + 1);
  }
}

static void testRefused(void) {
  Scene* s = newScene(3);
  int a = addBody(s, 0, DJ_HINGE, 0, 0, 2, 1, 0.1);
  addBody(s, a, DJ_BALL, 0.4, 0, 0, 1, 0.1);
  addBody(s, 0, DJ_FREE, 0, 0, 0, 1, 0.1);
  djModel* m = takeScene(s);
  const djLossTerm good = {.type = DJ_LOSS_POSITION, .object = DJ_OBJ_BODY, .id = 1, .weight = 1};
  const struct {
    djLossTerm t;
    const char* text;
  } bad[] = {
      {{.type = (djLossType)-1}, "loss[1]: unknown type"},
      {{.type = DJ_NLOSS}, "loss[1]: unknown type"},
      {{.when = (djWhen)4}, "loss[1]: unknown value of when"},
      {{.when = DJ_WHEN_EVERY}, "loss[1]: every: 0 is not positive"},
      {{.from = -1}, "loss[1]: from or to is outside 1..8"},
      {{.to = 9}, "loss[1]: from or to is outside 1..8"},
      {{.from = 4, .to = 3}, "loss[1]: from is larger than to"},
      {{.nindex = 1, .index = {3}}, "loss[1]: index: must be of 0, 1, 2"},
      {{.nindex = 4}, "loss[1]: index: must be of 0, 1, 2"},
      {{.type = DJ_LOSS_QPOS, .id = 0, .object2 = DJ_OBJ_JOINT, .id2 = 1},
       "loss[1]: joint is not a slide or hinge"},
      {{.type = DJ_LOSS_DISTANCE, .id = 1, .object2 = DJ_OBJ_SITE},
       "loss[1]: site 0 does not exist"},
      {{.type = DJ_LOSS_DISTANCE, .id = 1, .object2 = DJ_OBJ_JOINT},
       "loss[1]: the other is no body, site or geom"},
      {{.object = DJ_OBJ_JOINT}, "loss[1]: must be of a body, a site or a geom"},
      {{.object = DJ_OBJ_BODY, .id = 4}, "loss[1]: element 4 does not exist"},
      {{.object = DJ_OBJ_BODY, .id = -1}, "loss[1]: element -1 does not exist"},
      {{.object = DJ_OBJ_SITE}, "loss[1]: element 0 does not exist"},
      {{.type = DJ_LOSS_COM, .id = -2}, "loss[1]: element -2 does not exist"},
      {{.type = DJ_LOSS_QPOS, .id = 3}, "loss[1]: element 3 does not exist"},
      {{.type = DJ_LOSS_QPOS, .id = 1}, "loss[1]: joint is not a slide or hinge"},
      {{.type = DJ_LOSS_QVEL, .id = 2}, "loss[1]: joint is not a slide or hinge"},
      {{.type = DJ_LOSS_DISTANCE, .id = 1, .id2 = 4}, "loss[1]: body 4 does not exist"},
      {{.type = DJ_LOSS_DISTANCE, .id = 1, .id2 = -1}, "loss[1]: body -1 does not exist"},
      {{.type = DJ_LOSS_RELATIVE, .id = -1, .id2 = 1}, "loss[1]: element -1 does not exist"},
      {{.type = DJ_LOSS_RELATIVE, .id = 1, .id2 = -1}, "loss[1]: body -1 does not exist"},
      {{.object = DJ_OBJ_BODY, .weight = NAN}, "loss[1]: not a finite number"},
      {{.object = DJ_OBJ_BODY, .tolerance = INFINITY}, "loss[1]: not a finite number"},
      {{.object = DJ_OBJ_BODY, .target = {0, 0, 0, NAN}}, "loss[1]: not a finite number"},
      {{.object = DJ_OBJ_BODY, .when = DJ_WHEN_STEP}, "loss[1]: step 0 is outside 1..8"},
      {{.object = DJ_OBJ_BODY, .when = DJ_WHEN_STEP, .step = 9},
       "loss[1]: step 9 is outside 1..8"}};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    djLossTerm both[2] = {good, bad[i].t};
    djError err = {""};
    djt_refused(DJ_INVALID, dj_checkLoss(m, both, 2, HORIZON, &err), err, bad[i].text);
  }
  const djLossTerm fine[] = {{.type = DJ_LOSS_COM, .object = DJ_OBJ_BODY, .id = -1},
                             {.type = DJ_LOSS_EFFORT, .id = 77},
                             {.type = DJ_LOSS_QVEL, .id = 0},
                             {.type = DJ_LOSS_DISTANCE, .id = 1, .id2 = 0},
                             {.object = DJ_OBJ_BODY, .when = DJ_WHEN_STEP, .step = HORIZON}};
  assert_int_equal(dj_checkLoss(m, fine, sizeof fine / sizeof fine[0], HORIZON, NULL), DJ_OK);
  dj_deleteModel(m);
}

DJT_MAIN(testValues, testPoints, testParams, testReferences, testRefused)
