// A step that is done again from its start and its known end, as gradients of runs do: its
// derivatives are those that the step had, whatever was done between. And what a step or a replay
// that fails leaves behind.

#include "common/make_model.h"
#include "common/random_model.h"
#include "common/scene.h"
#include "common/states.h"
#include "common/test.h"
#include "integrate/work.h"

enum { NX = 6, STEPS = 4, MAX_NUMBERS = 64 };

// State and inputs before a step, where it ended, and its derivatives.
typedef struct Step {
  double number[MAX_NUMBERS], end[3], A[NX * NX], B[NX];
} Step;

// Three pendulums on a body that mocap moves; a torque acts on the first.
static djModel* pendulums(djIntegrator integrator) {
  Scene* s = newScene(4);
  int parent = addBody(s, 0, -1, 0, 0, 1, 0, 0.1);
  s->body[parent].mocap = true;
  for (int k = 0; k < 3; k++) {
    parent = addBody(s, parent, DJ_HINGE, 0.3, 0.1, -0.2, 1 + k, 0.1);
    s->joint[k].axis[0] = 0.5 * k;
    s->joint[k].damping = 0.01;
  }
  s->actuator[0] = dj_defaultActuatorDef();
  s->actuator[0].joint = 0;
  s->def.nu = 1;
  s->def.option.timestep = 0.01;
  s->def.option.integrator = integrator;
  return takeScene(s);
}

// Gathers state and inputs, or puts them back.
static void exchange(Step* s, const djModel* m, djData* d, bool put) {
  struct {
    double* x;
    int n;
  } part[] = {{d->qpos, m->nq},           {d->qvel, m->nv},
              {d->ctrl, m->nu},           {d->qfrc_applied, m->nv},
              {d->mocap_pos, 3 * m->nmocap}, {d->mocap_quat, 4 * m->nmocap}};
  double* at = s->number;
  for (size_t k = 0; k < sizeof part / sizeof part[0]; k++) {
    size_t size = (size_t)part[k].n * sizeof(double);
    memcpy(put ? part[k].x : at, put ? at : part[k].x, size);
    at += part[k].n;
  }
  assert_true(at - s->number <= MAX_NUMBERS);
}

static void derivatives(Step* s, const djModel* m, djData* d) {
  assert_int_equal(djd_lastTransition(m, d, s->A, s->B), DJ_OK);
}

static void moveMocap(djData* d, djRng* rng) {
  for (int k = 0; k < 3; k++) d->mocap_pos[k] = djt_uniform(rng, -1, 1);
  djt_unitQuat(d->mocap_quat, rng);
}

// Steps with other forces each, and a mocap body that stands elsewhere in each.
static void takeSteps(Step step[STEPS], const djModel* m, djData* d, djRng* rng) {
  for (int i = 0; i < m->nv; i++) {
    d->qpos[i] = djt_uniform(rng, -1, 1);
    d->qvel[i] = djt_uniform(rng, -2, 2);
  }
  for (int k = 0; k < STEPS; k++) {
    moveMocap(d, rng);
    d->ctrl[0] = djt_uniform(rng, -1, 1);
    d->qfrc_applied[1] = djt_uniform(rng, -1, 1);
    exchange(&step[k], m, d, false);
    assert_int_equal(dj_step(m, d), DJ_OK);
    memcpy(step[k].end, d->qpos, sizeof step[k].end);
    derivatives(&step[k], m, d);
  }
}

static void replay(const Step* s, const djModel* m, djData* d) {
  Step again = *s;
  exchange(&again, m, d, true);
  const djMethod* row = dj_method(m->opt.integrator);
  assert_int_equal(dj_replayStep(m, d, row, 0, s->end, NULL), DJ_OK);
  if (row->velocity) assert_int_equal(row->velocity(d->work, m), DJ_OK);
  assert_string_equal(dj_errorText(d), "");
  derivatives(&again, m, d);
  for (int i = 0; i < NX * NX; i++) assert_true(fabs(again.A[i] - s->A[i]) < 1e-12);
  for (int i = 0; i < NX; i++) assert_true(fabs(again.B[i] - s->B[i]) < 1e-12);
}

static double apart(const Step* a, const Step* b) {
  double most = 0;
  for (int i = 0; i < NX * NX; i++) most = fmax(most, fabs(a->A[i] - b->A[i]));
  return most;
}

