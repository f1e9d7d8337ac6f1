// Derivatives of a step's contact by parameters: the sum over pairs of the kernel's products.

#include "contact/pairs/near.h"
#include "model/param.h"

#include <string.h>

// A pair's coefficient is that of one geom. Where both have the same it is a maximum with a kink:
// each gets half, the mean of the slopes on both sides, and both together what they give when they
// stay equal. by: of the geom that counts, and of the other.
static void addCounting(double* by, double* by_other, bool same, const djModel* m, int geom,
                        int other, double slope) {
  bool tie = same && m->geom_priority[geom] == m->geom_priority[other];
  *by += tie ? 0.5 * slope : slope;
  if (tie) *by_other += 0.5 * slope;
}

// An explicit pair has its own.
static void addPairs(double* param, const djModel* m, djField field, const djNearPair* p,
                     double slope) {
  dj_paramBlock(param, m, field)[dj_explicitPair(m, p->low, p->high)] += slope;
}

// One coefficient of the geoms.
static void addFriction(double* param, const djModel* m, const djNearPair* p, int which,
                        double slope) {
  int geom = p->source[which], other = geom == p->low ? p->high : p->low;
  double* by = dj_paramBlock(param, m, DJ_FIELD_GEOM_FRICTION) + which;
  const double* friction = m->geom_friction + which;
  bool same = friction[3 * geom] == friction[3 * other];
  addCounting(by + 3 * geom, by + 3 * other, same, m, geom, other, slope);
}

// Coefficients that the pair has; one of sliding that is less than the least counts for nothing.
void dj_addFrictionParams(double* param, const djModel* m, const djNearPair* p, double slope,
                          const djCone* cone) {
  int geom = p->source[DJ_OF_SLIDING];
  if (!dj_slides(p->friction)) return;
  if (geom < 0) {
    const int pair = dj_explicitPair(m, p->low, p->high);
    if (m->pair_friction[pair] >= p->friction) addPairs(param, m, DJ_FIELD_PAIR_FRICTION, p, slope);
    if (p->cone.friction2 > 0) addPairs(param, m, DJ_FIELD_PAIR_FRICTION2, p, cone->friction2);
    if (m->pair_condim[pair] > 3) addPairs(param, m, DJ_FIELD_PAIR_TORSION, p, cone->torsion);
    double* rolling = dj_paramBlock(param, m, DJ_FIELD_PAIR_ROLLING) + 2 * pair;
    for (int k = 0; k < 2 && m->pair_condim[pair] > 4; k++) rolling[k] += cone->rolling[k];
    return;
  }
  if (m->geom_friction[3 * geom] >= p->friction) addFriction(param, m, p, DJ_OF_SLIDING, slope);
  if (p->cone.torsion > 0) addFriction(param, m, p, DJ_OF_TORSION, cone->torsion);
  if (p->cone.rolling[0] > 0) {
    addFriction(param, m, p, DJ_OF_ROLLING, cone->rolling[0] + cone->rolling[1]);
  }
}

void dj_addRestitutionParams(double* param, const djModel* m, const djNearPair* p, double slope) {
  int geom = p->source[DJ_OF_RESTITUTION], other = geom == p->low ? p->high : p->low;
  if (geom < 0) {
    addPairs(param, m, DJ_FIELD_PAIR_RESTITUTION, p, slope);
    return;
  }
  double* e = dj_paramBlock(param, m, DJ_FIELD_GEOM_RESTITUTION);
  bool same = dj_restitution(m, geom, -1) == dj_restitution(m, other, -1);
  addCounting(e + geom, e + other, same, m, geom, other, slope);
}

// What a parameter (row), of which the pair has `share`, does to other defaults of a pair, which
// are held so that the scene's stay: x the pair's, of them derivatives slope.
static double byDefaults(const djModel* m, int first, const djNearPair* p, const double* x,
                         const double* slope, int row, double share) {
  const djContactScale pair = dj_pairScale(m, p->low, p->high), scene = dj_sceneScale(m);
  double sum = 0;
  for (int j = row + 1; j < p->kernel->settings->n; j++) {
    const djKernelRule* rule = &p->kernel->settings->rule[j];
    if (!rule->slope || m->kernel_given[first + j] >= 0 || p->own >> j & 1) continue;
    const double other = rule->slope(&scene, m->kernel_setting + first, row);
    sum += slope[j] * x[j] * (share * rule->slope(&pair, x, row) - other);
  }
  return sum;
}

// Of a default the parameter is what one pair has, and others have multiples of that. x: the pair's
// settings; slope: derivatives by them.
void dj_addSettingParams(double* param, const djModel* m, int first, const djNearPair* p,
                         const double* x, const double* slope) {
  double* setting = dj_paramBlock(param, m, DJ_FIELD_SETTING) + dj_settingParams(first);
  for (int i = 0; i < p->kernel->settings->n; i++) {
    const djKernelRule* rule = &p->kernel->settings->rule[i];
    if (!rule->param.name) continue;
    double scene = m->kernel_setting[first + i];
    double share = m->kernel_given[first + i] < 0 && scene > 0 ? x[i] / scene : 1;
    if (!(p->own >> i & 1)) {
      *setting += share * slope[i] + byDefaults(m, first, p, x, slope, i, share);
    }
    setting++;
  }
}

static djStatus addPair(double* param, djShapeGrad* shape, djContacts* c, const djModel* m,
                        const djNearPair* p, const djPose* pose, const double* x) {
  double lambda[12];
  memcpy(lambda, x + 6 * p->body_a, 6 * sizeof(double));
  memcpy(lambda + 6, x + 6 * p->body_b, 6 * sizeof(double));
  shape += p->use * m->ngeom;
  djPairGrad grad = {.a = &shape[p->a], .b = &shape[p->b]};
  djPairInput in = dj_pairInput(c, m, p, pose);
  if (!p->kernel->vjp) return DJ_UNSUPPORTED;
  djStatus status = p->kernel->vjp(&grad, dj_stateOf(c, p), &in, lambda);
  if (status < 0) return status;
  dj_addSettingParams(param, m, c->first[p->use], p, in.setting, grad.setting);
  dj_addFrictionParams(param, m, p, grad.friction, &grad.cone);
  return status;
}

djStatus dj_contactParams(double* param, djShapeGrad* shape, djContacts* c, const djModel* m,
                          const djPose* pose, const double* x) {
  if (!param || !shape || !c || !m || !pose || !x || !c->listed) return DJ_INVALID;
  djStatus worst = dj_refreshContacts(c, m, pose);
  for (int k = 0; k < c->nblock && worst >= 0; k++) {
    djStatus status = addPair(param, shape, c, m, &c->pair[c->active_pair[k]], pose, x);
    if (status != DJ_OK) worst = status;
  }
  return worst;
}
