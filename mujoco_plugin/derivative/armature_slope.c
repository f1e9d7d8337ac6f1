// Derivatives of the inertia of spatial tendons (djm_armatureSlope): of r_j = A J_j (J a + g),
// g = v^T dJ/dq v, the length's second derivative in time while a is zero.
//
//   dr_j/dq_k = A (dJ_j/dq_k (J a + g) + J_j (sum_i a_i dJ_i/dq_k + dg/dq_k))
//   dr_j/dv_k = A J_j sum_i (dJ_i/dq_k + dJ_k/dq_i) v_i
// A straight part x = x1 - x0 with direction n and length l has
//   g = n . x'' + (x' . x' - (n . x')^2)/l.
// Moving along q_k turns a body's point, its velocity p' and acceleration p'' by s_k, and adds (R,
// D of inverse_slope.c at a = 0 without gravity, w the body's angular velocity, r the point)
//   dp' = R_lin + R_ang x r,
//   dp'' = (R x v + D)_lin + (R x v + D)_ang x r + R_ang x p' + w x dp'.
// MuJoCo keeps of A J^T J what has a place in its sparse M: in J a of row j there are the dofs
// alone that are on one way to the root with j. It has no armature on tendons that go around
// geoms.

#include "slope_math.h"
#include "smooth_work.h"

#include <string.h>

// A point's position (about the tree's centre), velocity, acceleration.
typedef struct Point {
  double r[3], v[3], a[3];
} Point;

static void movePoint(Point* p, const djmSmoothWork* w, const mjModel* m, const mjData* d, int body,
                      const double* x) {
  const double *v = d->cvel + 6 * body, *a = w->body[body].acc;
  sub3(p->r, x, d->subtree_com + 3 * m->body_rootid[body]);
  copy3(p->v, v + 3);
  addCross3(p->v, v, p->r);
  copy3(p->a, a + 3);
  addCross3(p->a, a, p->r);
  addCross3(p->a, v, p->v);
}

// What they change by along q_k.
static void changePoint(Point* c, const Point* p, const double* s, const double* R,
                        const double* bend, const double* v) {
  double D[6];
  memcpy(D, bend, sizeof(D));
  addCrossMotion(D, R, v);
  copy3(c->r, s + 3);
  addCross3(c->r, s, p->r);
  double extra[3];
  copy3(extra, R + 3);
  addCross3(extra, R, p->r);
  cross3(c->v, s, p->v);
  addScl3(c->v, extra, 1);
  cross3(c->a, s, p->a);
  addScl3(c->a, D + 3, 1);
  addCross3(c->a, D, p->r);
  addCross3(c->a, R, p->v);
  addCross3(c->a, v, extra);
}

// slope += scale dg/dq over one part.
static void addPart(double* slope, djmSmoothWork* w, const mjModel* m, const mjData* d,
                    const int* site, double scale) {
  Point p[2];
  djmChain* c = w->chain;
  int body[2];
  for (int i = 0; i < 2; i++) {
    const double* x = d->site_xpos + 3 * site[i];
    body[i] = m->site_bodyid[site[i]];
    djm_fillChain(c + i, m, d, body[i], x);
    movePoint(p + i, w, m, d, body[i], x);
  }
  double n[3], v[3], a[3];
  sub3(n, d->site_xpos + 3 * site[1], d->site_xpos + 3 * site[0]);
  double l = mju_normalize3(n);
  if (l < mjMINVAL) return;
  sub3(v, p[1].v, p[0].v);
  sub3(a, p[1].a, p[0].a);
  double along = dot3(n, v), across = dot3(v, v) - along * along;
  int first = djm_commonDofs(c, c + 1);
  for (int i = 0; i < 2; i++) {
    double sign = i ? scale : -scale;
    for (int b = first; b < c[i].n; b++) {
      Point x;
      int k = c[i].dof[b];
      changePoint(&x, p + i, d->cdof + 6 * k, d->cdof_dot + 6 * k, w->dof[k].bend,
                  d->cvel + 6 * body[i]);
      double dl = dot3(n, x.r), dn[3];
      copy3(dn, x.r);
      addScl3(dn, n, -dl);
      mju_scl3(dn, dn, 1 / l);
      double change = dot3(dn, a) + dot3(n, x.a) - across * dl / (l * l);
      change += 2 * (dot3(v, x.v) - along * (dot3(dn, v) + dot3(n, x.v))) / l;
      slope[w->form.index[k]] += sign * change;
    }
  }
}

