// Contact without an energy, apart from steps: twists and their derivatives; and balls that a floor
// pushes by springs with dampers, and that charge and push each other aside, so that kernels with
// and without an energy, with and without velocities follow each other in the list.

#include "charge_kernel.h"
#include "common/force_case.h"
#include "common/make_model.h"
#include "common/method_suite.h"
#include "common/near.h"
#include "common/param_case.h"
#include "common/test.h"
#include "contact/plane/separating_plane.h"
#include "force/contact_nonpotential.h"
#include "force/twist_force.h"
#include "math/spatial.h"
#include "spring_kernel.h"
#include "swirl_kernel.h"

// ---- twists -----------------------------------------------------------------------------------

typedef struct Twists {
  djForceCase c;
  void* memory;
  djTwistForces s;
} Twists;

static void twistsAt(double* V, Twists* t, double s) {
  djMotion at = djt_forceMotion(&t->c, s);
  dj_setTwists(&t->s, &at);
  memcpy(V, t->s.V, 6 * (size_t)t->c.m->nbody * sizeof(double));
}

// V by differences of poses along v; its derivatives by differences of V along each dof: S_j x V +
// D_j at the point, D0_j where displacements begin.
static void testTwists(void) {
  djRng rng = {1};
  double worst[3] = {0};
  for (int trial = 0; trial < 30; trial++) {
    djModel* m = djt_randomModel(&rng, 1 + djt_integer(&rng, 6), 0);
    Twists t = {.c = djt_openForceCase(m, &rng)};
    size_t n = 6 * (size_t)m->nbody;
    t.memory = aligned_alloc(DJ_ALIGN, (dj_twistForcesSize(m) / DJ_ALIGN + 1) * DJ_ALIGN);
    assert_non_null(t.memory);
    t.s = dj_initTwistForces(m, t.memory);
    t.c.apart = true;
    double *V = djt_room(n), *up = djt_room(n), *down = djt_room(n), e = 1e-5, small = 1e-6;
    double* D[2] = {djt_room(6 * (size_t)m->nv), djt_room(6 * (size_t)m->nv)};
    twistsAt(V, &t, 0);
    memcpy(D[0], t.s.D, 6 * (size_t)m->nv * sizeof(double));
    memcpy(D[1], t.s.D0, 6 * (size_t)m->nv * sizeof(double));
    memcpy(t.c.along, t.s.v, (size_t)m->nv * sizeof(double));
    djPose* pose[2] = {calloc((size_t)m->nbody, sizeof(djPose)),
                       calloc((size_t)m->nbody, sizeof(djPose))};
    t.c.moved = DJT_POINT;
    for (int k = 0; k < 2; k++) {
      djt_forceMotion(&t.c, k ? small : -small);
      memcpy(pose[k], t.c.w->now.kin.body, (size_t)m->nbody * sizeof(djPose));
    }
    djt_forceMotion(&t.c, 0);
    for (int b = 1; b < m->nbody; b++) {
      djMat3 back, dR;
      for (int i = 0; i < 9; i++) back.m[i] = pose[0][b].R.m[3 * (i % 3) + i / 3];
      dR = dju_mulMM(pose[1][b].R, back);
      djVec3 w = {dR.m[7] - dR.m[5], dR.m[2] - dR.m[6], dR.m[3] - dR.m[1]};
      w = dju_scale3(0.25 / small, w);
      djVec3 p = t.c.w->now.kin.body[b].p, move = dju_sub3(pose[1][b].p, pose[0][b].p);
      djVec3 v = dju_madd3(dju_cross3(w, dju_sub3(t.c.w->ref[b], p)), 0.5 / small, move);
      double want[6], size = 1 + djt_largest(V + 6 * b, 6);
      dju_store3(want, w);
      dju_store3(want + 3, v);
      for (int i = 0; i < 6; i++) {
        worst[0] = djt_worst(worst[0], fabs(V[6 * b + i] - want[i]) / size);
      }
    }
    for (int k = 0; k < 2; k++) {
      t.c.moved = k ? DJT_RATE : DJT_POINT;
      for (int j = 0; j < m->nv; j++) {
        memset(t.c.along, 0, (size_t)m->nv * sizeof(double));
        t.c.along[j] = 1;
        twistsAt(down, &t, -e);
        twistsAt(up, &t, e);
        djt_forceMotion(&t.c, 0);
        for (int b = 1; b < m->nbody; b++) {
          int i = m->body_lastdof[b];
          while (i > j) i = m->dof_parent[i];
          djSix S = dju_load6(t.c.w->now.kin.S + 6 * j);
          double turned[6], size = 100 + djt_largest(V, (int)n);
          dju_store6(turned, dju_crossTwist(S, dju_load6(V + 6 * b)));
          for (int r = 0; r < 6; r++) {
            double slope = (up[6 * b + r] - down[6 * b + r]) / (2 * e);
            double want = i == j ? D[k][6 * j + r] + (k ? 0 : turned[r]) : 0;
            worst[1 + k] = djt_worst(worst[1 + k], fabs(slope - want) / size);
          }
        }
      }
    }
    double* const list[] = {V, up, down, D[0], D[1]};
    for (int k = 0; k < 5; k++) free(list[k]);
    for (int k = 0; k < 2; k++) free(pose[k]);
    free(t.memory);
    djt_closeForceCase(&t.c);
  }
  print_message("twists %.1e, by the point %.1e, by rate %.1e\n", worst[0], worst[1], worst[2]);
  assert_true(worst[0] < 1e-7 && worst[1] < 1e-7 && worst[2] < 1e-7);
}

