// Forces of rows, and their curvature, by y = J a - aref.

#include "rows.h"

#include <math.h>

// A normal row n and tangents t of an elliptic cone, u = (mu y_n, mu_k y_k), N = u_0, T = |u_1..|:
//
//   s = 0 where N >= mu T; the sum of D y^2/2 where mu N + T <= 0;
//   between   s = D_n / (2 mu^2 (1 + mu^2)) (N - mu T)^2
static mjtNum slipOf(const mjContact* con, const mjtNum* y) {
  mjtNum T = 0;
  for (int k = 1; k < con->dim; k++) {
    T += con->friction[k - 1] * con->friction[k - 1] * y[k] * y[k];
  }
  return sqrt(T);
}

static int coneState(const mjContact* con, const mjtNum* y) {
  mjtNum mu = con->mu, N = mu * y[0], T = slipOf(con, y);
  if (N >= mu * T || (T <= 0 && N >= 0)) return mjCNSTRSTATE_SATISFIED;
  return mu * N + T <= 0 || T <= 0 ? mjCNSTRSTATE_QUADRATIC : mjCNSTRSTATE_CONE;
}

static void coneForce(mjtNum* force, int state, const mjData* d, const mjContact* con, int adr,
                      const mjtNum* y) {
  mjtNum mu = con->mu, N = mu * y[0], T = slipOf(con, y);
  mjtNum scale = d->efc_D[adr] * (N - mu * T) / (mu * (1 + mu * mu));
  for (int k = 0; k < con->dim; k++) {
    if (state == mjCNSTRSTATE_SATISFIED) {
      force[k] = 0;
    } else if (state == mjCNSTRSTATE_QUADRATIC) {
      force[k] = -d->efc_D[adr + k] * y[k];
    } else if (k == 0) {
      force[k] = -scale;
    } else {
      force[k] = scale * con->friction[k - 1] * con->friction[k - 1] * y[k] / T;
    }
  }
}

void djm_forcesIn(mjtNum* force, const int* state, const mjData* d, const mjtNum* y) {
  for (int i = 0; i < d->nefc; i++) {
    if (d->efc_type[i] == mjCNSTR_CONTACT_ELLIPTIC) {
      const mjContact* con = d->contact + d->efc_id[i];
      coneForce(force + i, state[i], d, con, i, y + i);
      i += con->dim - 1;
    } else if (state[i] == mjCNSTRSTATE_QUADRATIC) {
      force[i] = -d->efc_D[i] * y[i];
    } else if (state[i] == mjCNSTRSTATE_SATISFIED) {
      force[i] = 0;
    } else {
      force[i] = (state[i] == mjCNSTRSTATE_LINEARNEG ? 1 : -1) * d->efc_frictionloss[i];
    }
  }
}

void djm_coneCurvature(mjtNum* S, const mjData* d, const mjContact* con, int adr,
                       const mjtNum* y) {
  int dim = con->dim;
  mjtNum mu = con->mu, N = mu * y[0], T = 0, scale[DJM_MAXROWS], unit[DJM_MAXROWS];
  scale[0] = mu;
  for (int k = 1; k < dim; k++) {
    scale[k] = con->friction[k - 1];
    unit[k] = scale[k] * y[k];
    T += unit[k] * unit[k];
  }
  T = sqrt(T);
  for (int k = 1; k < dim; k++) unit[k] /= T;
  // of (N - mu T)^2/2 by u: g g^T - mu (N - mu T)/T (1 - unit unit^T), g = (1, -mu unit)
  mjtNum bend = -mu * (N - mu * T) / T, stiffness = d->efc_D[adr] / (mu * mu * (1 + mu * mu));
  for (int i = 0; i < dim; i++) {
    for (int j = 0; j < dim; j++) {
      mjtNum s = (i ? -mu * unit[i] : 1) * (j ? -mu * unit[j] : 1);
      if (i && j) s += bend * ((i == j) - unit[i] * unit[j]);
      S[i * dim + j] = stiffness * scale[i] * scale[j] * s;
    }
  }
}

void djm_findForces(mjtNum* force, int* state, const mjModel* m, const mjData* d,
                    const mjtNum* y) {
  (void)m;
  for (int i = 0; i < d->nefc; i++) {
    int type = d->efc_type[i];
    if (type == mjCNSTR_CONTACT_ELLIPTIC) {
      const mjContact* con = d->contact + d->efc_id[i];
      for (int k = 0; k < con->dim; k++) state[i + k] = coneState(con, y + i);
      coneForce(force + i, state[i], d, con, i, y + i);
      i += con->dim - 1;
      continue;
    }
    force[i] = -d->efc_D[i] * y[i];
    state[i] = mjCNSTRSTATE_QUADRATIC;
    if (type == mjCNSTR_EQUALITY) continue;
    if (type == mjCNSTR_FRICTION_DOF || type == mjCNSTR_FRICTION_TENDON) {
      mjtNum loss = d->efc_frictionloss[i];
      if (force[i] >= loss) {
        force[i] = loss;
        state[i] = mjCNSTRSTATE_LINEARNEG;
      } else if (force[i] <= -loss) {
        force[i] = -loss;
        state[i] = mjCNSTRSTATE_LINEARPOS;
      }
    } else if (y[i] >= 0) {
      force[i] = 0;
      state[i] = mjCNSTRSTATE_SATISFIED;
    }
  }
}

// R = max(mjMINVAL, (1 - I)/I A), D = 1/R.
mjtNum djm_impedanceSlope(const mjData* d, int adr) {
  mjtNum I = d->efc_KBIP[4 * adr + 2], slope = d->efc_KBIP[4 * adr + 3];
  return d->efc_R[adr] <= mjMINVAL ? 0 : slope / (I * (1 - I));
}

mjtNum djm_springSlope(const mjData* d, int adr) {
  const mjtNum* K = d->efc_KBIP + 4 * adr;
  return K[0] * (K[2] + K[3] * (d->efc_pos[adr] - d->efc_margin[adr]));
}
