#include "model/param_row.h"

#include "base/status.h"
#include "model/check.h"
#include "model/flex.h"
#include "model/geom_row.h"
#include "model/joint_type.h"
#include "model/kernel_setting.h"
#include "model/make.h"
#include "model/motor.h"
#include "model/restitution.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Parameters of the model as a whole count once.
static int elementCount(const djModel* m, djField field) {
  if (field == DJ_FIELD_SETTING) return dj_settingParams(m->nkernelsetting);
  djObject object = dj_paramRows[field].object;
  return object == DJ_NOBJ ? 1 : dj_objectCount(m, object);
}

static bool isWorldFrame(djField field, int id) {
  return id == 0 && (field == DJ_FIELD_BODY_POS || field == DJ_FIELD_BODY_QUAT);
}

bool dj_makeParam(djParam* param, const djModel* m, djField field, int id) {
  if ((int)field < 0 || field >= DJ_NFIELD) return false;
  const djFieldRow* row = &dj_paramRows[field];
  if (id < 0 || id >= elementCount(m, field) || isWorldFrame(field, id)) return false;
  *param = (djParam){(int)field, id, row->nvalue, row->ntangent};
  if (field == DJ_FIELD_MESH_VERT) {
    param->nvalue = param->ntangent = 3 * m->mesh_vertnum[id];
  } else if (field == DJ_FIELD_HFIELD_HEIGHTS) {
    param->nvalue = param->ntangent = m->hfield_nrow[id] * m->hfield_ncol[id];
  } else if (field == DJ_FIELD_FLEX_VERT) {
    param->nvalue = param->ntangent = 3 * m->flex_vertnum[id];
  } else if (field == DJ_FIELD_JOINT_SPRINGREF) {
    param->nvalue = dj_jointNq(m->jnt_type[id]);
    param->ntangent = dj_jointNv(m->jnt_type[id]);
  } else if (field == DJ_FIELD_GEOM_SURFACE) {
    param->nvalue = param->ntangent = m->geom_surfacenum[id];
    return param->nvalue > 0;
  } else if (field == DJ_FIELD_GEOM_POINTS) {
    param->nvalue = param->ntangent = 3 * m->geom_pointnum[id];
    return param->nvalue > 0;
  } else if (field == DJ_FIELD_ACTUATOR_GAINPRM) {
    param->nvalue = param->ntangent = dj_lawNumbers(&dj_gainLaws[m->actuator_gain[id]]);
  } else if (field == DJ_FIELD_ACTUATOR_BIASPRM) {
    param->nvalue = param->ntangent = dj_lawNumbers(&dj_biasLaws[m->actuator_bias[id]]);
  } else if (field == DJ_FIELD_ACTUATOR_MOTORPRM) {
    return dj_isMotor(m, id);
  } else if (field == DJ_FIELD_GEOM_SHARPNESS) {
    return m->geom_type[id] != DJ_PLANE;
  }
  return true;
}

bool dj_isParam(const djModel* m, const djParam* p) {
  djParam made;
  return dj_makeParam(&made, m, (djField)p->field, p->id) && made.nvalue == p->nvalue &&
         made.ntangent == p->ntangent;
}

djStatus dj_checkParams(const djModel* m, int n, const djParam* param, djError* err) {
  for (int i = 0; i < n; i++) {
    if (!dj_isParam(m, &param[i])) {
      return dj_fail(err, DJ_INVALID, "param[%d]: not a parameter of this model", i);
    }
  }
  return DJ_OK;
}

int dj_paramChanges(const djParam* p) { return dj_paramRows[p->field].changes; }

int dj_paramBody(const djModel* m, const djParam* p) {
  djObject object = dj_paramRows[p->field].object;
  if (object == DJ_OBJ_BODY) return p->id;
  return object == DJ_OBJ_JOINT ? m->jnt_body[p->id] : -1;
}

