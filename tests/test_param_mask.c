// Gradients by some parameters alone: the same bits as with all others, and what none of them
// changes is not computed.

#include "common/make_model.h"
#include "common/random_model.h"
#include "common/room.h"
#include "common/scene.h"
#include "common/test.h"
#include "gradient/param_gradient.h"
#include "model/param.h"

enum { HORIZON = 4, MAX_PARAM = 1000 };

static const djIntegrator methods[] = {DJ_POSITION, DJ_VARIATIONAL,
                                       DJ_BDF1,     DJ_BDF2,        DJ_MIDPOINT, DJ_EULER};
enum { NMETHOD = sizeof methods / sizeof *methods };

static int listParams(djParam* list, const djModel* m) {
  int n = 0;
  for (int f = 0; f < DJ_NFIELD; f++) {
    djParam p;
    for (int id = 0; id < 1000 && n < MAX_PARAM; id++) {
      if (dj_makeParam(&p, m, (djField)f, id)) list[n++] = p;
    }
  }
  return n;
}

static void setOption(djModel* m, djIntegrator integrator, djContactModel contact) {
  djOption option = m->opt;
  option.integrator = integrator;
  option.contact = contact;
  djError err = {""};
  if (dj_setOption(m, &option, &err) < 0) fail_msg("%s", err.text);
}

// A hand on a hinge at a ball on a floor, all of which touch.
static djModel* touching(void) {
  Scene* s = newScene(3);
  addGeom(s, 0, DJ_PLANE, 0, 0, 0);
  int arm = addBody(s, 0, DJ_HINGE, 0, 0, 0.049, 1, 0.1);
  djGeomDef* g = addGeom(s, arm, DJ_BOX, 0.05, 0.06, 0.05);
  g->pos[0] = 0.2;
  g->friction[0] = 0.5;
  int ball = addBody(s, 0, DJ_FREE, 0.299, 0.01, 0.0495, 0.5, 0.04);
  addGeom(s, ball, DJ_SPHERE, 0.05, 0, 0)->friction[0] = 0.8;
  s->def.option.timestep = 0.005;
  return takeScene(s);
}

typedef struct Run {
  djModel* m;
  djData* d;
  djTape* tape;
  djRollout rollout;
  double* ctrl;
} Run;

static const djLossTerm loss[] = {
    {.type = DJ_LOSS_COM, .object = DJ_OBJ_BODY, .id = -1, .weight = 1, .target = {1, 2, 3}},
    {.type = DJ_LOSS_POSITION, .object = DJ_OBJ_BODY, .id = 1, .weight = 1, .when = DJ_WHEN_RUNNING},
    {.type = DJ_LOSS_VELOCITY, .object = DJ_OBJ_BODY, .id = 1, .weight = 1}};

static Run openRun(djModel* m, djRng* rng, double speed) {
  Run r = {.m = m, .ctrl = djt_room(HORIZON * (size_t)m->nu + 1)};
  djError err = {""};
  if (dj_makeData(&r.d, m, &err) < 0) fail_msg("%s", err.text);
  assert_int_equal(djd_makeTape(&r.tape, m, HORIZON, NULL), DJ_OK);
  djt_randomState(rng, m, r.d, speed);
  djt_uniforms(r.ctrl, HORIZON * m->nu, rng, -1, 1);
  r.rollout = (djRollout){.horizon = HORIZON, .qpos0 = r.d->qpos, .qvel0 = r.d->qvel,
                          .act0 = r.d->act, .ctrl = r.ctrl, .nloss = 3, .loss = loss};
  djRolloutResult result = {.term = NULL};
  djStatus status = djd_rolloutForward(&result, m, r.d, &r.rollout, r.tape);
  if (status < 0) fail_msg("%s", dj_errorText(r.d));
  return r;
}

static void closeRun(Run* r) {
  djd_deleteTape(r->tape);
  djt_delete(r->m, r->d);
  free(r->ctrl);
}

static void gradient(double* grad, Run* r, int n, const djParam* list) {
  djRolloutResult result = {.nparam = n, .param = list, .grad_param = grad};
  djStatus status = djd_rolloutBackward(&result, r->m, r->d, &r->rollout, r->tape);
  if (status < 0) fail_msg("%s", dj_errorText(r->d));
}

