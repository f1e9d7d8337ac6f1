// Tendons: how their lengths follow q, and what hangs on them (djm_tendonSlope).
//
// A straight part from x0 to x1 on other bodies has, with n its direction, l its length and D_k the
// velocity of x1 - x0 by dof k:
//   J_j = n . D_j,    dJ_j/dq_k = D_j^T (1 - n n^T)/l D_k + n . dD_j/dq_k,
// the last as forces n and -n at fixed components (djm_addWrenchForm). Dofs that move both ends
// have no part: J and its derivative are zero there. A part around a geom: with E_k the velocity of
// an end relative to the geom by dof k, g the length's slope by the end, H its second derivatives
// and s_k the geom's turn,  J_j = sum g . E_j,
//   dJ_j/dq_k = E_j^T H E_k + (s_k x g) . E_j + g . dE_j/dq_k,
// where the geom's material point follows the end: its velocity by j gets s_j x E_k besides.
//
// Forces: with spring and damper f(L, L') = -g(L) - h(L'), L' = J v, dL'/dq_k = sum_j v_j
// dJ_j/dq_k:
//   dr_j/dq_k = -f dJ_j/dq_k - J_j (f_L J_k + f_L' dL'/dq_k),    dr_j/dv_k = -J_j f_L' J_k.
// Armature: armature_slope.c.

#include "slope_math.h"
#include "smooth_work.h"
#include "wrap_slope.h"

#include <string.h>

// ---- lengths ----------------------------------------------------------------------------------

static void copyRow(djmForm* f, const mjModel* m, const mjData* d, int tendon) {
  int adr = m->ten_J_rowadr[tendon], nnz = m->ten_J_rownnz[tendon];
  for (int i = 0; i < nnz; i++) djm_addDof(f, m->ten_J_colind[adr + i]);
  djm_startForm(f, m->tendon_type[tendon] != mjTENDON_FIXED);
  if (!f->turns) mju_copy(f->moment, d->ten_J + adr, nnz);
}

// Entries of dofs from `first` on: velocity of the part's end less that of its start.
static int differences(djmSmoothWork* w, const djmChain* a, const djmChain* b, int first) {
  int n = 0;
  for (int side = 0; side < 2; side++) {
    const djmChain* c = side ? b : a;
    for (int i = first; i < c->n; i++, n++) {
      for (int k = 0; k < 3; k++) w->e0[3 * n + k] = side ? c->p[3 * i + k] : -c->p[3 * i + k];
      w->list[n] = c->dof[i];
    }
  }
  return n;
}

static void straight(djmSmoothWork* w, const mjModel* m, const mjData* d, int body0, int body1,
                     const double* x0, const double* x1, double scale) {
  djmChain *a = w->chain, *b = w->chain + 1;
  djmForm* f = &w->form;
  djm_fillChain(a, m, d, body0, x0);
  djm_fillChain(b, m, d, body1, x1);
  int first = djm_commonDofs(a, b);
  double n[3];
  sub3(n, x1, x0);
  double length = mju_normalize3(n);
  djm_addWrenchForm(f, b, first, w->groupend, n, NULL, scale);
  djm_addWrenchForm(f, a, first, w->groupend, n, NULL, -scale);
  if (length < mjMINVAL) return;
  int count = differences(w, a, b, first);
  for (int i = 0; i < count; i++) addScl3(w->e0 + 3 * i, n, -dot3(w->e0 + 3 * i, n));
  for (int i = 0; i < count; i++) {
    double* row = f->hessian + (size_t)f->index[w->list[i]] * f->n;
    for (int k = 0; k < count; k++) {
      row[f->index[w->list[k]]] += scale / length * dot3(w->e0 + 3 * i, w->e0 + 3 * k);
    }
  }
}

// Velocity of an end relative to the geom, by place in the form; the geom's turn.
static void relative(double* e, double* s, const djmForm* f, const djmChain* end,
                     const djmChain* geom) {
  memset(e, 0, 3 * (size_t)f->n * sizeof(double));
  if (s) memset(s, 0, 3 * (size_t)f->n * sizeof(double));
  for (int i = 0; i < end->n; i++) addScl3(e + 3 * f->index[end->dof[i]], end->p + 3 * i, 1);
  for (int i = 0; i < geom->n; i++) {
    addScl3(e + 3 * f->index[geom->dof[i]], geom->p + 3 * i, -1);
    if (s) copy3(s + 3 * f->index[geom->dof[i]], geom->s + 3 * i);
  }
}

