// Moments of geoms against quadrature, and masses and inertias that follow geoms: closed forms,
// order of axes, and derivatives against differences.

#include "common/make_model.h"
#include "common/near.h"
#include "common/random_shape.h"
#include "common/test.h"
#include "common/worst.h"
#include "inertia/geom_inertia.h"
#include "inertia/geom_moments.h"
#include "math/eigen3.h"
#include "math/so3.h"
#include "model/param.h"

enum { NBODY = 4, NGEOM = 12, NMESH = 2, NPOINT = 20 };
static const double pi = 3.14159265358979323846;

typedef struct Scene {
  djModelDef def;
  djBodyDef body[NBODY];
  djJointDef joint[NBODY];
  djGeomDef geom[NGEOM];
  djMeshDef mesh[NMESH];
  double vert[NMESH][3 * NPOINT];
} Scene;

static void start(Scene* s, int nbody) {
  memset(s, 0, sizeof *s);
  s->def = dj_defaultModelDef();
  s->def.body = s->body;
  s->def.joint = s->joint;
  s->def.geom = s->geom;
  s->def.mesh = s->mesh;
  s->def.nbody = nbody;
  s->def.njnt = nbody - 1;
  for (int b = 0; b < nbody; b++) {
    s->body[b] = dj_defaultBodyDef();
    if (b == 0) continue;
    s->body[b].mass = 1;
    s->body[b].inertia[0] = s->body[b].inertia[1] = s->body[b].inertia[2] = 0.1;
    s->joint[b - 1] = dj_defaultJointDef();
    s->joint[b - 1].body = b;
    s->joint[b - 1].type = DJ_FREE;
    s->joint[b - 1].qpos0[3] = s->joint[b - 1].springref[3] = 1;
  }
}

static djGeomDef* addGeom(Scene* s, int body, djGeomType type, double x, double y, double z) {
  djGeomDef* g = &s->geom[s->def.ngeom++];
  *g = dj_defaultGeomDef();
  g->body = body;
  g->type = type;
  g->size[0] = x;
  g->size[1] = y;
  g->size[2] = z;
  return g;
}

static djModel* make(const Scene* s) {
  return djt_makeModel(&s->def);
}

static void setParam(djModel* m, djField field, int id, const double* value) {
  djParam p;
  djError err = {""};
  assert_true(dj_makeParam(&p, m, field, id));
  if (dj_setParam(m, &p, value, &err) != DJ_OK) fail_msg("%s", err.text);
}

static void followGeoms(djModel* m, const djModel* compiled) {
  djError err = {""};
  if (dj_followGeoms(m, compiled, &err) != DJ_OK) fail_msg("%s", err.text);
}

// ---- moments

// Semi-axes across at height z, or false where there is nothing.
static bool slice(double* a, double* b, int type, const double* size, double z) {
  double r = size[0], beyond;
  switch (type) {
    case DJ_SPHERE: *a = *b = sqrt(fmax(r * r - z * z, 0)); return true;
    case DJ_CYLINDER: *a = *b = r; return true;
    case DJ_CAPSULE:
      beyond = fmax(fabs(z) - size[1], 0);
      *a = *b = sqrt(fmax(r * r - beyond * beyond, 0));
      return true;
    case DJ_ELLIPSOID:
      beyond = sqrt(fmax(1 - z * z / (size[2] * size[2]), 0));
      *a = size[0] * beyond;
      *b = size[1] * beyond;
      return true;
    default: return false;
  }
}

// Slices are ellipses of area pi a b, with int x^2 = area a^2/4. Simpson's rule on each smooth
// piece: ends and middle of a capsule apart.
static djMoments quadrature(int type, const double* size) {
  djMoments sum = {0};
  double h = type == DJ_SPHERE ? size[0] : type == DJ_ELLIPSOID ? size[2] : size[1];
  double edge[4] = {-h, h, h, h};
  int pieces = 1, n = 400;
  if (type == DJ_CAPSULE) {
    const double capsule[4] = {-h - size[0], -h, h, h + size[0]};
    memcpy(edge, capsule, sizeof edge);
    pieces = 3;
  }
  for (int piece = 0; piece < pieces; piece++) {
    for (int i = 0; i <= n; i++) {
      double step = (edge[piece + 1] - edge[piece]) / n, z = edge[piece] + i * step;
      double a = 0, b = 0;
      double weight = step / 3 * (i == 0 || i == n ? 1 : i % 2 ? 4 : 2);
      assert_true(slice(&a, &b, type, size, z));
      double area = weight * pi * a * b;
      sum.volume += area;
      sum.second.m[0] += area * a * a / 4;
      sum.second.m[4] += area * b * b / 4;
      sum.second.m[8] += area * z * z;
    }
  }
  return sum;
}

