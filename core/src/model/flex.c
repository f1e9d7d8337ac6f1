#include "model/flex.h"

#include "base/status.h"
#include "math/vec.h"
#include "model/check.h"
#include "model/choice.h"
#include "model/element.h"
#include "model/make.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

// ---- checks ------------------------------------------------------------------------------------

// Vertices exist and differ.
static const char* elementProblem(const djFlexDef* f, int e) {
  const int *v = f->elem + (size_t)e * (size_t)(f->dim + 1), n = f->dim + 1;
  for (int i = 0; i < n; i++) {
    if (v[i] < 0 || v[i] >= f->nvert) return "names a vertex that does not exist";
    for (int k = 0; k < i; k++) {
      if (v[k] == v[i]) return "has a vertex twice";
    }
  }
  const double* place[DJ_FLEX_VERT];
  djFlexRest rest;
  for (int i = 0; i < n; i++) place[i] = f->vert + 3 * (size_t)v[i];
  if (dj_flexRest(&rest, f->dim, place)) return NULL;
  return f->dim == 1 ? "has no length" : f->dim == 2 ? "has no area" : "has no volume";
}

djStatus dj_checkFlexes(const djModelDef* def, djError* err) {
  djStatus status = dj_checkKind(def, DJ_OBJ_FLEX, err);
  if (status < 0) return status;
  for (int i = 0; i < def->nflex; i++) {
    const djFlexDef* f = &def->flex[i];
    for (int e = 0; e < f->nelem; e++) {
      const char* problem = elementProblem(f, e);
      if (!problem) continue;
      return dj_fail(err, DJ_INVALID, "%s: element %d %s", dj_elementText("flex", f->name, i).text,
                     e, problem);
    }
  }
  return DJ_OK;
}

const char* dj_restProblem(const djModel* m, int f, const double* vert) {
  const double *place[DJ_FLEX_VERT], *x = vert - 3 * (size_t)m->flex_vertadr[f];
  djFlexRest rest;
  for (int e = m->flex_elemadr[f]; e < m->flex_elemadr[f] + m->flex_elemnum[f]; e++) {
    dj_elementPlaces(place, m, e, x);
    if (!dj_flexRest(&rest, m->flex_dim[f], place)) return "leaves an element without volume";
  }
  return NULL;
}

// ---- edges -------------------------------------------------------------------------------------

// An edge of an element, and where it is met.
typedef struct Met {
  int a, b, at;
} Met;

static int compareEdges(const void* x, const void* y) {
  const Met *p = x, *q = y;
  if (p->a != q->a) return p->a < q->a ? -1 : 1;
  if (p->b != q->b) return p->b < q->b ? -1 : 1;
  return p->at < q->at ? -1 : p->at > q->at;
}

// Numbers a flex's edges by where they are met first: to elem_edge (nelem x count), and their
// vertices. met: scratch (nelem x count). Returns how many there are.
static int numberEdges(int* edge, int* elem_edge, Met* met, const djFlexDef* f) {
  int count = dj_flexEdgeCount[f->dim], n = f->nelem * count, nedge = 0;
  for (int i = 0; i < n; i++) {
    const int* v = f->elem + (size_t)(i / count) * (size_t)(f->dim + 1);
    int a = v[dj_flexEdges[f->dim][i % count][0]], b = v[dj_flexEdges[f->dim][i % count][1]];
    met[i] = (Met){a < b ? a : b, a < b ? b : a, i};
  }
  qsort(met, (size_t)n, sizeof *met, compareEdges);
  for (int i = 0, first = 0; i < n; i++) { // each names the first place of its edge
    if (i == 0 || met[i].a != met[i - 1].a || met[i].b != met[i - 1].b) first = met[i].at;
    elem_edge[met[i].at] = first;
  }
  for (int i = 0; i < n; i++) {
    if (elem_edge[i] != i) {
      elem_edge[i] = elem_edge[elem_edge[i]];
      continue;
    }
    const int* v = f->elem + (size_t)(i / count) * (size_t)(f->dim + 1);
    int a = v[dj_flexEdges[f->dim][i % count][0]], b = v[dj_flexEdges[f->dim][i % count][1]];
    edge[2 * nedge] = a < b ? a : b;
    edge[2 * nedge + 1] = a < b ? b : a;
    elem_edge[i] = nedge++;
  }
  return nedge;
}

