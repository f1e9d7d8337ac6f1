// dj_importMuJoCo: a djModelDef from an mjModel, the model from that, and the report.

#include "import.h"

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

static void freeBlocks(djmImport* imp) {
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
  djStatus (*const stages[])(djmImport*) = {
      djm_findContacts, djm_importOption, djm_importBodies,    djm_importJoints,
      djm_importGeoms,  djm_importPairs,  djm_importActuators, djm_importKeys,
  };
  for (size_t i = 0; i < sizeof(stages) / sizeof(*stages); i++) {
    djStatus status = stages[i](imp);
    if (status == DJ_NO_MEMORY) snprintf(imp->err->text, sizeof(imp->err->text), "out of memory");
    if (status != DJ_OK) return status;
  }
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

  djmImport imp = {.m = m, .def = dj_defaultModelDef(), .err = err};
  imp.def.name = djm_name(m, 0);
  djStatus status = importAll(&imp);
  if (status == DJ_OK) status = dj_makeModel(model, &imp.def, err);
  if (status == DJ_OK && report) {
    status = djm_makeReport(report, &imp);
    if (status != DJ_OK) {
      snprintf(err->text, sizeof(err->text), "out of memory");
      dj_deleteModel(*model);
      *model = NULL;
    }
  }
  freeBlocks(&imp);
  return status;
}