static void checkMoments(const djMoments* a, const djMoments* b, double tolerance) {
  djt_near(a->volume, b->volume, tolerance);
  for (int k = 0; k < 3; k++) djt_near((&a->first.x)[k], (&b->first.x)[k], tolerance);
  for (int k = 0; k < 9; k++) djt_near(a->second.m[k], b->second.m[k], tolerance);
}

static void testPrimitives(void) {
  static const djGeomType types[] = {DJ_SPHERE, DJ_CAPSULE, DJ_CYLINDER, DJ_ELLIPSOID};
  for (int k = 0; k < 4; k++) {
    Scene s;
    start(&s, 2);
    addGeom(&s, 1, types[k], 0.7, 1.1, 0.6);
    djModel* m = make(&s);
    djMoments got = {0}, expected = quadrature(types[k], s.geom[0].size);
    dj_addMoments(&got, m, 0, NULL);
    checkMoments(&got, &expected, 1e-9);
    dj_deleteModel(m);
  }
}

// A box, the same as a mesh, and a tetrahedron of three unit edges; each at a pose.
static void testSolids(void) {
  Random r = {8};
  Scene s;
  start(&s, 2);
  djQuat q = randomQuat(&r);
  for (int g = 0; g < 3; g++) {
    djGeomDef* d = addGeom(&s, 1, g == 0 ? DJ_BOX : DJ_MESH, 0.3, 0.4, 0.5);
    if (g < 2) dju_storeQuat(d->quat, q);
    d->pos[0] = 2;
    d->pos[1] = -1;
    d->mesh = g - 1;
  }
  boxVertices(s.vert[0], 0.3, 0.4, 0.5);
  for (int k = 0; k < 3; k++) s.vert[1][3 * (k + 1) + k] = 1;
  s.mesh[0] = (djMeshDef){.nvert = 8, .vert = s.vert[0]};
  s.mesh[1] = (djMeshDef){.nvert = 4, .vert = s.vert[1]};
  s.def.nmesh = 2;
  djModel* m = make(&s);
  djMoments box = {0}, mesh = {0}, simplex = {0};
  djHull hull[2];
  djClosedSurface surface[2];
  for (int k = 0; k < 2; k++) {
    assert_int_equal(dj_makeHull(&hull[k], s.mesh[k].nvert, s.vert[k], 0, NULL, NULL), DJ_OK);
    surface[k] = (djClosedSurface){hull[k].nface, hull[k].face};
  }
  dj_addMoments(&box, m, 0, NULL);
  dj_addMoments(&mesh, m, 1, &surface[0]);
  djt_near(box.volume, 8 * 0.3 * 0.4 * 0.5, 1e-15);
  djt_near(box.first.x, 2 * box.volume, 1e-14);
  checkMoments(&mesh, &box, 1e-13);
  djQuadratic trace = {.B = dju_eye3()};   // tr of the second moments does not depend on q
  double across = (0.09 + 0.16 + 0.25) / 3;
  djt_near(dj_integral(&trace, &box), box.volume * (across + 5), 1e-13);
  dj_addMoments(&simplex, m, 2, &surface[1]);
  // int x = 1/24, int x^2 = 1/60, int xy = 1/120, then moved by (2, -1, 0).
  djt_near(simplex.volume, 1.0 / 6, 1e-15);
  djt_near(simplex.first.x, 1.0 / 24 + 2.0 / 6, 1e-15);
  djt_near(simplex.first.z, 1.0 / 24, 1e-15);
  djt_near(simplex.second.m[0], 1.0 / 60 + 4.0 / 24 + 4.0 / 6, 1e-14);
  djt_near(simplex.second.m[1], 1.0 / 120 + 2.0 / 24 - 1.0 / 24 - 2.0 / 6, 1e-14);
  djt_near(simplex.second.m[8], 1.0 / 60, 1e-15);
  for (int k = 0; k < 2; k++) dj_freeHull(&hull[k]);
  dj_deleteModel(m);
}

