// Steps in which bodies close by more than half their size are taken in parts: nothing passes, no
// energy is won, derivatives are those of the whole step, and all other steps are as ever.

#include "common/make_model.h"
#include "common/near.h"
#include "common/random.h"
#include "common/scene.h"
#include "common/test.h"
#include "common/worst.h"
#include "integrate/parts.h"

#define STEP 0.005

typedef struct Shape {
  const char* name;
  int type;
  double size[3];
  double thick;              // along x
} Shape;

static const Shape kShape[] = {{"spheres", DJ_SPHERE, {0.05}, 0.1},
                               {"boxes", DJ_BOX, {0.05, 0.05, 0.05}, 0.1},
                               {"capsules", DJ_CAPSULE, {0.05, 0.1}, 0.1},
                               {"plates", DJ_BOX, {5e-5, 0.05, 0.05}, 1e-4}};
enum { NSHAPE = 4 };

// Two free bodies of a kind at 0 and `distance` along x that approach by `way` in a step. The first
// has motors along x and about y, the second of them with an activation.
static djModel* openPair(djData** d, const Shape* shape, double distance, double way, djOption o) {
  Scene* s = newScene(2);
  for (int b = 1; b < 3; b++) {
    addBody(s, 0, DJ_FREE, b == 1 ? 0 : distance, 0, 0, 1, 0.05);
    addGeom(s, b, shape->type, shape->size[0], shape->size[1], shape->size[2]);
  }
  addMotors(s, DJ_DYN_FILTEREXACT, 0.02);
  s->actuator[1].actearly = true;
  s->def.option = o;
  s->def.option.timestep = STEP;
  memset(s->def.option.gravity, 0, sizeof s->def.option.gravity);
  djModel* m = takeScene(s);
  *d = sceneData(m);
  (*d)->qvel[0] = 0.5 * way / STEP;
  (*d)->qvel[6] = -0.5 * way / STEP;
  return m;
}

static double kinetic(const djModel* m, djData* d) {
  assert_int_equal(dj_forward(m, d), DJ_OK);
  return d->energy[1];
}

// ---- passing ----------------------------------------------------------------------------------

typedef struct Count {
  int passed, gained;
  double most;               // energy after to before
} Count;

// The second body is behind the first, whose face, where it has one, may have turned.
static bool isBehind(const djData* d, bool face) {
  double sum = 0;
  for (int k = 0; k < 3; k++) {
    double axis = face ? d->xmat[9 + 3 * k] : k == 0;
    sum += axis * (d->xpos[6 + k] - d->xpos[3 + k]);
  }
  return sum < 0;
}

// n pairs that close by `ratio` thicknesses in a step, at random phases and offsets.
static Count throwPairs(const Shape* shape, double ratio, int most, int n) {
  djRng rng = {7};
  Count out = {0};
  djOption o = dj_defaultOption();
  o.impact_steps = most;
  for (int i = 0; i < n; i++) {
    double way = ratio * shape->thick, phase = djt_uniform(&rng, 1, 2);
    djData* d;
    djModel* m = openPair(&d, shape, shape->thick + phase * way, way, o);
    d->qpos[8] = djt_uniform(&rng, -2e-3, 2e-3);
    d->qpos[9] = djt_uniform(&rng, -2e-3, 2e-3);
    double before = kinetic(m, d);
    for (int k = 0; k < 4; k++) assert_true(dj_step(m, d) >= 0);
    double change = kinetic(m, d) / before;
    out.passed += isBehind(d, shape == &kShape[3]);
    out.gained += !(change <= 1.01);
    out.most = djt_worst(out.most, change);
    // they are cut in the steps of the impact alone
    if (most > 1) assert_true(d->stats.impact_steps <= 3);
    else assert_int_equal(d->stats.impact_steps, 0);
    djt_delete(m, d);
  }
  return out;
}

