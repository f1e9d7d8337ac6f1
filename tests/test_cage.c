// Cages with a grid of cells: the order and number of their surface nodes, what follows inside, the
// derivatives, and cells that are turned inside out.

#include "common/design_case.h"
#include "common/json.h"
#include "common/make_model.h"
#include "common/random_model.h"
#include "common/refused_text.h"
#include "common/test.h"
#include "gradient/lattice.h"
#include "gradient/map.h"
#include "math/vec.h"

// ---- lattices -----------------------------------------------------------------------------------

static void testCounts(void) {
  static const struct {
    int cells[3], surface;
  } list[] = {{{1, 1, 1}, 8},       {{2, 2, 2}, 26}, {{4, 4, 4}, 98},
              {{16, 16, 16}, 1538}, {{3, 4, 5}, 96}, {{1, 7, 2}, 48}};
  for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
    djPool pool = {0};
    djLattice l;
    const int* n = list[i].cells;
    assert_int_equal(dj_makeLattice(&l, n, (const double[3]){1, 1, 1}, &pool), DJ_OK);
    assert_int_equal(l.nsurface, list[i].surface);
    assert_int_equal(l.nnode, (n[0] + 1) * (n[1] + 1) * (n[2] + 1));
    for (int k = 0, at = 0; k < l.nnode; k++) { // x first
      int x = k % (n[0] + 1), y = k / (n[0] + 1) % (n[1] + 1), z = k / (n[0] + 1) / (n[1] + 1);
      bool on = x % n[0] == 0 || y % n[1] == 0 || z % n[2] == 0;
      if (on) assert_int_equal(l.surface[at++], k);
    }
    dj_poolFree(&pool);
  }
}

static void place(double x[3], const djLattice* l, int k) {
  x[0] = l->size[0] * (k % l->nodes[0]);
  x[1] = l->size[1] * (k / l->nodes[0] % l->nodes[1]);
  x[2] = l->size[2] * (k / l->nodes[0] / l->nodes[1]);
}

// Functions that satisfy the discrete equation on any lattice: affine ones, products of different
// coordinates, differences of squares. Others satisfy it node by node.
static double harmonic(int which, const double x[3]) {
  const double c[4] = {0.3, -1.2, 0.7, 2.1};
  return which == 0   ? c[0] + c[1] * x[0] + c[2] * x[1] + c[3] * x[2]
         : which == 1 ? x[0] * x[1] * x[2] + x[1] * x[2]
                      : x[0] * x[0] - 3 * x[1] * x[1] + 2 * x[2] * x[2];
}

static void testInside(void) {
  static const int cells[][3] = {{1, 1, 1}, {2, 2, 2},    {3, 4, 5},
                                 {2, 1, 6}, {16, 16, 16}, {9, 2, 7}};
  djRng rng = {5};
  for (int i = 0; i < 6; i++) {
    djPool pool = {0};
    djLattice l;
    const double size[3] = {0.1, 0.07, 0.23};
    assert_int_equal(dj_makeLattice(&l, cells[i], size, &pool), DJ_OK);
    double* z = malloc(3 * (size_t)l.nsurface * sizeof *z);
    double* node = malloc(3 * (size_t)l.nnode * sizeof *node);
    double* work = malloc((dj_latticeWork(&l) + 1) * sizeof *work);
    assert_true(z && node && work);
    double x[3], most = 0;
    for (int k = 0; k < l.nsurface; k++) {
      place(x, &l, l.surface[k]);
      for (int c = 0; c < 3; c++) z[3 * k + c] = harmonic(c, x);
    }
    dj_spreadLattice(node, &l, z, work);
    for (int k = 0; k < l.nnode; k++) {
      place(x, &l, k);
      for (int c = 0; c < 3; c++) most = fmax(most, fabs(node[3 * k + c] - harmonic(c, x)));
    }
    if (most > 1e-12) fail_msg("%g", most);
    djt_uniforms(z, 3 * l.nsurface, &rng, -1, 1); // any: each is the mean of its neighbours
    dj_spreadLattice(node, &l, z, work);
    for (int k = 0; k < l.nnode; k++) {
      int at[3] = {k % l.nodes[0], k / l.nodes[0] % l.nodes[1], k / l.nodes[0] / l.nodes[1]};
      int step[3] = {1, l.nodes[0], l.nodes[0] * l.nodes[1]};
      bool inside = true;
      for (int j = 0; j < 3; j++) inside = inside && at[j] > 0 && at[j] < l.cells[j];
      for (int c = 0; c < 3 && inside; c++) {
        double sum = 0, weight = 0;
        for (int j = 0; j < 3; j++) {
          double w = 1 / (size[j] * size[j]);
          sum += w * (node[3 * (k + step[j]) + c] + node[3 * (k - step[j]) + c]);
          weight += 2 * w;
        }
        assert_true(fabs(node[3 * k + c] - sum / weight) < 1e-13);
      }
    }
    free(z);
    free(node);
    free(work);
    dj_poolFree(&pool);
  }
}

