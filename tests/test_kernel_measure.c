// How collision data come from a model, step by step: kernels in use, geoms that collide, hulls and
// inner radii, settings by the rules, sources of shapes; with the kernels of the tests.

#include "common/make_model.h"
#include "common/message.h"
#include "common/near.h"
#include "common/test.h"
#include "contact/pairs/collision.h"

#include <dijoco/dijoco.h>

// A mesh that is a cube of half sides 0.3, one that is flat, and a tetrahedron. more: further
// geoms.
static djModel* load(const char* contact, const char* more) {
  static const char text[] =
      "{'dijoco_model':1,'option':{'contact':'%s','gravity':[0,0,-2]},"
      "'bodies':[{'name':'world'},"
      "{'name':'a','mass':2,'inertia':[1,1,1]},{'name':'b','mass':1,'inertia':[1,1,1]}],"
      "'joints':[{'type':'free','body':1},{'type':'slide','body':2}],"
      "'meshes':[{'name':'cube','vert':[[-0.3,-0.3,-0.3],[0.3,-0.3,-0.3],"
      "[-0.3,0.3,-0.3],[0.3,0.3,-0.3],[-0.3,-0.3,0.3],[0.3,-0.3,0.3],[-0.3,0.3,0.3],"
      "[0.3,0.3,0.3]]},{'name':'flat','vert':[[0,0,0],[1,0,0],[0,1,0],[1,1,0]]},"
      "{'name':'peak','vert':[[0,0,0],[1,0,0],[0,1,0],[0,0,1]]}],"
      "'geoms':[{'name':'floor','type':'plane','body':0},"
      "{'name':'box','type':'box','body':1,'size':[0.5,0.15,0.4]},"
      "{'name':'ball','body':1,'size':[0.25,0,0]},"
      "{'type':'mesh','mesh':0,'body':1},"
      "{'name':'twin','type':'mesh','mesh':0,'body':2},"
      "{'name':'ghost','type':'sphere','body':2,'size':[0.01,0,0],'contype':0,'conaffinity':0}%s]}";
  char scene[3000];
  snprintf(scene, sizeof scene, text, contact, more);
  djModel* m = djt_modelOf(scene);
  return m;
}

enum { MOST = 16, NUSE = 8 };

// A builder in the caller's memory.
typedef struct Builder {
  djShapeBuilder b;
  djHull hull[6];
  djGrid grid[3];
  bool collides[MOST];
  double inner[MOST], skin[NUSE * MOST], mass[MOST], push[MOST];
  int use[NUSE];
} Builder;

static void openBuilder(Builder* s, djModel* m) {
  memset(s, 0, sizeof *s);
  assert_true(m->ngeom <= MOST && m->nbody <= MOST && 2 * m->nmesh <= 6);
  s->b = (djShapeBuilder){m, s->hull, s->grid, s->collides, s->inner, 0, s->use, s->skin, s->mass,
                          s->push, NULL, NULL};
  s->b.nuse = dj_kernelsInUse(s->use, m);
}

static void closeBuilder(Builder* s) {
  for (int k = 0; k < 6; k++) dj_freeHull(&s->hull[k]);
  dj_deleteModel(s->b.model);
}

static void testUse(void) {
  int plane = dj_kernelNamed("separating_plane"), spring = dj_kernelNamed("spring");
  int charge = dj_kernelNamed("charge");
  static const char named[] = ",{'body':2,'size':[0.1,0,0],'contact':'charge'},"
                              "{'body':2,'size':[0.1,0,0],'contact':'charge'}";
  const struct {
    const char *contact, *more;
    int n, use[3];
  } list[] = {{"separating_plane", "", 1, {plane}},
              {"none", "", 1, {plane}},
              {"spring", "", 2, {spring, plane}},   // boxes are none of its
              {"separating_plane", named, 2, {plane, charge}},
              {"spring", named, 3, {spring, charge, plane}}};
  for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
    djModel* m = load(list[i].contact, list[i].more);
    int use[NUSE];
    assert_int_equal(dj_kernelsInUse(use, m), list[i].n);
    for (int k = 0; k < list[i].n; k++) assert_int_equal(use[k], list[i].use[k]);
    dj_deleteModel(m);
  }
}

typedef struct Told {
  int n;
  double last;
} Told;

static int tell(void* user, double done) {
  Told* t = user;
  assert_true(done >= t->last && done <= 1);
  t->last = done;
  t->n++;
  return 0;
}