// ---- axes

static void testAxes(void) {
  Random r = {21};
  for (int trial = 0; trial < 300; trial++) {
    double d[3];
    for (int k = 0; k < 3; k++) d[k] = trial % 3 == 0 ? logUniform(&r, 1e-8, 1) : uniform(&r, 0, 1);
    if (trial % 5 == 0) d[1] = d[0];
    djMat3 R = dju_quatToMat(randomQuat(&r)), S = R;
    for (int i = 0; i < 9; i++) S.m[i] *= d[i % 3];
    djMat3 T = S;
    for (int i = 0; i < 9; i++) {
      S.m[i] = dju_dot3(dju_load3(T.m + 3 * (i / 3)), dju_load3(R.m + 3 * (i % 3)));
    }
    djQuat q = trial % 2 ? randomQuat(&r) : (djQuat){1, 0, 0, 0};
    double value[3];
    dju_principalAxes(&q, value, &S);
    djMat3 Q = dju_quatToMat(q);
    for (int k = 0; k < 3; k++) {
      djVec3 a = dju_column(&Q, k), Sa = dju_mulMV(S, a);
      djt_near(dju_norm3(dju_madd3(Sa, -value[k], a)), 0, 1e-13);
    }
    djt_near(value[0] + value[1] + value[2], d[0] + d[1] + d[2], 1e-14);
    // From the solution nothing moves.
    djQuat again = q;
    dju_principalAxes(&again, value, &S);
    djVec3 turn = dju_logQuat(dju_mulQuat(dju_conj(q), again));
    djt_near(dju_norm3(turn), 0, 1e-6);
  }
}

// ---- bodies

// A body of one geom at density 1000, not at its frame.
static djModel* uniformBody(Scene* s, djGeomType type, const double* size, Random* r) {
  start(s, 2);
  djGeomDef* g = addGeom(s, 1, type, size[0], size[1], size[2]);
  for (int k = 0; k < 3; k++) g->pos[k] = uniform(r, -1, 1);
  dju_storeQuat(g->quat, randomQuat(r));
  if (type == DJ_MESH) {
    boxVertices(s->vert[0], size[0], size[1], size[2]);
    s->mesh[0] = (djMeshDef){.nvert = 8, .vert = s->vert[0]};
    s->def.nmesh = 1;
    g->mesh = 0;
  }
  djBodyDef* b = &s->body[1];
  double x = size[0], y = size[1], z = size[2], *I = b->inertia;
  memcpy(b->ipos, g->pos, sizeof b->ipos);
  memcpy(b->iquat, g->quat, sizeof b->iquat);
  switch (type) {
    case DJ_SPHERE:
      b->mass = 4000 * pi / 3 * x * x * x;
      I[0] = I[1] = I[2] = 0.4 * b->mass * x * x;
      break;
    case DJ_CYLINDER:
      b->mass = 2000 * pi * x * x * y;
      I[0] = I[1] = b->mass * (3 * x * x + 4 * y * y) / 12;
      I[2] = b->mass * x * x / 2;
      break;
    case DJ_CAPSULE: {
      double rod = 2000 * pi * x * x * y, ball = 4000 * pi / 3 * x * x * x;
      b->mass = rod + ball;
      I[0] = I[1] = rod * (3 * x * x + 4 * y * y) / 12 +
                    ball * (0.4 * x * x + y * y + 0.75 * x * y);
      I[2] = rod * x * x / 2 + ball * 0.4 * x * x;
      break;
    }
    default: {
      double part = type == DJ_ELLIPSOID ? 5 : 3;
      b->mass = 1000 * x * y * z * (type == DJ_ELLIPSOID ? 4 * pi / 3 : 8);
      I[0] = b->mass * (y * y + z * z) / part;
      I[1] = b->mass * (x * x + z * z) / part;
      I[2] = b->mass * (x * x + y * y) / part;
    }
  }
  return make(s);
}

