// Inverse dynamics at the middle Q of a step, ID(Q, u, 2 (u - v)/h), takes axes of bodies as if they
// stood still in the step, and so loses spin at second order. What the end has more of it than the
// start, in the axes of Q, is with E = exp(h [u]/2), v+ = 2 u - v and a body's inertia J
//   (E J v+ - E^T J v)/h = (E - E^T) J u/h + (E + E^T) J (u - v)/h
//                        = sin(t)/t u x J u + (1 + (1 - cos(t)) [k]^2) J A,
// t = h |u|/2, k = u/|u|, A = 2 (u - v)/h. ID has u x J u + J A. The rest,
//   (sin(t)/t - 1) u x J u + (1 - cos(t))/|u|^2 u x (u x J A),
// and where v+ = u + (1 - theta) h A, v = u - theta h A, also
//   ((1 - theta) E + theta E^T - (E + E^T)/2) J A = (1/2 - theta) h sin(t)/t u x J A,
// is added for bodies that move freely and carry no joints. The step stays its own inverse in time;
// linear momentum, and what it adds to angular momentum, are those of ID: with x+ - x = h (v + v+)/2,
// x+ x p+ - x x p = X x (p+ - p). So both are kept to rounding where the frame's origin is the centre
// of mass, whatever acts between such bodies at Q.

#include "integrate/spin.h"

#include "math/so3.h"
#include "model/inverse_dynamics.h"

#include <math.h>

enum { NTERM = 12 };

// (1/2 - theta) h.
static double skewOf(const djWork* w, const djModel* m) { return (0.5 - m->opt.theta) * w->h; }

// sin(t)/t - 1 and (1 - cos(t))/t^2 as functions of s = t^2, and their derivatives.
typedef struct Factors {
  double sine, dsine, cosine, dcosine;
} Factors;

static Factors factorsOf(double s) {
  if (s > 1) {
    double t = sqrt(s), sine = sin(t) / t, cosine = (1 - cos(t)) / s;
    return (Factors){sine - 1, (cos(t) - sine) / (2 * s), cosine, (sine - 2 * cosine) / (2 * s)};
  }
  Factors f = {0, 0, 0.5, 0};
  double power = -1, term = 1;   // (-1)^k s^(k - 1), 1/(2 k)!
  for (int k = 1; k < NTERM; k++) {
    term /= (2 * k - 1) * (2 * k);
    double odd = term / (2 * k + 1), even = odd / (2 * k + 2);
    f.sine += power * s * odd;
    f.dsine += k * power * odd;
    f.cosine += power * s * even;
    f.dcosine += k * power * even;
    power *= -s;
  }
  return f;
}

// A body that moves alone: V and A of its rotation, its inertia's axes in its own.
typedef struct Spin {
  int body, dof;        // the first of its rotation
  djMat3 axes;
  djVec3 V, A;
  double scale;         // s = scale |V|^2
  Factors f;
} Spin;

// False: joint j is not of a body that moves freely and carries no other joint.
static bool openSpin(Spin* out, const djWork* w, const djModel* m, int j) {
  int rotation = dj_rotationDof(m, j), first = m->jnt_dofadr[j], b = m->jnt_body[j];
  if (!dj_jointRow(m, j)->pose || rotation < 0) return false;
  int next = rotation + 3;
  if (rotation != first + 3 || m->body_dofnum[b] != 6) return false;
  if (next < m->nv && m->body_root[m->jnt_body[m->dof_jnt[next]]] == b) return false;
  out->body = b;
  out->dof = rotation;
  out->axes = dju_quatToMat(dju_loadQuat(m->body_iquat + 4 * b));
  out->V = dju_load3(w->V + rotation);
  out->A = dju_load3(w->A + rotation);
  out->scale = 0.25 * w->h * w->h;
  out->f = factorsOf(out->scale * dju_dot3(out->V, out->V));
  return true;
}

static djVec3 mulInertia(const Spin* p, const djModel* m, djVec3 x) {
  djVec3 y = dju_mulMtV(p->axes, x);
  const double* I = m->body_inertia + 3 * p->body;
  return dju_mulMV(p->axes, (djVec3){I[0] * y.x, I[1] * y.y, I[2] * y.z});
}

void dj_addSpin(double* r, djMatrix* Dv, djMatrix* M, const djWork* w, const djModel* m) {
  for (int j = 0; j < m->njnt; j++) {
    Spin p;
    if (!openSpin(&p, w, m, j)) continue;
    double sine = p.f.sine, cosine = p.scale * p.f.cosine;
    double dsine = 2 * p.scale * p.f.dsine, dcosine = 2 * p.scale * p.scale * p.f.dcosine;
    double uneven = skewOf(w, m), skew = uneven * (1 + sine), dskew = uneven * dsine;
    djVec3 V = p.V, JV = mulInertia(&p, m, V), JA = mulInertia(&p, m, p.A);
    djVec3 gyro = dju_cross3(V, JV), turn = dju_cross3(V, dju_cross3(V, JA));
    dju_addTo3(r + p.dof, sine, gyro);
    dju_addTo3(r + p.dof, cosine, turn);
    dju_addTo3(r + p.dof, skew, dju_cross3(V, JA));
    for (int k = 0; k < 3; k++) {
      djVec3 e = {k == 0, k == 1, k == 2}, Je = mulInertia(&p, m, e);
      double along = dju_dot3(V, e);
      djVec3 v = dju_scale3(sine, dju_add3(dju_cross3(e, JV), dju_cross3(V, Je)));
      v = dju_madd3(v, dsine * along, gyro);
      v = dju_madd3(v, dcosine * along, turn);
      v = dju_madd3(v, cosine, dju_cross3(e, dju_cross3(V, JA)));
      v = dju_madd3(v, cosine, dju_cross3(V, dju_cross3(e, JA)));
      v = dju_madd3(v, skew, dju_cross3(e, JA));
      v = dju_madd3(v, dskew * along, dju_cross3(V, JA));
      djVec3 a = dju_scale3(cosine, dju_cross3(V, dju_cross3(V, Je)));
      a = dju_madd3(a, skew, dju_cross3(V, Je));
      double column[2][3];
      dju_store3(column[0], v);
      dju_store3(column[1], a);
      for (int i = 0; i < 3; i++) {
        *dj_own(Dv, p.dof + i, p.dof + k) += column[0][i];
        *dj_own(M, p.dof + i, p.dof + k) += column[1][i];
      }
    }
  }
}

// z . r = sine (z x V) . J V + cosine (V x (V x z)) . J A + skew (z x V) . J A.
void dj_spinParams(double* tensor, const djWork* w, const djModel* m, const double* z) {
  for (int j = 0; j < m->njnt; j++) {
    Spin p;
    if (!openSpin(&p, w, m, j)) continue;
    djVec3 Z = dju_load3(z + p.dof), turn = dju_cross3(p.V, dju_cross3(p.V, Z));
    double* t = tensor + 6 * p.body;
    dj_addTensor(t, p.f.sine, &p.axes, dju_cross3(Z, p.V), p.V);
    dj_addTensor(t, p.scale * p.f.cosine, &p.axes, turn, p.A);
    dj_addTensor(t, skewOf(w, m) * (1 + p.f.sine), &p.axes, dju_cross3(Z, p.V), p.A);
  }
}