double* dj_paramData(const djModel* m, const djParam* p) {
  const djFieldRow* row = &dj_paramRows[p->field];
  const char* place = (const char*)m + row->offset;
  double* data;
  if (p->field == DJ_FIELD_SETTING) return m->kernel_setting + dj_settingParam(p->id);
  if (row->rule == RULE_BOUNCE) return dj_restitutionPlace(m, row->object, p->id);
  if (row->object == DJ_NOBJ) {
    memcpy(&data, &place, sizeof data);  // the numbers are in the struct itself
    return data;
  }
  memcpy(&data, place, sizeof data);     // the struct holds a pointer to them
  size_t start = (size_t)p->id * (size_t)row->nvalue;
  if (p->field == DJ_FIELD_MESH_VERT) start = 3 * (size_t)m->mesh_vertadr[p->id];
  if (p->field == DJ_FIELD_HFIELD_HEIGHTS) start = (size_t)m->hfield_adr[p->id];
  if (p->field == DJ_FIELD_FLEX_VERT) start = 3 * (size_t)m->flex_vertadr[p->id];
  if (p->field == DJ_FIELD_JOINT_SPRINGREF) start = (size_t)m->jnt_qposadr[p->id];
  if (p->field == DJ_FIELD_GEOM_SURFACE) start = (size_t)m->geom_surfaceadr[p->id];
  if (p->field == DJ_FIELD_GEOM_POINTS) start = 3 * (size_t)m->geom_pointadr[p->id];
  return data + start;
}

// ---- gradients ------------------------------------------------------------------------------

static size_t blockSize(const djModel* m, djField field) {
  if (field == DJ_FIELD_MESH_VERT) return 3 * (size_t)m->nmeshvert;
  if (field == DJ_FIELD_HFIELD_HEIGHTS) return (size_t)m->nhfielddata;
  if (field == DJ_FIELD_FLEX_VERT) return 3 * (size_t)m->nflexvert;
  if (field == DJ_FIELD_JOINT_SPRINGREF) return (size_t)m->nv;
  if (field == DJ_FIELD_GEOM_SURFACE) return (size_t)m->nsurface;
  if (field == DJ_FIELD_GEOM_POINTS) return 3 * (size_t)m->npoint;
  return (size_t)elementCount(m, field) * (size_t)dj_paramRows[field].ntangent;
}

size_t dj_paramGradSize(const djModel* m) {
  size_t n = 0;
  for (int f = 0; f < DJ_NFIELD; f++) n += blockSize(m, (djField)f);
  return n;
}

void dj_fillParams(djModel* m) {
  for (int f = 0, adr = 0; f < m->nparamkind; f++) {
    m->param_adr[f] = adr;
    adr += (int)blockSize(m, (djField)f);
  }
}

double* dj_paramEntry(double* grad, const djModel* m, djField field, int id) {
  double* block = dj_paramBlock(grad, m, field);
  if (field == DJ_FIELD_MESH_VERT) return block + 3 * (size_t)m->mesh_vertadr[id];
  if (field == DJ_FIELD_HFIELD_HEIGHTS) return block + m->hfield_adr[id];
  if (field == DJ_FIELD_FLEX_VERT) return block + 3 * (size_t)m->flex_vertadr[id];
  if (field == DJ_FIELD_JOINT_SPRINGREF) return block + m->jnt_dofadr[id];
  if (field == DJ_FIELD_GEOM_SURFACE) return block + m->geom_surfaceadr[id];
  if (field == DJ_FIELD_GEOM_POINTS) return block + 3 * (size_t)m->geom_pointadr[id];
  return block + (size_t)id * (size_t)dj_paramRows[field].ntangent;
}

bool dj_paramIsRotation(const djModel* m, const djParam* p, int k) {
  djRule rule = dj_paramRows[p->field].rule;
  if (rule == RULE_QUAT) return true;
  if (rule != RULE_COORDINATES) return false;
  const djJointRow* row = dj_jointRow(m, p->id);
  return row->quat && k >= row->nplain;
}

bool dj_paramIsAxis(const djModel* m, const djParam* p) {
  return dj_paramRows[p->field].rule == RULE_AXIS && dj_isScalarJoint(m->jnt_type[p->id]);
}

// Asked before anybody has looked whether it is a parameter.
bool dj_paramMovesShapes(const djParam* p) {
  return p->field >= 0 && p->field < DJ_NFIELD && dj_paramRows[p->field].shapes;
}

bool dj_paramMovesPaths(const djModel* m, const djParam* p) {
  bool moves = p->field == DJ_FIELD_GEOM_POS || p->field == DJ_FIELD_GEOM_QUAT ||
               p->field == DJ_FIELD_GEOM_SIZE;
  for (int k = 0; k < m->nwrap && moves; k++) {
    bool geom = m->wrap_type[k] == DJ_WRAP_SPHERE || m->wrap_type[k] == DJ_WRAP_CYLINDER;
    if (geom && m->wrap_objid[k] == p->id) return true;
  }
  return false;
}

