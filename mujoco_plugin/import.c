// dj_importMuJoCo: a djModelDef from an mjModel, the model from that, and the report.

#include "attach.h"
#include "import_report.h"
#include "instance.h"
#include "physics.h"

#include <stdio.h>

static djStatus importAll(djmImport* imp) {
  static djStatus (*const stages[])(djmImport*) = {
      djm_findContacts, djm_importOption, djm_importBodies,    djm_importJoints,
      djm_importGeoms,  djm_importPairs,  djm_importTendons,   djm_importActuators,
      djm_importKeys,   djm_importEqualities, djm_importFlexes,
  };
  for (size_t i = 0; i < sizeof(stages) / sizeof(*stages); i++) {
    djStatus status = stages[i](imp);
    if (status != DJ_OK) return status;
  }
  return DJ_OK;
}

static djStatus reportOn(djReport** report, djmImport* imp, const djModel* model,
                         const djmInstance* instance, djmPurpose purpose) {
  imp->model = model;
  imp->beside = purpose == DJM_CONTACTS;
  imp->limits = imp->beside && instance->joints;
  return djm_makeReport(report, imp);
}

// MuJoCo's physics, of a copy of its model.
static djStatus givePhysics(djModel* model, const mjModel* m, djError* err) {
  mjModel* own = NULL;
  djStatus status = djm_copyStock(&own, m, err);
  return status < 0 ? status : djm_givePhysics(model, own, err);
}

// Of a context, where it is to be stepped by it; inside MuJoCo's own step it is none.
static djStatus chosenPhysics(djModel* model, const mjModel* m, djmPurpose purpose, djError* err) {
  if (model->opt.contact != DJ_CONTACT_MUJOCO) return DJ_OK;
  if (purpose == DJM_WHOLE) return givePhysics(model, m, err);
  snprintf(err->text, sizeof(err->text), "contact: mujoco is MuJoCo's own, without the plugin");
  return DJ_UNSUPPORTED;
}

djStatus djm_checkHistory(djIntegrator integrator, djError* err) {
  if (integrator != DJ_BDF2) return DJ_OK;
  snprintf(err->text, sizeof(err->text),
           "integrator bdf2: MuJoCo's state has no room for its history; use another integrator, "
           "or dj_step");
  return DJ_UNSUPPORTED;
}

// What other integrators than euler have not.
static void leaveOut(djmImport* imp) {
  if (imp->def.nequality > 0 && imp->def.option.equality == DJ_EQUALITY_SOFT) {
    imp->def.option.disable |= DJ_DSBL_EQUALITY;
  }
  for (int i = 0; i < imp->def.njnt; i++) imp->joint[i].actgravcomp = false;
  for (int i = 0; i < imp->def.nu; i++) {
    if (imp->actuator[i].body >= 0) djm_silence(&imp->actuator[i]);
  }
}

