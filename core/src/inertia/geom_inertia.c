#include "inertia/geom_inertia.h"

#include "base/status.h"
#include "contact/contact.h"
#include "inertia/mass_rule.h"
#include "math/eigen3.h"
#include "model/check.h"
#include "model/choice.h"
#include "model/make.h"
#include "model/param.h"

#include <stdlib.h>
#include <string.h>

// Moments that differ by less, relatively, count as one.
#define SAME_MOMENT 1e-9

// The range of a body's geoms, which are listed in the order of bodies.
static void geomsOf(int* first, int* last, const djModel* m, int body) {
  int g = *last;
  while (g < m->ngeom && m->geom_body[g] < body) g++;
  *first = g;
  while (g < m->ngeom && m->geom_body[g] == body) g++;
  *last = g;
}

// ------------------------------------------ bodies ---------------------------------------------

typedef struct Inertia {
  bool follows;
  double mass, ipos[3], iquat[4], inertia[3];
  double lumps[2];
} Inertia;

// Sigma = M2 - m c c^T, c = M1/m.
static bool readMoments(Inertia* out, const djMoments* m, const double start[4]) {
  djVec3 c = dju_scale3(1 / m->volume, m->first);
  const double x[3] = {c.x, c.y, c.z};
  djMat3 S = m->second;
  djQuat q = dju_loadQuat(start);
  double s[3];
  for (int i = 0; i < 9; i++) S.m[i] -= m->volume * x[i / 3] * x[i % 3];
  if (!(m->volume > 0) || !isfinite(S.m[0] + S.m[4] + S.m[8])) return false;
  dju_principalAxes(&q, s, &S);
  double rounding = 1e-9 * (S.m[0] + S.m[4] + S.m[8]);
  for (int k = 0; k < 3; k++) {
    if (!(s[k] >= -rounding)) return false;
    s[k] = fmax(s[k], 0);
  }
  out->mass = m->volume;
  dju_store3(out->ipos, c);
  dju_storeQuat(out->iquat, q);
  for (int k = 0; k < 3; k++) out->inertia[k] = s[(k + 1) % 3] + s[(k + 2) % 3];
  return dj_inertiaOk(out->inertia);
}

// Sigma = tr(I)/2 - I.
djMoments dj_bodyMoments(const djModel* m, int b) {
  const double *c = m->body_ipos + 3 * b, *I = m->body_inertia + 3 * b, mass = m->body_mass[b];
  djMat3 R = dju_quatToMat(dju_loadQuat(m->body_iquat + 4 * b));
  djMoments sum = {mass, dju_scale3(mass, dju_load3(c)), {{0}}};
  for (int i = 0; i < 9; i++) {
    double* to = &sum.second.m[i];
    *to = mass * c[i / 3] * c[i % 3];
    for (int k = 0; k < 3; k++) {
      double s = (I[(k + 1) % 3] + I[(k + 2) % 3] - I[k]) / 2;
      *to += s * R.m[3 * (i / 3) + k] * R.m[3 * (i % 3) + k];
    }
  }
  return sum;
}

static void storeInertia(djModel* m, const Inertia* from, int b) {
  m->body_mass[b] = from->mass;
  memcpy(m->body_ipos + 3 * b, from->ipos, sizeof from->ipos);
  memcpy(m->body_iquat + 4 * b, from->iquat, sizeof from->iquat);
  memcpy(m->body_inertia + 3 * b, from->inertia, sizeof from->inertia);
}

static void loadInertia(Inertia* to, const djModel* m, int b) {
  to->mass = m->body_mass[b];
  memcpy(to->ipos, m->body_ipos + 3 * b, sizeof to->ipos);
  memcpy(to->iquat, m->body_iquat + 4 * b, sizeof to->iquat);
  memcpy(to->inertia, m->body_inertia + 3 * b, sizeof to->inertia);
}

static bool sameIds(const int* a, const int* b, int n) {
  return n == 0 || memcmp(a, b, sizeof *a * (size_t)n) == 0;
}

