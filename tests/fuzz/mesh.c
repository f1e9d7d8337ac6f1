// Meshes of triangles as distance fields: concave, open, flat, crossing, far too large or small.
// What is refused has a reason; what is not has a field that steps and derivatives can use.
// Input: kinds of points (0: vertices, 1: given, 2: none), vertices, triangles, length of a unit,
// 3 numbers of the mesh's place, those of a vertex each, those of a triangle each.

#include "numbers.h"

#include <dijoco/dijoco.h>
#include <dijoco/penalty.h>

enum { MOST = 48 };

typedef struct Input {
  int kind, nvert, ntri;
  double pos[3], vert[3 * MOST];
  int tri[3 * MOST];
} Input;

static void read(Input* in, const char* text) {
  FuzzNumbers from = {text};
  in->kind = fuzz_range(&from, 0, 2);
  in->nvert = fuzz_range(&from, 0, MOST);
  in->ntri = fuzz_range(&from, 0, MOST);
  const double unit = fuzz_number(&from);
  fuzz_fill(in->pos, 3, &from);
  fuzz_fill(in->vert, 3 * in->nvert, &from);
  for (int i = 0; i < 3 * in->nvert; i++) in->vert[i] *= unit;
  for (int i = 0; i < 3 * in->ntri; i++) in->tri[i] = fuzz_int(&from);
}

// A floor, the mesh and a ball, which are free.
static djStatus make(djModel** m, const Input* in, djError* err) {
  static const double place[3] = {0.01, 0.02, -0.01};
  djBodyDef body[3];
  djJointDef joint[2];
  djGeomDef geom[3];
  for (int b = 0; b < 3; b++) {
    body[b] = dj_defaultBodyDef();
    body[b].mass = 1;
    for (int k = 0; k < 3; k++) body[b].inertia[k] = 0.01;
    geom[b] = dj_defaultGeomDef();
    geom[b].body = b;
  }
  for (int j = 0; j < 2; j++) {
    joint[j] = dj_defaultJointDef();
    joint[j].type = DJ_FREE;
    joint[j].body = j + 1;
    joint[j].qpos0[3] = 1;
  }
  memcpy(joint[0].qpos0, in->pos, sizeof in->pos);
  geom[0].type = DJ_PLANE;
  geom[1].type = DJ_MESH;
  geom[1].mesh = 0;
  for (int g = 0; g < 3; g++) geom[g].contact = "penalty";
  if (in->kind == 1) {
    geom[1].npoint = 1;
    geom[1].point = place;
  }
  if (in->kind == 2) geom[1].point_count = 0;
  geom[2].type = DJ_SPHERE;
  geom[2].size[0] = 0.05;
  djMeshDef mesh = {.nvert = in->nvert, .vert = in->vert, .ntri = in->ntri, .tri = in->tri};
  djModelDef def = dj_defaultModelDef();
  def.nbody = 3;
  def.njnt = 2;
  def.ngeom = 3;
  def.nmesh = 1;
  def.body = body;
  def.joint = joint;
  def.geom = geom;
  def.mesh = &mesh;
  return dj_makeModel(m, &def, err);
}

static void checkPoints(const djModel* m, const Input* in) {
  djError err = {""};
  djGeomPoints p;
  FUZZ_CHECK(dj_geomPoints(&p, m, 1, &err) == DJ_OK);
  FUZZ_CHECK(p.npoint == (in->kind == 0 ? in->nvert : in->kind == 1));
  FUZZ_CHECK(p.given == (in->kind == 1) && p.field && p.grid);
  FUZZ_CHECK(isfinite(p.error) && p.error >= 0 && isfinite(p.spacing) && p.spacing > 0);
  FUZZ_CHECK(dj_geomPoints(&p, m, 0, &err) == DJ_OK && dj_geomPoints(&p, m, 2, &err) == DJ_OK);
  FUZZ_CHECK(dj_geomPoints(&p, m, 3, &err) < 0 && err.text[0]);
  FUZZ_CHECK(dj_geomPoints(&p, m, -1, NULL) < 0 && dj_geomPoints(NULL, m, 1, NULL) < 0);
}

// Steps, and what they depend on.
static void run(djModel* m, djData* d) {
  const int nx = dj_tangentSize(m);
  djParam vert;
  FUZZ_CHECK(dj_paramId(&vert, m, "mesh/#0/vert", NULL) == DJ_OK && vert.nvalue <= 3 * MOST);
  double* out = malloc((size_t)nx * (size_t)(nx + vert.ntangent) * sizeof *out);
  FUZZ_CHECK(out);
  for (int k = 0; k < 2; k++) {
    if (dj_step(m, d) < 0) break;
    for (int i = 0; i < m->nq; i++) FUZZ_CHECK(isfinite(d->qpos[i]));
    djd_lastTransition(m, d, out, NULL);
    djd_lastParams(m, d, out, 1, &vert);
  }
  free(out);
}

// The grid follows the vertices, or they may not move so far.
static void move(djModel* m, djData* d) {
  djParam vert;
  djError err = {""};
  double value[3 * MOST];
  FUZZ_CHECK(dj_paramId(&vert, m, "mesh/#0/vert", NULL) == DJ_OK);
  FUZZ_CHECK(dj_getParam(value, m, &vert) == DJ_OK);
  for (int i = 0; i < vert.nvalue; i++) value[i] *= 1 + 1e-3 * sin(i);
  if (dj_setParam(m, &vert, value, &err) < 0)
    FUZZ_CHECK(err.text[0]);
  else
    dj_step(m, d);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  char* text = fuzz_text(data, size);
  Input in;
  djModel* m;
  djError err = {""};
  read(&in, text);
  if (make(&m, &in, &err) >= 0) {
    djData* d;
    checkPoints(m, &in);
    if (dj_makeData(&d, m, &err) >= 0) {
      run(m, d);
      move(m, d);
      dj_deleteData(d);
    } else {
      FUZZ_CHECK(err.text[0]);
    }
    dj_deleteModel(m);
  } else {
    FUZZ_CHECK(!m && err.text[0]);
  }
  free(text);
  return 0;
}
