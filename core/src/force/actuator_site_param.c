// Actuators on sites by the parameters that move their bodies and sites, and by their own.
//
// z . gradient = -p dpsi, dpsi = sum_b W_b . x_b, is by the end's poses of the form of
// frame_param.h; by the start's, the transpose of what dj_siteStart gives.

#include "force/site_drive.h"

#include "math/block6.h"
#include "math/so3.h"
#include "model/param.h"

// dpsi along the twists x.
static double alongTwists(const djSiteDrive* d, const double* x) {
  double sum = 0;
  for (int s = 0; s < DJ_NDRIVE; s++) {
    for (int k = 0; k < 6 && d->body[s] >= 0; k++) sum += d->W[s][k] * x[6 * d->body[s] + k];
  }
  return sum;
}

static void addCotangents(djParamSums* sums, const djSiteDrive* d, const djMotion* at,
                         const djActuatorStep* a, djJet p, int i) {
  double psi[DJ_NDRIVE][6], length[DJ_NDRIVE][6], dpsi = alongTwists(d, sums->x);
  double* start = dj_rateCotangents(sums, at);
  djSiteBlocks blocks, turns;
  dj_siteBlocks(&blocks, d, at, -p.f, -p.d * a->beta);
  dj_siteStart(psi, length, &turns, d, at, i, -p.f);
  for (int s = 0; s < DJ_NDRIVE; s++) {
    int body = d->body[s];
    if (body < 0) continue;
    for (int k = 0; k < 6; k++) {
      sums->W[6 * body + k] -= p.f * d->W[s][k];
      start[6 * body + k] -= p.d * dpsi * (a->beta * psi[s][k] + a->c1 * length[s][k]);
    }
    for (int t = 0; t < DJ_NDRIVE; t++) {
      const double* x = sums->x + 6 * d->body[t];
      if (d->body[t] < 0) continue;
      dju_mulAdd6(sums->C + 6 * body, blocks.B[s][t], 6, x, false);
      dju_mulAdd6(start + 6 * body, turns.B[t][s], 6, x, true);
    }
  }
}

static djVec3 angular(const djSiteDrive* d, const double* x, int s) {
  return d->body[s] < 0 ? dju_vec3(0, 0, 0) : dju_load3(x + 6 * d->body[s]);
}

// A site that moves in its body by e: at the end dpsi = F . e and its rate F . ((w_s - w_a) x e);
// at the start -F . e, and F . e of the length there.
static void addSites(double* site, const djSiteDrive* d, const djMotion* at,
                     const djActuatorStep* a, djJet p, double dpsi, const double* x, int i) {
  const djModel* m = at->model;
  djVec3 F = dju_mulMV(d->Y, d->F);
  for (int s = 0; s < (d->two ? 2 : 1); s++) {
    int id = m->actuator_site[2 * i + s], body = m->site_body[id];
    double sign = s ? -1 : 1;
    djVec3 w = dju_sub3(angular(d, x, s), angular(d, x, DJ_DRIVE_BASE));
    djVec3 end = dju_madd3(dju_scale3(-p.d * a->beta * dpsi, F), -p.f, dju_cross3(F, w));
    double start = -p.d * dpsi * (a->c1 - a->beta);
    dju_addTo3(site + 3 * id, sign, dju_mulMtV(at->at.kin->body[body].R, end));
    dju_addTo3(site + 3 * id, sign * start, dju_mulMtV(at->rate.kin->body[body].R, d->F));
  }
}

// dpsi along the twists x is F . v + T . w.
static void gearRates(djVec3* v, djVec3* w, const djSiteDrive* d, const djMotion* at,
                      const double* x) {
  *v = *w = dju_vec3(0, 0, 0);
  for (int s = 0; s < (d->two ? 2 : 1); s++) {
    const djPose* base = d->body[DJ_DRIVE_BASE] < 0 ? NULL
                                                    : &at->at.kin->body[d->body[DJ_DRIVE_BASE]];
    double sign = s ? -1 : 1;
    djVec3 own = dju_sub3(angular(d, x, s), angular(d, x, DJ_DRIVE_BASE));
    djMat3 Jinv = dju_rightJacobianInv(d->theta[s]);
    *w = dju_madd3(*w, sign, dju_mulMtV(Jinv, dju_mulMtV(d->Y, own)));
    djVec3 u = {0, 0, 0};
    if (d->body[s] >= 0) {
      const double* t = x + 6 * d->body[s];
      djVec3 arm = dju_sub3(d->p[s], at->ref[d->body[s]]);
      u = dju_add3(dju_load3(t + 3), dju_cross3(dju_load3(t), arm));
    }
    if (base) {
      const double* t = x + 6 * d->body[DJ_DRIVE_BASE];
      djVec3 arm = dju_sub3(d->p[s], at->ref[d->body[DJ_DRIVE_BASE]]);
      u = dju_sub3(u, dju_add3(dju_load3(t + 3), dju_cross3(dju_load3(t), arm)));
    }
    *v = dju_madd3(*v, sign, dju_mulMtV(d->Y, u));
  }
}

// psi, its rate and the length there are linear in the gear.
static void addGear(double* gear, const djSiteDrive* d, const djMotion* at,
                    const djActuatorStep* a, djJet p, double dpsi, const double* x) {
  djVec3 v, w, turn = dju_sub3(d->theta[0], d->theta[1]);
  djVec3 apart = dju_sub3(d->p0[0], d->p0[1]);
  gearRates(&v, &w, d, at, x);
  double by_psi = -p.d * dpsi * a->beta, by_length = d->two ? -p.d * dpsi * a->c1 : 0;
  djVec3 F = dju_madd3(dju_scale3(-p.f, v), by_psi, d->moved);
  djVec3 T = dju_madd3(dju_scale3(-p.f, w), by_psi, turn);
  dju_addTo3(gear, 1, dju_mulMtV(d->axes, dju_madd3(F, by_length, apart)));
  dju_addTo3(gear + 3, 1, dju_mulMtV(d->axes, T));
}

