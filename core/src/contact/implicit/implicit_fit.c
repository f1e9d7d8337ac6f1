#include "contact/implicit/implicit_fit.h"

#include "base/status.h"
#include "contact/shapes/convex.h"
#include "model/param.h"
#include "shape/implicit_pair.h"

#include <string.h>

enum { BY_TYPE, AS_GIVEN, L_GIVEN };

// The memory: this head, then numbers and facets as dj_makeImplicit has them, then of meshes four
// numbers for each triangle: its vertices and its facet.
enum {
  FAMILY,
  GIVEN, // with all its numbers and its frame; of a hull's facets L alone is
  INFLATE,
  NFACE,
  TRIANGLES,
  INNER,
  OUTER,
  LIFT,
  SCALE,
  ORIGIN,
  AXES = ORIGIN + 3,
  ROUND = AXES + 9,
  FLAT = ROUND + 6,
  HEAD = FLAT + 6
};

static const djImplicitRow* rowOf(int type) {
  switch (type) {
    case DJ_SPHERE:
    case DJ_ELLIPSOID:
    case DJ_BOX:
      return &dj_superellipsoid;
    case DJ_CYLINDER:
      return &dj_superellipticCylinder;
    case DJ_CAPSULE:
      return &dj_smoothCapsule;
    default:
      return &dj_smoothPolytope;
  }
}

static int facetCount(const djHull* hull) {
  int n = 0;
  for (int f = 0; f < hull->nface; f++) n += hull->group[f] == f;
  return n;
}

static const djImplicitRow* rowOfFit(const djShape* s) {
  return dj_implicitTable[(int)s->fit[FAMILY]];
}

static int familyOf(const djImplicitRow* row) {
  int family = 0;
  while (dj_implicitTable[family] != row) family++;
  return family;
}

int dj_fitSize(int type, const djHull* hull, const djGivenSurface* given) {
  if (type == DJ_PLANE) return 0;
  if (given && !given->hull) return HEAD + dj_implicitRoom(given->row, given->nface);
  const int nface = hull ? facetCount(hull) : 0;
  return HEAD + dj_implicitRoom(rowOf(type), nface) + (hull ? 4 * hull->nface : 0);
}

static djVec3 vertexOf(const djShape* s, int i) {
  return dju_vec3(s->vert[0][i], s->vert[1][i], s->vert[2][i]);
}

static djVec3 meanOf(const djShape* s) {
  djVec3 sum = {0, 0, 0};
  for (int i = 0; i < s->nvert; i++) sum = dju_madd3(sum, 1.0 / s->nvert, vertexOf(s, i));
  return sum;
}

static void setColumns(djMat3* R, djVec3 x, djVec3 y, djVec3 z) {
  *R = (djMat3){{x.x, y.x, z.x, x.y, y.y, z.y, x.z, y.z, z.z}};
}

// Half of a box along its axis k: vertex i is on the side of bit k of i.
static djVec3 halfBox(const djShape* s, int k) {
  djVec3 sum = {0, 0, 0};
  for (int i = 0; i < 8; i++) sum = dju_madd3(sum, i >> k & 1 ? 0.125 : -0.125, vertexOf(s, i));
  return sum;
}

// Two directions that complete a unit vector x to axes.
static void completeAxes(djMat3* R, djVec3 x) {
  djVec3 y = fabs(x.x) < 0.6 ? dju_vec3(0, x.z, -x.y) : dju_vec3(-x.z, 0, x.x);
  y = dju_scale3(1 / dju_norm3(y), y);
  setColumns(R, x, y, dju_cross3(x, y));
}

