// Geoms that a connect or weld holds in each other do not collide while it acts.

#include "common/scene.h"
#include "common/test.h"
#include "contact/pairs/tied.h"

enum { A = 1, B, C };   // links: A carries B; a constraint ties B's end to C's

typedef struct Ties {
  Scene* s;
  djEqualityDef equality;
  djSiteDef site[2];
  djExcludeDef exclude;
} Ties;

// Three beams hinged about y: two along x, at 0 and .4 m, the third hangs at .8 m. The ends of the
// last two meet at .8 m and reach `over` beyond it.
static void openTies(Ties* t, double over) {
  *t = (Ties){.s = newScene(3), .equality = dj_defaultEqualityDef(), .exclude = {B, C}};
  Scene* s = t->s;
  addBody(s, 0, DJ_HINGE, 0, 0, 1, 1, 0.1);
  addBody(s, A, DJ_HINGE, 0.4, 0, 0, 1, 0.1);
  addBody(s, 0, DJ_HINGE, 0.8, 0, 1.4, 1, 0.1);
  for (int b = A; b <= C; b++) {
    djGeomDef* g = addGeom(s, b, DJ_BOX, 0.03, 0.03, 0.03);
    const int along = b == C ? 2 : 0;
    g->size[along] = 0.2 + 0.5 * over;
    g->pos[along] = (b == C ? -1 : 1) * (0.2 + 0.5 * over);
  }
  t->equality.type = DJ_EQ_CONNECT;
  t->equality.name = "pin";
  t->equality.body1 = B;
  t->equality.body2 = C;
  t->equality.anchor1[0] = 0.4;
  t->equality.anchor2[2] = -0.4;
  s->def.equality = &t->equality;
  s->def.nequality = 1;
  s->def.exclude = &t->exclude;
}

static void run(djData* d, const djModel* m, int steps) {
  for (int k = 0; k < steps; k++) assert_int_equal(dj_step(m, d), DJ_OK);
}

static int pairsAfterStep(const djModel* m, djData* d) {
  run(d, m, 1);
  return d->npair;
}

// A loop that is closed so moves as one whose bodies are excluded, at any timestep.
static void testMotion(void) {
  static const double kSteps[] = {1e-3, 2e-3, 5e-3, 1e-2};
  for (int k = 0; k < 8; k++) {
    Ties t;
    djModel* m[2];
    djData* d[2];
    openTies(&t, 0.03);
    t.s->def.option.timestep = kSteps[k / 2];
    t.s->def.option.equality = k % 2 ? DJ_EQUALITY_HARD : DJ_EQUALITY_SOFT;
    for (int i = 0; i < 2; i++) {
      t.s->def.nexclude = i;
      m[i] = sceneModel(t.s);
      d[i] = sceneData(m[i]);
      run(d[i], m[i], (int)(1 / kSteps[k / 2]));
    }
    for (int i = 0; i < m[0]->nv; i++) {
      djt_failIf(fabs(d[0]->qpos[i] - d[1]->qpos[i]) > 1e-12, "step %g, dof %d: %g apart",
                 kSteps[k / 2], i, d[0]->qpos[i] - d[1]->qpos[i]);
    }
    assert_true(fabs(d[0]->qpos[0]) > 1e-3);
    for (int i = 0; i < 2; i++) {
      dj_deleteData(d[i]);
      dj_deleteModel(m[i]);
    }
    freeScene(t.s);
  }
}