// Counts by field the parameters whose gradient is not 0.
static void compareRun(int told[DJ_NFIELD], Run* r, bool follows) {
  djParam* list = calloc(MAX_PARAM, sizeof *list);
  int n = listParams(list, r->m), np = 0;
  for (int k = 0; k < n; k++) np += list[k].ntangent;
  double *all = djt_room((size_t)np), *one = djt_room((size_t)np);
  djModel* compiled = djt_copy(r->m);
  r->rollout.compiled = follows ? compiled : NULL;
  gradient(all, r, n, list);
  for (int k = 0, at = 0; k < n; at += list[k++].ntangent) {
    bool any = false;
    gradient(one, r, 1, &list[k]);
    for (int i = 0; i < list[k].ntangent; i++) {
      any = any || one[i] != 0;
      if (one[i] == all[at + i]) continue;
      fail_msg("%s: field %d of #%d, entry %d: %.17g alone, %.17g",
               dj_integratorName(r->m->opt.integrator), list[k].field, list[k].id, i, one[i],
               all[at + i]);
    }
    told[list[k].field] += any;
  }
  dj_deleteModel(compiled);
  free(list);
  free(all);
  free(one);
}

static void testAlone(void) {
  int told[DJ_NFIELD] = {0};
  djRng rng = {7};
  for (int k = 0; k < 2 * NMETHOD + 6; k++) {
    // euler has more to tell of
    djIntegrator method = k < 2 * NMETHOD ? methods[k / 2] : DJ_EULER;
    // balances of forces have no armature along paths
    int features = k < 6 ? DJT_ALL | DJT_TENDONS : DJT_ALL;
    if (method == DJ_EULER) features = DJT_ALL | DJT_TENDONS | DJT_EQUALITIES | DJT_MOTORS;
    if (k % 2) features |= DJT_WRAPS;
    else features |= DJT_FLEXES;
    djModel* m = djt_randomModel(&rng, 4, features);
    djt_dropPathArmature(m);   // euler refuses it
    setOption(m, method, DJ_CONTACT_NONE);
    Run r = openRun(m, &rng, 1);
    compareRun(told, &r, false);
    closeRun(&r);
  }
  for (int f = 0; f < DJ_NFIELD; f++) {
    bool shape = f > DJ_FIELD_GEOM_SIZE && f <= DJ_FIELD_HFIELD_HEIGHTS;
    if (!shape && f != DJ_FIELD_SETTING && told[f] == 0) fail_msg("field %d: always 0", f);
  }
}

// With inertias that follow geoms, or not.
static void testContact(void) {
  static const djContactModel kernels[] = {DJ_SEPARATING_PLANE, DJ_IMPLICIT_SURFACE, DJ_PENALTY};
  int told[DJ_NFIELD] = {0};
  djRng rng = {8};
  for (int k = 0; k < 3 * NMETHOD; k++) {
    djModel* m = touching();
    setOption(m, methods[k / 3], kernels[k % 3]);
    Run r = openRun(m, &rng, 0.1);
    for (int follows = 0; follows < 2; follows++) compareRun(told, &r, follows);
    closeRun(&r);
  }
  static const djField all[] = {DJ_FIELD_GEOM_POS, DJ_FIELD_GEOM_QUAT, DJ_FIELD_GEOM_SIZE,
                                DJ_FIELD_GEOM_FRICTION, DJ_FIELD_GEOM_CONTACT_SCALE,
                                DJ_FIELD_SETTING, DJ_FIELD_BODY_POS, DJ_FIELD_BODY_MASS};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    if (told[all[i]] == 0) fail_msg("field %d: always 0", all[i]);
  }
}

// Impacts of a ball on a wall, by the coefficients of geoms or of a pair.
static void testImpacts(void) {
  int told[DJ_NFIELD] = {0};
  djRng rng = {11};
  for (int k = 0; k < 2; k++) {
    const djPairDef pair = {.geom1 = 0, .geom2 = 1, .condim = 3, .friction = 0.05,
                            .restitution = 0.5};   // it slips
    Scene* s = newScene(1);
    addGeom(s, 0, DJ_PLANE, 0, 0, 0);
    addBody(s, 0, DJ_FREE, 0, 0, 0.055, 1, 0.05);
    addGeom(s, 1, DJ_SPHERE, 0.05, 0, 0)->restitution = 0.7;
    s->def.pair = &pair;
    s->def.npair = k;
    djModel* m = takeScene(s);
    Run r = openRun(m, &rng, 0);
    r.rollout.qpos0 = m->qpos0;
    r.rollout.qvel0 = (double[6]){1, 0, -2, 0, 0, 0};
    djRolloutResult result = {.term = NULL};
    assert_true(djd_rolloutForward(&result, r.m, r.d, &r.rollout, r.tape) >= 0);
    compareRun(told, &r, false);
    closeRun(&r);
  }
  assert_int_equal(told[DJ_FIELD_GEOM_RESTITUTION], 1);
  assert_int_equal(told[DJ_FIELD_PAIR_RESTITUTION], 1);
  assert_int_equal(told[DJ_FIELD_PAIR_FRICTION], 1);
}

