// Comparison of a compiled scene with the design it shall hold.
//
// MuJoCo moves a mesh to its own centre and principal axes and keeps single precision, so the
// vertices of a changed mesh are compared where its geoms put them in the body frame.

#include "import.h"
#include "param_table.h"
#include "write.h"
#include "write_hfield.h"

#include <dijoco/entry.h>
#include <dijoco/setting.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct djmCheck {
  const djModel *got, *wanted, *base;
  double tolerance;
  bool* poor;              // memory ran out
  djError* err;
} djmCheck;

static bool differs(const djmCheck* c, const djParam* p, double got, double wanted) {
  char name[200];
  snprintf(c->err->text, sizeof c->err->text,
           "%s: could not be written: it is %.17g there, not %.17g",
           dj_paramName(name, sizeof name, c->wanted, p), got, wanted);
  return false;
}

static bool near(const djmCheck* c, double a, double b) {
  if (a == b) return true;    // infinite ones too
  return fabs(a - b) <= c->tolerance * fmax(1, fabs(b));
}

static bool meshChanged(const djmCheck* c, int mesh) {
  if (!c->base) return true;
  size_t adr = 3 * (size_t)c->base->mesh_vertadr[mesh];
  size_t n = 3 * (size_t)c->base->mesh_vertnum[mesh];
  return memcmp(c->wanted->mesh_vert + adr, c->base->mesh_vert + adr, n * sizeof(double)) != 0;
}

// Numbers that are not compared: what the frame of a changed mesh decides, the place of a
// height field (djm_checkHfields) and of a flex's vertices (djm_checkFlexes), where a spring without stiffness rests, and settings of contact as they are in the pair that stands for the scene
// (checkSettings, checkScales).
static bool isFree(const djmCheck* c, const char* name, int id) {
  const djModel* m = c->wanted;
  if (strcmp(name, "joint/N/springref") == 0) {
    const double* poly = m->jnt_stiffnesspoly + 2 * id;
    return m->jnt_stiffness[id] == 0 && poly[0] == 0 && poly[1] == 0;
  }
  if (strncmp(name, "contact/", 8) == 0) return true;
  if (strcmp(name, "body/N/pos") == 0) return djm_placedByRest(m, id);
  if (strncmp(name, "geom/", 5) != 0) return false;
  if (m->geom_type[id] == DJ_HFIELD) {
    return strcmp(name, "geom/N/pos") == 0 || strcmp(name, "geom/N/size") == 0;
  }
  if (m->geom_type[id] != DJ_MESH) return false;
  if (strcmp(name, "geom/N/size") == 0) return true;
  return strcmp(name, "geom/N/friction") != 0 && meshChanged(c, m->geom_mesh[id]);
}

// A parameter of all elements.
static bool checkRow(const djmCheck* c, const djmParamRow* row) {
  djmParamList list;
  double a[DJ_NPRM], b[DJ_NPRM];   // the most that a row has
  if (!djm_listParams(&list, c->wanted, row->name)) {
    snprintf(c->err->text, sizeof c->err->text, "out of memory");
    *c->poor = true;
    return false;
  }
  bool good = true;
  for (int i = 0; i < list.n && good; i++) {
    const djParam* p = &list.param[i];
    if (isFree(c, row->name, p->id)) continue;
    dj_getParam(a, c->got, p);
    dj_getParam(b, c->wanted, p);
    bool quat = p->nvalue == 4 && p->ntangent == 3 && row->unit;   // of either sign
    double sign = quat && mju_dot(a, b, 4) < 0 ? -1 : 1;
    for (int k = 0; k < p->nvalue && good; k++) {
      good = near(c, sign * a[k], b[k]) || differs(c, p, sign * a[k], b[k]);
    }
  }
  free(list.param);
  return good;
}

// Vertex v of geom g, in the body frame.
static void bodyPoint(double point[3], const djModel* m, int g, int v) {
  const double* vert = m->mesh_vert + 3 * ((size_t)m->mesh_vertadr[m->geom_mesh[g]] + (size_t)v);
  mju_rotVecQuat(point, vert, m->geom_quat + 4 * g);
  mju_addTo3(point, m->geom_pos + 3 * g);
}

static bool checkMeshes(const djmCheck* c) {
  for (int g = 0; g < c->wanted->ngeom; g++) {
    int mesh = c->wanted->geom_mesh[g];
    if (c->wanted->geom_type[g] != DJ_MESH || !meshChanged(c, mesh)) continue;
    int n = c->wanted->mesh_vertnum[mesh];
    double far = 0;
    for (int v = 0; v < n; v++) {
      size_t adr = 3 * ((size_t)c->wanted->mesh_vertadr[mesh] + (size_t)v);
      far = fmax(far, mju_norm3(c->wanted->mesh_vert + adr));
    }
    for (int v = 0; v < n; v++) {
      double a[3], b[3];
      bodyPoint(a, c->got, g, v);
      bodyPoint(b, c->wanted, g, v);
      if (mju_dist3(a, b) <= 4e-7 * far + c->tolerance) continue;
      int k = fabs(a[0] - b[0]) > fabs(a[1] - b[1]) ? 0 : 1;
      if (fabs(a[2] - b[2]) > fabs(a[k] - b[k])) k = 2;
      djParam p = {0, mesh, 3 * n, 3 * n};
      while (strcmp(dj_parameterEntry(p.field)->name, "mesh/N/vert") != 0) p.field++;
      return differs(c, &p, a[k], b[k]);
    }
  }
  return true;
}

// What says how a guide acts, in a model that has none.
static bool isIdle(const djModel* m, const djSetting* s) {
  return strncmp(s->name, "guide_", 6) == 0 && s->automatic && !dj_guidesRuns(m) &&
         !dj_guidesDerivatives(m);
}

