// Laws of rows, and rows but contacts in the design. A row with rho = J lambda, force f, y and the
// curvature S has L = rho f:  by y -S rho, by ln D rho f where the row has not slipped,
//
//   y = J a + B J v + K I (pos - margin),  D = I / ((1 - I) A)

#include "design_work.h"
#include "spatial.h"

#include <math.h>

// ---- laws ---------------------------------------------------------------------------------------

static mjtNum clampImpedance(mjtNum x) { return mju_min(mjMAXIMP, mju_max(mjMINIMP, x)); }

// by[k] += scale dI/d(solimp[k]); dmax is the clamped one.
static void impedanceBy(mjtNum by[mjNIMP], const mjtNum* raw, mjtNum depth, mjtNum scale) {
  mjtNum imp[mjNIMP] = {clampImpedance(raw[0]), clampImpedance(raw[1]), mju_max(0, raw[2]),
                        clampImpedance(raw[3]), mju_max(1, raw[4])};
  mjtNum range = imp[1] - imp[0];
  if (imp[2] <= mjMINVAL) {
    by[0] += 0.5 * scale;
    by[1] += 0.5 * scale;
    return;
  }
  mjtNum x = fabs(depth) / imp[2], p = imp[4], mid = imp[3];
  if (x >= 1 || x <= 0) {
    by[x >= 1] += scale;
    return;
  }
  bool low = x <= mid;
  mjtNum from = low ? x : 1 - x, part = low ? mid : 1 - mid;
  mjtNum z = p == 1 ? from : pow(part, 1 - p) * pow(from, p), slope = p == 1 ? 1 : p * z / from;
  mjtNum y = low ? z : 1 - z;
  by[0] += scale * (1 - y);
  by[1] += scale * y;
  by[2] -= scale * range * slope * x / imp[2];
  if (p > 1) by[3] += scale * range * (1 - p) * z / part;
  if (raw[4] >= 1) by[4] += scale * range * (low ? 1 : -1) * z * log(from / part);
}

// by solref of K and B, and by dmax.
static void referenceBy(mjtNum by[2], mjtNum* by_max, const mjModel* m, const mjtNum* ref,
                        mjtNum dmax, mjtNum by_K, mjtNum by_B) {
  bool safe = !(m->opt.disableflags & mjDSBL_REFSAFE);
  mjtNum square = dmax * dmax;
  if ((ref[0] > 0) != (ref[1] > 0)) return;
  if (ref[0] > 0) {
    bool held = safe && ref[0] < 2 * m->opt.timestep;
    mjtNum time = held ? 2 * m->opt.timestep : ref[0];
    mjtNum K = 1 / (square * time * time * ref[1] * ref[1]), B = 2 / (dmax * time);
    if (!held) by[0] -= (2 * K * by_K + B * by_B) / time;
    by[1] -= 2 * K * by_K / ref[1];
    *by_max -= (2 * K * by_K + B * by_B) / dmax;
  } else {
    by[0] -= by_K / square;
    by[1] -= by_B / dmax;
    *by_max += (2 * ref[0] * by_K / square + ref[1] * by_B / dmax) / dmax;
  }
}

void djm_lawSlope(mjtNum* by_ref, mjtNum* by_friction, mjtNum* by_imp, const djmRowLaw* law,
                  const mjModel* m, const mjtNum* solref, const mjtNum* solreffriction,
                  const mjtNum* solimp, mjtNum depth) {
  mjtNum dmax = clampImpedance(solimp[1]), by[mjNIMP] = {0};
  referenceBy(by_ref, by + 1, m, solref, dmax, law->by_K, law->by_B);
  if (by_friction) {
    referenceBy(by_friction, by + 1, m, solreffriction, dmax, 0, law->by_friction);
  }
  impedanceBy(by, solimp, depth, law->by_I);
  for (int k = 0; k < mjNIMP; k++) {
    bool held = k == 2   ? solimp[k] < 0
                : k == 4 ? solimp[k] < 1
                         : solimp[k] < mjMINIMP || solimp[k] > mjMAXIMP;
    if (!held) by_imp[k] += by[k];
  }
}

// ---- rows ---------------------------------------------------------------------------------------

// Where a row's numbers are.
typedef struct Place {
  const mjtNum *solref, *solimp;
  mjtNum *by_ref, *by_imp, *weight[2];
} Place;

