// Certificates of the tasks of models/codesign: 20 steps around the first contact of what is
// designed, at the start of each task and at its result, each block of variables beside differences
// of the same loss. Controls go on as they are in the run: phases of sines begin later, splines
// pass through the controls of those steps. Scenes of one task are certified as their sum.
//
// Besides: a vertex of the spider's foot that lies in a facet of its hull, and so passes through it
// as it varies, with "vertices": "all"; and, where nothing touches, what mass and inertia alone do
// to a loss, beside the masses themselves as MuJoCo's compiler has them of the same vertices.
// Of many blocks those of the largest gradients are looked at, and all of them along one direction;
// the summary says which.
//   --results DIR: folder of results DIR/NAME_task; --only NAME; --quick: starts of two tasks
//   --blocks N: at most so many of a task; --threads N: for scenes; --at start|result: only there

#include "common/codesign.h"
#include "common/robots.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  MAX_BLOCK = 40,
  FEW_BLOCK = 6,  // of several scenes...
  ALL_BLOCK = 60, // with more blocks in all
  STEPS = 20,
  BEFORE = 10,
  MAX_FREE = 64,
  MAX_LOSS = 8,
  MAX_MESH = 400,
  MAX_LOOK = 30
};

// What was looked at, for the summary.
typedef struct Looks {
  djvReport* report;
  int blocks, threads; // 0: as many as the task's scenes allow; of scenes
  int n;
  char line[MAX_LOOK][400];
} Looks;

// A task of STEPS steps from a state of a run.
typedef struct Window {
  djTask task;
  djTaskFree free[MAX_FREE];
  double* value[MAX_FREE];
  djTaskLoss loss[MAX_LOSS];
  djTaskVariable variable[1];
  int index[3];
  double *qpos, *qvel, *ctrl;
  int first; // step of the run it begins with
  bool touches;
} Window;

// Whether a pair pushes, of which one varies.
static bool isTouched(const djData* d, const djModel* m, const djProblem* p) {
  djParam vert;
  djError err;
  if (dj_paramId(&vert, m, "mesh/#0/vert", &err) < 0) return false;
  for (int i = 0; i < d->npair; i++) {
    if (!(d->pair[i].normal_force > 0)) continue;
    for (int k = 0; k < p->nparam; k++) {
      int a = m->geom_mesh[d->pair[i].geom1], b = m->geom_mesh[d->pair[i].geom2];
      int mesh = p->param[k].id;
      if (p->param[k].field == vert.field && (a == mesh || b == mesh)) return true;
    }
  }
  return false;
}

// Steps through the scene's run up to the window, whose state and controls are kept.
static void findContact(Window* w, const CdScene* s) {
  const djDesign* d = s->design;
  const djModel* m = d->model;
  const djRollout* r = &d->rollout;
  size_t nq = (size_t)m->nq, nv = (size_t)m->nv, nu = (size_t)m->nu;
  int n = r->horizon, at = n - STEPS + BEFORE;
  djData* data = robot_makeData(m);
  double* qpos = djv_take((size_t)(n + 1) * nq, sizeof *qpos);
  double* qvel = djv_take((size_t)(n + 1) * nv, sizeof *qvel);
  memcpy(data->qpos, r->qpos0, nq * sizeof *qpos);
  memcpy(data->qvel, r->qvel0, nv * sizeof *qvel);
  for (int k = 0; k < n && !w->touches; k++) {
    memcpy(qpos + (size_t)k * nq, data->qpos, nq * sizeof *qpos);
    memcpy(qvel + (size_t)k * nv, data->qvel, nv * sizeof *qvel);
    memcpy(data->ctrl, r->ctrl + (size_t)k * nu, nu * sizeof(double));
    if (dj_step(m, data) < 0) djv_fail("a step fails: %s", dj_errorText(data));
    if (isTouched(data, m, s->problem)) w->touches = true, at = k;
  }
  w->first = at < BEFORE ? 0 : at - BEFORE < n - STEPS ? at - BEFORE : n - STEPS;
  w->qpos = djv_take(nq, sizeof(double));
  w->qvel = djv_take(nv, sizeof(double));
  w->ctrl = djv_take(STEPS * nu, sizeof(double));
  memcpy(w->qpos, qpos + (size_t)w->first * nq, nq * sizeof(double));
  memcpy(w->qvel, qvel + (size_t)w->first * nv, nv * sizeof(double));
  memcpy(w->ctrl, r->ctrl + (size_t)w->first * nu, STEPS * nu * sizeof(double));
  free(qpos);
  free(qvel);
  dj_deleteData(data);
}

