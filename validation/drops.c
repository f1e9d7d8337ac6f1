// Ten thousand random drops of geoms of all types on a floor, with the default skin or one of
// --skin D metres; --integrator NAME, --first K --count N (some of the drops).
//
// After every step the contact shapes (geoms less their skin; of a pair that recovers, less the
// further erosion that it got for the step) are tested for overlap by code that shares nothing with
// the library: an axis on which they lie apart is a proof.

#include "common/convex.h"
#include "common/report.h"
#include "common/vec3.h"

#include <stdio.h>
#include <string.h>

#define RECOVERY_GAP 0.8      // of the range: nearer pairs recover in the next step
#define RECOVERY_FLOOR 0.6
#define NHULL 57              // with 4..60 vertices

typedef struct Totals {
  long scenes, steps, unconverged, damped, failed, notfinite, fallen, iterations;
  long pairs, overlaps, recovering, deep, listed;
  long bodies;                // looked at, over all steps
  double smallest;            // gap of contact shapes, as a part of the range
  double disagree;            // the library's distances out of our bounds, as a part of the range
  double width;               // of our bounds
  double sunk;                // depth of true geoms in the floor beyond their erosion / range
  double deepest;             // depth of true geoms in the floor
  double lowest;              // centre of a body
  double residual;
} Totals;

typedef struct Options {
  djIntegrator integrator;
  double skin;                // metres; negative: default
  long first, count;
} Options;

typedef struct Drop {
  djvScene scene;
  djModel* model;
  djData* data;
  djvGeomShape shape[DJV_MAX_GEOM];
  djvConvex placed[DJV_MAX_GEOM];            // contact shapes at the present state
  double erosion[DJV_MAX_GEOM][DJV_MAX_GEOM];  // of the pair in the coming step, 0: none
  bool skip[DJV_MAX_GEOM][DJV_MAX_GEOM];     // depth of the coming step not known here
} Drop;

// ------------------------------------------ scenes ---------------------------------------------

static void addRandomGeom(djvScene* s, djvRandom* r, const djvHull* hulls, int body,
                          double scale, bool centred) {
  double pos[3] = {0, 0, 0}, quat[4] = {1, 0, 0, 0}, size[3];
  if (!centred) {
    for (int k = 0; k < 3; k++) pos[k] = djv_uniform(r, -scale, scale);
    djv_randomQuat(r, quat);
  }
  for (int k = 0; k < 3; k++) size[k] = scale * djv_uniform(r, 0.3, 1);
  djGeomDef* g = NULL;
  switch (djv_integer(r, 0, 6)) {
    case 0: g = djv_addGeom(s, body, DJ_SPHERE, size, pos, quat); break;
    case 1: g = djv_addGeom(s, body, DJ_CAPSULE, size, pos, quat); break;
    case 2: g = djv_addGeom(s, body, DJ_BOX, size, pos, quat); break;
    case 3: g = djv_addGeom(s, body, DJ_ELLIPSOID, size, pos, quat); break;
    case 4: g = djv_addGeom(s, body, DJ_CYLINDER, size, pos, quat); break;
    default: {
      djvHull hull;
      djv_scaleHull(&hull, &hulls[djv_integer(r, 0, NHULL - 1)], size);
      g = djv_addHull(s, body, &hull, pos, quat);
    }
  }
  g->friction[0] = djv_uniform(r, 0.2, 1);
}

// Bodies at random places, their bounding balls (of radius 3 scale or 1.75 scale) apart.
static void buildDrop(djvScene* s, djvRandom* r, const djvHull* hulls, double skin) {
  int n = djv_integer(r, 3, 8);
  double centre[8][3], radius[8];
  djv_startScene(s, 0.005);
  s->def.option.skin = skin;
  djv_addFloor(s)->friction[0] = djv_uniform(r, 0.2, 1);
  for (int b = 0; b < n; b++) {
    bool several = djv_uniform(r, 0, 1) < 0.3;
    double scale = djv_uniform(r, 0.03, 0.12), quat[4], high = 0.3;
    radius[b] = scale * (several ? 3.7 : 2);
    djv_randomQuat(r, quat);
    for (bool ok = false; !ok; high += 0.01) {
      centre[b][0] = djv_uniform(r, -0.2, 0.2);
      centre[b][1] = djv_uniform(r, -0.2, 0.2);
      centre[b][2] = radius[b] + djv_uniform(r, 0, high);
      ok = true;
      for (int i = 0; i < b && ok; i++) ok = djv_dist(centre[i], centre[b]) > radius[i] + radius[b];
    }
    int body = djv_addFree(s, centre[b], quat);
    int count = several ? djv_integer(r, 2, 3) : 1;
    for (int g = 0; g < count; g++) addRandomGeom(s, r, hulls, body, scale, !several);
  }
  djv_setDensity(s, 1000);
}