// Dofs that move both ends and the geom are left out.
static void dropCommon(djmChain* c, int first) {
  c->n -= first;
  memmove(c->dof, c->dof + first, (size_t)c->n * sizeof(int));
  memmove(c->p, c->p + 3 * first, 3 * (size_t)c->n * sizeof(double));
  memmove(c->s, c->s + 3 * first, 3 * (size_t)c->n * sizeof(double));
}

static bool wrapped(djmSmoothWork* w, const mjModel* m, const mjData* d, const int* body, int geom,
                    const double* x0, const double* x1, const double* touch, double scale) {
  djmWrapSlope s;
  djmForm* f = &w->form;
  if (!djm_wrapSlope(&s, x0, x1, touch, touch + 3, d->geom_xpos + 3 * geom, d->geom_xmat + 9 * geom,
                     m->geom_size[3 * geom], m->geom_type[geom] == mjGEOM_CYLINDER)) {
    return false;
  }
  const double* x[2] = {x0, x1};
  djmChain *end = w->chain, *on = w->chain + 2;
  for (int i = 0; i < 2; i++) {
    djm_fillChain(end + i, m, d, body[i], x[i]);
    djm_fillChain(on + i, m, d, m->geom_bodyid[geom], x[i]);
  }
  int first = djm_commonDofs(end, end + 1), other = djm_commonDofs(end, on);
  if (other < first) first = other;
  for (int i = 0; i < 4; i++) dropCommon(w->chain + i, first);
  for (int i = 0; i < 2; i++) {
    djm_addWrenchForm(f, end + i, 0, w->groupend, s.slope[i], NULL, scale);
    djm_addWrenchForm(f, on + i, 0, w->groupend, s.slope[i], NULL, -scale);
  }
  double* e[2] = {w->e0, w->e1};
  relative(e[0], w->sg, f, end, on);
  relative(e[1], NULL, f, end + 1, on + 1);
  for (int j = 0; j < f->n; j++) {
    for (int k = 0; k < f->n; k++) {
      const double *sj = w->sg + 3 * j, *sk = w->sg + 3 * k;
      double sum = 0, y[3], turn[3];
      for (int i = 0; i < 2; i++) {
        const double *ej = e[i] + 3 * j, *ek = e[i] + 3 * k;
        mulMat3(y, s.H[2 * i], ek);
        if (i == 0) {
          double z[3];
          mulMat3(z, s.H[1], e[1] + 3 * k);
          addScl3(y, z, 1);
        } else {
          double z[3];
          mulMatT3(z, s.H[1], e[0] + 3 * k);
          addScl3(y, z, 1);
        }
        addCross3(y, sk, s.slope[i]);
        cross3(turn, sj, ek);
        sum += dot3(ej, y) - dot3(s.slope[i], turn);
      }
      f->hessian[(size_t)j * f->n + k] += scale * sum;
    }
  }
  return true;
}

static djStatus spatial(djmSmoothWork* w, const mjModel* m, const mjData* d, int tendon,
                        djError* err) {
  int adr = m->tendon_adr[tendon], num = m->tendon_num[tendon], path = d->ten_wrapadr[tendon];
  int end = path + d->ten_wrapnum[tendon];
  double scale = 1;
  for (int j = 0; j < num - 1;) {
    const int *type = m->wrap_type + adr + j, *id = m->wrap_objid + adr + j;
    if (type[0] == mjWRAP_PULLEY) {
      scale = 1 / m->wrap_prm[adr + j];
      path++;
      j++;
      continue;
    }
    if (type[1] == mjWRAP_PULLEY) {
      j++;
      continue;
    }
    bool around = type[1] != mjWRAP_SITE;
    int last = around ? id[2] : id[1], body[2] = {m->site_bodyid[id[0]], m->site_bodyid[last]};
    const double *x0 = d->site_xpos + 3 * id[0], *x1 = d->site_xpos + 3 * last;
    bool touches = around && path + 2 < end && d->wrap_obj[path + 1] >= 0;
    if (touches) {
      if (!wrapped(w, m, d, body, id[1], x0, x1, d->wrap_xpos + 3 * (path + 1), scale)) {
        return djm_refuse(err, "tendon %s: its path around geom %s has no derivative here",
                          djm_nameOf(m, mjOBJ_TENDON, tendon), djm_nameOf(m, mjOBJ_GEOM, id[1]));
      }
    } else if (m->body_weldid[body[0]] != m->body_weldid[body[1]]) {
      straight(w, m, d, body[0], body[1], x0, x1, scale);
    }
    path += touches ? 3 : 1;
    j += around ? 2 : 1;
    if (j == num - 1 || m->wrap_type[adr + j + 1] == mjWRAP_PULLEY) path++;
  }
  return DJ_OK;
}

