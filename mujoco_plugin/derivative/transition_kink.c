// Rows that are about to switch. A row's y = J a - aref follows its position by the spring k = K I
// less what its own force gives way, 1/(1 - I): where y is x off a switch, that is a position
//
//   x / k  of a row without force,   x / (k (1 - I))  of one that pushes
//
// away; of friction loss, which has no spring, a velocity with B for k. Of an elliptic contact x is
// in the normal row: |N - mu T| / mu to parting, |mu N + T| / mu^2 to sticking (row_force.c).
// Limits of joints and tendons are seen before they have rows, contacts are not.

#include "transition_work.h"

#include <math.h>
#include <stdio.h>

_Static_assert(DJM_NFEATURE == 8 && DJM_MAXKINK == 8, "lengths in djmTransitionInfo");

void djm_addKink(djmTransitionInfo* info, djmKinkKind kind, const mjData* d, int adr,
                 mjtNum distance) {
  int n = info->nkink++, type = d->efc_type[adr], id = d->efc_id[adr];
  if (n >= DJM_MAXKINK) return;
  bool contact = type == mjCNSTR_CONTACT_FRICTIONLESS || type == mjCNSTR_CONTACT_PYRAMIDAL ||
                 type == mjCNSTR_CONTACT_ELLIPTIC;
  info->kink[n] = (djmKink){.kind = kind, .type = type, .id = {id, -1}, .distance = distance};
  if (!contact) return;
  info->kink[n].id[0] = d->contact[id].geom[0];
  info->kink[n].id[1] = d->contact[id].geom[1];
}

// Distance of a switch from y, x off.
static mjtNum distanceOf(const mjData* d, int adr, mjtNum x, bool pushes) {
  const mjtNum* K = d->efc_KBIP + 4 * adr;
  mjtNum k = fabs(djm_springSlope(d, adr));
  if (k == 0) k = K[1];
  if (pushes) k *= 1 - K[2];
  return k > 0 ? fabs(x) / k : INFINITY;
}

static mjtNum coneOff(const mjContact* con, const mjtNum* y) {
  mjtNum mu = con->mu, N = mu * y[0], T = 0;
  for (int k = 1; k < con->dim; k++) {
    T += con->friction[k - 1] * con->friction[k - 1] * y[k] * y[k];
  }
  T = sqrt(T);
  return fmin(fabs(N - mu * T) / mu, fabs(mu * N + T) / (mu * mu));
}

static mjtNum frictionOff(const mjData* d, int adr, mjtNum y) {
  mjtNum limit = d->efc_frictionloss[adr] / d->efc_D[adr];
  return fabs(fabs(y) - limit);
}

// A limit that has no row yet, at x of its range.
static void limitAhead(djmTransitionInfo* info, int type, int id, const mjtNum range[2], mjtNum x,
                       mjtNum margin) {
  for (int side = 0; side < 2; side++) {
    mjtNum off = (side ? range[1] - x : x - range[0]) - margin;
    if (off < 0 || off >= DJM_KINK_DISTANCE) continue;
    int n = info->nkink++;
    if (n >= DJM_MAXKINK) continue;
    info->kink[n] = (djmKink){.kind = DJM_KINK_MARGIN, .type = type, .id = {id, -1},
                              .distance = off};
  }
}

static void limitsAhead(djmTransitionInfo* info, const mjModel* m, const mjData* d) {
  if (m->opt.disableflags & (mjDSBL_CONSTRAINT | mjDSBL_LIMIT)) return;
  for (int j = 0; j < (int)m->njnt; j++) {
    int type = m->jnt_type[j];
    if (!m->jnt_limited[j] || type == mjJNT_FREE) continue;
    mjtNum x = d->qpos[m->jnt_qposadr[j]];
    mjtNum range[2] = {m->jnt_range[2 * j], m->jnt_range[2 * j + 1]};
    if (type == mjJNT_BALL) {
      mjtNum turn[3];
      mju_quat2Vel(turn, d->qpos + m->jnt_qposadr[j], 1);
      x = mju_norm3(turn);
      range[1] = fmax(range[0], range[1]);
      range[0] = -INFINITY;
    }
    limitAhead(info, mjCNSTR_LIMIT_JOINT, j, range, x, m->jnt_margin[j]);
  }
  for (int t = 0; t < (int)m->ntendon; t++) {
    if (!m->tendon_limited[t]) continue;
    limitAhead(info, mjCNSTR_LIMIT_TENDON, t, m->tendon_range + 2 * t, d->ten_length[t],
               m->tendon_margin[t]);
  }
}

