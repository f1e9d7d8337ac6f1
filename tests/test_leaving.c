// What slides out of an overlap is braked by Coulomb's friction, and by no more: by mu times the
// impulse that has been passed along the normal, a step late. All of that is in the velocities.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/scene.h"

#include <math.h>

static const double g = 9.81, mu = 0.5;

typedef struct Way {
  djIntegrator integrator;
  double most;             // m g h; by how much friction may be above the law, beside the step's lag
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
  djModel* m = sceneModel(s);
  freeScene(s);
  return m;
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
  dj_deleteData(d);
  dj_deleteModel(m);
  return most;
}

static void testCoulomb(void** state) {
  const Way* way = *state;
  static const double depth[5] = {1e-4, 3e-4, 1e-3, 2e-3, 5e-3};
  static const double step[5] = {5e-4, 1e-3, 2e-3, 5e-3, 1e-2};
  static const djGeomType type[3] = {DJ_BOX, DJ_SPHERE, DJ_CYLINDER};
  double most = 0, soonest = INFINITY, latest = 0;
  for (int i = 0; i < 150; i++) {
    djGeomType shape = type[i % 3];
    bool on_box = i / 75;
    double stopped, h = step[i / 3 % 5], deep = depth[i / 15 % 5];
    double more = slide(&stopped, makeSlide(shape, on_box, deep, h, way)) / (mu * g * h);
    if (more > 1.5) print_message("%d on %d, %g m, %g s: %g\n", shape, on_box, deep, h, more);
    most = fmax(most, more);
    if (shape != DJ_BOX) continue;
    soonest = fmin(soonest, stopped);
    latest = fmax(latest, stopped);
  }
  print_message("%s: most %.2f m g h, boxes slow down in %.3f to %.3f s, law %.3f\n",
                dj_integratorName(way->integrator), most, soonest, latest, 0.9 / (mu * g));
}

int main(void) {
  Way way[] = {{DJ_EULER, 1.5}, {DJ_POSITION, 1.5}};
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_prestate(testCoulomb, &way[0]),
      cmocka_unit_test_prestate(testCoulomb, &way[1]),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