// Axes, and lengths in the order of the family's numbers.
static void primitive(djMat3* R, double size[3], const djShape* s) {
  *R = dju_eye3();
  if (s->type == DJ_SPHERE) {
    size[0] = size[1] = size[2] = s->radius;
  } else if (s->type == DJ_ELLIPSOID || s->type == DJ_BOX) {
    djVec3 axis[3];
    for (int k = 0; k < 3; k++) {
      axis[k] = s->type == DJ_BOX ? halfBox(s, k) : dju_column(&s->curve, k);
      size[k] = dju_norm3(axis[k]);
      axis[k] = dju_scale3(1 / size[k], axis[k]);
    }
    setColumns(R, axis[0], axis[1], axis[2]);
  } else {
    const djVec3 half = dju_scale3(0.5, dju_sub3(vertexOf(s, 1), vertexOf(s, 0)));
    const double h = dju_norm3(half);
    completeAxes(R, dju_scale3(1 / h, half));
    size[0] = s->type == DJ_CAPSULE ? s->radius : dju_norm3(dju_column(&s->curve, 0));
    size[1] = s->type == DJ_CAPSULE ? h : h + dju_norm3(dju_column(&s->curve, 2));
  }
}

// Area vector of a triangle, and the mean of its corners.
static djVec3 areaOf(djVec3* mean, const djShape* s, const double* triangle) {
  const djVec3 a = vertexOf(s, (int)triangle[0]), b = vertexOf(s, (int)triangle[1]);
  const djVec3 c = vertexOf(s, (int)triangle[2]);
  *mean = dju_scale3(1.0 / 3, dju_add3(a, dju_add3(b, c)));
  return dju_scale3(0.5, dju_cross3(dju_sub3(b, a), dju_sub3(c, a)));
}

// The same of the facet g of n triangles: the sum, and the mean of their means. Returns how many.
static int facetOf(djVec3* area, djVec3* middle, const djShape* s, const double* triangle, int n,
                   int g) {
  int count = 0;
  *area = *middle = dju_vec3(0, 0, 0);
  for (int t = 0; t < n; t++) {
    djVec3 mean;
    if ((int)triangle[4 * t + 3] != g) continue;
    *area = dju_add3(*area, areaOf(&mean, s, triangle + 4 * t));
    *middle = dju_add3(*middle, mean);
    count++;
  }
  *middle = dju_scale3(1.0 / count, *middle);
  return count;
}

// Of flat facets g with triangles t, S_t their area vectors, m_t the means of their corners, c the
// origin: n_g = S/|S|, S = sum S_t;  b_g = n_g.(sum m_t/N - c).
static void facets(double* number, int nface, const djShape* s, const double* triangle, int n,
                   djVec3 origin) {
  double *A = number, *b = number + 3 * nface;
  memset(number, 0, 4 * (size_t)nface * sizeof *number);
  for (int g = 0; g < nface; g++) {
    djVec3 area, middle;
    facetOf(&area, &middle, s, triangle, n, g);
    const djVec3 normal = dju_scale3(1 / dju_norm3(area), area);
    dju_store3(A + 3 * g, normal);
    b[g] = dju_dot3(normal, dju_sub3(middle, origin));
  }
}

static void listTriangles(double* triangle, const djHull* hull) {
  int n = 0;
  for (int f = 0; f < hull->nface; f++) {
    double* t = triangle + 4 * f;
    for (int k = 0; k < 3; k++) t[k] = hull->face[3 * f + k];
    t[3] = hull->group[f] == f ? n++ : triangle[4 * hull->group[f] + 3];
  }
}