bool dj_paramIsCoefficient(const djParam* p) {
  return dj_paramRows[p->field].changes == DJ_BY_COEFFICIENT;
}

djMirrorKind dj_paramMirror(const djParam* p) { return dj_paramRows[p->field].mirror; }

// Find the row of kind/field; *known_kind tells whether only the field is wrong.
static int findRow(bool* known_kind, const char* kind, size_t kind_length, const char* field) {
  *known_kind = false;
  for (int i = 0; i < DJ_NFIELD; i++) {
    const djFieldRow* row = &dj_paramRows[i];
    if (strlen(row->kind) != kind_length || strncmp(row->kind, kind, kind_length)) continue;
    *known_kind = true;
    if (strcmp(row->name, field) == 0) return i;
  }
  return -1;
}

// "there is no parameter 'field', expected one of ...", of the kind that a name begins with.
static djStatus failField(djError* err, const char* name, size_t kind_length, const char* field) {
  char names[200] = "";
  for (int i = 0; i < DJ_NFIELD; i++) {
    const djFieldRow* row = &dj_paramRows[i];
    if (strlen(row->kind) != kind_length || strncmp(row->kind, name, kind_length)) continue;
    size_t n = strlen(names);
    snprintf(names + n, sizeof names - n, "%s%s", n ? ", " : "", row->name);
  }
  return dj_fail(err, DJ_INVALID, "'%.100s': there is no parameter '%.100s', expected one of %s",
                 name, field, names);
}

// "contact/SETTING" of the scene's kernel, "contact/KERNEL/SETTING" of any.
static djStatus settingId(djParam* param, const djModel* m, const char* name, djError* err) {
  const char *first = strchr(name, '/'), *last = strrchr(name, '/');
  int kernel = dj_ownContact(m) ? (int)m->opt.contact : 0, n, slot;
  bool known = true;
  if (last != first) {
    char text[64] = "";
    size_t length = (size_t)(last - first - 1);
    if (length < sizeof text) memcpy(text, first + 1, length);
    int named = dj_kernelNamed(text);
    known = named >= 0;
    if (known) kernel = named;
  }
  const djSetting* row = dj_kernelSettings(&n, &slot, kernel);
  char names[200] = "";
  for (int i = 0; i < n; i++) {
    if (!dj_settingEntry(slot + i)) continue;
    if (known && strcmp(row[i].name, last + 1) == 0) {
      dj_makeParam(param, m, DJ_FIELD_SETTING, dj_settingParams(slot + i));
      return DJ_OK;
    }
    size_t used = strlen(names);
    snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", row[i].name);
  }
  return dj_fail(err, DJ_INVALID, "'%.100s': there is no parameter '%.100s', expected one of %s",
                 name, last + 1, names);
}

djStatus dj_paramId(djParam* param, const djModel* m, const char* name, djError* err) {
  if (!param) return dj_fail(err, DJ_INVALID, "parameter: NULL");
  *param = (djParam){-1, -1, 0, 0};
  if (!m) return dj_fail(err, DJ_INVALID, "model: NULL");
  if (!name) return dj_fail(err, DJ_INVALID, "the name of a parameter is missing");
  const char* first = strchr(name, '/');
  const char* last = strrchr(name, '/');
  if (!first) return dj_fail(err, DJ_INVALID, "there is no parameter '%.200s'", name);
  if (strncmp(name, "contact/", 8) == 0) return settingId(param, m, name, err);
  bool known_kind;
  int field = findRow(&known_kind, name, (size_t)(first - name), last + 1);
  bool of_model = field >= 0 && dj_paramRows[field].object == DJ_NOBJ;
  if (field < 0 && known_kind) {
    return failField(err, name, (size_t)(first - name), last + 1);
  }
  if (field < 0 || of_model != (first == last)) {
    return dj_fail(err, DJ_INVALID, "there is no parameter '%.200s'", name);
  }
  int id = 0;
  if (!of_model) {
    size_t length = (size_t)(last - first - 1);  // names may contain '/'
    char* element = malloc(length + 1);
    if (!element) return dj_failMemory(err);
    memcpy(element, first + 1, length);
    element[length] = 0;
    id = dj_name2id(m, dj_paramRows[field].object, element);
    free(element);
  }
  if (isWorldFrame((djField)field, id)) {
    return dj_fail(err, DJ_INVALID, "'%.200s': the world's frame is fixed", name);
  }
  const bool known = id >= 0 && id < elementCount(m, (djField)field);
  if (field == DJ_FIELD_GEOM_SURFACE && known && m->geom_surfacenum[id] == 0) {
    return dj_fail(err, DJ_INVALID, "'%.200s': no shape is given for that geom", name);
  }
  if (field == DJ_FIELD_GEOM_POINTS && known && m->geom_pointnum[id] == 0) {
    return dj_fail(err, DJ_INVALID, "'%.200s': no points are given for that geom", name);
  }
  if (!dj_makeParam(param, m, (djField)field, id)) {
    return dj_fail(err, DJ_INVALID, "'%.200s': there is no such %s", name,
                   dj_paramRows[field].kind);
  }
  return DJ_OK;
}

