// Rules by which mass follows geoms: lumped masses and unions in closed form, facets that are
// renewed, and derivatives of all rules against differences.

#include "common/make_model.h"
#include "common/near.h"
#include "common/random_shape.h"
#include "common/test.h"
#include "contact/contact.h"
#include "inertia/body_hulls.h"
#include "inertia/facets.h"
#include "inertia/geom_inertia.h"
#include "inertia/mass_rule.h"
#include "math/so3.h"
#include "model/param.h"

#include <dijoco/overlap.h>

enum { NMESH = 3, NPOINT = 16, NGEOM = 5 };
static const djInertiaRule rules[] = {DJ_INERTIA_EXACT, DJ_INERTIA_LUMPED, DJ_INERTIA_UNION};

// One free body.
typedef struct Scene {
  djModelDef def;
  djBodyDef body[2];
  djJointDef joint;
  djGeomDef geom[NGEOM];
  djMeshDef mesh[NMESH];
  double vert[NMESH][3 * NPOINT];
} Scene;

static void start(Scene* s) {
  memset(s, 0, sizeof *s);
  s->def = dj_defaultModelDef();
  s->def.body = s->body;
  s->def.joint = &s->joint;
  s->def.geom = s->geom;
  s->def.mesh = s->mesh;
  s->def.nbody = 2;
  s->def.njnt = 1;
  s->body[0] = s->body[1] = dj_defaultBodyDef();
  s->body[1].mass = 1;
  for (int k = 0; k < 3; k++) s->body[1].inertia[k] = 1;
  s->joint = dj_defaultJointDef();
  s->joint.body = 1;
  s->joint.type = DJ_FREE;
  s->joint.qpos0[3] = s->joint.springref[3] = 1;
}

static djGeomDef* addGeom(Scene* s, djGeomType type) {
  djGeomDef* g = &s->geom[s->def.ngeom++];
  *g = dj_defaultGeomDef();
  g->body = 1;
  g->type = type;
  return g;
}

static double* addMesh(Scene* s, int nvert) {
  int k = s->def.nmesh++;
  s->mesh[k] = (djMeshDef){.nvert = nvert, .vert = s->vert[k]};
  addGeom(s, DJ_MESH)->mesh = k;
  return s->vert[k];
}

static void addBox(Scene* s, djVec3 at, djVec3 half) {
  double* v = addMesh(s, 8);
  boxVertices(v, half.x, half.y, half.z);
  for (int i = 0; i < 24; i++) v[i] += (&at.x)[i % 3];
}

static void follow(djModel* m, const djModel* compiled, djInertiaRule rule) {
  djError err = {""};
  if (dj_followGeomsBy(m, compiled, rule, &err) != DJ_OK) fail_msg("%s", err.text);
}

static void moveMesh(djModel* m, int mesh, const double* vert) {
  djParam p;
  djError err = {""};
  assert_true(dj_makeParam(&p, m, DJ_FIELD_MESH_VERT, mesh));
  if (dj_setParam(m, &p, vert, &err) != DJ_OK) fail_msg("%s", err.text);
}

// Mass 1 and the moments of the geoms as a compiler has them: overlaps count twice.
static djModel* compile(Scene* s) {
  djModel* m = djt_makeModel(&s->def);
  djMoments sum = {0};
  djSurfaces surfaces;
  assert_int_equal(dj_makeSurfaces(&surfaces, m, m), DJ_OK);
  for (int g = 0; g < m->ngeom; g++) {
    bool is_mesh = m->geom_type[g] == DJ_MESH;
    dj_addMoments(&sum, m, g, is_mesh ? &surfaces.before[m->geom_mesh[g]] : NULL);
  }
  dj_freeSurfaces(&surfaces);
  djBodyDef* b = &s->body[1];
  b->mass = 1;
  dju_store3(b->ipos, dju_scale3(1 / sum.volume, sum.first));
  double trace = 0, S[9];
  for (int i = 0; i < 9; i++) {
    S[i] = sum.second.m[i] / sum.volume - b->ipos[i / 3] * b->ipos[i % 3];
    trace += i % 4 == 0 ? S[i] : 0;
  }
  for (int i = 0; i < 9; i++) {   // these scenes are symmetric
    if (i % 4) djt_near(S[i], 0, 1e-12);
    else b->inertia[i / 4] = trace - S[i];
  }
  dj_deleteModel(m);
  return djt_makeModel(&s->def);
}