// ------------------------------------------ checks ---------------------------------------------

static void place(djvConvex* out, const Drop* d, int geom, double more) {
  double skin = d->model->geom_skin[geom];
  if (isinf(skin)) skin = 0;   // see otherSkin
  double e = d->shape[geom].type == DJ_PLANE
                 ? more : fmin(more, fmax(0.95 * d->shape[geom].inner - skin, 0));
  djv_placeShape(out, &d->shape[geom], skin + e, d->data->geom_xpos + 3 * geom,
                 d->data->geom_xmat + 9 * geom);
}

// A plane is by default as much thinner as the other geom of a pair.
static double otherSkin(const Drop* d, int a, int b) {
  const double* skin = d->model->geom_skin;
  return isinf(skin[a]) ? skin[b] : isinf(skin[b]) ? skin[a] : 0;
}

static double pairGap(const Drop* d, int a, int b, double more, double axis[3]) {
  djvConvex A, B;
  double thinner = otherSkin(d, a, b);
  if (more == 0) return thinner + djv_separation(axis, &d->placed[a], &d->placed[b]);
  bool plane = d->shape[a].type == DJ_PLANE;
  place(&A, d, a, more);
  place(&B, d, b, plane ? 0 : more);
  return thinner + djv_separation(axis, &A, &B);
}

// Erosion of a pair that is nearer than 0.8 of the range: gap(e) = g_eff range, by bisection.
static void setErosion(Drop* d, Totals* t, int a, int b, double gap) {
  double range = d->model->contact.range, axis[3], x = (gap / range - RECOVERY_GAP) / 0.2;
  double target = range * (RECOVERY_FLOOR + (RECOVERY_GAP - RECOVERY_FLOOR) / (1 - x + x * x));
  double low = 0, high = target - gap;
  d->skip[a][b] = gap <= 0;           // its depth would be needed: see `deep`
  if (gap <= 0) {
    t->deep++;
    return;
  }
  t->recovering++;
  for (int k = 0; k < 60; k++) {
    double e = 0.5 * (low + high);
    if (pairGap(d, a, b, e, axis) < target) low = e;
    else high = e;
  }
  d->erosion[a][b] = high;
}

// The library's distance of a pair, where it lists one that does not recover.
static void compareGaps(const Drop* d, Totals* t) {
  double axis[3];
  for (int i = 0; i < d->data->npair; i++) {
    const djContactPair* p = &d->data->pair[i];
    if (p->recovering) continue;
    int a = p->geom1 < p->geom2 ? p->geom1 : p->geom2, b = p->geom1 + p->geom2 - a;
    if (d->shape[b].type == DJ_PLANE) continue;
    double upper, lower = djv_bracket(&upper, axis, &d->placed[a], &d->placed[b]);
    double range = d->model->contact.range;
    lower += otherSkin(d, a, b);
    upper += otherSkin(d, a, b);
    t->listed++;
    t->disagree = djv_worst(t->disagree, fmax(lower - p->gap, p->gap - upper) / range);
    t->width = djv_worst(t->width, (upper - lower) / range);
  }
}

static void checkPairs(Drop* d, Totals* t) {
  int n = d->model->ngeom;
  double range = d->model->contact.range, axis[3];
  for (int g = 0; g < n; g++) place(&d->placed[g], d, g, 0);
  for (int a = 0; a < n; a++) {
    for (int b = a + 1; b < n; b++) {
      const djvConvex *A = &d->placed[a], *B = &d->placed[b];
      double before = d->erosion[a][b];
      bool skip = d->skip[a][b];
      d->erosion[a][b] = 0;
      d->skip[a][b] = false;
      if (d->model->geom_body[a] == d->model->geom_body[b]) continue;
      if (A->nvert && djv_dist(A->centre, B->centre) > A->bound + B->bound + range) continue;
      double gap = djv_separation(axis, A, B);
      t->pairs++;
      if (gap < range * RECOVERY_GAP) setErosion(d, t, a, b, gap);
      if (before > 0) gap = pairGap(d, a, b, before, axis);
      t->smallest = fmin(t->smallest, gap / range);
      if (!(gap > 0) && !skip) t->overlaps++;
    }
  }
}

