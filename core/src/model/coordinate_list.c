#include "model/coordinate_list.h"

#include "base/status.h"
#include "model/equality.h"
#include "model/joint_type.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

// Dofs of the tree: the last one that moves a body, the first of a joint, the previous of a chain.
typedef struct Tree {
  int *last, *first, *parent;
} Tree;

static bool makeTree(Tree* t, const djModelDef* def) {
  size_t nv = 0;
  for (int j = 0; j < def->njnt; j++) nv += (size_t)dj_jointNv((int)def->joint[j].type);
  t->last = malloc(((size_t)def->nbody + (size_t)def->njnt + nv + 1) * sizeof(int));
  if (!t->last) return false;
  t->first = t->last + def->nbody;
  t->parent = t->first + def->njnt;
  int j = 0, dof = 0;
  for (int b = 0; b < def->nbody; b++) {
    t->last[b] = b > 0 ? t->last[def->body[b].parent] : -1;
    for (; j < def->njnt && def->joint[j].body == b; j++) {
      t->first[j] = dof;
      for (int k = 0; k < dj_jointNv((int)def->joint[j].type); k++) {
        t->parent[dof] = t->last[b];
        t->last[b] = dof++;
      }
    }
  }
  return true;
}

static bool addDof(djCoordinateList* list, int dof) {
  if (list->ndof == list->room) {
    if (list->room > INT_MAX / 4) return false;
    int room = 2 * list->room + 64;
    int* more = realloc(list->dof, (size_t)room * sizeof(int));
    if (!more) return false;
    list->dof = more;
    list->room = room;
  }
  list->dof[list->ndof++] = dof;
  return true;
}

static int compareInts(const void* a, const void* b) {
  const int *x = a, *y = b;
  return *x < *y ? -1 : *x > *y;
}

static void addCoordinate(djCoordinateList* list, djCoordType type, int id) {
  list->type[list->n] = (int)type;
  list->id[list->n++] = id;
}

// Sorts the last coordinate's dofs, from `first` on, and drops those that are there twice.
static void closeCoordinate(djCoordinateList* list, int first) {
  int n = list->ndof - first, kept = first;
  if (n > 1) qsort(list->dof + first, (size_t)n, sizeof(int), compareInts);
  for (int k = first; k < list->ndof; k++) {
    if (k == first || list->dof[k] != list->dof[kept - 1]) list->dof[kept++] = list->dof[k];
  }
  list->ndof = kept;
  list->num[list->n - 1] = kept - first;
}

// Dofs that move two bodies against each other: of both chains, down to where they meet.
static bool addChains(djCoordinateList* list, const Tree* t, int body_a, int body_b) {
  int i = t->last[body_a], k = t->last[body_b];
  while (i != k) {
    int* end = i > k ? &i : &k;
    if (!addDof(list, *end)) return false;
    *end = t->parent[*end];
  }
  return true;
}

static int bodyOf(const djModelDef* def, const djWrapDef* w) {
  return w->type == DJ_WRAP_SITE ? def->site[w->id].body : def->geom[w->id].body;
}

static bool addTendon(djCoordinateList* list, const Tree* t, const djModelDef* def, int id) {
  const djTendonDef* tendon = &def->tendon[id];
  int first = list->ndof;
  addCoordinate(list, DJ_COORD_TENDON, id);
  for (int k = 0; k < tendon->nwrap; k++) {
    const djWrapDef* w = &tendon->wrap[k];
    if (w->type == DJ_WRAP_JOINT && !addDof(list, t->first[w->id])) return false;
    // each site against what is before it, a geom against the site before that
    if (k == 0 || w->type != DJ_WRAP_SITE || w[-1].type == DJ_WRAP_PULLEY) continue;
    int body = def->site[w->id].body, before = bodyOf(def, &w[-1]);
    if (!addChains(list, t, before, body)) return false;
    if (w[-1].type == DJ_WRAP_SITE) continue;
    if (!addChains(list, t, bodyOf(def, &w[-2]), before)) return false;
  }
  closeCoordinate(list, first);
  return true;
}

// Dofs that coordinate c, of a joint or tendon, has in the list.
static bool addDofsOf(djCoordinateList* list, djCoordType type, int id) {
  int first = 0, c = 0;
  for (; list->type[c] != (int)type || list->id[c] != id; c++) first += list->num[c];
  for (int k = first, n = list->num[c]; k < first + n; k++) {
    if (!addDof(list, list->dof[k])) return false;
  }
  return true;
}

