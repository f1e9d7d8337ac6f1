// How large the numbers of a definition may be: their products, squares and cubes are computed, and
// must not overflow.

#include "base/status.h"
#include "model/check.h"
#include "model/geom_row.h"
#include "model/joint_type.h"

#include <stddef.h>

// A field of numbers of a definition.
typedef struct djSizeRow {
  const char* name;         // NULL ends a table
  size_t offset;
  int count;
  double most;
  ptrdiff_t limited;        // where the flag is without which the numbers mean nothing; -1: none
} djSizeRow;

#define ROW(type, field, count, most) {#field, offsetof(type, field), count, most, -1}
#define NUMBER(type, field, count) ROW(type, field, count, DJ_LARGEST)
#define FORCE(type, field, count) ROW(type, field, count, DJ_LARGEST_FORCE)
#define RANGE(type, field, flag, most) \
  {#field, offsetof(type, field), 2, most, (ptrdiff_t)offsetof(type, flag)}
#define END {NULL, 0, 0, 0, -1}

static const djSizeRow bodyRows[] = {
    NUMBER(djBodyDef, pos, 3),      NUMBER(djBodyDef, ipos, 3), FORCE(djBodyDef, mass, 1),
    FORCE(djBodyDef, inertia, 3),   NUMBER(djBodyDef, gravcomp, 1), END};
static const djSizeRow jointRows[] = {
    NUMBER(djJointDef, pos, 3),
    FORCE(djJointDef, stiffness, 1),
    FORCE(djJointDef, stiffnesspoly, 2),
    FORCE(djJointDef, damping, 1),
    FORCE(djJointDef, dampingpoly, 2),
    FORCE(djJointDef, armature, 1),
    FORCE(djJointDef, frictionloss, 1),
    RANGE(djJointDef, range, limited, DJ_LARGEST),
    NUMBER(djJointDef, margin, 1),
    NUMBER(djJointDef, limit_stiffness, 1),
    NUMBER(djJointDef, limit_damping, 1),
    NUMBER(djJointDef, frictionloss_damping, 1),
    RANGE(djJointDef, actfrcrange, actfrclimited, DJ_LARGEST_FORCE),
    END};
static const djSizeRow geomRows[] = {NUMBER(djGeomDef, size, 3), NUMBER(djGeomDef, pos, 3),
                                     NUMBER(djGeomDef, friction, 3), NUMBER(djGeomDef, margin, 1),
                                     NUMBER(djGeomDef, gap, 1), NUMBER(djGeomDef, soft_depth, 1),
                                     END};
static const djSizeRow siteRows[] = {NUMBER(djSiteDef, pos, 3), END};
static const djSizeRow tendonRows[] = {
    NUMBER(djTendonDef, springlength, 2),
    FORCE(djTendonDef, stiffness, 1),
    FORCE(djTendonDef, stiffnesspoly, 2),
    FORCE(djTendonDef, damping, 1),
    FORCE(djTendonDef, dampingpoly, 2),
    FORCE(djTendonDef, armature, 1),
    FORCE(djTendonDef, frictionloss, 1),
    RANGE(djTendonDef, range, limited, DJ_LARGEST),
    NUMBER(djTendonDef, margin, 1),
    NUMBER(djTendonDef, limit_stiffness, 1),
    NUMBER(djTendonDef, limit_damping, 1),
    NUMBER(djTendonDef, frictionloss_damping, 1),
    RANGE(djTendonDef, actfrcrange, actfrclimited, DJ_LARGEST_FORCE),
    END};
static const djSizeRow wrapRows[] = {NUMBER(djWrapDef, prm, 1), END};
static const djSizeRow actuatorRows[] = {
    NUMBER(djActuatorDef, cranklength, 1), FORCE(djActuatorDef, integral, 1),
    NUMBER(djActuatorDef, integral_limit, 1),
    NUMBER(djActuatorDef, gear, 6),
    FORCE(djActuatorDef, gainprm, DJ_NPRM),
    FORCE(djActuatorDef, biasprm, DJ_NPRM),
    NUMBER(djActuatorDef, lengthrange, 2),
    FORCE(djActuatorDef, acc0, 1),
    FORCE(djActuatorDef, tau, 1),
    FORCE(djActuatorDef, tau_deactivation, 1),
    NUMBER(djActuatorDef, tau_smooth, 1),
    RANGE(djActuatorDef, ctrlrange, ctrllimited, DJ_LARGEST),
    RANGE(djActuatorDef, forcerange, forcelimited, DJ_LARGEST_FORCE),
    RANGE(djActuatorDef, actrange, actlimited, DJ_LARGEST),
    FORCE(djActuatorDef, armature, 1),
    FORCE(djActuatorDef, damping, 1),
    FORCE(djActuatorDef, dampingpoly, 2),
    END};
static const djSizeRow equalityRows[] = {
    NUMBER(djEqualityDef, polycoef, 5),    NUMBER(djEqualityDef, anchor1, 3),
    NUMBER(djEqualityDef, anchor2, 3),     NUMBER(djEqualityDef, torquescale, 1),
    NUMBER(djEqualityDef, stiffness, 1),   NUMBER(djEqualityDef, damping, 1), END};
static const djSizeRow pairRows[] = {NUMBER(djPairDef, friction, 1), NUMBER(djPairDef, friction2, 1),
                                     NUMBER(djPairDef, torsion, 1), NUMBER(djPairDef, rolling, 2),
                                     NUMBER(djPairDef, margin, 1), NUMBER(djPairDef, gap, 1),
                                     NUMBER(djPairDef, soft_depth, 1), END};

// "joint 'knee': damping is larger than 1e60"
static djStatus checkRows(const djSizeRow* row, const void* def, const char* kind,
                          const char* name, int id, djError* err) {
  for (; row->name; row++) {
    const char* from = def;
    if (row->limited >= 0 && !*(const bool*)(from + row->limited)) continue;
    const double* number = (const double*)(const void*)(from + row->offset);
    const char* problem = dj_sizeProblem(number, row->count, row->most);
    if (!problem) continue;
    djElementText element = dj_elementText(kind, name, id);
    return dj_fail(err, DJ_INVALID, "%s: %s %s", id < 0 ? kind : element.text, row->name, problem);
  }
  return DJ_OK;
}

// Sizes that a geom's type uses, and times of filters, are divided by.
static djStatus checkDivisors(const djModelDef* def, djError* err) {
  for (int i = 0; i < def->ngeom; i++) {
    const djGeomDef* g = &def->geom[i];
    for (int k = 0; k < dj_geomRow((int)g->type)->nsize; k++) {
      const char* problem = dj_smallProblem(g->size[k]);
      if (!problem) continue;
      return dj_fail(err, DJ_INVALID, "%s: size %s", dj_elementText("geom", g->name, i).text,
                     problem);
    }
  }
  for (int i = 0; i < def->nu; i++) {
    const djActuatorDef* a = &def->actuator[i];
    const char *tau = dj_smallProblem(a->tau), *rod = dj_smallProblem(a->cranklength);
    if (!tau && (!rod || a->cranksite < 0)) continue;
    return dj_fail(err, DJ_INVALID, "%s: %s %s", dj_elementText("actuator", a->name, i).text,
                   tau ? "tau" : "cranklength", tau ? tau : rod);
  }
  for (int i = 0; i < def->ntendon; i++) {
    const djTendonDef* t = &def->tendon[i];
    for (int k = 0; k < t->nwrap; k++) {
      const char* problem = dj_smallProblem(t->wrap[k].prm);
      if (t->wrap[k].type != DJ_WRAP_PULLEY || !problem) continue;
      return dj_fail(err, DJ_INVALID, "%s: divisor of a pulley %s",
                     dj_elementText("tendon", t->name, i).text, problem);
    }
  }
  return DJ_OK;
}

djStatus dj_checkSizes(const djModelDef* def, djError* err) {
  djStatus s = checkDivisors(def, err);
  for (int i = 0; i < def->nmesh && s == DJ_OK; i++) {
    const djMeshDef* m = &def->mesh[i];
    for (int k = 0; k < m->nvert && s == DJ_OK; k++) {
      if (!dj_sizeProblem(m->vert + 3 * (size_t)k, 3, DJ_LARGEST)) continue;
      s = dj_fail(err, DJ_INVALID, "%s: vertex %d is farther away than 1e20",
                  dj_elementText("mesh", m->name, i).text, k);
    }
  }
  for (int i = 0; i < def->nhfield && s == DJ_OK; i++) {
    const djHfieldDef* h = &def->hfield[i];
    const char* problem = dj_sizeProblem(h->size, 3, DJ_LARGEST);
    for (int k = 0; k < 2 && !problem; k++) problem = dj_smallProblem(h->size[k]);
    const char* name = problem ? "size" : "a height";
    for (int j = 0; j < h->nrow && !problem; j++) {
      problem = dj_sizeProblem(h->height + (size_t)j * (size_t)h->ncol, h->ncol, DJ_LARGEST);
    }
    if (!problem) continue;
    s = dj_fail(err, DJ_INVALID, "%s: %s %s", dj_elementText("hfield", h->name, i).text, name,
                problem);
  }
#define CHECK(n, list, rows, kind)                                                     \
  for (int i = 0; i < def->n && s == DJ_OK; i++) {                                     \
    s = checkRows(rows, &def->list[i], kind, def->list[i].name, i, err);               \
  }
  CHECK(ngeom, geom, geomRows, "geom")     // before the masses that come from them
  CHECK(nbody, body, bodyRows, "body")
  CHECK(njnt, joint, jointRows, "joint")
  for (int i = 0; i < def->njnt && s == DJ_OK; i++) {
    const djJointDef* j = &def->joint[i];
    int plain = dj_jointRows[j->type].nplain;
    const djSizeRow rows[] = {NUMBER(djJointDef, qpos0, plain),
                              NUMBER(djJointDef, springref, plain), END};
    s = checkRows(rows, j, "joint", j->name, i, err);
  }
  CHECK(nsite, site, siteRows, "site")
  CHECK(ntendon, tendon, tendonRows, "tendon")
  for (int i = 0; i < def->ntendon; i++) {
    for (int k = 0; k < def->tendon[i].nwrap && s == DJ_OK; k++) {
      s = checkRows(wrapRows, &def->tendon[i].wrap[k], "tendon", def->tendon[i].name, i, err);
    }
  }
  CHECK(nu, actuator, actuatorRows, "actuator")
  CHECK(npair, pair, pairRows, "pair")
  CHECK(nequality, equality, equalityRows, "equality")
#undef CHECK
  return s;
}