// Depth of a geom in the floor: of a cylinder its lower rim's, else that of its contact shape.
static double rimDepth(const Drop* d, int g, double depth) {
  const djvGeomShape* s = &d->shape[g];
  if (s->type != DJ_CYLINDER) return depth;
  double up = d->data->geom_xmat[9 * g + 8], h = s->vert[1][2] + s->axes[2];
  return h * fabs(up) + s->axes[0] * sqrt(fmax(1 - up * up, 0)) - d->data->geom_xpos[3 * g + 2];
}

// An erosion moves a corner by skin |m|, where facets move by skin: corners sink deeper. Edges of
// cylinders lie outside their contact shapes: their depth is only noted.
static void checkFloor(const Drop* d, Totals* t) {
  for (int g = 1; g < d->model->ngeom; g++) {
    djvConvex c;
    djv_placeShape(&c, &d->shape[g], 0, d->data->geom_xpos + 3 * g, d->data->geom_xmat + 9 * g);
    if (d->erosion[0][g] > 0 || d->skip[0][g]) continue;
    double skin = d->model->geom_skin[g], floor = d->model->geom_skin[0];
    if (isinf(floor)) floor = skin;   // the floor's is that of the other geom
    for (int i = 0; i < c.nvert; i++) {
      double depth = c.curved ? -djv_lowest(&c) : c.radius - c.vert[i][2];
      bool round = c.curved || d->shape[g].slope > 0;
      double most = round ? 1 : djv_norm(d->shape[g].move[i]);
      t->sunk = djv_worst(t->sunk, (depth - most * skin - floor) / d->model->contact.range);
      t->deepest = djv_worst(t->deepest, rimDepth(d, g, depth));
    }
  }
  for (int b = 1; b < d->model->nbody; b++) {
    double z = d->data->xipos[3 * b + 2];
    t->lowest = fmin(t->lowest, z);
    t->bodies++;
    if (!(z >= 0)) t->fallen++;
  }
}

static bool isFinite(const Drop* d) {
  for (int i = 0; i < d->model->nq; i++) {
    if (!isfinite(d->data->qpos[i])) return false;
  }
  for (int i = 0; i < d->model->nv; i++) {
    if (!isfinite(d->data->qvel[i])) return false;
  }
  return true;
}

static void runDrop(Drop* d, Totals* t, const Options* o, long seed, const djvHull* hulls,
                    int nstep) {
  djvRandom r = djv_random((uint64_t)seed);
  buildDrop(&d->scene, &r, hulls, o->skin);
  djv_make(&d->model, &d->data, &d->scene);
  d->model->opt.integrator = o->integrator;
  for (int g = 0; g < d->model->ngeom; g++) djv_geomShape(&d->shape[g], &d->scene, g);
  for (int i = 0; i < d->model->nv; i++) {
    d->data->qvel[i] = i % 6 < 3 ? djv_uniform(&r, -1, 1) : djv_uniform(&r, -5, 5);
  }
  memset(d->erosion, 0, sizeof d->erosion);
  memset(d->skip, 0, sizeof d->skip);
  dj_forward(d->model, d->data);
  checkPairs(d, t);
  t->scenes++;
  for (int k = 0; k < nstep; k++) {
    long overlaps = t->overlaps, fallen = t->fallen;
    djStatus status = dj_step(d->model, d->data);
    t->steps++;
    if (status < 0) {
      if (t->failed++ == 0) djv_note("drop %ld, step %d: %s", seed, k, dj_errorText(d->data));
      break;
    }
    if (status == DJ_NOT_CONVERGED && t->unconverged < 5) {
      djv_note("drop %ld, step %d: not converged in %d iterations, residual %.2g", seed, k,
               d->data->stats.iterations, d->data->stats.residual);
    }
    if (status == DJ_NOT_CONVERGED) t->unconverged++;
    if (!isFinite(d)) {
      t->notfinite++;
      break;
    }
    checkPairs(d, t);
    checkFloor(d, t);
    if (k % 10 == 0) compareGaps(d, t);
    if (t->overlaps > overlaps && overlaps < 5) djv_note("drop %ld, step %d: overlap", seed, k);
    if (t->fallen > fallen && fallen < 5) djv_note("drop %ld, step %d: below the floor", seed, k);
  }
  t->iterations += d->data->stats.newton_iterations;
  t->damped += d->data->stats.fallback_steps;
  t->residual = djv_worst(t->residual, d->data->stats.worst_residual);
  dj_deleteData(d->data);
  dj_deleteModel(d->model);
}

