// What can be measured on a state.

#include "base/status.h"
#include "integrate/outside.h"
#include "model/momentum.h"

#include <dijoco/penalty.h>

// Angular momentum of tree r about its centre of mass: sum_b n_b + (ref - c) x p, with momenta
// (n_b, p_b) about the tree's reference point, and sums m, m c over its bodies.
static djVec3 treeSpin(const djModel* m, const djWork* w, int root) {
  djVec3 n = {0, 0, 0}, p = {0, 0, 0}, mc = {0, 0, 0};
  double mass = 0;
  for (int b = root; b < m->nbody; b++) {
    if (m->body_root[b] != root) continue;
    n = dju_add3(n, dju_load3(w->wrench + 6 * b));
    p = dju_add3(p, dju_load3(w->wrench + 6 * b + 3));
    mc = dju_madd3(mc, m->body_mass[b], w->begin.kin.com[b]);
    mass += m->body_mass[b];
  }
  djVec3 arm = dju_madd3(w->ref[root], -1 / mass, mc);
  return dju_add3(n, dju_cross3(arm, p));
}

// Momenta of bodies about their trees' reference points, in work->wrench.
static djStatus findMomenta(const djModel* m, djData* d) {
  djStatus status = dj_forward(m, d);
  if (status < 0) return status;
  djWork* w = d->work;
  dj_bodyMomentum(w->wrench, NULL, m, &w->begin.kin, w->ref, w->start.qvel);
  return DJ_OK;
}

djStatus dj_totalMomentum(double momentum[6], const djModel* m, djData* d) {
  if (!momentum || !m || !d) return DJ_INVALID;
  djStatus status = findMomenta(m, d);
  if (status < 0) return status;
  const djWork* w = d->work;
  djVec3 angular = {0, 0, 0}, linear = {0, 0, 0};
  for (int b = 1; b < m->nbody; b++) {
    djVec3 n = dju_load3(w->wrench + 6 * b), p = dju_load3(w->wrench + 6 * b + 3);
    angular = dju_add3(angular, dju_add3(n, dju_cross3(w->ref[b], p)));
    linear = dju_add3(linear, p);
  }
  dju_store3(momentum, angular);
  dju_store3(momentum + 3, linear);
  return DJ_OK;
}

djStatus dj_angularMomentum(double spin[3], const djModel* m, djData* d) {
  if (!spin || !m || !d) return DJ_INVALID;
  djStatus status = findMomenta(m, d);
  if (status < 0) return status;
  const djWork* w = d->work;
  djVec3 sum = {0, 0, 0};
  for (int j = 0; j < m->njnt; j++) {
    if (!dj_jointRow(m, j)->pose) continue;
    sum = dju_add3(sum, treeSpin(m, w, m->jnt_body[j]));
  }
  dju_store3(spin, sum);
  return DJ_OK;
}

static djStatus checkStepped(const djModel* m, djData* d) {
  djWork* w = d->work;
  djStatus status = dj_checkData(m, d);
  if (status < 0 || w->stepped) return status;
  return dj_fail(&w->error, DJ_INVALID, "no step has been taken since the state was set");
}

static djStatus checkLimits(const djModel* m, djData* d) {
  djStatus status = checkStepped(m, d);
  if (status < 0 || !dj_isOutside(m)) return status;
  return dj_fail(&d->work->error, DJ_UNSUPPORTED, "limits: contact mujoco tells no forces");
}

djStatus dj_limitForces(double* force, const djModel* m, djData* d) {
  if (!force || !m || !d) return DJ_INVALID;
  djStatus status = checkLimits(m, d);
  if (status < 0) return status;
  djMotion motion = dj_motionAt(d->work, m, &d->work->now);
  for (int j = 0; j < m->njnt; j++) {
    force[j] = d->work->method->rows ? dj_rowLimitForce(d->work, m->jnt_coord[j], j)
                                     : dj_jointLimitForce(&d->work->forces, &motion, j);
  }
  return DJ_OK;
}

typedef struct PointList {
  int n, most;
  djcPenaltyPoint* point;
  double* place;
  int* geom;
} PointList;

static void addPoint(void* user, int geom, int field, const djPairPoint* p) {
  PointList* list = user;
  const int i = list->n++;
  if (i >= list->most) return;
  list->point[i] = (djcPenaltyPoint){.distance = p->distance, .state = (djcPointState)p->state};
  dju_store3(list->point[i].normal, p->normal);
  dju_store3(list->point[i].force, p->force);
  dju_store3(list->place + 3 * i, p->x);
  list->geom[2 * i] = geom;
  list->geom[2 * i + 1] = field;
}

djStatus dj_contactPoints(int* n, djcPenaltyPoint* point, double* place, int* geom, int most,
                          const djModel* m, djData* d) {
  if (!n || !m || !d || most < 0 || (most > 0 && (!point || !place || !geom))) return DJ_INVALID;
  *n = 0;
  djStatus status = checkStepped(m, d);
  if (status < 0) return status;
  djContacts* contacts = dj_contactsOf(&d->work->forces);
  if (!contacts) return DJ_OK;
  PointList list = {.most = most, .point = point, .place = place, .geom = geom};
  status = dj_visitContactPoints(contacts, m, d->work->now.kin.body, addPoint, &list);
  *n = list.n;
  return status;
}

djStatus dj_tendonLimitForces(double* force, const djModel* m, djData* d) {
  if (!force || !m || !d) return DJ_INVALID;
  djStatus status = checkLimits(m, d);
  if (status < 0) return status;
  djMotion motion = dj_motionAt(d->work, m, &d->work->now);
  for (int t = 0; t < m->ntendon; t++) {
    int c = m->tendon_coord[t];
    force[t] = d->work->method->rows ? dj_rowLimitForce(d->work, c, -1)
                                     : dj_limitForceAlong(&d->work->forces, &motion, c);
  }
  return DJ_OK;
}
