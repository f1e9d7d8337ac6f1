// The way back from contact shapes to geom poses, sizes and mesh vertices, against differences of
// the shapes themselves.

#include "common/make_model.h"
#include "common/random_shape.h"
#include "common/test.h"
#include "common/worst.h"
#include "contact/pairs/shape_grad.h"
#include "math/so3.h"
#include "model/param.h"
#include "shape/hull_param.h"

#define TOLERANCE 5e-7

enum { NBODY = 4, NGEOM = 16, NMESH = 2, NPOINT = 30 };

typedef struct Scene {
  djModelDef def;
  djBodyDef body[NBODY];
  djJointDef joint[NBODY];
  djGeomDef geom[NGEOM];
  djMeshDef mesh[NMESH];
  double vert[NMESH][3 * NPOINT];
} Scene;

static const djGeomType types[] = {DJ_SPHERE, DJ_CAPSULE,   DJ_BOX,  DJ_MESH,
                                   DJ_PLANE,  DJ_ELLIPSOID, DJ_MESH, DJ_CYLINDER};
enum { NTYPE = sizeof types / sizeof types[0] };

static void randomGeom(djGeomDef* g, Random* r, int k) {
  *g = dj_defaultGeomDef();
  g->type = types[k % NTYPE];
  g->body = g->type == DJ_PLANE ? 0 : 1 + k % (NBODY - 1);
  for (int i = 0; i < 3; i++) {
    g->size[i] = logUniform(r, 0.02, 0.3);
    g->pos[i] = uniform(r, -1, 1);
  }
  dju_storeQuat(g->quat, randomQuat(r));
  g->mesh = g->type == DJ_MESH ? below(r, NMESH) : -1;
  // Inflated, shrunk, and shrunk as far as it may be.
  if (below(r, 2)) g->margin = uniform(r, 0, 0.05);
  if (below(r, 2)) g->gap = logUniform(r, 1e-3, 0.5);
  if (below(r, 2)) g->soft_depth = logUniform(r, 1e-3, 0.1);
}

static int byBody(const void* a, const void* b) {
  return ((const djGeomDef*)a)->body - ((const djGeomDef*)b)->body;
}

static djModel* randomModel(Random* r, djVertices vertices) {
  static Scene s;
  memset(&s, 0, sizeof s);
  s.def = dj_defaultModelDef();
  s.def.option.vertices = vertices;
  s.def.option.softness = (djSoftness)below(r, 2);
  s.def.body = s.body;
  s.def.joint = s.joint;
  s.def.geom = s.geom;
  s.def.mesh = s.mesh;
  s.def.nbody = NBODY;
  s.def.njnt = NBODY - 1;
  s.def.ngeom = NGEOM;
  s.def.nmesh = NMESH;
  s.body[0] = dj_defaultBodyDef();
  for (int b = 1; b < NBODY; b++) {
    s.body[b] = dj_defaultBodyDef();
    s.body[b].mass = 1;
    s.body[b].inertia[0] = s.body[b].inertia[1] = s.body[b].inertia[2] = 0.1;
    djJointDef* j = &s.joint[b - 1];
    *j = dj_defaultJointDef();
    j->body = b;
    j->type = DJ_FREE;
    j->qpos0[3] = j->springref[3] = 1;
  }
  for (int k = 0; k < NMESH; k++) {
    double size = logUniform(r, 0.05, 0.5);
    cloud(r, below(r, 3), NPOINT, s.vert[k]);
    for (int i = 0; i < 3 * NPOINT; i++) s.vert[k][i] = size * s.vert[k][i] + 0.3 * size;
    s.mesh[k].nvert = NPOINT;
    s.mesh[k].vert = s.vert[k];
  }
  for (int g = 0; g < NGEOM; g++) randomGeom(&s.geom[g], r, g);
  qsort(s.geom, NGEOM, sizeof s.geom[0], byBody);
  return djt_makeModel(&s.def);
}

// ---- sums of cotangents and shapes

typedef struct Cotangents {
  djShapeGrad* grad;
  void* memory;
} Cotangents;

static void randomCotangents(Cotangents* c, Random* r, const djModel* m) {
  c->memory = aligned_alloc(64, dj_shapeGradSize(m));
  assert_non_null(c->memory);
  c->grad = dj_initShapeGrads(c->memory, m);
  for (int g = 0; g < m->ngeom; g++) {
    const djShape* s = &m->collision->shape[g];
    djShapeGrad* d = &c->grad[g];
    for (int k = 0; k < 3; k++) {
      for (int i = 0; i < s->nvert; i++) {
        d->vert[k][i] = uniform(r, -1, 1);
        d->move[k][i] = uniform(r, -1, 1);
      }
    }
    d->center = randomPoint(r, 1, 1, 1);
    if (s->type == DJ_PLANE) {
      d->normal = randomPoint(r, 1, 1, 1);
      d->offset = uniform(r, -1, 1);
      continue;
    }
    for (int k = 0; k < 9; k++) {
      d->curve.m[k] = uniform(r, -1, 1);
      d->curve_move.m[k] = uniform(r, -1, 1);
    }
    d->radius = uniform(r, -1, 1);
    d->radius_slope = uniform(r, -1, 1);
    d->inner = uniform(r, -1, 1);
    d->skin = uniform(r, -1, 1);
    d->bound = uniform(r, -1, 1);
  }
}

