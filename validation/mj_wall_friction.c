// Two boards tip against a wall: from the scene's start and from keyframe "spin", in both engines.
// Both come to rest leaning, at the same angles.

#include "common/mj_scene.h"
#include "common/vec3.h"

#include <stdlib.h>

#define SECONDS 10.0
#define NBOARD 2

typedef struct Curve {
  long n;
  double* angle[NBOARD];     // of the boards about y, at the start and after every step
  double fastest;            // largest |qvel| at the end
  double rest;               // time of the last larger |qvel| than 0.05
  double gap[NBOARD];        // board 1 to the wall, board 2 to board 1, at the end
} Curve;

static double angleOf(const double* qpos, int board) {
  double R[9];
  djv_quatToMat(R, qpos + 7 * board + 3);
  return djv_angleY(R);
}

static double largestSpeed(const double* qvel, int nv) {
  double most = 0;
  for (int i = 0; i < nv; i++) most = djv_worst(most, fabs(qvel[i]));
  return most;
}

static void record(Curve* c, const djModel* m, const double* qpos, const double* qvel,
                   double time) {
  for (int b = 0; b < NBOARD; b++) c->angle[b][c->n] = angleOf(qpos, b);
  c->n++;
  c->fastest = largestSpeed(qvel, m->nv);
  if (c->fastest >= 0.05) c->rest = time;
}

// A geom's own shape at the poses of qpos.
static djcShape shapeOf(const djModel* m, const char* geom, const double* qpos) {
  int g = dj_name2id(m, DJ_OBJ_GEOM, geom), body = m->geom_body[g];
  djcShape s = {.geom = DJ_BOX};
  const double* q = body > 0 ? qpos + 7 * (body - 1) : NULL;
  for (int k = 0; k < 3; k++) {
    s.size[k] = m->geom_size[3 * g + k];
    s.pos[k] = s.origin[k] = q ? q[k] : m->geom_pos[3 * g + k];
  }
  for (int k = 0; k < 4; k++) s.quat[k] = q ? q[3 + k] : m->geom_quat[4 * g + k];
  return s;
}

static void measureGaps(Curve* c, const djModel* m, const double* qpos) {
  const djcShape s[3] = {shapeOf(m, "wall", qpos), shapeOf(m, "board1", qpos),
                         shapeOf(m, "board2", qpos)};
  for (int k = 0; k < NBOARD; k++) {
    double normal[3], a[3], b[3];
    if (djc_distance(&c->gap[k], normal, a, b, &s[k], &s[k + 1])) c->gap[k] = NAN;
  }
}

static void startCurve(Curve* c, long nstep) {
  *c = (Curve){0};
  for (int b = 0; b < NBOARD; b++) {
    c->angle[b] = calloc((size_t)nstep + 1, sizeof(double));
    if (!c->angle[b]) djv_fail("out of memory");
  }
}

static void runBoth(Curve curve[2], djvBoth* both, int key, long nstep) {
  const djModel* m = both->model;
  djData* d = both->data;
  djStock* s = both->stock;
  djError err;
  djStatus status = key < 0 ? dj_resetData(m, d) : dj_resetKey(m, d, key);
  if (status || dj_resetStock(s, key, &err)) djv_fail("wall_friction: no start");
  for (int e = 0; e < 2; e++) startCurve(&curve[e], nstep);
  record(&curve[0], m, d->qpos, d->qvel, 0);
  record(&curve[1], m, s->d->qpos, s->d->qvel, 0);
  for (long k = 1; k <= nstep; k++) {
    double time = (double)k * m->opt.timestep;
    if (dj_step(m, d) < 0) djv_fail("DiJoCo: %s", dj_errorText(d));
    if (dj_stepStock(s, NULL, &err)) djv_fail("MuJoCo: %s", err.text);
    record(&curve[0], m, d->qpos, d->qvel, time);
    record(&curve[1], m, s->d->qpos, s->d->qvel, time);
  }
  measureGaps(&curve[0], m, d->qpos);
  measureGaps(&curve[1], m, s->d->qpos);
}

static void printCurves(const Curve curve[2], double h, long nstep) {
  djv_note("%6s %12s %12s %12s %12s", "time", "1, DiJoCo", "1, MuJoCo", "2, DiJoCo", "2, MuJoCo");
  const double at[] = {0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.2, 1.5, 2, 3, 5, 10};
  for (size_t i = 0; i < sizeof at / sizeof at[0]; i++) {
    long k = lround(at[i] / h);
    if (k > nstep) break;
    djv_note("%6.2f %12.5f %12.5f %12.5f %12.5f", at[i], curve[0].angle[0][k],
             curve[1].angle[0][k], curve[0].angle[1][k], curve[1].angle[1][k]);
  }
}

static void checkStart(djvReport* r, djvBoth* both, int key, const char* name) {
  const char* engine[2] = {"DiJoCo", "MuJoCo"};
  double h = both->model->opt.timestep;
  long nstep = lround(SECONDS / h);
  Curve curve[2];
  char text[100];
  runBoth(curve, both, key, nstep);
  djv_title("Wall friction, %s: angles of the boards about y (rad)", name);
  printCurves(curve, h, nstep);
  for (int e = 0; e < 2; e++) {
    const Curve* c = &curve[e];
    for (int b = 0; b < NBOARD; b++) {
      snprintf(text, sizeof text, "%s: board %d turned by", engine[e], b + 1);
      djv_above(r, text, fabs(c->angle[b][nstep] - c->angle[b][0]), 0.15, "rad");
    }
    for (int b = 0; b < NBOARD; b++) {
      snprintf(text, sizeof text, "%s: gap of %s at the end", engine[e],
               b ? "the boards" : "board 1 and wall");
      djv_below(r, text, 1e3 * fabs(c->gap[b]), 1, "mm");
    }
    snprintf(text, sizeof text, "%s: largest |qvel| at the end", engine[e]);
    djv_below(r, text, c->fastest, 0.05, "");
    djv_note("(below 0.05 from %.3g s on)", c->rest + h);
  }
  for (int b = 0; b < NBOARD; b++) {
    double mean = 0;
    for (long k = 0; k <= nstep; k++) {
      mean += fabs(curve[0].angle[b][k] - curve[1].angle[b][k]) / (double)(nstep + 1);
    }
    snprintf(text, sizeof text, "board %d: difference of final angles", b + 1);
    djv_below(r, text, fabs(curve[0].angle[b][nstep] - curve[1].angle[b][nstep]), 0.02, "rad");
    snprintf(text, sizeof text, "board %d: mean difference of the curves", b + 1);
    djv_below(r, text, mean, 0.05, "rad");
    djv_figure(r, "difference of final angles",
               fabs(curve[0].angle[b][nstep] - curve[1].angle[b][nstep]), "rad");
  }
  djv_count(r, "DiJoCo: unconverged steps", both->data->stats.unconverged_steps, 0);
  djv_note("%.2f Newton iterations a step",
           (double)both->data->stats.newton_iterations / (double)nstep);
  for (int e = 0; e < 2; e++) {
    for (int b = 0; b < NBOARD; b++) free(curve[e].angle[b]);
  }
}

int main(int argc, char** argv) {
  djv_isQuick(argc, argv);
  djvReport r = {0};
  djvBoth both;
  djv_loadBoth(&both, "wall_friction");
  checkStart(&r, &both, -1, "plain start");
  checkStart(&r, &both, dj_name2id(both.model, DJ_OBJ_KEY, "spin"), "keyframe \"spin\"");
  djv_freeBoth(&both);
  return djv_finish(&r);
}
