// Laws of similarity. A scene with all masses times c moves as before under forces times c. One
// with all lengths times l = k^2, watched at steps times k, moves as before with speeds times k, as
// gravity stays what it is; there the length scale is given, as for a scene in another unit.
// Newton's method takes as many steps and leaves the same relative residual. Where c is a power of
// 4 and k one of 2, every rounding is the same, and so is every bit.

#include "common/make_model.h"
#include "common/scene.h"
#include "common/states.h"
#include "common/test.h"

enum { NBODY = 6, STEPS = 120, NX = 13 * NBODY };

typedef struct Track {
  double x[STEPS][NX];
  double force[STEPS], gap[STEPS], residual[STEPS];
  double worst;
  int iterations[STEPS], recovering;
} Track;

// Unit of mass, length, time.
typedef struct Units {
  double c, l, k;
} Units;

static void setSpeeds(djData* d, double k) {
  for (int i = 0; i < NBODY; i++) {
    d->qvel[6 * i] = (0.3 + 0.1 * i) * k;
    d->qvel[6 * i + 2] = -1 * k;
    d->qvel[6 * i + 4] = (2 - i) / k;
  }
}

static void scaleLengths(Scene* s, djMeshDef* mesh, double* vert, double l) {
  for (int g = 0; g < s->def.ngeom; g++) {
    for (int k = 0; k < 3; k++) s->geom[g].size[k] *= l;
  }
  *mesh = s->def.mesh[0];
  for (int k = 0; k < 3 * mesh->nvert; k++) vert[k] = l * mesh->vert[k];
  mesh->vert = vert;
  s->def.mesh = mesh;
  for (int b = 1; b < s->def.nbody; b++) {
    for (int k = 0; k < 3; k++) s->body[b].inertia[k] *= l * l;
    for (int k = 0; k < 3; k++) s->body[b].pos[k] *= l;
    for (int k = 0; k < 3; k++) s->joint[b - 1].qpos0[k] *= l;
  }
}

// Bodies thrown at a floor; two of them start inside of it.
static void run(Track* t, djIntegrator integrator, const Units* u, bool given) {
  Scene* s = newMixedPile(NBODY);
  djMeshDef mesh;
  double vert[18];
  for (int b = 1; b < s->def.nbody; b++) {
    s->body[b].mass *= u->c;
    for (int k = 0; k < 3; k++) s->body[b].inertia[k] *= u->c;
    if (b >= NBODY - 1) s->joint[b - 1].qpos0[2] = 0.05;
  }
  scaleLengths(s, &mesh, vert, u->l);
  s->def.option.integrator = integrator;
  s->def.option.timestep = 0.005 * u->k;
  if (given) {
    s->def.option.length_scale = u->l;
    s->def.option.support = 0.0015;   // of the length scale
  }
  djModel* m = sceneModel(s);
  djData* d = sceneData(m);
  setSpeeds(d, u->k);
  assert_int_equal(m->nq + m->nv, NX);
  t->recovering = 0;
  for (int k = 0; k < STEPS; k++) {
    assert_int_equal(dj_step(m, d), DJ_OK);
    for (int i = 0; i < 7 * NBODY; i++) t->x[k][i] = d->qpos[i] / (i % 7 < 3 ? u->l : 1);
    for (int i = 0; i < 6 * NBODY; i++) {
      double v = d->qvel[i] / (i % 6 < 3 ? u->k : 1 / u->k);
      t->x[k][7 * NBODY + i] = fabs(v) < 1e-200 ? 0 : v;   // where products underflow
    }
    t->force[k] = 0;
    for (int p = 0; p < d->npair; p++) {
      t->force[k] += (fabs(d->pair[p].force[0]) + fabs(d->pair[p].force[2])) / u->c;
      t->recovering += d->pair[p].recovering;
    }
    t->gap[k] = d->stats.gap / u->l;
    t->residual[k] = d->stats.residual;
    t->iterations[k] = d->stats.iterations;
  }
  t->worst = d->stats.worst_residual;
  djt_delete(m, d);
  freeScene(s);
}

static void compare(djIntegrator integrator, const Units* units, int n, bool given) {
  static Track one, other;
  run(&one, integrator, &(Units){1, 1, 1}, given);
  double worst = 0;
  for (int k = 0; k < STEPS; k++) worst = fmax(worst, one.residual[k]);
  assert_true(one.worst == worst && worst > one.residual[STEPS - 1]);
  assert_true(one.recovering > 0 && one.force[STEPS - 1] > 10);
  for (int i = 0; i < n; i++) {
    run(&other, integrator, &units[i], given);
    assert_memory_equal(one.x, other.x, sizeof one.x);
    assert_memory_equal(one.gap, other.gap, sizeof one.gap);
    assert_memory_equal(one.force, other.force, sizeof one.force);
    assert_memory_equal(one.residual, other.residual, sizeof one.residual);
    assert_memory_equal(one.iterations, other.iterations, sizeof one.iterations);
  }
}

static void testMass(void** state) {
  static const Units units[] = {
      {0x1p-40, 1, 1}, {0x1p-10, 1, 1}, {4, 1, 1}, {0x1p30, 1, 1}};
  compare(*(const djIntegrator*)*state, units, 4, false);
}

static void testLength(void** state) {
  static const Units units[] = {{1, 4, 2}, {1, 0x1p-8, 0x1p-4}, {4, 0x1p10, 0x1p5}};
  compare(*(const djIntegrator*)*state, units, 3, true);
}

DJT_MAIN_ROWS(djt_byThree(testMass), djt_byThree(testLength))