static void testPassing(void) {
  static const double ratio[] = {0.8, 1.25, 2, 5, 10};
  for (int i = 0; i < NSHAPE; i++) {
    for (int k = 0; k < 5; k++) {
      // plates of a tenth of a millimetre by their width
      double by = i == 3 ? ratio[k] * 1000 : ratio[k];
      Count whole = throwPairs(&kShape[i], by, 0, 20), cut = throwPairs(&kShape[i], by, 32, 20);
      print_message("%-8s %5g: %2d pass and %2d gain energy (%.2f), in parts %d, %d (%.4f)\n",
                    kShape[i].name, ratio[k], whole.passed, whole.gained, whole.most, cut.passed,
                    cut.gained, cut.most);
      assert_int_equal(cut.passed, 0);
      assert_int_equal(cut.gained, 0);
      if (ratio[k] >= 5) assert_true(whole.passed > 0);
    }
  }
}

// ---- how many ---------------------------------------------------------------------------------

static int partsOfStep(const djModel* m, djData* d) {
  assert_true(dj_step(m, d) >= 0);
  return d->work->npart;
}

static void testNumber(void) {
  djOption o = dj_defaultOption();
  djData* d;
  djError err;
  djModel* m = openPair(&d, &kShape[0], 0.2, 0.18, o);   // a gap of .1
  assert_int_equal(m->opt.impact_steps, 32);
  double* start = calloc((size_t)dj_stateSize(m), sizeof(double));
  assert_int_equal(dj_getState(start, m, d), DJ_OK);
  assert_int_equal(partsOfStep(m, d), 4);                // parts of no more than .05
  assert_int_equal(d->stats.impact_steps, 1);
  assert_int_equal(d->stats.attempts, 4);                // as many solutions
  assert_true(d->stats.evaluations >= 4);
  assert_int_equal(d->stats.steps, 1);
  djt_near(d->time, STEP, 0);
  assert_int_equal(partsOfStep(m, d), 1);
  assert_int_equal(d->stats.impact_steps, 1);
  assert_int_equal(d->stats.attempts, 1);
  o = m->opt;
  for (int most = 3; most >= 0; most--) {
    o.impact_steps = most;
    assert_int_equal(dj_setOption(m, &o, &err), DJ_OK);
    assert_int_equal(dj_setState(d, m, start), DJ_OK);
    assert_int_equal(partsOfStep(m, d), most > 1 ? most : 1);
  }
  o.impact_steps = 32;
  assert_int_equal(dj_setOption(m, &o, &err), DJ_OK);
  // not near enough, beside each other, apart
  const double other[3][3] = {{0.29, 0.18, 0}, {0.2, 0.18, 0.11}, {0.2, -0.18, 0}};
  for (int k = 0; k < 3; k++) {
    assert_int_equal(dj_setState(d, m, start), DJ_OK);
    d->qpos[7] = other[k][0];
    d->qpos[8] = other[k][2];
    d->qvel[0] = 0.5 * other[k][1] / STEP;
    d->qvel[6] = -d->qvel[0];
    assert_int_equal(partsOfStep(m, d), 1);
  }
  free(start);
  djt_delete(m, d);
}

// An arm that folds onto itself: a ball that only turns about the joint of its own body, far from
// it, towards one of the same tree. As one step it passes.
static void testOwnTurning(void) {
  const double arm = 0.3, gap = 0.1, way = 0.7;
  Scene* s = newScene(3);
  djData* d;
  addBody(s, 0, DJ_FREE, 0, 0, 0, 1, 0.3);
  addBody(s, 1, DJ_HINGE, 0, 0, 0, 0.2, 0.3);
  addBody(s, 2, DJ_HINGE, 0, 0, 0, 0.2, 0.3);
  for (int b = 1; b <= 3; b += 2) addGeom(s, b, DJ_SPHERE, 0.05, 0, 0)->pos[2] = arm;
  s->def.option.timestep = STEP;
  memset(s->def.option.gravity, 0, sizeof s->def.option.gravity);
  djModel* m = takeScene(s);
  d = sceneData(m);
  d->qpos[8] = -(gap + 0.1) / arm;
  d->qvel[7] = way / arm / STEP;
  double before = kinetic(m, d);
  assert_int_equal(partsOfStep(m, d), 8);
  for (int i = 0; i < 3; i++) assert_true(dj_step(m, d) >= 0);
  assert_true(d->qpos[7] + d->qpos[8] < -0.2 && kinetic(m, d) < before);
  djt_delete(m, d);
}