// The models have the same bodies, geoms and meshes, but for parameters.
static bool isCopy(const djModel* x, const djModel* y) {
  return x->nbody == y->nbody && x->ngeom == y->ngeom && x->nmesh == y->nmesh &&
         x->nmeshvert == y->nmeshvert && sameIds(x->geom_type, y->geom_type, x->ngeom) &&
         sameIds(x->geom_body, y->geom_body, x->ngeom) &&
         sameIds(x->geom_mesh, y->geom_mesh, x->ngeom) &&
         sameIds(x->mesh_vertnum, y->mesh_vertnum, x->nmesh) &&
         sameIds(x->mesh_vertadr, y->mesh_vertadr, x->nmesh);
}

static const djChoice rule_names[] = {{"compiled", DJ_INERTIA_COMPILED},
                                      {"exact", DJ_INERTIA_EXACT},
                                      {"lumped", DJ_INERTIA_LUMPED},
                                      {"union", DJ_INERTIA_UNION},
                                      {NULL, 0}};

const char* dj_inertiaRuleName(djInertiaRule rule) { return dj_nameOf(rule_names, (int)rule); }

int dj_inertiaRuleByName(const char* name) {
  for (const djChoice* c = rule_names; name && c->name; c++) {
    if (strcmp(c->name, name) == 0) return c->value;
  }
  return -1;
}

djStatus dj_followGeoms(djModel* design, const djModel* compiled, djError* err) {
  return dj_followGeomsBy(design, compiled, DJ_INERTIA_EXACT, err);
}

djStatus dj_followGeomsBy(djModel* design, const djModel* compiled, djInertiaRule rule,
                          djError* err) {
  if (!design || !compiled) return dj_fail(err, DJ_INVALID, "design or compiled model: NULL");
  if (!isCopy(design, compiled)) {
    return dj_fail(err, DJ_INVALID, "the design is no copy of the compiled model");
  }
  if (rule < DJ_INERTIA_EXACT || rule > DJ_INERTIA_UNION) {
    return dj_fail(err, DJ_INVALID, "there is no such rule of inertia");
  }
  djSurfaces surfaces;
  Inertia* made = calloc((size_t)design->nbody + 1, sizeof *made);
  djStatus status = dj_makeSurfaces(&surfaces, design, compiled);
  struct djCollision* c = design->collision;
  if (rule == DJ_INERTIA_UNION && !c->excess) {
    c->excess = calloc(2 * (size_t)design->nbody + 2, sizeof *c->excess);
  }
  if (rule == DJ_INERTIA_LUMPED && !c->lumps) {
    c->lumps = calloc(2 * (size_t)design->nbody + 2, sizeof *c->lumps);
  }
  djMassRule r = {design, compiled, &surfaces, rule, c->excess, true};
  if (!made || status < 0 || (rule == DJ_INERTIA_LUMPED && !c->lumps)) {
    dj_freeSurfaces(&surfaces);
    free(made);
    return dj_failMemory(err);
  }
  djFollower f = {0};
  for (int b = 1; b < design->nbody && status == DJ_OK; b++) {
    geomsOf(&f.first, &f.last, design, b);
    status = dj_findFollower(&f, &r, b);
    if (status < 0) dj_failMemory(err);
    made[b].follows = f.rho > 0;
    loadInertia(&made[b], compiled, b);
    made[b].lumps[0] = f.share;
    made[b].lumps[1] = f.rho;
    if (f.rho == 0 || !f.moved || status < 0) continue;
    if (readMoments(&made[b], &f.mass, compiled->body_iquat + 4 * b)) continue;
    const char* name = design->names + design->name_body[b];
    status = dj_fail(err, DJ_INVALID, "%s: its geoms leave no possible mass and inertia",
                     dj_elementText("body", name, b).text);
  }
  for (int b = 1; b < design->nbody && status == DJ_OK; b++) {
    if (made[b].follows) storeInertia(design, &made[b], b);
    if (rule == DJ_INERTIA_LUMPED) memcpy(c->lumps + 2 * b, made[b].lumps, sizeof made[b].lumps);
  }
  if (status == DJ_OK) {
    dj_sumMasses(design);
    dj_keepSurfaces(design, &surfaces);
    c->inertia_rule = rule;
  }
  dj_freeSurfaces(&surfaces);
  free(made);
  return status;
}

// ------------------------------------------ derivative -----------------------------------------