static void testMeasure(void) {
  Builder s;
  djError err = {""};
  Told told = {0, 0};
  djWatch watch = {tell, &told};
  openBuilder(&s, load("separating_plane", ",{'name':'peak','type':'mesh','mesh':2,'body':2}"));
  s.b.watch = &watch;
  assert_int_equal(dj_measureGeoms(&s.b, &err), DJ_OK);
  static const bool collides[] = {true, true, true, true, true, false};
  static const double inner[] = {INFINITY, 0.15, 0.25, 0.3, 0.3, INFINITY};
  for (int g = 0; g < 6; g++) {
    assert_true(s.collides[g] == collides[g]);
    assert_true(isinf(inner[g]) ? isinf(s.inner[g]) : fabs(s.inner[g] - inner[g]) < 1e-12);
    assert_true(dj_hasShape(&s.b, 0, g) == collides[g]);
    if (g > 0 && g < 5) djt_near(dj_innerRadius(&s.b, g), inner[g], 1e-12);
  }
  assert_non_null(s.hull[0].buffer);
  assert_null(s.hull[1].buffer);   // nobody needs it
  assert_true(told.n > 1 && told.last > 0.4);
  const void* made = s.hull[0].buffer;
  assert_int_equal(dj_measureGeoms(&s.b, &err), DJ_OK);
  assert_ptr_equal(s.hull[0].buffer, made);   // it is not missing
  closeBuilder(&s);
}

// A mesh without volume: an error that names its geom, but where contact is switched off.
static void testFlat(void) {
  Builder s;
  djError err = {""};
  openBuilder(&s, load("none", ",{'name':'sheet','type':'mesh','mesh':1,'body':2}"));
  assert_int_equal(dj_measureGeoms(&s.b, &err), DJ_OK);
  assert_false(s.collides[6]);
  assert_true(isinf(s.inner[6]) && s.collides[4]);
  s.b.model->opt.contact = DJ_SEPARATING_PLANE;
  assert_int_equal(dj_measureGeoms(&s.b, &err), DJ_INVALID);
  assert_true(strncmp(err.text, "geom 'sheet': ", 14) == 0);
  closeBuilder(&s);
}

static void testInner(void) {
  static const double bad[] = {0, -1, NAN, INFINITY};
  Builder s;
  djError err = {""};
  char text[80];
  openBuilder(&s, load("separating_plane", ""));
  for (int k = 0; k < 4; k++) {
    s.inner[2] = s.inner[3] = bad[k];
    assert_int_equal(dj_checkInner(&s.b, 2, &err), DJ_INVALID);
    assertMessage(err.text, "geom 'ball': size must be positive");
    assert_int_equal(dj_checkInner(&s.b, 3, &err), DJ_INVALID);
    assertMessage(err.text, "geom #3: size must be positive");
  }
  s.inner[2] = 1e-300;
  assert_int_equal(dj_checkInner(&s.b, 2, &err), DJ_OK);
  assert_string_equal(dj_geomText(text, s.b.model, 3), "geom #3");
  closeBuilder(&s);
  char name[120], more[200];   // a name that does not fit is cut
  memset(name, 'x', sizeof name);
  name[100] = 0;
  snprintf(more, sizeof more, ",{'name':'%s','body':2,'size':[0.1,0,0]}", name);
  djModel* m = load("separating_plane", more);
  name[60] = 0;
  snprintf(more, sizeof more, "geom '%s'", name);
  assert_string_equal(dj_geomText(text, m, 6), more);
  dj_deleteModel(m);
}