// A box that skids down a fixed rail, and one that falls fast on a floor, are left alone; so is a
// pile at rest, whose steps are the same to the last bit.
static void testLeftAlone(void) {
  const double turn = 0.2, normal[3] = {sin(turn), 0, cos(turn)};
  const double quat[4] = {cos(turn / 2), 0, sin(turn / 2), 0};
  Scene* s = newScene(2);
  djGeomDef* rail = addGeom(s, 0, DJ_BOX, 100, 0.06, 0.05);
  memcpy(rail->quat, quat, sizeof quat);
  for (int k = 0; k < 3; k++) rail->pos[k] = -0.05 * normal[k];
  addGeom(s, 0, DJ_PLANE, 0, 0, 0)->pos[2] = -20;
  for (int b = 1; b < 3; b++) {
    addBody(s, 0, DJ_FREE, 0, b == 1 ? 0 : 3, b == 1 ? 0 : -17, 1, 0.05);
    addGeom(s, b, DJ_BOX, 0.05, 0.05, 0.05)->priority = 1;
    s->geom[s->def.ngeom - 1].friction[0] = 0.2;
  }
  s->def.option.timestep = STEP;
  djData* d;
  djModel* m = startScene(&d, s);
  for (int k = 0; k < 3; k++) d->qpos[k] = 0.0501 * normal[k];
  memcpy(d->qpos + 3, quat, sizeof quat);
  for (int k = 0; k < 5; k++) assert_true(dj_step(m, d) >= 0);   // it lies
  d->qvel[0] = 30 * cos(turn);
  d->qvel[2] = -30 * sin(turn);
  d->qvel[8] = -40;
  for (int k = 0; k < 100; k++) assert_true(dj_step(m, d) >= 0);
  double height = 0, speed = djt_largest(d->qvel, 3);
  for (int k = 0; k < 3; k++) height += normal[k] * d->qpos[k];
  assert_true(speed > 10 && height > 0.04 && height < 0.06 && d->qpos[9] > -20);
  assert_int_equal(d->stats.impact_steps, 0);
  djt_delete(m, d);

  djData* both[2];
  djModel* model[2];
  for (int i = 0; i < 2; i++) {
    Scene* pile = newMixedPile(8);
    pile->def.option.impact_steps = i ? 32 : 0;
    model[i] = startPile(&both[i], pile);
    for (int k = 0; k < 150; k++) assert_true(dj_step(model[i], both[i]) >= 0);
    assert_int_equal(both[i]->stats.impact_steps, 0);
  }
  size_t na, nb;
  double *a = publicNumbers(&na, model[0], both[0]), *b = publicNumbers(&nb, model[1], both[1]);
  assert_int_equal(na, nb);
  assert_memory_equal(a, b, na * sizeof(double));
  free(a);
  free(b);
  for (int i = 0; i < 2; i++) {
    djt_delete(model[i], both[i]);
  }
}

// ---- derivatives ------------------------------------------------------------------------------

// A contact that differences resolve, and solutions to rounding.
static djOption resolved(djIntegrator integrator) {
  djOption o = dj_defaultOption();
  o.integrator = integrator;
  o.support = 0.02;
  o.stiffness = 1e-2;
  o.friction_eps = 1e-2;
  o.tolerance = 1e-9;
  return o;
}

static djModel* openImpact(djData** d, djIntegrator integrator) {
  djModel* m = openPair(d, &kShape[0], 0.2, 0.23, resolved(integrator));
  djRng rng = {11};
  (*d)->work->refinement_steps = 2;
  (*d)->qpos[8] = 0.03;
  (*d)->qpos[9] = -0.02;
  (*d)->ctrl[0] = 5;
  (*d)->ctrl[1] = 0.3;
  (*d)->act[0] = 0.2;
  for (int k = 0; k < 12; k++) (*d)->qvel[k] += djt_uniform(&rng, -1, 1);
  return m;
}

