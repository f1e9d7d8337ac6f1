// The servo of an orientation (djm_orientationLaw): three forces from
//   e = log(q^-1 q_t),   p = kp e + b0 - kv v,   |p| within forcerange.
// q = exp(lengths); q_t from a quaternion, or exp of controls or activations. mjd_subQuat has log's
// derivatives by turns of q and q_t, mjd_quatIntegrate's Dvel is exp's.

#include "law_slope.h"
#include "slope_math.h"
#include "smooth_work.h"

#include <string.h>

static void expSlope(double* quat, double* by, const double* x) {
  double turn[9], scale[3];
  mju_copy4(quat, (double[4]){1, 0, 0, 0});
  mju_quatIntegrate(quat, x, 1);
  mjd_quatIntegrate(x, 1, turn, by, scale);
}

static void mulMat33(double* res, const double* a, const double* b) {
  for (int i = 0; i < 9; i++) {
    res[i] =
        a[i - i % 3] * b[i % 3] + a[i - i % 3 + 1] * b[3 + i % 3] + a[i - i % 3 + 2] * b[6 + i % 3];
  }
}

// Target and its turn by the four numbers of a quaternion that is normalised: 3 x 4.
static void quatTarget(double* quat, double* by, const double* x) {
  double size = mju_norm(x, 4);
  mju_copy4(quat, x);
  mju_normalize4(quat);
  double scale = size > mjMINVAL ? 2 / size : 0;
  const double* q = quat;
  // twice the vector part of conj(q) times dq; the part of dq along q drops out
  const double rows[12] = {-q[1], q[0], q[3],  -q[2], -q[2], -q[3],
                           q[0],  q[1], -q[3], q[2],  -q[1], q[0]};
  for (int i = 0; i < 12; i++) by[i] = scale * rows[i];
}

// The norm within range: rows of by (3 x n) follow.
static void clipColumn(double* by, int stride, const double* n, double ratio) {
  double x[3] = {by[0], by[stride], by[2 * stride]}, along = dot3(n, x);
  for (int i = 0; i < 3; i++) by[i * stride] = ratio * (x[i] - n[i] * along);
}

void djm_orientationLaw(djmOrientation* law, const mjModel* m, const mjData* d, int i) {
  int o = m->actuator_outadr[i], nu = m->actuator_ctrlnum[i], dyn = m->actuator_dyntype[i];
  double now[4], now_by[9], target[4], da[9], db[9], kp = m->actuator_gainprm[mjNGAIN * i];
  const double* prm = m->actuator_biasprm + mjNBIAS * i;
  memset(law, 0, sizeof(*law));
  djmLaw states;
  djm_law(&states, m, d, i);
  expSlope(now, now_by, d->actuator_length + o);
  double by_input[12] = {0}, x[4] = {0}, turn[9];
  bool quat = m->actuator_ctrlspec[i] == mjCHART_QUAT;
  const djmDual* in = states.u;
  if (!quat && dyn != mjDYN_NONE) in = m->actuator_actearly[i] ? states.next : states.act;
  int n = quat ? 4 : 3;
  for (int k = 0; k < n; k++) x[k] = in[k].x;
  if (quat) {
    quatTarget(target, by_input, x);
  } else {
    expSlope(target, turn, x);
    for (int k = 0; k < 9; k++) by_input[k / 3 * 4 + k % 3] = turn[k];
  }
  double e[3];
  mju_subQuat(e, target, now);
  mjd_subQuat(target, now, da, db);
  mulMat33(law->by_length, db, now_by);
  for (int k = 0; k < 9; k++) law->by_length[k] *= kp;
  for (int r = 0; r < 3; r++) {
    law->force[r] = kp * e[r] + prm[0] + prm[2] * d->actuator_velocity[o + r];
    for (int k = 0; k < n; k++) {
      double by = 0;
      for (int s = 0; s < 3; s++) by += kp * da[3 * r + s] * by_input[4 * s + k];
      for (int u = 0; u < nu; u++) law->by_ctrl[DJM_MAXCTRL * r + u] += by * in[k].d[DJM_CTRL + u];
      for (int s = 0; s < 3; s++) law->by_act[3 * r + s] += by * in[k].d[DJM_ACT + s];
    }
    law->by_speed[4 * r] = prm[2];
  }
  double norm = mju_norm3(law->force), most = m->actuator_forcerange[2 * i + 1], unit[3];
  if (!m->actuator_forcelimited[i] || norm <= most) return;
  for (int r = 0; r < 3; r++) unit[r] = law->force[r] / norm;
  for (int k = 0; k < 3; k++) {
    clipColumn(law->by_length + k, 3, unit, most / norm);
    clipColumn(law->by_speed + k, 3, unit, most / norm);
    clipColumn(law->by_act + k, 3, unit, most / norm);
  }
  for (int u = 0; u < nu; u++) clipColumn(law->by_ctrl + u, DJM_MAXCTRL, unit, most / norm);
  mju_scl3(law->force, law->force, most / norm);
}

// x (1 - 2 pi n/|x|), n: whole turns
void djm_anchorSlope(double* by, const double* act) {
  double angle = mju_norm3(act), turn = 0;
  if (angle > M_PI) turn = 2 * M_PI * round(angle / (2 * M_PI));
  for (int i = 0; i < 9; i++) {
    by[i] = i % 4 == 0 ? 1 : 0;
    if (turn == 0) continue;
    by[i] *= 1 - turn / angle;
    by[i] += turn * act[i / 3] * act[i % 3] / (angle * angle * angle);
  }
}