// What the rules see: the least ball, a gravity of at least 9.81, the mass that moves.
static void testDefaults(void) {
  Builder s;
  djError err = {""};
  openBuilder(&s, load("spring", ""));
  djModel* m = s.b.model;
  djContactSettings made = m->contact;
  memset(&m->contact, 0, sizeof m->contact);
  assert_int_equal(dj_measureGeoms(&s.b, &err), DJ_OK);
  assert_int_equal(dj_applyDefaults(&s.b, &err), DJ_OK);
  djt_near(m->contact.radius, 0.15, 1e-12);
  djt_near(m->contact.gravity, 9.81, 1e-12);
  djt_near(m->contact.weight, 3 * 9.81, 1e-12);
  assert_true(m->contact.skin == 0 && made.skin == 0 && m->contact.stiffness == made.stiffness);
  for (int g = 0; g < m->ngeom; g++) assert_true(m->geom_skin[g] == s.skin[g]);
  bool any = false;   // springs have no skin, the planes of the second kernel have
  for (int g = 0; g < m->ngeom; g++) {
    assert_true(s.skin[g] == 0);
    any |= s.skin[m->ngeom + g] > 0;
    assert_true(dj_hasShape(&s.b, 1, g) || s.skin[m->ngeom + g] == 0);
  }
  assert_true(any);
  m->opt.gravity[1] = 30;
  assert_int_equal(dj_applyDefaults(&s.b, &err), DJ_OK);
  djt_near(m->contact.gravity, sqrt(904), 1e-12);
  for (int g = 0; g < m->ngeom; g++) s.inner[g] = INFINITY;   // planes alone
  assert_int_equal(dj_applyDefaults(&s.b, &err), DJ_OK);
  djt_near(m->contact.radius, m->opt.length_scale, 0);
  m->opt.gravity[1] = INFINITY;
  assert_true(dj_applyDefaults(&s.b, &err) < 0 && err.text[0]);
  closeBuilder(&s);
}

// The source of a shape that a model has is what its builder saw.
static void testSources(void) {
  Builder s;
  djError err = {""};
  openBuilder(&s, load("spring", ""));
  djModel* m = s.b.model;
  assert_int_equal(dj_measureGeoms(&s.b, &err), DJ_OK);
  assert_int_equal(dj_applyDefaults(&s.b, &err), DJ_OK);
  assert_int_equal(m->collision->nshape, s.b.nuse * m->ngeom);
  for (int u = 0; u < s.b.nuse; u++) {
    for (int g = 0; g < m->ngeom; g++) {
      djGeomSource a = dj_buildSource(&s.b, u, g), b = dj_sourceOf(m, u * m->ngeom + g);
      assert_true(a.model == b.model && a.geom == g && b.geom == g);
      assert_true(a.inner == b.inner && a.skin == b.skin);
      assert_true((a.hull != NULL) == (m->geom_type[g] == DJ_MESH) && !a.hull == !b.hull);
      if (a.hull) assert_true(a.hull == &s.hull[0] && b.hull->nvert == a.hull->nvert);
      bool has = m->collision->shape[u * m->ngeom + g].type >= 0;
      assert_true(has == dj_hasShape(&s.b, u, g));
    }
  }
  closeBuilder(&s);
}

// A hull keeps its first facets while they are convex; which it was in between does not matter.
static void testHulls(void) {
  djModel* m = load("separating_plane", "");
  djHull first = {0}, moved = {0}, torn = {0}, again = {0};
  djError err = {""};
  assert_int_equal(dj_makeMeshHull(&first, m, 0, NULL, NULL, &err), DJ_OK);
  djt_near(first.inner, 0.3, 1e-12);
  double* vert = m->mesh_vert;
  for (int i = 0; i < 24; i++) vert[i] *= 1.5;
  for (int i = 0; i < 3; i++) vert[i] += 0.01;   // three facets bend, and stay one each
  assert_int_equal(dj_makeMeshHull(&moved, m, 0, &first, NULL, &err), DJ_OK);
  assert_true(moved.nface == first.nface && moved.nvert == first.nvert);
  for (int i = 0; i < 3 * first.nface; i++) assert_int_equal(moved.face[i], first.face[i]);
  for (int i = 0; i < first.nface; i++) assert_int_equal(moved.group[i], first.group[i]);
  djt_near(moved.inner, 0.45, 0.01);
  double corner = vert[0];
  vert[0] = vert[1] = vert[2] = 2;   // a corner beyond the opposite one, which is inside now
  assert_int_equal(dj_makeMeshHull(&torn, m, 0, &first, NULL, &err), DJ_OK);
  assert_int_equal(torn.nvert, 7);
  vert[0] = vert[1] = vert[2] = corner;
  assert_int_equal(dj_makeMeshHull(&again, m, 0, &first, NULL, &err), DJ_OK);
  assert_int_equal(again.nface, moved.nface);
  for (int i = 0; i < 3 * moved.nface; i++) assert_int_equal(again.face[i], moved.face[i]);
  for (int i = 0; i < 3 * moved.nvert; i++) assert_true(again.vert[i] == moved.vert[i]);
  djHull* const all[] = {&first, &moved, &torn, &again};
  for (int k = 0; k < 4; k++) dj_freeHull(all[k]);
  dj_deleteModel(m);
}

DJT_MAIN(testUse, testMeasure, testFlat, testInner, testDefaults, testSources, testHulls)