// State of data moved by dx, du; its step's end as a change from that of `end`.
static void movedStep(double* out, const djModel* m, const djData* from, const djData* end,
                      const double* dx, const double* du) {
  int nv = m->nv;
  djData* d = sceneData(m);
  assert_int_equal(dj_copyData(d, m, from), DJ_OK);
  d->work->refinement_steps = 2;
  dj_integratePos(d->qpos, m, from->qpos, dx, 1);
  for (int i = 0; i < nv; i++) d->qvel[i] += dx[nv + i];
  for (int i = 0; i < m->na; i++) d->act[i] += dx[2 * nv + i];
  for (int i = 0; i < m->nu; i++) d->ctrl[i] += du[i];
  assert_true(dj_step(m, d) >= 0);
  assert_int_equal(d->work->npart, end->work->npart);
  dj_differentiatePos(out, m, 1, end->qpos, d->qpos);
  for (int i = 0; i < nv; i++) out[nv + i] = d->qvel[i] - end->qvel[i];
  for (int i = 0; i < m->na; i++) out[2 * nv + i] = d->act[i] - end->act[i];
  dj_deleteData(d);
}

enum { NX = 25, NU = 2, NC = NX + NU };

static void testTransition(void) {
  static const djIntegrator integrator[] = {DJ_EULER, DJ_POSITION, DJ_VARIATIONAL, DJ_BDF1,
                                            DJ_MIDPOINT};
  static double A[NX * NX], B[NX * NU], A2[NX * NX], B2[NX * NU];
  for (int k = 0; k < 5; k++) {
    djData *d, *end;
    djModel* m = openImpact(&d, integrator[k]);
    assert_int_equal(dj_tangentSize(m), NX);
    size_t n, n2;
    double* before = publicNumbers(&n, m, d);
    assert_int_equal(djd_transition(m, d, A, B), DJ_OK);
    double* after = publicNumbers(&n2, m, d);
    assert_int_equal(n, n2);
    assert_memory_equal(before, after, n * sizeof(double));
    free(before);
    free(after);
    end = sceneData(m);
    assert_int_equal(dj_copyData(end, m, d), DJ_OK);
    end->work->refinement_steps = 2;
    assert_true(dj_step(m, end) >= 0);
    assert_int_equal(end->work->npart, 5);
    end->ctrl[0] += 7;                 // of the next step
    assert_int_equal(djd_lastTransition(m, end, A2, B2), DJ_OK);
    assert_memory_equal(A, A2, sizeof A);
    assert_memory_equal(B, B2, sizeof B);
    double worst = 0, scale = djt_worst(djt_largest(A + NX * 12, NX * 12), 1);
    for (int c = 0; c < NC; c++) {
      double dx[NX] = {0}, du[NU] = {0}, up[NX], down[NX], jvp[NX], e = c < 12 ? 1e-7 : 1e-6;
      if (c < NX) dx[c] = e;
      else du[c - NX] = e;
      movedStep(up, m, d, end, dx, du);
      for (int i = 0; i < NX; i++) dx[i] = -dx[i];
      for (int i = 0; i < NU; i++) du[i] = -du[i];
      movedStep(down, m, d, end, dx, du);
      assert_int_equal(djd_stepJvp(m, end, jvp, dx, du), DJ_OK);
      for (int r = 0; r < NX; r++) {
        double exact = c < NX ? A[r * NX + c] : B[r * NU + c - NX];
        double rows = r < 12 ? STEP : 1;
        worst = djt_worst(worst, fabs((up[r] - down[r]) / (2 * e) - exact) /
                                     (rows * scale * (c >= 12 && c < 24 ? STEP : 1)));
        djt_near(-jvp[r] / e, exact, 1e-9 * (1 + fabs(exact)));
      }
    }
    print_message("integrator %d: A and B by differences to %.1e of %.0f\n", (int)integrator[k],
                  worst, scale);
    assert_true(worst < 1e-4);
    // products with the transposes
    double l[NX], dx[NX] = {0}, du[NU] = {0};
    djRng rng = {3};
    djt_uniforms(l, NX, &rng, -1, 1);
    assert_int_equal(djd_stepVjp(m, end, dx, du, l), DJ_OK);
    for (int c = 0; c < NC; c++) {
      double sum = 0, size = 0;
      for (int r = 0; r < NX; r++) {
        double x = l[r] * (c < NX ? A[r * NX + c] : B[r * NU + c - NX]);
        sum += x;
        size += fabs(x);
      }
      djt_near(c < NX ? dx[c] : du[c - NX], sum, 1e-10 * size);
    }
    dj_deleteData(end);
    djt_delete(m, d);
  }
}

