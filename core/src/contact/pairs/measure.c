// Which geoms collide by which kernels, how large they are, and the settings in force.

#include "contact/pairs/collision.h"

#include "base/status.h"
#include "model/geom_row.h"
#include "model/kernel_setting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char* dj_geomText(char text[80], const djModel* m, int geom) {
  const char* name = m->names + m->name_geom[geom];
  if (name[0]) {
    snprintf(text, 80, "geom '%.60s'", name);
  } else {
    snprintf(text, 80, "geom #%d", geom);
  }
  return text;
}

// ------------------------------------------ sizes ----------------------------------------------

djStatus dj_makeMeshHull(djHull* hull, const djModel* m, int mesh, const djHull* old,
                         const djWatch* watch, djError* err) {
  int nvert = m->mesh_vertnum[mesh], nface = m->mesh_facenum[mesh];
  const double* vert = m->mesh_vert + 3 * (size_t)m->mesh_vertadr[mesh];
  const int* face = m->mesh_face + 3 * (size_t)m->mesh_faceadr[mesh];
  djStatus status = DJ_INVALID;
  if (old && old->buffer) {
    status = dj_moveHull(hull, old, nvert, vert);
  } else if (nface > 0) {
    status = dj_makeHullWatched(hull, nvert, vert, nface, face, watch, err);
  }
  if (status == DJ_INVALID) {
    status = dj_makeHullWatched(hull, nvert, vert, 0, NULL, watch, err);
  }
  return status;
}

// Work of a geom's hull, in units of its own: the check of all vertices against all facets.
static double hullWork(const djShapeBuilder* b, int geom) {
  const djModel* m = b->model;
  double n = m->geom_type[geom] == DJ_MESH ? m->mesh_vertnum[m->geom_mesh[geom]] : 0;
  return b->collides[geom] ? n * n : 0;
}

// Hulls among all hulls that are to be made.
typedef struct Share {
  const djWatch* watch;
  double before, own, all;   // work
} Share;

static int tellShare(void* user, double done) {
  const Share* s = user;
  return s->watch->progress(s->watch->user, (s->before + done * s->own) / s->all);
}

static djStatus needHull(djShapeBuilder* b, int geom, Share* share, djError* err) {
  int mesh = b->model->geom_mesh[geom];
  if (b->hull[mesh].buffer) return DJ_OK;
  djWatch watch = {tellShare, share};
  share->own = hullWork(b, geom);
  djStatus status = dj_makeMeshHull(&b->hull[mesh], b->model, mesh, NULL,
                                    share->watch ? &watch : NULL, err);
  share->before += share->own;
  char text[80];
  return status ? dj_prefix(err, status, dj_geomText(text, b->model, geom)) : DJ_OK;
}

double dj_innerRadius(const djShapeBuilder* b, int geom) {
  const djModel* m = b->model;
  const double* size = m->geom_size + 3 * geom;
  double by[3];
  if (m->geom_type[geom] == DJ_MESH) return b->hull[m->geom_mesh[geom]].inner;
  return dj_geomRow(m->geom_type[geom])->inner(by, size);
}

djStatus dj_checkInner(const djShapeBuilder* b, int geom, djError* err) {
  char text[80];
  if (b->inner[geom] > 0 && isfinite(b->inner[geom])) return DJ_OK;
  return dj_fail(err, DJ_INVALID, "%s: size must be positive", dj_geomText(text, b->model, geom));
}

// Geoms of one mesh share its hull: their work counts more than once, and they are done at once.
static Share shareOut(const djShapeBuilder* b) {
  Share share = {b->watch && b->watch->progress ? b->watch : NULL, 0, 0, 0};
  for (int g = 0; g < b->model->ngeom; g++) share.all += hullWork(b, g);
  return share;
}

// Some kernel in use makes shapes of this type.
static bool isSupported(const djShapeBuilder* b, int type) {
  bool any = false;
  for (int u = 0; u < b->nuse; u++) any = any || dj_kernelTakes(dj_kernel(b->use[u]), type);
  return any;
}

