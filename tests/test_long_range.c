// The contact model long_range in scenes: where planks rest, a ring on a peg, motions that are cut,
// products by vertices, tessellations, distances, and what is refused.

#include "common/scene.h"
#include "common/triangle_case.h"
#include "common/worst.h"
#include "contact/contact.h"
#include "contact/triangles/long_range.h"
#include "contact/triangles/long_range_pair.h"
#include "contact/triangles/long_range_query.h"
#include "contact/triangles/long_range_vjp.h"
#include "contact/triangles/long_range_shape.h"
#include "contact/triangles/mesh_distance.h"
#include "contact/triangles/tessellation.h"
#include "contact/triangles/triangle_plane.h"
#include "shape/mesh_closed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

// ------------------------------------------ scenes ---------------------------------------------

static djMeshDef meshOf(const SolidMesh* s) {
  return (djMeshDef){.nvert = s->nvert, .vert = s->vert, .ntri = s->ntri, .tri = s->tri};
}

static djGeomDef* addMesh(Scene* s, int body, int mesh) {
  djGeomDef* g = addGeom(s, body, DJ_MESH, 0, 0, 0);
  g->mesh = mesh;
  return g;
}

static djStatus makeScene(djModel** m, Scene* s, djMeshDef* mesh, int nmesh, djError* err) {
  s->def.mesh = mesh;
  s->def.nmesh = nmesh;
  s->def.option.contact = DJ_LONG_RANGE;
  s->def.option.integrator = DJ_POSITION;
  for (int i = 0; i < s->def.ngeom; i++) s->geom[i].friction[0] = 0;
  return dj_makeModel(m, &s->def, err);
}

static djModel* goodScene(Scene* s, djMeshDef* mesh, int nmesh) {
  djModel* m = NULL;
  djError err = {""};
  if (makeScene(&m, s, mesh, nmesh, &err) != DJ_OK) fail_msg("%s", err.text);
  return m;
}

static djData* dataOf(const djModel* m) {
  djData* d = NULL;
  assert_int_equal(dj_makeData(&d, m, NULL), DJ_OK);
  return d;
}

static void setStiffness(djModel* m, double K) {
  djParam p;
  assert_int_equal(dj_paramId(&p, m, "contact/long_range/stiffness", NULL), DJ_OK);
  assert_int_equal(dj_setParam(m, &p, &K, NULL), DJ_OK);
}

static void run(djData* d, const djModel* m, int steps) {
  for (int i = 0; i < steps; i++) assert_int_equal(dj_step(m, d), DJ_OK);
}

// The height at which a plank rests on another.
static double restOf(int cut, double shift, double angle) {
  SolidMesh box = makeSplitBox(1, 0.2, 0.1, cut);
  djMeshDef mesh = meshOf(&box);
  Scene* s = newScene(2);
  addMesh(s, 0, 0);
  const int body = addBody(s, 0, DJ_SLIDE, shift, 0, 0.2016, 0.16, 0.3);
  s->joint[0].axis[1] = 0;
  s->joint[0].axis[2] = 1;
  s->joint[0].damping = 2;
  s->body[body].quat[0] = cos(0.5 * angle);
  s->body[body].quat[3] = sin(0.5 * angle);
  addMesh(s, body, 0);
  s->def.option.timestep = 0.02;
  djModel* m = goodScene(s, &mesh, 1);
  setStiffness(m, 1e-6);
  djData* d = dataOf(m);
  run(d, m, 20);
  const double gap = d->qpos[0] + 0.0016;
  assert_true(fabs(d->qvel[0]) < 1e-6);
  dj_deleteData(d);
  dj_deleteModel(m);
  freeScene(s);
  freeSolid(&box);
  return gap;
}

// At one gap, however the surface is cut, shifted by half a metre and turned, too.
static void testPlanks(void** state) {
  (void)state;
  static const double place[3][2] = {{0, 0}, {0.5, 0}, {0.5, 0.35}};
  for (int i = 0; i < 3; i++) {
    const double first = restOf(0, place[i][0], place[i][1]);
    assert_true(first > 1.5e-3 && first < 1.6e-3);
    for (int cut = 1; cut < 3; cut++) {
      const double gap = restOf(cut, place[i][0], place[i][1]);
      assert_true(fabs(gap / first - 1) < 0.02);
    }
  }
}