djStatus dj_fitImplicit(djShape* s, double* mem, const djHull* hull, const djGivenSurface* given,
                        djError* err) {
  const bool own = given && !given->hull;
  if (own) hull = NULL;
  const djImplicitRow* row = own ? given->row : rowOf(s->type);
  const int nface = own ? given->nface : hull ? facetCount(hull) : 0;
  const int n = dj_implicitSize(row, nface);
  double *number = mem + HEAD, *triangle = number + dj_implicitRoom(row, nface), outer = 0;
  djImplicit shape;
  djMat3 R = dju_eye3();
  djVec3 origin = meanOf(s);
  s->fit = mem;
  if (own) {
    memcpy(number, given->number, (size_t)(n - 1) * sizeof *number);
    R = given->frame.R;
    origin = given->frame.p;
  } else if (hull) {
    listTriangles(triangle, hull);
    facets(number, nface, s, triangle, hull->nface, origin);
    number[n - 2] = given ? given->number[0] : s->length;
    for (int i = 0; i < s->nvert; i++) {
      outer = fmax(outer, dju_norm3(dju_sub3(vertexOf(s, i), origin)));
    }
  } else {
    primitive(&R, number, s);
  }
  number[n - 1] = s->sharp;
  const djStatus status = dj_fillImplicit(&shape, number, row, nface, outer, err);
  if (status != DJ_OK) {
    s->fit = NULL;
    return status;
  }
  mem[FAMILY] = familyOf(row);
  mem[GIVEN] = own ? AS_GIVEN : given ? L_GIVEN : BY_TYPE;
  mem[INFLATE] = 0;
  mem[NFACE] = nface;
  mem[TRIANGLES] = hull ? hull->nface : 0;
  mem[INNER] = shape.inner;
  mem[OUTER] = shape.outer;
  mem[LIFT] = shape.lift;
  mem[SCALE] = shape.scale;
  dju_store3(mem + ORIGIN, origin);
  memcpy(mem + AXES, R.m, sizeof R.m);
  memcpy(mem + ROUND, shape.round, sizeof shape.round);
  memcpy(mem + FLAT, shape.flat, sizeof shape.flat);
  return DJ_OK;
}

void dj_openFit(djImplicit* out, djPose* frame, const djShape* s) {
  const double* mem = s->fit;
  dj_viewImplicit(out, mem + HEAD, rowOfFit(s), (int)mem[NFACE]);
  out->inner = mem[INNER];
  out->outer = mem[OUTER];
  out->lift = mem[LIFT];
  out->scale = mem[SCALE];
  memcpy(out->round, mem + ROUND, sizeof out->round);
  memcpy(out->flat, mem + FLAT, sizeof out->flat);
  frame->p = dju_load3(mem + ORIGIN);
  memcpy(frame->R.m, mem + AXES, sizeof frame->R.m);
}

static bool isGiven(const djShape* s) { return s->type != DJ_PLANE && s->fit[GIVEN] == AS_GIVEN; }

// Radii are numbers of these surfaces, or none at all.
static bool hasRadius(const djShape* s) {
  return s->type == DJ_PLANE || s->type == DJ_SPHERE || s->type == DJ_CAPSULE;
}

double dj_fitInflation(const djShape* s) {
  if (isGiven(s)) return s->fit[INFLATE];
  return hasRadius(s) ? 0 : s->radius;
}

void dj_fitInflationGrad(djShapeGrad* grad, const djShape* s, double by) {
  if (!isGiven(s) && !hasRadius(s)) grad->radius += by;
}

int dj_surfaceSize(const djGeomSource* from) {
  djGivenSurface given;
  const int type = from->model->geom_type[from->geom];
  const bool has = dj_givenSurface(&given, from->model, from->geom);
  return dj_paddedCount(dj_convexSize(from)) + dj_fitSize(type, from->hull, has ? &given : NULL);
}

// No less than a surface's support function along d (its frame).
static double reachOf(const djImplicit* surface, djVec3 d) {
  djImplicitTouch touch;
  if (dj_supportImplicit(&touch, NULL, surface, d) != DJ_OK) return surface->outer;
  return fmin(touch.T + 1e-9 * surface->outer, surface->outer);
}

// What the list of near pairs sees: the surface in place of the geom, which may reach beyond it by
// as much as its ball reaches beyond the surface's inner one.
static void boundGiven(djShape* s, djShapeBounds* bounds) {
  djImplicit surface;
  djPose frame;
  dj_openFit(&surface, &frame, s);
  const double grow = fmax(s->fit[INFLATE], 0);
  const double away = dju_norm3(dju_sub3(frame.p, s->center)) + s->bound;
  bounds->beyond = fmax(away + bounds->beyond - surface.inner, 0);
  double box[6];
  for (int k = 0; k < 3; k++) {
    const djVec3 axis = dju_vec3(k == 0, k == 1, k == 2), d = dju_mulMtV(frame.R, axis);
    const double high = reachOf(&surface, d), low = -reachOf(&surface, dju_neg3(d));
    box[k] = 0.5 * (low + high);
    box[3 + k] = 0.5 * (high - low) + grow;
  }
  const djVec3 middle = dju_add3(frame.p, dju_load3(box));
  dju_store3(box, middle);
  memcpy(bounds->box, box, sizeof box);
  s->center = frame.p;
  s->bound = fmax(surface.outer + grow, away);
}