// ---- cages --------------------------------------------------------------------------------------

static const char scene[] =
    "{'dijoco_model':1,'option':{'timestep':0.01},'bodies':[{'name':'world'},"
    "{'name':'hand','pos':[1,0,1],'mass':1,'inertia':[0.02,0.03,0.04]},"
    "{'name':'finger','parent':'hand','pos':[0.11,-0.07,-0.38],'mass':0.2,"
    "'inertia':[0.002,0.002,0.001]}],"
    "'joints':[{'name':'swing','type':'hinge','body':'hand','axis':[0,1,0]},"
    "{'name':'bend','type':'hinge','body':'finger','axis':[1,0,0]}],"
    "'meshes':[{'name':'block','vert':[[-0.1,-0.1,-0.1],[0.1,-0.1,-0.1],[-0.1,0.1,-0.1],"
    "[0.1,0.1,-0.1],[-0.1,-0.1,0.1],[0.1,-0.1,0.1],[-0.1,0.1,0.1],[0.1,0.1,0.1]]}],"
    "'geoms':[{'name':'head','type':'mesh','mesh':'block','body':'hand',"
    "'pos':[0.01,0.02,-0.29],'quat':[0.8,0.2,-0.3,0.4]},"
    "{'name':'palm','type':'sphere','body':'hand','pos':[0.2,0.1,-0.1],"
    "'size':[0.02,0,0]},"
    "{'name':'nail','type':'sphere','body':'finger','size':[0.03,0,0]}],"
    "'sites':[{'name':'tip','body':'hand','pos':[0.02,0.05,-0.35]}]}";

enum { MOST = 3 * 1538 };

// A cage with this grid ("" or ",\"grid\":[...]"), of n surface nodes that are where they were.
static void openCage(DesignCase* c, const char* grid, int n, bool follow) {
  char* text = malloc(2000 + 4 * 3 * (size_t)n);
  assert_non_null(text);
  char* at = text + sprintf(text,
                            "{'scene':'s','horizon':6,'inertia_from_geom':%s,'contact':'none',"
                            "'initial':{'qpos':[0.4,-0.3],'qvel':[1,2]},"
                            "'loss':[{'type':'position','geom':'palm','target':[1,0.3,0]},"
                            "{'type':'position','site':'tip','target':[0,0.3,1]},"
                            "{'type':'com','target':[1,1,1]}],"
                            "'maps':[{'type':'cage','from':'c','body':'hand',"
                            "'box':[[-0.3,-0.25,-0.6],[0.3,0.3,0]]%s}],'variables':[{'name':'c'}],"
                            "'free':{'c':{'value':[0",
                            follow ? "true" : "false", grid);
  for (int k = 1; k < 3 * n; k++) at += sprintf(at, ",0");
  strcpy(at, "]}}}");
  djt_openDesign(c, scene, text);
  free(text);
}

