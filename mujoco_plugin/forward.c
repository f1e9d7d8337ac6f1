// djm_forward: MuJoCo's pass over d, with our acceleration and contact forces in place of its own.
//
// MuJoCo's own contacts and constraints are hidden while the stage of acceleration runs: first,
// with none at all, mj_rnePostConstraint gets contact's wrenches as applied forces and leaves body
// accelerations, cfrc_int and cfrc_ext of ours; then mj_sensorAcc sees the list of our contacts.

#include "own_step.h"
#include "sensor.h"

#include <stdlib.h>
#include <string.h>

// Fields of d that are replaced for a while.
typedef struct Kept {
  int ncon, ne, nf, nl, nefc;
  mjContact* contact;
  mjtNum *efc_force, *xfrc_applied;
} Kept;

typedef struct Pass {
  djmContext* c;
  const mjModel* m;
  mjData* d;
  Kept kept;
  bool hidden;
} Pass;

static void hide(Pass* p) {
  mjData* d = p->d;
  p->kept = (Kept){d->ncon, d->ne,      d->nf,        d->nl,
                   d->nefc, d->contact, d->efc_force, d->xfrc_applied};
  p->hidden = true;
  d->ncon = d->ne = d->nf = d->nl = d->nefc = 0;
}

static void restore(Pass* p) {
  mjData* d = p->d;
  const Kept* k = &p->kept;
  if (!p->hidden) return;
  d->ncon = k->ncon, d->ne = k->ne, d->nf = k->nf, d->nl = k->nl, d->nefc = k->nefc;
  d->contact = k->contact;
  d->efc_force = k->efc_force;
  d->xfrc_applied = k->xfrc_applied;
  p->hidden = false;
}

// Rows of frame: the unit normal n and two tangents.
static void makeFrame(mjtNum frame[9], const mjtNum n[3]) {
  mjtNum other[3] = {0, 0, 0};
  other[mju_abs(n[0]) < 0.6 ? 0 : 1] = 1;
  mju_copy3(frame, n);
  mju_cross(frame + 3, n, other);
  mju_normalize3(frame + 3);
  mju_cross(frame + 6, n, frame + 3);
}

// What margins add to the sum of two contact shapes.
static double marginOf(const djModel* x, int a, int b) {
  for (int i = 0; i < x->npair; i++) {
    int g = x->pair_geom1[i], h = x->pair_geom2[i];
    if ((g == a && h == b) || (g == b && h == a)) return x->pair_margin[i] - x->pair_gap[i];
  }
  return x->geom_margin[a] - x->geom_gap[a] + x->geom_margin[b] - x->geom_gap[b];
}

// A geom, or the vertex of a flex that it stands for.
static void setSide(mjContact* con, int k, const djModel* x, int geom) {
  int flex = x->geom_flex[geom];
  con->geom[k] = flex < 0 ? geom : -1;
  con->flex[k] = flex;
  con->elem[k] = con->vert[k] = -1;
  for (int v = 0; flex >= 0 && v < x->flex_vertnum[flex]; v++) {
    int at = x->flex_vertadr[flex] + v;
    const double *a = x->flexvert_pos + 3 * at, *b = x->geom_pos + 3 * geom;
    if (x->flexvert_body[at] != x->geom_body[geom] || mju_dist3(a, b) > 0) continue;
    con->vert[k] = v;
    return;
  }
}

enum { NEDGE = 10 };   // numbers of a contact with six components in either cone

// One of our pairs as MuJoCo's contact; force: normal, tangents, then torques about the point.
static void setContact(mjContact* con, mjtNum force[NEDGE], const djmContext* c, const mjModel* m,
                       const djContactPair* p) {
  const djModel* x = c->model;
  memset(con, 0, sizeof(*con));
  con->dist = p->gap - p->skin + marginOf(x, p->geom1, p->geom2);
  mju_copy3(con->pos, p->point);
  makeFrame(con->frame, p->normal);
  for (int k = 0; k < 5; k++) con->friction[k] = 1;
  con->mu = 1;
  con->dim = 6;
  setSide(con, 0, x, p->geom1);
  setSide(con, 1, x, p->geom2);
  con->geom1 = con->geom[0];
  con->geom2 = con->geom[1];
  mju_mulMatVec3(force, con->frame, p->force);
  mju_mulMatVec3(force + 3, con->frame, p->torque);
  if (m->opt.cone == mjCONE_ELLIPTIC) return;
  // edges: their sum is the normal component, the difference of two the component between them
  mjtNum f[6];
  mju_copy(f, force, 6);
  for (int k = 0; k < 5; k++) {
    force[2 * k] = 0.5 * (f[0] / 5 + f[k + 1]);
    force[2 * k + 1] = 0.5 * (f[0] / 5 - f[k + 1]);
  }
}

