// Parameters of a compiled MuJoCo model, by name.
//
// Some of what MuJoCo's compiler derived is not recomputed by mj_setConst; it is updated here:
// bounding boxes of meshes, polygon normals.

#include "import.h"
#include "param_table.h"
#include "stock_work.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct djStockSet {
  djStock* stock;
  int object;                   // mjtObj
  int id;
  const char* field;            // name, without the element
  const djmParamRow* row;       // or NULL
  int n;
  const double* value;
  djStatus status;
  djError* err;
} djStockSet;

static void fail(djStockSet* set, djStatus status, const char* what) {
  set->status = djm_stockError(set->err, status, "%s: %s", set->field, what);
}

// The sparsity of M relies on `simple` bodies staying so.
static bool refuseSimple(djStockSet* set, const djmParamRow* row, const mjtNum* old, int n) {
  const mjModel* m = set->stock->m;
  int body = set->object == mjOBJ_JOINT ? m->jnt_bodyid[set->id] : set->id;
  bool same = true;
  for (int k = 0; same && k < n; k++) same = set->value[k] == old[k];
  if (!row->simple || same || !m->body_simple[body]) return false;
  fail(set, DJ_UNSUPPORTED, "cannot be changed in a compiled MuJoCo model");
  return true;
}

// Copies the values to where the table says.
static void put(djStockSet* set, const djmParamRow* row) {
  mjModel* m = set->stock->m;
  int n;
  mjtNum* place = djm_paramPlace(&n, m, row, set->id);
  int wanted = row->place == DJM_DOFS || row->place == DJM_PAIR ? 1 : n;
  if (set->n != wanted) {
    set->status = djm_stockError(set->err, DJ_INVALID, "%s: %d values expected, not %d",
                                 set->field, wanted, set->n);
    return;
  }
  if (refuseSimple(set, row, place, wanted)) return;
  djm_putParam(m, row, set->id, set->value);
  if (row->unit && n == 4) mju_normalize4(place);
  if (row->unit && n == 3) mju_normalize3(place);
  if (row->place == DJM_QPOS && n >= 4) mju_normalize4(place + n - 4);
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

static void setVertices(djStockSet* set) {
  mjModel* m = set->stock->m;
  int i = set->id, n = 3 * m->mesh_vertnum[i];
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

// Heights of a field as MuJoCo keeps them: parts of the largest, none below the base.
static void setHeights(djStockSet* set) {
  mjModel* m = set->stock->m;
  const int i = set->id, n = m->hfield_nrow[i] * m->hfield_ncol[i];
  mjtNum *size = m->hfield_size + 4 * i, most = 0;
  if (set->n != n) {
    fail(set, DJ_INVALID, "wrong number of values");
    return;
  }
  for (int k = 0; k < n; k++) {
    if (set->value[k] < 0) {
      fail(set, DJ_UNSUPPORTED, "MuJoCo has no heights below 0");
      return;
    }
    most = fmax(most, set->value[k]);
  }
  size[2] = most > 0 ? most : size[2];
  for (int k = 0; k < n; k++) m->hfield_data[m->hfield_adr[i] + k] = (float)(set->value[k] / size[2]);
  for (int g = 0; g < m->ngeom; g++) {
    if (m->geom_type[g] != mjGEOM_HFIELD || m->geom_dataid[g] != i) continue;
    const mjtNum high = fmax(size[2], size[3]);
    m->geom_aabb[6 * g + 2] = 0.5 * (size[2] - size[3]);
    m->geom_aabb[6 * g + 5] = 0.5 * (size[2] + size[3]);
    m->geom_rbound[g] = sqrt(size[0] * size[0] + size[1] * size[1] + high * high);
  }
}

// ------------------------------ frames ----------------------------------------------------------

static bool isNear(const mjtNum* a, const mjtNum* b, int n) {
  for (int k = 0; k < n; k++) {
    if (fabs(a[k] - b[k]) > 1e-14) return false;
  }
  return true;
}

// Whether a frame is what its flag says, of a body with that inertial frame.
static bool isSameframe(int flag, const mjtNum* pos, const mjtNum* quat, const mjtNum* ipos,
                        const mjtNum* iquat) {
  static const mjtNum origin[3] = {0, 0, 0}, unit[4] = {1, 0, 0, 0};
  switch (flag) {
    case mjSAMEFRAME_BODY: return isNear(pos, origin, 3) && isNear(quat, unit, 4);
    case mjSAMEFRAME_BODYROT: return isNear(quat, unit, 4);
    case mjSAMEFRAME_INERTIA: return isNear(pos, ipos, 3) && isNear(quat, iquat, 4);
    case mjSAMEFRAME_INERTIAROT: return isNear(quat, iquat, 4);
    default: return true;
  }
}

// mj_setConst takes frames for the same that differ by up to 1e-6.
static void checkSameframes(mjModel* m) {
  for (int b = 1; b < m->nbody; b++) {
    const mjtNum *ipos = m->body_ipos + 3 * b, *iquat = m->body_iquat + 4 * b;
    if (!isSameframe(m->body_sameframe[b], ipos, iquat, ipos, iquat)) {
      m->body_sameframe[b] = mjSAMEFRAME_NONE;
    }
    for (int g = m->body_geomadr[b]; g < m->body_geomadr[b] + m->body_geomnum[b]; g++) {
      if (!isSameframe(m->geom_sameframe[g], m->geom_pos + 3 * g, m->geom_quat + 4 * g, ipos,
                       iquat)) {
        m->geom_sameframe[g] = mjSAMEFRAME_NONE;
      }
    }
  }
  for (int s = 0; s < m->nsite; s++) {
    int b = m->site_bodyid[s];
    if (!isSameframe(m->site_sameframe[s], m->site_pos + 3 * s, m->site_quat + 4 * s,
                     m->body_ipos + 3 * b, m->body_iquat + 4 * b)) {
      m->site_sameframe[s] = mjSAMEFRAME_NONE;
    }
  }
}

// ------------------------------ names -----------------------------------------------------------

static void runSet(void* arg) {
  djStockSet* set = arg;
  djStock* s = set->stock;
  const mjModel* m = s->m;
  bool geom = set->object == mjOBJ_GEOM;
  int type = geom ? m->geom_type[set->id] : mjGEOM_NONE;
  bool size = geom && strcmp(set->field, "size") == 0;
  if (set->object == mjOBJ_MESH && strcmp(set->field, "vert") == 0) setVertices(set);
  else if (set->object == mjOBJ_HFIELD && strcmp(set->field, "heights") == 0) setHeights(set);
  else if (!set->row) fail(set, DJ_INVALID, "there is no such parameter");
  else if (size && (type == mjGEOM_MESH || type == mjGEOM_HFIELD)) return;   // MuJoCo's own
  else put(set, set->row);
  if (set->status != DJ_OK) return;
  mju_copy3(s->m->opt.gravity, s->work->gravity);
  mj_setConst(s->m, s->work->probe);
  checkSameframes(s->m);
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

// Pairs are numbered as the import has them (djm_pairNumber).
static int findPair(const mjModel* m, const char* element) {
  int n = 0;
  while (djm_pairNumber(m, n) >= 0) n++;
  int id = djm_findElement(m, mjOBJ_PAIR, n, element);
  if (element[0] == '#' || id < 0) return id;
  for (int k = 0; k < n; k++) {
    if (djm_pairNumber(m, k) == id) return k;
  }
  return -1;
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
  bool option = strncmp(name, "contact/", 8) == 0;   // "contact/KERNEL/SETTING" has no element
  if (option || !splitName(kind, element, field, sizeof(kind), name)) {
    return setOption(stock, name, n, value, err);
  }
  const struct {
    const char* kind;
    int object;
    mjtSize n;
  } kinds[] = {
      {"body", mjOBJ_BODY, m->nbody}, {"joint", mjOBJ_JOINT, m->njnt},
      {"geom", mjOBJ_GEOM, m->ngeom}, {"mesh", mjOBJ_MESH, m->nmesh},
      {"hfield", mjOBJ_HFIELD, m->nhfield},
      {"site", mjOBJ_SITE, m->nsite}, {"actuator", mjOBJ_ACTUATOR, m->nactuator},
      {"tendon", mjOBJ_TENDON, m->ntendon}, {"pair", mjOBJ_PAIR, m->npair},
  };
  for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
    if (strcmp(kind, kinds[k].kind) != 0) continue;
    int object = kinds[k].object;
    int id = object == mjOBJ_PAIR ? findPair(m, element)
                                  : djm_findElement(m, object, (int)kinds[k].n, element);
    if (id < 0) return djm_stockError(err, DJ_INVALID, "%s: there is no such element", name);
    djError caught;
    djStockSet set = {stock, object, id, field, djm_findParam(name), n, value, DJ_OK, err};
    djStatus status = djm_guard(runSet, &set, &caught);
    if (status != DJ_OK) return djm_stockError(err, status, "%s: %.400s", name, caught.text);
    return set.status;
  }
  return djm_stockError(err, DJ_INVALID, "%s: there is no such parameter", name);
}
