#include "inertia/geom_inertia.h"

#include "base/hash.h"
#include "base/status.h"
#include "contact/pairs/collision.h"
#include "inertia/geom_moments.h"
#include "math/eigen3.h"
#include "model/check.h"
#include "model/make.h"
#include "model/param.h"

#include <stdlib.h>
#include <string.h>

// Moments that differ by less, relatively, count as one.
#define SAME_MOMENT 1e-9

// ------------------------------------------ surfaces -------------------------------------------

// Facets of the compiled hulls, one surface a mesh; empty for meshes without a volume or that no
// geom uses. Those that belong to nobody else are in `made`.
typedef struct Surfaces {
  djClosedSurface* of;           // (nmesh)
  djFacets* made;          // (nmesh)
  int n;
} Surfaces;

static void freeFacets(djFacets* made, int n) {
  for (int k = 0; made && k < n; k++) free(made[k].face);
  free(made);
}

static void freeSurfaces(Surfaces* s) {
  freeFacets(s->made, s->n);
  free(s->of);
}

static djStatus copyFaces(djFacets* made, const djHull* h) {
  size_t n = 3 * (size_t)h->nface;
  int* face = malloc(n * sizeof *face);
  if (!face) return DJ_NO_MEMORY;
  for (size_t k = 0; k < n; k++) face[k] = h->id[h->face[k]];
  made->face = face;
  made->nface = h->nface;
  return DJ_OK;
}

// Facets by qhull, or as the design remembers them.
static djStatus findFacets(Surfaces* s, const djModel* compiled, int mesh, const djFacets* known) {
  const double* vert = compiled->mesh_vert + 3 * (size_t)compiled->mesh_vertadr[mesh];
  int n = compiled->mesh_vertnum[mesh];
  uint64_t key = 1;
  dj_mixNumbers(&key, vert, 3 * (size_t)n);
  if (known && known[mesh].key == key) {
    s->of[mesh] = (djClosedSurface){known[mesh].nface, known[mesh].face};
    return DJ_OK;
  }
  djHull hull;
  djFacets* made = &s->made[mesh];
  djStatus status = dj_makeHull(&hull, n, vert, 0, NULL, NULL);
  if (status == DJ_OK) status = copyFaces(made, &hull);
  else if (status == DJ_INVALID) status = DJ_OK;   // flat: no volume
  dj_freeHull(&hull);
  made->key = key;
  return status;
}

static djStatus makeSurface(Surfaces* s, const djModel* m, int mesh, const djFacets* known) {
  djStatus status = DJ_OK;
  if (m->mesh_facenum[mesh] > 0) {
    s->of[mesh] = (djClosedSurface){m->mesh_facenum[mesh],
                              m->mesh_face + 3 * (size_t)m->mesh_faceadr[mesh]};
    return DJ_OK;
  }
  if (m->collision->hull[mesh].buffer) {
    status = copyFaces(&s->made[mesh], &m->collision->hull[mesh]);
  } else {
    status = findFacets(s, m, mesh, known);
  }
  if (s->made[mesh].face) s->of[mesh] = (djClosedSurface){s->made[mesh].nface, s->made[mesh].face};
  return status;
}

static djStatus makeSurfaces(Surfaces* s, const djModel* design, const djModel* m) {
  size_t n = (size_t)m->nmesh + 1;
  *s = (Surfaces){calloc(n, sizeof *s->of), calloc(n, sizeof *s->made), m->nmesh};
  djStatus status = s->of && s->made ? DJ_OK : DJ_NO_MEMORY;
  for (int g = 0; g < m->ngeom && status == DJ_OK; g++) {
    int mesh = m->geom_type[g] == DJ_MESH ? m->geom_mesh[g] : -1;
    if (mesh < 0 || s->of[mesh].nface > 0 || s->made[mesh].key) continue;
    status = makeSurface(s, m, mesh, design->collision->facets);
  }
  if (status < 0) freeSurfaces(s);
  return status;
}

// Leaves what qhull had to find with the design.
static void keepFacets(djModel* design, Surfaces* s) {
  struct djCollision* c = design->collision;
  bool any = false;
  for (int k = 0; k < s->n; k++) any = any || s->made[k].key;
  if (any && !c->facets) c->facets = calloc((size_t)s->n, sizeof *c->facets);
  for (int k = 0; k < s->n && any && c->facets; k++) {
    if (!s->made[k].key) continue;
    free(c->facets[k].face);
    c->facets[k] = s->made[k];
    s->made[k] = (djFacets){0};
  }
}

