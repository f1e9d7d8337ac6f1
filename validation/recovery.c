// Starts that overlap: pairs of geoms that share 20-80 % of their inner radii, coincident ones, and
// heaps of overlapping bodies on a floor, can be stepped, and come apart slowly.

#include "common/convex.h"
#include "common/report.h"
#include "common/vec3.h"

#include <stdio.h>
#include <string.h>

#define NTYPE 4

static const char* const kType[NTYPE] = {"sphere", "capsule", "box", "hull"};

typedef struct Totals {
  long runs, steps, failed, unconverged, notfinite, stuck;
  double speed;              // relative speed of the bodies, in units of range/h
  double slowest;            // steps until apart, times range / depth
  double residual;
} Totals;

// Adds a geom of a type, with inner radius about `size`.
static double addGeom(djvScene* s, djvRandom* r, int body, int type, double size) {
  const double box[3] = {size, 1.2 * size, 1.5 * size}, capsule[3] = {size, size, 0};
  djvHull hull;
  const double scale[3] = {1.3 * size, 1.5 * size, 1.7 * size};
  switch (type) {
    case 0: djv_addGeom(s, body, DJ_SPHERE, box, NULL, NULL); break;
    case 1: djv_addGeom(s, body, DJ_CAPSULE, capsule, NULL, NULL); break;
    case 2: djv_addGeom(s, body, DJ_BOX, box, NULL, NULL); break;
    default:
      djv_makeHull(&hull, r, djv_integer(r, 6, 30));
      djv_scaleHull(&hull, &hull, scale);
      djv_addHull(s, body, &hull, NULL, NULL);
  }
  djvGeomShape shape;
  djv_geomShape(&shape, s, s->def.ngeom - 1);
  return shape.inner;
}

static bool isFinite(const djModel* m, const djData* d) {
  for (int i = 0; i < m->nv; i++) {
    if (!isfinite(d->qvel[i])) return false;
  }
  return true;
}

static void count(Totals* t, djStatus status, const djModel* m, const djData* d,
                  const char* what, double h) {
  t->steps++;
  if (status == DJ_NOT_CONVERGED) t->unconverged++;
  if (status < 0 && t->failed++ < 3) djv_note("%s, %g ms: %s", what, 1e3 * h, dj_errorText(d));
  if (!isFinite(m, d)) t->notfinite++;
}

// ------------------------------------------ pairs ----------------------------------------------

// Two bodies without gravity at centre distance (1 - f) of the sum of their inner radii. Stepped
// until nothing recovers; then the bodies drift apart or rest.
static void runPair(Totals* t, djvRandom* r, int ta, int tb, double f, double h, bool aligned) {
  static djvScene s;
  djvRandom keep = *r;
  double zero[3] = {0, 0, 0}, pos[3], qa[4], qb[4], dir[4], inner[2];
  const double one[4] = {1, 0, 0, 0};
  djv_startScene(&s, h);
  s.def.option.gravity[2] = 0;
  djv_randomQuat(r, qa);
  djv_randomQuat(r, qb);
  djv_randomQuat(r, dir);
  djv_addFree(&s, zero, aligned ? one : qa);
  djv_addFree(&s, zero, aligned ? one : qb);
  keep = *r;
  inner[0] = addGeom(&s, r, 1, ta, 0.05);
  if (aligned) *r = keep;                   // the same hull twice
  inner[1] = addGeom(&s, r, 2, tb, 0.05);
  double n = djv_norm(dir);
  for (int k = 0; k < 3; k++) pos[k] = n > 0 ? dir[k] / n * (1 - f) * (inner[0] + inner[1]) : 0;
  memcpy(s.body[2].pos, pos, sizeof pos);
  djv_setDensity(&s, 1000);
  djModel* m;
  djData* d;
  djv_make(&m, &d, &s);
  char what[80];
  snprintf(what, sizeof what, "%s and %s, %g %%", kType[ta], kType[tb], 100 * f);
  double range = m->contact.range, depth = inner[0] + inner[1], v[3];
  int limit = (int)(20 * depth / range) + 100, apart = -1;
  for (int k = 0; k < limit && apart < 0; k++) {
    djStatus status = dj_step(m, d);
    count(t, status, m, d, what, h);
    if (status < 0) break;
    djv_sub(v, d->qvel + 6, d->qvel);
    t->speed = djv_worst(t->speed, djv_norm(v) * h / range);
    bool recovering = false;
    for (int i = 0; i < d->npair; i++) recovering = recovering || d->pair[i].recovering;
    if (!recovering) apart = k;
  }
  if (apart < 0) {
    if (t->stuck++ < 3) djv_note("%s, %g ms: still overlaps after %d steps", what, 1e3 * h, limit);
  } else {
    t->slowest = djv_worst(t->slowest, apart * range / depth);
  }
  t->runs++;
  t->residual = djv_worst(t->residual, d->stats.worst_residual);
  dj_deleteData(d);
  dj_deleteModel(m);
}

