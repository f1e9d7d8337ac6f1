// What forces add up to: an energy of scalar coordinates and of displacements of free and ball
// joints, given by slopes and curvatures, against its differences by the point, by the start and by
// where displacements begin.

#include "common/near.h"
#include "common/force_case.h"
#include "common/pair_case.h"
#include "common/test.h"
#include "force/motion.h"
#include "force/sum.h"

// At coordinates x, with psi the displacement of a joint from `rate` and chi what `rate` has turned
// by beside it:
//   V = sum (F + K0 x0 + Krate xrate) x + K x^2/2 + (y + Yrate chi) . psi + psi . Y psi/2.
typedef struct Energy {
  djForceCase c;
  double *F, *K, *K0, *Krate, *y, *Y, *Yrate;   // of coordinates and dofs
} Energy;

static Energy openEnergy(djRng* rng, int features) {
  Energy e = {.c = djt_openForceCase(djt_randomModel(rng, 1 + djt_integer(rng, 5), features), rng)};
  const djModel* m = e.c.m;
  size_t nc = (size_t)m->ncoord, nv = (size_t)m->nv;
  double** const part[] = {&e.F, &e.K, &e.K0, &e.Krate, &e.y, &e.Y, &e.Yrate};
  const size_t size[] = {nc, nc, nc, nc, nv, 3 * nv, 3 * nv};
  for (int k = 0; k < 7; k++) {
    *part[k] = djt_room(size[k]);
    djt_uniforms(*part[k], (int)size[k], rng, -1, 1);
  }
  for (int j = 0; j < m->njnt; j++) {   // curvatures are symmetric
    int rotation = dj_rotationDof(m, j);
    for (int b = m->jnt_dofadr[j]; b <= rotation; b += 3) {
      for (int i = 0; i < 9; i++) e.Y[3 * b + i] = e.Y[3 * b + 3 * (i % 3) + i / 3];
    }
  }
  e.c.apart = true;
  return e;
}

static void closeEnergy(Energy* e) {
  double* const part[] = {e->F, e->K, e->K0, e->Krate, e->y, e->Y, e->Yrate};
  for (int k = 0; k < 7; k++) free(part[k]);
  djt_closeForceCase(&e->c);
}

static double slopeOf(const Energy* e, const djMotion* at, int c) {
  return e->F[c] + e->K0[c] * at->at0.coord->x[c] + e->Krate[c] * at->rate.coord->x[c];
}

// chi of the joint's rotation, where `rate` moves by s.
static djVec3 turned(const Energy* e, int dof, double s) {
  return dju_scale3(e->c.moved == DJT_RATE ? s : 0, dju_load3(e->c.along + dof));
}

static double valueOf(const Energy* e, const djMotion* at, double s) {
  const djModel* m = e->c.m;
  double V = 0, *psi = djt_room((size_t)m->nv);
  dj_differentiatePos(psi, m, 1, at->rate.q, at->at.q);
  for (int c = 0; c < m->ncoord; c++) {
    double x = at->at.coord->x[c];
    V += slopeOf(e, at, c) * x + 0.5 * e->K[c] * x * x;
  }
  for (int j = 0; j < m->njnt; j++) {
    int rotation = dj_rotationDof(m, j);
    if (rotation < 0) continue;
    for (int b = m->jnt_dofadr[j]; b <= rotation; b += 3) {
      double chi[3];
      dju_store3(chi, turned(e, rotation, s));
      for (int r = 0; r < 3; r++) {
        V += e->y[b + r] * psi[b + r];
        for (int c = 0; c < 3; c++) {
          V += 0.5 * e->Y[3 * (b + r) + c] * psi[b + r] * psi[b + c];
          if (b == rotation) V += e->Yrate[3 * (b + r) + c] * chi[c] * psi[b + r];
        }
      }
    }
  }
  free(psi);
  return V;
}

