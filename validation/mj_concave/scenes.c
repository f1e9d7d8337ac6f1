// Scenes as MJCF, made of meshes or of their hulls.

#include "mj_concave/concave.h"

#include "common/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const Hanging cv_hangings[NHANGING] = {{"ring on a peg",
                                        cv_ring,
                                        cv_peg,
                                        {0, 0, -0.027},
                                        {0.7071067811865476, 0, 0.7071067811865476, 0},
                                        {0.2, 0, -0.027}},
                                       {"mug on a hook",
                                        cv_mug,
                                        cv_hook,
                                        {0, -0.045, -0.0626},
                                        {0.5, -0.5, -0.5, -0.5},
                                        {0.2, -0.045, -0.0626}}};

static void putMesh(djvText* t, const char* name, int k, const djTriangles* mesh) {
  djv_put(t, "<mesh name='%s%d' inertia='exact' vertex='", name, k);
  for (int i = 0; i < 3 * mesh->nvert; i++) djv_put(t, "%.9g ", mesh->vert[i]);
  djv_put(t, "' face='");
  for (int i = 0; i < 3 * mesh->ntri; i++) djv_put(t, "%d ", mesh->tri[i]);
  djv_put(t, "'/>\n");
}

// The meshes of a body, a piece each: returns how many.
static int putPieces(djvText* t, const char* name, void (*make)(djTriangles*), int most_hulls) {
  djTriangles mesh;
  djError err = {""};
  double volume;
  make(&mesh);
  if (dj_checkSolid(&volume, &mesh, &err) < 0) djv_fail("%s: %s", name, err.text);
  int n = 1;
  if (most_hulls == 0) {
    putMesh(t, name, 0, &mesh);
  } else {
    djPieces pieces = {.n = 0};
    int grid[3];
    if (dj_chooseGrid(grid, &mesh, most_hulls, &err) < 0 ||
        dj_cutBlocks(&pieces, &mesh, grid, 64, NULL, &err) < 0) {
      djv_fail("%s: %s", name, err.text);
    }
    n = pieces.n;
    for (int k = 0; k < n; k++) putMesh(t, name, k, &pieces.hull[k]);
    dj_freePieces(&pieces);
  }
  dj_freeTriangles(&mesh);
  return n;
}

static void putGeoms(djvText* t, const char* name, int n, double density) {
  for (int k = 0; k < n; k++) {
    djv_put(t, "<geom name='%s%d' type='mesh' mesh='%s%d' density='%g'/>\n", name, k, name, k,
            density);
  }
}

// Bodies collide with each other alone. The holder's own mass is less than h kv: where velocities of
// the servo are explicit (MuJoCo's Euler, `euler` but for implicit "rates") it needs the armature.
char* cv_write(const Hanging* what, int most_hulls, const double pos[3]) {
  djvText t = djv_text();
  const double* q = what->quat;
  djv_put(&t, "<mujoco><option timestep='0.004'/>\n<asset>\n");
  const int n = putPieces(&t, "thing", what->thing, most_hulls);
  const int m = putPieces(&t, "holder", what->holder, most_hulls);
  djv_put(&t, "</asset>\n<worldbody>\n<body name='holder' gravcomp='1'>\n");
  djv_put(&t, "<joint name='along' type='slide' armature='2' axis='1 0 0'/>\n");
  djv_put(&t, "<joint name='up' type='slide' armature='2' axis='0 0 1'/>\n");
  putGeoms(&t, "holder", m, 8000);
  djv_put(&t, "</body>\n<body name='thing' pos='%g %g %g' quat='%.17g %.17g %.17g %.17g'>\n",
          pos[0], pos[1], pos[2], q[0], q[1], q[2], q[3]);
  djv_put(&t, "<joint type='free' damping='0.005'/>\n");
  putGeoms(&t, "thing", n, 1000);
  djv_put(&t, "</body>\n</worldbody>\n<actuator>\n");
  djv_put(&t, "<position joint='along' kp='1e4' kv='200'/>\n");
  djv_put(&t, "<position joint='up' kp='1e4' kv='200'/>\n</actuator></mujoco>\n");
  return t.text;
}

mjModel* cv_compile(const Hanging* what, int most_hulls, const double pos[3]) {
  char error[500] = "", *text = cv_write(what, most_hulls, pos);
  mjSpec* spec = mj_parseXMLString(text, NULL, error, sizeof error);
  mjModel* model = spec ? mj_compile(spec, NULL) : NULL;
  if (!model) djv_fail("%s: %s%s", what->name, error, spec ? mjs_getError(spec) : "");
  mj_deleteSpec(spec);
  free(text);
  return model;
}