djStatus dj_measureGeoms(djShapeBuilder* b, djError* err) {
  const djModel* m = b->model;
  for (int g = 0; g < m->ngeom; g++) {
    b->collides[g] = isSupported(b, m->geom_type[g]) && dj_geomCollides(m, g);
  }
  Share share = shareOut(b);
  for (int g = 0; g < m->ngeom; g++) {
    b->inner[g] = INFINITY;
    if (!b->collides[g] || dj_isGround(m->geom_type[g])) continue;
    if (m->geom_type[g] == DJ_MESH) {
      djStatus status = needHull(b, g, &share, err);
      if (status == DJ_INVALID && !dj_kernel(m->opt.contact)) {   // nobody needs it
        b->collides[g] = false;
        continue;
      }
      if (status < 0) return status;
    }
    b->inner[g] = dj_innerRadius(b, g);
    djStatus status = dj_checkInner(b, g, err);
    if (status < 0) return status;
  }
  return DJ_OK;
}

// ------------------------------------------ kernels --------------------------------------------

static void addUse(int* use, int* n, int kernel) {
  if (!dj_kernel(kernel)) return;
  for (int i = 0; i < *n; i++) {
    if (use[i] == kernel) return;
  }
  use[(*n)++] = kernel;
}

// Where contact is switched off, the first kernel's shapes serve queries and gaps.
int dj_kernelsInUse(int* use, const djModel* m) {
  int n = 0;
  bool type[DJ_NGEOMTYPE] = {false};
  addUse(use, &n, dj_ownContact(m) ? (int)m->opt.contact : 0);
  const djKernel* scene = dj_kernel(use[0]);
  for (int g = 0; g < m->ngeom; g++) {
    addUse(use, &n, m->geom_contact[g]);
    type[m->geom_type[g]] = true;
  }
  for (int i = 0; i < m->npair; i++) addUse(use, &n, m->pair_contact[i]);
  for (int a = 0; a < DJ_NGEOMTYPE; a++) {
    for (int b = a; b < DJ_NGEOMTYPE; b++) {
      if (type[a] && type[b] && !scene->takes(a, b) && !scene->takes(b, a)) {
        addUse(use, &n, dj_kernelOf(a, b));
      }
    }
  }
  return n;
}

bool dj_isIdle(const djModel* m, const djSetting* setting) {
  int kernel = -1;
  const djOption standard = dj_defaultOption();
  double value[3], usual[3];
  if (!m || !setting) return false;
  for (int slot = 0; slot < m->nkernelsetting && kernel < 0; slot++) {
    int of;
    const djSetting *row = dj_settingOfSlot(&of, slot), *option = dj_optionOfSlot(m, slot);
    if (row && option && strcmp(option->name, setting->name) == 0) kernel = of;
  }
  dj_getSetting(value, &m->opt, setting);
  dj_getSetting(usual, &standard, setting);
  if (kernel < 0 || value[0] == usual[0]) return false;
  int* use = malloc(((size_t)dj_kernelCount() + 1) * sizeof *use);
  bool idle = use != NULL;
  for (int n = idle ? dj_kernelsInUse(use, m) : 0; n > 0; n--) idle = idle && use[n - 1] != kernel;
  free(use);
  return idle;
}

bool dj_hasShape(const djShapeBuilder* b, int u, int geom) {
  return b->collides[geom] && dj_kernelTakes(dj_kernel(b->use[u]), b->model->geom_type[geom]);
}

djGeomSource dj_sourceOf(const djModel* m, int shape) {
  const struct djCollision* c = m->collision;
  int geom = shape % m->ngeom;
  double skin = isfinite(c->skin[shape]) ? c->skin[shape] : 0;
  djGeomSource from = {.model = m, .geom = geom, .inner = c->inner[geom], .skin = skin};
  dj_setHulls(&from, c->hull, c->grid);
  return from;
}
