// One scene in one of the columns.

#include "defaults.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static void set(djModel* model, const char* name, double value) {
  djError err;
  if (dj_setOptionEntry(model, name, &value, 1, &err) < 0) djv_fail("%s: %s", name, err.text);
}

static void openOurs(Sim* s, const Program* program) {
  djError err;
  if (dj_importMuJoCo(&s->model, NULL, s->m, &err) != DJ_OK) djv_fail("import: %s", err.text);
  if (program && program->given_integrator) {
    set(s->model, "integrator", program->integrator);
  }
  for (int i = 0; program && i < program->nset; i++) {
    set(s->model, program->set_name[i], program->set_value[i]);
  }
  if (dj_makeData(&s->data, s->model, &err) != DJ_OK) djv_fail("%s", err.text);
  s->qpos = s->data->qpos;
  s->qvel = s->data->qvel;
}

void sim_setBest(mjModel* m, double h) {
  m->opt.integrator = mjINT_DISCRETE;
  m->opt.cone = mjCONE_ELLIPTIC;
  m->opt.impratio = 100;
  m->opt.solver = mjSOL_NEWTON;
  for (int g = 0; g < m->ngeom; g++) {
    m->geom_solref[mjNREF * g] = 2 * h;
    m->geom_solref[mjNREF * g + 1] = 1;
    m->geom_solimp[mjNIMP * g] = m->geom_solimp[mjNIMP * g + 1] = 0.9999;
  }
}

void sim_open(Sim* s, const mjModel* m, Column column, double h, const Program* program) {
  *s = (Sim){.column = column, .h = h};
  s->m = mj_copyModel(NULL, m);
  s->m->opt.timestep = h;
  s->m->opt.disableflags |= mjDSBL_AUTORESET;
  s->nq = (int)m->nq;
  s->nv = (int)m->nv;
  if (column == OURS) {
    openOurs(s, program);
    return;
  }
  if (column == BEST) sim_setBest(s->m, h);
  s->m->opt.enableflags |= mjENBL_ENERGY;
  s->d = mj_makeData(s->m);
  s->qpos = s->d->qpos;
  s->qvel = s->d->qvel;
}

void sim_close(Sim* s) {
  dj_deleteData(s->data);
  dj_deleteModel(s->model);
  if (s->d) mj_deleteData(s->d);
  mj_deleteModel(s->m);
}

void sim_reset(Sim* s) {
  if (s->column == OURS) dj_resetData(s->model, s->data);
  else mj_resetData(s->m, s->d);
}

static void stepStock(void* arg) {
  Sim* s = arg;
  mj_step(s->m, s->d);
}

bool sim_step(Sim* s) {
  if (s->column == OURS) {
    s->status = dj_step(s->model, s->data);
    if (s->status < 0) {
      snprintf(s->error.text, sizeof s->error.text, "%.500s", dj_errorText(s->data));
      return false;
    }
  } else if (djm_guard(stepStock, s, &s->error) < 0) {
    return false;
  }
  for (int i = 0; i < s->nv; i++) {
    if (!isfinite(s->qvel[i]) || fabs(s->qvel[i]) > 1e10) return false;
  }
  return true;
}

void sim_energy(double energy[2], Sim* s) {
  if (s->column == OURS) {
    dj_forward(s->model, s->data);
    memcpy(energy, s->data->energy, 2 * sizeof *energy);
    return;
  }
  mj_fwdPosition(s->m, s->d);
  mj_energyPos(s->m, s->d);
  mj_fwdVelocity(s->m, s->d);
  mj_energyVel(s->m, s->d);
  memcpy(energy, s->d->energy, 2 * sizeof *energy);
}

int sim_iterations(const Sim* s, bool* unconverged) {
  if (s->column == OURS) {
    *unconverged = s->status == DJ_NOT_CONVERGED;
    return s->data->stats.iterations;
  }
  int islands = s->d->nisland < 1 ? 1 : s->d->nisland < mjNISLAND ? s->d->nisland : mjNISLAND;
  int most = 0;
  for (int k = 0; k < islands; k++) {
    most = most > s->d->solver_niter[k] ? most : s->d->solver_niter[k];
  }
  *unconverged = most >= s->m->opt.iterations;
  return most;
}

double def_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

Spread def_spread(const double* x, int n) {
  Spread s = {0, 0, INFINITY, -INFINITY};
  for (int i = 0; i < n; i++) {
    s.mean += x[i] / n;
    s.least = -djv_worst(-s.least, -x[i]);
    s.most = djv_worst(s.most, x[i]);
  }
  for (int i = 0; i < n; i++) s.sd += (x[i] - s.mean) * (x[i] - s.mean) / n;
  s.sd = sqrt(s.sd);
  return s;
}

void def_head(const char* what) {
  djv_note("%-52s %12s %12s %12s", what, "ours", "stock", "best");
}

void def_row(const char* label, const double value[NCOLUMN]) {
  char text[NCOLUMN][24];
  for (int c = 0; c < NCOLUMN; c++) {
    if (isnan(value[c])) snprintf(text[c], sizeof text[c], "-");
    else snprintf(text[c], sizeof text[c], "%.4g", value[c]);
  }
  djv_note("%-52s %12s %12s %12s", label, text[OURS], text[STOCK], text[BEST]);
}

void def_check(Program* p, const char* key, double value) {
  for (int i = 0; i < p->nbound; i++) {
    if (strcmp(p->bound[i].key, key) != 0) continue;
    bool least = p->bound[i].least;
    if (!p->seen[i]) p->worst[i] = value;
    else if (least) p->worst[i] = -djv_worst(-p->worst[i], -value);
    else p->worst[i] = djv_worst(p->worst[i], value);
    p->seen[i] = true;
    return;
  }
  djv_fail("no target is called '%s'", key);
}