// A ring around a peg falls along it, as its hole is one, and lies on the ground.
static void testRing(void** state) {
  (void)state;
  SolidMesh ring = makeTorus(0.4, 0.12, 12, 6);
  djMeshDef mesh = meshOf(&ring);
  Scene* s = newScene(2);
  addGeom(s, 0, DJ_PLANE, 1, 1, 0.1)->pos[2] = -0.5;
  addGeom(s, 0, DJ_CAPSULE, 0.15, 0.15, 0)->pos[2] = -0.1;
  addMesh(s, addBody(s, 0, DJ_FREE, 0.05, 0, 0, 1, 0.4), 0);
  s->def.option.timestep = 0.01;
  djModel* m = goodScene(s, &mesh, 1);
  djData* d = dataOf(m);
  run(d, m, 60);
  assert_true(fabs(d->qpos[0]) < 0.1 && fabs(d->qpos[1]) < 0.1);
  assert_true(fabs(d->qpos[2] - (-0.5 + 0.12 * sin(1.0471975511965976))) < 3e-3);
  dj_deleteData(d);
  dj_deleteModel(m);
  freeScene(s);
  freeSolid(&ring);
}

// Worlds that take turns in data and threads have the bits of one thread, and those of a run alone:
// planes that were found in one step are of no other.
static void testThreads(void** state) {
  (void)state;
  enum { WORLDS = 6, STEPS = 4 };
  Scene* s = newScene(3);
  addGeom(s, 0, DJ_PLANE, 1, 1, 0.1);
  for (int i = 0; i < 2; i++) {
    addGeom(s, addBody(s, 0, DJ_FREE, 0.02 * i, 0.01 * i, 0.101 + 0.202 * i, 1, 0.01), DJ_BOX, 0.1,
            0.1, 0.1);
  }
  s->def.option.timestep = 0.01;
  djModel* m = goodScene(s, NULL, 0);
  double *first = calloc((size_t)(WORLDS * m->nq), sizeof *first), worst = 0;
  for (int nthread = 1; nthread <= 3; nthread++) {
    djBatch* b;
    assert_int_equal(dj_makeBatch(&b, m, WORLDS, nthread, NULL), DJ_OK);
    for (int w = 0; w < WORLDS; w++) b->qvel[w * m->nv + 6] = 0.1 * w;
    for (int k = 0; k < STEPS; k++) assert_int_equal(dj_batchStep(b, 1), DJ_OK);
    if (nthread == 1) memcpy(first, b->qpos, (size_t)(WORLDS * m->nq) * sizeof *first);
    assert_memory_equal(first, b->qpos, (size_t)(WORLDS * m->nq) * sizeof *first);
    dj_deleteBatch(b);
  }
  for (int w = 0; w < WORLDS; w++) {
    djData* d = dataOf(m);
    d->qvel[6] = 0.1 * w;
    run(d, m, STEPS);
    assert_memory_equal(first + w * m->nq, d->qpos, (size_t)m->nq * sizeof *first);
    worst = djt_worst(worst, fabs(d->qpos[7] - m->qpos0[7]));
    dj_deleteData(d);
  }
  assert_true(worst > 1e-3);
  free(first);
  dj_deleteModel(m);
  freeScene(s);
}

// A ball that flies two sizes a step does not pass a plate.
static void testTunnel(void** state) {
  (void)state;
  SolidMesh ball = makeBallSolid(1), plate = makeBoxSolid(0.5, 0.5, 0.01);
  for (int i = 0; i < 3 * ball.nvert; i++) ball.vert[i] *= 0.1;
  djMeshDef mesh[2] = {meshOf(&ball), meshOf(&plate)};
  Scene* s = newScene(2);
  addMesh(s, 0, 1);
  addMesh(s, addBody(s, 0, DJ_FREE, 0.02, 0.03, 0.5, 1, 0.1), 0);
  s->def.option.timestep = 0.01;
  djModel* m = goodScene(s, mesh, 2);
  djData* d = dataOf(m);
  d->qvel[2] = -40;
  for (int i = 0; i < 8; i++) {
    assert_true(dj_step(m, d) >= 0);
    assert_true(d->qpos[2] > 0.1);
  }
  assert_true(d->stats.gap > 0);
  dj_deleteData(d);
  dj_deleteModel(m);
  freeScene(s);
  freeSolid(&ball);
  freeSolid(&plate);
}