// The inertia tensor, body frame.
static void tensorOf(double I[9], const djModel* m) {
  djMat3 R = dju_quatToMat(dju_loadQuat(m->body_iquat + 4));
  for (int i = 0; i < 9; i++) {
    I[i] = 0;
    for (int k = 0; k < 3; k++) {
      I[i] += R.m[3 * (i / 3) + k] * R.m[3 * (i % 3) + k] * m->body_inertia[3 + k];
    }
  }
}

static void assertSame(const djModel* a, const djModel* b, double tolerance) {
  double I[9], J[9];
  tensorOf(I, a);
  tensorOf(J, b);
  djt_near(a->body_mass[1], b->body_mass[1], tolerance);
  for (int k = 0; k < 3; k++) djt_near(a->body_ipos[3 + k], b->body_ipos[3 + k], tolerance);
  for (int k = 0; k < 9; k++) djt_near(I[k], J[k], tolerance);
}

// ---- lumped

// Two boxes, one with a vertex inside, and a sphere: 16 equal masses, which stay so where a design
// is what another one is compared with.
static void testLumped(void) {
  Scene s;
  start(&s);
  addBox(&s, dju_vec3(0, 0, 0), dju_vec3(0.1, 0.2, 0.3));
  s.mesh[0].nvert = 9;   // the ninth is in the middle
  addBox(&s, dju_vec3(0.5, 0, 0), dju_vec3(0.2, 0.1, 0.1));
  addGeom(&s, DJ_SPHERE)->size[0] = 0.1;
  djModel *m = djt_makeModel(&s.def), *design = djt_copy(m), *first = NULL;
  double vert[27] = {0}, x[16][3], mesh = 0.048 + 0.016, ball = 4e-3 * 3.14159265358979323846 / 3;
  memcpy(vert, s.vert[0], 24 * sizeof(double));
  for (int moved = 0; moved < 3; moved++) {
    if (moved == 2) first = djt_copy(design);
    if (moved) {
      vert[0] -= 0.05;   // grows
      vert[26] = 0.01;   // moves inside
      moveMesh(design, 0, vert);
    }
    follow(design, first ? first : m, DJ_INERTIA_LUMPED);
    memcpy(x[0], vert, 24 * sizeof(double));
    memcpy(x[8], s.vert[1], 24 * sizeof(double));
    double lump = mesh / (mesh + ball) / 16, rest = ball / (mesh + ball), c[3] = {0}, I[9], J[9];
    for (int i = 0; i < 16; i++) {
      for (int k = 0; k < 3; k++) c[k] += lump * x[i][k];
    }
    djt_near(design->body_mass[1], 1, 1e-14);
    for (int k = 0; k < 3; k++) djt_near(design->body_ipos[3 + k], c[k], 1e-14);
    double trace = 0, S[9];
    for (int k = 0; k < 9; k++) {
      S[k] = (k % 4 ? 0 : 0.2 * rest * 0.01) - c[k / 3] * c[k % 3];
      for (int i = 0; i < 16; i++) S[k] += lump * x[i][k / 3] * x[i][k % 3];
      trace += k % 4 ? 0 : S[k];
    }
    tensorOf(I, design);
    for (int k = 0; k < 9; k++) J[k] = (k % 4 ? 0 : trace) - S[k];
    for (int k = 0; k < 9; k++) djt_near(I[k], J[k], 1e-13);
  }
  dj_deleteModel(first);
  dj_deleteModel(design);
  dj_deleteModel(m);
}

// ---- union