static bool settingDiffers(const djmCheck* c, const char* group, const char* name, double got,
                           double wanted) {
  snprintf(c->err->text, sizeof c->err->text,
           "%s/%s: could not be written: it is %.17g there, not %.17g", group, name, got, wanted);
  return false;
}

// Settings that are given. What default rules find instead is no number of the scene: it is of
// pairs, and follows what checkScales compares.
static bool checkSettings(const djmCheck* c) {
  const djSetting* s;
  for (int i = 0; (s = dj_setting(i)); i++) {
    double got[3], wanted[3];
    if (s->kind == DJ_SETTING_FLAGS || isIdle(c->wanted, s)) continue;
    dj_getSetting(got, &c->got->opt, s);
    dj_getSetting(wanted, &c->wanted->opt, s);
    if (s->automatic && got[0] < 0 && wanted[0] < 0) continue;
    if (s->automatic && (got[0] < 0 || wanted[0] < 0)) {   // as much as the rule's may be
      dj_settingInForce(got, c->got, s);
      dj_settingInForce(wanted, c->wanted, s);
    }
    for (int k = 0; k < s->size; k++) {
      // Small numbers such as stiffness are compared relatively.
      double scale = fmin(1, fabs(wanted[k]));
      if (fabs(got[k] - wanted[k]) <= c->tolerance * scale) continue;
      return settingDiffers(c, s->group ? s->group : "option",
                            s->group && strcmp(s->group, s->name) == 0 ? "model" : s->name, got[k],
                            wanted[k]);
    }
  }
  return true;
}

// What default rules look at in geoms that can touch, by any kernel. A scene that was written has
// it as the design keeps it, or the geoms that it follows from: floats, of meshes. Of geoms that
// touch nothing it may be another one, since nothing is done with it.
static bool checkScales(const djmCheck* c) {
  const djModel *got = c->got, *wanted = c->wanted;
  const bool guided = dj_guidesRuns(wanted) || dj_guidesDerivatives(wanted);
  const double least = wanted->defaults_kept ? c->tolerance : fmax(c->tolerance, 4e-7);
  const struct {
    const char* name;
    const double *got, *wanted;
    bool used;
  } list[] = {{"inner_radius", got->geom_radius, wanted->geom_radius, true},
              {"load", got->geom_load, wanted->geom_load, true},
              {"recovery_load", got->geom_push, wanted->geom_push, true},
              {"skin", got->geom_skin, wanted->geom_skin, true},
              {"guide_radius", got->geom_bound, wanted->geom_bound, guided},
              {"guide_part", got->geom_part, wanted->geom_part, guided}};
  for (int g = 0; g < wanted->ngeom; g++) {
    if (!(wanted->geom_radius[g] > 0)) continue;
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
      double a = list[k].got[g], b = list[k].wanted[g];
      if (!list[k].used || a == b || fabs(a - b) <= least * fabs(b)) continue;
      char element[200];
      djm_elementText(element, sizeof element, "geom", dj_id2name(wanted, DJ_OBJ_GEOM, g), g);
      return settingDiffers(c, element, list[k].name, a, b);
    }
  }
  return true;
}

static bool sameModels(const djModel* a, const djModel* b) {
  if (a->nq != b->nq || a->nv != b->nv || a->nbody != b->nbody || a->njnt != b->njnt ||
      a->ngeom != b->ngeom || a->nmesh != b->nmesh || a->nsite != b->nsite || a->nu != b->nu ||
      a->ntendon != b->ntendon || a->nwrap != b->nwrap || a->nequality != b->nequality) {
    return false;
  }
  for (int i = 0; i < a->nmesh; i++) {
    if (a->mesh_vertnum[i] != b->mesh_vertnum[i]) return false;
  }
  if (a->nhfield != b->nhfield || a->nhfielddata != b->nhfielddata) return false;
  if (a->nflex != b->nflex || a->nflexvert != b->nflexvert || a->nflexedge != b->nflexedge ||
      a->nflexelem != b->nflexelem) {
    return false;
  }
  for (int g = 0; g < a->ngeom; g++) {
    if (a->geom_hfield[g] != b->geom_hfield[g]) return false;
    if (a->geom_type[g] != b->geom_type[g] || a->geom_mesh[g] != b->geom_mesh[g]) return false;
  }
  return true;
}

djStatus djm_checkDesign(const mjModel* m, const djModel* wanted, const djModel* base,
                         double tolerance, djError* err) {
  djError unused;
  djModel* got = NULL;
  if (!err) err = &unused;
  djStatus status = dj_importMuJoCo(&got, NULL, m, err);
  if (status != DJ_OK) return status;
  bool poor = false;
  djmCheck c = {got, wanted, base, tolerance, &poor, err};
  bool good = sameModels(got, wanted) && (!base || sameModels(base, wanted));
  if (!good) {
    snprintf(err->text, sizeof err->text, "the scene's elements are not those of the design");
  }
  for (int k = 0; good && djm_paramRow(k); k++) good = checkRow(&c, djm_paramRow(k));
  good = good && checkMeshes(&c) && djm_checkHfields(got, wanted, tolerance, err) &&
         djm_checkFlexes(got, wanted, tolerance, err) &&
         checkSettings(&c) && checkScales(&c) &&
         djm_checkOwnSettings(got, wanted, tolerance, err) &&
         djm_checkEqualities(got, wanted, fmax(tolerance, 1e-9), err) &&
         djm_checkLimits(got, wanted, fmax(tolerance, 1e-9), err);
  dj_deleteModel(got);
  return good ? DJ_OK : poor ? DJ_NO_MEMORY : DJ_UNSUPPORTED;
}