// The free vector of a map to controls, so that they go on as they were.
static void goOn(Window* w, const djModel* m, const djMapDef* map, double timestep) {
  int k = 0, nu = m->nu;
  while (k < w->task.nfree && strcmp(w->free[k].name, map->from) != 0) k++;
  if (k == w->task.nfree) return;
  double* z = w->value[k];
  if (strcmp(map->type, "sines") == 0) {
    for (int i = 0; i + 2 < w->free[k].n; i += 3) {
      z[i + 2] += 2 * mjPI * z[i + 1] * w->first * timestep;
    }
  } else if (strcmp(map->type, "spline") == 0) {
    int n = w->free[k].n, a = dj_name2id(m, DJ_OBJ_ACTUATOR, map->arg[0].text);
    for (int i = 0; i < n && a >= 0; i++) {
      double at = (double)i * (STEPS - 1) / (n - 1);
      int row = at < STEPS - 1 ? (int)at : STEPS - 2;
      double part = at - row;
      z[i] = (1 - part) * w->ctrl[row * nu + a] + part * w->ctrl[(row + 1) * nu + a];
    }
  }
}

static void openWindow(Window* w, const djTask* task) {
  CdScene s;
  memset(w, 0, sizeof *w);
  w->task = *task;
  djTask* t = &w->task;
  if (t->nfree > MAX_FREE || t->nloss > MAX_LOSS) djv_fail("%s: too much", task->path);
  cd_open(&s, task);
  findContact(w, &s);
  for (int k = 0; k < t->nfree; k++) {
    w->free[k] = task->free[k];
    w->value[k] = djv_take((size_t)w->free[k].n, sizeof(double));
    memcpy(w->value[k], task->free[k].value, (size_t)w->free[k].n * sizeof(double));
    w->free[k].value = w->value[k];
    w->free[k].nmin = w->free[k].nmax = 0;
  }
  for (int k = 0; k < t->nmap; k++) goOn(w, s.model, &t->map[k], s.model->opt.timestep);
  for (int k = 0; k < t->nloss; k++) {
    w->loss[k] = task->loss[k];
    w->loss[k].term.from = w->loss[k].term.to = 0;
  }
  t->horizon = STEPS;
  t->nqpos = s.model->nq, t->qpos = w->qpos;
  t->nqvel = s.model->nv, t->qvel = w->qvel;
  t->nrow = STEPS, t->nctrl = s.model->nu, t->ctrl = w->ctrl, t->ctrl_file = NULL;
  t->free = w->free;
  t->loss = w->loss;
  cd_close(&s);
}

static void closeWindow(Window* w) {
  double* memory[] = {w->qpos, w->qvel, w->ctrl};
  for (int k = 0; k < 3; k++) free(memory[k]);
  for (int k = 0; k < MAX_FREE; k++) free(w->value[k]);
}

// ---- certificates ------------------------------------------------------------------------------

static void noContact(CdScene* s) {
  djError err = {""};
  djOption o = s->model->opt;
  o.contact = DJ_CONTACT_NONE;
  djd_deleteDesign(s->design);
  if (dj_setOption(s->model, &o, &err) < 0 ||
      djd_makeDesign(&s->design, s->model, s->problem, &err) < 0) {
    djv_fail("without contact: %s", err.text);
  }
}

