// Tapes with checkpoints: the same gradient, to the last bit, from less memory.

#include "common/make_model.h"
#include "common/random_model.h"
#include "common/random_terms.h"
#include "common/scene.h"
#include "common/test.h"

enum { HORIZON = 40, NPARAM = 4 };

// A run and its gradient, all of which is one block.
typedef struct Case {
  djModel* m;
  djData* d;
  djTape* tape;
  djRollout r;
  djRolloutResult result;
  djLossTerm term[DJ_NLOSS];
  djParam param[NPARAM];
  double *u, *q0, *v0, *block;
  size_t nblock;
} Case;

static void openCase(Case* c, djModel* m, djData* d, djRng* rng) {
  static const char* const names[NPARAM] = {"body/#1/mass", "body/#1/pos", "option/gravity",
                                            "contact/stiffness"};
  djError err;
  c->m = m;
  c->d = d;
  c->nblock = 0;
  assert_int_equal(djd_makeTape(&c->tape, m, HORIZON, &err), DJ_OK);
  size_t nv = (size_t)m->nv, nq = (size_t)m->nq, nu = HORIZON * (size_t)m->nu;
  c->result = (djRolloutResult){0};
  for (int i = 0; i < NPARAM; i++) {
    if (dj_paramId(&c->param[c->result.nparam], m, names[i], &err) >= 0) c->result.nparam++;
  }
  c->nblock = 2 * nv + (size_t)m->na + nu + 100 + 2 * nv;
  c->block = calloc(c->nblock + nu + nq + nv, sizeof(double));
  c->u = c->block + c->nblock;
  c->q0 = c->u + nu;
  c->v0 = c->q0 + nq;
  memcpy(c->q0, d->qpos, nq * sizeof(double));
  memcpy(c->v0, d->qvel, nv * sizeof(double));
  for (size_t i = 0; i < nu; i++) c->u[i] = djt_uniform(rng, -1, 1);
  c->r = (djRollout){.horizon = HORIZON, .ctrl = c->u, .qpos0 = c->q0, .qvel0 = c->v0,
                     .refinement_steps = 3, .loss = c->term};
  c->r.nloss = djt_randomTerms(c->term, m, rng, HORIZON, false);
  c->result.param = c->param;
  c->result.grad_qpos0 = c->block;
  c->result.grad_qvel0 = c->result.grad_qpos0 + nv;
  c->result.grad_act0 = c->result.grad_qvel0 + nv;
  c->result.grad_history_qpos0 = c->result.grad_act0 + m->na;
  c->result.grad_history_qvel0 = c->result.grad_history_qpos0 + nv;
  c->result.grad_ctrl = c->result.grad_history_qvel0 + nv;
  c->result.grad_param = c->result.grad_ctrl + nu;
}

static void closeCase(Case* c) {
  djd_deleteTape(c->tape);
  djt_delete(c->m, c->d);
  free(c->block);
}

// The gradient with these checkpoints, in new memory; all public of data is as after the forward
// pass.
static double* gradient(Case* c, int checkpoint) {
  size_t n1, n2;
  memset(c->block, 0, c->nblock * sizeof(double));
  c->r.checkpoint = checkpoint;
  assert_true(djd_rolloutForward(&c->result, c->m, c->d, &c->r, c->tape) >= 0);
  double* before = publicNumbers(&n1, c->m, c->d);
  assert_int_equal(djd_rolloutBackward(&c->result, c->m, c->d, &c->r, c->tape), DJ_OK);
  double* after = publicNumbers(&n2, c->m, c->d);
  assert_int_equal(n1, n2);
  assert_memory_equal(before, after, n1 * sizeof(double));
  free(before);
  free(after);
  double* copy = malloc((c->nblock + 2) * sizeof(double));
  memcpy(copy, c->block, c->nblock * sizeof(double));
  copy[c->nblock] = c->result.loss;
  copy[c->nblock + 1] = c->result.worst_condition;
  return copy;
}

static void checkCase(Case* c) {
  static const int list[] = {1, 7, HORIZON - 1, HORIZON, HORIZON + 5};
  double* whole = gradient(c, 0);
  double size = 0;
  for (size_t i = 0; i < c->nblock; i++) size = fmax(size, fabs(whole[i]));
  assert_true(size > 0 && isfinite(size));
  for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
    double* one = gradient(c, list[k]);
    assert_memory_equal(one, whole, (c->nblock + 2) * sizeof(double));
    free(one);
  }
  // Again, from what another backward pass has left; and without parameters.
  c->r.checkpoint = 6;
  djd_rolloutForward(&c->result, c->m, c->d, &c->r, c->tape);
  for (int k = 0; k < 3; k++) {
    c->result.nparam = k == 1 ? 0 : c->result.nparam;
    memset(c->block, 0, (size_t)(c->result.grad_param - c->block) * sizeof(double));
    assert_int_equal(djd_rolloutBackward(&c->result, c->m, c->d, &c->r, c->tape), DJ_OK);
    assert_memory_equal(c->block, whole, (size_t)(c->result.grad_param - c->block) * sizeof(double));
  }
  free(whole);
}

