// Cage: displacements of the nodes on a box's surface move what is inside it.
//
// A lattice of cells is over the box, one by default; its inner nodes follow those of the surface
// (lattice.h). A point x of the body's frame with coordinates t in [0, 1]^3 within its cell has the
// weights w_c = prod_k (c has bit k ? t_k : 1 - t_k) and moves by sum_c w_c u_c, u being those of
// the cell's corners. The weights are those of the model as it was given, so that the map is linear
// in z.

#include "base/status.h"
#include "gradient/lattice.h"
#include "gradient/map_box.h"
#include "gradient/problem.h"
#include "model/param.h"

#include <math.h>
#include <string.h>

enum { CORNERS = 8 };

typedef struct djCagePoint {
  int out;   // its first output
  int frame; // in which its coordinates are
  int node;  // its cell's corner 0
  double weight[CORNERS];
} djCagePoint;

typedef struct djCage {
  double low[3], high[3];
  djLattice lattice;
  int corner[CORNERS]; // nodes from corner 0 on
  int npoint;
  djCagePoint* point;
  djMat3* frame; // (nframe) of each target: displacement in the body = R that in it
  int nframe;
  bool* chosen; // (nto) those of `to` that were found
} djCage;

// Weights of a point in the body's frame; false where it is outside. Points on a face count as
// inside, to rounding.
static bool weigh(djCagePoint* point, const djCage* cage, djVec3 x) {
  double place[3] = {x.x, x.y, x.z};
  const djLattice* l = &cage->lattice;
  int node = 0;
  for (int k = 0; k < 3; k++) {
    double t = (place[k] - cage->low[k]) / (cage->high[k] - cage->low[k]);
    if (t < -DJ_ON_FACE || t > 1 + DJ_ON_FACE) return false;
    t = fmin(fmax(t, 0), 1) * l->cells[k];
    int cell = (int)fmin(t, l->cells[k] - 1);
    place[k] = t - cell;
    node += cell * cage->corner[1 << k];
  }
  point->node = node;
  for (int c = 0; c < CORNERS; c++) {
    point->weight[c] = 1;
    for (int k = 0; k < 3; k++) point->weight[c] *= c >> k & 1 ? place[k] : 1 - place[k];
  }
  return true;
}

// Whether `to` lets the parameter move.
static bool isChosen(djCage* cage, const djParam* param, const djMapMaking* making) {
  const djMapDef* given = making->given;
  bool chosen = given->nto == 0;
  for (int i = 0; i < given->nto; i++) {
    djParam named;
    if (dj_paramId(&named, making->model, given->to[i], NULL) < 0) continue;
    if (named.field != param->field || named.id != param->id) continue;
    chosen = cage->chosen[i] = true;
  }
  return chosen;
}

// What a visit works with.
typedef struct djCageVisit {
  djMap* map;
  const djMapMaking* making;
} djCageVisit;

// A target when there is a point inside.
static djStatus addPlaces(void* user, const djParam* param, const djPose* pose) {
  const djMapMaking* making = ((djCageVisit*)user)->making;
  djMap* map = ((djCageVisit*)user)->map;
  djCage* cage = map->detail;
  if (param->field == DJ_FIELD_JOINT_POS) return DJ_OK;
  const double* place = dj_paramData(making->model, param);
  int first = cage->npoint;
  for (int i = 0; i < param->nvalue / 3; i++) {
    djCagePoint* point = &cage->point[cage->npoint];
    if (!weigh(point, cage, dju_transform(pose, dju_load3(place + 3 * i)))) continue;
    point->out = map->nout + 3 * i;
    point->frame = cage->nframe;
    cage->npoint++;
  }
  if (cage->npoint == first) return DJ_OK;
  if (!isChosen(cage, param, making)) {
    cage->npoint = first;
    return DJ_OK;
  }
  djMapTarget* t = &map->target[map->ntarget++];
  *t = (djMapTarget){-1, 0, 1, param->nvalue};
  map->nout += param->nvalue;
  cage->frame[cage->nframe++] = pose->R;
  return dj_listParam(&t->param, making->problem, param, making->pool, making->err);
}

// Box and lattice.
static djStatus takeLattice(djCage* cage, const djMapMaking* making) {
  const djMapArg *box = &making->given->arg[1], *grid = &making->given->arg[2];
  djError* err = making->err;
  int cells[3] = {1, 1, 1};
  double size[3];
  if (box->rows != 2 || box->columns != 3) {
    return dj_fail(err, DJ_INVALID, "box: must be two points");
  }
  for (int k = 0; k < 3; k++) {
    cage->low[k] = box->number[k];
    cage->high[k] = box->number[3 + k];
    if (!(cage->high[k] > cage->low[k])) return dj_fail(err, DJ_INVALID, "box: is empty");
  }
  if (grid->given && grid->columns != 3) {
    return dj_fail(err, DJ_INVALID, "grid: must be 3 numbers of cells");
  }
  for (int k = 0; k < 3; k++) {
    double n = grid->given ? grid->number[k] : 1;
    if (!(n >= 1 && n <= DJ_MOST_CELLS) || n != floor(n)) {
      return dj_fail(err, DJ_INVALID, "grid: must be whole numbers between 1 and %d",
                     DJ_MOST_CELLS);
    }
    cells[k] = (int)n;
    size[k] = (cage->high[k] - cage->low[k]) / n;
  }
  djLattice* l = &cage->lattice;
  if (dj_makeLattice(l, cells, size, making->pool) < 0) return dj_failMemory(err);
  for (int c = 0; c < CORNERS; c++) {
    cage->corner[c] = (c & 1) + l->nodes[0] * ((c >> 1 & 1) + l->nodes[1] * (c >> 2));
  }
  return DJ_OK;
}

