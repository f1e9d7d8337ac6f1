// A context: our model and data beside MuJoCo's.

#ifndef DJ_MUJOCO_CONTEXT_H_
#define DJ_MUJOCO_CONTEXT_H_

#include <dijoco/mujoco.h>

struct djmContext {
  djModel* model;
  djData* data;
  int substeps;               // steps of ours that make one of MuJoCo's
  int nkept;                  // activations that the import keeps
  int* kept;                  // (nkept) their addresses in MuJoCo's act, or NULL: all of them
};

// Copies state and inputs of d into the context's data.
void djm_readData(djmContext* context, const mjData* d);

#endif  // DJ_MUJOCO_CONTEXT_H_