// The end of a step by a mass, through djd_lastParams; forces at its end, through djd_lastContact.
static void testParamsAndForces(void) {
  djData *d, *end;
  djModel* m = openImpact(&d, DJ_EULER);
  const double zero[NC] = {0};
  djParam mass = djt_param(m, "body/#1/mass");
  end = sceneData(m);
  assert_int_equal(dj_copyData(end, m, d), DJ_OK);
  end->work->refinement_steps = 2;
  assert_true(dj_step(m, end) >= 0);
  double P[NX], up[NX], down[NX], value = 1, e = 1e-6;
  assert_int_equal(djd_lastParams(m, end, P, 1, &mass), DJ_OK);
  for (int s = 0; s < 2; s++) {
    double moved = value + (s ? -e : e);
    assert_int_equal(dj_setParam(m, &mass, &moved, NULL), DJ_OK);
    movedStep(s ? down : up, m, d, end, zero, zero);
  }
  assert_int_equal(dj_setParam(m, &mass, &value, NULL), DJ_OK);
  double scale = djt_largest(P + 12, 12);
  assert_true(scale > 0.1);
  for (int r = 0; r < NX; r++) {
    djt_near((up[r] - down[r]) / (2 * e), P[r], 1e-5 * scale);
  }
  assert_int_equal(end->npair, 1);
  double force[3 * NC], by[2][3], largest = 0;
  assert_int_equal(djd_lastContact(m, end, force, NULL, NULL), DJ_OK);
  largest = djt_largest(force, 3 * NC);
  for (int c = 0; c < NC; c++) {
    e = c < 12 ? 1e-7 : 1e-6;
    for (int s = 0; s < 2; s++) {
      djData* x = sceneData(m);
      double dx[12] = {0};
      assert_int_equal(dj_copyData(x, m, d), DJ_OK);
      x->work->refinement_steps = 2;
      if (c < 12) dx[c] = s ? -e : e;
      dj_integratePos(x->qpos, m, d->qpos, dx, 1);
      double* to = c < 12 ? NULL : c < 24 ? x->qvel + c - 12 : c < 25 ? x->act : x->ctrl + c - NX;
      if (to) *to += s ? -e : e;
      assert_true(dj_step(m, x) >= 0);
      memcpy(by[s], x->pair[0].force, sizeof by[s]);
      dj_deleteData(x);
    }
    for (int r = 0; r < 3; r++) {
      djt_near((by[0][r] - by[1][r]) / (2 * e), force[r * NC + c], 1e-4 * largest);
    }
  }
  dj_deleteData(end);
  djt_delete(m, d);
}

// ---- runs -------------------------------------------------------------------------------------

enum { HORIZON = 6 };

typedef struct Run {
  djModel* m;
  djData* d;
  djTape* tape;
  double v[12], ctrl[HORIZON * NU], mass;
  double dv[12], dctrl[HORIZON * NU], dmass;   // a direction
  djParam param;
  double q[14];
} Run;