djStatus dj_makeFlexList(djFlexList* list, const djModelDef* def, djError* err) {
  size_t n = 0, most = 0, nelem = 0, nvert = 0;
  *list = (djFlexList){0};
  for (int i = 0; i < def->nflex; i++) {
    size_t own = (size_t)def->flex[i].nelem * (size_t)dj_flexEdgeCount[def->flex[i].dim];
    n += own;
    if (own > most) most = own;
    nelem += (size_t)def->flex[i].nelem;
    nvert += (size_t)def->flex[i].nvert;
  }
  if (n > INT_MAX / 64 || nvert > INT_MAX / 64) {
    return dj_fail(err, DJ_INVALID, "model: flexes are too large");
  }
  list->nelem = (int)nelem;
  list->nvert = (int)nvert;
  list->edge = malloc((2 * n + 1) * sizeof(int));
  list->elem_edge = malloc((DJ_FLEX_EDGE * nelem + most + 1) * sizeof(int));
  list->nedge_of = malloc(((size_t)def->nflex + 1) * sizeof(int));
  Met* met = malloc((most + 1) * sizeof *met);
  bool good = list->edge && list->elem_edge && list->nedge_of && met;
  int* own = list->elem_edge ? list->elem_edge + DJ_FLEX_EDGE * nelem : NULL;
  for (int i = 0, elem = 0; i < def->nflex && good; i++) {
    const djFlexDef* f = &def->flex[i];
    int count = dj_flexEdgeCount[f->dim];
    list->nedge_of[i] = numberEdges(list->edge + 2 * (size_t)list->nedge, own, met, f);
    for (int k = 0; k < f->nelem * DJ_FLEX_EDGE; k++) {
      int e = k % DJ_FLEX_EDGE;
      int* to = list->elem_edge + DJ_FLEX_EDGE * (size_t)elem + k;
      *to = e < count ? list->nedge + own[k / DJ_FLEX_EDGE * count + e] : -1;
    }
    elem += f->nelem;
    list->nedge += list->nedge_of[i];
  }
  free(met);
  return good ? DJ_OK : dj_failMemory(err);
}

void dj_freeFlexList(djFlexList* list) {
  free(list->edge);
  free(list->elem_edge);
  free(list->nedge_of);
}

// ---- arrays ------------------------------------------------------------------------------------

// Vertices that are opposite to edges in triangles, the first and the last, and edges to these.
static void fillFlaps(djModel* m, int f) {
  if (m->flex_dim[f] != 2) return;
  for (int e = m->flex_elemadr[f]; e < m->flex_elemadr[f] + m->flex_elemnum[f]; e++) {
    const int *v = m->flexelem_vert + 4 * (size_t)e, *edge = m->flexelem_edge + 6 * (size_t)e;
    for (int k = 0; k < 3; k++) {
      int *flap = m->flexedge_flap + 2 * (size_t)edge[k], side = flap[0] >= 0;
      int* rim = m->flexedge_rim + 4 * (size_t)edge[k] + 2 * side;
      const int *ends = dj_flexEdges[2][k], first = m->flexedge_vert[2 * (size_t)edge[k]];
      bool turned = v[ends[0]] != first;
      flap[side] = v[k];
      // edge i is opposite to vertex i: that to the first end is opposite to the second one
      rim[0] = edge[ends[turned ? 0 : 1]];
      rim[1] = edge[ends[turned ? 1 : 0]];
    }
  }
  for (int e = m->flex_edgeadr[f]; e < m->flex_edgeadr[f] + m->flex_edgenum[f]; e++) {
    int* rim = m->flexedge_rim + 4 * (size_t)e;
    if (m->flexedge_flap[2 * (size_t)e + 1] < 0) rim[0] = rim[1] = -1;
  }
}