// A body that takes another's geom takes its mass and inertia.
static void testClosedForms(void) {
  static const djGeomType types[] = {DJ_SPHERE,    DJ_CAPSULE, DJ_CYLINDER,
                                     DJ_ELLIPSOID, DJ_BOX,     DJ_MESH};
  static const double from[3] = {0.2, 0.3, 0.4}, to[3] = {0.25, 0.33, 0.37};
  Random r = {2};
  for (int k = 0; k < 6; k++) {
    Scene s, t;
    djModel* m = uniformBody(&s, types[k], from, &r);
    djModel *other = uniformBody(&t, types[k], to, &r), *design = djt_copy(m);
    setParam(design, DJ_FIELD_GEOM_POS, 0, other->geom_pos);
    setParam(design, DJ_FIELD_GEOM_QUAT, 0, other->geom_quat);
    if (types[k] == DJ_MESH) setParam(design, DJ_FIELD_MESH_VERT, 0, other->mesh_vert);
    else setParam(design, DJ_FIELD_GEOM_SIZE, 0, other->geom_size);
    djContactSettings settings = m->contact;
    followGeoms(design, m);
    djt_near(design->body_mass[1], other->body_mass[1], 1e-11 * other->body_mass[1]);
    djt_near(design->total_mass, other->body_mass[1], 1e-11 * other->body_mass[1]);
    djt_near(design->moving_mass, design->total_mass, 0);
    for (int i = 0; i < 3; i++) djt_near(design->body_ipos[3 + i], other->body_ipos[3 + i], 1e-13);
    // Tensors agree; axes may have another order.
    djMat3 A = dju_quatToMat(dju_loadQuat(design->body_iquat + 4));
    djMat3 B = dju_quatToMat(dju_loadQuat(other->body_iquat + 4));
    for (int i = 0; i < 9; i++) {
      double x = 0, y = 0;
      for (int j = 0; j < 3; j++) {
        x += A.m[3 * (i / 3) + j] * A.m[3 * (i % 3) + j] * design->body_inertia[3 + j];
        y += B.m[3 * (i / 3) + j] * B.m[3 * (i % 3) + j] * other->body_inertia[3 + j];
      }
      djt_near(x, y, 1e-11 * other->body_inertia[3]);
    }
    assert_memory_equal(&settings, &design->contact, sizeof settings);
    // Back at the compiled geoms all is as compiled, bit by bit.
    setParam(design, DJ_FIELD_GEOM_POS, 0, m->geom_pos);
    setParam(design, DJ_FIELD_GEOM_QUAT, 0, m->geom_quat);
    if (types[k] == DJ_MESH) setParam(design, DJ_FIELD_MESH_VERT, 0, m->mesh_vert);
    else setParam(design, DJ_FIELD_GEOM_SIZE, 0, m->geom_size);
    followGeoms(design, m);
    assert_memory_equal(design->body_mass, m->body_mass, 2 * sizeof(double));
    assert_memory_equal(design->body_ipos, m->body_ipos, 6 * sizeof(double));
    assert_memory_equal(design->body_iquat, m->body_iquat, 8 * sizeof(double));
    assert_memory_equal(design->body_inertia, m->body_inertia, 6 * sizeof(double));
    dj_deleteModel(design);
    dj_deleteModel(other);
    dj_deleteModel(m);
  }
}

// A cube's moments stay equal and its axes stay; a slightly longer one's axes move slightly.
static void testCube(void) {
  Random r = {9};
  Scene s;
  djModel* m = uniformBody(&s, DJ_BOX, (double[3]){0.1, 0.1, 0.1}, &r);
  djModel* design = djt_copy(m);
  setParam(design, DJ_FIELD_GEOM_SIZE, 0, (double[3]){0.2, 0.2, 0.2});
  double quat[4];
  dju_storeQuat(quat, randomQuat(&r));
  setParam(design, DJ_FIELD_GEOM_QUAT, 0, quat);
  followGeoms(design, m);
  assert_memory_equal(design->body_iquat, m->body_iquat, 8 * sizeof(double));
  djt_near(design->body_mass[1], 64, 1e-12);
  for (int k = 0; k < 3; k++) djt_near(design->body_inertia[3 + k], 64 * 0.08 / 3, 1e-12);
  setParam(design, DJ_FIELD_GEOM_QUAT, 0, m->geom_quat);
  setParam(design, DJ_FIELD_GEOM_SIZE, 0, (double[3]){0.2, 0.2 + 1e-9, 0.2 - 1e-7});
  followGeoms(design, m);
  djVec3 turn = dju_logQuat(dju_mulQuat(dju_conj(dju_loadQuat(m->body_iquat + 4)),
                                        dju_loadQuat(design->body_iquat + 4)));
  djt_near(dju_norm3(turn), 0, 1e-5);
  dj_deleteModel(design);
  dj_deleteModel(m);
}

