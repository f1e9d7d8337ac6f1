// Flexes: vertices, elements, and the material that a compiled model no longer names.
//
// With P, Q the stiffness that mu = 1 and lambda = 1 give (docs/flex.md), flex_stiffness is mu P +
// lambda Q, and flex_bending the rigidity D times that of D = 1: least squares give mu, lambda and
// D, and these young, poisson and, of cloth that stretches and bends, thickness. Where but one of
// both acts, thickness counts as 2 radius. What is left of the squares says whether it is a
// material's.

#include "import.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDING 1e-9 // of what is left

// A model of the flex alone, on the world (body: nvert zeros), with that material.
static djStatus alone(djModel** model, djFlexDef f, const int* body, double young, double poisson,
                      djError* err) {
  djBodyDef world = dj_defaultBodyDef();
  djModelDef def = dj_defaultModelDef();
  f.name = NULL;
  f.pos = NULL;
  f.body = body;
  f.young = young;
  f.poisson = poisson;
  f.thickness = 1;
  def.nbody = 1;
  def.body = &world;
  def.nflex = 1;
  def.flex = &f;
  return dj_makeModel(model, &def, err);
}

// Sums over what is fitted: of x^2, x y, y^2, and of s with them and itself.
typedef struct Fit {
  double xx, xy, yy, sx, sy, ss;
} Fit;

static void addFit(Fit* fit, double s, double x, double y) {
  fit->xx += x * x;
  fit->xy += x * y;
  fit->yy += y * y;
  fit->sx += s * x;
  fit->sy += s * y;
  fit->ss += s * s;
}

// s = a x + b y. False: it is not.
static bool solveFit(double* a, double* b, const Fit* f) {
  double det = f->xx * f->yy - f->xy * f->xy;
  bool both = det > 1e-12 * f->xx * f->yy;
  *a = both ? (f->sx * f->yy - f->sy * f->xy) / det : f->xx > 0 ? f->sx / f->xx : 0;
  *b = both ? (f->sy * f->xx - f->sx * f->xy) / det : 0;
  double left = f->ss - 2 * (*a * f->sx + *b * f->sy) + *a * *a * f->xx + 2 * *a * *b * f->xy +
                *b * *b * f->yy;
  return left <= ROUNDING * f->ss;
}

// Numbers of an element's stiffness and of an edge's bending, and of those that are used.
static int stride(const mjModel* m, int i) { return m->flex_dim[i] == 3 ? 24 : 21; }
static int used(const mjModel* m, int i) { return m->flex_dim[i] == 3 ? 21 : 6; }

static const mjtNum* stiffnessOf(const mjModel* m, int i) {
  bool has = m->flex_stiffnessadr[i] >= 0 && m->flex_dim[i] > 1;
  return has ? m->flex_stiffness + m->flex_stiffnessadr[i] : NULL;
}

static const mjtNum* bendingOf(const mjModel* m, int i) {
  bool has = m->flex_bendingadr[i] >= 0 && m->flex_dim[i] == 2;
  return has ? m->flex_bending + m->flex_bendingadr[i] : NULL;
}

static bool isZero(const mjtNum* x, int n) { return !x || mju_isZero(x, n); }

// mu, lambda (of cloth times thickness) and D. unit, other: with mu = 1 and lambda = 0, and with
// both.
static bool fitMaterial(double out[3], const mjModel* m, int i, const djModel* unit,
                        const djModel* other, double lambda) {
  Fit stretch = {0}, bend = {0};
  const mjtNum *S = stiffnessOf(m, i), *B = bendingOf(m, i);
  double none;
  for (int e = 0; e < m->flex_elemnum[i] && S; e++) {
    for (int k = 0; k < stride(m, i); k++) {
      bool own = k < used(m, i);
      double x = own ? unit->flexelem_stiffness[21 * e + k] : 0;
      double y = own ? (other->flexelem_stiffness[21 * e + k] - x) / lambda : 0;
      addFit(&stretch, S[stride(m, i) * e + k], x, y);
    }
  }
  for (int k = 0; k < 17 * m->flex_edgenum[i] && B; k++) {
    addFit(&bend, B[k], unit->flexedge_bending[k] * 12 / unit->flex_young[0], 0);
  }
  bool good = solveFit(&out[0], &out[1], &stretch);
  return solveFit(&out[2], &none, &bend) && good;
}

static void setMaterial(djFlexDef* f, const double fit[3]) {
  double mu = fit[0], lambda = fit[1], D = fit[2], thin = 2 * f->radius;
  f->young = f->poisson = 0;
  f->thickness = thin;
  if (f->dim == 3) {
    f->poisson = fmax(0, 0.5 * lambda / (mu + lambda));
    f->young = 2 * mu * (1 + f->poisson);
    return;
  }
  if (mu > 0) { // lambda/mu = 2 poisson/(1 - poisson)
    f->poisson = fmax(0, lambda / (2 * mu + lambda));
    double stiffness = 2 * mu * (1 + f->poisson);
    if (D > 0) f->thickness = sqrt(12 * D * (1 - f->poisson * f->poisson) / stiffness);
    if (f->thickness > 0) f->young = stiffness / f->thickness;
  } else if (D > 0 && thin > 0) {
    f->young = 12 * D / (thin * thin * thin);
  }
}

