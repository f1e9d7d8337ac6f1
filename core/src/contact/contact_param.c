// Derivatives of a step's contact by parameters: the sum over pairs of the kernel's products.

#include "contact/near.h"
#include "model/param.h"

#include <string.h>

static djStatus addPair(double* param, djShapeGrad* shape, djContacts* c, const djModel* m,
                        const djNearPair* p, const djPose* pose, const double* x) {
  double lambda[12];
  memcpy(lambda, x + 6 * p->body_a, 6 * sizeof(double));
  memcpy(lambda + 6, x + 6 * p->body_b, 6 * sizeof(double));
  djPairGrad grad = {.a = &shape[p->a], .b = &shape[p->b]};
  djPairInput in = dj_pairInput(c, m, p, pose);
  djStatus status = c->kernel->vjp(&grad, dj_stateOf(c, p), &in, lambda);
  if (status < 0) return status;
  dj_paramEntry(param, m, DJ_FIELD_STIFFNESS, 0)[0] += grad.stiffness;
  dj_paramEntry(param, m, DJ_FIELD_SUPPORT, 0)[0] += grad.support;
  int geom = dj_frictionGeom(m, p->low, p->high);
  if (geom >= 0 && p->friction > 0) {
    dj_paramEntry(param, m, DJ_FIELD_GEOM_FRICTION, geom)[0] += grad.friction;
  }
  return status;
}

djStatus dj_contactParams(double* param, djShapeGrad* shape, djContacts* c, const djModel* m,
                          const djPose* pose, const double* x) {
  if (!param || !shape || !c || !m || !pose || !x || !c->listed) return DJ_INVALID;
  if (!c->kernel->vjp) return DJ_UNSUPPORTED;
  djStatus worst = dj_refreshContacts(c, m, pose);
  for (int k = 0; k < c->nblock && worst >= 0; k++) {
    djStatus status = addPair(param, shape, c, m, &c->pair[c->active_pair[k]], pose, x);
    if (status != DJ_OK) worst = status;
  }
  return worst;
}
