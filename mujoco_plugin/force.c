// Contact forces of a step as MuJoCo has them.
//
// A step's forces act at the poses of its end; as in MuJoCo they are reported at its start:
// wrenches are taken about the centres of mass there, and projected onto the motion axes there.

#include "step.h"

void djm_clearForces(djmContext* c, const mjModel* m) {
  mju_zero(c->wrench, 6 * (int)m->nbody);
  mju_zero(c->touch, (int)m->nsensor);
  mju_zero(c->limit, (int)(m->njnt + m->ntendon));
}

void djm_addForces(djmContext* c, const mjModel* m, double f) {
  const djData* data = c->data;
  if (dj_limitForces(c->part, c->model, c->data) == DJ_OK) {
    mju_addToScl(c->limit, c->part, f, (int)m->njnt);
  }
  if (dj_tendonLimitForces(c->part, c->model, c->data) == DJ_OK) {
    mju_addToScl(c->limit + m->njnt, c->part, f, (int)m->ntendon);
  }
  for (int k = 0; k < data->npair; k++) {
    const djContactPair* p = &data->pair[k];
    int body[2] = {c->model->geom_body[p->geom1], c->model->geom_body[p->geom2]};
    mjtNum torque[3];
    mju_cross(torque, p->point, p->force);
    mju_addTo3(torque, p->torque);
    for (int s = 0; s < 2; s++) {
      double* w = c->wrench + 6 * body[s];
      mju_addToScl3(w, torque, s ? f : -f);
      mju_addToScl3(w + 3, p->force, s ? f : -f);
    }
  }
  for (int i = 0; i < m->nsensor; i++) {
    if (m->sensor_type[i] != mjSENS_TOUCH) continue;
    for (int k = 0; k < data->npair; k++) {
      const djContactPair* p = &data->pair[k];
      if (djm_touches(c, m, i, p)) c->touch[i] += f * p->normal_force;
    }
  }
}

// MuJoCo's rule: the ray from the contact point along the normal, away from the sensor's body,
// meets the site's volume.
bool djm_siteFeels(const mjModel* m, int site, const mjtNum pos[3], const mjtNum mat[9],
                   const int body[2], const mjtNum point[3], const mjtNum normal[3]) {
  bool second = body[1] == m->site_bodyid[site];
  mjtNum ray[3];
  if (!second && body[0] != m->site_bodyid[site]) return false;
  mju_scl3(ray, normal, second ? -1 : 1);
  return mju_rayGeom(pos, mat, m->site_size + 3 * site, point, ray, m->site_type[site], NULL) >= 0;
}

// All poses are those of the step's end, where the force acts.
bool djm_touches(const djmContext* c, const mjModel* m, int sensor, const djContactPair* p) {
  const djModel* x = c->model;
  const int site = m->sensor_objid[sensor], geom[2] = {p->geom1, p->geom2};
  int body[2];
  mjtNum local[9], mat[9];
  if (!(p->normal_force > 0)) return false;
  for (int s = 0; s < 2; s++) body[s] = x->geom_flex[geom[s]] < 0 ? x->geom_body[geom[s]] : -1;
  mju_quat2Mat(local, m->site_quat + 4 * site);
  mju_mulMatMat(mat, c->data->xmat + 9 * m->site_bodyid[site], local, 3, 3, 3);
  return djm_siteFeels(m, site, c->data->site_xpos + 3 * site, mat, body, p->point, p->normal);
}

void djm_projectForces(mjtNum* qfrc, mjtNum* cfrc_ext, djmContext* c, const mjModel* m,
                       const mjData* pose, const mjtNum* xfrc_applied) {
  mju_zero(c->force, 6);
  mju_zero(cfrc_ext, 6);
  for (int b = 1; b < m->nbody; b++) {
    const mjtNum *com = pose->subtree_com + 3 * m->body_rootid[b], *w = c->wrench + 6 * b;
    mjtNum *force = c->force + 6 * b, *ext = cfrc_ext + 6 * b;
    mjtNum moment[3], arm[3];
    mju_cross(moment, com, w + 3);
    mju_sub3(force, w, moment);
    mju_copy3(force + 3, w + 3);
    const mjtNum* applied = xfrc_applied + 6 * b;
    mju_sub3(arm, pose->xipos + 3 * b, com);
    mju_cross(ext, arm, applied);
    mju_addTo3(ext, applied + 3);
    mju_copy3(ext + 3, applied);
    mju_addTo(ext, force, 6);
  }
  for (int b = (int)m->nbody - 1; b > 0; b--) {
    mju_addTo(c->force + 6 * m->body_parentid[b], c->force + 6 * b, 6);
  }
  for (int i = 0; i < m->nv; i++) {
    qfrc[i] = mju_dot(pose->cdof + 6 * i, c->force + 6 * m->dof_bodyid[i], 6);
  }
}

void djm_addWrench(mjtNum* out, const mjtNum* xfrc_applied, const double* wrench,
                   const mjtNum* xipos, int nbody) {
  mju_copy(out, xfrc_applied, 6);
  for (int b = 1; b < nbody; b++) {
    const mjtNum *w = wrench + 6 * b, *xfrc = xfrc_applied + 6 * b;
    mjtNum moment[3], *f = out + 6 * b;
    mju_cross(moment, xipos + 3 * b, w + 3);
    mju_add3(f, xfrc, w + 3);
    mju_add3(f + 3, xfrc + 3, w);
    mju_subFrom3(f + 3, moment);
  }
}

void djm_poseData(djmContext* c, const mjModel* m, const mjData* d) {
  mjData* pose = c->pose;
  pose->time = d->time;
  mju_copy(pose->qpos, d->qpos, (int)m->nq);
  mju_copy(pose->qvel, d->qvel, (int)m->nv);
  mju_copy(pose->mocap_pos, d->mocap_pos, 3 * (int)m->nmocap);
  mju_copy(pose->mocap_quat, d->mocap_quat, 4 * (int)m->nmocap);
  mj_kinematics(m, pose);
  mj_comPos(m, pose);
}
