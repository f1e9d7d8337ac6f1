// Parameters of a compiled MuJoCo model, by name.
//
// Some of what MuJoCo's compiler derived is not recomputed by mj_setConst; it is updated here:
// bounding boxes of meshes, polygon normals.

#include "stock_work.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct djStockSet {
  djStock* stock;
  int object;                   // mjtObj
  int id;
  const char* field;            // name, without the element
  int n;
  const double* value;
  djStatus status;
  djError* err;
} djStockSet;

static void fail(djStockSet* set, djStatus status, const char* what) {
  set->status = djm_stockError(set->err, status, "%s: %s", set->field, what);
}

static bool isField(const djStockSet* set, const char* name) {
  return strcmp(set->field, name) == 0;
}

// Copies the values into an array of `width` numbers per element.
static bool put(djStockSet* set, mjtNum* array, int width) {
  if (set->n != width) {
    set->status = djm_stockError(set->err, DJ_INVALID, "%s: %d values expected, not %d",
                                 set->field, width, set->n);
    return false;
  }
  mju_copy(array, set->value, width);
  return true;
}

static bool putQuat(djStockSet* set, mjtNum* quat) {
  if (!put(set, quat, 4)) return false;
  mju_normalize4(quat);
  return true;
}

// ------------------------------ bodies, sites, joints -------------------------------------------

// The sparsity of M relies on `simple` bodies staying so.
static bool refuseSimple(djStockSet* set, int body, const mjtNum* old, int n) {
  bool same = set->n == n;
  for (int k = 0; same && k < n; k++) same = set->value[k] == old[k];
  if (same || !set->stock->m->body_simple[body]) return false;
  fail(set, DJ_UNSUPPORTED, "cannot be changed in a compiled MuJoCo model");
  return true;
}

static void setBody(djStockSet* set) {
  mjModel* m = set->stock->m;
  int i = set->id;
  if (isField(set, "pos")) {
    put(set, m->body_pos + 3 * i, 3);
  } else if (isField(set, "quat")) {
    putQuat(set, m->body_quat + 4 * i);
  } else if (isField(set, "mass")) {
    put(set, m->body_mass + i, 1);
  } else if (isField(set, "inertia")) {
    put(set, m->body_inertia + 3 * i, 3);
  } else if (isField(set, "ipos") || isField(set, "iquat")) {
    bool pos = isField(set, "ipos");
    mjtNum* old = pos ? m->body_ipos + 3 * i : m->body_iquat + 4 * i;
    if (refuseSimple(set, i, old, pos ? 3 : 4)) return;
    if (pos) put(set, old, 3);
    else putQuat(set, old);
  } else if (isField(set, "gravcomp")) {
    put(set, m->body_gravcomp + i, 1);
  } else {
    fail(set, DJ_INVALID, "there is no such parameter");
  }
}

// One number for all dofs of the joint.
static void putDofs(djStockSet* set, mjtNum* dof) {
  static const int number[] = {6, 3, 1, 1};
  const mjModel* m = set->stock->m;
  int adr = m->jnt_dofadr[set->id];
  if (!put(set, dof + adr, 1)) return;
  for (int k = 1; k < number[m->jnt_type[set->id]]; k++) dof[adr + k] = dof[adr];
}

static void setJoint(djStockSet* set) {
  static const int coordinates[] = {7, 4, 1, 1};
  mjModel* m = set->stock->m;
  int i = set->id;
  if (isField(set, "pos") || isField(set, "axis")) {
    mjtNum* array = (isField(set, "pos") ? m->jnt_pos : m->jnt_axis) + 3 * i;
    if (refuseSimple(set, m->jnt_bodyid[i], array, 3)) return;
    if (put(set, array, 3) && isField(set, "axis")) mju_normalize3(array);
  } else if (isField(set, "damping")) {
    putDofs(set, m->dof_damping);
  } else if (isField(set, "armature")) {
    putDofs(set, m->dof_armature);
  } else if (isField(set, "frictionloss")) {
    putDofs(set, m->dof_frictionloss);
  } else if (isField(set, "stiffness")) {
    put(set, m->jnt_stiffness + i, 1);
  } else if (isField(set, "springref")) {
    mjtNum* ref = m->qpos_spring + m->jnt_qposadr[i];
    if (!put(set, ref, coordinates[m->jnt_type[i]])) return;
    if (m->jnt_type[i] == mjJNT_BALL) mju_normalize4(ref);
    if (m->jnt_type[i] == mjJNT_FREE) mju_normalize4(ref + 3);
  } else if (isField(set, "range")) {
    put(set, m->jnt_range + 2 * i, 2);
  } else {
    fail(set, DJ_INVALID, "there is no such parameter");
  }
}