// Backward as a gradient goes, forward, and anew. The same start with mocap elsewhere, from which
// poses that were kept would be wrong, is another step.
static void testReplay(void** state) {
  djRng rng = {1};
  for (int round = 0; round < 20; round++) {
    djModel* m = pendulums(*(const djIntegrator*)*state);
    djData *d = sceneData(m), *fresh;
    Step step[STEPS];
    takeSteps(step, m, d, &rng);
    assert_true(apart(&step[0], &step[1]) > 1e-4);   // their derivatives tell steps apart
    for (int k = STEPS - 1; k >= 0; k--) replay(&step[k], m, d);
    for (int k = 0; k < STEPS; k++) replay(&step[k], m, d);
    for (int k = 0; k < STEPS; k++) {
      fresh = sceneData(m);
      replay(&step[k], m, fresh);
      dj_deleteData(fresh);
    }
    // The last replay starts where this one ends; or mocap's place or direction, or a coordinate,
    // is another.
    for (int turn = 0; turn < 4; turn++) {
      Step first = step[0];
      exchange(&first, m, d, true);
      if (turn == 0) d->mocap_pos[2] += 0.3;
      if (turn == 1) d->mocap_quat[3] += 0.3;
      exchange(&first, m, d, false);
      assert_int_equal(dj_step(m, d), DJ_OK);
      memcpy(first.end, d->qpos, sizeof first.end);
      derivatives(&first, m, d);
      Step next = step[0];
      memcpy(next.number, first.end, sizeof first.end);
      if (turn == 2) next.number[m->nq - 1] += 0.1;
      exchange(&next, m, d, true);
      assert_int_equal(dj_step(m, d), DJ_OK);
      memcpy(next.end, d->qpos, sizeof next.end);
      derivatives(&next, m, d);
      replay(&next, m, d);
      replay(&first, m, d);
    }
    djt_delete(m, d);
  }
}

// A step that was refused before it began left the poses of another place: a replay that ends where
// it would have started takes them anew.
static void testRefusedStart(void** state) {
  djRng rng = {3};
  djModel* m = pendulums(*(const djIntegrator*)*state);
  djData* d = sceneData(m);
  Step step[STEPS];
  takeSteps(step, m, d, &rng);
  exchange(&step[2], m, d, true);
  memcpy(d->qpos, step[2].end, sizeof step[2].end);
  m->opt.integrator = (djIntegrator)77;
  assert_int_equal(dj_step(m, d), DJ_UNSUPPORTED);
  m->opt.integrator = *(const djIntegrator*)*state;
  assert_string_equal(dj_errorText(d), "integrator: unknown");
  replay(&step[2], m, d);
  djt_delete(m, d);
}

static void expectNoStep(const djModel* m, djData* d) {
  double A[NX * NX];
  assert_int_equal(djd_lastTransition(m, d, A, NULL), DJ_INVALID);
  assert_string_equal(dj_errorText(d), "no step has been taken since the state was set");
}

// A step that fails changes nothing but the error's text; derivatives of a step there are none
// then. The next one that succeeds leaves no text.
static void testFailures(void** state) {
  djRng rng = {2};
  djModel* m = pendulums(*(const djIntegrator*)*state);
  djData* d = sceneData(m);
  Step step[STEPS];
  double A[NX * NX];
  takeSteps(step, m, d, &rng);
  d->ctrl[0] = NAN;
  djStats stats = d->stats;
  double time = d->time, end[3];
  memcpy(end, d->qpos, sizeof end);
  assert_int_equal(dj_step(m, d), DJ_INVALID);
  assert_string_equal(dj_errorText(d), "ctrl[0]: not a finite number");
  assert_memory_equal(&stats, &d->stats, sizeof stats);
  assert_memory_equal(end, d->qpos, sizeof end);
  assert_true(d->time == time);
  expectNoStep(m, d);
  replay(&step[0], m, d);
  d->qvel[1] = INFINITY;
  assert_int_equal(dj_replayStep(m, d, dj_method(m->opt.integrator), 0, step[0].end, NULL),
                   DJ_INVALID);
  assert_string_equal(dj_errorText(d), "qvel[1]: not a finite number");
  expectNoStep(m, d);
  replay(&step[1], m, d);
  assert_int_equal(djd_transition(m, d, A, NULL), DJ_OK);   // of that step's start
  for (int i = 0; i < NX * NX; i++) assert_true(fabs(A[i] - step[1].A[i]) < 1e-7);
  d->qpos[2] = NAN;
  assert_int_equal(djd_transition(m, d, A, NULL), DJ_INVALID);
  assert_string_equal(dj_errorText(d), "qpos[2]: not a finite number");
  expectNoStep(m, d);
  exchange(&step[2], m, d, true);
  assert_int_equal(dj_step(m, d), DJ_OK);
  assert_string_equal(dj_errorText(d), "");
  assert_memory_equal(d->qpos, step[2].end, sizeof step[2].end);
  assert_int_equal(dj_forward(m, d), DJ_OK);   // sets the state
  expectNoStep(m, d);
  djt_delete(m, d);
}

DJT_MAIN_ROWS(djt_byThree(testReplay), djt_byThree(testRefusedStart), djt_byThree(testFailures))