// ---- prompt motions ---------------------------------------------------------------------------

static void addTwistCotangents(djParamSums* sums, const djSiteUnit* u, const djActuatorStep* a,
                               int i) {
  const djSiteDrive* d = &u->d;
  djSiteBlocks K;
  dj_siteUnitByPoses(&K, u, a, sums->twist, i);
  for (int c = 0; c < DJ_NDRIVE; c++) {
    int body = d->body[c];
    double y[6] = {0}, t[6] = {0}, g[6], T[36];
    if (body < 0) continue;
    for (int s = 0; s < DJ_NDRIVE; s++) {
      const double* x = sums->x + 6 * d->body[s];
      if (d->body[s] < 0) continue;
      dj_siteUnitByTwist(T, u, a, s, c);
      dju_mulAdd6(y, K.B[s][c], 6, x, true);
      dju_mulAdd6(t, T, 6, x, true);
    }
    for (int k = 0; k < 6; k++) {
      g[k] = -u->p.f * d->W[c][k];
      sums->W[6 * body + k] += g[k];
    }
    dj_addTwistCotangent(sums->twist, sums, body, y, t, g);
  }
}

// z . gradient is -p dpsi. A site that moves in its body by e changes the length by F . e, and by
// F . ((w_s - w_a) x e) what twists w give: dpsi and the rate. All are linear in the gear.
static void twistParams(djParamSums* sums, const djSiteUnit* u, const djActuatorStep* a, int i) {
  const djModel* m = u->here.model;
  const djSiteDrive* d = &u->d;
  const double *x = sums->x, *V = sums->twist->V;
  double dpsi = alongTwists(d, x), by_p = -u->p.d * dpsi, by_length = d->two ? by_p * a->c1 : 0;
  double* site = dj_paramBlock(sums->param, m, DJ_FIELD_SITE_POS);
  double* gear = dj_paramBlock(sums->param, m, DJ_FIELD_ACTUATOR_GEAR) + 6 * i;
  for (int s = 0; s < (d->two ? 2 : 1); s++) {
    int id = m->actuator_site[2 * i + s];
    djVec3 w = dju_sub3(angular(d, x, s), angular(d, x, DJ_DRIVE_BASE));
    djVec3 spin = dju_sub3(angular(d, V, s), angular(d, V, DJ_DRIVE_BASE));
    djVec3 by = dju_madd3(dju_scale3(by_length, d->F), -u->p.f, dju_cross3(d->F, w));
    by = dju_madd3(by, by_p * a->c2, dju_cross3(d->F, spin));
    const djPose* body = &u->here.at.kin->body[m->site_body[id]];
    dju_addTo3(site + 3 * id, s ? -1 : 1, dju_mulMtV(body->R, by));
  }
  djVec3 v[2], w[2], apart = dju_sub3(d->p0[0], d->p0[1]);
  gearRates(&v[0], &w[0], d, &u->here, x);
  gearRates(&v[1], &w[1], d, &u->here, V);
  djVec3 F = dju_madd3(dju_scale3(-u->p.f, v[0]), by_p * a->c2, v[1]);
  djVec3 T = dju_madd3(dju_scale3(-u->p.f, w[0]), by_p * a->c2, w[1]);
  dju_addTo3(gear, 1, dju_mulMtV(d->axes, dju_madd3(F, by_length, apart)));
  dju_addTo3(gear + 3, 1, dju_mulMtV(d->axes, T));
  if (d->two) dju_addTo3(gear + 3, by_length, dj_siteTurnLength(&u->here, i));
}

// ---- all --------------------------------------------------------------------------------------

void dj_siteParams(djParamSums* sums, const djActuators* t, const djMotion* at, int i,
                   double* by_p, double* length, double* rate) {
  const djModel* m = at->model;
  const djActuatorStep* a = &t->act[i];
  if (at->prompt) {
    djSiteUnit u;
    dj_openSiteUnit(&u, t, sums->twist, at, i);
    addTwistCotangents(sums, &u, a, i);
    twistParams(sums, &u, a, i);
    *by_p = -u.p.d * alongTwists(&u.d, sums->x);
    *length = u.length;
    *rate = u.rate;
    return;
  }
  djSiteDrive d = dj_siteDrive(at, i);
  djJet p = dj_clampForce(a, m, i, a->alpha + a->beta * d.psi);
  double dpsi = alongTwists(&d, sums->x);
  addCotangents(sums, &d, at, a, p, i);
  addSites(dj_paramBlock(sums->param, m, DJ_FIELD_SITE_POS), &d, at, a, p, dpsi, sums->x, i);
  double* gear = dj_paramBlock(sums->param, m, DJ_FIELD_ACTUATOR_GEAR) + 6 * i;
  addGear(gear, &d, at, a, p, dpsi, sums->x);
  if (d.two) {
    // the turn at the start is MuJoCo's length, in axes of the reference site
    djVec3 turn = dj_siteTurnLength(at, i);
    dju_addTo3(gear + 3, -p.d * dpsi * a->c1, turn);
  }
  *by_p = -p.d * dpsi;
  *length = dj_onOneSite(m, i) ? 0 : a->length + d.psi;
  *rate = d.psi / at->h;
}