// ------------------------------ shapes ----------------------------------------------------------

// Bounding ball and box of a mesh's geom, in its frame. Those of others mj_setConst follows.
static void boundMesh(mjModel* m, int geom) {
  int mesh = m->geom_dataid[geom];
  const float* vert = m->mesh_vert + 3 * m->mesh_vertadr[mesh];
  mjtNum low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
  mjtNum far = 0;
  for (int v = 0; v < m->mesh_vertnum[mesh]; v++) {
    mjtNum square = 0;
    for (int k = 0; k < 3; k++) {
      mjtNum x = vert[3 * v + k];
      low[k] = fmin(low[k], x);
      high[k] = fmax(high[k], x);
      square += x * x;
    }
    far = fmax(far, square);
  }
  for (int k = 0; k < 3; k++) {
    m->geom_aabb[6 * geom + k] = 0.5 * (low[k] + high[k]);
    m->geom_aabb[6 * geom + 3 + k] = 0.5 * (high[k] - low[k]);
    m->geom_size[3 * geom + k] = fmax(fabs(low[k]), fabs(high[k]));
  }
  m->geom_rbound[geom] = sqrt(far);
}

static void setGeom(djStockSet* set) {
  mjModel* m = set->stock->m;
  int i = set->id;
  if (isField(set, "friction")) {
    put(set, m->geom_friction + 3 * i, 3);
  } else if (isField(set, "pos")) {
    put(set, m->geom_pos + 3 * i, 3);
  } else if (isField(set, "quat")) {
    putQuat(set, m->geom_quat + 4 * i);
  } else if (isField(set, "size")) {
    if (m->geom_type[i] == mjGEOM_MESH || m->geom_type[i] == mjGEOM_HFIELD) return;
    put(set, m->geom_size + 3 * i, 3);
  } else {
    fail(set, DJ_INVALID, "there is no such parameter");
  }
}

// Unit normals of the mesh's polygons, by their first three vertices that are not in line.
static void polygonNormals(mjModel* m, int mesh) {
  const float* vert = m->mesh_vert + 3 * m->mesh_vertadr[mesh];
  for (int p = m->mesh_polyadr[mesh]; p < m->mesh_polyadr[mesh] + m->mesh_polynum[mesh]; p++) {
    const int* corner = m->mesh_polyvert + m->mesh_polyvertadr[p];
    mjtNum sum[3] = {0};   // Newell's normal
    int n = m->mesh_polyvertnum[p];
    for (int k = 0; k < n; k++) {
      const float *a = vert + 3 * corner[k], *b = vert + 3 * corner[(k + 1) % n];
      for (int c = 0; c < 3; c++) {
        int u = (c + 1) % 3, w = (c + 2) % 3;
        sum[c] += ((mjtNum)a[u] - b[u]) * ((mjtNum)a[w] + b[w]);
      }
    }
    if (mju_normalize3(sum) > mjMINVAL) mju_copy3(m->mesh_polynormal + 3 * p, sum);
  }
}

static void setMesh(djStockSet* set) {
  mjModel* m = set->stock->m;
  int i = set->id, n = 3 * m->mesh_vertnum[i];
  if (!isField(set, "vert")) {
    fail(set, DJ_INVALID, "there is no such parameter");
    return;
  }
  if (set->n != n) {
    fail(set, DJ_INVALID, "wrong number of values");
    return;
  }
  for (int k = 0; k < n; k++) m->mesh_vert[3 * m->mesh_vertadr[i] + k] = (float)set->value[k];
  polygonNormals(m, i);
  for (int g = 0; g < m->ngeom; g++) {
    if (m->geom_type[g] == mjGEOM_MESH && m->geom_dataid[g] == i) boundMesh(m, g);
  }
}

