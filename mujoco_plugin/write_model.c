// A spec made from our own model: for scenes that hold no MJCF (.json, .mjb). It has what we
// simulate; what MuJoCo needs besides (contact softness, solver) is its default, cameras and
// colours are gone.

#include "type_table.h"
#include "write.h"
#include "write_hfield.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct djmElementName {
  char text[128];
} djmElementName;

// The element's name; unnamed ones that others refer to are called by their number.
static djmElementName elementName(const char* name, int id) {
  djmElementName out;
  if (name && name[0]) snprintf(out.text, sizeof out.text, "%s", name);
  else snprintf(out.text, sizeof out.text, "#%d", id);
  return out;
}

static void setName(mjsElement* element, const char* name, int id) {
  mjs_setName(element, elementName(name, id).text);
}

// ------------------------------ bodies ----------------------------------------------------------

static void fillBody(mjsBody* out, const djBodyDef* b) {
  mju_copy3(out->pos, b->pos);
  mju_copy4(out->quat, b->quat);
  mju_copy3(out->ipos, b->ipos);
  mju_copy4(out->iquat, b->iquat);
  mju_copy3(out->inertia, b->inertia);
  out->mass = b->mass;
  out->explicitinertial = 1;
  out->gravcomp = b->gravcomp;
  out->mocap = b->mocap;
}

// MuJoCo's limit of impedance d and direct solref (-S, -B) acts on an effective inertia as a spring
// S/(1-d) and a damper B/(1-d): see djm_limitLaw.
static void setLimit(mjtNum solref[mjNREF], mjtNum solimp[mjNIMP], double stiffness,
                     double damping, const double impedance[mjNIMP]) {
  solref[0] = -(1 - impedance[1]) * stiffness;
  solref[1] = -(1 - impedance[1]) * damping;
  mju_copy(solimp, impedance, mjNIMP);
}

static void setLoss(mjtNum solref[mjNREF], mjtNum solimp[mjNIMP], double damping,
                    double impedance) {
  solref[0] = 0;
  solref[1] = -impedance * damping;
  solimp[0] = solimp[1] = impedance;
}

static void fillLimit(mjsJoint* out, const djJointDef* j) {
  out->limited = j->limited ? mjLIMITED_TRUE : mjLIMITED_FALSE;
  mju_copy(out->range, j->range, 2);
  out->margin = j->margin;
  if (!j->limited) return;
  setLimit(out->solref_limit, out->solimp_limit, j->limit_stiffness, j->limit_damping,
           j->limit_impedance);
}

static void fillJoint(mjsJoint* out, const djJointDef* j) {
  out->type = (mjtJoint)djm_mujocoType(DJM_TYPE_JOINT, (int)j->type);
  if (out->type != mjJNT_FREE) mju_copy3(out->pos, j->pos);
  if (djm_jointNq(out->type) == 1) {
    mju_copy3(out->axis, j->axis);
    out->ref = j->qpos0[0];
    out->springref = j->springref[0];
  }
  out->stiffness[0] = j->stiffness;
  out->damping[0] = j->damping;
  for (int k = 0; k < mjNPOLY; k++) {
    out->stiffness[1 + k] = j->stiffnesspoly[k];
    out->damping[1 + k] = j->dampingpoly[k];
  }
  out->armature = j->armature;
  out->frictionloss = j->frictionloss;
  setLoss(out->solref_friction, out->solimp_friction, j->frictionloss_damping,
          j->frictionloss_impedance);
  out->actfrclimited = j->actfrclimited ? mjLIMITED_TRUE : mjLIMITED_FALSE;
  mju_copy(out->actfrcrange, j->actfrcrange, 2);
  out->actgravcomp = j->actgravcomp;
  fillLimit(out, j);
}

// low: of a height field, its lowest height.
static void fillGeom(mjsGeom* out, const djGeomDef* g, const djModelDef* def, double low) {
  out->type = (mjtGeom)g->type;
  if (g->type == DJ_MESH) {
    mjs_setString(out->meshname, elementName(def->mesh[g->mesh].name, g->mesh).text);
  } else {
    mju_copy3(out->size, g->size);
  }
  if (g->type == DJ_HFIELD && g->hfield >= 0) {
    mjs_setString(out->hfieldname, elementName(def->hfield[g->hfield].name, g->hfield).text);
  }
  mju_copy4(out->quat, g->quat);
  djm_lowerGeom(out, g->pos, g->quat, low);
  out->mass = 0;                // inertia is given
  out->contype = g->contype;
  out->conaffinity = g->conaffinity;
  out->condim = g->condim;
  out->priority = g->priority;
  mju_copy3(out->friction, g->friction);
  out->margin = g->margin - g->gap;
}