static void freeCotangents(Cotangents* c) {
  free(c->memory);
}

static double sumOf(const djModel* m, const Cotangents* c) {
  double sum = 0;
  for (int g = 0; g < m->ngeom; g++) {
    const djShape* s = &m->collision->shape[g];
    const djShapeGrad* d = &c->grad[g];
    for (int k = 0; k < 3; k++) {
      for (int i = 0; i < s->nvert; i++) {
        sum += d->vert[k][i] * s->vert[k][i] + d->move[k][i] * s->move[k][i];
      }
    }
    for (int k = 0; k < 9 && s->curved; k++) {
      sum += d->curve.m[k] * s->curve.m[k] + d->curve_move.m[k] * s->curve_move.m[k];
    }
    sum += dju_dot3(d->center, s->center);
    if (s->type == DJ_PLANE) {
      sum += dju_dot3(d->normal, s->normal) + d->offset * s->offset;
    } else {
      sum += d->radius * s->radius + d->radius_slope * s->radius_slope + d->inner * s->inner +
             d->skin * s->skin + d->bound * s->bound;
    }
  }
  return sum;
}

// ---- differences

// The sum with a parameter moved by t along the direction.
static double sumAt(const djModel* m, const Cotangents* c, const djParam* p, const double* value,
                    const double* direction, double t) {
  djError err = {""};
  double moved[3 * NPOINT];
  djModel* copy = djt_copy(m);
  if (p->nvalue == 4) {
    djQuat turn = dju_expQuat(dju_scale3(t, dju_load3(direction)));
    dju_storeQuat(moved, dju_mulQuat(dju_loadQuat(value), turn));
  } else {
    for (int k = 0; k < p->nvalue; k++) moved[k] = value[k] + t * direction[k];
  }
  if (dj_setParam(copy, p, moved, &err) != DJ_OK) fail_msg("%s", err.text);
  double sum = sumOf(copy, c);
  dj_deleteModel(copy);
  return sum;
}

static double difference(const djModel* m, const Cotangents* c, const djParam* p,
                         const double* direction, double h) {
  double value[3 * NPOINT];
  assert_int_equal(dj_getParam(value, m, p), DJ_OK);
  double wide = sumAt(m, c, p, value, direction, h) - sumAt(m, c, p, value, direction, -h);
  double fine = sumAt(m, c, p, value, direction, h / 2) - sumAt(m, c, p, value, direction, -h / 2);
  return (8 * fine - wide) / (6 * h);
}

// Largest relative error over parameters of one field, along random directions.
static double fieldError(const djModel* m, const Cotangents* c, double* param, Random* r,
                         djField field, int count) {
  double worst = 0;
  for (int id = 0; id < count; id++) {
    djParam p;
    assert_true(dj_makeParam(&p, m, field, id));
    double direction[3 * NPOINT], analytic = 0, size = 0;
    const double* entry = dj_paramEntry(param, m, field, id);
    for (int k = 0; k < p.ntangent; k++) {
      direction[k] = uniform(r, -1, 1);
      analytic += direction[k] * entry[k];
      size += fabs(direction[k] * entry[k]);
    }
    // A shorter step where the longer one may have crossed a kink.
    double error = INFINITY;
    for (double h = 3e-6; h > 1e-8 && error > TOLERANCE; h /= 10) {
      double other = difference(m, c, &p, direction, h);
      error = fmin(error, fabs(analytic - other) / fmax(size, 0.05));
    }
    worst = djt_worst(worst, error);
  }
  return worst;
}

static double allErrors(const djModel* m, const Cotangents* c, double* param, Random* r) {
  double worst = fieldError(m, c, param, r, DJ_FIELD_GEOM_POS, m->ngeom);
  worst = djt_worst(worst, fieldError(m, c, param, r, DJ_FIELD_GEOM_QUAT, m->ngeom));
  worst = djt_worst(worst, fieldError(m, c, param, r, DJ_FIELD_GEOM_SIZE, m->ngeom));
  return fmax(worst, fieldError(m, c, param, r, DJ_FIELD_MESH_VERT, m->nmesh));
}

static void takeBack(double* param, const djModel* m, const Cotangents* c) {
  memset(param, 0, sizeof(double) * dj_paramGradSize(m));
  for (int g = 0; g < m->ngeom; g++) {
    assert_int_equal(dj_shapeParams(param, m, g, &c->grad[g]), DJ_OK);
  }
}

// ---- tests

