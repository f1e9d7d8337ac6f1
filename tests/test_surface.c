// Implicit surfaces as given for geoms: definitions, their checks, contact shapes and bounds,
// meshes.

#include "common/make_model.h"
#include "common/random.h"
#include "common/test.h"

#include "contact/contact.h"
#include "contact/implicit/implicit_fit.h"
#include "contact/shapes/given.h"
#include "io/model_shape.h"
#include "model/surface.h"

#include <dijoco/dijoco.h>

// A static geom and a free body with another, of which the first has a surface.
typedef struct Case {
  djBodyDef body[2];
  djJointDef joint;
  djGeomDef geom[2];
  djSurfaceDef surface;
  djModelDef def;
} Case;

static void makeCase(Case* c, const char* family, int n, const double* size) {
  memset(c, 0, sizeof *c);
  c->body[0] = c->body[1] = dj_defaultBodyDef();
  c->body[1].mass = 1;
  c->body[1].inertia[0] = c->body[1].inertia[1] = c->body[1].inertia[2] = 0.01;
  c->joint = dj_defaultJointDef();
  c->joint.type = DJ_FREE;
  c->joint.body = 1;
  for (int k = 0; k < 2; k++) {
    c->geom[k] = dj_defaultGeomDef();
    c->geom[k].body = k;
    c->geom[k].type = k ? DJ_SPHERE : DJ_BOX;
    c->geom[k].size[0] = c->geom[k].size[1] = c->geom[k].size[2] = 0.1;
    c->geom[k].pos[k] = 0.3;
  }
  c->geom[0].surface = &c->surface;
  c->surface = (djSurfaceDef){
      .family = family, .nsize = n, .size = size, .pos = {0.1, 0.2, 0.3}, .quat = {2, 1, 0, 1}};
  c->def = dj_defaultModelDef();
  c->def.option.contact = (djContactModel)1;
  c->def.nbody = 2;
  c->def.body = c->body;
  c->def.njnt = 1;
  c->def.joint = &c->joint;
  c->def.ngeom = 2;
  c->def.geom = c->geom;
}

static const double cone[] = {0.4, 0.2, 0.3, 0.25, 12}, egg[] = {0.4, 0.2, 0.1, 3};

static djModel* make(Case* c) {
  makeCase(c, "truncated_cone", 5, cone);
  assert_string_equal(dj_contactName(c->def.option.contact), "implicit_surface");
  djModel* m = djt_makeModel(&c->def);
  return m;
}

static void test_names(void) {
  for (int i = 0; *djc_implicitFamily(i); i++) {
    assert_int_equal(dj_familyNamed(djc_implicitFamily(i)), i);
    assert_int_equal(djc_implicitNamed(djc_implicitFamily(i)), i);
    assert_string_equal(dj_familyName(i), djc_implicitFamily(i));
    assert_int_equal(dj_familyHasFacets(i), strcmp(djc_implicitNumber(i, 0), "A") == 0);
  }
  assert_int_equal(dj_familyNamed("ball"), -1);
  assert_int_equal(djc_implicitNamed("plane"), -1);
  assert_int_equal(djc_implicitNamed(NULL), -1);
  assert_int_equal(dj_familySize(dj_familyNamed("truncated_cone"), 0), 5);
  assert_int_equal(dj_familySize(dj_familyNamed("smooth_polytope"), 4), 18);
}

// What is given arrives, is copied, and comes out again.
static void test_definition(void) {
  Case c;
  djModel *m = make(&c), *copy, *again;
  assert_int_equal(m->geom_family[0], dj_familyNamed("truncated_cone"));
  assert_int_equal(m->geom_family[1], -1);
  assert_int_equal(m->nsurface, 4);
  assert_true(m->geom_sharpness[0] == 12 && m->geom_sharpness[1] == 1);
  assert_true(m->geom_sharpgiven[0] && !m->geom_sharpgiven[1]);
  djModelDef def;
  void* storage;
  assert_int_equal(dj_copyModel(&copy, m, NULL), DJ_OK);
  assert_int_equal(dj_getDef(&def, &storage, copy, NULL), DJ_OK);
  assert_null(def.geom[1].surface);
  assert_memory_equal(def.geom[0].surface->size, cone, sizeof cone);
  assert_int_equal(dj_makeModel(&again, &def, NULL), DJ_OK);
  assert_memory_equal(again->surface_number, m->surface_number, 4 * sizeof(double));
  assert_memory_equal(again->geom_surfacequat, m->geom_surfacequat, 8 * sizeof(double));
  dj_freeDef(storage);
  dj_deleteModel(again);
  dj_deleteModel(copy);
  dj_deleteModel(m);
}