void dj_fillFlexes(djModel* m, const djModelDef* def, const djFlexList* list) {
  int vert = 0, edge = 0, elem = 0;
  dj_fillKind(m, def, DJ_OBJ_FLEX);
  for (int i = 0; i < m->nflex; i++) {
    const djFlexDef* f = &def->flex[i];
    m->flex_vertnum[i] = f->nvert;
    m->flex_elemnum[i] = f->nelem;
    m->flex_vertadr[i] = vert;
    m->flex_edgeadr[i] = edge;
    m->flex_elemadr[i] = elem;
    m->flex_edgenum[i] = list->nedge_of[i];
    memcpy(m->flexvert_body + vert, f->body, (size_t)f->nvert * sizeof(int));
    if (f->pos) dj_copyNumbers(m->flexvert_pos + 3 * (size_t)vert, f->pos, 3 * f->nvert);
    dj_copyNumbers(m->flexvert_rest + 3 * (size_t)vert, f->vert, 3 * f->nvert);
    for (int k = 0; k < m->flex_edgenum[i]; k++, edge++) {
      m->flexedge_flex[edge] = i;
      for (int s = 0; s < 2; s++) {
        m->flexedge_vert[2 * edge + s] = vert + list->edge[2 * edge + s];
        m->flexedge_flap[2 * edge + s] = -1;
      }
      for (int s = 0; s < 4; s++) m->flexedge_rim[4 * edge + s] = -1;
    }
    for (int k = 0; k < f->nelem; k++, elem++) {
      m->flexelem_flex[elem] = i;
      for (int s = 0; s < DJ_FLEX_VERT; s++) {
        bool has = s <= f->dim;
        m->flexelem_vert[4 * elem + s] = has ? vert + f->elem[k * (f->dim + 1) + s] : -1;
      }
      memcpy(m->flexelem_edge + DJ_FLEX_EDGE * elem, list->elem_edge + DJ_FLEX_EDGE * elem,
             DJ_FLEX_EDGE * sizeof(int));
    }
    vert += f->nvert;
    fillFlaps(m, i);
    dj_setFlexLaw(m, i);
  }
}

void dj_getFlexes(djFlexDef* flex, int* elem, const djModel* m) {
  dj_getKind(flex, m, DJ_OBJ_FLEX);
  for (int i = 0; i < m->nflex; i++) {
    djFlexDef* f = &flex[i];
    int vert = m->flex_vertadr[i];
    f->nvert = m->flex_vertnum[i];
    f->body = m->flexvert_body + vert;
    f->pos = m->flexvert_pos + 3 * (size_t)vert;
    f->vert = m->flexvert_rest + 3 * (size_t)vert;
    f->nelem = m->flex_elemnum[i];
    f->elem = elem;
    for (int e = m->flex_elemadr[i]; e < m->flex_elemadr[i] + m->flex_elemnum[i]; e++) {
      for (int k = 0; k <= f->dim; k++) *elem++ = m->flexelem_vert[4 * (size_t)e + (size_t)k] - vert;
    }
  }
}

// ---- laws --------------------------------------------------------------------------------------

void dj_elementPlaces(const double* place[DJ_FLEX_VERT], const djModel* m, int e, const double* x) {
  for (int k = 0; k < DJ_FLEX_VERT; k++) {
    int v = m->flexelem_vert[4 * (size_t)e + (size_t)k];
    place[k] = v < 0 ? NULL : x + 3 * (size_t)v;
  }
}