// ------------------------------------------ refused --------------------------------------------

static void expectRefused(Scene* s, djMeshDef* mesh, double friction, const char* text) {
  djModel* m = NULL;
  djError err = {""};
  s->def.mesh = mesh;
  s->def.nmesh = 1;
  s->def.option.contact = DJ_LONG_RANGE;
  for (int i = 0; i < s->def.ngeom; i++) s->geom[i].friction[0] = friction;
  assert_true(dj_makeModel(&m, &s->def, &err) < 0);
  if (!strstr(err.text, text)) fail_msg("%s", err.text);
}

static void testRefused(void** state) {
  (void)state;
  SolidMesh ring = makeTorus(0.4, 0.12, 12, 6), box = makeBoxSolid(0.3, 0.3, 0.3);
  // a spike through the other side
  SolidMesh crossed = makeSplitBox(0.3, 0.3, 0.3, 1);
  int top = 0;
  for (int i = 0; i < crossed.nvert; i++) {
    const double* v = crossed.vert + 3 * i;
    if (v[0] == 0 && v[1] == 0 && v[2] > 0) top = i;
  }
  crossed.vert[3 * top + 2] = -1;
  djMeshDef good = meshOf(&ring), open = good, cross = meshOf(&crossed), flat = meshOf(&box);
  open.ntri--;
  double* vert = malloc(3 * (size_t)box.nvert * sizeof *vert);
  memcpy(vert, box.vert, 3 * (size_t)box.nvert * sizeof *vert);
  int tri[3 * 14];
  memcpy(tri, box.tri, 36 * sizeof *tri);
  const int thin[6] = {0, 1, 1, 0, 1, 1};
  memcpy(tri + 36, thin, sizeof thin);
  flat.tri = tri;
  flat.ntri = 14;
  Scene* s = newScene(1);
  djGeomDef* floor = addGeom(s, 0, DJ_PLANE, 1, 1, 0.1);
  addMesh(s, addBody(s, 0, DJ_FREE, 0, 0, 1, 1, 0.4), 0);
  expectRefused(s, &open, 0, "open");
  expectRefused(s, &cross, 0, "crosses itself");
  expectRefused(s, &flat, 0, "");
  floor->condim = 4;
  expectRefused(s, &good, 0.5, "long_range has sliding friction alone");
  floor->condim = 3;
  floor->margin = 0.01;
  expectRefused(s, &good, 0, "margin");
  floor->margin = 0;
  // it begins in the ground
  s->body[1].pos[2] = s->joint[0].qpos0[2] = 0.05;
  djModel* m = goodScene(s, &good, 1);
  djData* d = dataOf(m);
  assert_int_equal(dj_step(m, d), DJ_OVERLAP);
  assert_non_null(strstr(dj_errorText(d), "overlap"));
  dj_deleteData(d);
  dj_deleteModel(m);
  freeScene(s);
  free(vert);
  freeSolid(&ring);
  freeSolid(&box);
  freeSolid(&crossed);
}

// ------------------------------------------ products -------------------------------------------

typedef struct Pair {
  djShape shape[2];
  double *mem[2], *vert[2];
  SolidMesh solid[2];
  djPose pose[2];
  double setting[DJ_LONG_NSETTING];
  djPairInput in;
} Pair;