static djStatus makeCage(djMap* map, const djMapMaking* making) {
  const djModel* m = making->model;
  const djMapDef* given = making->given;
  djError* err = making->err;
  djCage* cage = dj_poolTake(making->pool, 1, sizeof *cage);
  if (!cage) return dj_failMemory(err);
  map->detail = cage;
  int body;
  djStatus status = dj_boxBody(&body, &given->arg[0], making);
  if (status == DJ_OK) status = takeLattice(cage, making);
  if (status == DJ_OK) status = dj_checkFrom(map, 3 * cage->lattice.nsurface, making);
  if (status < 0) return status;
  map->nwork = 3 * (size_t)cage->lattice.nnode + dj_latticeWork(&cage->lattice);
  size_t elements = dj_placeParams(m);
  cage->point = dj_poolTake(making->pool, dj_places(m), sizeof *cage->point);
  cage->frame = dj_poolTake(making->pool, elements, sizeof *cage->frame);
  cage->chosen = dj_poolTake(making->pool, (size_t)given->nto, sizeof *cage->chosen);
  map->target = dj_poolTake(making->pool, elements, sizeof *map->target);
  if (!cage->point || !cage->frame || !cage->chosen || !map->target) return dj_failMemory(err);
  djCageVisit visit = {map, making};
  status = dj_visitPlaces(m, body, addPlaces, &visit);
  for (int i = 0; i < given->nto && status == DJ_OK; i++) {
    if (cage->chosen[i]) continue;
    status = dj_fail(err, DJ_INVALID, "to: '%.100s' has nothing inside the box", given->to[i]);
  }
  if (status == DJ_OK && map->ntarget == 0) {
    status = dj_fail(err, DJ_INVALID, "box: nothing of the body is inside");
  }
  return status;
}

static void applyCage(double* out, const djMap* map, const double* z, double* work) {
  const djCage* cage = map->detail;
  double* node = work;
  dj_spreadLattice(node, &cage->lattice, z, work + 3 * (size_t)cage->lattice.nnode);
  memset(out, 0, (size_t)map->nout * sizeof *out);
  for (int i = 0; i < cage->npoint; i++) {
    const djCagePoint* p = &cage->point[i];
    djVec3 u = {0, 0, 0};
    for (int c = 0; c < CORNERS; c++) {
      u = dju_madd3(u, p->weight[c], dju_load3(node + 3 * (p->node + cage->corner[c])));
    }
    dju_store3(out + p->out, dju_mulMtV(cage->frame[p->frame], u));
  }
}

static void vjpCage(double* dz, const djMap* map, const double* z, const double* dout,
                    double* work) {
  (void)z;
  const djCage* cage = map->detail;
  double* dnode = work;
  memset(dnode, 0, 3 * (size_t)cage->lattice.nnode * sizeof *dnode);
  for (int i = 0; i < cage->npoint; i++) {
    const djCagePoint* p = &cage->point[i];
    djVec3 u = dju_mulMV(cage->frame[p->frame], dju_load3(dout + p->out));
    for (int c = 0; c < CORNERS; c++) {
      dju_addTo3(dnode + 3 * (p->node + cage->corner[c]), p->weight[c], u);
    }
  }
  dj_gatherLattice(dz, &cage->lattice, dnode, work + 3 * (size_t)cage->lattice.nnode);
}

static djStatus checkCage(const djMap* map, const double* z, double* work, djError* err) {
  const djLattice* l = &((const djCage*)map->detail)->lattice;
  double* node = work;
  dj_spreadLattice(node, l, z, work + 3 * (size_t)l->nnode);
  int i = dj_flippedCell(l, node);
  if (i < 0) return DJ_OK;
  return dj_fail(err, DJ_INVALID, "cell (%d, %d, %d) of the cage is turned inside out",
                 i % l->cells[0], i / l->cells[0] % l->cells[1], i / l->cells[0] / l->cells[1]);
}

const djMapType dj_mapCage = {
    {.name = "cage",
     .unit = "",
     .help = "z: displacements (n x 3), in the body's frame, of the surface nodes of a lattice of "
             "`grid` cells over a box, along x first",
     .key = (const djKey[]){{"body", DJ_HOLDS_ELEMENT, 0, DJ_OBJ_BODY, true, "", ""},
                            {"box", DJ_HOLDS_ROWS, 0, DJ_NOBJ, true, "m", ""},
                            {"grid", DJ_HOLDS_NUMBERS, 3, DJ_NOBJ, false, "", "1 1 1"},
                            {0}}},
    DJ_MAPTO_CHOICE,
    true,
    false,
    makeCage,
    applyCage,
    vjpCage,
    NULL,
    checkCage};