// Places of vertices with all joints at qpos0.
static void placeVertices(double* out, const mjModel* m, int i) {
  for (int v = 0; v < m->flex_vertnum[i]; v++) {
    mjtNum *x = out + 3 * v, turned[3];
    int adr = m->flex_vertadr[i] + v;
    mju_copy3(x, m->flex_vert + 3 * adr);
    for (int b = m->flex_vertbodyid[adr]; b > 0; b = m->body_parentid[b]) {
      mju_rotVecQuat(turned, x, m->body_quat + 4 * b);
      mju_add3(x, turned, m->body_pos + 3 * b);
    }
  }
}

const char* djm_flexProblem(const mjModel* m, int i) {
  int dim = m->flex_dim[i];
  if (m->flex_interp[i]) return "its vertices are interpolated between nodes (dof)";
  if (m->flex_plasticmode[i]) return "it is plastic (yield)";
  if (dim == 1 && m->flex_bendingadr[i] >= 0)
    return "it bends and twists as a rod (young of dim 1)";
  if (m->flex_passive[i]) return "its contact is passive";
  for (int v = m->flex_vertadr[i]; v < m->flex_vertadr[i] + m->flex_vertnum[i]; v++) {
    if (m->body_mocapid[m->body_rootid[m->flex_vertbodyid[v]]] >= 0) {
      return "vertices are on a mocap body";
    }
  }
  return NULL;
}

// Reads what there is of a flex; *good: its material is one.
static djStatus importFlex(djFlexDef* f, bool* good, djmImport* imp, int i) {
  const mjModel* m = imp->m;
  int nvert = m->flex_vertnum[i];
  double* vert = djm_alloc(imp, 3 * (size_t)nvert, sizeof *vert);
  int* body = djm_alloc(imp, (size_t)nvert, sizeof *body);
  if (!vert || !body) return DJ_NO_MEMORY;
  placeVertices(vert, m, i);
  const mjtNum *S = stiffnessOf(m, i), *B = bendingOf(m, i);
  bool stretch = !isZero(S, stride(m, i) * m->flex_elemnum[i]);
  bool bend = !isZero(B, 17 * m->flex_edgenum[i]);
  *f = dj_defaultFlexDef();
  f->name = djm_name(m, m->name_flexadr[i]);
  f->dim = m->flex_dim[i];
  f->nvert = nvert;
  f->body = m->flex_vertbodyid + m->flex_vertadr[i];
  f->pos = m->flex_vert + 3 * m->flex_vertadr[i];
  f->vert = vert;
  f->nelem = m->flex_elemnum[i];
  f->elem = m->flex_elem + m->flex_elemdataadr[i];
  f->radius = m->flex_radius[i];
  f->damping = m->flex_damping[i];
  f->edgestiffness = f->dim == 1 ? m->flex_edgestiffness[i] : 0;
  f->edgedamping = m->flex_edgedamping[i];
  if (f->dim == 2) f->elastic2d = (djElastic2d)((stretch ? 2 : 0) + (bend ? 1 : 0));
  *good = f->dim == 1 || m->flex_edgestiffness[i] == 0;
  if (f->dim == 1 || !(stretch || bend)) return DJ_OK;
  djModel *unit = NULL, *other = NULL;
  djStatus status = alone(&unit, *f, body, 2, 0, imp->err);
  if (status == DJ_OK) status = alone(&other, *f, body, 2.5, 0.25, imp->err);
  double fit[3];
  if (status == DJ_OK) {
    *good = fitMaterial(fit, m, i, unit, other, f->dim == 3 ? 1 : 2.0 / 3) && *good;
    setMaterial(f, fit);
    *good = *good && f->young >= 0 && f->poisson < 0.5;
    if (!*good) f->young = f->poisson = 0;
  }
  dj_deleteModel(unit);
  dj_deleteModel(other);
  return status;
}

bool djm_flexIsMaterial(const djmImport* imp, int i) {
  djFlexDef f;
  djError unused;
  bool good = false;
  djmImport own = {.m = imp->m, .err = &unused};
  djStatus status = importFlex(&f, &good, &own, i);
  djm_freeImport(&own);
  return status == DJ_OK && good;
}

static bool same(const double* a, const mjtNum* b, int n) {
  double size = 0;
  for (int k = 0; k < n; k++) size = fmax(size, fabs(b[k]));
  for (int k = 0; k < n; k++) {
    if (!(fabs(a[k] - b[k]) <= 10 * ROUNDING * size)) return false;
  }
  return true;
}