// ---- a list of four kernels -------------------------------------------------------------------

// Balls deep in the floor and below a tray that moves, one on an arm, one that is fixed. Pairs in
// the order of geoms: three springs with the floor, one of the fixed ball with the tray, a pair
// with an energy, one of another kernel, a spring with the tray, one more of the other kernel.
static djModel* mixedModel(const char* potential, const char* last) {
  static const char text[] =
      "{'dijoco_model':1,'option':{'contact':'charge',"
      "'charge':{'charge':0.5},'spring':{'stiffness':4,'damping':3,'viscosity':2},"
      "'swirl':{'strength':1.5},"
      "'support':0.45,'length_scale':4,'stiffness':1},"
      "'bodies':[{'name':'world'},{'name':'post','pos':[1,-1,0]},"
      "{'name':'one','pos':[0,0,0.3],'mass':0.7,'inertia':[0.03,0.02,0.03]},"
      "{'name':'two','pos':[2.5,0.2,0.1],'mass':0.5,'inertia':[0.02,0.01,0.015]},"
      "{'name':'arm','pos':[0,2.5,0.3],'mass':0.6,'ipos':[0.1,0,-0.1],"
      "'inertia':[0.01,0.01,0.02]},"
      "{'name':'hand','parent':'arm','pos':[0.2,0.1,-0.3],'quat':[1,0.3,0.1,-0.2],"
      "'mass':0.3,'inertia':[0.01,0.01,0.005]},"
      "{'name':'tray','pos':[1,0,5],'mass':0.9,'inertia':[0.05,0.05,0.08]}],"
      "'joints':[{'type':'free','body':2},"
      "{'type':'slide','body':3,'axis':[0,0.3,1]},"
      "{'type':'hinge','body':3,'axis':[1,0.3,0.2],'pos':[0.1,0,0.1]},"
      "{'type':'ball','body':4},"
      "{'type':'hinge','body':5,'axis':[0.3,1,0.1]},"
      "{'type':'slide','body':6,'axis':[0,0.2,1]},"
      "{'type':'hinge','body':6,'axis':[1,0.2,0]}],"
      "'geoms':[{'name':'floor','type':'plane','body':0,'pos':[0,0,4]},"
      "{'name':'peg','body':1,'size':[0.05,0,0],'contype':0,'conaffinity':0},"
      "{'name':'one','body':2,'size':[0.1,0,0],'pos':[0.05,0.1,0]},"
      "{'name':'two','body':3,'size':[0.08,0,0],'pos':[0.01,0,0.2]},"
      "{'name':'three','body':5,'size':[0.05,0,0],'pos':[0.1,0,-0.25]},"
      "{'name':'tray','type':'plane','body':6,'contype':0,'conaffinity':0}],"
      "'pairs':[{'geom1':0,'geom2':2,'contact':'spring','friction':0.6},"
      "{'geom1':0,'geom2':3,'contact':'spring','friction':0.3},"
      "{'geom1':0,'geom2':4,'contact':'spring','friction':0.6},"
      "{'geom1':2,'geom2':3,'contact':'%s'},"
      "{'geom1':2,'geom2':4,'contact':'%s'},{'geom1':3,'geom2':4,'contact':'%s'},"
      "{'geom1':2,'geom2':5,'contact':'spring','friction':0.2},"
      "{'geom1':1,'geom2':5,'contact':'spring','friction':0.4}]}";
  char scene[4000];
  snprintf(scene, sizeof scene, text, potential, last, last);
  djModel* m = djt_modelOf(scene);
  return m;
}

