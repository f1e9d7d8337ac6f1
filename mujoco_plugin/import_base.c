// What every part of an import needs: memory, names, and what is switched off or cannot move.

#include "import.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

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

void djm_elementText(char* text, size_t size, const char* kind, const char* name, int id) {
  if (*name) snprintf(text, size, "%s/%s", kind, name);
  else snprintf(text, size, "%s/#%d", kind, id);
}

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