// Boxes that overlap and fill a larger box: what MuJoCo would compile from that one, at the density
// of the parts. Then the parts are moved as one, so that the same is so of another size.
static void testUnion(void) {
  Scene s, t;
  start(&s);
  start(&t);
  addBox(&s, dju_vec3(-0.1, 0, 0), dju_vec3(0.3, 0.2, 0.1));
  addBox(&s, dju_vec3(0.1, 0, 0), dju_vec3(0.3, 0.2, 0.1));
  djGeomDef* inner = addGeom(&s, DJ_BOX);   // covers what both do, in part
  for (int k = 0; k < 3; k++) inner->size[k] = 0.05;
  addBox(&t, dju_vec3(0, 0, 0), dju_vec3(0.4, 0.2, 0.1));
  djModel *m = compile(&s), *whole = compile(&t), *design = djt_copy(m);
  double sum = 2 * 0.048 + 1e-3, all = 0.064;
  follow(design, m, DJ_INERTIA_UNION);
  djt_near(design->body_mass[1], all / sum, 1e-9);
  djt_near(design->body_inertia[3] / design->body_mass[1], whole->body_inertia[3], 1e-8);
  // Once more, from what was followed, and from that with its rule forgotten, as after a file.
  djModel *base = djt_copy(design), *again = djt_copy(base);
  follow(again, base, DJ_INERTIA_UNION);
  assertSame(again, design, 1e-9);
  base->collision->inertia_rule = 0;
  follow(again, base, DJ_INERTIA_UNION);
  assertSame(again, design, 1e-9);
  // Longer by 10%.
  double vert[24];
  for (int k = 0; k < 2; k++) {
    memcpy(vert, s.vert[k], sizeof vert);
    for (int i = 0; i < 8; i++) vert[3 * i] *= 1.1;
    moveMesh(design, k, vert);
    moveMesh(again, k, vert);
  }
  memcpy(vert, t.vert[0], sizeof vert);
  for (int i = 0; i < 8; i++) vert[3 * i] *= 1.1;
  djModel* longer = djt_copy(whole);
  moveMesh(longer, 0, vert);
  follow(longer, whole, DJ_INERTIA_EXACT);
  follow(design, m, DJ_INERTIA_UNION);
  follow(again, base, DJ_INERTIA_UNION);
  assertSame(again, design, 1e-9);
  djt_near(design->body_mass[1], 1.1 * all / sum, 1e-9);
  djt_near(design->body_inertia[4] / design->body_mass[1],
           longer->body_inertia[4] / longer->body_mass[1], 1e-8);
  djHullOverlap o;
  assert_int_equal(dj_bodyOverlap(&o, design, -1, NULL), DJ_OK);
  djt_near(o.whole, 1.1 * all, 1e-8);
  assert_int_equal(o.nhull, 3);
  dj_deleteModel(longer);
  dj_deleteModel(again);
  dj_deleteModel(base);
  dj_deleteModel(design);
  dj_deleteModel(whole);
  dj_deleteModel(m);
}

// Boxes that touch are as with `exact`.
static void testTouching(void) {
  Scene s;
  start(&s);
  addBox(&s, dju_vec3(-0.1, 0, 0), dju_vec3(0.1, 0.2, 0.1));
  addBox(&s, dju_vec3(0.1, 0, 0), dju_vec3(0.1, 0.2, 0.1));
  djModel *m = compile(&s), *exact = djt_copy(m), *united = djt_copy(m);
  double vert[24];
  memcpy(vert, s.vert[0], sizeof vert);
  vert[0] -= 0.01;   // away from the other
  for (int k = 0; k < 2; k++) {
    follow(exact, m, DJ_INERTIA_EXACT);
    follow(united, m, DJ_INERTIA_UNION);
    assertSame(exact, united, 1e-14);
    moveMesh(exact, 0, vert);
    moveMesh(united, 0, vert);
  }
  dj_deleteModel(m);
  dj_deleteModel(exact);
  dj_deleteModel(united);
}

// ---- facets

static double hullVolume(const double* vert, int n) {
  djMoments sum = {0};
  djPolytope part = {.vert = vert};
  int* face;
  assert_int_equal(dj_hullFacets(&part.nface, &face, n, vert), DJ_OK);
  part.face = face;
  assert_int_equal(dj_unionMoments(&sum, 1, &part), DJ_OK);
  free(face);
  return sum.volume;
}

