// Arrays that follow the graph of couplings: lists of the pattern, dr/dq+, its factor, derivatives.
//
// Small models have room for everything from the start. In larger ones an evaluation may find a
// couple of trees too many: then it is given up, room is made where no solution is under way, and
// the step is taken anew from its start. So results do not depend on capacities.

#include "base/room.h"
#include "base/status.h"
#include "integrate/work.h"

#include <stdlib.h>

// Bytes of a matrix: all of small ones; of larger ones trees, each with some others.
static size_t firstMatrix(const djModel* m) {
  size_t nv = m->nv, all = nv * nv, some = 4 * dj_treeEntries(m) + 40000;
  return (all < some ? all : some) * sizeof(double);
}

// Bytes of derivatives by inputs: an actuator acts on a joint, mostly.
static size_t firstEntries(int n) {
  return (6 * (size_t)n * sizeof(djMatrixEntry) + DJ_ALIGN) / DJ_ALIGN * DJ_ALIGN;
}

size_t dj_roomSize(const djModel* m, int nstage) {
  size_t n = (firstMatrix(m) + DJ_ALIGN) / DJ_ALIGN * DJ_ALIGN;
  size_t stages = (size_t)nstage, inputs = firstEntries(m->na) + firstEntries(m->nu);
  return (1 + 3 * stages) * n + stages * inputs + dj_patternLists(dj_treeRanges(NULL, m));
}

static bool widenEntries(djEntries* A, size_t need) {
  djMatrixEntry* memory = dj_roomFor(A->entry, &A->room, need);
  if (!memory) return false;
  A->entry = memory;
  A->max = A->room / sizeof *memory > INT32_MAX ? INT32_MAX : (int)(A->room / sizeof *memory);
  return true;
}

static bool widen(double** array, size_t* size, size_t need) {
  double* memory = dj_roomFor(*array, size, need);
  if (!memory) return false;
  *array = memory;
  return true;
}

// Room for the derivatives of all stages beside H.
static bool widenDerivatives(djWork* w, size_t need) {
  bool done = true;
  for (int k = 0; k < w->nstage && done; k++) {
    djStageWork* s = &w->at_stage[k];
    done = widen(&s->linear.Rq.data, &s->nRq, need) && widen(&s->linear.G.data, &s->nG, need);
  }
  return done;
}

static bool widenFactors(djWork* w, size_t need) {
  bool done = true;
  for (int k = 0; k < w->nstage && done; k++) {
    djStageWork* s = &w->at_stage[k];
    done = widen(&s->linear.factor.data, &s->nfactor, need);
  }
  return done;
}

djStatus dj_makeRoom(djWork* w, const djModel* m) {
  size_t n = firstMatrix(m);
  bool done = widen(&w->H.data, &w->nH, n) && widenFactors(w, n) && widenDerivatives(w, n);
  for (int k = 0; k < w->nstage && done; k++) {
    djStageLinear* s = &w->at_stage[k].linear;
    done = widenEntries(&s->Ra, 6 * (size_t)m->na * sizeof(djMatrixEntry)) &&
           widenEntries(&s->Ru, 6 * (size_t)m->nu * sizeof(djMatrixEntry));
  }
  done = done && dj_makeRowRoom(w, m);
  int* first = malloc(((size_t)m->nv + 1) * sizeof(int));
  if (first) dj_treeRanges(first, m);
  done = done && first && dj_setPattern(&w->pattern, first);
  free(first);
  return done ? DJ_OK : DJ_NO_MEMORY;
}

void dj_freeRoom(djWork* w) {
  free(w->H.data);
  for (int k = 0; k < w->nstage; k++) {
    djStageWork* s = &w->at_stage[k];
    free(s->linear.Rq.data);
    free(s->linear.G.data);
    free(s->linear.factor.data);
    free(s->linear.Ra.entry);
    free(s->linear.Ru.entry);
    free(s->lu.data);
    free(s->lists);
  }
  free(w->rows.room);
  free(w->rows.slopes);
  dj_freePattern(&w->pattern);
}

