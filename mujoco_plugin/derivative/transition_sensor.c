// C and D of MuJoCo's own step: sensors at its start. What sensors of position and velocity have by
// formula is in sensor.c and sensor_frame.c. The acceleration moves by its derivative, and with it
// the rows' forces by theirs:
//   df = (f by q, v while a is held, rows.h) - S J da
// Touch sensors add up what these say of normal forces; others are differenced along each column.
// Nothing is solved again.

#include "transition_work.h"

#include "sensor.h"
#include "slope_error.h"

#include <stdlib.h>
#include <string.h>

static bool byFormula(const mjModel* m, int i) {
  if (m->sensor_type[i] == mjSENS_PLUGIN) return djm_isGapSensor(m, i);
  if (m->sensor_type[i] == mjSENS_TOUCH) return m->nflex == 0;
  return m->sensor_needstage[i] != mjSTAGE_ACC && djm_sensorIsAnalytic(m, i);
}

static djStatus check(bool* differences, const mjModel* m, djError* err) {
  *differences = false;
  for (int i = 0; i < (int)m->nsensor; i++) {
    if (byFormula(m, i)) continue;
    if (m->sensor_type[i] == mjSENS_PLUGIN) {
      return djm_slopeError(err, DJ_UNSUPPORTED, "sensor #%d: a plugin's has no derivative", i);
    }
    if (m->sensor_type[i] == mjSENS_USER && mjcb_sensor) {
      return djm_slopeError(err, DJ_UNSUPPORTED, "sensor #%d: callbacks have no derivative", i);
    }
    *differences = true;
  }
  return DJ_OK;
}

// ---- by formula ---------------------------------------------------------------------------------

// w->rate from w->by_force.
static void findRates(djmTransitionWork* w) {
  const mjData* d = w->d;
  int nv = w->nv, ncol = w->ncol;
  mjtNum *da = w->memory, *dy = w->y, S[DJM_MAXROWS * DJM_MAXROWS];
  mjtNum* at = w->dense;    // y of the solution, which the cones' curvature is by
  mju_copy(at, w->y, d->nefc);
  for (int k = 0; k < ncol; k++) {
    for (int i = 0; i < nv; i++) da[i] = w->X[(size_t)i * ncol + k];
    mj_mulJacVec(&w->view, d, dy, da);
    for (int i = 0; i < d->nefc; i++) {
      mjtNum* to = w->rate + (size_t)i * ncol + k;
      int dim = 1;
      to[0] = k < 2 * nv ? w->by_force[(size_t)i * 2 * nv + k] : 0;
      if (w->state[i] == mjCNSTRSTATE_QUADRATIC) to[0] -= d->efc_D[i] * dy[i];
      if (w->state[i] != mjCNSTRSTATE_CONE) continue;
      const mjContact* con = d->contact + d->efc_id[i];
      dim = con->dim;
      djm_coneCurvature(S, d, con, i, at + i);
      for (int r = 0; r < dim; r++) {
        mjtNum* row = w->rate + (size_t)(i + r) * ncol + k;
        row[0] = k < 2 * nv ? w->by_force[(size_t)(i + r) * 2 * nv + k] : 0;
        for (int c = 0; c < dim; c++) row[0] -= S[r * dim + c] * dy[i + c];
      }
      i += dim - 1;
    }
  }
}

static bool touches(const mjModel* m, const mjData* d, int site, const mjContact* con) {
  if (con->efc_address < 0) return false;
  const int body[2] = {m->geom_bodyid[con->geom[0]], m->geom_bodyid[con->geom[1]]};
  return djm_siteFeels(m, site, d->site_xpos + 3 * site, d->site_xmat + 9 * site, body, con->pos,
                       con->frame);
}

// The normal force: of the first row of a cone, of all edges of a pyramid.
static void touchRows(djmRows* rows, const djmTransitionWork* w, const mjModel* m, int sensor) {
  const mjData* d = w->d;
  for (int k = 0; k < d->ncon; k++) {
    const mjContact* con = d->contact + k;
    if (!touches(m, d, m->sensor_objid[sensor], con)) continue;
    int first = con->efc_address, pyramid = m->opt.cone == mjCONE_PYRAMIDAL && con->dim > 1;
    for (int i = first; i < first + (pyramid ? 2 * (con->dim - 1) : 1); i++) {
      const mjtNum* rate = w->rate + (size_t)i * w->ncol;
      rows->value[0] += w->force[i];
      mju_addTo(rows->x, rate, rows->nx);
      mju_addTo(rows->u, rate + rows->nx, rows->nu);
    }
  }
}