// Room for n contacts. (MuJoCo's stack is not for callers that are built with sanitizers.)
static djStatus reserve(djmContext* c, int n) {
  if (n <= c->ncontact) return DJ_OK;
  free(c->contact);
  free(c->edge);
  c->ncontact = 0;
  c->contact = malloc(2 * (size_t)n * sizeof(*c->contact));
  c->edge = malloc(2 * (size_t)n * NEDGE * sizeof(*c->edge));
  if (!c->contact || !c->edge) return djm_fail(c, DJ_NO_MEMORY, "out of memory");
  c->ncontact = 2 * n;
  return DJ_OK;
}

// Our contacts of the last substep.
static void listContacts(Pass* p) {
  mjData* d = p->d;
  const djData* data = p->c->data;
  int n = data->npair;
  if (n == 0) return;
  d->contact = p->c->contact;
  d->efc_force = p->c->edge;
  for (int k = 0; k < n; k++) {
    setContact(&d->contact[k], d->efc_force + NEDGE * k, p->c, p->m, &data->pair[k]);
    d->contact[k].efc_address = NEDGE * k;
  }
  d->ncon = n;
}

// Accelerations, and forces between bodies: what mj_rnePostConstraint has.
static void bodyForces(Pass* p) {
  djmContext* c = p->c;
  mjData* d = p->d;
  djm_addWrench(c->force, d->xfrc_applied, c->wrench, d->xipos, (int)p->m->nbody);
  d->xfrc_applied = c->force;
  mj_rnePostConstraint(p->m, d);
  d->xfrc_applied = p->kept.xfrc_applied;
}

// Touch sensors see normal forces alone, and limits' forces are not MuJoCo's; all others are.
static void setForces(const Pass* p) {
  const mjModel* m = p->m;
  if (m->opt.disableflags & mjDSBL_SENSOR) return;
  for (int i = 0; i < m->nsensor; i++) {
    int type = m->sensor_type[i], id = m->sensor_objid[i];
    bool touch = type == mjSENS_TOUCH, tendon = type == mjSENS_TENDONLIMITFRC;
    if (!touch && !tendon && type != mjSENS_JOINTLIMITFRC) continue;
    mjtNum cutoff = m->sensor_cutoff[i];
    mjtNum f = touch ? p->c->touch[i] : p->c->limit[tendon ? m->njnt + id : id];
    p->d->sensordata[m->sensor_adr[i]] = cutoff > 0 ? mju_min(f, cutoff) : f;
  }
}

// Contact sensors that show no forces are of the stage of position: computed anew from our list.
static bool showsContacts(const mjModel* m) {
  for (int i = 0; i < m->nsensor; i++) {
    if (m->sensor_type[i] == mjSENS_CONTACT && m->sensor_needstage[i] == mjSTAGE_POS) return true;
  }
  return false;
}

static void accelerationStage(Pass* p) {
  const mjModel* m = p->m;
  mjData* d = p->d;
  djmContext* c = p->c;
  djm_setAcceleration(d, c);
  djm_projectForces(d->qfrc_constraint, d->cfrc_ext, c, m, d, d->xfrc_applied);
  if (d->nefc > 0) mju_zero(d->efc_force, d->nefc);   // MuJoCo's constraints do not act
  hide(p);
  bodyForces(p);
  listContacts(p);
  if (showsContacts(m)) mj_sensorPos(m, d);
  mj_sensorAcc(m, d);
  restore(p);
  setForces(p);
}

static void runPass(void* arg) {
  Pass* p = arg;
  const mjModel* m = p->m;
  mjData* d = p->d;
  bool energy = m->opt.enableflags & mjENBL_ENERGY;
  mj_fwdPosition(m, d);
  mj_sensorPos(m, d);
  if (!energy && !d->flg_energypos) {
    d->energy[0] = d->energy[1] = 0;
  } else if (!d->flg_energypos) {
    mj_energyPos(m, d);
  }
  mj_fwdVelocity(m, d);
  mj_sensorVel(m, d);
  if (energy && !d->flg_energyvel) mj_energyVel(m, d);
  mj_fwdActuation(m, d);
  mj_fwdAcceleration(m, d);
  accelerationStage(p);
}

djStatus djm_pass(djmContext* c, const mjModel* m, mjData* d) {
  mjModel prompt = djm_promptModel(m, c);
  Pass p = {.c = c, .m = &prompt, .d = d};
  djStatus status = reserve(c, c->data->npair);
  if (status != DJ_OK) return status;
  size_t pstack = d->pstack, pbase = d->pbase;
  c->passing = true;
  status = djm_catch(c, runPass, &p);
  c->passing = false;
  if (status == DJ_OK) {
    if (!djm_disabled(m, mjDSBL_SENSOR)) djm_readHistories(c->present, m, d);
    return DJ_OK;
  }
  restore(&p);
  d->pstack = pstack;
  d->pbase = pbase;
  return status;
}

djStatus djm_forward(const mjModel* m, mjData* d, djmContext* c) {
  djStatus status = djm_begin(c, m, d);
  if (status < 0) return status;
  if (djm_stepsItself(c)) return djm_forwardItself(m, d, c);
  status = djm_solve(c, m, d);
  if (status < 0) return status;
  djStatus passed = djm_pass(c, m, d);
  return passed < 0 ? passed : status;
}