// One block, or, where variable is -1, all along a random direction.
static bool certifyOne(double* worst, djPhases* phases, int variable, double loss,
                       const double* gradient) {
  const djDesign* d = phases->design[0];
  djdCertificate c;
  int n = d->n;
  if (variable < 0) {
    double analytic = 0, *along = djv_take((size_t)n, sizeof *along);
    for (int i = 0; i < n; i++) {
      along[i] = d->lower[i] < d->upper[i] ? 2e-3 * djd_random(1, (unsigned)i, 0) - 1e-3 : 0;
      analytic += along[i] * gradient[i];
    }
    djd_checkPhases(&c, phases, d->x0, along, loss, analytic, 1);
    free(along);
  } else {
    djd_certifyPhases(&c, phases, variable, loss, gradient, 1);
    n = d->problem->variable[variable].n;
  }
  if (c.passed) *worst = fmax(*worst, c.relative_error);
  djv_note("  %-24s %6d %13.6g %13.6g %9.1e %9.1e %7.3f %s%s",
           variable < 0 ? "all along a direction" : d->problem->variable[variable].name, n,
           c.analytic, c.difference, c.relative_error, c.uncertainty, c.has_slope ? c.slope : NAN,
           c.passed ? "ok" : "FAILS", c.touched ? " (kink)" : "");
  if (!c.passed) djv_note("      %s%s%s", c.kink, *c.kink && *c.gave_up ? "; " : "", c.gave_up);
  return c.passed;
}

// Which blocks are looked at: all, or those of the largest gradients. Returns how many.
static int choose(bool* chosen, const djDesign* d, const double* gradient, int most_blocks) {
  int nvariable = d->problem->nvariable, n = 0;
  for (; n < nvariable && n < most_blocks; n++) {
    int best = -1;
    double most = -1;
    for (int i = 0; i < nvariable; i++) {
      double size = 0;
      for (int k = d->adr[i]; k < d->adr[i + 1]; k++) size += gradient[k] * gradient[k];
      if (!chosen[i] && size > most) most = size, best = i;
    }
    chosen[best] = true;
  }
  return n;
}

// "NAME: 6 of 312 blocks (a, b, ...), and all along a direction; worst 1e-7; 20 s".
static void note(Looks* l, const char* what, const djDesign* d, const bool* chosen, int n,
                 double worst, double seconds) {
  if (l->n == MAX_LOOK) return;
  int nvariable = d->problem->nvariable, size = sizeof *l->line;
  char* line = l->line[l->n++];
  int at = snprintf(line, (size_t)size, "%s: %d of %d blocks", what, n, nvariable);
  for (int i = 0, k = 0; i < nvariable && n < nvariable && k < FEW_BLOCK; i++) {
    if (!chosen[i]) continue;
    at += snprintf(line + at, (size_t)(size - at), "%s%.30s",
                   k++ ? ", " : " of the largest gradients (", d->problem->variable[i].name);
    if (k == n || k == FEW_BLOCK) {
      at += snprintf(line + at, (size_t)(size - at), k < n ? "...)" : ")");
    }
  }
  snprintf(line + at, (size_t)(size - at), ", and all along a direction; worst %.1e; %.0f s", worst,
           seconds);
}

// Certifies the variables of the sum of windows; free: without contact.
static void certify(Looks* l, const char* what, int n, Window* w, bool free_of_contact) {
  CdScene s[CD_MAX_SCENE];
  djDesign* design[CD_MAX_SCENE];
  double weight[CD_MAX_SCENE], loss, worst = 0;
  djPhases* phases;
  djError err = {""};
  for (int k = 0; k < n; k++) {
    cd_open(&s[k], &w[k].task);
    if (free_of_contact) noContact(&s[k]);
    design[k] = s[k].design;
    weight[k] = w[k].task.weight;
  }
  if (djd_makeScenes(&phases, n, design, weight, 1, l->threads, &err) < 0) {
    djv_fail("%s", err.text);
  }
  const djDesign* d = design[0];
  int nvariable = d->problem->nvariable;
  double* gradient = djv_take((size_t)d->n, sizeof *gradient);
  bool* chosen = djv_take((size_t)nvariable, sizeof *chosen);
  if (djd_evaluatePhases(&loss, gradient, phases, d->x0) < 0) djv_fail("%s: no loss", what);
  double start = robot_clock();
  int most = l->blocks > 0 ? l->blocks : n * nvariable > ALL_BLOCK && n > 1 ? FEW_BLOCK : MAX_BLOCK;
  int looked = choose(chosen, d, gradient, most);
  djv_note("%s: from step %d%s, loss %.6g, %d blocks", what, w[0].first,
           free_of_contact || w[0].touches ? "" : " (no contact)", loss, nvariable);
  djv_note("  %-24s %6s %13s %13s %9s %9s %7s", "block", "n", "gradient", "difference", "error",
           "certain", "slope");
  int failed = !certifyOne(&worst, phases, -1, loss, gradient);
  for (int i = 0; i < nvariable; i++) {
    if (chosen[i]) failed += !certifyOne(&worst, phases, i, loss, gradient);
  }
  robot_countOf(l->report, failed, 0, looked + 1, "%s: refused", what);
  note(l, what, d, chosen, looked, worst, robot_clock() - start);
  djv_figure(l->report, free_of_contact ? "error of mass alone" : "error of a gradient", worst, "");
  free(chosen);
  free(gradient);
  djd_deletePhases(phases);
  for (int k = 0; k < n; k++) cd_close(&s[k]);
}

