// Crowds: bodies of mixed shapes and sizes that fall into a pen and are thrown about in it.

#include "defaults.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NBAND = 3, STEPS = 500 };

typedef struct Tally {
  long runs, steps, unconverged, failed, iterations;
  long slow;               // steps of more than 60 iterations
  int most;                // iterations of one step
  double seconds, residual;
} Tally;

static double logUniform(djvRandom* r, double low, double high) {
  return exp(djv_uniform(r, log(low), log(high)));
}

static void putMesh(djvText* t, djvRandom* r, int k, double scale) {
  int n = djv_integer(r, 8, 36);
  djv_put(t, "<mesh name=\"m%d\" inertia=\"convex\" vertex=\"", k);
  double axes[3];
  djv_uniforms(axes, 3, r, 0.5, 1);
  for (int i = 0; i < n; i++) {
    double x[3], norm;
    do {
      djv_uniforms(x, 3, r, -1, 1);
      norm = djv_norm(x);
    } while (norm > 1 || norm < 0.3);
    for (int a = 0; a < 3; a++) djv_put(t, "%.9g ", scale * axes[a] * x[a]);
  }
  djv_put(t, "\"/>");
}

static void putGeom(djvText* t, djvRandom* r, int k, int type, double scale) {
  static const char* const name[] = {"sphere", "box", "capsule", "ellipsoid", "cylinder"};
  static const double density[] = {200, 1000, 3000};
  double size[3];
  for (int a = 0; a < 3; a++) size[a] = scale * djv_uniform(r, 0.5, 1);
  djv_put(t, "<geom density=\"%g\" ", density[djv_integer(r, 0, 2)]);
  djv_put(t, "friction=\"%.3f\" ", djv_uniform(r, 0.1, 1));
  if (type == 5) djv_put(t, "type=\"mesh\" mesh=\"m%d\"/>", k);
  else djv_put(t, "type=\"%s\" size=\"%.9g %.9g %.9g\"/>", name[type], size[0], size[1], size[2]);
}

// Crowd k of n bodies: sizes within a factor of up to 10 of each other, on a grid in layers.
static djvText makeCrowd(djvRandom* r, int n) {
  djvText t = djv_text();
  double base = logUniform(r, 0.015, 0.1), ratio = logUniform(r, 1, 10), largest = 0;
  double scale[60];
  int type[60], side = (int)ceil(cbrt(n));
  for (int k = 0; k < n; k++) {
    scale[k] = base * logUniform(r, 1, ratio);
    largest = fmax(largest, scale[k]);
    type[k] = djv_integer(r, 0, 5);
  }
  djv_put(&t, "<mujoco><option timestep=\"0.005\"/><size memory=\"64M\"/><asset>");
  for (int k = 0; k < n; k++) {
    if (type[k] == 5) putMesh(&t, r, k, scale[k]);
  }
  double cell = 2 * 2.1 * largest, half = 0.5 * cell * side, high = 30 * half;
  djv_put(&t, "</asset><worldbody><geom type=\"plane\" size=\"9 9 .1\"/>");
  for (int k = 0; k < 4; k++) {
    double at = (k % 2 ? -1 : 1) * (half + 0.1);
    bool x = k < 2;
    djv_put(&t, "<geom type=\"box\" size=\"%.9g %.9g %.9g\" pos=\"%.9g %.9g %.9g\"/>",
            x ? 0.1 : half + 0.2, x ? half + 0.2 : 0.1, high, x ? at : 0, x ? 0 : at, high);
  }
  for (int k = 0; k < n; k++) {
    double jitter[3], quat[4];
    djv_uniforms(jitter, 3, r, -0.05 * largest, 0.05 * largest);
    djv_randomQuat(r, quat);
    djv_put(&t, "<body pos=\"%.9g %.9g %.9g\" quat=\"%.9g %.9g %.9g %.9g\"><freejoint/>",
            (k % side + 0.5) * cell - half + jitter[0],
            (k / side % side + 0.5) * cell - half + jitter[1],
            (k / side / side + 0.7) * cell + jitter[2], quat[0], quat[1], quat[2], quat[3]);
    putGeom(&t, r, k, type[k], scale[k]);
    djv_put(&t, "</body>");
  }
  djv_put(&t, "</worldbody></mujoco>");
  return t;
}

static void writeCrowd(const char* folder, int k, const djvText* t, const double* qvel, int nv) {
  char path[600];
  snprintf(path, sizeof path, "%s/crowd%d.xml", folder, k);
  FILE* file = fopen(path, "w");
  if (!file || fputs(t->text, file) < 0 || fclose(file)) djv_fail("%s: cannot be written", path);
  snprintf(path, sizeof path, "%s/crowd%d_qvel.txt", folder, k);
  if (!(file = fopen(path, "w"))) djv_fail("%s: cannot be written", path);
  for (int i = 0; i < nv; i++) fprintf(file, "%.17g ", qvel[i]);
  fclose(file);
}

static void runCrowd(Tally* t, Sim* s, const double* qvel, int steps, const char* name,
                     bool loud) {
  memcpy(s->qvel, qvel, (size_t)s->nv * sizeof *qvel);
  t->runs++;
  for (int k = 0; k < steps; k++) {
    double start = def_clock();
    bool good = sim_step(s), unconverged = false;
    t->seconds += def_clock() - start;
    t->steps++;
    if (!good) {
      djv_note("%s, column %d, step %d: %s", name, s->column, k,
               s->error.text[0] ? s->error.text : "not finite");
      t->failed++;
      return;
    }
    int n = sim_iterations(s, &unconverged);
    t->iterations += n;
    t->most = n > t->most ? n : t->most;
    t->unconverged += unconverged;
    if (s->column != OURS) continue;
    t->residual = djv_worst(t->residual, s->data->stats.residual);
    t->slow += n > 60;
    if (unconverged || (n > 60 && loud)) {
      djv_note("%s (%d bodies), step %d: %d iterations, residual %.3g of %.3g", name, s->nv / 6,
               k, n, s->data->stats.residual, s->model->opt.tolerance);
    }
  }
}

