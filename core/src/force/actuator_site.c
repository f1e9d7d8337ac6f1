// Actuators on sites: see site_drive.h. With the force p(l, l') before its clamp as along
// coordinates, l = l0 + psi and l' = psi/h; on one site alone l = 0, as in MuJoCo. Their
// derivatives by parameters: actuator_site_param.c.

#include "force/actuator.h"
#include "force/site_drive.h"

static void addNested(djForceSum* sum, const djMotion* at, const djSiteDrive* d,
                      const djSiteBlocks* b) {
  for (int s = 0; s < DJ_NDRIVE; s++) {
    int body = d->body[s];
    if (body < 0) continue;
    for (int k = 0; k < 36; k++) sum->N[36 * (size_t)body + k] += b->B[s][s][k];
    for (int t = 0; t < s; t++) {
      if (d->body[t] < 0) continue;
      if (d->body[t] != body) {
        dj_projectCross(sum->H, at->model, at->at.kin, body, d->body[t], b->B[s][t]);
        continue;
      }
      for (int k = 0; k < 36; k++) {
        sum->N[36 * (size_t)body + k] += b->B[s][t][k] + b->B[t][s][k];
      }
    }
  }
}

void dj_addSiteActuators(djForceSum* sum, const djActuators* t, const djMotion* at) {
  const djModel* m = at->model;
  for (int i = 0; i < m->nu; i++) {
    if (!dj_onSite(m, i)) continue;
    const djActuatorStep* a = &t->act[i];
    djSiteDrive d = dj_siteDrive(at, i);
    sum->value -= d.psi * dj_meanForce(m, i, a, d.psi);
    if (!sum->derivatives) continue;
    djJet p = dj_clampForce(a, m, i, a->alpha + a->beta * d.psi);
    for (int s = 0; s < DJ_NDRIVE; s++) {
      for (int k = 0; k < 6 && d.body[s] >= 0; k++) {
        sum->wrench[6 * d.body[s] + k] -= p.f * d.W[s][k];
      }
    }
    djSiteBlocks blocks;
    dj_siteBlocks(&blocks, &d, at, -p.f, -p.d * a->beta);
    addNested(sum, at, &d, &blocks);
  }
}

// -p W: p by psi and by the length there, W by turns.
void dj_startSiteActuators(djStartSum* sum, const djActuators* t, const djMotion* at) {
  const djModel* m = at->model;
  if (!sum->Rrate) return;
  for (int i = 0; i < m->nu; i++) {
    if (!dj_onSite(m, i)) continue;
    const djActuatorStep* a = &t->act[i];
    djSiteDrive d = dj_siteDrive(at, i);
    djJet p = dj_clampForce(a, m, i, a->alpha + a->beta * d.psi);
    double psi[DJ_NDRIVE][6], length[DJ_NDRIVE][6];
    djSiteBlocks W;
    dj_siteStart(psi, length, &W, &d, at, i, -p.f);
    for (int s = 0; s < DJ_NDRIVE; s++) {
      for (int b = 0; b < DJ_NDRIVE; b++) {
        if (d.body[s] < 0 || d.body[b] < 0) continue;
        double* K = W.B[s][b];
        for (int k = 0; k < 36; k++) {
          double by = a->beta * psi[b][k % 6] + a->c1 * length[b][k % 6];
          K[k] -= p.d * d.W[s][k / 6] * by;
        }
        dj_projectCrossMixed(sum->Rrate, m, at->at.kin, at->rate.kin, d.body[s], d.body[b], K);
      }
    }
  }
}

void dj_siteInput(djInputSum* sum, const djActuators* t, const djMotion* at, int i,
                  djSignal signal) {
  const djModel* m = at->model;
  const djActuatorStep* a = &t->act[i];
  djSiteDrive d;
  double g;
  if (at->prompt) {
    djSiteUnit unit;
    dj_openSiteUnit(&unit, t, sum->twist, at, i);
    d = unit.d;
    g = -unit.p.d * dj_gainAt(signal.step, unit.length, unit.rate);
  } else {
    d = dj_siteDrive(at, i);
    djJet p = dj_clampForce(a, m, i, a->alpha + a->beta * d.psi);
    double length = dj_onOneSite(m, i) ? 0 : a->length + d.psi;
    g = -p.d * dj_gainAt(signal.step, length, d.psi / at->h);
  }
  int end[2] = {d.body[0] < 0 ? -1 : m->body_lastdof[d.body[0]],
                d.body[1] < 0 ? -1 : m->body_lastdof[d.body[1]]};
  while (end[0] != end[1]) {
    int s = end[0] > end[1] ? 0 : 1, dof = end[s];
    double J = 0;
    for (int k = 0; k < 6; k++) J += at->at.kin->S[6 * dof + k] * d.W[s][k];
    dj_addInput(sum, signal.step, signal.from, dof, g * J);
    end[s] = m->dof_parent[dof];
  }
}

void dj_coupleSiteActuators(djPattern* pattern, const djModel* m) {
  for (int i = 0; i < m->nu; i++) {
    if (!dj_onSite(m, i) || dj_onOneSite(m, i)) continue;
    int a = m->body_lastdof[m->site_body[m->actuator_site[2 * i]]];
    int b = m->body_lastdof[m->site_body[m->actuator_site[2 * i + 1]]];
    if (a >= 0 && b >= 0) dj_coupleRows(pattern, a, b);
  }
}