static void testFacets(void) {
  Scene s;
  start(&s);
  addBox(&s, dju_vec3(0, 0, 0), dju_vec3(0.1, 0.1, 0.1));
  addBox(&s, dju_vec3(1, 0, 0), dju_vec3(0.1, 0.1, 0.1));
  djModel *m = compile(&s), *design = djt_copy(m);
  double vert[24], rho = 1 / 0.016;
  int changed;
  assert_int_equal(dj_renewFacets(&changed, design, m, NULL), DJ_OK);
  assert_int_equal(changed, 0);   // a box's facets are flat, whatever their triangles
  memcpy(vert, s.vert[0], sizeof vert);
  for (int k = 0; k < 3; k++) vert[k] *= 0.5;   // a corner moves inward: three facets bend
  moveMesh(design, 0, vert);
  follow(design, m, DJ_INERTIA_EXACT);
  double held = design->body_mass[1];
  assert_int_equal(dj_renewFacets(&changed, design, m, NULL), DJ_OK);
  assert_int_equal(changed, 1);
  follow(design, m, DJ_INERTIA_EXACT);
  djt_near(design->body_mass[1], rho * (0.008 + hullVolume(vert, 8)), 1e-14);
  assert_true(fabs(held - design->body_mass[1]) > 1e-3);
  assert_int_equal(dj_renewFacets(&changed, design, m, NULL), DJ_OK);
  assert_int_equal(changed, 0);
  djModel* copy = djt_copy(design); // has them, too
  follow(copy, m, DJ_INERTIA_EXACT);
  assertSame(copy, design, 0);
  // A vertex that has sunk has no lump from then on.
  follow(design, m, DJ_INERTIA_LUMPED);
  double lumped = design->body_ipos[3];
  for (int k = 0; k < 3; k++) vert[k] = 0;
  moveMesh(design, 0, vert);
  assert_int_equal(dj_renewFacets(&changed, design, m, NULL), DJ_OK);
  assert_int_equal(changed, 1);
  follow(design, m, DJ_INERTIA_LUMPED);
  djt_near(design->body_ipos[3], (0.1 + 8) / 15, 1e-14);
  djt_near(lumped, (0.05 + 8) / 16, 1e-14);
  djt_near(design->body_mass[1], 1, 1e-14);
  assert_int_equal(dj_renewFacets(NULL, design, m, NULL), DJ_INVALID);
  dj_deleteModel(copy);
  dj_deleteModel(design);
  dj_deleteModel(m);
}

static void testNames(void) {
  Scene s;
  start(&s);
  addBox(&s, dju_vec3(0, 0, 0), dju_vec3(0.1, 0.1, 0.1));
  djModel* m = compile(&s);
  djError err = {""};
  for (int k = 0; k < 4; k++) {
    assert_int_equal(dj_inertiaRuleByName(dj_inertiaRuleName((djInertiaRule)k)), k);
  }
  assert_int_equal(dj_inertiaRuleByName("other"), -1);
  djt_refused(DJ_INVALID, dj_followGeomsBy(m, m, DJ_INERTIA_COMPILED, &err), err,
              "there is no such rule of inertia");
  dj_deleteModel(m);
}

// ---- derivatives

// Of mass, centre and tensor in fixed axes.
typedef struct Loss {
  double mass, ipos[3], tensor[9];
} Loss;

static double lossOf(const Loss* l, const djModel* m) {
  double I[9], sum = l->mass * m->body_mass[1];
  tensorOf(I, m);
  for (int k = 0; k < 3; k++) sum += l->ipos[k] * m->body_ipos[3 + k];
  for (int k = 0; k < 9; k++) sum += l->tensor[k] * I[k];
  return sum;
}

static djModel* cluster(Random* r) {
  Scene s;
  start(&s);
  for (int k = 0; k < NMESH; k++) {
    double* v = addMesh(&s, NPOINT);
    djVec3 at = randomPoint(r, 0.1, 0.1, 0.1);
    cloud(r, 1, NPOINT, v);
    for (int i = 0; i < 3 * NPOINT; i++) v[i] = 0.2 * v[i] + (&at.x)[i % 3];
    v[0] = at.x, v[1] = at.y, v[2] = at.z;   // inside
  }
  for (int k = 0; k < 2; k++) {
    djGeomDef* g = addGeom(&s, k ? DJ_CAPSULE : DJ_BOX);
    djt_uniforms(g->size, 3, r, 0.1, 0.2);
  }
  for (int g = 0; g < NGEOM; g++) {
    dju_store3(s.geom[g].pos, randomPoint(r, 0.1, 0.1, 0.1));
    dju_storeQuat(s.geom[g].quat, randomQuat(r));
  }
  s.body[1].mass = 2;
  s.body[1].inertia[0] = 0.5;
  s.body[1].inertia[1] = 0.6;
  s.body[1].inertia[2] = 0.75;
  return djt_makeModel(&s.def);
}