static void pathSlope(double* slope, djmSmoothWork* w, const mjModel* m, const mjData* d,
                      int tendon) {
  int adr = m->tendon_adr[tendon];
  double scale = 1;
  mju_zero(slope, w->form.n);
  for (int j = 0; j < m->tendon_num[tendon] - 1; j++) {
    const int *type = m->wrap_type + adr + j, *site = m->wrap_objid + adr + j;
    if (type[0] == mjWRAP_PULLEY) scale = 1 / m->wrap_prm[adr + j];
    if (type[0] != mjWRAP_SITE || type[1] != mjWRAP_SITE) continue;
    addPart(slope, w, m, d, site, scale);
  }
}

static bool goesAround(const mjModel* m, int tendon) {
  for (int j = m->tendon_adr[tendon]; j < m->tendon_adr[tendon] + m->tendon_num[tendon]; j++) {
    if (m->wrap_type[j] == mjWRAP_SPHERE || m->wrap_type[j] == mjWRAP_CYLINDER) return true;
  }
  return false;
}

static bool inPattern(const mjModel* m, int i, int j) {
  int row = i > j ? i : j, column = i > j ? j : i, adr = m->M_rowadr[row];
  for (int k = adr; k < adr + m->M_rownnz[row]; k++) {
    if (m->M_colind[k] == column) return true;
  }
  return false;
}

// slope: n, dg/dq on entry
static void addRow(double* row_q, const double* slope, const mjModel* m, const double* a,
                   const djmForm* f, int j, double g, double armature) {
  int n = f->n;
  double total = g;
  for (int i = 0; i < n; i++) {
    double acc = a[f->dof[i]];
    if (!inPattern(m, f->dof[i], f->dof[j])) continue;
    total += f->moment[i] * acc;
    for (int k = 0; k < n; k++) {
      row_q[f->dof[k]] += armature * f->moment[j] * acc * f->hessian[(size_t)i * n + k];
    }
  }
  for (int k = 0; k < n; k++) {
    double turn = f->hessian[(size_t)j * n + k] * total;
    row_q[f->dof[k]] += armature * (turn + f->moment[j] * slope[k]);
  }
}

static void addArmature(double* by_q, double* by_v, const mjModel* m, const mjData* d,
                        const double* a, djmSmoothWork* w, int tendon, double armature) {
  djmForm* f = &w->form;
  int n = f->n, nv = w->nv;
  double g = 0;
  pathSlope(w->row, w, m, d, tendon);
  for (int k = 0; k < n; k++) {
    double speed = 0;
    for (int i = 0; i < n; i++) {
      double v = d->qvel[f->dof[i]], H = f->hessian[(size_t)i * n + k];
      speed += (H + f->hessian[(size_t)k * n + i]) * v;
      g += v * H * d->qvel[f->dof[k]];
    }
    for (int j = 0; j < n && by_v; j++) {
      by_v[(size_t)f->dof[j] * nv + f->dof[k]] += armature * f->moment[j] * speed;
    }
  }
  for (int j = 0; j < n && by_q; j++) {
    addRow(by_q + (size_t)f->dof[j] * nv, w->row, m, a, f, j, g, armature);
  }
}

djStatus djm_armatureSlope(double* by_q, double* by_v, const mjModel* m, const mjData* d,
                           const double* a, djmSmoothWork* w, djError* err) {
  bool moved = false;
  for (int i = 0; i < m->ntendon; i++) {
    if (m->tendon_type[i] == mjTENDON_FIXED) continue;
    double armature = m->tendon_armature[i] + djm_actuatorArmature(m, true, i);
    if (armature == 0) continue;
    if (goesAround(m, i)) {
      return djm_refuse(err, "tendon %s: armature of a tendon around geoms is not differentiated",
                        djm_nameOf(m, mjOBJ_TENDON, i));
    }
    if (!moved) djm_freeMotion(w, m, d);
    moved = true;
    djStatus status = djm_tendonForm(w, m, d, i, err);
    if (status == DJ_OK) addArmature(by_q, by_v, m, d, a, w, i, armature);
    djm_closeForm(&w->form);
    if (status < 0) return status;
  }
  return DJ_OK;
}