static void testRefused(void) {
  Random r = {12};
  Scene s, t;
  djModel* m = uniformBody(&s, DJ_BOX, (double[3]){0.1, 0.2, 0.3}, &r);
  djModel* other = uniformBody(&t, DJ_MESH, (double[3]){0.1, 0.2, 0.3}, &r);
  djError err = {""};
  assert_int_equal(dj_followGeoms(NULL, m, &err), DJ_INVALID);
  assert_int_equal(dj_followGeoms(m, NULL, &err), DJ_INVALID);
  assert_int_equal(dj_followGeoms(m, other, &err), DJ_INVALID);
  // Compiled with a mass that is much nearer to its centre than the geom.
  s.body[1].inertia[0] = s.body[1].inertia[1] = s.body[1].inertia[2] = 1e-3;
  djModel *odd = make(&s), *design = djt_copy(odd), *before;
  setParam(design, DJ_FIELD_GEOM_SIZE, 0, (double[3]){0.05, 0.1, 0.15});
  before = djt_copy(design);
  djt_refused(DJ_INVALID, dj_followGeoms(design, odd, &err), err,
              "body #1: its geoms leave no possible mass and inertia");
  assert_memory_equal(design->buffer, before->buffer, design->nbuffer);
  dj_deleteModel(before);
  dj_deleteModel(design);
  dj_deleteModel(odd);
  dj_deleteModel(other);
  dj_deleteModel(m);
}

// A box that is halved along an axis loses 7/8 of its second moment along it. A body compiled with
// slightly less than that is refused, whichever axis it is, even where its moments of inertia would
// pass for those of a body; with slightly more it is not.
static void testNegative(void) {
  static const double full[3] = {0.1, 0.1, 0.1}, mass = 1, part = 0.01 / 3;
  for (int axis = 0; axis < 3; axis++) {
    for (int fits = 0; fits < 2; fits++) {
      Scene s;
      start(&s, 2);
      addGeom(&s, 1, DJ_BOX, full[0], full[1], full[2]);
      double second[3] = {2 * part, 2 * part, 2 * part}, *I = s.body[1].inertia;
      double size[3] = {full[0], full[1], full[2]};
      size[axis] *= 0.5;
      second[axis] = (fits ? 0.876 : 0.874) * part;
      for (int k = 0; k < 3; k++) I[k] = second[(k + 1) % 3] + second[(k + 2) % 3];
      s.body[1].mass = mass;
      djModel *m = make(&s), *design = djt_copy(m);
      djError err = {""};
      setParam(design, DJ_FIELD_GEOM_SIZE, 0, size);
      assert_int_equal(dj_followGeoms(design, m, &err), fits ? DJ_OK : DJ_INVALID);
      if (fits) {   // the moments of inertia that are left
        for (int k = 0; k < 3; k++) second[k] -= k == axis ? 0.875 * part : 0.5 * part;
        for (int k = 0; k < 3; k++) {
          djt_near(design->body_inertia[3 + k], second[(k + 1) % 3] + second[(k + 2) % 3], 1e-15);
        }
      }
      dj_deleteModel(design);
      dj_deleteModel(m);
    }
  }
}

// ---- derivatives

static djModel* randomModel(Scene* s, Random* r) {
  static const djGeomType types[] = {DJ_SPHERE, DJ_CAPSULE, DJ_CYLINDER, DJ_ELLIPSOID,
                                     DJ_BOX,    DJ_MESH,    DJ_PLANE};
  start(s, NBODY);
  s->def.nmesh = NMESH;
  for (int k = 0; k < NMESH; k++) {
    cloud(r, 1, NPOINT, s->vert[k]);
    for (int i = 0; i < 3 * NPOINT; i++) s->vert[k][i] = 0.2 * s->vert[k][i] + 0.1;
    s->mesh[k] = (djMeshDef){.nvert = NPOINT, .vert = s->vert[k]};
  }
  for (int g = 0; g < NGEOM; g++) {
    int body = g * NBODY / NGEOM, type = types[body == 0 ? 6 : below(r, 6)];
    double size[3];
    djt_uniforms(size, 3, r, 0.1, 0.3);
    djGeomDef* d = addGeom(s, body, type, size[0], size[1], size[2]);
    for (int k = 0; k < 3; k++) d->pos[k] = uniform(r, -0.3, 0.3);
    dju_storeQuat(d->quat, randomQuat(r));
    d->mesh = type == DJ_MESH ? below(r, NMESH) : -1;
    d->contype = d->conaffinity = below(r, 2);   // also those that do not collide
  }
  for (int b = 1; b < NBODY; b++) {
    djBodyDef* d = &s->body[b];
    d->mass = uniform(r, 1, 2);
    for (int k = 0; k < 3; k++) d->ipos[k] = uniform(r, -0.3, 0.3);
    dju_storeQuat(d->iquat, randomQuat(r));
    d->inertia[0] = 0.5;
    d->inertia[1] = 0.6;
    d->inertia[2] = 0.75;
  }
  return make(s);
}