bool djm_sameFlexes(const mjModel* m, const djModel* x) {
  bool good = true;
  for (int i = 0, f = 0; i < m->nflex; i++) {
    if (djm_flexProblem(m, i)) continue;
    if (f >= x->nflex) return false;
    int edge = x->flex_edgeadr[f], elem = x->flex_elemadr[f];
    bool told = x->flex_young[f] > 0; // else there is none, or of no material
    const mjtNum *S = told ? stiffnessOf(m, i) : NULL, *B = told ? bendingOf(m, i) : NULL;
    good = good && same(x->flexedge_length0 + edge, m->flexedge_length0 + m->flex_edgeadr[i],
                        m->flex_edgenum[i]);
    for (int e = 0; S && good && e < m->flex_elemnum[i]; e++) {
      good = same(x->flexelem_stiffness + 21 * (elem + e), S + stride(m, i) * e, used(m, i));
    }
    if (B) good = good && same(x->flexedge_bending + 17 * edge, B, 17 * m->flex_edgenum[i]);
    good = good && same(x->flex_damping + f, m->flex_damping + i, 1);
    if (x->flex_dim[f] == 1) {
      good = good && same(x->flex_edgestiffness + f, m->flex_edgestiffness + i, 1);
    }
    f++;
  }
  return good;
}

// ---- contact -----------------------------------------------------------------------------------

int djm_ownGeoms(const djModel* m) {
  int n = m->ngeom;
  while (n > 0 && m->geom_flex[n - 1] >= 0) n--;
  return n;
}

bool djm_vertexCollides(const mjModel* m, int i, int v) {
  bool bits = m->flex_contype[i] || m->flex_conaffinity[i];
  return bits && m->flex_radius[i] > 0 && m->body_geomnum[m->flex_vertbodyid[v]] == 0;
}

double djm_flexHole(const djmImport* imp, int i) {
  int flex = 0;
  for (int k = 0; k < i; k++) flex += djm_flexProblem(imp->m, k) == NULL;
  return dj_flexHole(imp->model, flex);
}

// A sphere about vertex v of MuJoCo's flex i, which is ours of that number.
static void addSphere(djGeomDef* g, const mjModel* m, int i, int flex, int v) {
  bool override = m->opt.enableflags & mjENBL_OVERRIDE;
  const mjtNum* all = m->opt.o_friction;
  *g = dj_defaultGeomDef();
  g->body = m->flex_vertbodyid[v];
  g->type = DJ_SPHERE;
  g->size[0] = m->flex_radius[i];
  mju_copy3(g->pos, m->flex_vert + 3 * v);
  g->flex = flex;
  g->contype = m->flex_contype[i];
  g->conaffinity = m->flex_conaffinity[i];
  g->condim = m->flex_condim[i];
  g->priority = m->flex_priority[i];
  mju_copy3(g->friction, m->flex_friction + 3 * i);
  g->solref_restitution =
      djm_solrefRestitution(override ? m->opt.o_solref : m->flex_solref + mjNREF * i);
  g->margin = override ? 0.5 * m->opt.o_margin : m->flex_margin[i];
  if (!override) return;
  g->friction[0] = 0.5 * (all[0] + all[1]);
  g->friction[1] = all[2];
  g->friction[2] = all[3];
}

static int compareBodies(const void* a, const void* b) {
  const djGeomDef *x = a, *y = b;
  return x->body < y->body ? -1 : x->body > y->body;
}

// After the geoms of the scene.
static djStatus addSpheres(djmImport* imp) {
  const mjModel* m = imp->m;
  int n = imp->def.ngeom, flex = 0;
  djGeomDef* geom = djm_alloc(imp, (size_t)n + (size_t)m->nflexvert, sizeof *geom);
  if (!geom) return DJ_NO_MEMORY;
  if (n > 0) memcpy(geom, imp->def.geom, (size_t)n * sizeof *geom);
  for (int i = 0; i < m->nflex; i++) {
    if (djm_flexProblem(m, i)) continue;
    for (int v = m->flex_vertadr[i]; v < m->flex_vertadr[i] + m->flex_vertnum[i]; v++) {
      if (djm_vertexCollides(m, i, v)) addSphere(&geom[n++], m, i, flex, v);
    }
    flex++;
  }
  qsort(geom + imp->def.ngeom, (size_t)(n - imp->def.ngeom), sizeof *geom, compareBodies);
  imp->def.geom = geom;
  imp->def.ngeom = n;
  return DJ_OK;
}

djStatus djm_importFlexes(djmImport* imp) {
  const mjModel* m = imp->m;
  djFlexDef* flex = djm_alloc(imp, (size_t)m->nflex, sizeof *flex);
  if (!flex) return DJ_NO_MEMORY;
  imp->def.flex = flex;
  for (int i = 0; i < m->nflex; i++) {
    bool good;
    if (djm_flexProblem(m, i)) continue;
    djStatus status = importFlex(&flex[imp->def.nflex], &good, imp, i);
    if (status != DJ_OK) return status;
    imp->def.nflex++;
  }
  bool contact = imp->flex_contact && !djm_disabled(m, mjDSBL_CONTACT);
  return contact ? addSpheres(imp) : DJ_OK;
}
