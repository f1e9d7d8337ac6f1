// Derivatives of qfrc_actuator (djm_actuatorSlope): forces p of laws (law_slope.h) through moments
// m (transmission_slope.c).
//
//   r_j -= sum_o m_oj p_o,   p = p(l, l', u, w),   l' = m v,   dl'/dq_k = sum_i v_i dm_i/dq_k:
//   dr_j/dq_k = -p dm_j/dq_k - m_j (p_l dl/dq_k + p_l' dl'/dq_k),   dr_j/dv_k = -m_j p_l' m_k
//   dr_j/du = -m_j p_u,   dr_j/dw = -m_j p_w
// A tendon's total P beyond its range is scaled to the bound B: p_i B/P, so that
//   dp_i = B/P (dp_i - p_i/P sum dp).
// Beyond forcerange p does not change; rows of joints beyond actfrcrange have nothing.

#include "law_slope.h"
#include "slope_math.h"
#include "smooth_work.h"

#include <string.h>

// A force of one output and its derivatives.
typedef struct Force {
  double p, by_l, by_v, by_u[DJM_MAXCTRL], by_w[DJM_MAXACT];
} Force;

// Where matrices are.
typedef struct Sum {
  double *by_q, *by_v, *by_act, *by_ctrl;
  const mjModel* m;
  const mjData* d;
  djmSmoothWork* w;
} Sum;

static double slopeOf(const double* prm, const mjData* d, int o) {
  return prm[0] + prm[1] * d->actuator_length[o] + prm[2] * d->actuator_velocity[o];
}

// Laws that are affine in a control or an activation, in short; whether it is one.
static bool plainForce(Force* f, const mjModel* m, const mjData* d, int i) {
  int gain = m->actuator_gaintype[i], bias = m->actuator_biastype[i], o = m->actuator_outadr[i];
  int na = m->actuator_actnum[i];
  if (na > 1 || m->actuator_ctrlnum[i] != 1 || (na && m->actuator_actearly[i])) return false;
  if (m->actuator_trntype[i] != mjTRN_TENDON &&
      (m->actuator_trntype[i] != mjTRN_JOINT ||
       m->jnt_type[m->actuator_trnid[2 * i]] < mjJNT_SLIDE)) {
    return false; // set points may be wrapped
  }
  if (gain != mjGAIN_FIXED && gain != mjGAIN_AFFINE) return false;
  if (bias != mjBIAS_NONE && bias != mjBIAS_AFFINE) return false;
  const double *g = m->actuator_gainprm + mjNGAIN * i, *b = m->actuator_biasprm + mjNBIAS * i;
  double by, u = djm_control(&by, m, d, m->actuator_ctrladr[i]);
  if (na) u = d->act[m->actuator_actadr[i]];
  bool affine = gain == mjGAIN_AFFINE, biased = bias == mjBIAS_AFFINE;
  double scale = affine ? slopeOf(g, d, o) : g[0];
  f->p = scale * u + (biased ? slopeOf(b, d, o) : 0);
  f->by_l = (affine ? g[1] * u : 0) + (biased ? b[1] : 0);
  f->by_v = (affine ? g[2] * u : 0) + (biased ? b[2] : 0);
  if (na)
    f->by_w[0] = scale;
  else
    f->by_u[0] = scale * by;
  return true;
}

static void split(Force* f, djmDual p, int nu, int na) {
  f->p = p.x;
  f->by_l = p.d[DJM_LENGTH];
  f->by_v = p.d[DJM_SPEED];
  memcpy(f->by_u, p.d + DJM_CTRL, (size_t)nu * sizeof(double));
  memcpy(f->by_w, p.d + DJM_ACT, (size_t)na * sizeof(double));
}

static void addForce(Force* f, const Force* g, double scale) {
  f->by_l += scale * g->by_l;
  f->by_v += scale * g->by_v;
  for (int k = 0; k < DJM_MAXCTRL; k++) f->by_u[k] += scale * g->by_u[k];
  for (int k = 0; k < DJM_MAXACT; k++) f->by_w[k] += scale * g->by_w[k];
}

// Force before forcerange, and what is added behind it.
static void rawForce(Force* f, Force* extra, const mjModel* m, const mjData* d, int i) {
  memset(f, 0, sizeof(*f));
  memset(extra, 0, sizeof(*extra));
  if (djm_actuatorOff(m, i) || plainForce(f, m, d, i)) return;
  djmLaw law;
  djm_law(&law, m, d, i);
  split(f, law.force, m->actuator_ctrlnum[i], m->actuator_actnum[i]);
  split(extra, law.extra, m->actuator_ctrlnum[i], m->actuator_actnum[i]);
}