djStatus djm_import(djModel** model, djReport** report, djmInstance* instance_out,
                    const mjModel* m, djmPurpose purpose, const djSettings* settings,
                    const djWatch* watch, djError* err) {
  djStatus status = djm_attach(err);
  if (status != DJ_OK) return status;
  mjModel view = *m;
  djmInstance instance;
  djmImport imp = {.m = &view, .def = dj_defaultModelDef(), .err = err};
  imp.def.name = djm_name(m, 0);
  if (watch) imp.def.watch = *watch;
  status = djm_readInstance(&instance, &imp, m);
  // MuJoCo's own step has its contact of flexes, where it has any
  imp.flex_contact = purpose == DJM_WHOLE || (instance.all && djm_disabled(m, mjDSBL_CONTACT));
  if (status == DJ_OK) status = djm_applyInstance(&view, &imp, &instance, purpose);
  if (status == DJ_OK) status = importAll(&imp);
  if (status == DJ_OK) status = djm_importInstanceOption(&imp, &instance);
  dj_applySettings(&imp.def.option, settings);
  if (imp.def.option.integrator == DJ_EULER && djm_beyondEuler(&view)) {
    imp.def.option.integrator = DJ_POSITION;
  }
  if (purpose == DJM_CONTACTS && status == DJ_OK) {
    status = djm_checkHistory(imp.def.option.integrator, err);
    // Others have velocities of momentum, or stages.
    if (imp.def.option.integrator != DJ_EULER) imp.def.option.integrator = DJ_POSITION;
  }
  if (imp.def.option.integrator != DJ_EULER) leaveOut(&imp);
  if (status == DJ_OK) status = dj_makeModel(model, &imp.def, err);
  if (status == DJ_OK) {
    const char* guide = instance.id >= 0 ? djm_configOf(m, instance.id, "guide_bodies") : "";
    status = djm_setGuideBodies(*model, &imp, guide);
    if (status == DJ_OK) status = djm_setLimitInertia(*model, &imp);
    if (status == DJ_OK) status = chosenPhysics(*model, m, purpose, err);
    if (status == DJ_OK && report) status = reportOn(report, &imp, *model, &instance, purpose);
    if (status != DJ_OK) {
      dj_deleteModel(*model);
      *model = NULL;
    }
  }
  if (status == DJ_NO_MEMORY) snprintf(err->text, sizeof(err->text), "out of memory");
  djm_freeImport(&imp);
  if (instance_out) {
    *instance_out = instance;
    instance_out->owned = instance_out->named = NULL;
  }
  return status;
}

djStatus djm_reportAgain(djReport** report, const mjModel* m, const djModel* model, bool declared,
                         djError* err) {
  *report = NULL;
  djStatus status = djm_attach(err);
  if (status != DJ_OK) return status;
  mjModel view = *m;
  djmInstance instance;
  djmImport imp = {.m = &view, .def = dj_defaultModelDef(), .err = err, .declared = declared};
  status = djm_readInstance(&instance, &imp, m);
  if (status == DJ_OK) status = djm_applyInstance(&view, &imp, &instance, DJM_WHOLE);
  if (status == DJ_OK) status = djm_findContacts(&imp);
  if (status == DJ_OK) status = reportOn(report, &imp, model, &instance, DJM_WHOLE);
  if (status == DJ_NO_MEMORY) snprintf(err->text, sizeof(err->text), "out of memory");
  djm_freeImport(&imp);
  return status;
}

djStatus dj_renewReport(djReport** report, const mjModel* m, const djModel* model, djError* err) {
  djError unused;
  if (!err) err = &unused;
  err->text[0] = '\0';
  if (!report || !m || !model || djm_ownGeoms(model) != m->ngeom || model->nbody != m->nbody) {
    snprintf(err->text, sizeof(err->text), "dj_renewReport: no model, or that of another scene");
    return DJ_INVALID;
  }
  djReport* renewed;
  djStatus status = djm_reportAgain(&renewed, m, model, djm_isDeclared(*report), err);
  if (status != DJ_OK) return status;
  dj_deleteReport(*report);
  *report = renewed;
  return DJ_OK;
}

djStatus dj_importMuJoCo(djModel** model, djReport** report, const mjModel* m, djError* err) {
  djError unused;
  if (!err) err = &unused;
  err->text[0] = '\0';
  if (model) *model = NULL;
  if (report) *report = NULL;
  if (!model || !m) {
    snprintf(err->text, sizeof(err->text), "dj_importMuJoCo: no model given");
    return DJ_INVALID;
  }
  djStatus status = djm_import(model, report, NULL, m, DJM_WHOLE, NULL, NULL, err);
  if (status != DJ_OK) return status;
  if (!(*model)->physics) status = givePhysics(*model, m, err);
  if (status == DJ_OK) return DJ_OK;
  dj_deleteModel(*model);
  *model = NULL;
  if (report) {
    dj_deleteReport(*report);
    *report = NULL;
  }
  return status;
}