djStatus dj_getParam(double* value, const djModel* m, const djParam* p) {
  if (!value || !m || !p || !dj_isParam(m, p)) return DJ_INVALID;
  memcpy(value, dj_paramData(m, p), sizeof(double) * (size_t)p->nvalue);
  return DJ_OK;
}

// A joint's or tendon's range, as definitions have it.
static const char* limitProblem(const djModel* m, const djParam* p, const double* value) {
  bool tendon = p->field == DJ_FIELD_TENDON_RANGE;
  bool limited = (tendon ? m->tendon_limited : m->jnt_limited)[p->id] != 0;
  const char* problem = limited ? dj_sizeProblem(value, 2, DJ_LARGEST) : NULL;
  if (problem && dj_allFinite(value, 2)) return problem;
  bool angle = limited && !tendon && dj_jointRow(m, p->id)->quat;
  if (!angle) return dj_rangeProblem(value, limited);
  return dj_allFinite(value, 2) && value[1] > 0 ? NULL : "must end at a positive angle";
}

static const char* sizeProblem(const djModel* m, const djParam* p, const double* value) {
  for (int k = 0; k < dj_geomRow(m->geom_type[p->id])->nsize; k++) {
    if (value[k] <= 0) return "must be positive";
    if (dj_smallProblem(value[k])) return dj_smallProblem(value[k]);
  }
  return NULL;
}

// A number of a flex, the others as they are.
static const char* flexProblem(const djModel* m, const djParam* p, double value) {
  double young = m->flex_young[p->id], poisson = m->flex_poisson[p->id];
  double edge = m->flex_edgestiffness[p->id];
  if (p->field == DJ_FIELD_FLEX_YOUNG) young = value;
  if (p->field == DJ_FIELD_FLEX_POISSON) poisson = value;
  if (p->field == DJ_FIELD_FLEX_EDGESTIFFNESS) edge = value;
  const char *field, *problem = dj_flexProblem(&field, m->flex_dim[p->id], young, poisson, edge);
  return problem || value >= 0 ? problem : "must not be negative";
}

// What is wrong with a value, or NULL.
static const char* valueProblem(djProblemText* what, const djModel* m, const djParam* p,
                                const double* value) {
  const djFieldRow* row = &dj_paramRows[p->field];
  djRule rule = row->rule;
  if (rule == RULE_SETTING) {
    int kernel;
    return dj_rowProblem(what, dj_settingOfSlot(&kernel, dj_settingParam(p->id)), value, false);
  }
  if (rule == RULE_RANGE) return limitProblem(m, p, value);
  if (!dj_allFinite(value, p->nvalue)) return "is not finite";
  int plain = p->nvalue;   // what is normalised may have any length
  if (rule == RULE_QUAT || rule == RULE_AXIS) plain = 0;
  if (rule == RULE_COORDINATES) plain = dj_jointRow(m, p->id)->nplain;
  const char* problem = dj_sizeProblem(value, plain, row->force ? DJ_LARGEST_FORCE : DJ_LARGEST);
  if (problem) return problem;
  double unit[4];
  switch (rule) {
    case RULE_NONNEGATIVE:
      return dj_allNonnegative(value, p->nvalue) ? NULL : "must not be negative";
    case RULE_BOUNCE: return value[0] >= 0 && value[0] <= 1 ? NULL : "must be between 0 and 1";
    case RULE_MASS:
      if (value[0] == 0 && (m->body_mass[p->id] == 0 || m->body_lastdof[p->id] < 0)) return NULL;
      return value[0] > 0 ? NULL : "must be positive";
    case RULE_INERTIA:
      if (!dj_allNonnegative(value, 3)) return "must not be negative";
      return dj_inertiaOk(value) ? NULL : "has a moment larger than the sum of the other two";
    case RULE_LENGTHS: return value[0] <= value[1] ? NULL : "is reversed";
    case RULE_QUAT: return dj_makeUnit(unit, value, 4) ? NULL : "is a zero quaternion";
    case RULE_AXIS: return dj_makeUnit(unit, value, 3) ? NULL : "is a zero vector";
    case RULE_COORDINATES:
      if (!dj_jointRow(m, p->id)->quat) return NULL;
      return dj_makeUnit(unit, value + plain, 4) ? NULL : "has a zero quaternion";
    case RULE_FLEX: return flexProblem(m, p, value[0]);
    case RULE_REST: return dj_restProblem(m, p->id, value);
    case RULE_SIZE: return sizeProblem(m, p, value);
    case RULE_MOTOR: return dj_motorKeeps(m, p->id, value);
    case RULE_SHARPNESS: return value[0] >= 1 ? NULL : "must be at least 1";
    default: return NULL;
  }
}

