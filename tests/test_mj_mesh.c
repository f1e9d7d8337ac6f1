// Triangles of meshes, beside their hulls: from MJCF into our file and back.

#include "common/mjcf.h"
#include "common/refused_text.h"
#include "common/test.h"

#include <dijoco/array.h>
#include <dijoco/io.h>

// An L of two boxes, not convex, whose inner corner is no vertex of the hull.
#define VERTICES                                                                              \
  "0 0 0  2 0 0  2 1 0  1 1 0  1 2 0  0 2 0  0 0 1  2 0 1  2 1 1  1 1 1  1 2 1  0 2 1"
#define FACES                                                                                 \
  "0 2 1  0 3 2  0 5 3  3 5 4  6 7 8  6 8 9  6 9 11  9 10 11  0 1 7  0 7 6  1 2 8  1 8 7  "   \
  "2 3 9  2 9 8  3 4 10  3 10 9  4 5 11  4 11 10  5 0 6  5 6 11"

static const char scene[] =
    "<mujoco><asset><mesh name='L' inertia='exact' vertex='" VERTICES "' face='" FACES "'/>"
    "<mesh name='points' inertia='convex' vertex='0 0 0 1 0 0 0 1 0 0 0 1'/></asset><worldbody>"
    "<body><freejoint/><geom type='mesh' mesh='L'/><geom type='mesh' mesh='points' pos='3 0 0'/>"
    "</body></worldbody></mujoco>";

static void same(const djModel* a, const djModel* b) {
  assert_int_equal(a->nmeshtri, b->nmeshtri);
  assert_memory_equal(a->mesh_tri, b->mesh_tri, sizeof(int) * 3 * (size_t)a->nmeshtri);
  assert_memory_equal(a->mesh_trinum, b->mesh_trinum, sizeof(int) * (size_t)a->nmesh);
  assert_memory_equal(a->mesh_triadr, b->mesh_triadr, sizeof(int) * (size_t)a->nmesh);
  assert_int_equal(a->nmeshface, b->nmeshface);
}

static void testTriangles(void) {
  static const int faces[60] = {0, 2, 1, 0, 3, 2, 0, 5, 3,  3, 5,  4, 6, 7, 8, 6, 8, 9, 6, 9,
                                11, 9, 10, 11, 0, 1, 7, 0, 7, 6,  1, 2, 8, 1, 8, 7, 2, 3, 9, 2,
                                9, 8, 3, 4, 10, 3, 10, 9, 4, 5, 11, 4, 11, 10, 5, 0, 6, 5, 6, 11};
  const char* json = DIJOCO_BUILD_DIR "/tests/mj_mesh.json";
  const char* xml = DIJOCO_BUILD_DIR "/tests/mj_mesh.xml";
  char error[1000];
  djError err = {""};
  mjModel* m = djt_compile(scene);
  djModel *x = djt_import(NULL, m), *read, *copy;
  assert_int_equal(x->mesh_trinum[0], 20);
  assert_memory_equal(x->mesh_tri, faces, sizeof faces);
  assert_true(x->mesh_facenum[0] < 20);              // the hull has fewer corners
  assert_int_equal(x->mesh_trinum[1], m->mesh_facenum[1]);
  djArray array;
  assert_int_equal(dj_modelArray(&array, x, "mesh_tri"), DJ_OK);
  assert_true(array.rows == x->nmeshtri && array.columns == 3 && array.data == x->mesh_tri);
  assert_int_equal(dj_copyModel(&copy, x, &err), DJ_OK);
  same(x, copy);
  if (dj_saveModel(x, json, &err) != DJ_OK) fail_msg("%s", err.text);
  if (dj_loadModel(&read, json, &err) != DJ_OK) fail_msg("%s", err.text);
  same(x, read);
  if (djm_writeMJCF(xml, json, read, NULL, &err) != DJ_OK) fail_msg("%s", err.text);
  mjModel* w = mj_loadXML(xml, NULL, error, sizeof error);
  if (!w) fail_msg("%s", error);
  djModel* again = djt_import(NULL, w);
  same(x, again);
  dj_deleteModel(x);
  dj_deleteModel(copy);
  dj_deleteModel(read);
  dj_deleteModel(again);
  mj_deleteModel(w);
  mj_deleteModel(m);
}

static void testRefused(void) {
  static const char* const bad[][2] = {
      {"[[0, 1, 4]]", "mesh 'M': triangles: names a vertex that does not exist"},
      {"[[0, 1, -1]]", "mesh 'M': triangles: names a vertex that does not exist"},
      {"[[0, 1, 0.5]]", "mesh 'M': triangles: must hold integers"},
      {"[[0, 1]]", "~mesh 'M': triangles"},
      {"3", "~mesh 'M': triangles"},
  };
  djt_refuseModels(DJ_INVALID,
                   "{'dijoco_model':1,'bodies':[{'name':'world'}],'meshes':[{'name':'M','vert':"
                   "[[0,0,0],[1,0,0],[0,1,0],[0,0,1]],'triangles':%s}]}",
                   bad);
  djModelDef def = dj_defaultModelDef();
  djBodyDef world = dj_defaultBodyDef();
  const double vert[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  const int tri[3] = {0, 1, 3};
  djMeshDef mesh = {.name = "M", .nvert = 3, .vert = vert, .ntri = 1, .tri = tri};
  djModel* x;
  djError err = {""};
  def.nbody = def.nmesh = 1;
  def.body = &world;
  def.mesh = &mesh;
  djt_refused(DJ_INVALID, dj_makeModel(&x, &def, &err), err,
              "mesh 'M': a triangle names a vertex that does not exist");
  mesh.tri = NULL;
  djt_refused(DJ_INVALID, dj_makeModel(&x, &def, &err), err, "mesh 'M': triangles are missing");
}

DJT_MAIN(testTriangles, testRefused)