static void perturb(djModel* m, Random* r, double size) {
  static const djField fields[] = {DJ_FIELD_GEOM_POS, DJ_FIELD_GEOM_QUAT, DJ_FIELD_GEOM_SIZE,
                                   DJ_FIELD_MESH_VERT};
  for (int f = 0; f < 4; f++) {
    for (int id = 0; id < (f == 3 ? m->nmesh : m->ngeom); id++) {
      djParam p;
      double value[3 * NPOINT];
      assert_true(dj_makeParam(&p, m, fields[f], id));
      assert_int_equal(dj_getParam(value, m, &p), DJ_OK);
      for (int k = 0; k < p.nvalue; k++) value[k] += uniform(r, -size, size);
      if (m->geom_type[id] == DJ_PLANE && f == 2) continue;
      assert_int_equal(dj_setParam(m, &p, value, NULL), DJ_OK);
    }
  }
}

// A linear function of masses, centres, tensors in fixed axes, moments and rotations of axes.
typedef struct Loss {
  const djModel* base;
  double mass[NBODY], ipos[3 * NBODY], inertia[3 * NBODY], iquat[3 * NBODY], tensor[6 * NBODY];
} Loss;

static double lossOf(const Loss* l, const djModel* m) {
  double sum = 0;
  for (int b = 1; b < m->nbody; b++) {
    sum += l->mass[b] * m->body_mass[b];
    djQuat q0 = dju_loadQuat(l->base->body_iquat + 4 * b);
    djQuat turn = dju_mulQuat(dju_conj(q0), dju_loadQuat(m->body_iquat + 4 * b));
    djMat3 R = dju_quatToMat(turn), I = R;
    for (int i = 0; i < 9; i++) I.m[i] *= m->body_inertia[3 * b + i % 3];
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    for (int k = 0; k < 6; k++) {
      sum += l->tensor[6 * b + k] *
             dju_dot3(dju_load3(I.m + 3 * row[k]), dju_load3(R.m + 3 * column[k]));
    }
    djVec3 w = dju_logQuat(turn);
    for (int k = 0; k < 3; k++) {
      sum += l->ipos[3 * b + k] * m->body_ipos[3 * b + k] +
             l->inertia[3 * b + k] * m->body_inertia[3 * b + k] +
             l->iquat[3 * b + k] * (&w.x)[k];
    }
  }
  return sum;
}

static double lossAt(const Loss* l, const djModel* design, const djModel* compiled,
                     const djParam* p, const double* direction, double t) {
  djModel* m = djt_copy(design);
  double value[3 * NPOINT];
  assert_int_equal(dj_getParam(value, m, p), DJ_OK);
  if (p->nvalue == 4) {
    djQuat turn = dju_expQuat(dju_scale3(t, dju_load3(direction)));
    dju_storeQuat(value, dju_mulQuat(dju_loadQuat(value), turn));
  } else {
    for (int k = 0; k < p->nvalue; k++) value[k] += t * direction[k];
  }
  assert_int_equal(dj_setParam(m, p, value, NULL), DJ_OK);
  followGeoms(m, compiled);
  double loss = lossOf(l, m);
  dj_deleteModel(m);
  return loss;
}