static void fitPair(Pair* p) {
  for (int k = 0; k < 2; k++) {
    const SolidMesh* s = &p->solid[k];
    if (s->nvert == 0) continue;
    const djShape old = p->shape[k];
    const djStatus status =
        dj_fitTriangles(&p->shape[k], p->mem[k], s->nvert, p->vert[k], s->ntri, s->tri, NULL,
                        p->setting[DJ_LONG_WEIGHTING] > 0, old.fit ? &old : NULL);
    assert_int_equal(status, DJ_OK);
  }
}

static void openPair(Pair* p, djRng* rng, bool plane, int weighting) {
  memset(p, 0, sizeof *p);
  const double setting[DJ_LONG_NSETTING] = {
      [DJ_LONG_WEIGHTING] = weighting, [DJ_LONG_EPS] = 0.5,          [DJ_LONG_TRIANGLES] = 100,
      [DJ_LONG_STIFFNESS_SCALE] = 1,   [DJ_LONG_LENGTH_SCALE] = 0.7, [DJ_LONG_STIFFNESS] = 0.3,
      [DJ_LONG_FRICTION_EPS] = 1};
  memcpy(p->setting, setting, sizeof setting);
  p->solid[0] = makeTorus(1, 0.3, 8, 5);
  if (!plane) p->solid[1] = makeBallSolid(1);
  for (int k = 0; k < 2; k++) {
    const SolidMesh* s = &p->solid[k];
    p->shape[k].type = DJ_MESH;
    if (s->nvert == 0) continue;
    p->mem[k] = malloc((size_t)dj_trianglesSize(s->nvert, s->ntri) * sizeof(double));
    p->vert[k] = malloc(3 * (size_t)s->nvert * sizeof(double));
    for (int i = 0; i < 3 * s->nvert; i++) {
      p->vert[k][i] = s->vert[i] + djt_uniform(rng, -0.03, 0.03);
    }
  }
  fitPair(p);
  p->pose[0] = randomPlace(rng, djt_uniform(rng, 1.2, 4));
  p->pose[1] = randomPlace(rng, 0.1);
  if (plane) {
    p->shape[1] = (djShape){.type = DJ_PLANE, .normal = {0, 0.6, 0.8}, .offset = -6};
  }
  p->in = (djPairInput){.a = &p->shape[0],
                        .b = &p->shape[1],
                        .pose_a = &p->pose[0],
                        .pose_b = &p->pose[1],
                        .start_a = &p->pose[0],
                        .start_b = &p->pose[1],
                        .ref_a = {0.3, 0.2, -0.1},
                        .ref_b = {-0.4, 0.1, 0.2},
                        .h = 0.01,
                        .setting = p->setting};
}

static void closePair(Pair* p) {
  for (int k = 0; k < 2; k++) {
    free(p->mem[k]);
    free(p->vert[k]);
    freeSolid(&p->solid[k]);
  }
}

static bool alongLambda(double* y, Pair* p, const double lambda[12]) {
  djPairOutput out;
  out.twist_jac = NULL;
  *y = 0;
  assert_true(dj_longRange.eval(&out, NULL, &p->in, DJ_EVAL_GRADIENT) >= 0);
  for (int i = 0; i < 12; i++) *y += lambda[i] * out.gradient[i];
  return out.value < INFINITY;
}

// a comes near to b, so that most pairs of triangles are faint.
static void approach(Pair* p, double gap) {
  djDistance d;
  const djGeomPair g = {
      .a = &p->shape[0], .b = &p->shape[1], .pose_a = &p->pose[0], .pose_b = &p->pose[1]};
  assert_true(dj_longRange.gap(&d, NULL, &g) >= 0);
  if (d.gap > gap) p->pose[0].p = dju_madd3(p->pose[0].p, d.gap - gap, d.normal);
}

