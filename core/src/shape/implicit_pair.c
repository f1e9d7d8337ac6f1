// The touch of two implicit shapes: warm and cold starts, and what moves with the place.

#include "shape/implicit_pair.h"

#include "base/status.h"

#include <float.h>
#include <string.h>

#define CERTAIN 1e-12 // of T: bounds that agree
#define SMALL 1e-12   // error of a certain touch

static void store(float out[3], djVec3 v) {
  out[0] = (float)v.x;
  out[1] = (float)v.y;
  out[2] = (float)v.z;
}

// With psi the rotation of b about its origin and e the change of d, u = psi x (y - T d) + T e is
// how b's surface moves at the point. To first order (see implicit_newton.c; s = 0, grads are
// parallel)
//   M tau = -c,  c_k = rho_k.u - nu (n x t_k).psi,  rho_k = -hb_k + nu (hb_k.d) n,
//   dy = sum tau_k t_k,   dT = -nu n.u.
static void keep(djImplicitWarm* warm, const djImplicitTouch* touch, const djImplicitPlace* place) {
  warm->place = *place;
  warm->y = touch->y;
  warm->T = touch->T;
  const double det = touch->M[0] * touch->M[2] - touch->M[1] * touch->M[1];
  warm->valid = det > 0 && isfinite(1 / det);
  if (!warm->valid) return;
  const djVec3 y_b = dju_mulMV(place->R, touch->y_b);
  djVec3 turn[2], move[2];
  for (int k = 0; k < 2; k++) {
    const double nu = touch->nu;
    const djVec3 rho =
        dju_madd3(dju_neg3(touch->hb[k]), nu * dju_dot3(touch->hb[k], place->d), touch->n);
    turn[k] = dju_madd3(dju_cross3(y_b, rho), -nu, dju_cross3(touch->n, touch->t[k]));
    move[k] = dju_scale3(touch->T, rho);
  }
  const double m[2][2] = {{-touch->M[2] / det, touch->M[1] / det},
                          {touch->M[1] / det, -touch->M[0] / det}};
  memset(warm->turn, 0, sizeof warm->turn);
  memset(warm->move, 0, sizeof warm->move);
  for (int k = 0; k < 2; k++) {
    double by_turn[3], by_move[3], t[3];
    dju_store3(by_turn, dju_madd3(dju_scale3(m[k][0], turn[0]), m[k][1], turn[1]));
    dju_store3(by_move, dju_madd3(dju_scale3(m[k][0], move[0]), m[k][1], move[1]));
    dju_store3(t, touch->t[k]);
    for (int i = 0; i < 3; i++) {
      for (int j = 0; j < 3; j++) {
        warm->turn[i][j] += (float)(t[i] * by_turn[j]);
        warm->move[i][j] += (float)(t[i] * by_move[j]);
      }
    }
  }
  store(warm->turn[3], dju_scale3(-touch->nu, dju_cross3(y_b, touch->n)));
  store(warm->move[3], dju_scale3(-touch->nu * touch->T, touch->n));
}

// How far b has turned: the rotation vector to second order, from the skew part of R R0^T. False:
// so far that a start from there is of no use.
static bool predict(djImplicitStart* start, const djImplicitWarm* warm,
                    const djImplicitPlace* place) {
  const djMat3 *R = &place->R, *Q = &warm->place.R;
  double S[9];
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      S[3 * i + j] = R->m[3 * i] * Q->m[3 * j] + R->m[3 * i + 1] * Q->m[3 * j + 1] +
                     R->m[3 * i + 2] * Q->m[3 * j + 2];
    }
  }
  const double psi[3] = {0.5 * (S[7] - S[5]), 0.5 * (S[2] - S[6]), 0.5 * (S[3] - S[1])};
  const djVec3 e = dju_sub3(place->d, warm->place.d);
  if (!(S[0] + S[4] + S[8] > 2.9) || !(dju_dot3(e, e) < 0.1)) return false;
  const double by[3] = {e.x, e.y, e.z}, at[4] = {warm->y.x, warm->y.y, warm->y.z, warm->T};
  double out[4];
  for (int i = 0; i < 4; i++) {
    out[i] = at[i];
    for (int j = 0; j < 3; j++) out[i] += warm->turn[i][j] * psi[j] + warm->move[i][j] * by[j];
  }
  start->y = dju_vec3(out[0], out[1], out[2]);
  start->T = out[3];
  dj_settleStart(start, false, place);
  return true;
}

// What rounding leaves of the angle between normals: points are known to the last digits of their
// shape's size, and by curvature so are normals.
static double roundingOf(const djImplicitTouch* t, const djImplicit* a, const djImplicit* b) {
  const double Ka = t->A[0] + t->A[2], Kb = t->M[0] + t->M[2] - Ka;
  return 16 * DBL_EPSILON * (Ka * a->outer + Kb * b->outer) / t->nu;
}

djStatus dj_touchImplicit(djImplicitTouch* out, djImplicitWarm* warm, const djImplicit* a,
                          const djImplicit* b, const djImplicitPlace* place) {
  djImplicitStart start;
  int spent = 0;
  bool found = false;
  if (warm && warm->valid && predict(&start, warm, place)) {
    found = dj_newtonImplicit(out, &start, a, b, place, 0, 1, 8);
    spent += out->iterations;
  }
  if (!found) {
    dj_startImplicit(&start, a, b, place);
    found = dj_newtonImplicit(out, &start, a, b, place, 3, 2, 24);
    spent += out->iterations;
  }
  if (!found) {
    int evaluations;
    const djVec3 none = {0, 0, 0};
    const double left = dj_searchImplicit(&start, &evaluations, a, b, place, none);
    djImplicitStart from = start;
    found = dj_newtonImplicit(out, &from, a, b, place, 0, 1, 12);
    if (!found && !(fabs(out->T - start.T) < CERTAIN * start.T)) {
      evaluations += 2 * out->iterations;
      dj_newtonImplicit(out, &start, a, b, place, 0, 1, 1);
    }
    found = found || (left < CERTAIN * start.T && out->error < fmax(roundingOf(out, a, b), SMALL));
    spent += out->iterations + evaluations / 2;
  }
  out->iterations = spent;
  if (!found) {
    if (warm) warm->valid = false;
    return DJ_NOT_CONVERGED;
  }
  if (warm) keep(warm, out, place);
  return DJ_OK;
}

djStatus dj_supportImplicit(djImplicitTouch* out, djImplicitWarm* warm, const djImplicit* shape,
                            djVec3 d) {
  djImplicit half;
  const djImplicitPlace place = {.R = dju_eye3(), .d = d};
  dj_implicitHalfSpace(&half, d, shape->outer);
  return dj_touchImplicit(out, warm, shape, &half, &place);
}
