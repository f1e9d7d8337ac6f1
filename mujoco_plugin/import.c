// dj_importMuJoCo: a djModelDef from an mjModel, the model from that, and the report.

#include "attach.h"
#include "instance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct djmBlock {
  struct djmBlock* next;
  max_align_t data[];
} djmBlock;

void* djm_alloc(djmImport* imp, size_t n, size_t size) {
  if (size > 0 && n > ((size_t)-1 - sizeof(djmBlock)) / size) return NULL;
  djmBlock* block = calloc(1, sizeof(djmBlock) + n * size);
  if (!block) return NULL;
  block->next = imp->blocks;
  imp->blocks = block;
  return block->data;
}

void djm_freeImport(djmImport* imp) {
  while (imp->blocks) {
    djmBlock* next = imp->blocks->next;
    free(imp->blocks);
    imp->blocks = next;
  }
}

const char* djm_name(const mjModel* m, int adr) { return m->names + adr; }

bool djm_disabled(const mjModel* m, int bit) {
  int constraints = mjDSBL_EQUALITY | mjDSBL_FRICTIONLOSS | mjDSBL_LIMIT | mjDSBL_CONTACT;
  if ((bit & constraints) && (m->opt.disableflags & mjDSBL_CONSTRAINT)) return true;
  return (m->opt.disableflags & bit) != 0;
}

bool djm_moves(const mjModel* m, int body) {
  for (int i = body; i > 0; i = m->body_parentid[i]) {
    if (m->body_dofnum[i] > 0) return true;
  }
  return false;
}

static djStatus importAll(djmImport* imp) {
  static djStatus (*const stages[])(djmImport*) = {
      djm_findContacts, djm_importOption, djm_importBodies,    djm_importJoints,
      djm_importGeoms,  djm_importPairs,  djm_importTendons,   djm_importActuators,
      djm_importKeys,
  };
  for (size_t i = 0; i < sizeof(stages) / sizeof(*stages); i++) {
    djStatus status = stages[i](imp);
    if (status != DJ_OK) return status;
  }
  return DJ_OK;
}

djStatus djm_import(djModel** model, djReport** report, djmInstance* instance_out,
                    const mjModel* m, djmPurpose purpose, const djWatch* watch, djError* err) {
  djStatus status = djm_attach(err);
  if (status != DJ_OK) return status;
  mjModel view = *m;
  djmInstance instance;
  djmImport imp = {.m = &view, .def = dj_defaultModelDef(), .err = err};
  imp.def.name = djm_name(m, 0);
  if (watch) imp.def.watch = *watch;
  status = djm_readInstance(&instance, &imp, m);
  if (status == DJ_OK) status = djm_applyInstance(&view, &imp, &instance, purpose);
  if (status == DJ_OK) status = importAll(&imp);
  if (status == DJ_OK) status = djm_importInstanceOption(&imp, &instance);
  if (purpose == DJM_CONTACTS) imp.def.option.integrator = DJ_POSITION;
  if (status == DJ_OK) status = dj_makeModel(model, &imp.def, err);
  if (status == DJ_OK && report) {
    status = djm_makeReport(report, &imp);
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
  return djm_import(model, report, NULL, m, DJM_WHOLE, NULL, err);
}