// form: closed by the caller, also after an error
djStatus djm_tendonForm(djmSmoothWork* w, const mjModel* m, const mjData* d, int tendon,
                        djError* err) {
  djmForm* f = &w->form;
  djm_openForm(f);
  copyRow(f, m, d, tendon);
  djStatus status = f->turns ? spatial(w, m, d, tendon, err) : DJ_OK;
  mju_copy(f->slope, f->moment, f->n);
  return status;
}

djStatus djm_tendonHessian(double* H, const mjModel* m, const mjData* d, int tendon,
                           djmSmoothWork* w, djError* err) {
  size_t nv = (size_t)w->nv;
  memset(H, 0, nv * nv * sizeof(double));
  djmForm* f = &w->form;
  djStatus status = djm_tendonForm(w, m, d, tendon, err);
  for (int j = 0; j < f->n && f->turns && status == DJ_OK; j++) {
    for (int k = 0; k < f->n; k++) {
      H[(size_t)f->dof[j] * nv + f->dof[k]] = f->hessian[(size_t)j * f->n + k];
    }
  }
  djm_closeForm(f);
  return status;
}

// ---- forces -----------------------------------------------------------------------------------

// Force of spring and damper, and its derivatives by length and velocity; whether there is any.
static bool tendonForce(double* force, double* by_l, double* by_v, const mjModel* m,
                        const mjData* d, int i) {
  int off = m->opt.disableflags;
  *force = *by_l = *by_v = 0;
  if ((off & mjDSBL_SPRING) && (off & mjDSBL_DAMPER)) return false;
  bool any = false;
  double slope, k = m->tendon_stiffness[i], c = m->tendon_damping[i], poly[mjNPOLY];
  if (!(off & mjDSBL_SPRING) && djm_hasForce(k, m->tendon_stiffnesspoly + mjNPOLY * i)) {
    const double* dead = m->tendon_lengthspring + 2 * i;
    if (m->tendon_plasticadr[i] >= 0) dead = d->plastic + m->tendon_plasticadr[i];
    double l = d->ten_length[i], x = l > dead[1] ? l - dead[1] : l < dead[0] ? l - dead[0] : 0;
    *force -= djm_polyForce(&slope, k, m->tendon_stiffnesspoly + mjNPOLY * i, x, false);
    // a band without width is a spring, also at its rest
    *by_l = x != 0 || dead[0] == dead[1] ? -slope : 0;
    any = true;
  }
  memcpy(poly, m->tendon_dampingpoly + mjNPOLY * i, sizeof(poly));
  c += djm_actuatorDamping(poly, m, true, i);
  if (!(off & mjDSBL_DAMPER) && djm_hasForce(c, poly)) {
    *force -= djm_polyForce(&slope, c, poly, d->ten_velocity[i], true);
    *by_v = -slope;
    any = true;
  }
  return any;
}

// r_j += x_j y_k over the form's dofs
static void addProduct(double* by, int nv, const djmForm* f, const double* x, const double* y,
                       double scale) {
  for (int j = 0; j < f->n; j++) {
    double* row = by + (size_t)f->dof[j] * nv;
    for (int k = 0; k < f->n; k++) row[f->dof[k]] += scale * x[j] * y[k];
  }
}

djStatus djm_tendonSlope(double* by_q, double* by_v, const mjModel* m, const mjData* d,
                         djmSmoothWork* w, djError* err) {
  int nv = w->nv;
  djmForm* f = &w->form;
  for (int i = 0; i < m->ntendon; i++) {
    double force, by_l, by_lv;
    if (!tendonForce(&force, &by_l, &by_lv, m, d, i)) continue;
    djStatus status = djm_tendonForm(w, m, d, i, err);
    if (status == DJ_OK) {
      double* rate = w->row;
      for (int k = 0; k < f->n; k++) {
        rate[k] = by_l * f->slope[k];
        for (int j = 0; j < f->n && f->turns; j++) {
          rate[k] += by_lv * d->qvel[f->dof[j]] * f->hessian[(size_t)j * f->n + k];
        }
      }
      if (by_q) addProduct(by_q, nv, f, f->moment, rate, -1);
      if (by_v) addProduct(by_v, nv, f, f->moment, f->moment, -by_lv);
      for (int j = 0; j < f->n && f->turns && by_q; j++) {
        for (int k = 0; k < f->n; k++) {
          by_q[(size_t)f->dof[j] * nv + f->dof[k]] -= force * f->hessian[(size_t)j * f->n + k];
        }
      }
    }
    djm_closeForm(f);
    if (status < 0) return status;
  }
  return DJ_OK;
}