// Loss at a distance along the direction, and its slope there where wanted.
static double lossAt(double* slope, Run* r, double t) {
  djLossTerm term[2] = {{.type = DJ_LOSS_POSITION, .object = DJ_OBJ_BODY, .id = 2, .weight = 3,
                         .target = {0.1, 0.2, 0.3}},
                        {.type = DJ_LOSS_VELOCITY, .object = DJ_OBJ_BODY, .id = 1,
                         .weight = 1e-2, .when = DJ_WHEN_RUNNING}};
  double v[12], u[HORIZON * NU], gv[12], gu[HORIZON * NU], gm;
  for (int i = 0; i < 12; i++) v[i] = r->v[i] + t * r->dv[i];
  for (int i = 0; i < HORIZON * NU; i++) u[i] = r->ctrl[i] + t * r->dctrl[i];
  double mass = r->mass + t * r->dmass;
  assert_int_equal(dj_setParam(r->m, &r->param, &mass, NULL), DJ_OK);
  djRollout roll = {.horizon = HORIZON, .qpos0 = r->q, .qvel0 = v, .ctrl = u, .nloss = 2,
                    .loss = term, .loss_only = !slope, .refinement_steps = 2};
  djRolloutResult out = {.grad_qvel0 = gv, .grad_ctrl = gu, .nparam = 1, .param = &r->param,
                         .grad_param = &gm};
  assert_true(djd_rolloutForward(&out, r->m, r->d, &roll, r->tape) >= 0);
  assert_true(r->d->stats.impact_steps > 0);
  if (!slope) return out.loss;
  assert_int_equal(djd_rolloutBackward(&out, r->m, r->d, &roll, r->tape), DJ_OK);
  *slope = gm * r->dmass;
  for (int i = 0; i < 12; i++) *slope += gv[i] * r->dv[i];
  for (int i = 0; i < HORIZON * NU; i++) *slope += gu[i] * r->dctrl[i];
  return out.loss;
}

// What a first order leaves goes by the square of the way: by start velocity, controls, a mass, and
// all together.
static void testTaylor(void) {
  static const djIntegrator integrator[] = {DJ_EULER, DJ_POSITION, DJ_MIDPOINT};
  djRng rng = {5};
  djError err;
  for (int i = 0; i < 12; i++) {
    Run r = {.mass = 1};
    r.m = openImpact(&r.d, integrator[i / 4]);
    memcpy(r.v, r.d->qvel, sizeof r.v);
    memcpy(r.q, r.d->qpos, sizeof r.q);
    assert_int_equal(djd_makeTape(&r.tape, r.m, HORIZON, &err), DJ_OK);
    assert_int_equal(dj_paramId(&r.param, r.m, "body/#1/mass", &err), DJ_OK);
    djt_uniforms(r.ctrl, HORIZON * NU, &rng, -5, 5);
    if (i % 4 == 0 || i % 4 == 3) djt_uniforms(r.dv, 12, &rng, -1, 1);
    if (i % 4 == 1 || i % 4 == 3) djt_uniforms(r.dctrl, HORIZON * NU, &rng, -30, 30);
    if (i % 4 == 2 || i % 4 == 3) r.dmass = 0.3;
    double slope, loss = lossAt(&slope, &r, 0), rest[2];
    for (int k = 0; k < 2; k++) {
      double t = 1e-3 / (k ? 5 : 1);
      double even = lossAt(NULL, &r, t) + lossAt(NULL, &r, -t) - 2 * loss;
      rest[k] = fabs(lossAt(NULL, &r, t) - loss - slope * t);
      assert_true(isfinite(even));
    }
    double order = log(rest[0] / rest[1]) / log(4);
    print_message("integrator %d, direction %d: slope %.4g, order of the rest %.3f\n",
                  (int)integrator[i / 4], i % 4, slope, order);
    assert_true(order > 1.8);
    djd_deleteTape(r.tape);
    djt_delete(r.m, r.d);
  }
}

// ---- one state, one step ------------------------------------------------------------------------