// ------------------------------------------ main -----------------------------------------------

static void checkDrops(djvReport* r, const Options* o) {
  static djvHull hulls[NHULL];
  static Drop drop;
  djvRandom random = djv_random(1);
  Totals t = {.smallest = INFINITY, .lowest = INFINITY, .sunk = -INFINITY,
              .disagree = -INFINITY};
  for (int i = 0; i < NHULL; i++) djv_makeHull(&hulls[i], &random, 4 + i);
  djv_title("%ld drops of 3-8 bodies (spheres, capsules, boxes, ellipsoids, cylinders, hulls "
            "of 4-60 vertices),\n200 steps of 5 ms, %s, skin %s", o->count,
            dj_integratorName(o->integrator), o->skin < 0 ? "by default" : "as given");
  for (long i = 0; i < o->count; i++) {
    runDrop(&drop, &t, o, o->first + i, hulls, 200);
    if ((i + 1) % 500 == 0) djv_note("%ld drops done", i + 1);
  }
  djv_note("%ld steps, %.2f Newton iterations each; %ld pairs tested, %ld of them in recovery",
           t.steps, (double)t.iterations / (double)t.steps, t.pairs, t.recovering);
  djv_note("%ld pairs whose skin-eroded shapes overlapped (their erosion is not repeated here)",
           t.deep);
  djv_note("smallest gap of contact shapes: %.3g of the range", t.smallest);
  djv_note("lowest centre of mass %.3g m; worst residual %.3g", t.lowest, t.residual);
  if (t.damped) djv_note("%ld fallback steps, taken by the position integrator", t.damped);
  djv_countOf(r, "overlapping contact shapes", t.overlaps, 0, t.pairs);
  djv_countOf(r, "bodies below the floor", t.fallen, 0, t.bodies);
  djv_countOf(r, "steps with NaN or infinity", t.notfinite, 0, t.steps);
  djv_countOf(r, "refused steps", t.failed, 0, t.steps);
  djv_below(r, "unconverged steps", 100.0 * (double)t.unconverged / (double)t.steps, 0.1, "%");
  djv_below(r, "depth of geoms in the floor beyond erosion / range", t.sunk, 0, "");
  djv_note("(deepest point of a geom, rims of cylinders included: %.3g mm)", 1e3 * t.deepest);
  djv_below(r, "distances here and in the library differ by / range", t.disagree, 1e-6, "");
  djv_figure(r, "drops", (double)o->count, "");
  djv_figure(r, "overlaps", (double)t.overlaps, "");
  djv_figure(r, "fallen", (double)t.fallen, "");
  djv_figure(r, "steps", (double)t.steps, "");
  djv_figure(r, "unconverged", 100.0 * (double)t.unconverged / (double)t.steps, "%");
  djv_note("(%ld listed pairs compared; bounds up to %.2g of the range apart, of curved shapes)",
           t.listed, t.width);
}

int main(int argc, char** argv) {
  Options o = {.integrator = djv_takeIntegrator(&argc, argv),
               .skin = djv_takeNumber(&argc, argv, "--skin", -1),
               .first = (long)djv_takeNumber(&argc, argv, "--first", 0),
               .count = (long)djv_takeNumber(&argc, argv, "--count", 0)};
  bool quick = djv_isQuick(argc, argv);
  if (o.count <= 0) o.count = quick ? 60 : 10000;
  djvReport r = {0};
  checkDrops(&r, &o);
  return djv_finish(&r);
}