// The design's last variables alone, as a loss by what mass and inertia do.
static void certifyMass(Looks* l, const char* what, Window* w) {
  djTask* t = &w->task;
  t->variable += t->nvariable - 1;
  t->nvariable = 1;
  w->loss[0] = (djTaskLoss){.term = {.type = DJ_LOSS_COM, .weight = 1, .when = DJ_WHEN_FINAL}};
  t->nloss = 1;
  certify(l, what, 1, w, true);
}

// ---- a vertex in a facet ------------------------------------------------------------------------

// How far the last vertex of a mesh is from the nearest facet of its hull.
static double offFacet(const char* scene, int mesh, const double* vert, int last) {
  char error[500] = "";
  mjModel* m = mj_loadXML(scene, NULL, error, sizeof error);
  if (!m) djv_fail("%s: %s", scene, error);
  const int* graph = m->mesh_graph + m->mesh_graphadr[mesh];
  const int* face = graph + 2 + 3 * graph[0] + 3 * graph[1];
  double least = INFINITY;
  for (int f = 0; f < graph[1]; f++, face += 3) {
    double a[3], b[3], normal[3], to[3];
    if (face[0] == last || face[1] == last || face[2] == last) continue;
    mju_sub3(a, vert + 3 * face[1], vert + 3 * face[0]);
    mju_sub3(b, vert + 3 * face[2], vert + 3 * face[0]);
    mju_cross(normal, a, b);
    mju_normalize3(normal);
    mju_sub3(to, vert + 3 * last, vert + 3 * face[0]);
    least = fmin(least, fabs(mju_dot3(normal, to)));
  }
  mj_deleteModel(m);
  return least;
}

static void certifyFacet(Looks* l, const djTask* task) {
  Window w;
  CdScene s;
  openWindow(&w, task);
  cd_open(&s, &w.task);
  int p = s.problem->nparam - 1;
  while (p >= 0 && !strstr(s.problem->variable[s.problem->nvariable - 1].name, "vert")) p--;
  const djParam* param = &s.problem->param[p];
  double* vert = djv_take((size_t)param->nvalue, sizeof *vert);
  dj_getParam(vert, s.model, param);
  int last = param->nvalue / 3 - 1;
  djv_note("vertex %d of the last foot's last hull: %.2g m from the nearest facet", last,
           offFacet(task->scene, param->id, vert, last));
  for (int k = 0; k < 3; k++) w.index[k] = 3 * last + k;
  char name[100];
  w.variable[0] = (djTaskVariable){
      .name = dj_paramName(name, sizeof name, s.model, param), .nindex = 3, .index = w.index};
  w.task.variable = w.variable;
  w.task.nvariable = 1;
  cd_close(&s);
  certify(l, "vertex in a facet", 1, &w, false);
  closeWindow(&w);
  free(vert);
}

// ---- masses -------------------------------------------------------------------------------------

static void findInertia(mjModel** m, const char* path) {
  char error[500] = "";
  mjSpec* spec = mj_parseXML(path, NULL, error, sizeof error);
  if (!spec) djv_fail("%s: %s", path, error);
  spec->compiler.inertiafromgeom = mjINERTIAFROMGEOM_TRUE;
  for (mjsElement* e = mjs_firstElement(spec, mjOBJ_MESH); e; e = mjs_nextElement(spec, e)) {
    mjs_asMesh(e)->inertia = mjMESH_INERTIA_CONVEX;
  }
  *m = mj_compile(spec, NULL);
  if (!*m) djv_fail("%s: %s", path, mjs_getError(spec));
  mj_deleteSpec(spec);
}