// low: (nhfield)
static bool addBodies(mjSpec* spec, const djModelDef* def, const double* low) {
  mjsBody** body = calloc((size_t)def->nbody, sizeof *body);
  if (!body) return false;
  body[0] = mjs_findBody(spec, "world");
  for (int i = 1; i < def->nbody; i++) {
    body[i] = mjs_addBody(body[def->body[i].parent], NULL);
    setName(body[i]->element, def->body[i].name, i);
    fillBody(body[i], &def->body[i]);
  }
  for (int i = 0; i < def->njnt; i++) {
    mjsJoint* joint = mjs_addJoint(body[def->joint[i].body], NULL);
    setName(joint->element, def->joint[i].name, i);
    fillJoint(joint, &def->joint[i]);
  }
  for (int i = 0; i < def->ngeom && def->geom[i].flex < 0; i++) {
    mjsGeom* geom = mjs_addGeom(body[def->geom[i].body], NULL);
    setName(geom->element, def->geom[i].name, i);
    const int field = def->geom[i].type == DJ_HFIELD ? def->geom[i].hfield : -1;
    fillGeom(geom, &def->geom[i], def, field >= 0 ? low[field] : 0);
  }
  for (int i = 0; i < def->nsite; i++) {
    mjsSite* site = mjs_addSite(body[def->site[i].body], NULL);
    setName(site->element, def->site[i].name, i);
    mju_copy3(site->pos, def->site[i].pos);
    mju_copy4(site->quat, def->site[i].quat);
  }
  free(body);
  return true;
}

// ------------------------------ the rest --------------------------------------------------------

static mjtLimited limited(bool is) { return is ? mjLIMITED_TRUE : mjLIMITED_FALSE; }

static void addWraps(mjsTendon* out, const djModelDef* def, const djTendonDef* t) {
  for (int k = 0; k < t->nwrap; k++) {
    int id = t->wrap[k].id;
    switch (t->wrap[k].type) {
      case DJ_WRAP_JOINT:
        mjs_wrapJoint(out, elementName(def->joint[id].name, id).text, t->wrap[k].prm);
        break;
      case DJ_WRAP_SPHERE:
      case DJ_WRAP_CYLINDER: {
        int side = (int)t->wrap[k].prm;
        djmElementName site = elementName(side < 0 ? "" : def->site[side].name, side);
        mjs_wrapGeom(out, elementName(def->geom[id].name, id).text, side < 0 ? "" : site.text);
        break;
      }
      case DJ_WRAP_PULLEY: mjs_wrapPulley(out, t->wrap[k].prm); break;
      case DJ_WRAP_SITE: mjs_wrapSite(out, elementName(def->site[id].name, id).text);
    }
  }
}

static void addTendon(mjSpec* spec, const djModelDef* def, int i) {
  const djTendonDef* t = &def->tendon[i];
  mjsTendon* out = mjs_addTendon(spec, NULL);
  setName(out->element, t->name, i);
  addWraps(out, def, t);
  mju_copy(out->springlength, t->springlength, 2);
  out->stiffness[0] = t->stiffness;
  out->damping[0] = t->damping;
  for (int k = 0; k < mjNPOLY; k++) {
    out->stiffness[1 + k] = t->stiffnesspoly[k];
    out->damping[1 + k] = t->dampingpoly[k];
  }
  out->frictionloss = t->frictionloss;
  setLoss(out->solref_friction, out->solimp_friction, t->frictionloss_damping,
          t->frictionloss_impedance);
  out->armature = t->armature;
  out->margin = t->margin;
  out->limited = limited(t->limited);
  mju_copy(out->range, t->range, 2);
  out->actfrclimited = limited(t->actfrclimited);
  mju_copy(out->actfrcrange, t->actfrcrange, 2);
  if (t->limited) {
    setLimit(out->solref_limit, out->solimp_limit, t->limit_stiffness, t->limit_damping,
             t->limit_impedance);
  }
}

