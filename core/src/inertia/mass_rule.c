#include "inertia/mass_rule.h"

#include "base/hash.h"
#include "contact/contact.h"
#include "inertia/body_hulls.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(djMoments) == sizeof ((djExcess*)0)->moments, "moments are 13 numbers");

// Moments that differ by less, as parts of their size, are those of the geoms at one density.
#define SAME_MASS 1e-3

static const djClosedSurface* surfaceOf(const djClosedSurface* list, const djModel* m, int geom) {
  return m->geom_type[geom] == DJ_MESH ? &list[m->geom_mesh[geom]] : NULL;
}

static bool sameNumbers(const double* a, const double* b, size_t n) {
  return n == 0 || memcmp(a, b, n * sizeof *a) == 0;
}

static bool isMoved(const djModel* x, const djModel* y, int g) {
  size_t k = (size_t)g, vert = 0, n = 0;
  if (x->geom_type[g] == DJ_MESH) {
    vert = 3 * (size_t)x->mesh_vertadr[x->geom_mesh[g]];
    n = 3 * (size_t)x->mesh_vertnum[x->geom_mesh[g]];
  }
  return !sameNumbers(x->geom_pos + 3 * k, y->geom_pos + 3 * k, 3) ||
         !sameNumbers(x->geom_quat + 4 * k, y->geom_quat + 4 * k, 4) ||
         !sameNumbers(x->geom_size + 3 * k, y->geom_size + 3 * k, 3) ||
         !sameNumbers(x->mesh_vert + vert, y->mesh_vert + vert, n);
}

// ------------------------------------------ moments --------------------------------------------

static djMat3 symmetric(const djMat3* R, const double d[3]) {
  djMat3 A = *R, T;
  for (int i = 0; i < 9; i++) A.m[i] *= d[i % 3];
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) T.m[3 * i + j] = R->m[3 * j + i];
  }
  return dju_mulMM(A, T);
}

// Mass, first and second moments about the body frame: sum_k s_k a_k a_k^T + m c c^T in principal
// axes a, s = tr(I)/2 - I.
static djMoments bodyMoments(const djModel* m, int b) {
  const double *I = m->body_inertia + 3 * b, half = 0.5 * (I[0] + I[1] + I[2]);
  const double s[3] = {half - I[0], half - I[1], half - I[2]};
  djMat3 R = dju_quatToMat(dju_loadQuat(m->body_iquat + 4 * b));
  djVec3 c = dju_load3(m->body_ipos + 3 * b);
  const double x[3] = {c.x, c.y, c.z};
  djMoments out = {m->body_mass[b], dju_scale3(m->body_mass[b], c), symmetric(&R, s)};
  for (int i = 0; i < 9; i++) out.second.m[i] += out.volume * x[i / 3] * x[i % 3];
  return out;
}

static void addScaled(djMoments* out, double s, const djMoments* m) {
  out->volume += s * m->volume;
  out->first = dju_madd3(out->first, s, m->first);
  for (int i = 0; i < 9; i++) out->second.m[i] += s * m->second.m[i];
}

// Of all geoms, and of those of them that are meshes.
static djMoments volumes(double* meshes, const djFollower* f, const djModel* m,
                         const djClosedSurface* surface) {
  djMoments sum = {0};
  *meshes = 0;
  for (int g = f->first; g < f->last; g++) {
    if (!dj_isSolid(m->geom_type[g])) continue;
    double before = sum.volume;
    dj_addMoments(&sum, m, g, surfaceOf(surface, m, g));
    if (m->geom_type[g] == DJ_MESH) *meshes += sum.volume - before;
  }
  return sum;
}

// ------------------------------------------ lumped ---------------------------------------------

// Which vertices a surface has (the caller's to free), and how many of them.
static bool* corners(int* n, int nvert, const djClosedSurface* s) {
  bool* is = calloc((size_t)nvert + 1, sizeof *is);
  *n = 0;
  for (int k = 0; is && k < 3 * s->nface; k++) {
    *n += !is[s->face[k]];
    is[s->face[k]] = true;
  }
  return is;
}

// What a vertex has of `mass`, which all corners of the meshes' hulls share.
static djStatus findLump(djFollower* f, const djMassRule* r, double mass) {
  const djModel* m = r->design;
  int all = 0, n;
  for (int g = f->first; g < f->last; g++) {
    if (m->geom_type[g] != DJ_MESH) continue;
    bool* is = corners(&n, dj_polytopeVertices(m, g), &r->surfaces->now[m->geom_mesh[g]]);
    if (!is) return DJ_NO_MEMORY;
    free(is);
    all += n;
  }
  f->lump = all > 0 ? mass / all : 0;
  return DJ_OK;
}