static double worstError(const Loss* l, const djModel* design, const djModel* compiled,
                         double* param, Random* r) {
  static const djField fields[] = {DJ_FIELD_GEOM_POS, DJ_FIELD_GEOM_QUAT, DJ_FIELD_GEOM_SIZE,
                                   DJ_FIELD_MESH_VERT};
  double worst = 0, h = 1e-3;
  for (int f = 0; f < 4; f++) {
    for (int id = 0; id < (f == 3 ? design->nmesh : design->ngeom); id++) {
      djParam p;
      assert_true(dj_makeParam(&p, design, fields[f], id));
      double direction[3 * NPOINT], analytic = 0, size = 0;
      const double* entry = dj_paramEntry(param, design, fields[f], id);
      for (int k = 0; k < p.ntangent; k++) {
        direction[k] = uniform(r, -1, 1);
        analytic += direction[k] * entry[k];
        size += fabs(direction[k] * entry[k]);
      }
      if (f < 3 && design->geom_type[id] == DJ_PLANE) {
        assert_true(size == 0);
        continue;
      }
      double wide = lossAt(l, design, compiled, &p, direction, h) -
                    lossAt(l, design, compiled, &p, direction, -h);
      double fine = lossAt(l, design, compiled, &p, direction, h / 2) -
                    lossAt(l, design, compiled, &p, direction, -h / 2);
      double other = (8 * fine - wide) / (6 * h);
      worst = djt_worst(worst, fabs(other - analytic) / fmax(size, 1));
    }
  }
  return worst;
}

static void fillRandom(double* x, int n, Random* r) {
  for (int i = 0; i < n; i++) x[i] = uniform(r, -1, 1);
}

static void testDerivative(void) {
  Random r = {31};
  for (int trial = 0; trial < 6; trial++) {
    static Scene s;
    djModel *compiled = randomModel(&s, &r), *design = djt_copy(compiled);
    if (trial > 0) perturb(design, &r, 0.02);
    followGeoms(design, compiled);
    // What the design remembers of hulls changes nothing.
    djModel* again = djt_copy(design);
    followGeoms(again, compiled);
    followGeoms(design, compiled);
    assert_memory_equal(again->body_inertia, design->body_inertia, 3 * NBODY * sizeof(double));
    dj_deleteModel(again);
    Loss l = {.base = design};
    fillRandom(l.mass, NBODY, &r);
    fillRandom(l.ipos, 3 * NBODY, &r);
    fillRandom(l.tensor, 6 * NBODY, &r);
    if (trial % 2) {
      fillRandom(l.inertia, 3 * NBODY, &r);
      for (int k = 0; k < 3 * NBODY; k++) l.iquat[k] = 1e-2 * uniform(&r, -1, 1);
    }
    double* param = calloc(dj_paramGradSize(design) + 1, sizeof *param);
    memcpy(dj_paramBlock(param, design, DJ_FIELD_BODY_MASS), l.mass, sizeof l.mass);
    memcpy(dj_paramBlock(param, design, DJ_FIELD_BODY_IPOS), l.ipos, sizeof l.ipos);
    memcpy(dj_paramBlock(param, design, DJ_FIELD_BODY_INERTIA), l.inertia, sizeof l.inertia);
    memcpy(dj_paramBlock(param, design, DJ_FIELD_BODY_IQUAT), l.iquat, sizeof l.iquat);
    double tensor[6 * NBODY], *own = dj_paramBlock(param, design, DJ_FIELD_BODY_MASS);
    memcpy(tensor, l.tensor, sizeof tensor);
    assert_int_equal(dj_followInertiaParams(param, tensor, NULL, design, compiled), DJ_OK);
    assert_true(own[1] == 0 && own[2] == 0 && own[3] == 0 && tensor[6] == 0);
    double error = worstError(&l, design, compiled, param, &r);
    if (!(error < 1e-7)) fail_msg("trial %d: error %g", trial, error);
    // Any part that is left out shows.
    for (int part = 0; part < 4; part++) {
      Loss wrong = l;
      if (part == 0) wrong.mass[2] = 0;
      if (part == 1) wrong.ipos[7] += 0.5;
      if (part == 2) wrong.tensor[6 * 2 + 1] += 0.5;
      if (part == 3) wrong.tensor[6 * 2 + 4] += 0.5;
      assert_true(worstError(&wrong, design, compiled, param, &r) > 1e-5);
    }
    free(param);
    dj_deleteModel(design);
    dj_deleteModel(compiled);
  }
}

DJT_MAIN(testPrimitives, testSolids, testAxes, testClosedForms, testCube, testRefused, testNegative,
         testDerivative)