djStatus dj_makeSurface(djShape* s, djShapeBounds* bounds, double* mem, const djGeomSource* from,
                        djError* err) {
  const djModel* m = from->model;
  djGivenSurface given;
  const djStatus made = dj_makeConvex(s, bounds, mem, from, err);
  if (made != DJ_OK || s->type == DJ_PLANE) return made;
  // Held as they were when the model was compiled, where they are not given.
  s->sharp = m->geom_sharpness[from->geom];
  s->length = m->geom_radius[from->geom];
  double* own = mem + dj_paddedCount(dj_convexSize(from));
  const bool has = dj_givenSurface(&given, m, from->geom);
  s->nnumber = has ? given.nnumber : 0;
  const djStatus status = dj_fitImplicit(s, own, from->hull, has ? &given : NULL, err);
  if (status != DJ_OK || !isGiven(s)) return status;
  own[INFLATE] = bounds->inflate;
  boundGiven(s, bounds);
  return DJ_OK;
}

// ---- derivatives ------------------------------------------------------------------------------

static void addVertex(djShapeGrad* grad, int i, double f, djVec3 by) {
  const double v[3] = {by.x, by.y, by.z};
  for (int k = 0; k < 3; k++) grad->vert[k][i] += f * v[k];
}

static void addColumn(djMat3* grad, int k, djVec3 by) {
  grad->m[k] += by.x;
  grad->m[3 + k] += by.y;
  grad->m[6 + k] += by.z;
}

// A vector v = a u, u its direction: what it adds is by_a u, and as the frame turns with the u of
// all axes, psi = sum_k u_k x du_k/2, turn x u/(2 a).
static djVec3 axisGrad(djVec3 v, double by_length, djVec3 turn) {
  const double a = dju_norm3(v);
  const djVec3 u = dju_scale3(1 / a, v);
  return dju_madd3(dju_scale3(by_length, u), 0.5 / a, dju_cross3(turn, u));
}

static void primitiveGrad(djShapeGrad* grad, const djShape* s, djVec3 turn, const double* number) {
  if (s->type == DJ_SPHERE) {
    grad->radius += number[0] + number[1] + number[2];
  } else if (s->type == DJ_BOX) {
    for (int k = 0; k < 3; k++) {
      const djVec3 by = axisGrad(halfBox(s, k), number[k], turn);
      for (int i = 0; i < 8; i++) addVertex(grad, i, i >> k & 1 ? 0.125 : -0.125, by);
    }
  } else if (s->type == DJ_ELLIPSOID) {
    for (int k = 0; k < 3; k++) {
      addColumn(&grad->curve, k, axisGrad(dju_column(&s->curve, k), number[k], turn));
    }
  } else { // turning about the axis does nothing: du = psi x u, psi = u x du
    const djVec3 half = dju_scale3(0.5, dju_sub3(vertexOf(s, 1), vertexOf(s, 0)));
    const double h = dju_norm3(half);
    const djVec3 u = dju_scale3(1 / h, half);
    const djVec3 by = dju_madd3(dju_scale3(number[1], u), 1 / h, dju_cross3(turn, u));
    addVertex(grad, 0, -0.5, by);
    addVertex(grad, 1, 0.5, by);
    if (s->type == DJ_CAPSULE) {
      grad->radius += number[0];
    } else {
      const djVec3 side = dju_column(&s->curve, 0), end = dju_column(&s->curve, 2);
      addColumn(&grad->curve, 0, dju_scale3(number[0] / dju_norm3(side), side));
      addColumn(&grad->curve, 2, dju_scale3(number[1] / dju_norm3(end), end));
    }
  }
}

