// What slides out of an overlap is braked by Coulomb's friction, and by no more: by mu times the
// impulse that has been passed along the normal, a step late. All of that is in the velocities.

#include "common/make_model.h"
#include "common/random.h"
#include "common/scene.h"
#include "common/states.h"
#include "common/test.h"

static const double g = 9.81, mu = 0.5;

typedef struct Way {
  djIntegrator integrator;
  double most; // m g h; by how much friction may be above the law, beside the step's lag
} Way;

// Of a geom .1 m large, `depth` inside of a plane or of a box, at 1 m/s along x.
static djModel* makeSlide(djGeomType type, bool on_box, double depth, double h, const Way* way) {
  Scene* s = newScene(1);
  djGeomDef* floor = addGeom(s, 0, on_box ? DJ_BOX : DJ_PLANE, 3, 3, 0.1);
  if (on_box) floor->pos[2] = -0.1;
  int b = addBody(s, 0, DJ_FREE, 0, 0, 0.05 - depth, 1, 0.06);
  djGeomDef* own = addGeom(s, b, type, 0.05, 0.05, 0.05);
  floor->friction[0] = own->friction[0] = mu;
  s->def.option.timestep = h;
  s->def.option.integrator = way->integrator;
  return takeScene(s);
}

// The most that friction's impulse is above what it may be, of all times, m/s; the time to v = .1.
static double slide(double* stopped, djModel* m) {
  djData* d = sceneData(m);
  double h = m->opt.timestep, most = 0, normal = 0, v = 1;
  *stopped = INFINITY;
  d->qvel[0] = v;
  for (int k = 0; k * h < 0.3; k++) {
    double vz = d->qvel[2];
    assert_true(dj_step(m, d) >= 0);
    double push = d->qvel[2] - vz + g * h;
    normal += push;
    // a step late, the first by what the overlap presses with, at most the weight
    double may = mu * (normal - push + fmax(push, g * h));
    most = fmax(most, v - d->qvel[0] - may);
    if (d->qvel[0] < 0.1 && !(*stopped < INFINITY)) *stopped = (k + 1) * h;
  }
  djt_delete(m, d);
  return most;
}

typedef struct Found {
  double most, soonest, latest; // m g h; s, of boxes
} Found;

static void slideOne(Found* f, djGeomType type, bool on_box, double depth, double h,
                     const Way* way) {
  if (depth < 0.4 * fmin(0.3 * h, 2e-3)) return;   // hardly recovers: pressed by its own state
  double stopped, more = slide(&stopped, makeSlide(type, on_box, depth, h, way)) / (mu * g * h);
  if (more > way->most) print_message("%d on %d, %g m, %g s: %g\n", type, on_box, depth, h, more);
  f->most = fmax(f->most, more);
  if (type != DJ_BOX) return;
  f->soonest = fmin(f->soonest, stopped);
  f->latest = fmax(f->latest, stopped);
}

static void testCoulomb(void** state) {
  const Way* way = *state;
  static const double depth[5] = {1e-4, 3e-4, 1e-3, 2e-3, 5e-3};
  static const double step[5] = {5e-4, 1e-3, 2e-3, 5e-3, 1e-2};
  static const djGeomType type[3] = {DJ_BOX, DJ_SPHERE, DJ_CYLINDER};
  Found f = {0, INFINITY, 0};
  for (int i = 0; i < 150; i++) {
    slideOne(&f, type[i % 3], i / 75, depth[i / 15 % 5], step[i / 3 % 5], way);
  }
  djRng rng = {3}; // overlaps end anywhere on the way to the barrier's onset
  for (int i = 0; i < 150; i++) {
    double deep = 1e-4 * pow(50, djt_uniform(&rng, 0, 1)),
           h = 1e-3 * pow(10, djt_uniform(&rng, 0, 1));
    slideOne(&f, type[i % 3], i % 2, deep, h, way);
  }
  print_message("%s: most %.2f m g h, boxes slow down in %.3f to %.3f s, law %.3f\n",
                dj_integratorName(way->integrator), f.most, f.soonest, f.latest, 0.9 / (mu * g));
  assert_true(f.most < way->most);
  assert_true(f.soonest > 0.9 * 0.9 / (mu * g) && f.latest < 1.2 * 0.9 / (mu * g));
}

DJT_MAIN_ROWS(djt_of(testCoulomb, Way, DJ_EULER, 1.5), djt_of(testCoulomb, Way, DJ_POSITION, 1.5))
