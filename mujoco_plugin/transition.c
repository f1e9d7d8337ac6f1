// djm_transition.

#include "step.h"

djStatus djm_transition(const mjModel* m, const mjData* d, djmContext* c, mjtNum* A, mjtNum* B,
                        mjtNum* C, mjtNum* D) {
  djStatus status = djm_begin(c, m);
  if (status < 0) return status;
  if (c->model->na != m->na || c->model->nu != m->nu) return DJ_UNSUPPORTED;
  if (C || D || c->substeps != 1) return DJ_UNSUPPORTED;
  djm_readData(c, d);
  return djd_transition(c->model, c->data, A, B);
}