// By vertices of both, by stiffness, by a plane.
static void testProducts(void** state) {
  (void)state;
  djRng rng = {21};
  int tried = 0;
  for (int i = 0; i < 240; i++) {
    Pair p;
    const bool plane = i % 4 == 3;
    openPair(&p, &rng, plane, i / 60 % 2);
    p.setting[DJ_LONG_LEAF] = i / 120;
    if (i % 4 == 1) approach(&p, 0.02);
    double lambda[12], y[4], *dir[2] = {NULL}, *start[2] = {NULL}, *by[2] = {NULL};
    djt_uniforms(lambda, 12, &rng, -1, 1);
    if (!alongLambda(&y[0], &p, lambda)) {
      closePair(&p);
      continue;
    }
    djShapeGrad grad[2] = {{.radius = 0}, {.radius = 0}};
    djPairGrad of = {.a = &grad[0], .b = &grad[1]};
    for (int k = 0; k < 2; k++) {
      const size_t n = (size_t)p.shape[k].npad, nv = 3 * (size_t)p.solid[k].nvert;
      if (n == 0) continue;
      by[k] = calloc(3 * n, sizeof(double));
      dir[k] = malloc(nv * sizeof(double));
      start[k] = malloc(nv * sizeof(double));
      for (size_t c = 0; c < 3; c++) grad[k].vert[c] = by[k] + c * n;
      djt_uniforms(dir[k], (int)nv, &rng, -1, 1);
      memcpy(start[k], p.vert[k], nv * sizeof(double));
    }
    double rate[5]; // stiffness; normal and offset
    djt_uniforms(rate, 5, &rng, -1, 1);
    assert_true(dj_longRange.vjp(&of, NULL, &p.in, lambda) >= 0);
    double sum = of.setting[DJ_LONG_STIFFNESS] * rate[0];
    for (int k = 0; k < 2; k++) {
      for (int v = 0; v < 3 * p.solid[k].nvert; v++) {
        sum += by[k][v % 3 * p.shape[k].npad + v / 3] * dir[k][v];
      }
    }
    if (plane) {
      sum += dju_dot3(grad[1].normal, dju_load3(rate + 1)) + grad[1].offset * rate[4];
    }
    const djShape half = p.shape[1];
    const double h = i < 120 ? 1e-4 : 1e-5;
    for (int s = 0; s < 4; s++) {
      const double e = (s % 2 ? -h : h) * (s < 2 ? 1 : 0.5);
      for (int k = 0; k < 2; k++) {
        for (int v = 0; v < 3 * p.solid[k].nvert; v++) p.vert[k][v] = start[k][v] + e * dir[k][v];
      }
      fitPair(&p);
      p.setting[DJ_LONG_STIFFNESS] = 0.3 + e * rate[0];
      if (plane) {
        p.shape[1].normal = dju_madd3(half.normal, e, dju_load3(rate + 1));
        p.shape[1].offset = half.offset + e * rate[4];
      }
      assert_true(alongLambda(&y[s], &p, lambda));
    }
    const double one = (y[0] - y[1]) / (2 * h), two = (y[2] - y[3]) / h;
    const double best = two + (two - one) / 3;
    if (fabs(best - two) < 1e-4 * (1 + fabs(best))) { // no kink between
      tried++;
      assert_true(fabs(best - sum) < 1e-6 * (1 + fabs(sum)) + fabs(best - two));
    }
    for (int k = 0; k < 2; k++) {
      free(dir[k]);
      free(start[k]);
      free(by[k]);
    }
    closePair(&p);
  }
  assert_true(tried > 160);
}