static void testSameBits(void) {
  djData *d, *cold;
  djOption o = dj_defaultOption();
  djModel* m = openPair(&d, &kShape[1], 0.5, 0.13, o);
  d->qvel[4] = 3;
  cold = sceneData(m);
  for (int k = 0; k < 8; k++) {
    size_t n, n2;
    double* x = calloc((size_t)dj_stateSize(m), sizeof(double));
    assert_int_equal(dj_getState(x, m, d), DJ_OK);
    assert_int_equal(dj_setState(cold, m, x), DJ_OK);
    memcpy(cold->ctrl, d->ctrl, (size_t)m->nu * sizeof(double));
    cold->stats = d->stats;
    assert_true(dj_step(m, d) >= 0);
    assert_true(dj_step(m, cold) >= 0);
    cold->energy[0] = d->energy[0];
    cold->energy[1] = d->energy[1];
    double *a = publicNumbers(&n, m, d), *b = publicNumbers(&n2, m, cold);
    assert_int_equal(n, n2);
    assert_memory_equal(a, b, n * sizeof(double));
    free(a);
    free(b);
    free(x);
  }
  assert_true(d->stats.impact_steps > 0);
  dj_deleteData(cold);
  djt_delete(m, d);
}

// Parts are steps of so small a timestep, where contact is given.
static void testAsSmallSteps(void) {
  for (int i = 0; i < DJ_NINTEGRATOR; i++) {
    djOption o = resolved((djIntegrator)i);
    o.skin = o.recovery_stiffness = 1e-3;
    djData *d, *small;
    djError err;
    djModel* m = openPair(&d, &kShape[0], 0.2, 0.23, o);
    d->qpos[8] = 0.03;
    d->ctrl[0] = 5;
    d->ctrl[1] = 2;
    d->act[0] = 0.1;
    small = sceneData(m);
    assert_int_equal(dj_copyData(small, m, d), DJ_OK);
    assert_true(dj_step(m, d) >= 0);
    assert_int_equal(d->work->npart, 5);
    o = m->opt;
    o.timestep = STEP / 5;
    o.impact_steps = 0;
    assert_int_equal(dj_setOption(m, &o, &err), DJ_OK);
    for (int k = 0; k < 5; k++) assert_true(dj_step(m, small) >= 0);
    assert_memory_equal(d->qpos, small->qpos, (size_t)m->nq * sizeof(double));
    assert_memory_equal(d->qvel, small->qvel, (size_t)m->nv * sizeof(double));
    assert_memory_equal(d->act, small->act, (size_t)m->na * sizeof(double));
    assert_int_equal(d->stats.newton_iterations, small->stats.newton_iterations);
    assert_int_equal(d->stats.iterations, small->stats.newton_iterations);
    assert_int_equal(d->npair, small->npair);
    dj_deleteData(small);
    djt_delete(m, d);
  }
}

// A step that fails in a later part changes nothing.
static void testFailure(void) {
  djOption o = dj_defaultOption();
  o.integrator = DJ_VARIATIONAL;   // euler, by forces at the start, fails in the first part alone
  int failed = 0, late = 0;
  for (int power = 100; power < 300; power += 2) {
    djData* d;
    djModel* m = openPair(&d, &kShape[0], 0.2, 0.23, o);
    d->qfrc_applied[7] = pow(10, power);
    size_t n, n2;
    double *a = publicNumbers(&n, m, d), *b;
    if (dj_step(m, d) < 0) {
      failed++;
      b = publicNumbers(&n2, m, d);
      late += memcmp(d->work->start.qpos, d->qpos, (size_t)m->nq * sizeof(double)) != 0;
      assert_int_equal(n, n2);
      assert_memory_equal(a, b, n * sizeof(double));
      assert_true(dj_errorText(d)[0] != 0);
      assert_int_equal(djd_lastTransition(m, d, NULL, NULL), DJ_INVALID);
      free(b);
      d->qfrc_applied[7] = 0;
      assert_true(dj_step(m, d) >= 0);
      assert_int_equal(d->work->npart, 5);
    }
    free(a);
    djt_delete(m, d);
  }
  print_message("%d failed, %d of them in a later part\n", failed, late);
  assert_true(failed > late && late > 0);
}

DJT_MAIN(testPassing, testNumber, testLeftAlone, testTransition, testParamsAndForces, testTaylor,
         testSameBits, testAsSmallSteps, testFailure, testOwnTurning)
