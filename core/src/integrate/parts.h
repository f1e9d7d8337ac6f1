// Steps taken in parts. Where two bodies close by more than half their size in a step it is taken
// as n steps of 1/n of the timestep, inputs held; the number follows from the state at its start alone.
//
// Parts are recorded, so that derivatives of the whole step are products of theirs: a part is
// opened again as dj_replayStep does, from its start and what solves it. Data stand at the start of
// the part under way, also after the last has been solved.

#ifndef DJ_INTEGRATE_PARTS_H_
#define DJ_INTEGRATE_PARTS_H_

#include "integrate/linear.h"

// Parts in which the step that starts at data is to be taken, 1: whole.
int dj_countParts(const djModel* model, djData* data);

// The step that starts at data, in as many parts as it needs: as dj_solveStep, but that data stand
// at the start of the last of work->npart parts. Negative: data are as before.
djStatus dj_takeStep(const djModel* model, djData* data);

// Taking one: memory for n parts; part k's start, then what solved it.
djStatus dj_beginParts(const djModel* model, djData* data, int n);
void dj_keepPartStart(const djModel* model, djData* data, int k);
void dj_keepPartEnd(const djModel* model, const djData* data, int k);
// Data go back to the start of the step; or stay at its end, without a history.
void dj_leaveParts(const djModel* model, djData* data);
void dj_endParts(const djModel* model, djData* data);

// While work->parts is n, the last step's npart: state and inputs of data to the start of part k,
// the workspace to what solving it has left; then data to what dj_savePlace found.
void dj_savePlace(const djModel* model, djData* data);
djStatus dj_openPart(const djModel* model, djData* data, int k);
void dj_returnToPlace(const djModel* model, djData* data, int n);

// Mocap bodies are to go part k of their way.
void dj_movePart(const djModel* model, djData* data, int k);

// The state alone of a part, with its mocap poses, and its coordinates.
void dj_setPartState(djData* data, const djModel* model, const djPart* part);
const double* dj_partQpos(const djPart* part);

// Linearise part k of the last step, of which there are more than one: *linear points into the
// workspace, which then holds that part. And all of them, for products: work->part[k].linear; that
// leaves the last one in the workspace.
djStatus dj_linearizePart(djLinear* linear, const djModel* model, djData* data, int k);
djStatus dj_linearizeParts(const djModel* model, djData* data);

void dj_freeParts(djWork* work);
size_t dj_heldParts(const djWork* work);

#endif  // DJ_INTEGRATE_PARTS_H_