static double difference(const Loss* l, const djModel* design, const djModel* compiled,
                         djInertiaRule rule, const djParam* p, const double* direction) {
  const double step = 1e-7;
  double value[2];
  for (int side = 0; side < 2; side++) {
    djModel* m = djt_copy(design);
    double x[3 * NPOINT], t = side ? step : -step;
    assert_int_equal(dj_getParam(x, m, p), DJ_OK);
    if (p->nvalue == 4) {
      djQuat turn = dju_expQuat(dju_scale3(t, dju_load3(direction)));
      dju_storeQuat(x, dju_mulQuat(dju_loadQuat(x), turn));
    } else {
      for (int k = 0; k < p->nvalue; k++) x[k] += t * direction[k];
    }
    assert_int_equal(dj_setParam(m, p, x, NULL), DJ_OK);
    follow(m, compiled, rule);
    value[side] = lossOf(l, m);
    dj_deleteModel(m);
  }
  return (value[1] - value[0]) / (2 * step);
}

// By the tensor in principal axes: R^T A R, the order of model/body_param.h.
static void tensorGrad(double out[6], const Loss* l, const djModel* m) {
  static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
  djMat3 R = dju_quatToMat(dju_loadQuat(m->body_iquat + 4)), A;
  memcpy(A.m, l->tensor, sizeof A.m);
  djMat3 B = dju_mulMtM(R, dju_mulMM(A, R));
  for (int k = 0; k < 6; k++) {
    out[k] = B.m[3 * row[k] + column[k]] * (k < 3 ? 1 : 2);
  }
}

static void testDerivatives(void) {
  static const djField fields[] = {DJ_FIELD_GEOM_POS, DJ_FIELD_GEOM_QUAT, DJ_FIELD_GEOM_SIZE,
                                   DJ_FIELD_MESH_VERT};
  Random r = {14};
  for (int trial = 0; trial < 9; trial++) {
    djInertiaRule rule = rules[trial % 3];
    djModel *m = cluster(&r), *design = djt_copy(m);
    int changed;
    for (int k = 0; k < NMESH && trial >= 3; k++) {
      double x[3 * NPOINT];
      for (int i = 0; i < 3 * NPOINT; i++) {
        x[i] = m->mesh_vert[3 * m->mesh_vertadr[k] + i] + uniform(&r, -0.02, 0.02);
      }
      moveMesh(design, k, x);
    }
    if (trial >= 6) assert_int_equal(dj_renewFacets(&changed, design, m, NULL), DJ_OK);
    follow(design, m, rule);
    Loss l = {.mass = uniform(&r, -1, 1)};
    djt_uniforms(l.ipos, 3, &r, -1, 1);
    for (int i = 0; i < 3; i++) {
      for (int j = 0; j <= i; j++) l.tensor[3 * i + j] = l.tensor[3 * j + i] = uniform(&r, -1, 1);
    }
    double* param = calloc(dj_paramGradSize(design) + 1, sizeof *param);
    double tensor[12] = {0};
    tensorGrad(tensor + 6, &l, design);
    *dj_paramEntry(param, design, DJ_FIELD_BODY_MASS, 1) = l.mass;
    memcpy(dj_paramEntry(param, design, DJ_FIELD_BODY_IPOS, 1), l.ipos, sizeof l.ipos);
    assert_int_equal(dj_followInertiaParams(param, tensor, NULL, design, m), DJ_OK);
    for (int f = 0; f < 4; f++) {
      for (int id = 0; id < (f == 3 ? design->nmesh : design->ngeom); id++) {
        djParam p;
        assert_true(dj_makeParam(&p, design, fields[f], id));
        double direction[3 * NPOINT], analytic = 0, size = 1;
        const double* entry = dj_paramEntry(param, design, fields[f], id);
        for (int k = 0; k < p.ntangent; k++) {
          direction[k] = uniform(&r, -1, 1);
          analytic += direction[k] * entry[k];
          size += fabs(direction[k] * entry[k]);
        }
        double other = difference(&l, design, m, rule, &p, direction);
        if (fabs(other - analytic) <= 1e-6 * size) continue;
        fail_msg("%s, trial %d, field %d of %d: %.9g, difference %.9g", dj_inertiaRuleName(rule),
                 trial, f, id, analytic, other);
      }
    }
    free(param);
    dj_deleteModel(design);
    dj_deleteModel(m);
  }
}

DJT_MAIN(testLumped, testUnion, testTouching, testFacets, testNames, testDerivatives)