// Mass and moments of designed bodies in the written scene, beside MuJoCo's of its vertices.
static void masses(djvReport* r, const char* what, const char* folder, const djTask* task) {
  CdWritten w;
  CdScene s;
  mjModel* m;
  char path[500], part[64] = "";
  double mass = 0, inertia = 0, place = 0;
  int n = 0;
  if (*task->name) snprintf(part, sizeof part, "_%s", task->name);
  snprintf(path, sizeof path, "%s/scene%s.xml", folder, part);
  cd_openWritten(&w, folder, task);
  cd_open(&s, task);
  findInertia(&m, path);
  const djModel* ours = s.design->model;
  for (int b = 1; b < m->nbody; b++) {
    bool designed = false;
    for (int k = 0; k < s.problem->nparam; k++) {
      for (int g = 0; g < m->ngeom; g++) {
        designed |= m->geom_bodyid[g] == b && ours->geom_mesh[g] >= 0 &&
                    s.problem->param[k].nvalue > 4 && s.problem->param[k].id == ours->geom_mesh[g];
      }
    }
    if (!designed) continue;
    const double *a = ours->body_inertia + 3 * b, *c = m->body_inertia + 3 * b;
    double ma = fmax(a[0], fmax(a[1], a[2])), mc = fmax(c[0], fmax(c[1], c[2]));
    n++;
    mass = fmax(mass, fabs(ours->body_mass[b] / m->body_mass[b] - 1));
    inertia = fmax(inertia, fabs(ma / mc - 1));
    place = fmax(place, mju_dist3(ours->body_ipos + 3 * b, m->body_ipos + 3 * b));
  }
  djv_note("%s: %d designed bodies beside MuJoCo's compiler: mass %.1e, largest moment %.1e, "
           "centre %.1e m",
           what, n, mass, inertia, place);
  robot_below(r, mass, 1e-4, "", "%s: mass apart", what);
  djv_figure(r, "mass beside MuJoCo's", mass, "");
  mj_deleteModel(m);
  cd_close(&s);
  cd_closeWritten(&w);
}

static void look(Looks* l, const char* name, const char* point, const char* path) {
  Window w[CD_MAX_SCENE];
  char what[100];
  djTask* task = cd_load(path);
  int n = dj_taskScenes(task);
  if (n > CD_MAX_SCENE) djv_fail("%s: too many scenes", path);
  for (int k = 0; k < n; k++) openWindow(&w[k], dj_taskOfScene(task, k));
  snprintf(what, sizeof what, "%s, %s", name, point);
  certify(l, what, n, w, false);
  snprintf(what, sizeof what, "%s, %s, no contact", name, point);
  certifyMass(l, what, &w[0]);
  for (int k = 0; k < n; k++) closeWindow(&w[k]);
  if (strcmp(name, "spider") == 0 && strcmp(point, "start") == 0) certifyFacet(l, task);
  dj_deleteTask(task);
}

int main(int argc, char** argv) {
  const char* results = cd_takeResults(&argc, argv);
  const char* only = djv_takeText(&argc, argv, "--only");
  const char* at = djv_takeText(&argc, argv, "--at");
  djvReport report = {0};
  Looks looks = {.report = &report,
                 .blocks = (int)djv_takeNumber(&argc, argv, "--blocks", 0),
                 .threads = (int)djv_takeNumber(&argc, argv, "--threads", 1)};
  bool quick = djv_isQuick(argc, argv);
  char path[500], folder[400];
  djv_title("Certificates of %d steps", STEPS);
  for (int k = 0; k < CD_NTASK; k++) {
    if (only ? strcmp(only, cd_names[k]) != 0 : quick && k > 1) continue;
    cd_taskPath(path, cd_names[k]);
    if (!at || strcmp(at, "start") == 0) look(&looks, cd_names[k], "start", path);
    if (quick || (at && strcmp(at, "result") != 0)) continue;
    cd_result(folder, results, cd_names[k], NULL);
    snprintf(path, sizeof path, "%s/task.json", folder);
    look(&looks, cd_names[k], "result", path);
    djTask* task = cd_load(path);
    masses(&report, cd_names[k], folder, dj_taskOfScene(task, 0));
    dj_deleteTask(task);
  }
  djv_title("Looked at");
  for (int k = 0; k < looks.n; k++) djv_note("%s", looks.line[k]);
  return djv_finish(&report);
}
