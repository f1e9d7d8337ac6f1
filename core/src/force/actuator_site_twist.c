// Actuators on sites in prompt motions (motion.h): the wrench has the gear's axes at the point,
// there as MuJoCo has it, and l' is what it takes from the velocities of bodies. With W_s the
// wrenches on the drive's bodies of a unit force, those of a drive whose displacement begins at the
// point,
//   g_s = -p W_s,  p = p(l, l'),  l' = sum_s W_s . V_s,
//   dg_s/dpose_t = -p dW_s/dpose_t - p' W_s (c1 dl/dpose_t + c2 sum_r V_r . dW_r/dpose_t),
//   dg_s/dtwist_t = -p' c2 W_s W_t^T.
// W changes as the point moves and as what turns the gear's axes does: site_drive.h has both.

#include "force/site_drive.h"

#include "math/block6.h"

void dj_openSiteUnit(djSiteUnit* u, const djActuators* t, djTwistForces* twist, const djMotion* at,
                     int i) {
  const djModel* m = at->model;
  dj_openTwistForces(twist, at);
  const djActuatorStep* a = &t->act[i];
  u->here = *at;
  u->here.rate = at->at;
  u->d = dj_siteDrive(&u->here, i);
  u->length = dj_siteLength(&u->here, i);
  u->rate = 0;
  for (int s = 0; s < DJ_NDRIVE; s++) {
    int b = u->d.body[s];
    if (b >= 0) u->rate += dju_dotRow6(u->d.W[s], twist->V + 6 * b);
  }
  u->p = dj_clampForce(a, m, i, a->alpha + a->c1 * (u->length - a->length) + a->c2 * u->rate);
}

void dj_siteUnitByPoses(djSiteBlocks* K, const djSiteUnit* u, const djActuatorStep* a,
                        const djTwistForces* twist, int i) {
  const djSiteDrive* d = &u->d;
  double psi[DJ_NDRIVE][6], length[DJ_NDRIVE][6];
  djSiteBlocks turns;
  dj_siteBlocks(K, d, &u->here, 1, 0);
  dj_siteStart(psi, length, &turns, d, &u->here, i, 1);
  for (int c = 0; c < DJ_NDRIVE; c++) {
    double dp[6];
    for (int k = 0; k < 6; k++) dp[k] = u->p.d * a->c1 * length[c][k];
    for (int s = 0; s < DJ_NDRIVE; s++) {
      for (int k = 0; k < 36; k++) K->B[s][c][k] += turns.B[s][c][k];
      if (d->body[s] < 0) continue;
      double y[6] = {0};
      dju_mulAdd6(y, K->B[s][c], 6, twist->V + 6 * d->body[s], true);
      for (int k = 0; k < 6; k++) dp[k] += u->p.d * a->c2 * y[k];
    }
    for (int s = 0; s < DJ_NDRIVE; s++) {
      for (int k = 0; k < 36; k++) {
        K->B[s][c][k] = -u->p.f * K->B[s][c][k] - d->W[s][k / 6] * dp[k % 6];
      }
    }
  }
}

void dj_siteUnitByTwist(double T[36], const djSiteUnit* u, const djActuatorStep* a, int s, int t) {
  for (int k = 0; k < 36; k++) {
    T[k] = -u->p.d * a->c2 * u->d.W[s][k / 6] * u->d.W[t][k % 6];
  }
}

void dj_addSiteTwists(djForceSum* sum, const djActuators* t, const djMotion* at) {
  const djModel* m = at->model;
  djTwistForces* twist = sum->twist;
  for (int i = 0; i < m->nu; i++) {
    if (!dj_onSite(m, i)) continue;
    djSiteUnit u;
    djSiteBlocks K;
    dj_openSiteUnit(&u, t, twist, at, i);
    dj_siteUnitByPoses(&K, &u, &t->act[i], twist, i);
    for (int s = 0; s < DJ_NDRIVE; s++) {
      int b = u.d.body[s];
      for (int k = 0; k < 6 && b >= 0; k++) twist->W[6 * b + k] -= u.p.f * u.d.W[s][k];
      for (int c = 0; c < DJ_NDRIVE && b >= 0; c++) {
        double T[36];
        if (u.d.body[c] < 0) continue;
        dj_siteUnitByTwist(T, &u, &t->act[i], s, c);
        dj_addWrenchBy(twist, sum->H, at, b, u.d.body[c], K.B[s][c], T);
      }
    }
  }
}

void dj_startSiteTwists(djStartSum* sum, const djActuators* t, const djMotion* at) {
  const djModel* m = at->model;
  for (int i = 0; i < m->nu; i++) {
    if (!dj_onSite(m, i) || t->act[i].c2 == 0) continue;
    djSiteUnit u;
    dj_openSiteUnit(&u, t, sum->twist, at, i);
    for (int k = 0; k < DJ_NDRIVE * DJ_NDRIVE; k++) {
      int s = k / DJ_NDRIVE, c = k % DJ_NDRIVE;
      double T[36];
      if (u.d.body[s] < 0 || u.d.body[c] < 0) continue;
      dj_siteUnitByTwist(T, &u, &t->act[i], s, c);
      dj_addWrenchByRate(sum->twist, sum, at, u.d.body[s], u.d.body[c], T);
    }
  }
}
