// A step depends on state and inputs alone, to the last bit: runs that continue from a saved state,
// after derivatives were asked for, or in a copied data give the bits of the run that was not
// disturbed. With geoms of all types and both integrators.

#include "common/make_model.h"
#include "common/scene.h"
#include "common/states.h"
#include "common/test.h"

enum { STEPS = 160 };

typedef struct Case {
  int bodies;
  bool mixed;
  djIntegrator integrator;
} Case;

static djModel* startCase(djData** d, const Case* c) {
  Scene* s = c->mixed ? newMixedPile(c->bodies) : newPile(c->bodies);
  s->def.option.integrator = c->integrator;
  return startPile(d, s);
}

// States after every step, (STEPS x size).
static double* runStates(const djModel* m, djData* d, int n) {
  int size = dj_stateSize(m);
  double* out = calloc((size_t)n * (size_t)size, sizeof *out);
  for (int k = 0; k < n; k++) {
    assert_true(dj_step(m, d) >= 0);
    assert_int_equal(dj_getState(out + (size_t)k * size, m, d), DJ_OK);
  }
  return out;
}

static void checkSame(const double* x, const double* y, size_t n) {
  assert_memory_equal(x, y, n * sizeof *x);
}

static void testContinued(void** state) {
  djData *d, *other;
  djModel* m = startCase(&d, *state);
  size_t size = (size_t)dj_stateSize(m);
  double* straight = runStates(m, d, STEPS);
  int in_contact = 0;
  for (int k = 10; k < STEPS - 10; k += 25) {
    other = sceneData(m);
    other->ctrl[0] = 1;
    other->ctrl[1] = -0.5;
    assert_int_equal(dj_setState(other, m, straight + (size_t)(k - 1) * size), DJ_OK);
    double* rest = runStates(m, other, STEPS - k);
    checkSame(rest, straight + (size_t)k * size, (size_t)(STEPS - k) * size);
    in_contact += other->npair > 0;
    free(rest);
    dj_deleteData(other);
  }
  assert_true(in_contact > 0);
  free(straight);
  djt_delete(m, d);
}

static void testDisturbed(void** state) {
  djData *d, *e, *copy;
  djModel *m = startCase(&d, *state), *same = startCase(&e, *state);
  size_t size = (size_t)dj_stateSize(m), nx = 2 * (size_t)m->nv + (size_t)m->na;
  double* straight = runStates(m, d, STEPS);
  double *A = calloc(nx * nx, sizeof *A), *B = calloc(nx * (size_t)m->nu, sizeof *B);
  double* x = calloc(size, sizeof *x);
  copy = sceneData(same);
  for (int k = 0; k < STEPS; k++) {
    if (k % 3 == 0) assert_int_equal(djd_transition(same, e, A, B), DJ_OK);
    if (k % 7 == 0) {
      assert_int_equal(dj_copyData(copy, same, e), DJ_OK);
      djData* swap = copy;
      copy = e;
      e = swap;
    }
    assert_true(dj_step(same, e) >= 0);
    if (k % 5 == 0) assert_int_equal(djd_lastTransition(same, e, A, B), DJ_OK);
    assert_int_equal(dj_getState(x, same, e), DJ_OK);
    checkSame(x, straight + (size_t)k * size, size);
  }
  free(A);
  free(B);
  free(x);
  free(straight);
  dj_deleteData(copy);
  dj_deleteData(d);
  djt_delete(m, e);
  dj_deleteModel(same);
}

DJT_MAIN_ROWS(djt_of(testContinued, Case, 6, false, DJ_POSITION),
              djt_of(testContinued, Case, 7, true, DJ_POSITION),
              djt_of(testContinued, Case, 7, true, DJ_VARIATIONAL),
              djt_of(testContinued, Case, 7, true, DJ_EULER),
              djt_of(testDisturbed, Case, 6, false, DJ_POSITION),
              djt_of(testDisturbed, Case, 7, true, DJ_POSITION),
              djt_of(testDisturbed, Case, 7, true, DJ_VARIATIONAL),
              djt_of(testDisturbed, Case, 7, true, DJ_EULER))