static void testKernels(void) {
  assert_true(dj_isPotential(&dj_separatingPlane.traits));
  assert_true(dj_isPotential(&test_chargeKernel.traits));
  assert_false(dj_isPotential(&test_springKernel.traits));
  assert_false(dj_isPotential(&test_swirlKernel.traits));
  djTraits traits = test_chargeKernel.traits;   // any of the three makes one
  traits.uses_twist = true;
  assert_false(dj_isPotential(&traits));
  traits = test_chargeKernel.traits;
  traits.symmetric = false;
  assert_false(dj_isPotential(&traits));
  djRng rng = {2};
  djModel *m = mixedModel("charge", "swirl"), *none = djt_randomModel(&rng, 2, 0);
  assert_true(dj_hasNonpotentialContact(m));
  assert_false(dj_hasNonpotentialContact(none));
  djData* d = makeData(m);
  assert_true(dj_solveStep(m, d) >= 0);
  int n;
  const djContactBlock* const* block =
      dj_contactBlocks(&n, *(djContacts**)d->work->forces.state[DJ_FORCE_CONTACT]);
  static const djKernel* const order[] = {
      &test_springKernel, &test_springKernel, &test_springKernel, &test_springKernel,
      &test_chargeKernel, &test_swirlKernel,  &test_springKernel, &test_swirlKernel};
  assert_int_equal(n, 8);
  for (int i = 0; i < n; i++) {   // the list is as the model's head says
    assert_ptr_equal(block[i]->kernel, order[i]);
    assert_true((block[i]->out.twist_jac != NULL) == (order[i] == &test_springKernel));
  }
  djt_delete(m, d);
  dj_deleteModel(none);
}

// The residual's derivative by the point.
static void testJacobian(void) {
  djRng rng = {3};
  for (int method = 0; method < DJ_NINTEGRATOR; method++) {
    djModel* m = mixedModel("charge", "swirl");
    djData* d = djt_openMethod(m, (djIntegrator)method, 0.02);
    double worst = 0;
    for (int trial = 0; trial < 5; trial++) {
      djt_randomState(&rng, m, d, 1);
      assert_true(dj_solveStep(m, d) >= 0);
      size_t nv = (size_t)m->nv;
      double *q = djt_room((size_t)m->nq), *qe = djt_room((size_t)m->nq), *e = djt_room(nv);
      double *g = djt_room(nv), *sum = djt_room(nv), *Hx = djt_room(nv);
      djt_uniforms(e, m->nv, &rng, -0.05, 0.05);
      dj_integratePos(q, m, d->work->now.q, e, 1);
      djt_uniforms(e, m->nv, &rng, -1, 1);
      energyAt(g, m, d, q);
      dj_mulMatrix(Hx, 1, &d->work->H, e);
      for (int k = 0; k < 4; k++) {
        static const double point[4] = {1, -1, 2, -2}, weight[4] = {8, -8, -1, 1};
        dj_integratePos(qe, m, q, e, point[k] * 1e-4);
        energyAt(g, m, d, qe);
        for (size_t i = 0; i < nv; i++) sum[i] += weight[k] / (12 * 1e-4) * g[i];
      }
      worst = djt_worst(worst, djt_relative(Hx, sum, m->nv));
      double* const list[] = {q, qe, e, g, sum, Hx};
      for (int k = 0; k < 6; k++) free(list[k]);
    }
    print_message("%s: dr/dq+ %.1e\n", dj_method((djIntegrator)method)->name, worst);
    assert_true(worst < 1e-8);
    djt_delete(m, d);
  }
}

// And by the start, in A and B of a step.
static void testStart(void) {
  djRng rng = {4};
  for (int method = 0; method < DJ_NINTEGRATOR; method++) {
    djModel* m = mixedModel("charge", "swirl");
    djData* d = djt_openMethod(m, (djIntegrator)method, 0.02);
    djt_randomState(&rng, m, d, 1);
    double error = djt_transitionError(m, d, 1e-4, 0);
    print_message("%s: A and B %.1e\n", dj_method((djIntegrator)method)->name, error);
    assert_true(error < 1e-6);
    djt_delete(m, d);
  }
}

// By parameters that move frames. (Charges have no gradients by parameters.)
static void testParams(void) {
  static const djField fields[] = {DJ_FIELD_BODY_POS, DJ_FIELD_BODY_QUAT, DJ_FIELD_JOINT_POS,
                                   DJ_FIELD_JOINT_AXIS};
  enum { N = sizeof fields / sizeof fields[0] };
  djRng rng = {5};
  for (int k = 0; k < 2; k++) {
    const char* last = k ? "swirl" : "separating_plane";
    djtWorst worst = {{0}, {0}, {0}};
    for (int trial = 0; trial < 6; trial++) {
      djModel* m = mixedModel("separating_plane", last);
      m->opt.timestep = 0.02;
      djParamCase c = djt_openParamCase(m, &rng, 1);
      dj_initParamSums(&c.sums, c.memory, m);   // all that the method has of frames
      assert_true(dj_method(m->opt.integrator)->params(&c.sums, c.data->work, m, c.z) >= 0);
      djt_compareParams(&worst, &c, fields, N);
      djt_closeParamCase(&c);
    }
    djt_expectRight(&worst, fields, N);
    for (int i = 0; i < N; i++) assert_true(worst.nonzero[fields[i]] > 0);
  }
}

DJT_MAIN(testTwists, testKernels, testJacobian, testStart, testParams)