// What is tied.
static void testWhich(void) {
  static const struct {
    const char* what;
    djEqualityType type;
    double over, anchor;   // m; anchor: along the first beam, the other end's as far from its hinge
    bool sites, swapped, disabled, inactive;
    int npair;
  } rows[] = {{"connect", DJ_EQ_CONNECT, 0.03, 0.4, .npair = 0},
              {"weld", DJ_EQ_WELD, 0.03, 0.4, .npair = 0},
              {"sites", DJ_EQ_CONNECT, 0.03, 0.4, .sites = true, .npair = 0},
              {"the other way round", DJ_EQ_CONNECT, 0.03, 0.4, .swapped = true, .npair = 0},
              {"a point at the ends", DJ_EQ_CONNECT, 0, 0.4, .npair = 1},
              {"a point outside of both", DJ_EQ_CONNECT, 0, 0.41, .npair = 1},
              {"one does not act", DJ_EQ_CONNECT, 0.03, 0.4, .inactive = true, .npair = 1},
              {"none acts", DJ_EQ_CONNECT, 0.03, 0.4, .disabled = true, .npair = 1}};
  for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
    Ties t;
    djData* d;
    openTies(&t, rows[k].over);
    t.equality.type = rows[k].type;
    t.equality.active = !rows[k].inactive;
    t.equality.anchor1[0] = rows[k].anchor;
    t.equality.anchor2[2] = -rows[k].anchor;
    if (rows[k].swapped) {
      t.equality.body1 = C;
      t.equality.body2 = B;
      t.equality.anchor2[0] = rows[k].anchor;
      t.equality.anchor1[2] = -rows[k].anchor;
      t.equality.anchor1[0] = t.equality.anchor2[2] = 0;
    }
    if (rows[k].sites) {
      for (int i = 0; i < 2; i++) {
        t.site[i] = (djSiteDef){.body = i ? C : B, .quat = {1}};
        t.site[i].pos[i ? 2 : 0] = i ? -0.4 : 0.4;
      }
      t.equality.body1 = t.equality.body2 = -1;
      t.equality.site1 = 0;
      t.equality.site2 = 1;
      t.s->def.site = t.site;
      t.s->def.nsite = 2;
    }
    if (rows[k].disabled) t.s->def.option.disable |= DJ_DSBL_EQUALITY;
    djModel* m = startScene(&d, t.s);
    int npair = pairsAfterStep(m, d);
    djt_failIf(npair != rows[k].npair, "%s: %d pairs", rows[k].what, npair);
    dj_deleteData(d);
    dj_deleteModel(m);
  }
}

// It is asked at each step: what is let go collides, as does what a parameter moves out.
static void testLetGo(void) {
  Ties t;
  djData* d;
  djParam param;
  djError err;
  openTies(&t, 0.03);
  djModel* m = startScene(&d, t.s);
  assert_int_equal(pairsAfterStep(m, d), 0);
  d->eq_active[0] = 0;
  assert_int_equal(pairsAfterStep(m, d), 1);
  d->eq_active[0] = 1;
  assert_int_equal(pairsAfterStep(m, d), 0);
  double anchor[6] = {0.5, 0, 0, 0, 0, -0.4};
  assert_int_equal(dj_paramId(&param, m, "equality/pin/anchor", &err), DJ_OK);
  assert_int_equal(dj_setParam(m, &param, anchor, &err), DJ_OK);
  assert_int_equal(pairsAfterStep(m, d), 1);
  dj_deleteData(d);
  dj_deleteModel(m);
}

// A step depends on its state alone, whatever was tied before.
static void testSameBits(void) {
  Ties t;
  djData *d, *fresh;
  openTies(&t, 0.03);
  djModel* m = startScene(&d, t.s);
  run(d, m, 20);
  d->eq_active[0] = 0;
  fresh = sceneData(m);
  fresh->eq_active[0] = 0;
  memcpy(fresh->qpos, d->qpos, (size_t)m->nq * sizeof(double));
  memcpy(fresh->qvel, d->qvel, (size_t)m->nv * sizeof(double));
  run(d, m, 20);
  run(fresh, m, 20);
  assert_memory_equal(d->qpos, fresh->qpos, (size_t)m->nq * sizeof(double));
  dj_deleteData(d);
  dj_deleteData(fresh);
  dj_deleteModel(m);
}

DJT_MAIN(testMotion, testWhich, testLetGo, testSameBits)