// Slopes and curvatures into the sum, gradient and H from it.
static void sumUp(Energy* e, const djMotion* at, double s) {
  const djModel* m = e->c.m;
  djForceSum* sum = djt_clearForces(&e->c);
  for (int c = 0; c < m->ncoord; c++) {
    assert_true(sum->f[c] == 0 && sum->k[c] == 0);
    sum->f[c] = slopeOf(e, at, c) + e->K[c] * at->at.coord->x[c];
    sum->k[c] = e->K[c];
  }
  for (int j = 0; j < m->njnt; j++) {
    int first = m->jnt_dofadr[j], rotation = dj_rotationDof(m, j);
    if (rotation < 0) continue;
    double psi[6], chi[3];
    dj_jointDisplacement(psi, at, j);
    dju_store3(chi, turned(e, rotation, s));
    for (int twice = 0; twice < 2; twice++) {   // what is pushed stays
      dj_pushJoint(sum, m, j);
      for (int i = first; i < rotation + 3; i++) {
        const double* p = psi + (i - first) / 3 * 3;
        for (int c = 0; c < 3; c++) {
          sum->y[i] += 0.5 * e->Y[3 * i + c] * p[c];
          sum->Y[3 * i + c] += 0.5 * e->Y[3 * i + c];
          if (i >= rotation) sum->y[i] += 0.5 * e->Yrate[3 * i + c] * chi[c];
        }
        sum->y[i] += 0.5 * e->y[i];
      }
    }
  }
  djt_projectForces(&e->c, at);
}

static void valueAndSlope(double* y, void* user, double s) {
  Energy* e = user;
  djMotion at = djt_forceMotion(&e->c, s);
  y[0] = valueOf(e, &at, s);
  sumUp(e, &at, s);
  y[1] = djt_along(e->c.gradient, &e->c);
}

static void gradientAt(double* y, void* user, double s) {
  Energy* e = user;
  djMotion at = djt_forceMotion(&e->c, s);
  sumUp(e, &at, s);
  memcpy(y, e->c.gradient, (size_t)e->c.m->nv * sizeof(double));
}

// g . v and v . H v by differences along v.
static void testPoint(void) {
  djRng rng = {11};
  double worst[2] = {0};
  int bent = 0;
  for (int t = 0; t < 60; t++) {
    Energy e = openEnergy(&rng, t % 2 ? DJT_TENDONS | DJT_ACTUATORS : DJT_ACTUATORS);
    int nv = e.c.m->nv;
    double d[2], *Hx = djt_room((size_t)nv);
    e.c.moved = DJT_POINT;
    bent += dj_anyBends(e.c.m);
    for (int k = 0; k < 6; k++) {
      djt_uniforms(e.c.along, nv, &rng, -1, 1);
      djMotion at = djt_forceMotion(&e.c, 0);
      sumUp(&e, &at, 0);
      djt_timesAlong(Hx, &e.c.w->H, &e.c);
      double slope = djt_along(e.c.gradient, &e.c), bend = djt_along(Hx, &e.c);
      extrapolate(d, 2, 0.02, 1, valueAndSlope, &e);
      worst[0] = djt_worst(worst[0], fabs(d[0] - slope) / (1 + fabs(slope)));
      worst[1] = djt_worst(worst[1], fabs(d[1] - bend) / (1 + fabs(bend)));
    }
    free(Hx);
    closeEnergy(&e);
  }
  print_message("gradient %.1e, Hessian %.1e\n", worst[0], worst[1]);
  assert_true(bent > 10);
  assert_true(worst[0] < 1e-8 && worst[1] < 1e-7);
}