// Points that are compared along the world's axes move with all dofs above either body.
static bool addEquality(djCoordinateList* list, const Tree* t, const djModelDef* def, int id) {
  const djEqualityDef* e = &def->equality[id];
  const bool joint = e->type == DJ_EQ_JOINT, bodies = dj_isBetweenBodies((int)e->type);
  const int side[2] = {joint ? e->joint1 : e->tendon1, joint ? e->joint2 : e->tendon2};
  int body[2];
  dj_equalityBodies(body, def, e);
  for (int part = 0; part < dj_equalityCount((int)e->type); part++) {
    int first = list->ndof;
    addCoordinate(list, DJ_COORD_EQUALITY, id);
    list->nequality++;
    for (int k = 0; k < 2; k++) {
      for (int i = bodies ? t->last[body[k]] : -1; i >= 0; i = t->parent[i]) {
        if (!addDof(list, i)) return false;
      }
      if (bodies || side[k] < 0) continue;
      if (!addDofsOf(list, joint ? DJ_COORD_JOINT : DJ_COORD_TENDON, side[k])) return false;
    }
    closeCoordinate(list, first);
  }
  return true;
}

static bool fill(djCoordinateList* list, const Tree* t, const djModelDef* def) {
  for (int j = 0; j < def->njnt; j++) {
    if (dj_jointNv((int)def->joint[j].type) > 1) continue;
    addCoordinate(list, DJ_COORD_JOINT, j);
    if (!addDof(list, t->first[j])) return false;
    list->num[list->n - 1] = 1;
  }
  for (int i = 0; i < def->ntendon; i++) {
    if (!addTendon(list, t, def, i)) return false;
  }
  for (int i = 0; i < def->nu; i++) {
    const djActuatorDef* a = &def->actuator[i];
    if (a->cranksite < 0) continue;
    int first = list->ndof;
    addCoordinate(list, DJ_COORD_CRANK, i);
    list->ncrank++;
    if (!addChains(list, t, def->site[a->cranksite].body, def->site[a->slidersite].body)) {
      return false;
    }
    closeCoordinate(list, first);
  }
  for (int i = 0; i < def->nequality; i++) {
    if (!addEquality(list, t, def, i)) return false;
  }
  return true;
}

djStatus dj_makeCoordinateList(djCoordinateList* list, const djModelDef* def, djError* err) {
  memset(list, 0, sizeof *list);
  Tree t = {NULL, NULL, NULL};
  size_t most = (size_t)def->njnt + (size_t)def->ntendon + (size_t)def->nu + 1;
  for (int i = 0; i < def->nequality; i++) {
    most += (size_t)dj_equalityCount((int)def->equality[i].type);
  }
  list->type = malloc(3 * most * sizeof(int));
  bool done = list->type && makeTree(&t, def);
  if (done) {
    list->id = list->type + most;
    list->num = list->id + most;
    done = fill(list, &t, def);
  }
  free(t.last);
  if (done) return DJ_OK;
  dj_freeCoordinateList(list);
  return dj_failMemory(err);
}

void dj_freeCoordinateList(djCoordinateList* list) {
  free(list->type);
  free(list->dof);
  memset(list, 0, sizeof *list);
}

void dj_fillCoordinates(djModel* m, const djCoordinateList* list) {
  for (int j = 0; j < m->njnt; j++) m->jnt_coord[j] = -1;
  int adr = 0;
  for (int c = 0; c < list->n; c++) {
    int id = list->id[c];
    m->coord_type[c] = list->type[c];
    m->coord_id[c] = id;
    m->coord_dofadr[c] = adr;
    m->coord_dofnum[c] = list->num[c];
    adr += list->num[c];
    if (list->type[c] == DJ_COORD_JOINT) m->jnt_coord[id] = c;
    if (list->type[c] == DJ_COORD_TENDON) m->tendon_coord[id] = c;
    if (list->type[c] == DJ_COORD_CRANK) m->actuator_coord[id] = c;
    if (list->type[c] != DJ_COORD_EQUALITY) continue;
    if (m->eq_coordnum[id]++ == 0) m->eq_coord[id] = c;
  }
  if (adr > 0) memcpy(m->coord_dof, list->dof, (size_t)adr * sizeof(int));
  for (int i = 0; i < m->nu; i++) {
    int joint = m->actuator_joint[i], tendon = m->actuator_tendon[i];
    if (joint >= 0) m->actuator_coord[i] = m->jnt_coord[joint];
    else if (tendon >= 0) m->actuator_coord[i] = m->tendon_coord[tendon];
    else if (m->actuator_crank[2 * i] < 0) m->actuator_coord[i] = -1;
  }
}
