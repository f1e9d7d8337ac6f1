// Comparison of a compiled scene with the design it shall hold.
//
// MuJoCo moves a mesh to its own centre and principal axes and keeps single precision, so the
// vertices of a changed mesh are compared where its geoms put them in the body frame.

#include "write.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct djmCheck {
  const djModel *got, *wanted, *base;
  double tolerance;
  djError* err;
} djmCheck;

static bool differs(const djmCheck* c, const char* kind, djObject object, int id,
                    const char* field, double got, double wanted) {
  const char* name = dj_id2name(c->wanted, object, id);
  char number[16] = "";
  if (!name || !*name) {
    snprintf(number, sizeof number, "#%d", id);
    name = number;
  }
  snprintf(c->err->text, sizeof c->err->text,
           "%s/%.100s/%s: could not be written: it is %.17g there, not %.17g", kind, name, field,
           got, wanted);
  return false;
}

static bool near(const djmCheck* c, double a, double b) {
  if (a == b) return true;    // infinite ones too
  return fabs(a - b) <= c->tolerance * fmax(1, fabs(b));
}

typedef struct djmField {
  const char *kind, *field;
  djObject object;
  size_t array, count;        // offsets in djModel
  int width;
  bool rotation;              // a quaternion: either sign
} djmField;

#define FIELD(kind, field, object, array, count, width, rotation) \
  {kind, field, object, offsetof(djModel, array), offsetof(djModel, count), width, rotation}
#define BODY(field, array, width, rotation) \
  FIELD("body", field, DJ_OBJ_BODY, array, nbody, width, rotation)
#define JOINT(field, array, width) FIELD("joint", field, DJ_OBJ_JOINT, array, njnt, width, false)
#define GEOM(field, array, width, rotation) \
  FIELD("geom", field, DJ_OBJ_GEOM, array, ngeom, width, rotation)
#define ACTUATOR(field, array, width) \
  FIELD("actuator", field, DJ_OBJ_ACTUATOR, array, nu, width, false)

static const djmField fields[] = {
    BODY("pos", body_pos, 3, false),
    BODY("quat", body_quat, 4, true),
    BODY("ipos", body_ipos, 3, false),
    BODY("iquat", body_iquat, 4, true),
    BODY("mass", body_mass, 1, false),
    BODY("inertia", body_inertia, 3, false),
    BODY("gravcomp", body_gravcomp, 1, false),
    JOINT("pos", jnt_pos, 3),
    JOINT("axis", jnt_axis, 3),
    JOINT("damping", jnt_damping, 1),
    JOINT("stiffness", jnt_stiffness, 1),
    JOINT("armature", jnt_armature, 1),
    JOINT("frictionloss", jnt_frictionloss, 1),
    JOINT("range", jnt_range, 2),
    GEOM("pos", geom_pos, 3, false),
    GEOM("quat", geom_quat, 4, true),
    GEOM("size", geom_size, 3, false),
    GEOM("friction", geom_friction, 3, false),
    FIELD("site", "pos", DJ_OBJ_SITE, site_pos, nsite, 3, false),
    ACTUATOR("gainprm", actuator_gainprm, 3),
    ACTUATOR("biasprm", actuator_biasprm, 3),
    ACTUATOR("gear", actuator_gear, 6),
};

static const double* arrayAt(const djModel* m, size_t offset) {
  double* array;
  memcpy(&array, (const char*)m + offset, sizeof array);
  return array;
}

static int countAt(const djModel* m, size_t offset) {
  int n;
  memcpy(&n, (const char*)m + offset, sizeof n);
  return n;
}

static bool meshChanged(const djmCheck* c, int mesh) {
  if (!c->base) return true;
  size_t adr = 3 * (size_t)c->base->mesh_vertadr[mesh];
  size_t n = 3 * (size_t)c->base->mesh_vertnum[mesh];
  return memcmp(c->wanted->mesh_vert + adr, c->base->mesh_vert + adr, n * sizeof(double)) != 0;
}

// What the frame of a changed mesh decides.
static bool isMeshFrame(const djmCheck* c, const djmField* f, int id) {
  if (f->object != DJ_OBJ_GEOM || c->wanted->geom_type[id] != DJ_MESH) return false;
  bool placed = f->array != offsetof(djModel, geom_friction);
  bool sized = f->array == offsetof(djModel, geom_size);
  return sized || (placed && meshChanged(c, c->wanted->geom_mesh[id]));
}