static void printTotals(djvReport* r, const Totals* t, double most_speed) {
  djv_countOf(r, "refused steps", t->failed, 0, t->steps);
  djv_countOf(r, "steps with NaN or infinity", t->notfinite, 0, t->steps);
  djv_below(r, "unconverged steps", 100.0 * (double)t->unconverged / (double)t->steps, 0.1, "%");
  djv_countOf(r, "runs that did not come apart", t->stuck, 0, t->runs);
  djv_figure(r, "runs that overlap at the end", (double)t->stuck, "");
  djv_figure(r, "unconverged", 100.0 * (double)t->unconverged / (double)t->steps, "%");
  if (most_speed > 0) {
    djv_below(r, "largest relative speed / (range/h)", t->speed, most_speed, "");
  }
  djv_note("%ld runs, %ld steps; worst residual %.3g", t->runs, t->steps, t->residual);
}

static void checkPairs(djvReport* r, bool quick) {
  const double steps[] = {0.0002, 0.001, 0.002, 0.005, 0.01};
  djvRandom random = djv_random(7);
  for (int i = quick ? 2 : 0; i < (quick ? 4 : 5); i++) {
    Totals t = {0};
    djv_title("Pairs without gravity, overlap 20-100 %% of the inner radii, step %g ms",
              1e3 * steps[i]);
    for (int ta = 0; ta < NTYPE; ta++) {
      for (int tb = ta; tb < NTYPE; tb++) {
        for (int k = 0; k < (quick ? 2 : 8); k++) {
          double f = k == 0 ? 1 : djv_uniform(&random, 0.2, 0.8);
          runPair(&t, &random, ta, tb, f, steps[i], false);
          if (ta == tb) runPair(&t, &random, ta, tb, f, steps[i], true);
        }
      }
    }
    printTotals(r, &t, 0.5);
    djv_note("slowest: %.3g steps for each range of depth", t.slowest);
  }
}

// ------------------------------------------ heaps ----------------------------------------------

static void runHeap(Totals* t, djvRandom* r, double h, double* fastest, double* overlap) {
  static djvScene s;
  int n = djv_integer(r, 3, 8);
  djv_startScene(&s, h);
  djv_addFloor(&s);
  for (int b = 0; b < n; b++) {
    double pos[3], quat[4];
    for (int k = 0; k < 2; k++) pos[k] = djv_uniform(r, -0.06, 0.06);
    pos[2] = djv_uniform(r, 0, 0.2);
    djv_randomQuat(r, quat);
    int body = djv_addFree(&s, pos, quat);
    double size = djv_uniform(r, 0.03, 0.06);
    addGeom(&s, r, body, djv_integer(r, 0, NTYPE - 1), size);
  }
  djv_setDensity(&s, 1000);
  djModel* m;
  djData* d;
  djv_make(&m, &d, &s);
  for (int k = 0; k < (int)lround(3 / h); k++) {
    djStatus status = dj_step(m, d);
    count(t, status, m, d, "heap", h);
    if (status < 0) break;
    for (int b = 0; b < n; b++) {
      *fastest = djv_worst(*fastest, djv_norm(d->qvel + 6 * b));
    }
  }
  bool recovering = false;
  for (int i = 0; i < d->npair; i++) recovering = recovering || d->pair[i].recovering;
  t->stuck += recovering;
  *overlap = djv_worst(*overlap, d->stats.overlap / m->contact.range);
  t->runs++;
  t->residual = djv_worst(t->residual, d->stats.worst_residual);
  dj_deleteData(d);
  dj_deleteModel(m);
}

static void checkHeaps(djvReport* r, bool quick) {
  const double steps[] = {0.002, 0.005};
  djvRandom random = djv_random(11);
  for (int i = quick ? 1 : 0; i < 2; i++) {
    Totals t = {0};
    double fastest = 0, overlap = 0;
    djv_title("Heaps of 3-8 overlapping bodies on and in a floor, 3 s, step %g ms", 1e3 * steps[i]);
    for (int k = 0; k < (quick ? 10 : 60); k++) {
      runHeap(&t, &random, steps[i], &fastest, &overlap);
    }
    printTotals(r, &t, 0);
    // They start up to 0.2 m above the floor, where falling gives 2 m/s.
    djv_below(r, "fastest body", fastest, 3, "m/s");
    djv_note("deepest overlap at the end %.3g ranges (of true geoms)", overlap);
  }
}

int main(int argc, char** argv) {
  bool quick = djv_isQuick(argc, argv);
  djvReport r = {0};
  checkPairs(&r, quick);
  checkHeaps(&r, quick);
  return djv_finish(&r);
}