static const struct {
  const char* grid;
  int cells[3], n;
} cages[] = {{"", {1, 1, 1}, 8},
             {",'grid':[2,2,2]", {2, 2, 2}, 26},
             {",'grid':[3,4,5]", {3, 4, 5}, 96},
             {",'grid':[16,16,16]", {16, 16, 16}, 1538}};
enum { NCAGE = sizeof cages / sizeof cages[0] };

static const double low[3] = {-0.3, -0.25, -0.6}, high[3] = {0.3, 0.3, 0};

// An affine motion of the surface is that of all inside: vertices, geoms, sites, children.
static void testAffine(void) {
  static const double A[9] = {0.1, -0.05, 0.2, 0.07, -0.1, 0.03, 0.02, 0.04, 0.15};
  static const double b[3] = {0.01, -0.02, 0.03};
  double x[MOST];
  for (int i = 0; i < NCAGE; i++) {
    DesignCase c;
    openCage(&c, cages[i].grid, cages[i].n, true);
    const djModel *m = c.m, *moved = c.d->model;
    const int* n = cages[i].cells;
    int at = 0;
    for (int k = 0; k < (n[0] + 1) * (n[1] + 1) * (n[2] + 1); k++) {
      int of[3] = {k % (n[0] + 1), k / (n[0] + 1) % (n[1] + 1), k / (n[0] + 1) / (n[1] + 1)};
      if (of[0] % n[0] && of[1] % n[1] && of[2] % n[2]) continue;
      for (int r = 0; r < 3; r++) {
        x[3 * at + r] = b[r];
        for (int j = 0; j < 3; j++) {
          double place_of = low[j] + (high[j] - low[j]) * of[j] / n[j];
          x[3 * at + r] += A[3 * r + j] * place_of;
        }
      }
      at++;
    }
    assert_int_equal(at, cages[i].n);
    assert_int_equal(djd_moveDesign(c.d, x), DJ_OK);
    const double* const from[3] = {m->geom_pos + 3, m->site_pos, m->body_pos + 6};
    const double* const to[3] = {moved->geom_pos + 3, moved->site_pos, moved->body_pos + 6};
    for (int e = 0; e < 3; e++) {
      for (int r = 0; r < 3; r++) {
        double u = b[r];
        for (int j = 0; j < 3; j++) u += A[3 * r + j] * from[e][j];
        assert_true(fabs(to[e][r] - from[e][r] - u) < 1e-14);
      }
    }
    djMat3 R; // of the geom
    double q[4];
    memcpy(q, m->geom_quat, sizeof q);
    R = dju_quatToMat(dju_normalizeQuat(dju_loadQuat(q)));
    for (int v = 0; v < 8; v++) {
      djVec3 p = dju_add3(dju_load3(m->geom_pos), dju_mulMV(R, dju_load3(m->mesh_vert + 3 * v)));
      djVec3 d = dju_mulMV(
          R, dju_sub3(dju_load3(moved->mesh_vert + 3 * v), dju_load3(m->mesh_vert + 3 * v)));
      double place_of[3], change[3];
      dju_store3(place_of, p);
      dju_store3(change, d);
      for (int r = 0; r < 3; r++) {
        double u = b[r];
        for (int j = 0; j < 3; j++) u += A[3 * r + j] * place_of[j];
        assert_true(fabs(change[r] - u) < 1e-14);
      }
    }
    djt_closeDesign(&c);
  }
}

