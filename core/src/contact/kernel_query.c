#include "contact/kernel_query.h"

#include "math/so3.h"

#include <string.h>

void dj_moveQuery(djContactQuery* q) {
  const djcFriction* f = &q->option->friction;
  const double* motion[2] = {q->swapped ? f->motion_b : f->motion_a,
                             q->swapped ? f->motion_a : f->motion_b};
  for (int k = 0; k < 2; k++) {
    q->now[k].R = dju_quatToMat(dju_expQuat(dju_load3(motion[k])));
    q->now[k].p = dju_add3(q->start[k].p, dju_load3(motion[k] + 3));
  }
  q->in.ref_a = q->now[0].p;
  q->in.ref_b = q->now[1].p;
}

void dj_swapHalves(double x[12]) {
  for (int i = 0; i < 6; i++) {
    double t = x[i];
    x[i] = x[6 + i];
    x[6 + i] = t;
  }
}

void dj_swapHessian(double H[144]) {
  double t[144];
  memcpy(t, H, sizeof t);
  for (int i = 0; i < 12; i++) {
    memcpy(H + 12 * i, t + 12 * ((i + 6) % 12), 12 * sizeof(double));
    dj_swapHalves(H + 12 * i);
  }
}