static void test_refused(void) {
  const double bad[] = {0.4, 0, 0.3, 0.25, 12};
  const struct {
    const char* family;
    int n;
    const double* size;
    const char* names;
  } list[] = {{"truncated_cone", 4, cone, "has 5 numbers"},
              {"ball", 5, cone, "ball"},
              {NULL, 5, cone, "family"},
              {"truncated_cone", 5, bad, "Rt = 0"},
              {"truncated_cone", 5, NULL, "numbers"}};
  for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
    Case c;
    djModel* m;
    djError err = {""};
    makeCase(&c, list[i].family, list[i].n, list[i].size);
    djt_refusedWith(DJ_INVALID, dj_makeModel(&m, &c.def, &err), err, list[i].names);
    assert_non_null(strstr(err.text, "geom #0"));
  }
}

// A parameter that cannot be set leaves the model as it was, to the last bit.
static void test_restored(void) {
  Case c;
  djModel* m = make(&c);
  const djShape* s = &m->collision->shape[0];
  djGeomSource from = {.model = m, .geom = 0};
  const int n = dj_surfaceSize(&from);
  double* own = malloc((size_t)n * sizeof *own);
  djError err = {""};
  const double bad[] = {0.4, 0.2, 0.3, -1};
  memcpy(own, s->own, (size_t)n * sizeof *own);
  djParam p = djt_param(m, "geom/#0/surface");
  djt_refusedWith(DJ_INVALID, dj_setParam(m, &p, bad, &err), err, "geom #0");
  assert_non_null(s->fit);
  assert_memory_equal(s->own, own, (size_t)n * sizeof *own);
  assert_memory_equal(m->surface_number, cone, 4 * sizeof(double));
  free(own);
  dj_deleteModel(m);
}

// The list of near pairs sees all of the surface; meshes have their points on it.
static void test_bounds(void) {
  Case c;
  djModel* m;
  for (int k = 0; k < 2; k++) {
    makeCase(&c, k ? "superellipsoid" : "truncated_cone", k ? 4 : 5, k ? egg : cone);
    assert_int_equal(dj_makeModel(&m, &c.def, NULL), DJ_OK);
    djSurface s;
    djSurfaceMesh mesh;
    assert_int_equal(dj_geomSurface(&s, m, 0, NULL), DJ_OK);
    assert_true(s.given);
    assert_int_equal(dj_makeSurfaceMesh(&mesh, m, 0, 0, NULL), DJ_OK);
    assert_true(mesh.nvert > 50 && mesh.nvert < 1000 && mesh.nface == 2 * mesh.nvert - 4);
    double room[64];
    djImplicit surface;
    assert_int_equal(dj_makeImplicit(&surface, room, dj_implicitRow(s.family), 0, s.size, NULL),
                     DJ_OK);
    assert_true(mesh.error <= 0.005 * surface.outer);
    const double* box = m->collision->box;
    const djMat3 R = dju_quatToMat(dju_loadQuat(s.quat));
    double reach[3] = {0, 0, 0};
    for (int i = 0; i < mesh.nvert; i++) {
      const djVec3 y = dju_load3(mesh.vert + 3 * i);
      djImplicitPoint at;
      surface.row->eval(&at, &surface, y);
      assert_true(fabs(at.phi) < 1e-7 * dju_norm3(at.g) * surface.outer + 1e-9);
      double x[3];
      dju_store3(x, dju_add3(dju_load3(s.pos), dju_mulMV(R, y)));
      for (int j = 0; j < 3; j++) {
        assert_true(fabs(x[j] - box[j]) <= box[3 + j]);
        reach[j] = fmax(reach[j], fabs(x[j] - box[j]));
      }
    }
    for (int j = 0; j < 3; j++) assert_true(reach[j] > 0.97 * box[3 + j]);
    dj_freeSurfaceMesh(&mesh);
    assert_int_equal(dj_geomSurface(&s, m, 1, NULL), DJ_OK);
    assert_true(s.inside == 0 && s.outside == 0 && !s.given);
    assert_int_equal(dj_geomSurface(&s, m, 2, NULL), DJ_UNSUPPORTED);
    dj_deleteModel(m);
  }
}

// Edges by the rule lie as deep as it says.
static void test_rule(void) {
  assert_true(dj_ruleOfSharpness(DJ_SPHERE, 1, 1) == 1);
  for (double r = 1e-3; r < 1e3; r *= 10) {
    const double n = dj_ruleOfSharpness(DJ_BOX, r * sqrt(3), r);
    const double depth = r * sqrt(3) * (1 - pow(3, -0.5 / n));
    assert_true(depth <= fmax(0.01 * r * sqrt(3), 1e-3) * 1.001);
    assert_true(n > 5 && n <= 64);
  }
}

DJT_MAIN(test_names, test_definition, test_refused, test_restored, test_bounds, test_rule)