static void setSite(djStockSet* set) {
  mjModel* m = set->stock->m;
  if (!isField(set, "pos")) {
    fail(set, DJ_INVALID, "there is no such parameter");
  } else {
    put(set, m->site_pos + 3 * set->id, 3);
  }
}

static void setActuator(djStockSet* set) {
  mjModel* m = set->stock->m;
  int i = set->id;
  if (isField(set, "gainprm")) {
    put(set, m->actuator_gainprm + mjNGAIN * i, 3);
  } else if (isField(set, "biasprm")) {
    put(set, m->actuator_biasprm + mjNBIAS * i, 3);
  } else if (isField(set, "gear")) {
    put(set, m->actuator_gear + 6 * m->actuator_outadr[i], 6);
  } else {
    fail(set, DJ_INVALID, "there is no such parameter");
  }
}

// ------------------------------ names -----------------------------------------------------------

static void runSet(void* arg) {
  djStockSet* set = arg;
  djStock* s = set->stock;
  switch (set->object) {
    case mjOBJ_BODY: setBody(set); break;
    case mjOBJ_JOINT: setJoint(set); break;
    case mjOBJ_GEOM: setGeom(set); break;
    case mjOBJ_MESH: setMesh(set); break;
    case mjOBJ_SITE: setSite(set); break;
    default: setActuator(set); break;
  }
  if (set->status != DJ_OK) return;
  mju_copy3(s->m->opt.gravity, s->work->gravity);
  mj_setConst(s->m, s->work->probe);
  mj_resetData(s->m, s->work->probe);
}

// Splits "kind/NAME/field" (NAME may hold slashes). False: not of that form.
static bool splitName(char* kind, char* element, char* field, size_t size, const char* name) {
  const char *first = strchr(name, '/'), *last = strrchr(name, '/');
  if (!first || first == last) return false;
  snprintf(kind, size, "%.*s", (int)(first - name), name);
  snprintf(element, size, "%.*s", (int)(last - first - 1), first + 1);
  snprintf(field, size, "%s", last + 1);
  return true;
}

static int findElement(const mjModel* m, int object, int number, const char* element) {
  if (element[0] == '#' && element[1]) {
    char* end;
    long id = strtol(element + 1, &end, 10);
    return *end || id < 0 || id >= number ? -1 : (int)id;
  }
  return mj_name2id(m, object, element);
}

static djStatus setOption(djStock* stock, const char* name, int n, const double* value,
                          djError* err) {
  if (strncmp(name, "contact/", 8) == 0) return DJ_OK;
  if (strcmp(name, "option/gravity") != 0) {
    return djm_stockError(err, DJ_INVALID, "%s: there is no such parameter", name);
  }
  if (n != 3) return djm_stockError(err, DJ_INVALID, "%s: 3 values expected, not %d", name, n);
  mju_copy3(stock->work->gravity, value);
  return DJ_OK;
}

djStatus dj_setStockParam(djStock* stock, const char* name, int n, const double* value,
                          djError* err) {
  const mjModel* m = stock->m;
  char kind[512], element[512], field[512];
  if (!splitName(kind, element, field, sizeof(kind), name)) {
    return setOption(stock, name, n, value, err);
  }
  const struct {
    const char* kind;
    int object;
    mjtSize n;
  } kinds[] = {
      {"body", mjOBJ_BODY, m->nbody}, {"joint", mjOBJ_JOINT, m->njnt},
      {"geom", mjOBJ_GEOM, m->ngeom}, {"mesh", mjOBJ_MESH, m->nmesh},
      {"site", mjOBJ_SITE, m->nsite}, {"actuator", mjOBJ_ACTUATOR, m->nactuator},
  };
  for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
    if (strcmp(kind, kinds[k].kind) != 0) continue;
    int id = findElement(m, kinds[k].object, (int)kinds[k].n, element);
    if (id < 0) return djm_stockError(err, DJ_INVALID, "%s: there is no such element", name);
    djError caught;
    djStockSet set = {stock, kinds[k].object, id, field, n, value, DJ_OK, err};
    djStatus status = djm_guard(runSet, &set, &caught);
    if (status != DJ_OK) return djm_stockError(err, status, "%s: %.400s", name, caught.text);
    return set.status;
  }
  return djm_stockError(err, DJ_INVALID, "%s: there is no such parameter", name);
}