// Queries: the value's derivatives by vertices, and those by twists that follow from them.
static void testQuery(void** state) {
  (void)state;
  djRng rng = {23};
  SolidMesh solid[2] = {makeTorus(1, 0.3, 8, 5), makeBallSolid(1)};
  int tried = 0;
  for (int i = 0; i < 12; i++) {
    djcShape shape[2];
    double *vert[2], *dir[2], *by[2], y[4], sum = 0, force[2][3] = {{0}};
    for (int k = 0; k < 2; k++) {
      const SolidMesh* s = &solid[k];
      const size_t n = 3 * (size_t)s->nvert;
      vert[k] = malloc(n * sizeof(double));
      dir[k] = malloc(n * sizeof(double));
      by[k] = malloc(n * sizeof(double));
      const djPose T = randomPlace(&rng, k ? 0 : 2.7);
      for (int v = 0; v < s->nvert; v++) {
        dju_store3(vert[k] + 3 * v, dju_transform(&T, dju_load3(s->vert + 3 * v)));
      }
      for (size_t v = 0; v < n; v++) vert[k][v] += djt_uniform(&rng, -0.02, 0.02);
      djt_uniforms(dir[k], (int)n, &rng, -1, 1);
      shape[k] = (djcShape){.nvert = s->nvert, .vert = vert[k], .ntri = s->ntri, .tri = s->tri};
    }
    djcOption option = djc_defaultOption();
    option.model = DJ_LONG_RANGE;
    djcResult r;
    assert_true(djc_pair(&r, by[0], by[1], NULL, &shape[0], &shape[1], &option) >= 0);
    for (int k = 0; k < 2 && isfinite(r.value); k++) {
      for (int v = 0; v < 3 * solid[k].nvert; v++) {
        sum += by[k][v] * dir[k][v];
        force[k][v % 3] += by[k][v];
      }
    }
    if (isfinite(r.value)) {
      assert_true(r.visited > r.exact && r.exact > 0 && r.gap > 0);
      const double scale = djt_largest(r.twist_gradient, 12);
      for (int k = 0; k < 6; k++) {
        assert_true(fabs(force[k / 3][k % 3] - r.twist_gradient[k / 3 * 6 + 3 + k % 3]) <
                    1e-9 * scale);
      }
      for (int s = 0; s < 4; s++) {
        static const double step[4] = {1e-4, -2e-4, 1.5e-4, -1e-4}; // to 1, -1, .5, -.5 of 1e-4
        for (int k = 0; k < 2; k++) {
          for (int v = 0; v < 3 * solid[k].nvert; v++) {
            vert[k][v] += step[s] * dir[k][v];
          }
        }
        djcResult at;
        assert_true(djc_pair(&at, NULL, NULL, NULL, &shape[0], &shape[1], &option) >= 0);
        y[s] = at.value;
      }
      const double one = (y[0] - y[1]) / 2e-4, two = (y[2] - y[3]) / 1e-4;
      const double best = two + (two - one) / 3;
      if (fabs(best - two) < 1e-4 * (1 + fabs(best))) {
        tried++;
        assert_true(fabs(best - sum) < 1e-6 * (1 + fabs(sum)));
      }
    }
    for (int k = 0; k < 2; k++) {
      free(vert[k]);
      free(dir[k]);
      free(by[k]);
    }
  }
  assert_true(tried > 5);
  for (int k = 0; k < 2; k++) freeSolid(&solid[k]);
}

// ------------------------------------------ shapes ---------------------------------------------

// Closed, outward, of at least as many triangles as wanted, and all vertices on the geom.
static void testTessellations(void** state) {
  (void)state;
  static const int type[] = {DJ_SPHERE, DJ_CAPSULE, DJ_ELLIPSOID, DJ_CYLINDER, DJ_BOX};
  const double size[3] = {0.3, 0.5, 0.7};
  for (int i = 0; i < 5; i++) {
    for (int wanted = 1; wanted < 3000; wanted = 2 * wanted + 1) {
      djTessellation t;
      assert_true(dj_openTessellation(&t, type[i], wanted));
      assert_true(t.ntri >= wanted && t.ntri < 4 * wanted + 100);
      double* vert = malloc(3 * (size_t)t.nvert * sizeof *vert);
      int* tri = malloc(3 * (size_t)t.ntri * sizeof *tri);
      for (int v = 0; v < t.nvert; v++) {
        djVec3 f[3], x = {0, 0, 0};
        dj_tessellationVertex(f, &t, v);
        for (int k = 0; k < 3; k++) x = dju_madd3(x, size[k], f[k]);
        dju_store3(vert + 3 * v, x);
        const double r = hypot(x.x, x.y), over = fmax(fabs(x.z) - 0.5, 0);
        double off = 0;
        if (type[i] == DJ_SPHERE) off = dju_norm3(x) - 0.3;
        if (type[i] == DJ_CAPSULE) off = hypot(r, over) - 0.3;
        if (type[i] == DJ_CYLINDER) off = fmax(r - 0.3, fabs(x.z) - 0.5);
        if (type[i] == DJ_BOX) {
          off = fmax(fmax(fabs(x.x) - 0.3, fabs(x.y) - 0.5), fabs(x.z) - 0.7);
        }
        if (type[i] == DJ_ELLIPSOID) {
          off = dju_norm3(dju_vec3(x.x / 0.3, x.y / 0.5, x.z / 0.7)) - 1;
        }
        assert_true(fabs(off) < 1e-12);
      }
      dj_tessellationTriangles(tri, &t);
      double box[6];
      djError err = {""};
      if (dj_checkMesh(box, t.nvert, vert, t.ntri, tri, NULL, &err) != DJ_OK) {
        fail_msg("type %d, %d triangles: %s", type[i], t.ntri, err.text);
      }
      free(vert);
      free(tri);
    }
  }
  static const int standard[] = {80, 64, 80, 80, 12};
  for (int i = 0; i < 5; i++) {
    djTessellation t;
    assert_true(dj_openTessellation(&t, type[i], 0) && t.ntri == standard[i]);
  }
  djTessellation none;
  assert_false(dj_openTessellation(&none, DJ_PLANE, 10));
}