static Place placeOf(djmBackward* b, int adr) {
  const mjModel* m = &b->w->view;
  djmDesignGradient* g = b->g;
  int type = b->w->d->efc_type[adr], id = b->w->d->efc_id[adr];
#define AT(name, array, i) \
  (Place){m->name##solref##array + mjNREF * (i), m->name##solimp##array + mjNIMP * (i), \
          g->name##solref##array + mjNREF * (i), g->name##solimp##array + mjNIMP * (i), {0}}
  Place p;
  if (type == mjCNSTR_LIMIT_JOINT) {
    p = AT(jnt_, , id);
    p.weight[0] = g->dof_invweight0 + m->jnt_dofadr[id];
  } else if (type == mjCNSTR_FRICTION_DOF) {
    p = AT(dof_, , id);
    p.weight[0] = g->dof_invweight0 + id;
  } else if (type == mjCNSTR_LIMIT_TENDON) {
    p = AT(tendon_, _lim, id);
    p.weight[0] = g->tendon_invweight0 + id;
  } else if (type == mjCNSTR_FRICTION_TENDON) {
    p = AT(tendon_, _fri, id);
    p.weight[0] = g->tendon_invweight0 + id;
  } else {
    p = AT(eq_, , id);
    bool joint = m->eq_type[id] == mjEQ_JOINT;
    for (int s = 0; s < 2; s++) {
      int other = s ? m->eq_obj2id[id] : m->eq_obj1id[id];
      if (other < 0 || (m->eq_type[id] != mjEQ_JOINT && m->eq_type[id] != mjEQ_TENDON)) continue;
      p.weight[s] = joint ? g->dof_invweight0 + m->jnt_dofadr[other] : g->tendon_invweight0 + other;
    }
  }
#undef AT
  return p;
}

static void addRange(djmBackward* b, int adr, mjtNum by_pos) {
  const mjModel* m = &b->w->view;
  const mjData* d = b->w->d;
  int type = d->efc_type[adr], id = d->efc_id[adr];
  bool tendon = type == mjCNSTR_LIMIT_TENDON;
  const mjtNum* range = (tendon ? m->tendon_range : m->jnt_range) + 2 * id;
  mjtNum* by = (tendon ? b->g->tendon_range : b->g->jnt_range) + 2 * id;
  (tendon ? b->g->tendon_margin : b->g->jnt_margin)[id] -= by_pos;
  if (!tendon && m->jnt_type[id] == mjJNT_BALL) {
    by[range[1] >= range[0]] += by_pos;
    return;
  }
  mjtNum x = tendon ? d->ten_length[id] : d->qpos[m->jnt_qposadr[id]];
  bool upper = d->efc_pos[adr] == range[1] - x;
  by[upper] += upper ? by_pos : -by_pos;
}

// Equalities y1 - y1_0 = p(y2 - y2_0) of joints or tendons: by coefficients, tendons' lengths at
// rest. Rows are J1 - p' J2; by_slope: by p'.
static void addEquality(djmBackward* b, int adr, mjtNum by_pos, mjtNum f, mjtNum g, mjtNum B) {
  const djmTransitionWork* w = b->w;
  const mjModel* m = &w->view;
  const mjData* d = w->d;
  int eq = d->efc_id[adr], id1 = m->eq_obj1id[eq], id2 = m->eq_obj2id[eq];
  bool tendon = m->eq_type[eq] == mjEQ_TENDON;
  mjtNum rho = 0, rate = 0, x = 0, *by = b->g->eq_data + mjNEQDATA * eq;
  if (tendon) b->g->tendon_length0[id1] -= by_pos;
  by[0] -= by_pos;
  if (id2 < 0) return;
  if (tendon) {
    x = d->ten_length[id2] - m->tendon_length0[id2];
    for (int k = m->ten_J_rowadr[id2]; k < m->ten_J_rowadr[id2] + m->ten_J_rownnz[id2]; k++) {
      int i = m->ten_J_colind[k];
      rho += d->ten_J[k] * b->lambda[i];
      rate += d->ten_J[k] * (w->a[i] + B * d->qvel[i]);
    }
  } else {
    int i = m->jnt_dofadr[id2];
    x = d->qpos[m->jnt_qposadr[id2]] - m->qpos0[m->jnt_qposadr[id2]];
    rho = b->lambda[i];
    rate = w->a[i] + B * d->qvel[i];
  }
  mjtNum by_slope = -(f * rho + g * rate), power = 1;
  const mjtNum* c = m->eq_data + mjNEQDATA * eq;
  for (int k = 1; k < 5; k++) {
    by[k] -= by_pos * power * x - by_slope * k * power;
    power *= x;
  }
  mjtNum slope = c[1] + x * (2 * c[2] + x * (3 * c[3] + x * 4 * c[4]));
  mjtNum bend = 2 * c[2] + x * (6 * c[3] + x * 12 * c[4]);
  if (tendon) b->g->tendon_length0[id2] += by_pos * slope - by_slope * bend;
}

static void addScalar(djmBackward* b, int adr, mjtNum rho, mjtNum speed) {
  djmTransitionWork* w = b->w;
  const mjData* d = w->d;
  int type = d->efc_type[adr], state = w->state[adr], id = d->efc_id[adr];
  if (state == mjCNSTRSTATE_SATISFIED) return;
  if (state != mjCNSTRSTATE_QUADRATIC) {
    mjtNum by = state == mjCNSTRSTATE_LINEARNEG ? rho : -rho;
    (type == mjCNSTR_FRICTION_DOF ? b->g->dof_frictionloss : b->g->tendon_frictionloss)[id] += by;
    return;
  }
  const mjtNum* K = d->efc_KBIP + 4 * adr;
  mjtNum g = -d->efc_D[adr] * rho, ln_D = rho * w->force[adr];
  mjtNum depth = d->efc_pos[adr] - d->efc_margin[adr];
  bool friction = type == mjCNSTR_FRICTION_DOF || type == mjCNSTR_FRICTION_TENDON;
  Place p = placeOf(b, adr);
  djmRowLaw law = {friction ? 0 : g * K[2] * depth, g * speed, g * K[0] * depth, 0};
  bool free = d->efc_R[adr] > mjMINVAL;
  if (free) law.by_I += ln_D / (K[2] * (1 - K[2]));
  djm_lawSlope(p.by_ref, NULL, p.by_imp, &law, &w->view, p.solref, NULL, p.solimp, depth);
  for (int s = 0; s < 2 && free; s++) {
    if (p.weight[s]) *p.weight[s] -= ln_D / d->efc_diagA[adr];
  }
  mjtNum by_pos = g * djm_springSlope(d, adr) + ln_D * djm_impedanceSlope(d, adr);
  if (type == mjCNSTR_LIMIT_JOINT || type == mjCNSTR_LIMIT_TENDON) addRange(b, adr, by_pos);
  if (type == mjCNSTR_EQUALITY) addEquality(b, adr, by_pos, w->force[adr], g, K[1]);
}

static mjtNum rowTimes(const djmBackward* b, int adr, const mjtNum* x) {
  const mjData* d = b->w->d;
  if (!mj_isSparse(&b->w->view)) return mju_dot(d->efc_J + (size_t)adr * b->w->nv, x, b->w->nv);
  mjtNum sum = 0;
  for (int k = d->efc_J_rowadr[adr]; k < d->efc_J_rowadr[adr] + d->efc_J_rownnz[adr]; k++) {
    sum += d->efc_J[k] * x[d->efc_J_colind[k]];
  }
  return sum;
}

// Rows of an equality of bodies, which share impedance and |pos|.
static void addBodies(djmBackward* b, int adr, int dim) {
  djmTransitionWork* w = b->w;
  const mjModel* m = &w->view;
  const mjData* d = w->d;
  const mjtNum* K = d->efc_KBIP + 4 * adr;
  int eq = d->efc_id[adr];
  djmRowLaw law = {0};
  mjtNum share[2] = {0};
  for (int k = 0; k < dim; k++) {
    mjtNum rho = rowTimes(b, adr + k, b->lambda), g = -d->efc_D[adr + k] * rho;
    mjtNum ln_D = d->efc_R[adr + k] > mjMINVAL ? rho * w->force[adr + k] : 0;
    law.by_K += g * K[2] * d->efc_pos[adr + k];
    law.by_B += g * rowTimes(b, adr + k, d->qvel);
    law.by_I += g * K[0] * d->efc_pos[adr + k] + ln_D / (K[2] * (1 - K[2]));
    share[k >= 3] -= ln_D / d->efc_diagA[adr + k];
  }
  djm_lawSlope(b->g->eq_solref + mjNREF * eq, NULL, b->g->eq_solimp + mjNIMP * eq, &law, m,
               m->eq_solref + mjNREF * eq, NULL, m->eq_solimp + mjNIMP * eq,
               mju_norm(d->efc_pos + adr, dim));
  for (int s = 0; s < 2; s++) {
    int body = s ? m->eq_obj2id[eq] : m->eq_obj1id[eq];
    if (m->eq_objtype[eq] == mjOBJ_SITE) body = m->site_bodyid[body];
    mju_addTo(b->g->body_invweight0 + 2 * body, share, 2);
  }
}

void djm_backRows(djmBackward* b) {
  const mjData* d = b->w->d;
  const mjModel* m = &b->w->view;
  for (int i = 0, n; i < d->ne + d->nf + d->nl; i += n) {
    int type = d->efc_type[i] == mjCNSTR_EQUALITY ? m->eq_type[d->efc_id[i]] : mjEQ_JOINT;
    n = type == mjEQ_CONNECT ? 3 : type == mjEQ_WELD ? 6 : 1;
    if (n > 1) {
      djm_backPair(b, i);
      if (b->g) addBodies(b, i, n);
    } else if (b->g) {
      addScalar(b, i, rowTimes(b, i, b->lambda), rowTimes(b, i, d->qvel));
    }
  }
}