static void show(const char* label, const Tally t[NCOLUMN]) {
  static const char* const name[] = {"ours", "stock", "best"};
  djv_note("%s", label);
  for (int c = 0; c < NCOLUMN; c++) {
    if (!t[c].steps) continue;
    double n = (double)t[c].steps;
    djv_note("  %-6s %5ld %8ld %12.3g %8ld %8d %9.2f %10.1f %10.2g %6ld", name[c], t[c].runs,
             t[c].steps, (double)t[c].unconverged / n, t[c].slow, t[c].most,
             (double)t[c].iterations / n, 1e6 * t[c].seconds / n, t[c].residual, t[c].failed);
  }
}

static void add(Tally* sum, const Tally* t) {
  sum->runs += t->runs;
  sum->steps += t->steps;
  sum->unconverged += t->unconverged;
  sum->failed += t->failed;
  sum->slow += t->slow;
  sum->iterations += t->iterations;
  sum->seconds += t->seconds;
  sum->most = t->most > sum->most ? t->most : sum->most;
  sum->residual = djv_worst(sum->residual, t->residual);
}

static mjModel* load(const char* path) {
  char text[1000] = "";
  mjModel* m = mj_loadXML(path, NULL, text, sizeof text);
  if (m) return m;
  djv_fail("%s: %s", path, text);
}

// The crowds that once fell short, where their files are given: DIJOCO_CROWDS names the folder.
static void runGiven(Program* p) {
  static const char* const name[] = {"pen13_21", "pen31_23"};
  const char* folder = getenv("DIJOCO_CROWDS");
  for (int i = 0; i < 2 && folder; i++) {
    char path[1000];
    double qvel[6 * 60];
    Tally t[NCOLUMN] = {{0}};
    djError err;
    snprintf(path, sizeof path, "%.900s/%s.xml", folder, name[i]);
    mjModel* m = load(path);
    snprintf(path, sizeof path, "%.900s/%s_qvel.txt", folder, name[i]);
    if (m->nv > 6 * 60 || dj_readNumbers(qvel, (int)m->nv, path, &err) < 0) {
      djv_fail("%s: %s", path, err.text);
    }
    for (int c = 0; c < NCOLUMN; c++) {
      Sim s;
      sim_open(&s, m, (Column)c, 0.005, p);
      runCrowd(&t[c], &s, qvel, STEPS, name[i], p->only >= 0);
      sim_close(&s);
    }
    show(name[i], t);
    mj_deleteModel(m);
  }
}

void def_crowd(Program* p) {
  // bodies, of each band
  static const int low[NBAND] = {5, 15, 30}, high[NBAND] = {14, 29, 60};
  static const char* const label[] = {"5 to 14 bodies", "15 to 29", "30 to 60"};
  Tally t[NBAND][NCOLUMN] = {{{0}}}, all[NCOLUMN] = {{0}};
  int runs = p->runs ? p->runs : p->quick ? 3 : 60, steps = p->quick ? 60 : STEPS;
  djv_title("Crowds: mixed bodies in a pen, 5 ms, %d steps each", steps);
  djv_note("  %-6s %5s %8s %12s %8s %8s %9s %10s %10s %6s", "", "runs", "steps", "unconverged",
           "> 60 it", "worst it", "mean it", "us a step", "residual", "failed");
  runGiven(p);
  for (int k = 0; k < runs; k++) {
    if (p->only >= 0 && k != p->only) continue;
    djvRandom r = djv_random(1000 + (uint64_t)k);
    int band = k % NBAND, n = djv_integer(&r, low[band], high[band]);
    djvText text = makeCrowd(&r, n);
    double qvel[6 * 60];
    char name[30];
    for (int i = 0; i < n; i++) {
      djv_uniforms(qvel + 6 * i, 3, &r, -3, 3);
      djv_uniforms(qvel + 6 * i + 3, 3, &r, -8, 8);
    }
    snprintf(name, sizeof name, "crowd %d", k);
    if (p->only >= 0 && p->write) writeCrowd(p->write, k, &text, qvel, 6 * n);
    mjModel* m = robot_compile(text.text);
    for (int c = 0; c < NCOLUMN; c++) {
      if (c != OURS && k >= 9 && p->only < 0) continue;   // MuJoCo: a few, for time
      Sim s;
      sim_open(&s, m, (Column)c, 0.005, p);
      runCrowd(&t[band][c], &s, qvel, steps, name, p->only >= 0);
      sim_close(&s);
    }
    mj_deleteModel(m);
    free(text.text);
  }
  for (int b = 0; b < NBAND; b++) {
    show(label[b], t[b]);
    for (int c = 0; c < NCOLUMN; c++) add(&all[c], &t[b][c]);
  }
  show("all", all);
  if (!all[OURS].steps) djv_fail("--only %d: there are %d runs", p->only, runs);
  def_check(p, "crowd: unconverged steps", (double)all[OURS].unconverged / (double)all[OURS].steps);
  def_check(p, "crowd: share of steps above 60 iterations",
            (double)all[OURS].slow / (double)all[OURS].steps);
  def_check(p, "crowd: worst iterations", all[OURS].most);
}