// By the inertia tensor about the centre of mass, in body axes, symmetric. In principal axes
// iquat exp(d) has dI_ij = (I_i - I_j) d_k for (i, j, k) in cyclic order.
static djMat3 tensorGrad(const double* tensor, const double* inertia, const double* iquat,
                         const djModel* m, int b) {
  const double* I = m->body_inertia + 3 * b;
  djMat3 A = {{0}}, R = dju_quatToMat(dju_loadQuat(m->body_iquat + 4 * b)), RA;
  for (int k = 0; k < 3; k++) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    double off = tensor[5 - k], difference = I[i] - I[j];
    if (fabs(difference) > SAME_MOMENT * (I[i] + I[j])) off += iquat[k] / difference;
    A.m[4 * k] = tensor[k] + inertia[k];
    A.m[3 * i + j] = A.m[3 * j + i] = 0.5 * off;
  }
  RA = dju_mulMM(R, A);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      A.m[3 * i + j] = dju_dot3(dju_load3(RA.m + 3 * i), dju_load3(R.m + 3 * j));
    }
  }
  return A;
}

// I = tr(Sigma) - Sigma, so that B = tr(A) - A is the derivative by Sigma = M2 - M1 M1^T/m, and
// with c = M1/m, g those by mass and ipos,
//   by M2: B,  by M1: g_c/m - 2 B c,  by m: g_m - g_c . c/m + c . B c.
static djQuadratic momentGrad(double* param, const double* tensor, const djModel* m, int b) {
  djVec3 by_c = dju_load3(dj_paramEntry(param, m, DJ_FIELD_BODY_IPOS, b));
  djVec3 c = dju_load3(m->body_ipos + 3 * b);
  double mass = m->body_mass[b];
  djMat3 A = tensorGrad(tensor + 6 * b, dj_paramEntry(param, m, DJ_FIELD_BODY_INERTIA, b),
                        dj_paramEntry(param, m, DJ_FIELD_BODY_IQUAT, b), m, b);
  djQuadratic f = {.b = dju_scale3(1 / mass, by_c)};
  double trace = A.m[0] + A.m[4] + A.m[8];
  for (int i = 0; i < 9; i++) f.B.m[i] = (i % 4 == 0 ? trace : 0) - A.m[i];
  djVec3 Bc = dju_mulMV(f.B, c);
  f.a = *dj_paramEntry(param, m, DJ_FIELD_BODY_MASS, b) - dju_dot3(f.b, c) + dju_dot3(c, Bc);
  f.b = dju_madd3(f.b, -2, Bc);
  return f;
}

static void clearBody(double* param, double* tensor, const djModel* m, int b) {
  static const djField fields[] = {DJ_FIELD_BODY_MASS, DJ_FIELD_BODY_IPOS, DJ_FIELD_BODY_IQUAT,
                                   DJ_FIELD_BODY_INERTIA};
  for (int f = 0; f < 4; f++) {
    memset(dj_paramEntry(param, m, fields[f], b), 0, (f ? 3 : 1) * sizeof(double));
  }
  memset(tensor + 6 * b, 0, 6 * sizeof(double));
}

djStatus dj_followInertiaParams(double* param, double* tensor, djQuadratic* moment,
                                const djModel* design, const djModel* compiled) {
  djSurfaces surfaces;
  if (!isCopy(design, compiled)) return DJ_INVALID;
  for (int b = 0; b < design->nbody && moment; b++) moment[b] = (djQuadratic){0};
  djStatus status = dj_makeSurfaces(&surfaces, design, compiled);
  int rule = design->collision->inertia_rule;
  djMassRule r = {design, compiled, &surfaces, rule ? (djInertiaRule)rule : DJ_INERTIA_EXACT,
                  design->collision->excess, false};
  djFollower f = {0};
  for (int b = 1; b < design->nbody && status == DJ_OK; b++) {
    geomsOf(&f.first, &f.last, design, b);
    status = dj_findFollower(&f, &r, b);
    if (f.rho == 0 || status < 0) continue;
    djQuadratic by = momentGrad(param, tensor, design, b);
    if (moment) moment[b] = by;
    clearBody(param, tensor, design, b);
    status = dj_followerParams(param, &r, &f, &by);
  }
  dj_freeSurfaces(&surfaces);
  return status;
}