// Copy a value that was checked.
static void store(djModel* m, const djParam* p, const double* value) {
  double* data = dj_paramData(m, p);
  djRule rule = dj_paramRows[p->field].rule;
  if (rule == RULE_BOUNCE) {
    dj_giveRestitution(m, dj_paramRows[p->field].object, p->id, value[0]);
    return;
  }
  int n = rule == RULE_SIZE ? dj_geomRow(m->geom_type[p->id])->nsize : p->nvalue;
  memmove(data, value, sizeof(double) * (size_t)n);
  bool has_quat = rule == RULE_QUAT || (rule == RULE_COORDINATES && n >= 4);
  if (has_quat) dj_makeUnit(data + n - 4, data + n - 4, 4);
  if (dj_paramIsAxis(m, p)) dj_makeUnit(data, data, 3);
}

static djStatus failSetting(djError* err, const djModel* m, int slot, const char* problem) {
  int kernel;
  const djSetting* row = dj_settingOfSlot(&kernel, slot);
  bool scene = kernel == (int)m->opt.contact || (kernel == 0 && !dj_ownContact(m));
  return dj_fail(err, DJ_INVALID, "contact/%s%s%s: %s", scene ? "" : dj_kernelName(kernel),
                 scene ? "" : "/", row->name, problem);
}

// Default rules of contact look at these.
static bool rulesFollow(int field) {
  const int moves = DJ_BY_FRAME | DJ_BY_INERTIA | DJ_BY_SITE;
  return field == DJ_FIELD_GEOM_SIZE || field == DJ_FIELD_MESH_VERT ||
         field == DJ_FIELD_JOINT_ARMATURE || field == DJ_FIELD_ACTUATOR_GEAR ||
         (dj_paramRows[field].changes & moves);
}

djStatus dj_writeParam(djModel* m, const djParam* p, const double* value, djError* err) {
  if (!dj_isParam(m, p)) return dj_fail(err, DJ_INVALID, "not a parameter of this model");
  const djFieldRow* row = &dj_paramRows[p->field];
  djProblemText what;
  const char* problem = valueProblem(&what, m, p, value);
  if (problem && p->field == DJ_FIELD_SETTING) {
    return failSetting(err, m, dj_settingParam(p->id), problem);
  }
  if (problem && row->object == DJ_NOBJ) {
    return dj_fail(err, DJ_INVALID, "%s/%s: %s", row->kind, row->name, problem);
  }
  if (problem) {
    return dj_fail(err, DJ_INVALID, "%s: %s %s",
                   dj_elementText(row->kind, dj_id2name(m, row->object, p->id), p->id).text,
                   row->name, problem);
  }
  if (p->field == DJ_FIELD_SETTING) dj_changeSetting(m, dj_settingParam(p->id), value[0]);
  else store(m, p, value);
  if (p->field == DJ_FIELD_BODY_MASS) dj_sumMasses(m);
  if (row->object == DJ_OBJ_FLEX) dj_setFlexLaw(m, p->id);
  m->changed = 1;
  if (rulesFollow(p->field)) m->defaults_kept = 1;
  if (p->field == DJ_FIELD_GEOM_SHARPNESS) m->geom_sharpgiven[p->id] = value[0] > 0;
  return DJ_OK;
}
