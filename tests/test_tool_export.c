// Shells of geoms: their normals, widths and places; links that have none.

#include "common/make_model.h"
#include "common/test.h"
#include "common/tool_case.h"
#include "export.h"
#include "export_shell.h"

#include <dijoco/dijoco.h>

static djModel* makeModel(const djGeomDef* geom, int n, const djMeshDef* mesh) {
  djBodyDef body[2] = {dj_defaultBodyDef(), dj_defaultBodyDef()};
  djModelDef def = dj_defaultModelDef();
  body[1].mass = 1;
  for (int k = 0; k < 3; k++) body[1].inertia[k] = 1;
  def.nbody = 2;
  def.body = body;
  def.ngeom = n;
  def.geom = geom;
  def.nmesh = 1;
  def.mesh = mesh;
  djModel* m = djt_makeModel(&def);
  return m;
}

static djGeomDef geomOf(djGeomType type, int body, double a, double b, double c) {
  djGeomDef g = dj_defaultGeomDef();
  g.type = type;
  g.body = body;
  g.mesh = type == DJ_MESH ? 0 : -1;
  g.size[0] = a, g.size[1] = b, g.size[2] = c;
  g.pos[0] = 1, g.pos[1] = 2, g.pos[2] = 3;
  g.quat[0] = 0.8, g.quat[1] = 0.6;
  return g;
}

static void testShells(void) {
  // The last vertex lies inside. Width of a regular tetrahedron with edges sqrt(8): between edges.
  static const double vert[] = {1, 1, 1, 1, -1, -1, -1, 1, -1, -1, -1, 1, 0, 0.1, 0};
  const djMeshDef mesh = {.nvert = 5, .vert = vert};
  const struct {
    djGeomDef geom;
    double volume, width;
  } row[] = {{geomOf(DJ_PLANE, 0, 0, 0, 1), 0, 0},
             {geomOf(DJ_SPHERE, 1, 0.5, 0, 0), M_PI / 6, 1},
             {geomOf(DJ_CAPSULE, 1, 0.5, 1, 0), M_PI / 6 + M_PI / 2, 1},
             {geomOf(DJ_ELLIPSOID, 1, 0.5, 0.2, 0.3), 4 * M_PI / 3 * 0.03, 0.4},
             {geomOf(DJ_CYLINDER, 1, 0.5, 0.1, 0), M_PI * 0.05, 0.2},
             {geomOf(DJ_BOX, 1, 0.5, 0.1, 0.2), 0.08, 0.2},
             {geomOf(DJ_MESH, 1, 0, 0, 0), 8. / 3, 2}};
  enum { N = sizeof row / sizeof row[0] };
  djGeomDef geom[N];
  for (int i = 0; i < N; i++) geom[i] = row[i].geom;
  djModel* m = makeModel(geom, N, &mesh);
  assert_false(shell_has(m, 0));
  for (int i = 1; i < N; i++) {
    djPieces p = {0};
    bool round;
    djError err = {""};
    assert_true(shell_has(m, i));
    if (shell_add(&p, &round, m, i, &err) < 0) fail_msg("%s", err.text);
    assert_int_equal(round, i < 5);
    if (round) {
      assert_true(p.volume[0] < row[i].volume && p.volume[0] > 0.95 * row[i].volume);
    } else {
      assert_float_equal(p.volume[0], row[i].volume, 1e-12);
    }
    assert_float_equal(shell_thickness(m, i, &p.hull[0]), row[i].width, 1e-12);
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int k = 0; k < 3 * p.hull[0].nvert; k++) {
      low[k % 3] = fmin(low[k % 3], p.hull[0].vert[k]);
      high[k % 3] = fmax(high[k % 3], p.hull[0].vert[k]);
    }
    for (int k = 0; k < 3 && i < 6; k++) assert_float_equal((low[k] + high[k]) / 2, k + 1, 1e-12);
    dj_freePieces(&p);
  }
  dj_deleteModel(m);
}

static void testNormal(void) {
  const double a[3] = {1, 1, 1}, b[3] = {3, 1, 1}, c[3] = {1, 4, 1};
  double n[3];
  shell_normal(n, a, b, c);
  assert_true(n[0] == 0 && n[1] == 0 && n[2] == 1);
  shell_normal(n, a, b, b);
  assert_true(n[0] == 0 && n[1] == 0 && n[2] == 0);
}

static void testNone(void) {
  djGeomDef plane = geomOf(DJ_PLANE, 0, 0, 0, 1);
  static const double vert[] = {1, 1, 1, 1, -1, -1, -1, 1, -1, -1, -1, 1};
  const djMeshDef mesh = {.nvert = 4, .vert = vert};
  djModel* m = makeModel(&plane, 1, &mesh);
  Options o = djt_options("scene.json");
  o.export = "stl";
  Export links;
  djt_says(export_links(&links, &o, m), EXIT_BAD_INPUT,
           "dijoco test: scene.json: --export: no body has a geom with a volume\n");
  export_free(&links);
  dj_deleteModel(m);
}

DJT_MAIN(testShells, testNormal, testNone)