void djm_findKinks(djmTransitionWork* w) {
  const mjData* d = w->d;
  limitsAhead(&w->info, &w->view, d);
  for (int i = d->ne, n; i < d->nefc; i += n) {
    int type = d->efc_type[i], id = d->efc_id[i];
    bool pushes = w->state[i] != mjCNSTRSTATE_SATISFIED;
    n = 1;
    mjtNum far = INFINITY;
    djmKinkKind kind = DJM_KINK_SWITCH;
    if (type == mjCNSTR_FRICTION_DOF || type == mjCNSTR_FRICTION_TENDON) {
      far = distanceOf(d, i, frictionOff(d, i, w->y[i]), w->state[i] == mjCNSTRSTATE_QUADRATIC);
    } else if (type == mjCNSTR_CONTACT_ELLIPTIC) {
      n = d->contact[id].dim;
      kind = DJM_KINK_CONE;
      far = distanceOf(d, i, coneOff(d->contact + id, w->y + i), pushes);
    } else {
      far = distanceOf(d, i, w->y[i], pushes);
    }
    mjtNum off = fabs(d->efc_pos[i] - d->efc_margin[i]);
    if (type != mjCNSTR_FRICTION_DOF && type != mjCNSTR_FRICTION_TENDON && off < far &&
        (pushes || off < DJM_KINK_DISTANCE)) {
      far = off;
      kind = DJM_KINK_MARGIN;
    }
    if (far < DJM_KINK_DISTANCE) djm_addKink(&w->info, kind, d, i, far);
    while (type == mjCNSTR_CONTACT_PYRAMIDAL && i + n < d->nefc && d->efc_type[i + n] == type &&
           d->efc_id[i + n] == id && far < DJM_KINK_DISTANCE) {
      n++;   // a contact is told once
    }
  }
}

// ---- names --------------------------------------------------------------------------------------

static void nameOf(char text[60], const mjModel* m, mjtObj type, int id) {
  const char* name = id >= 0 ? mj_id2name(m, type, id) : NULL;
  if (name && *name) snprintf(text, 60, "'%.50s'", name);
  else snprintf(text, 60, "#%d", id);
}

void djm_kinkText(char text[200], const mjModel* m, const djmKink* kink) {
  static const char* const what[] = {"begins or ends to act", "slips, sticks or parts",
                                     "comes or goes", "does not follow its geoms",
                                     "passes to another vertex"};
  char a[60], b[60], element[160];
  int id = kink->id[0];
  if (kink->id[1] >= 0) {
    nameOf(a, m, mjOBJ_GEOM, id);
    nameOf(b, m, mjOBJ_GEOM, kink->id[1]);
    snprintf(element, sizeof element, "contact of geoms %s and %s", a, b);
  } else {
    bool tendon = kink->type == mjCNSTR_FRICTION_TENDON || kink->type == mjCNSTR_LIMIT_TENDON;
    bool loss = kink->type == mjCNSTR_FRICTION_DOF || kink->type == mjCNSTR_FRICTION_TENDON;
    int joint = kink->type == mjCNSTR_FRICTION_DOF ? m->dof_jntid[id] : id;
    nameOf(a, m, tendon ? mjOBJ_TENDON : mjOBJ_JOINT, tendon ? id : joint);
    snprintf(element, sizeof element, "%s of %s %s", loss ? "friction loss" : "limit",
             tendon ? "tendon" : "joint", a);
  }
  int n = snprintf(text, 200, "%.140s: %s", element, what[kink->kind]);
  if (kink->kind != DJM_KINK_CONTACT && n > 0 && n < 200) {
    snprintf(text + n, 200 - (size_t)n, " within %.1e", kink->distance);
  }
}