static void testIntegrators(void) {
  djRng rng = {5};
  for (int method = 0; method < DJ_NINTEGRATOR; method++) {
    for (int contact = 0; contact < 2; contact++) {
      Case c;
      djData* d;
      djError err;
      djModel* m = contact ? movingPile(&d, 4)
                           : djt_randomModel(&rng, 4, DJT_ALL | DJT_TENDONS | DJT_TOTAL);
      if (!contact) djt_dropPathArmature(m);
      djOption option = m->opt;
      option.integrator = (djIntegrator)method;
      if (!contact) option.timestep = 0.005;
      assert_int_equal(dj_setOption(m, &option, &err), DJ_OK);
      if (contact) {
        djData* other = sceneData(m);
        memcpy(other->qvel, d->qvel, (size_t)m->nv * sizeof(double));
        dj_deleteData(d);
        d = other;
      } else {
        assert_int_equal(dj_makeData(&d, m, &err), DJ_OK);
        djt_randomState(&rng, m, d, 1);
      }
      openCase(&c, m, d, &rng);
      checkCase(&c);
      assert_true(!contact || c.result.grad_param[7] != 0);   // by contact's stiffness
      closeCase(&c);
    }
  }
}

// Steps that are taken in parts, and mocap bodies that move in the first one.
static void testParts(void) {
  djRng rng = {8};
  Case c;
  djData* d;
  Scene* s = newPile(4);
  s->body[s->def.nbody - 1].mocap = true;
  s->def.njnt--;
  addMotors(s, DJ_DYN_FILTER, 0.05);
  djModel* m = takeScene(s);
  d = sceneData(m);
  d->qvel[0] = 150;
  d->mocap_pos[0] -= 0.01;
  memcpy(d->mocap_last_pos, m->body_pos + 3 * (m->nbody - 1), 3 * sizeof(double));
  memcpy(d->mocap_last_quat, m->body_quat + 4 * (m->nbody - 1), 4 * sizeof(double));
  openCase(&c, m, d, &rng);
  c.r.qpos0 = d->qpos;   // the run goes on: mocap bodies come from somewhere
  c.r.qvel0 = d->qvel;
  double start[200];
  assert_true(dj_stateSize(m) <= 200);
  dj_getState(start, m, d);
  double* whole = gradient(&c, 0);
  assert_true(d->stats.impact_steps > 0);
  for (int k = 1; k < 9; k += 3) {
    dj_setState(d, m, start);
    double* one = gradient(&c, k);
    assert_memory_equal(one, whole, (c.nblock + 2) * sizeof(double));
    free(one);
  }
  free(whole);
  closeCase(&c);
}

// Few steps' linearisations take few steps' memory.
static void testMemory(void) {
  djRng rng = {9};
  Case c[2];
  size_t bytes[2];
  for (int k = 0; k < 2; k++) {
    djData* d;
    djModel* m = movingPile(&d, 4);
    openCase(&c[k], m, d, &rng);
    size_t empty = djd_tapeBytes(c[k].tape);
    for (int i = 0; i < 3; i++) free(gradient(&c[k], k ? 4 : 0));
    bytes[k] = djd_tapeBytes(c[k].tape) - empty;
    closeCase(&c[k]);
  }
  print_message("linearisations of %d steps: %zu bytes, of 4 %zu\n", HORIZON, bytes[0], bytes[1]);
  assert_true(bytes[1] * 4 < bytes[0]);
}

static void testRefusals(void) {
  djRng rng = {10};
  Case c;
  djData* d;
  djError err;
  djHessian* h;
  djModel* m = movingPile(&d, 2);
  openCase(&c, m, d, &rng);
  c.r.checkpoint = -1;
  assert_int_equal(djd_rolloutForward(&c.result, m, d, &c.r, c.tape), DJ_INVALID);
  assert_string_equal(dj_errorText(d), "checkpoint: -1 is negative");
  c.r.checkpoint = 3;
  assert_true(djd_rolloutForward(&c.result, m, d, &c.r, c.tape) >= 0);
  assert_int_equal(djd_makeHessian(&h, m, HORIZON, &err), DJ_OK);
  djVariation along = {.qvel0 = c.v0}, product = {0};
  assert_int_equal(djd_rolloutHvp(&product, &along, m, d, &c.r, c.tape, h), DJ_INVALID);
  assert_string_equal(dj_errorText(d), "checkpoint: second derivatives need the whole tape");
  djd_deleteHessian(h);
  closeCase(&c);
}

DJT_MAIN(testIntegrators, testParts, testMemory, testRefusals)