bool dj_flapVertices(int vert[4], const djModel* m, int e) {
  for (int k = 0; k < 2; k++) {
    vert[k] = m->flexedge_vert[2 * (size_t)e + (size_t)k];
    vert[2 + k] = m->flexedge_flap[2 * (size_t)e + (size_t)k];
  }
  return vert[3] >= 0;
}

bool dj_flapPlaces(const double* place[4], const djModel* m, int e, const double* x) {
  int vert[4];
  if (!dj_flapVertices(vert, m, e)) return false;
  for (int k = 0; k < 4; k++) place[k] = x + 3 * (size_t)vert[k];
  return true;
}

void dj_setFlexLaw(djModel* m, int f) {
  djFlexMaterial material = dj_flexMaterial(m, f);
  const double* place[DJ_FLEX_VERT];
  for (int e = m->flex_edgeadr[f]; e < m->flex_edgeadr[f] + m->flex_edgenum[f]; e++) {
    const int* v = m->flexedge_vert + 2 * (size_t)e;
    djVec3 a = dju_load3(m->flexvert_rest + 3 * (size_t)v[0]);
    djVec3 b = dju_load3(m->flexvert_rest + 3 * (size_t)v[1]);
    double* out = m->flexedge_bending + DJ_FLEX_BENDING * (size_t)e;
    m->flexedge_length0[e] = dju_norm3(dju_sub3(b, a));
    memset(out, 0, DJ_FLEX_BENDING * sizeof *out);
    if (material.rigidity == 0 || !dj_flapPlaces(place, m, e, m->flexvert_rest)) continue;
    djFlap flap;
    dj_flap(&flap, place);
    dj_flapBending(out, &flap, material.rigidity);
  }
  for (int e = m->flex_elemadr[f]; e < m->flex_elemadr[f] + m->flex_elemnum[f]; e++) {
    djFlexRest rest;
    dj_elementPlaces(place, m, e, m->flexvert_rest);
    dj_flexRest(&rest, m->flex_dim[f], place);
    dj_flexStiffness(m->flexelem_stiffness + DJ_FLEX_STIFFNESS * (size_t)e, &rest, &material);
  }
}

// ---- holes -------------------------------------------------------------------------------------

// A ball's centre is as far from three places, or, where their triangle is not acute, from two.
static double holeOf(const double* a, const double* b, const double* c) {
  djVec3 u = dju_sub3(dju_load3(b), dju_load3(a)), v = dju_sub3(dju_load3(c), dju_load3(a));
  double s[3] = {dju_norm3(u), dju_norm3(v), dju_norm3(dju_sub3(u, v))};
  double most = fmax(s[0], fmax(s[1], s[2]));
  if (2 * most * most >= s[0] * s[0] + s[1] * s[1] + s[2] * s[2]) return 0.5 * most;
  return s[0] * s[1] * s[2] / (2 * dju_norm3(dju_cross3(u, v)));
}

double dj_flexHole(const djModel* m, int f) {
  double most = 0;
  if (!m || f < 0 || f >= m->nflex) return 0;
  int dim = m->flex_dim[f], end = m->flex_edgeadr[f] + m->flex_edgenum[f];
  for (int e = m->flex_edgeadr[f]; e < end && dim == 1; e++) {
    most = fmax(most, 0.5 * m->flexedge_length0[e]);
  }
  end = m->flex_elemadr[f] + m->flex_elemnum[f];
  for (int e = m->flex_elemadr[f]; e < end && dim > 1; e++) {
    const double* place[DJ_FLEX_VERT];
    dj_elementPlaces(place, m, e, m->flexvert_rest);
    for (int k = 0; k < (dim == 2 ? 1 : 4); k++) {   // a triangle, or the four of a tetrahedron
      most = fmax(most, holeOf(place[k], place[(k + 1) % (dim + 1)], place[(k + 2) % (dim + 1)]));
    }
  }
  return fmax(0, most - m->flex_radius[f]);
}