// What an actuator is on.
static void setTarget(mjsActuator* out, const djModelDef* def, const djActuatorDef* a) {
  const struct {
    int id;
    const char* name;
    mjtTrn type;
  } list[5] = {{a->joint, a->joint < 0 ? NULL : def->joint[a->joint].name,
                a->in_parent ? mjTRN_JOINTINPARENT : mjTRN_JOINT},
               {a->tendon, a->tendon < 0 ? NULL : def->tendon[a->tendon].name, mjTRN_TENDON},
               {a->site, a->site < 0 ? NULL : def->site[a->site].name, mjTRN_SITE},
               {a->cranksite, a->cranksite < 0 ? NULL : def->site[a->cranksite].name,
                mjTRN_SLIDERCRANK},
               {a->body, a->body < 0 ? NULL : def->body[a->body].name, mjTRN_BODY}};
  for (int k = 0; k < 5; k++) {
    if (list[k].id < 0) continue;
    out->trntype = list[k].type;
    mjs_setString(out->target, elementName(list[k].name, list[k].id).text);
  }
  if (a->refsite >= 0) {
    mjs_setString(out->refsite, elementName(def->site[a->refsite].name, a->refsite).text);
  }
  if (a->cranksite < 0) return;
  out->cranklength = a->cranklength;
  mjs_setString(out->slidersite, elementName(def->site[a->slidersite].name, a->slidersite).text);
}

static void setMotor(mjsActuator* out, const djActuatorDef* a) {
  static const int bit[DJ_NMOTORINPUT] = {
      [DJ_INPUT_VOLTAGE] = mjINPUT_VOLTAGE,
      [DJ_INPUT_POSITION] = mjINPUT_POS,
      [DJ_INPUT_VELOCITY] = mjINPUT_VEL,
      [DJ_INPUT_TORQUE] = mjINPUT_FF,
  };
  out->dyntype = mjDYN_DCMOTOR;
  mju_copy(out->dynprm, a->motorprm, DJ_NMOTORPRM);
  out->dynprm[DJ_NMOTORPRM] = a->dyn == DJ_DYN_SLEW ? 1 / a->tau : 0;
  out->dynprm[DJ_NMOTORPRM + 1] = a->integral_limit;
  out->ctrlspec = bit[a->input];
}

static void addActuator(mjSpec* spec, const djModelDef* def, int i) {
  const djActuatorDef* a = &def->actuator[i];
  mjsActuator* out = mjs_addActuator(spec, NULL);
  setName(out->element, a->name, i);
  out->gaintype = (mjtGain)djm_mujocoType(DJM_TYPE_GAIN, (int)a->gain);
  out->biastype = (mjtBias)djm_mujocoType(DJM_TYPE_BIAS, (int)a->bias);
  mju_copy(out->gainprm, a->gainprm, mjNGAIN);
  mju_copy(out->biasprm, a->biasprm, mjNBIAS);
  mju_copy(out->lengthrange, a->lengthrange, 2);
  out->dyntype = (mjtDyn)djm_mujocoType(DJM_TYPE_DYN, (int)a->dyn);
  out->dynprm[0] = a->tau;
  if (a->dyn == DJ_DYN_MUSCLE) {
    out->dynprm[1] = a->tau_deactivation;
    out->dynprm[2] = a->tau_smooth;
  }
  if (a->gain == DJ_GAIN_DCMOTOR) setMotor(out, a);
  out->actearly = a->actearly;
  setTarget(out, def, a);
  mju_copy(out->gear, a->gear, 6);
  out->ctrllimited = limited(a->ctrllimited);
  out->forcelimited = limited(a->forcelimited);
  out->actlimited = limited(a->actlimited);
  mju_copy(out->ctrlrange, a->ctrlrange, 2);
  mju_copy(out->forcerange, a->forcerange, 2);
  mju_copy(out->actrange, a->actrange, 2);
  out->armature = a->armature;
  out->damping[0] = a->damping;
  for (int k = 0; k < mjNPOLY; k++) out->damping[1 + k] = a->dampingpoly[k];
}