// <w, A z> = <A^T w, z>, and the whole gradient has a certificate.
static void testDerivatives(void) {
  djRng rng = {3};
  for (int i = 0; i < NCAGE; i++) {
    DesignCase c;
    openCage(&c, cages[i].grid, cages[i].n, true);
    const djMap* map = &c.p->map[0];
    double *out = malloc((size_t)map->nout * sizeof *out),
           *w = malloc((size_t)map->nout * sizeof *w);
    double *z = malloc((size_t)map->nz * sizeof *z), *dz = calloc((size_t)map->nz, sizeof *dz);
    double* work = malloc(map->nwork * sizeof *work);
    assert_true(out && w && z && dz && work && map->nz == 3 * cages[i].n);
    djt_uniforms(w, map->nout, &rng, -1, 1);
    djt_uniforms(z, map->nz, &rng, -1, 1);
    map->type->apply(out, map, z, work);
    map->type->vjp(dz, map, z, w, work);
    double one = 0, other = 0, loss;
    for (int k = 0; k < map->nout; k++) one += w[k] * out[k];
    for (int k = 0; k < map->nz; k++) other += dz[k] * z[k];
    assert_true(fabs(one - other) < 1e-12 * (1 + fabs(one)));
    djdCertificate certificate;
    assert_int_equal(djd_evaluateDesign(&loss, dz, c.d, c.d->x0), DJ_OK);
    assert_int_equal(djd_certifyVariable(&certificate, c.d, 0, loss, dz, 1), DJ_OK);
    djt_failIf(!certificate.passed || certificate.analytic == 0, "%s: %g, %g", cages[i].grid,
               certificate.analytic, certificate.relative_error);
    free(out);
    free(w);
    free(z);
    free(dz);
    free(work);
    djt_closeDesign(&c);
  }
}

// A node that passes its neighbour turns a cell inside out: refused, and the design is as usable as
// before. A turn of the whole box is fine.
static void testFlipped(void) {
  DesignCase c;
  openCage(&c, ",'grid':[2,3,2]", 34, false);
  double x[3 * 34] = {0}, loss;
  // Node 12, in the middle, would be the first inside; node 9 is at (0, 3, 0).
  x[3 * 9] = 0.29;
  assert_int_equal(djd_evaluateDesign(&loss, NULL, c.d, x), DJ_OK);
  x[3 * 9] = 0.31; // the cells are 0.3 wide
  assert_int_equal(djd_moveDesign(c.d, x), DJ_INVALID);
  assert_string_equal(djd_designError(c.d),
                      "maps[0]: cell (0, 2, 0) of the cage is turned inside out");
  assert_true(djd_evaluateDesign(&loss, NULL, c.d, x) < 0);
  for (int k = 0, at = 0; k < 36; k++) { // half a turn about x, of all
    int of[3] = {k % 3, k / 3 % 4, k / 12};
    if (of[0] == 1 && of[1] % 3 && of[2] == 1) continue;
    for (int r = 1; r < 3; r++) {
      x[3 * at + r] = -2 * (low[r] + (high[r] - low[r]) * of[r] / (r == 1 ? 3 : 2));
    }
    x[3 * at++] = 0;
  }
  assert_int_equal(djd_evaluateDesign(&loss, NULL, c.d, x), DJ_OK);
  memset(x, 0, sizeof x);
  assert_int_equal(djd_evaluateDesign(&loss, NULL, c.d, x), DJ_OK);
  djt_closeDesign(&c);
}

static void testErrors(void) {
  static const char* const list[][2] = {
      {"[2,2]", "maps[0]: grid: must be 3 numbers of cells"},
      {"[2,2,0]", "maps[0]: grid: must be whole numbers between 1 and 100"},
      {"[2,2.5,2]", "maps[0]: grid: must be whole numbers between 1 and 100"},
      {"[2,2,101]", "maps[0]: grid: must be whole numbers between 1 and 100"},
      {"[2,2,2]", "maps[0]: from: 'c' must be 78 numbers"},
      {"[1,1,1]", "maps[0]: from: 'c' must be 24 numbers"}};
  djModel* m = djt_modelOf(scene);
  djt_refuseTasks(DJ_INVALID, m,
                  "{'scene':'s','horizon':1,'loss':[],'free':{'c':{'value':[1]}},'maps':[{'type':"
                  "'cage','from':'c','body':'hand','box':[[-1,-1,-1],[1,1,1]],'grid':%s}]}",
                  list);
  dj_deleteModel(m);
}

DJT_MAIN(testCounts, testInside, testAffine, testDerivatives, testFlipped, testErrors)