static bool checkField(const djmCheck* c, const djmField* f) {
  const double* got = arrayAt(c->got, f->array);
  const double* wanted = arrayAt(c->wanted, f->array);
  for (int i = 0; i < countAt(c->wanted, f->count); i++) {
    if (isMeshFrame(c, f, i)) continue;
    const double *a = got + i * f->width, *b = wanted + i * f->width;
    double sign = f->rotation && mju_dot(a, b, 4) < 0 ? -1 : 1;
    for (int k = 0; k < f->width; k++) {
      if (near(c, sign * a[k], b[k])) continue;
      return differs(c, f->kind, f->object, i, f->field, sign * a[k], b[k]);
    }
  }
  return true;
}

static bool checkSprings(const djmCheck* c) {
  static const int coordinates[] = {7, 4, 1, 1};
  for (int i = 0; i < c->wanted->njnt; i++) {
    int adr = c->wanted->jnt_qposadr[i];
    // Where a spring without stiffness rests does not matter.
    const double* poly = c->wanted->jnt_stiffnesspoly + 2 * i;
    if (c->wanted->jnt_stiffness[i] == 0 && poly[0] == 0 && poly[1] == 0) continue;
    for (int k = adr; k < adr + coordinates[c->wanted->jnt_type[i]]; k++) {
      if (near(c, c->got->qpos_spring[k], c->wanted->qpos_spring[k])) continue;
      return differs(c, "joint", DJ_OBJ_JOINT, i, "springref", c->got->qpos_spring[k],
                     c->wanted->qpos_spring[k]);
    }
  }
  return true;
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
      return differs(c, "mesh", DJ_OBJ_MESH, mesh, "vert", a[k], b[k]);
    }
  }
  return true;
}

static bool checkSettings(const djmCheck* c) {
  const djContactSettings *a = &c->got->contact, *b = &c->wanted->contact;
  const djOption *o = &c->got->opt, *p = &c->wanted->opt;
  const struct {
    const char* name;
    double got, wanted;
  } list[] = {
      {"contact/support", a->support, b->support},
      {"contact/stiffness", a->stiffness, b->stiffness},
      {"contact/length_scale", a->length_scale, b->length_scale},
      {"contact/friction_eps", a->friction_eps, b->friction_eps},
      {"contact/model", o->contact, p->contact},
      {"contact/overlap", o->overlap, p->overlap},
      {"option/integrator", o->integrator, p->integrator},
      {"option/tolerance", o->tolerance, p->tolerance},
      {"option/timestep", o->timestep, p->timestep},
      {"option/gravity", o->gravity[0], p->gravity[0]},
      {"option/gravity", o->gravity[1], p->gravity[1]},
      {"option/gravity", o->gravity[2], p->gravity[2]},
  };
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    // Small numbers such as stiffness are compared relatively.
    double scale = fmin(1, fabs(list[i].wanted));
    if (fabs(list[i].got - list[i].wanted) <= c->tolerance * scale) continue;
    snprintf(c->err->text, sizeof c->err->text,
             "%s: could not be written: it is %.17g there, not %.17g", list[i].name, list[i].got,
             list[i].wanted);
    return false;
  }
  return true;
}

static bool sameModels(const djModel* a, const djModel* b) {
  if (a->nq != b->nq || a->nv != b->nv || a->nbody != b->nbody || a->njnt != b->njnt ||
      a->ngeom != b->ngeom || a->nmesh != b->nmesh || a->nsite != b->nsite || a->nu != b->nu) {
    return false;
  }
  for (int i = 0; i < a->nmesh; i++) {
    if (a->mesh_vertnum[i] != b->mesh_vertnum[i]) return false;
  }
  for (int g = 0; g < a->ngeom; g++) {
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
  djmCheck c = {got, wanted, base, tolerance, err};
  bool good = sameModels(got, wanted) && (!base || sameModels(base, wanted));
  if (!good) {
    snprintf(err->text, sizeof err->text, "the scene's elements are not those of the design");
  }
  for (size_t k = 0; good && k < sizeof fields / sizeof *fields; k++) {
    good = checkField(&c, fields + k);
  }
  good = good && checkSprings(&c) && checkMeshes(&c) && checkSettings(&c);
  dj_deleteModel(got);
  return good ? DJ_OK : DJ_UNSUPPORTED;
}