// The gradient by the start and by where displacements begin.
static void testStart(void) {
  djRng rng = {12};
  double worst[2] = {0}, size[2] = {0};
  for (int t = 0; t < 60; t++) {
    Energy e = openEnergy(&rng, t % 2 ? DJT_TENDONS | DJT_ACTUATORS : DJT_ACTUATORS);
    const djModel* m = e.c.m;
    djStartSum* start = &e.c.w->start_sum;
    djMatrix* R = &dj_stageOf(e.c.w)->linear.Rq;
    double d[160], *x = djt_room((size_t)m->nv);
    assert_true(m->nv <= 160);
    for (int k = 0; k < 6; k++) {
      e.c.moved = k % 2 ? DJT_RATE : DJT_START;
      djt_uniforms(e.c.along, m->nv, &rng, -1, 1);
      djMotion at = djt_forceMotion(&e.c, 0);
      sumUp(&e, &at, 0);
      dj_clearMatrix(R);
      dj_clearStartSum(start, m);
      start->R0 = start->Rrate = R;
      size_t size_of = (size_t)m->ncoord * sizeof(double);
      if (k % 2) memcpy(start->krate, e.Krate, size_of);
      else memcpy(start->k0, e.K0, size_of);
      for (int i = 0; i < 3 * m->nv && k % 2; i++) start->Yrate[i] = e.Yrate[i];
      if (k % 2 == 0) memset(e.c.w->sum.pushed, 0, (size_t)m->njnt * sizeof(bool));
      dj_startCoordinates(start, &e.c.w->sum, &at);
      djt_timesAlong(x, R, &e.c);
      extrapolate(d, m->nv, 0.02, 1, gradientAt, &e);
      for (int i = 0; i < m->nv; i++) {
        worst[k % 2] = djt_worst(worst[k % 2], fabs(d[i] - x[i]) / (1 + fabs(x[i])));
        size[k % 2] = fmax(size[k % 2], fabs(x[i]));
      }
    }
    free(x);
    closeEnergy(&e);
  }
  print_message("by the start %.1e of %.1g, by rate %.1e of %.1g\n", worst[0], size[0], worst[1],
                size[1]);
  assert_true(worst[0] < 1e-8 && worst[1] < 1e-7 && size[0] > 1 && size[1] > 1);
}

// Displacements are those of the manifold, and a joint's arrays are emptied once a point.
static void testDisplacement(void) {
  djRng rng = {13};
  int n = 0;
  for (int t = 0; t < 30; t++) {
    Energy e = openEnergy(&rng, 0);
    const djModel* m = e.c.m;
    djForceSum* sum = &e.c.w->sum;
    double* psi = djt_room((size_t)m->nv);
    e.c.moved = DJT_POINT;
    djMotion at = djt_forceMotion(&e.c, 0);
    assert_true(at.at.q == e.c.w->now.q && at.at0.kin == &e.c.w->begin.kin &&
                at.rate.coord == &e.c.w->back.coord);
    dj_differentiatePos(psi, m, 1, at.rate.q, at.at.q);
    for (int j = 0; j < m->njnt; j++) {
      int first = m->jnt_dofadr[j], rotation = dj_rotationDof(m, j);
      if (rotation < 0) continue;
      double p[6], turn[3];
      dj_jointDisplacement(p, &at, j);
      dju_store3(turn, dj_turnSince(&at, j));
      for (int i = first; i < rotation + 3; i++) djt_near(p[i - first], psi[i], 1e-14);
      for (int i = 0; i < 3; i++) djt_near(turn[i], psi[rotation + i], 1e-14);
      sum->pushed[j] = false;
      for (int i = first; i < rotation + 3; i++) sum->y[i] = sum->Y[3 * i + 2] = 7;
      dj_pushJoint(sum, m, j);
      assert_true(sum->pushed[j]);
      for (int i = first; i < rotation + 3; i++) assert_true(sum->y[i] == 0);
      for (int i = 3 * first; i < 3 * rotation + 9; i++) assert_true(sum->Y[i] == 0);
      n++;
    }
    free(psi);
    closeEnergy(&e);
  }
  assert_true(n > 10);
}

DJT_MAIN(testPoint, testStart, testDisplacement)
