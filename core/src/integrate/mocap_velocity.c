// Velocities of mocap bodies as numbers.

#include "base/status.h"
#include "integrate/mocap.h"
#include "math/so3.h"

#include <string.h>

djStatus dj_getMocapVelocity(double* velocity, const djModel* m, const djData* d) {
  if (!velocity || !m || !d || !dj_fitsSizes(d->work, m)) return DJ_INVALID;
  for (int b = 1; b < m->nbody; b++) {
    int k = m->body_mocap[b];
    djMocapWay way;
    if (k < 0) continue;
    dj_mocapWay(&way, m, d, b);
    dju_store3(velocity + 6 * k, dju_scale3(1 / m->opt.timestep, way.move));
    dju_store3(velocity + 6 * k + 3, dju_scale3(1 / m->opt.timestep, way.turn));
  }
  return DJ_OK;
}

djStatus dj_setMocapVelocity(djData* d, const djModel* m, const double* velocity) {
  if (!velocity || !m || !d) return DJ_INVALID;
  djStatus status = dj_checkData(m, d);
  djError* err = &d->work->error;
  if (status == DJ_OK) status = dj_checkFinite(err, "mocap velocity", velocity, 6 * m->nmocap);
  if (status == DJ_OK) status = dj_checkInputs(m, d);
  if (status < 0) return status;
  for (int k = 0; k < m->nmocap; k++) {
    const double timestep = m->opt.timestep, *v = velocity + 6 * k;
    djVec3 p = dju_load3(d->mocap_pos + 3 * k), turn = dju_scale3(-timestep, dju_load3(v + 3));
    djQuat q = dju_normalizeQuat(dju_loadQuat(d->mocap_quat + 4 * k));
    dju_store3(d->mocap_last_pos + 3 * k, dju_madd3(p, -timestep, dju_load3(v)));
    dju_storeQuat(d->mocap_last_quat + 4 * k, dju_mulQuat(dju_expQuat(turn), q));
    if (v[3] == 0 && v[4] == 0 && v[5] == 0) {   // no rounding where it does not turn
      memcpy(d->mocap_last_quat + 4 * k, d->mocap_quat + 4 * k, 4 * sizeof(double));
    }
  }
  return DJ_OK;
}