// rows->x, rows->u and the sensors' scratch are w->sensor.
static void formulaRows(mjtNum* C, mjtNum* D, djmTransitionWork* w, const mjModel* m) {
  int nx = 2 * w->nv + w->na, nu = w->nu;
  djmSensorWork work;
  djm_initSensorWork(&work, w->sensor + DJM_MAXDIM * (nx + nu), m);
  for (int i = 0; i < (int)m->nsensor; i++) {
    if (!byFormula(m, i)) continue;
    djmRows rows = {.dim = m->sensor_dim[i], .nx = nx, .nu = nu};
    rows.x = w->sensor;
    rows.u = w->sensor + DJM_MAXDIM * nx;
    mju_zero(w->sensor, DJM_MAXDIM * (nx + nu));
    if (m->sensor_type[i] != mjSENS_TOUCH) djm_sensorRows(&rows, &work, m, w->d, w->d, i);
    else if (w->nsense) touchRows(&rows, w, m, i);
    for (int r = 0; r < rows.dim; r++) {
      size_t row = (size_t)(m->sensor_adr[i] + r);
      if (djm_isCut(m, i, rows.value[r])) continue;
      if (C) mju_copy(C + row * (size_t)nx, rows.x + r * nx, nx);
      if (D) mju_copy(D + row * (size_t)nu, rows.u + r * nu, nu);
    }
  }
}

// ---- by differences -----------------------------------------------------------------------------

static void moveState(djmTransitionWork* w, int k, mjtNum x, mjtNum* step) {
  int nv = w->nv, nx = 2 * nv + w->na;
  mjData* e = w->e;
  mj_copyState(&w->view, w->d, e, mjSTATE_INTEGRATION);
  if (k < nv) {
    mju_zero(step, nv);
    step[k] = x;
    mj_integratePos(&w->view, e->qpos, step, 1);
  } else if (k < 2 * nv) {
    e->qvel[k - nv] += x;
  } else if (k < nx) {
    e->act[k - 2 * nv] += x;
  } else {
    e->ctrl[k - nx] += x;
  }
}

static bool sameRows(const mjData* a, const mjData* b) {
  if (a->nefc != b->nefc || a->ncon != b->ncon) return false;
  for (int i = 0; i < a->nefc; i++) {
    if (a->efc_type[i] != b->efc_type[i] || a->efc_id[i] != b->efc_id[i]) return false;
  }
  for (int i = 0; i < a->ncon; i++) {
    if (memcmp(a->contact[i].geom, b->contact[i].geom, sizeof(a->contact[i].geom)) != 0) {
      return false;
    }
  }
  return true;
}

// Sensors of velocity and acceleration at e's, s along column k, past position().
static void sense(const mjModel* m, djmTransitionWork* w, int k, mjtNum s) {
  mjData* e = w->e;
  e->flg_subtreevel = e->flg_rnepost = 0;
  mj_fwdVelocity(m, e);
  mj_sensorVel(m, e);
  mj_fwdActuation(m, e);
  if (w->nsense && sameRows(e, w->d)) {
    for (int i = 0; i < e->nefc; i++) {
      e->efc_force[i] = w->force[i] + s * w->rate[(size_t)i * w->ncol + k];
    }
  } else if (e->nefc) {
    mj_mulJacVec(m, e, w->dense, e->qacc);
    mju_subFrom(w->dense, e->efc_aref, e->nefc);
    mj_constraintUpdate(m, e, w->dense, NULL, 0);
  }
  mj_sensorAcc(m, e);
}

typedef struct Differing {
  djmTransitionWork* w;
  const mjModel* m;      // with sensors
  bool kinetic;          // one of them is hasKinetic
  mjtNum *C, *D;
  djStatus status;
  djError* err;
} Differing;

// out (nsensordata x stride), at column k: = weight times sensors, or += where not first.
static void addColumn(Differing* x, int k, mjtNum weight, bool first) {
  int nx = 2 * x->w->nv + x->w->na;
  bool state = k < nx;
  mjtNum* out = state ? x->C + k : x->D + (k - nx);
  size_t stride = (size_t)(state ? nx : x->w->nu);
  for (int i = 0; i < (int)x->m->nsensor; i++) {
    if (byFormula(x->m, i)) continue;
    for (int r = x->m->sensor_adr[i]; r < x->m->sensor_adr[i] + x->m->sensor_dim[i]; r++) {
      mjtNum value = weight * x->w->e->sensordata[r];
      out[(size_t)r * stride] = value + (first ? 0 : out[(size_t)r * stride]);
    }
  }
}

