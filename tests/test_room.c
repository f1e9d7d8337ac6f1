// Memory of many bodies follows their couplings; it grows where there are more, and nothing shows
// of that but its size.

#include "common/make_model.h"
#include "common/scene.h"
#include "common/states.h"
#include "common/test.h"

#include "integrate/work.h"

enum { MIB = 1 << 20 };

// n boxes of 0.2 m in layers of side x side, every one on those below; gap: of neighbours.
static djModel* boxPile(djData** d, int n, int side, double gap, djIntegrator integrator) {
  Scene* s = newScene(n);
  addGeom(s, 0, DJ_PLANE, 0, 0, 0);
  for (int i = 0; i < n; i++) {
    double step = 0.2 + gap, shift = i / (side * side) % 2 ? 0.03 : 0;
    int b = addBody(s, 0, DJ_FREE, step * (i % side) + shift, step * (i / side % side) - shift,
                    0.1 + 0.2 * (i / (side * side)), 1, 0.1);
    addGeom(s, b, DJ_BOX, 0.1, 0.1, 0.1);
  }
  for (int k = 0; k < 2; k++) {
    s->actuator[k] = dj_defaultActuatorDef();
    s->actuator[k].joint = k;
    for (int a = 0; a < 6; a++) s->actuator[k].gear[a] = a + 1;
    s->def.nu++;
  }
  s->def.option.integrator = integrator;
  return startScene(d, s);
}

// With room for next to nothing.
static void cramp(djWork* w) {
  w->nH = w->at_stage[0].nfactor = w->at_stage[0].nRq = w->at_stage[0].nG = 0;
  w->pattern.maxpair = w->pattern.maxlater = 1;
  w->pattern.nlists = 0;
  w->pattern.nanalysed = -1;
  w->at_stage[0].linear.Ru.max = 1;
  w->at_stage[0].linear.Ru.room = 0;
}

static void testSameBits(void** state) {
  const djIntegrator integrator = *(const djIntegrator*)*state;
  enum { N = 12, NV = 6 * N };
  djData *d, *easy;
  djModel* m = boxPile(&d, N, 2, 0.002, integrator);
  easy = sceneData(m);
  static double A[4 * NV * (NV + 1)], other[4 * NV * (NV + 1)];   // and B after A
  int coupled = 0;
  for (int k = 0; k < 12; k++) {
    if (k % 3 < 2) cramp(d->work);
    else d->work->nH = 0;
    int before = dj_dataGrowths(d);
    assert_int_equal(dj_step(m, d), DJ_OK);
    assert_int_equal(dj_step(m, easy), DJ_OK);
    assert_true(dj_dataGrowths(d) > before);
    assert_memory_equal(d->qpos, easy->qpos, 7 * N * sizeof(double));
    assert_memory_equal(d->qvel, easy->qvel, NV * sizeof(double));
    assert_memory_equal(&d->stats, &easy->stats, sizeof d->stats);
    coupled += easy->work->pattern.npair;
    if (k % 2) cramp(d->work);
    assert_int_equal(djd_lastTransition(m, d, A, A + 4 * NV * NV), DJ_OK);
    assert_int_equal(djd_lastTransition(m, easy, other, other + 4 * NV * NV), DJ_OK);
    const djWork* w = d->work;
    size_t bytes = dj_packedSize(&w->pattern.blocks) * sizeof(double);
    const djStageWork* s = &w->at_stage[w->stage];
    assert_true(bytes <= w->nH && bytes <= s->nRq && bytes <= s->nG);
    bytes = dj_factorNeeds(s->linear.factor.kind, &w->pattern.blocks) * sizeof(double);
    assert_true(bytes <= s->nfactor);
    assert_memory_equal(A, other, sizeof A);
  }
  assert_true(coupled > 100);
  assert_true(dj_dataGrowths(easy) <= (integrator == DJ_EULER));   // what inputs do to rows
  dj_deleteData(easy);
  djt_delete(m, d);
}

// Data of many bodies starts small and grows by what they couple; then it stays.
static void testGrowth(void) {
  djData* d;
  djModel* m = boxPile(&d, 216, 6, 0.0005, DJ_VARIATIONAL);
  assert_true(dj_dataBytes(d) == dj_dataSize(m));
  size_t before = dj_dataBytes(d);
  for (int k = 0; k < 2; k++) assert_true(dj_step(m, d) >= 0);
  int growths = dj_dataGrowths(d);
  assert_in_range(growths, 1, 8);
  assert_true(dj_dataBytes(d) > before);
  size_t most = dj_packedSize(&d->work->pattern.blocks);
  assert_true(most > 30000 && most < (size_t)m->nv * (size_t)m->nv / 20);
  before = dj_dataBytes(d);
  assert_int_equal(dj_resetData(m, d), DJ_OK);
  for (int k = 0; k < 2; k++) assert_true(dj_step(m, d) >= 0);
  assert_int_equal(dj_dataGrowths(d), growths);
  assert_true(dj_dataBytes(d) == before);
  djt_delete(m, d);
}