// See facets(): by S, (I - n n^T)/|S| times what is by n; by a corner of a triangle, of its area
// vector (edge opposite x ...)/2, of its mean a third.
static void facetGrad(djShapeGrad* grad, djVec3* origin, const djShape* s, const double* number) {
  const double *mem = s->fit, *A = mem + HEAD;
  const int nface = (int)mem[NFACE], n = (int)mem[TRIANGLES];
  const double* triangle = A + dj_implicitRoom(&dj_smoothPolytope, nface);
  for (int g = 0; g < nface; g++) {
    const double by_b = number[3 * nface + g];
    const djVec3 normal = dju_load3(A + 3 * g);
    djVec3 area, middle;
    const int count = facetOf(&area, &middle, s, triangle, n, g);
    middle = dju_sub3(middle, dju_load3(mem + ORIGIN));
    djVec3 by = dju_madd3(dju_load3(number + 3 * g), by_b, middle);
    by = dju_scale3(1 / dju_norm3(area), dju_madd3(by, -dju_dot3(by, normal), normal));
    *origin = dju_madd3(*origin, -by_b, normal);
    for (int t = 0; t < n; t++) {
      if ((int)triangle[4 * t + 3] != g) continue;
      for (int k = 0; k < 3; k++) {
        const int i = (int)triangle[4 * t + k], next = (int)triangle[4 * t + (k + 1) % 3];
        const int last = (int)triangle[4 * t + (k + 2) % 3];
        const djVec3 edge = dju_sub3(vertexOf(s, last), vertexOf(s, next));
        addVertex(grad, i, 0.5, dju_cross3(by, edge));
        addVertex(grad, i, by_b / (3.0 * count), normal);
      }
    }
  }
}

void dj_fitGrad(djShapeGrad* grad, const djShape* s, djVec3 origin, djVec3 turn,
                const double* number) {
  const int n = dj_implicitSize(rowOfFit(s), (int)s->fit[NFACE]);
  grad->sharp += number[n - 1];
  if (isGiven(s)) {
    for (int i = 0; i < n - 1; i++) grad->number[i] += number[i];
    grad->origin = dju_add3(grad->origin, origin);
    grad->turn = dju_add3(grad->turn, turn);
    return;
  }
  if (s->fit[GIVEN] == L_GIVEN) grad->number[0] += number[n - 2];
  if (s->fit[TRIANGLES] > 0)
    facetGrad(grad, &origin, s, number);
  else
    primitiveGrad(grad, s, turn, number);
  for (int i = 0; i < s->nvert; i++) addVertex(grad, i, 1.0 / s->nvert, origin);
}

// A given surface's frame is at p + R s in its body, turned by R S: p and R the geom's, s and S
// held. dp moves it by dp, w of R exp(w) by R (w x s), and turns it by R w.
djStatus dj_surfaceParams(double* param, const djGeomSource* from, const djShape* s,
                          const djShapeGrad* grad) {
  const djModel* m = from->model;
  const int geom = from->geom;
  const djStatus status = dj_convexParams(param, from, s, grad);
  if (status != DJ_OK || s->type == DJ_PLANE || !s->fit) return status;
  *dj_paramEntry(param, m, DJ_FIELD_GEOM_SHARPNESS, geom) += grad->sharp;
  double* number = dj_paramEntry(param, m, DJ_FIELD_GEOM_SURFACE, geom);
  for (int i = 0; i < m->geom_surfacenum[geom]; i++) number[i] += grad->number[i];
  if (!isGiven(s)) return DJ_OK;
  const djMat3 R = dju_quatToMat(dju_loadQuat(m->geom_quat + 4 * geom));
  const djVec3 arm = dju_load3(m->geom_surfacepos + 3 * geom);
  const djVec3 turn =
      dju_add3(dju_mulMtV(R, grad->turn), dju_cross3(arm, dju_mulMtV(R, grad->origin)));
  dju_addTo3(dj_paramEntry(param, m, DJ_FIELD_GEOM_POS, geom), 1, grad->origin);
  dju_addTo3(dj_paramEntry(param, m, DJ_FIELD_GEOM_QUAT, geom), 1, turn);
  return DJ_OK;
}