// Of shapes that have all, how many their hull has not.
static int verticesInside(const djModel* m) {
  int sum = 0;
  for (int g = 0; g < m->ngeom; g++) {
    const djShape* s = &m->collision->shape[g];
    if (s->type != DJ_MESH || m->opt.vertices != DJ_VERTICES_ALL) continue;
    assert_int_equal(s->nvert, NPOINT);
    sum += NPOINT - m->collision->hull[m->geom_mesh[g]].nvert;
  }
  return sum;
}

static void testDifferences(void) {
  Random r = {11};
  int inside = 0;
  for (int trial = 0; trial < 25; trial++) {
    djModel* m = randomModel(&r, trial % 2 ? DJ_VERTICES_ALL : DJ_VERTICES_HULL);
    if (trial % 3 == 2) {   // sizes below the skin that they were given
      for (int g = 0; g < m->ngeom; g++) {
        djParam p;
        double size[3];
        assert_true(dj_makeParam(&p, m, DJ_FIELD_GEOM_SIZE, g));
        assert_int_equal(dj_getParam(size, m, &p), DJ_OK);
        for (int k = 0; k < 3; k++) size[k] *= 0.02;
        if (m->geom_type[g] != DJ_PLANE) assert_int_equal(dj_setParam(m, &p, size, NULL), DJ_OK);
      }
    }
    inside += verticesInside(m);
    Cotangents c;
    randomCotangents(&c, &r, m);
    double* param = malloc(sizeof(double) * dj_paramGradSize(m));
    takeBack(param, m, &c);
    double error = allErrors(m, &c, param, &r);
    if (!(error < TOLERANCE)) fail_msg("trial %d: relative error %g", trial, error);
    free(param);
    freeCotangents(&c);
    dj_deleteModel(m);
  }
  assert_true(inside > 50);
}

// Leaving out any kind of cotangent shows.
static void testWrong(void) {
  Random r = {5};
  djModel* m = randomModel(&r, DJ_VERTICES_HULL);
  Cotangents c;
  randomCotangents(&c, &r, m);
  double* param = malloc(sizeof(double) * dj_paramGradSize(m));
  int mesh = -1;
  for (int g = 0; g < m->ngeom; g++) {
    if (m->geom_type[g] == DJ_MESH) mesh = g;
  }
  for (int part = 0; part < 6; part++) {
    djShapeGrad* d = &c.grad[mesh];
    djShapeGrad kept = *d;
    double moves[3 * NPOINT] = {0}, zero = 0;
    double* number[] = {NULL, &d->inner, &d->bound, &d->center.y, NULL, &zero};
    takeBack(param, m, &c);
    double* vert = dj_paramEntry(param, m, DJ_FIELD_MESH_VERT, m->geom_mesh[mesh]);
    if (number[part]) *number[part] = 0;
    int npad = m->collision->shape[mesh].npad;
    if (part == 0) {
      memcpy(moves, d->move[1], sizeof(double) * (size_t)npad);
      memset(d->move[1], 0, sizeof(double) * (size_t)npad);
    }
    if (part == 4) vert[3 * m->collision->hull[m->geom_mesh[mesh]].id[0]] += 1;
    double error = 0;
    for (int k = 0; k < 4; k++) {
      error = djt_worst(error, fieldError(m, &c, param, &r, DJ_FIELD_MESH_VERT, m->nmesh));
    }
    if (part == 5 ? error > TOLERANCE : error < 1e-5) fail_msg("part %d: error %g", part, error);
    *d = kept;
    if (part == 0) memcpy(d->move[1], moves, sizeof(double) * (size_t)npad);
  }
  free(param);
  freeCotangents(&c);
  dj_deleteModel(m);
}

// A box as a mesh has coplanar triangles: derivatives are of one side, finite and linear.
static void testCoplanar(void) {
  double box[24], cov[48], vert[24];
  Random r = {3};
  boxVertices(box, 0.1, 0.2, 0.3);
  djHull h;
  assert_int_equal(dj_makeHull(&h, 8, box, 0, NULL, NULL), DJ_OK);
  for (int k = 0; k < 48; k++) cov[k] = uniform(&r, -1, 1);
  djHullGrad grad = {.vert = cov, .move = cov + 24, .stride = 3, .inner = 1};
  grad.center = dju_vec3(1, 2, 3);
  assert_int_equal(dj_hullParams(vert, &h, &grad), DJ_OK);
  // Along scalings of the box, which keep it a box, the derivative is two-sided.
  for (int axis = 0; axis < 3; axis++) {
    double analytic = 0, expected = axis == 0 ? 0.1 : 0;
    for (int i = 0; i < 8; i++) {
      analytic += vert[3 * i + axis] * box[3 * i + axis];
      expected += cov[3 * i + axis] * box[3 * i + axis];
    }
    assert_true(fabs(analytic - expected) < 1e-12);
  }
  dj_freeHull(&h);
}

DJT_MAIN(testDifferences, testWrong, testCoplanar)