static const djClosedSurface* surfaceOf(const Surfaces* s, const djModel* m, int geom) {
  return m->geom_type[geom] == DJ_MESH ? &s->of[m->geom_mesh[geom]] : NULL;
}

// ------------------------------------------ moments --------------------------------------------

// Moments of a body's mass from those of its volume.
typedef struct Follower {
  djMoments mass;          // now, about the body frame; `volume` is the mass
  double rho;              // 0: does not follow
  bool moved;              // the geoms are not the compiled ones
} Follower;

// The range of a body's geoms, which are listed in the order of bodies.
static void geomsOf(int* first, int* last, const djModel* m, int body) {
  int g = *last;
  while (g < m->ngeom && m->geom_body[g] < body) g++;
  *first = g;
  while (g < m->ngeom && m->geom_body[g] == body) g++;
  *last = g;
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

static Follower follow(const djModel* design, const djModel* compiled, const Surfaces* s, int b,
                       int first, int last) {
  djMoments now = {0}, before = {0};
  Follower f = {.mass = bodyMoments(compiled, b)};
  for (int g = first; g < last; g++) {
    if (!dj_isSolid(compiled->geom_type[g])) continue;
    dj_addMoments(&before, compiled, g, surfaceOf(s, compiled, g));
    dj_addMoments(&now, design, g, surfaceOf(s, compiled, g));
    f.moved = f.moved || isMoved(design, compiled, g);
  }
  if (!(before.volume > 0 && compiled->body_mass[b] > 0)) return f;
  f.rho = compiled->body_mass[b] / before.volume;
  if (!f.moved) return f;
  addScaled(&f.mass, f.rho, &now);
  addScaled(&f.mass, -f.rho, &before);
  return f;
}

// ------------------------------------------ bodies ---------------------------------------------

typedef struct Inertia {
  bool follows;
  double mass, ipos[3], iquat[4], inertia[3];
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

djStatus dj_followGeoms(djModel* design, const djModel* compiled, djError* err) {
  if (!design || !compiled) return dj_fail(err, DJ_INVALID, "design or compiled model: NULL");
  if (!isCopy(design, compiled)) {
    return dj_fail(err, DJ_INVALID, "the design is no copy of the compiled model");
  }
  Surfaces surfaces;
  Inertia* made = calloc((size_t)design->nbody + 1, sizeof *made);
  djStatus status = made ? makeSurfaces(&surfaces, design, compiled) : DJ_NO_MEMORY;
  if (status < 0) {
    free(made);
    return dj_failMemory(err);
  }
  int first, last = 0;
  for (int b = 1; b < design->nbody && status == DJ_OK; b++) {
    geomsOf(&first, &last, design, b);
    Follower f = follow(design, compiled, &surfaces, b, first, last);
    made[b].follows = f.rho > 0;
    loadInertia(&made[b], compiled, b);
    if (f.rho == 0 || !f.moved) continue;
    if (readMoments(&made[b], &f.mass, compiled->body_iquat + 4 * b)) continue;
    const char* name = design->names + design->name_body[b];
    status = dj_fail(err, DJ_INVALID, "%s: its geoms leave no possible mass and inertia",
                     dj_elementText("body", name, b).text);
  }
  for (int b = 1; b < design->nbody && status == DJ_OK; b++) {
    if (made[b].follows) storeInertia(design, &made[b], b);
  }
  if (status == DJ_OK) {
    dj_sumMasses(design);
    keepFacets(design, &surfaces);
  }
  freeSurfaces(&surfaces);
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

djStatus dj_followInertiaParams(double* param, double* tensor, const djModel* design,
                                const djModel* compiled) {
  Surfaces surfaces;
  if (!isCopy(design, compiled)) return DJ_INVALID;
  djStatus status = makeSurfaces(&surfaces, design, compiled);
  if (status < 0) return status;
  int first, last = 0;
  for (int b = 1; b < design->nbody; b++) {
    geomsOf(&first, &last, design, b);
    Follower f = follow(design, compiled, &surfaces, b, first, last);
    if (f.rho == 0) continue;
    djQuadratic by = momentGrad(param, tensor, design, b);
    clearBody(param, tensor, design, b);
    by.a *= f.rho;
    by.b = dju_scale3(f.rho, by.b);
    for (int i = 0; i < 9; i++) by.B.m[i] *= f.rho;
    for (int g = first; g < last; g++) {
      if (!dj_isSolid(design->geom_type[g])) continue;
      dj_momentParams(param, design, g, surfaceOf(&surfaces, design, g), &by);
    }
  }
  freeSurfaces(&surfaces);
  return DJ_OK;
}