size_t dj_heldRoom(const djWork* w) {
  size_t sum = w->nH + w->pattern.nlists + w->rows.nroom + w->rows.nslopes;
  for (int k = 0; k < w->nstage; k++) {
    const djStageWork* s = &w->at_stage[k];
    sum += s->nRq + s->nG + s->nfactor + s->nlists + s->lu.room + s->linear.Ra.room +
           s->linear.Ru.room;
  }
  return sum;
}

// Bytes that the pattern in force asks of a matrix and of its factor.
static size_t matrixBytes(const djWork* w) {
  return dj_packedSize(&w->pattern.blocks) * sizeof(double);
}

static size_t factorBytes(const djWork* w) {
  size_t now = dj_factorNeeds(w->at_stage[w->stage].linear.factor.kind, &w->pattern.blocks);
  size_t end = dj_factorNeeds(dj_endKind(w), &w->pattern.blocks);
  return (now > end ? now : end) * sizeof(double);
}

// The pattern of the forces of the last evaluation. Sets work->cramped. Derivatives by the start have
// what smooth forces couple, also where bounded ones alone are solved for.
static void couple(djWork* w, const djModel* m) {
  dj_beginPattern(&w->pattern);
  dj_coupleCoordinates(&w->pattern, m);
  dj_coupleForces(&w->pattern, &w->forces, m, DJ_ACTS_SMOOTH);
  if (w->acting != DJ_ACTS_SMOOTH) {
    if (w->method->rows) dj_coupleEulerRows(w);
    dj_coupleForces(&w->pattern, &w->forces, m, DJ_ACTS_LIMITED);
  }
  w->patterned = dj_endPattern(&w->pattern);
  w->cramped = !w->patterned || matrixBytes(w) > w->nH ||
               factorBytes(w) > w->at_stage[w->stage].nfactor;
}

djStatus dj_growRoom(djWork* w, const djModel* m) {
  while (w->cramped) {
    bool done = w->patterned ? widen(&w->H.data, &w->nH, matrixBytes(w)) &&
                                   widenFactors(w, factorBytes(w))
                             : dj_growPattern(&w->pattern);
    if (!done) return dj_failMemory(&w->error);
    w->growths++;
    couple(w, m);
  }
  return DJ_OK;
}

djStatus dj_coupleTrees(djWork* w, const djModel* m) {
  couple(w, m);
  if (!w->cramped) return DJ_OK;
  return w->may_grow ? dj_growRoom(w, m) : DJ_NO_MEMORY;
}

djStatus dj_growDerivatives(djWork* w) {
  size_t need = matrixBytes(w);
  if (need <= dj_stageOf(w)->nRq && need <= dj_stageOf(w)->nG) return DJ_OK;
  if (!widenDerivatives(w, need)) return dj_failMemory(&w->error);
  w->growths++;
  return DJ_OK;
}

djStatus dj_keepPattern(djWork* w) {
  djStageWork* s = dj_stageOf(w);
  size_t need = dj_blocksSize(&w->pattern.blocks);
  void* lists = dj_roomFor(s->lists, &s->nlists, need);
  if (!lists) return dj_failMemory(&w->error);
  s->lists = lists;
  dj_copyBlocks(&s->blocks, lists, &w->pattern.blocks);
  s->linear.factor.blocks = s->blocks;
  s->linear.Rq.blocks = s->linear.G.blocks = &s->blocks;
  return DJ_OK;
}

djStatus dj_growInputs(djWork* w) {
  djEntries *Ra = &dj_stageOf(w)->linear.Ra, *Ru = &dj_stageOf(w)->linear.Ru;
  size_t each = sizeof(djMatrixEntry);
  if ((Ra->want > Ra->max && !widenEntries(Ra, (size_t)Ra->want * each)) ||
      (Ru->want > Ru->max && !widenEntries(Ru, (size_t)Ru->want * each))) {
    return dj_failMemory(&w->error);
  }
  w->growths++;
  return DJ_OK;
}