// r -= moment f: the part by the law's variables, of actuator i's controls and activations; gear:
// of i relative to the form's.
static void addLaw(const Sum* s, int i, const Force* f, double gear) {
  const djmForm* form = &s->w->form;
  const mjModel* m = s->m;
  int n = form->n, nv = s->w->nv, nu = m->actuator_ctrlnum[i], na = m->actuator_actnum[i];
  double *rate = s->w->row, by_l = f->by_l * gear, by_v = f->by_v * gear;
  for (int k = 0; k < n; k++) {
    rate[k] = by_l * form->slope[k];
    for (int j = 0; j < n && form->turns && by_v != 0; j++) {
      rate[k] += by_v * s->d->qvel[form->dof[j]] * form->hessian[(size_t)j * n + k];
    }
  }
  for (int j = 0; j < n; j++) {
    int dof = form->dof[j];
    double x = form->moment[j];
    if (x == 0 || s->w->clamped[dof]) continue;
    for (int k = 0; k < n; k++) {
      size_t at = (size_t)dof * nv + form->dof[k];
      if (s->by_q) s->by_q[at] -= x * rate[k];
      if (s->by_v) s->by_v[at] -= x * by_v * form->moment[k];
    }
    for (int k = 0; k < nu && s->by_ctrl; k++) {
      s->by_ctrl[(size_t)dof * m->nu + m->actuator_ctrladr[i] + k] -= x * f->by_u[k];
    }
    for (int k = 0; k < na && s->by_act; k++) {
      s->by_act[(size_t)dof * m->na + m->actuator_actadr[i] + k] -= x * f->by_w[k];
    }
  }
}

// r -= p moment: the part of the moment.
static void addMoment(const Sum* s, double p) {
  const djmForm* f = &s->w->form;
  if (!f->turns || !s->by_q || p == 0) return;
  for (int j = 0; j < f->n; j++) {
    if (s->w->clamped[f->dof[j]]) continue;
    double* row = s->by_q + (size_t)f->dof[j] * s->w->nv;
    for (int k = 0; k < f->n; k++) row[f->dof[k]] -= p * f->hessian[(size_t)j * f->n + k];
  }
}

// ---- forces on a tendon at its bound ----------------------------------------------------------

static bool pulls(const mjModel* m, int i, int tendon) {
  return m->actuator_trntype[i] == mjTRN_TENDON && m->actuator_trnid[2 * i] == tendon;
}

// The bound over the total, 1: within range. total: of all on that tendon.
static double tendonScale(double* total, const mjModel* m, const mjData* d, int i) {
  int tendon = m->actuator_trnid[2 * i];
  *total = 0;
  if (m->actuator_trntype[i] != mjTRN_TENDON || !m->tendon_actfrclimited[tendon]) return 1;
  Force f, extra;
  for (int k = 0; k < m->nactuator; k++) {
    if (!pulls(m, k, tendon)) continue;
    rawForce(&f, &extra, m, d, k);
    *total += f.p;
  }
  const double* range = m->tendon_actfrcrange + 2 * tendon;
  if (*total == 0) return 1;
  if (*total < range[0]) return range[0] / *total;
  return *total > range[1] ? range[1] / *total : 1;
}

static void scalarOutput(const Sum* s, int i) {
  const mjModel* m = s->m;
  Force own, extra, part;
  double total, scale = tendonScale(&total, m, s->d, i);
  rawForce(&own, &extra, m, s->d, i);
  double p = own.p * scale, gear = m->actuator_gear[6 * m->actuator_outadr[i]];
  const double* range = m->actuator_forcerange + 2 * i;
  bool beyond = m->actuator_forcelimited[i] && (p < range[0] || p > range[1]);
  Force sum = extra;
  if (!beyond) addForce(&sum, &own, scale);
  addLaw(s, i, &sum, 1);
  if (beyond || scale == 1 || gear == 0) return;
  for (int k = 0; k < m->nactuator; k++) {
    if (!pulls(m, k, m->actuator_trnid[2 * i])) continue;
    rawForce(&own, &extra, m, s->d, k);
    memset(&part, 0, sizeof(part));
    addForce(&part, &own, -p / total);
    addLaw(s, k, &part, m->actuator_gear[6 * m->actuator_outadr[k]] / gear);
  }
}

// ---- orientations -----------------------------------------------------------------------------