// Adds a mesh's lumps; with `by`, instead, their derivative to param.
static djStatus addLumps(djMoments* mass, double* param, const djFollower* f, const djMassRule* r,
                         int geom, const djQuadratic* by) {
  const djModel* m = r->design;
  int n, nvert = dj_polytopeVertices(m, geom);
  bool* is = corners(&n, nvert, &r->surfaces->now[m->geom_mesh[geom]]);
  double* x = calloc(3 * (size_t)nvert + 1, sizeof *x);
  djStatus status = is && x ? DJ_OK : DJ_NO_MEMORY;
  if (status == DJ_OK) dj_placePolytope(x, m, geom);
  for (int i = 0; i < nvert && status == DJ_OK; i++) {
    double* at = x + 3 * (size_t)i;
    djVec3 point = dju_load3(at), slope = {0, 0, 0};
    if (by && is[i]) {
      slope = dju_scale3(f->lump, dju_madd3(by->b, 2, dju_mulMV(by->B, point)));
    } else if (is[i]) {
      mass->volume += f->lump;
      mass->first = dju_madd3(mass->first, f->lump, point);
      for (int k = 0; k < 9; k++) mass->second.m[k] += f->lump * at[k / 3] * at[k % 3];
    }
    if (by) dju_store3(at, slope);
  }
  if (by && status == DJ_OK) dj_polytopeParams(param, m, geom, x);
  free(is);
  free(x);
  return status;
}

static djStatus lump(djFollower* f, const djMassRule* r) {
  const djModel* m = r->design;
  djStatus status = findLump(f, r, f->share);
  f->mass = (djMoments){0};
  f->moved = true;
  for (int g = f->first; g < f->last && status == DJ_OK; g++) {
    djMoments own = {0};
    if (!dj_isSolid(m->geom_type[g])) continue;
    if (m->geom_type[g] == DJ_MESH) {
      status = addLumps(&f->mass, NULL, f, r, g, NULL);
    } else {
      dj_addMoments(&own, m, g, NULL);
      addScaled(&f->mass, f->rho, &own);
    }
  }
  return status;
}

// ------------------------------------------ union ----------------------------------------------

// Of what the hulls of a body's geoms are made of.
static uint64_t hashGeoms(const djFollower* f, const djModel* m) {
  uint64_t key = 1;
  for (int g = f->first; g < f->last; g++) {
    dj_mixNumbers(&key, m->geom_pos + 3 * (size_t)g, 3);
    dj_mixNumbers(&key, m->geom_quat + 4 * (size_t)g, 4);
    if (m->geom_type[g] == DJ_MESH) {
      int mesh = m->geom_mesh[g];
      dj_mixNumbers(&key, m->mesh_vert + 3 * (size_t)m->mesh_vertadr[mesh],
                    3 * (size_t)m->mesh_vertnum[mesh]);
    } else {
      dj_mixNumbers(&key, m->geom_size + 3 * (size_t)g, 3);
    }
  }
  return key ? key : 1;
}

// slot: 2 body, and 1 of the design.
static djStatus findExcess(djMoments* excess, const djMassRule* r, const djFollower* f, int slot,
                           const djModel* m, const djClosedSurface* surface) {
  djExcess* known = r->excess ? &r->excess[slot] : NULL;
  uint64_t key = known ? hashGeoms(f, m) : 0;
  if (known && known->key == key) {
    memcpy(excess, known->moments, sizeof known->moments);
    return DJ_OK;
  }
  djBodyHulls h;
  djStatus status = dj_bodyHulls(&h, m, f->first, f->last, surface);
  if (status == DJ_OK) status = dj_excessMoments(excess, h.n, h.part);
  dj_freeBodyHulls(&h);
  if (status < 0 || !known || !r->keeps) return status;
  known->key = key;
  memcpy(known->moments, excess, sizeof known->moments);
  return DJ_OK;
}

// How far mass times these volumes' shape is from the compiled mass.
static double mismatch(const djMoments* mass, const djMoments* volume) {
  djMoments d = *mass;
  addScaled(&d, -mass->volume / volume->volume, volume);
  double size = mass->second.m[0] + mass->second.m[4] + mass->second.m[8], sum = 0;
  for (int k = 0; k < 9; k++) sum += d.second.m[k] * d.second.m[k];
  return sqrt(sum) / size + dju_norm3(d.first) / sqrt(mass->volume * size);
}