// MuJoCo finds the kinetic energy along with what positions tell.
static bool hasKinetic(const mjModel* m) {
  for (int i = 0; i < (int)m->nsensor; i++) {
    if (m->sensor_type[i] == mjSENS_E_KINETIC) return true;
  }
  return false;
}

static void sensePosition(const mjModel* m, mjData* e) {
  e->flg_energyvel = 0;
  mj_sensorPos(m, e);
}

// e's positions and their sensors, of which all columns but the first nv have those of the start.
// False: contacts come or go.
static bool position(Differing* x) {
  djmTransitionWork* w = x->w;
  mj_fwdPosition(x->m, w->e);   // how many rows there are
  sensePosition(x->m, w->e);
  x->status = djm_roomForRows(w, w->e->nefc, x->err);
  return sameRows(w->e, w->d);
}

// Column k by a step; false: contacts come or go.
static bool differColumn(Differing* x, int k, mjtNum step) {
  djmTransitionWork* w = x->w;
  bool same = true;
  for (int p = 0; p < 2; p++) {
    mjtNum s = p ? -step : step;
    moveState(w, k, s, w->memory);
    for (int i = 0; i < w->nv; i++) w->e->qacc[i] = w->a[i] + s * w->X[(size_t)i * w->ncol + k];
    if (k < w->nv) same = position(x) && same;
    else if (x->kinetic) sensePosition(x->m, w->e);
    if (x->status < 0) return true;
    sense(x->m, w, k, s);
    addColumn(x, k, 0.5 / s, p == 0);
  }
  return same;
}

// Two points: what the curvature of geoms of a centimetre leaves is 1e-7 of a slope.
static void differ(void* arg) {
  static const mjtNum kStep[3] = {4e-6, 2e-7, 1e-8};
  Differing* x = arg;
  int nv = x->w->nv, nx = 2 * nv + x->w->na;
  int first = x->C ? 0 : nx, end = x->D ? x->w->ncol : nx;
  for (int k = first; k < end && x->status >= 0; k++) {
    if (k == nv || (k == first && k > nv)) {
      mj_copyState(&x->w->view, x->w->d, x->w->e, mjSTATE_INTEGRATION);
      position(x);
    }
    for (int i = 0; i < 3 && x->status >= 0 && !differColumn(x, k, kStep[i]); i++) {
    }
  }
}

djStatus djm_roomForForces(bool* wanted, djmTransitionWork* w, const mjModel* m, djError* err) {
  size_t n = (size_t)w->d->nefc, nv = (size_t)w->nv;
  *wanted = false;
  for (int i = 0; i < (int)m->nsensor; i++) {
    if (m->sensor_needstage[i] == mjSTAGE_ACC) *wanted = n > 0;
  }
  if (m->opt.disableflags & mjDSBL_SENSOR) *wanted = false;
  w->nsense = *wanted ? w->d->nefc : 0;
  if (!*wanted) return DJ_OK;
  free(w->by_force);
  free(w->rate);
  w->by_force = calloc(n * 2 * nv, sizeof(mjtNum));
  w->rate = malloc(n * (size_t)w->ncol * sizeof(mjtNum));
  return w->by_force && w->rate ? DJ_OK : djm_slopeError(err, DJ_NO_MEMORY, "out of memory");
}

djStatus djm_sensorSlopes(mjtNum* C, mjtNum* D, djmTransitionWork* w, const mjModel* m,
                          djError* err) {
  size_t ns = (size_t)m->nsensordata, nx = 2 * (size_t)w->nv + (size_t)w->na;
  if (C) memset(C, 0, ns * nx * sizeof(mjtNum));
  if (D) memset(D, 0, ns * (size_t)w->nu * sizeof(mjtNum));
  if (m->opt.disableflags & mjDSBL_SENSOR) return DJ_OK;
  bool differences;
  djStatus status = check(&differences, m, err);
  if (status < 0) return status;
  mjModel view = w->view;
  view.opt.disableflags = m->opt.disableflags;
  if (w->nsense) findRates(w);
  formulaRows(C, D, w, &view);
  if (!differences) return DJ_OK;
  Differing x = {w, &view, hasKinetic(m), C, D, DJ_OK, err};
  status = djm_guard(differ, &x, err);
  return status < 0 ? status : x.status;
}