// Slopes and moments of all three outputs are needed at once: lengths' rates are kept in a table.
static djStatus orientation(const Sum* s, int i, djError* err) {
  const mjModel* m = s->m;
  djmSmoothWork* w = s->w;
  djmForm* form = &w->form;
  int o = m->actuator_outadr[i], nv = w->nv;
  djmOrientation law;
  djm_orientationLaw(&law, m, s->d, i);
  // rows of force by q and v, scattered over all dofs
  double *by_q = w->square, *by_v = w->square + 3 * (size_t)nv;
  memset(by_q, 0, 6 * (size_t)nv * sizeof(double));
  for (int k = 0; k < 3; k++) {
    djStatus status = djm_transmissionForm(w, m, s->d, i, o + k, err);
    for (int c = 0; c < form->n && status == DJ_OK; c++) {
      double rate = 0;
      for (int j = 0; j < form->n && form->turns; j++) {
        rate += s->d->qvel[form->dof[j]] * form->hessian[(size_t)j * form->n + c];
      }
      for (int r = 0; r < 3; r++) {
        size_t at = (size_t)r * nv + form->dof[c];
        by_q[at] += law.by_length[3 * r + k] * form->slope[c] + law.by_speed[3 * r + k] * rate;
        by_v[at] += law.by_speed[3 * r + k] * form->moment[c];
      }
    }
    djm_closeForm(form);
    if (status < 0) return status;
  }
  for (int r = 0; r < 3; r++) {
    djm_transmissionForm(w, m, s->d, i, o + r, err);
    addMoment(s, s->d->actuator_force[o + r]);
    for (int j = 0; j < form->n; j++) {
      int dof = form->dof[j];
      double x = form->moment[j];
      if (w->clamped[dof]) continue;
      for (int k = 0; k < nv; k++) {
        if (s->by_q) s->by_q[(size_t)dof * nv + k] -= x * by_q[(size_t)r * nv + k];
        if (s->by_v) s->by_v[(size_t)dof * nv + k] -= x * by_v[(size_t)r * nv + k];
      }
      for (int k = 0; k < m->actuator_ctrlnum[i] && s->by_ctrl; k++) {
        s->by_ctrl[(size_t)dof * m->nu + m->actuator_ctrladr[i] + k] -=
            x * law.by_ctrl[DJM_MAXCTRL * r + k];
      }
      for (int k = 0; k < m->actuator_actnum[i] && s->by_act; k++) {
        s->by_act[(size_t)dof * m->na + m->actuator_actadr[i] + k] -= x * law.by_act[3 * r + k];
      }
    }
    djm_closeForm(form);
  }
  return DJ_OK;
}

// ---- all --------------------------------------------------------------------------------------

// Joints whose total is beyond their range.
static void findClamped(djmSmoothWork* w, const mjModel* m, const mjData* d) {
  memset(w->clamped, 0, (size_t)w->nv * sizeof(bool));
  bool limited = false;
  for (int j = 0; j < m->njnt; j++) limited = limited || m->jnt_actfrclimited[j];
  if (!limited) return;
  double* total = w->row;
  mju_zero(total, w->nv);
  for (int o = 0; o < m->nout; o++) {
    int adr = d->moment_rowadr[o];
    for (int k = adr; k < adr + d->moment_rownnz[o]; k++) {
      total[d->moment_colind[k]] += d->actuator_moment[k] * d->actuator_force[o];
    }
  }
  for (int j = 0; j < m->njnt; j++) {
    if (!m->jnt_actfrclimited[j]) continue;
    const double* range = m->jnt_actfrcrange + 2 * j;
    int dof = m->jnt_dofadr[j];
    double sum = total[dof] + (m->jnt_actgravcomp[j] ? d->qfrc_gravcomp[dof] : 0);
    double slack = 1e-12 * (fabs(range[0]) + fabs(range[1]));
    w->clamped[dof] = sum < range[0] - slack || sum > range[1] + slack;
  }
}

djStatus djm_actuatorSlope(double* by_q, double* by_v, double* by_act, double* by_ctrl,
                           const mjModel* m, const mjData* d, djmSmoothWork* w, djError* err) {
  Sum s = {by_q, by_v, by_act, by_ctrl, m, d, w};
  memset(w->clamped, 0, (size_t)w->nv * sizeof(bool));
  if (!m->nactuator || (m->opt.disableflags & mjDSBL_ACTUATION)) return DJ_OK;
  findClamped(w, m, d);
  for (int i = 0; i < m->nactuator; i++) {
    if (djm_actuatorOff(m, i)) continue;
    djStatus status = DJ_OK;
    if (m->actuator_gaintype[i] == mjGAIN_SO3) {
      status = orientation(&s, i, err);
    } else {
      int o = m->actuator_outadr[i];
      status = djm_transmissionForm(w, m, d, i, o, err);
      if (status == DJ_OK) {
        scalarOutput(&s, i);
        addMoment(&s, d->actuator_force[o]);
      }
      djm_closeForm(&w->form);
    }
    if (status < 0) return status;
  }
  return DJ_OK;
}