// Sums of the step from start to d's state by what is asked for.
static void addStep(djParamSums* sums, void* memory, djModel* m, djData* d, const double* start,
                    int n, const djParam* list) {
  djLinear lin;
  double *end = djt_room((size_t)m->nq), *z = djt_room(dj_linearScratch(m));
  double* lambda = djt_room((size_t)m->nv);
  djRng rng = {3};
  assert_int_equal(dj_setState(d, m, start), DJ_OK);
  assert_true(dj_step(m, d) >= 0);
  assert_int_equal(dj_linearizeStep(&lin, m, d), DJ_OK);
  memcpy(end, d->qpos, (size_t)m->nq * sizeof *end);
  djt_uniforms(z, 2 * m->nv, &rng, -1, 1);
  djt_uniforms(lambda, m->nv, &rng, -1, 1);
  assert_int_equal(dj_setState(d, m, start), DJ_OK);
  dj_initParamSums(sums, memory, m);
  if (n > 0) dj_askParams(sums, m, n, list, false);
  assert_true(dj_addStepParams(sums, m, d, &lin, end, z, lambda) >= 0);
  free(end);
  free(z);
  free(lambda);
}

// The largest number in the block of a field.
static double largest(const djParamSums* s, const djModel* m, djField field) {
  double most = 0;
  djParam p;
  for (int id = 0; id < 20; id++) {
    if (!dj_makeParam(&p, m, field, id)) continue;
    const double* g = dj_paramEntry(s->param, m, field, id);
    for (int k = 0; k < p.ntangent; k++) most = fmax(most, fabs(g[k]));
  }
  return most;
}

// One parameter of each kind by balance of forces, where nothing is shared: of all other kinds the
// sums stay empty, and those of other bodies.
static void testWork(void) {
  static const djField kinds[] = {DJ_FIELD_BODY_POS,  DJ_FIELD_BODY_QUAT,     DJ_FIELD_JOINT_POS,
                                  DJ_FIELD_JOINT_AXIS, DJ_FIELD_BODY_MASS,
                                  DJ_FIELD_JOINT_DAMPING, DJ_FIELD_GEOM_FRICTION};
  enum { NKIND = sizeof kinds / sizeof *kinds };
  static const djIntegrator balanced[] = {DJ_BDF1, DJ_BDF2, DJ_MIDPOINT};
  for (int k = 0; k < 3 * NKIND; k++) {
    djModel* m = touching();
    setOption(m, balanced[k / NKIND], DJ_PENALTY);
    djData* d = sceneData(m);
    for (int i = 0; i < m->nv; i++) d->qvel[i] = 0.1;
    double* start = djt_room((size_t)dj_stateSize(m));
    assert_int_equal(dj_getState(start, m, d), DJ_OK);
    void* memory = aligned_alloc(64, (dj_paramSumsSize(m) + 127) / 64 * 64);
    djParamSums sums;
    djParam own;
    addStep(&sums, memory, m, d, start, 0, NULL);
    for (int i = 0; i < NKIND; i++) {
      if (largest(&sums, m, kinds[i]) == 0) fail_msg("field %d: always 0", kinds[i]);
    }
    djField asked = kinds[k % NKIND];
    assert_true(dj_makeParam(&own, m, asked, asked == DJ_FIELD_BODY_MASS ? 2 : 0) ||
                dj_makeParam(&own, m, asked, 1));
    addStep(&sums, memory, m, d, start, 1, &own);
    assert_true(largest(&sums, m, asked) > 0);
    for (int i = 0; i < NKIND; i++) {
      if (kinds[i] == asked || largest(&sums, m, kinds[i]) == 0) continue;
      fail_msg("field %d was computed for field %d", kinds[i], asked);
    }
    if (asked == DJ_FIELD_GEOM_FRICTION) {   // what shapes have is not taken to geoms
      assert_int_equal(dj_finishParams(&sums, m, NULL), DJ_OK);
      assert_true(largest(&sums, m, DJ_FIELD_GEOM_SIZE) == 0);
    }
    if (asked == DJ_FIELD_BODY_MASS) {
      assert_true(*dj_paramEntry(sums.param, m, DJ_FIELD_BODY_MASS, 1) == 0);
    }
    free(memory);
    free(start);
    djt_delete(m, d);
  }
}

DJT_MAIN(testAlone, testContact, testImpacts, testWork)