// The tree's distance is the least of all triangles'; advances leave a part of it.
static void testDistances(void** state) {
  (void)state;
  djRng rng = {22};
  SolidMesh solid[2] = {makeTorus(1, 0.3, 8, 5), makeBallSolid(1)};
  TreeMesh A = makeTree(&solid[0]), B = makeTree(&solid[1]);
  for (int i = 0; i < 100; i++) {
    const djPose T = randomPlace(&rng, djt_uniform(&rng, 0, 5));
    djMeshDistance d, one, least = {.gap = INFINITY};
    dj_meshDistance(&d, &A.tree, &B.tree, &T);
    for (int k = 0; k < A.tree.ntri * B.tree.ntri; k++) {
      djVec3 a[3], b[3];
      for (int c = 0; c < 3; c++) {
        a[c] = dju_transform(&T, dj_treeVertex(&A.tree, k / B.tree.ntri, c));
        b[c] = dj_treeVertex(&B.tree, k % B.tree.ntri, c);
      }
      dj_triangleDistance(&one, a, b, INFINITY);
      if (one.gap < least.gap) least = one;
    }
    assert_true(fabs(d.gap - least.gap) < 1e-12);
    if (!(d.gap > 0)) continue;
    assert_true(fabs(dju_norm3(dju_sub3(d.on_b, d.on_a)) - d.gap) < 1e-12);
    const djPose to = randomPlace(&rng, djt_uniform(&rng, 0, 5));
    const djVec3 center = {0.1, 0, 0};
    double gap;
    const double part = dj_meshAdvance(&gap, &A.tree, &B.tree, &T, &to, center, 1.5);
    assert_true(gap == d.gap && part > 0 && part <= 1);
  }
  freeTree(&A);
  freeTree(&B);
  for (int k = 0; k < 2; k++) freeSolid(&solid[k]);
}

// States have places for all pairs of triangles of the largest meshes, within what they may have.
static void testStates(void** state) {
  (void)state;
  const size_t least = dj_longRange.state_size, all = (size_t)1 << 30;
  assert_true(dj_longRange.stateSize(34, all) >= DJ_WARM_SIZE(2 * 64 * 64));
  assert_true(dj_longRange.stateSize(34, least + 1000) <= least + 1000);
  assert_int_equal(dj_longRange.stateSize(34, 0), least);
  assert_int_equal(dj_longRange.stateSize(4, all), least);
  assert_true(dj_longRange.stateSize(1 << 20, all) <= DJ_WARM_SIZE(DJ_MOST_WARM));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testPlanks),    cmocka_unit_test(testRing),
      cmocka_unit_test(testTunnel),    cmocka_unit_test(testRefused),
      cmocka_unit_test(testThreads),   cmocka_unit_test(testProducts),
      cmocka_unit_test(testQuery),     cmocka_unit_test(testTessellations),
      cmocka_unit_test(testDistances), cmocka_unit_test(testStates),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