static void addPairs(mjSpec* spec, const djModelDef* def, const djModel* m) {
  for (int i = 0; i < def->npair; i++) {
    const djPairDef* p = &def->pair[i];
    mjsPair* out = mjs_addPair(spec, NULL);
    mjs_setString(out->geomname1, elementName(def->geom[p->geom1].name, p->geom1).text);
    mjs_setString(out->geomname2, elementName(def->geom[p->geom2].name, p->geom2).text);
    char name[600];
    djm_pairName(name, sizeof name, m, i);
    if (djm_pairHasOwn(m, i)) mjs_setName(out->element, name);
    out->condim = p->condim;
    out->friction[0] = p->friction;
    out->friction[1] = p->friction2 > 0 ? p->friction2 : p->friction;
    out->friction[2] = p->torsion;
    for (int k = 0; k < 2; k++) out->friction[3 + k] = p->rolling[k];
    out->margin = p->margin - p->gap;
  }
  for (int i = 0; i < def->nexclude; i++) {
    const djExcludeDef* x = &def->exclude[i];
    mjsExclude* out = mjs_addExclude(spec);
    mjs_setString(out->bodyname1, elementName(def->body[x->body1].name, x->body1).text);
    mjs_setString(out->bodyname2, elementName(def->body[x->body2].name, x->body2).text);
  }
}

// Points of a connect's bodies must coincide at qpos0, as MuJoCo has the second one by the first:
// that they do is checked where the written scene is compared.
static void addEquality(mjSpec* spec, const djModelDef* def, int i) {
  const djEqualityDef* e = &def->equality[i];
  const bool weld = e->type == DJ_EQ_WELD, bodies = weld || e->type == DJ_EQ_CONNECT;
  mjsEquality* out = mjs_addEquality(spec, NULL);
  const struct {
    mjtObj type;
    int id[2];
    const char* name[2];
  } list[4] = {
#define NAME(list, id) (id) < 0 ? NULL : def->list[id].name
#define ROW(type, list, a, b) {type, {e->a, e->b}, {NAME(list, e->a), NAME(list, e->b)}}
      ROW(mjOBJ_JOINT, joint, joint1, joint2), ROW(mjOBJ_TENDON, tendon, tendon1, tendon2),
      ROW(mjOBJ_BODY, body, body1, body2), ROW(mjOBJ_SITE, site, site1, site2)};
#undef ROW
#undef NAME
  setName(out->element, e->name, i);
  out->type = (mjtEq)e->type;
  out->active = e->active;
  for (int k = 0; k < 4; k++) {
    if (list[k].id[0] < 0) continue;
    out->objtype = list[k].type;
    mjs_setString(out->name1, elementName(list[k].name[0], list[k].id[0]).text);
    if (list[k].id[1] < 0 || (list[k].type == mjOBJ_BODY && list[k].id[1] == 0)) continue;
    mjs_setString(out->name2, elementName(list[k].name[1], list[k].id[1]).text);
  }
  mju_zero(out->data, mjNEQDATA);
  if (!bodies) mju_copy(out->data, e->polycoef, 5);
  if (bodies) mju_copy3(out->data, weld ? e->anchor2 : e->anchor1);
  if (weld) {
    mju_copy3(out->data + 3, e->anchor1);
    mju_copy4(out->data + 6, e->quat);
    out->data[10] = e->torquescale;
  }
  setLimit(out->solref, out->solimp, e->stiffness, e->damping, e->impedance);
}

static bool addMesh(mjSpec* spec, const djMeshDef* mesh, int id, bool with_triangles) {
  int n = 3 * mesh->nvert;
  float* vert = malloc(sizeof(float) * (size_t)n);
  if (!vert) return false;
  for (int k = 0; k < n; k++) vert[k] = (float)mesh->vert[k];
  mjsMesh* out = mjs_addMesh(spec, NULL);
  setName(out->element, mesh->name, id);
  mjs_setFloat(out->uservert, vert, n);
  if (mesh->ntri > 0 && with_triangles) mjs_setInt(out->userface, mesh->tri, 3 * mesh->ntri);
  out->inertia = mjMESH_INERTIA_CONVEX;
  free(vert);
  return true;
}

// Those of the spec; low (nhfield): their lowest heights.
static bool addHfields(mjSpec* spec, double* low, const djModelDef* def) {
  bool good = true;
  for (int i = 0; i < def->nhfield && good; i++) {
    const djHfieldDef* h = &def->hfield[i];
    mjsHField* out = mjs_addHField(spec);
    setName(out->element, h->name, i);
    good = djm_fillHfield(out, &low[i], h->nrow, h->ncol, h->size, h->height);
  }
  return good;
}