// The gradient of the last height of the first body by the start's heights.
static void differentiate(const djModel* m, djData* d, djTape* tape, int steps) {
  size_t nx = 2 * (size_t)m->nv + (size_t)m->na;
  double* dstate = calloc(((size_t)steps + 1) * nx, sizeof(double));
  double* grad = calloc((size_t)m->nv, sizeof(double));
  double* ctrl = calloc((size_t)steps * (size_t)m->nu + 1, sizeof(double));
  djRollout r = {.horizon = steps, .ctrl = ctrl};
  djRolloutResult result = {.grad_qpos0 = grad};
  assert_true(djd_rolloutForward(&result, m, d, &r, tape) >= 0);
  dstate[(size_t)steps * nx + 2] = 1;
  assert_int_equal(djd_setCotangents(tape, m, dstate, NULL), DJ_OK);
  assert_int_equal(djd_rolloutBackward(&result, m, d, &r, tape), DJ_OK);
  double size = 0;
  for (int i = 0; i < m->nv; i++) {
    assert_true(isfinite(grad[i]));
    size += fabs(grad[i]);
  }
  assert_true(size > 1e-3 && size < 1e3);
  free(ctrl);
  free(dstate);
  free(grad);
}

static djTape* makeTape(const djModel* m, int steps) {
  djTape* tape;
  djError err;
  assert_int_equal(djd_makeTape(&tape, m, steps, &err), DJ_OK);
  assert_true(djd_tapeBytes(tape) <= djd_tapeSize(m, steps));
  return tape;
}

// A thousand boxes that touch: 110 MiB of data, and a few steps of a gradient.
static void testThousandBoxes(void** state) {
  const djIntegrator integrator = *(const djIntegrator*)*state;
  djData* d;
  djModel* m = boxPile(&d, 1000, 10, 0.001, integrator);
  assert_int_equal(m->nv, 6000);
  djTape* tape = makeTape(m, 2);
  differentiate(m, d, tape, 2);
  print_message("1000 boxes, %d pairs: data %.1f MiB, tape of 2 steps %.1f MiB\n", d->npair,
                (double)dj_dataBytes(d) / MIB, (double)djd_tapeBytes(tape) / MIB);
  assert_true(d->npair > 1800);
  assert_true(dj_dataBytes(d) < (size_t)110 * MIB);
  size_t bytes = djd_tapeBytes(tape);
  differentiate(m, d, tape, 2);   // the same memory again
  assert_true(djd_tapeBytes(tape) == bytes);
  djd_deleteTape(tape);
  djt_delete(m, d);
}

// Nodes on three slides each, of which some touch: 100 MiB of data, 1 GiB of tape for 80 steps.
static void testNodes(void** state) {
  const djIntegrator integrator = *(const djIntegrator*)*state;
  enum { N = 1024, STEPS = 80 };
  Scene* s = newScene(N);
  free(s->joint);
  s->def.joint = s->joint = calloc(3 * N, sizeof *s->joint);
  for (int i = 0; i < N; i++) {
    int b = addBody(s, 0, -1, 0.1 * (i % 32), 0.1 * (i / 32), 1, 0.01, 0.01);
    for (int k = 0; k < 3; k++) {
      djJointDef* j = &s->joint[s->def.njnt++];
      *j = dj_defaultJointDef();
      j->body = b;
      j->type = DJ_SLIDE;
      for (int a = 0; a < 3; a++) j->axis[a] = a == k;
    }
    if (i % 8 < 2) addGeom(s, b, DJ_SPHERE, 0.0501, 0, 0);
  }
  s->def.option.integrator = integrator;
  djData* d;
  djModel* m = startScene(&d, s);
  assert_int_equal(m->nv, 3 * N);
  assert_int_equal(dj_step(m, d), DJ_OK);
  assert_true(d->work->pattern.npair > N / 10);
  djTape* tape = makeTape(m, STEPS);
  differentiate(m, d, tape, STEPS);
  print_message("1024 nodes, %d pairs: data %.1f MiB, tape of %d steps %.1f MiB\n", d->npair,
                (double)dj_dataBytes(d) / MIB, STEPS, (double)djd_tapeBytes(tape) / MIB);
  assert_true(dj_dataBytes(d) < (size_t)110 * MIB);
  assert_true(djd_tapeBytes(tape) < (size_t)1024 * MIB);
  djd_deleteTape(tape);
  djt_delete(m, d);
}

DJT_MAIN_ROWS(djt_byThree(testSameBits), djt_test(testGrowth), djt_byThree(testThousandBoxes),
              djt_byThree(testNodes))