static djStatus unite(djFollower* f, const djMassRule* r, int body, const djMoments* now,
                      const djMoments* before) {
  djMoments own = {0}, was = {0}, base = *before;
  djStatus status = findExcess(&own, r, f, 2 * body + 1, r->design, r->surfaces->now);
  if (status == DJ_OK) {
    status = findExcess(&was, r, f, 2 * body, r->compiled, r->surfaces->before);
  }
  if (status < 0) return status;
  addScaled(&base, -1, &was);
  const bool is_union = r->compiled->collision->inertia_rule == DJ_INERTIA_UNION;
  const double apart = mismatch(&f->mass, before);
  if (!is_union && apart < SAME_MASS && apart <= mismatch(&f->mass, &base)) base = *before;
  f->rho = f->mass.volume / base.volume;
  f->moved = f->moved || own.volume != 0 || was.volume != 0;
  if (!f->moved) return DJ_OK;
  addScaled(&f->mass, f->rho, now);
  addScaled(&f->mass, -f->rho, &own);
  addScaled(&f->mass, -f->rho, &base);
  return DJ_OK;
}

static djStatus uniteParams(double* param, const djMassRule* r, const djFollower* f,
                            const djQuadratic* by) {
  const djModel* m = r->design;
  djBodyHulls h;
  size_t n = 0, at = 0;
  djStatus status = dj_bodyHulls(&h, m, f->first, f->last, r->surfaces->now);
  for (int k = 0; k < h.n; k++) n += 3 * (size_t)dj_polytopeVertices(m, h.geom[k]);
  double* buffer = calloc(n + 1, sizeof *buffer);
  double** list = calloc((size_t)h.n + 1, sizeof *list);
  if (!buffer || !list) status = DJ_NO_MEMORY;
  for (int k = 0; k < h.n && status == DJ_OK; k++) {
    list[k] = buffer + at;
    at += 3 * (size_t)dj_polytopeVertices(m, h.geom[k]);
  }
  if (status == DJ_OK) status = dj_excessParams(list, h.n, h.part, by);
  for (size_t i = 0; i < n && status == DJ_OK; i++) buffer[i] = -buffer[i];
  for (int k = 0; k < h.n && status == DJ_OK; k++) {
    dj_polytopeParams(param, m, h.geom[k], list[k]);
  }
  free(list);
  free(buffer);
  dj_freeBodyHulls(&h);
  return status;
}

// ------------------------------------------ rules ----------------------------------------------

djStatus dj_findFollower(djFollower* f, const djMassRule* r, int b) {
  double meshes, unused;
  f->rho = f->lump = f->share = 0;
  f->moved = false;
  f->mass = bodyMoments(r->compiled, b);
  djMoments before = volumes(&meshes, f, r->compiled, r->surfaces->before);
  if (!(before.volume > 0 && r->compiled->body_mass[b] > 0)) return DJ_OK;
  f->rho = r->compiled->body_mass[b] / before.volume;
  if (r->rule == DJ_INERTIA_LUMPED) {
    const struct djCollision* c = r->compiled->collision;
    const double* known = c->inertia_rule == DJ_INERTIA_LUMPED ? c->lumps : NULL;
    f->share = known ? known[2 * b] : f->rho * meshes;
    if (known) f->rho = known[2 * b + 1];
    if (f->share > 0) return lump(f, r);
  }
  for (int g = f->first; g < f->last && !f->moved; g++) {
    f->moved = dj_isSolid(r->design->geom_type[g]) && isMoved(r->design, r->compiled, g);
  }
  if (!f->moved && r->rule != DJ_INERTIA_UNION) return DJ_OK;
  djMoments now = volumes(&unused, f, r->design, r->surfaces->now);
  if (r->rule == DJ_INERTIA_UNION) return unite(f, r, b, &now, &before);
  addScaled(&f->mass, f->rho, &now);
  addScaled(&f->mass, -f->rho, &before);
  return DJ_OK;
}

djStatus dj_followerParams(double* param, const djMassRule* r, const djFollower* f,
                           const djQuadratic* by) {
  const djModel* m = r->design;
  djQuadratic scaled = {f->rho * by->a, dju_scale3(f->rho, by->b), by->B};
  for (int i = 0; i < 9; i++) scaled.B.m[i] *= f->rho;
  djStatus status = DJ_OK;
  for (int g = f->first; g < f->last && status == DJ_OK; g++) {
    if (!dj_isSolid(m->geom_type[g])) continue;
    if (f->lump > 0 && m->geom_type[g] == DJ_MESH) {
      status = addLumps(NULL, param, f, r, g, by);
    } else {
      dj_momentParams(param, m, g, surfaceOf(r->surfaces->now, m, g), &scaled);
    }
  }
  if (status < 0 || r->rule != DJ_INERTIA_UNION) return status;
  return uniteParams(param, r, f, &scaled);
}
