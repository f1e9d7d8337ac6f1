#include "model/articulated.h"

#include "math/block6.h"
#include "model/body_inertia.h"

#include <string.h>

// Rows of 6 take 8 doubles, the last two zero: two vectors of GCC and Clang.
typedef double Four __attribute__((vector_size(32), aligned(8), may_alias));

enum { ROW = 8, N_SIZE = 6 * ROW, U_SIZE = 2 * ROW };   // U, then 1/d and u

size_t dj_articulatedSize(const djModel* m) {
  return (size_t)m->nbody * (N_SIZE + ROW) + (size_t)m->nv * U_SIZE;
}

typedef struct Arrays {
  double *N, *P, *U;   // of bodies, U of dofs; P is accelerations on the way back
} Arrays;

static Arrays arraysOf(double* scratch, const djModel* m) {
  Arrays a = {.N = scratch};
  a.P = a.N + (size_t)m->nbody * N_SIZE;
  a.U = a.P + (size_t)m->nbody * ROW;
  return a;
}

static bool moves(const djModel* m, int b) { return m->body_lastdof[b] >= 0; }

// N <- [[I - m [arm]^2, m [arm]], [-m [arm], m]].
static void setInertia(double* restrict N, const djInertia* B) {
  double m = B->mass, x = B->arm.x, y = B->arm.y, z = B->arm.z;
  const double* I = B->I.m;
  const double rows[N_SIZE] = {
      I[0] + m * (y * y + z * z), I[1] - m * x * y, I[2] - m * x * z, 0, -m * z, m * y, 0, 0,
      I[3] - m * x * y, I[4] + m * (x * x + z * z), I[5] - m * y * z, m * z, 0, -m * x, 0, 0,
      I[6] - m * x * z, I[7] - m * y * z, I[8] + m * (x * x + y * y), -m * y, m * x, 0, 0, 0,
      0, m * z, -m * y, m, 0, 0, 0, 0,
      -m * z, 0, m * x, 0, m, 0, 0, 0,
      m * y, -m * x, 0, 0, 0, m, 0, 0};
  memcpy(N, rows, sizeof rows);
}

// Takes the dof out of N and P. False: it has no inertia.
static bool freeDof(double* N, double* P, double* u, const double* S, double x, double armature) {
  Four *rows = (Four*)N, *p = (Four*)P, *out = (Four*)u;
  Four low = S[0] * rows[0], high = S[0] * rows[1];
  for (int r = 1; r < 6; r++) {
    low += S[r] * rows[2 * r];
    high += S[r] * rows[2 * r + 1];
  }
  out[0] = low;
  out[1] = high;
  double d = dju_dotRow6(S, u) + armature;
  if (!(d > 0)) return false;
  double inverse = 1 / d, rest = x - dju_dotRow6(S, P);
  low *= inverse;
  high *= inverse;
  for (int r = 0; r < 6; r++) {
    rows[2 * r] -= u[r] * low;
    rows[2 * r + 1] -= u[r] * high;
  }
  p[0] += rest * low;
  p[1] += rest * high;
  u[ROW] = inverse;
  u[ROW + 1] = rest;
  return true;
}

static void addRows(double* to, const double* from, int n) {
  Four* a = (Four*)to;
  const Four* b = (const Four*)from;
  for (int k = 0; k < 2 * n; k++) a[k] += b[k];
}

// N and P are set for all bodies that move. x (nv): forces to accelerations.
static bool solveTree(double* x, const Arrays* s, const djModel* m, const djKin* kin,
                      const double* armature) {
  for (int b = m->nbody - 1; b > 0; b--) {
    if (!moves(m, b)) continue;
    double *N = s->N + N_SIZE * b, *P = s->P + ROW * b;
    int first = m->body_dofadr[b], parent = m->body_parent[b];
    for (int i = first + m->body_dofnum[b] - 1; i >= first; i--) {
      if (!freeDof(N, P, s->U + U_SIZE * i, kin->S + 6 * i, x[i], armature[m->dof_jnt[i]])) {
        return false;
      }
    }
    if (!moves(m, parent)) continue;
    addRows(s->N + N_SIZE * parent, N, 6);
    addRows(s->P + ROW * parent, P, 1);
  }
  for (int b = 1; b < m->nbody; b++) {
    double* A = s->P + ROW * b;
    int parent = m->body_parent[b], first = m->body_dofadr[b];
    if (!moves(m, b)) continue;
    if (moves(m, parent)) memcpy(A, s->P + ROW * parent, ROW * sizeof(double));
    else memset(A, 0, ROW * sizeof(double));
    for (int i = first; i < first + m->body_dofnum[b]; i++) {
      const double *u = s->U + U_SIZE * i, *S = kin->S + 6 * i;
      x[i] = (u[ROW + 1] - dju_dotRow6(u, A)) * u[ROW];
      for (int k = 0; k < 6; k++) A[k] += S[k] * x[i];
    }
  }
  return true;
}

bool dj_solveInertia(double* x, double* scratch, const djModel* m, const djKin* kin,
                     const djVec3* ref, const double* armature) {
  Arrays s = arraysOf(scratch, m);
  memset(s.P, 0, (size_t)m->nbody * ROW * sizeof(double));
  for (int b = 1; b < m->nbody; b++) {
    if (!moves(m, b)) continue;
    djInertia I = dj_bodyInertia(m, kin, ref, b);
    setInertia(s.N + N_SIZE * b, &I);
  }
  return solveTree(x, &s, m, kin, armature);
}