// Vertices of one body each; there may be many names.
static bool addFlexes(mjSpec* spec, const djModelDef* def) {
  for (int i = 0; i < def->nflex; i++) {
    const djFlexDef* f = &def->flex[i];
    mjsFlex* out = mjs_addFlex(spec);
    setName(out->element, f->name, i);
    const djGeomDef* contact = NULL;
    for (int g = 0; g < def->ngeom && !contact; g++) {
      if (def->geom[g].flex == i) contact = &def->geom[g];
    }
    djm_addFlex(out, f, contact);
    size_t size = (size_t)f->nvert * (sizeof(djmElementName) + 1) + 1, used = 0;
    char* names = malloc(size);
    if (!names) return false;
    for (int v = 0; v < f->nvert; v++) {
      int body = f->body[v];
      djmElementName name = elementName(body > 0 ? def->body[body].name : "world", body);
      used += (size_t)snprintf(names + used, size - used, "%s ", name.text);
    }
    mjs_setStringVec(out->vertbody, names);
    free(names);
  }
  return true;
}

static void addKey(mjSpec* spec, const djModelDef* def, const djModel* m, int i) {
  const djKeyDef* k = &def->key[i];
  mjsKey* out = mjs_addKey(spec);
  setName(out->element, k->name, i);
  out->time = k->time;
  mjs_setDouble(out->qpos, k->qpos, m->nq);
  mjs_setDouble(out->qvel, k->qvel, m->nv);
  mjs_setDouble(out->act, k->act, m->na);
  mjs_setDouble(out->ctrl, k->ctrl, m->nu);
  mjs_setDouble(out->mpos, k->mocap_pos, 3 * m->nmocap);
  mjs_setDouble(out->mquat, k->mocap_quat, 4 * m->nmocap);
}

static void fillOption(mjOption* out, const djOption* o) {
  static const struct {
    int ours, mujoco;
  } map[] = {
      {DJ_DSBL_CONTACT, mjDSBL_CONTACT},     {DJ_DSBL_LIMIT, mjDSBL_LIMIT},
      {DJ_DSBL_FRICTIONLOSS, mjDSBL_FRICTIONLOSS},
      {DJ_DSBL_SPRING, mjDSBL_SPRING},       {DJ_DSBL_DAMPER, mjDSBL_DAMPER},
      {DJ_DSBL_GRAVITY, mjDSBL_GRAVITY},     {DJ_DSBL_CLAMPCTRL, mjDSBL_CLAMPCTRL},
      {DJ_DSBL_FILTERPARENT, mjDSBL_FILTERPARENT},
      {DJ_DSBL_ACTUATION, mjDSBL_ACTUATION}, {DJ_DSBL_EQUALITY, mjDSBL_EQUALITY},
  };
  out->timestep = o->timestep;
  mju_copy3(out->gravity, o->gravity);
  mju_copy3(out->wind, o->wind);
  out->density = o->density;
  out->viscosity = o->viscosity;
  out->cone = mjCONE_ELLIPTIC;
  for (size_t i = 0; i < sizeof map / sizeof *map; i++) {
    if (o->disable & map[i].ours) out->disableflags |= map[i].mujoco;
  }
}

bool djm_specFromModel(djmWrite* w, bool with_triangles) {
  djModelDef def;
  void* storage;
  w->status = dj_getDef(&def, &storage, w->wanted, w->err);
  if (w->status != DJ_OK) return false;
  w->status = djm_checkTypes(&def, w->err);
  if (w->status != DJ_OK) {
    dj_freeDef(storage);
    return false;
  }
  mjSpec* spec = w->spec = mj_makeSpec();
  bool good = spec != NULL;
  if (good) {
    if (def.name) mjs_setString(spec->modelname, def.name);
    spec->compiler.degree = 0;
    spec->compiler.alignfree = 0;
    fillOption(&spec->option, &w->wanted->opt);
    for (int i = 0; good && i < def.nmesh; i++) {
      good = addMesh(spec, &def.mesh[i], i, with_triangles);
    }
    double* low = calloc((size_t)def.nhfield + 1, sizeof *low);
    good = good && low && addHfields(spec, low, &def) && addBodies(spec, &def, low) &&
           addFlexes(spec, &def);
    free(low);
  }
  if (good) {
    addPairs(spec, &def, w->wanted);
    for (int i = 0; i < def.ntendon; i++) addTendon(spec, &def, i);
    for (int i = 0; i < def.nu; i++) addActuator(spec, &def, i);
    for (int i = 0; i < def.nequality; i++) addEquality(spec, &def, i);
    for (int i = 0; i < def.nkey; i++) addKey(spec, &def, w->wanted, i);
  }
  dj_freeDef(storage);
  return good || djm_writeFail(w, DJ_NO_MEMORY, "out of memory");
}
