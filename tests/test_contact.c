// The sum over pairs: against all pairs evaluated one by one, through random motions; determinism
// and copies; the largest step; overlap = error; capacity; and what is reported.

#include "common/make_model.h"
#include "common/near.h"
#include "common/random_shape.h"
#include "common/scene.h"
#include "common/test.h"
#include "common/worst.h"
#include "contact/contact.h"
#include "contact/shapes/convex.h"

#define CHECK(x) assert_true(x)
enum { MAXBODY = 64 };

// A plane, a static box, and free bodies with one geom each.
typedef struct Case {
  djModel* m;
  int n;
  djPose pose[MAXBODY], next[MAXBODY];
  djVec3 ref[MAXBODY];
  char name[MAXBODY][16];
} Case;

static djGeomDef randomGeom(Random* r, int body, int kinds) {
  djGeomDef g = dj_defaultGeomDef();
  g.body = body;
  g.type = (djGeomType[]){DJ_BOX, DJ_SPHERE, DJ_CAPSULE, DJ_MESH}[below(r, kinds)];
  for (int k = 0; k < 3; k++) {
    g.size[k] = uniform(r, 0.05, 0.15);
    g.pos[k] = uniform(r, -0.05, 0.05);
  }
  if (g.type == DJ_MESH) g.mesh = 0;
  dju_storeQuat(g.quat, randomQuat(r));
  g.margin = below(r, 4) ? 0 : 0.01;
  return g;
}

static void makeScene(Case* s, Random* r, int n, int kinds, djOption option) {
  static djBodyDef body[MAXBODY];
  static djJointDef joint[MAXBODY];
  static djGeomDef geom[MAXBODY];
  double vert[60];
  djPairDef pair = {.geom1 = 2, .geom2 = 3, .condim = 3, .friction = 0.3, .margin = 0.03};
  memset(s, 0, sizeof *s);
  s->n = n;
  cloud(r, 1, 20, vert);
  for (int i = 0; i < 60; i++) vert[i] *= 0.12;
  djMeshDef mesh = {.name = "stone", .nvert = 20, .vert = vert};
  body[0] = dj_defaultBodyDef();
  geom[0] = dj_defaultGeomDef();
  geom[0].type = DJ_PLANE;
  geom[0].size[2] = 1;
  geom[1] = randomGeom(r, 0, 1);
  for (int i = 1; i < n; i++) {
    body[i] = dj_defaultBodyDef();
    body[i].mass = 1;
    for (int k = 0; k < 3; k++) body[i].inertia[k] = 0.01;
    joint[i - 1] = dj_defaultJointDef();
    joint[i - 1].body = i;
    joint[i - 1].type = DJ_FREE;
    joint[i - 1].qpos0[3] = joint[i - 1].springref[3] = 1;
    geom[i + 1] = randomGeom(r, i, kinds);
  }
  for (int i = 0; i < n + 1; i++) {
    snprintf(s->name[i], sizeof s->name[i], "g%d", i);
    geom[i].name = s->name[i];
  }
  djModelDef def = dj_defaultModelDef();
  def.option = option;
  def.nbody = n;
  def.njnt = n - 1;
  def.ngeom = n + 1;
  def.nmesh = 1;
  def.npair = n > 3;
  def.body = body;
  def.joint = joint;
  def.geom = geom;
  def.mesh = &mesh;
  def.pair = &pair;
  s->m = djt_makeModel(&def);
  for (int i = 0; i < n; i++) {
    s->pose[i] = (djPose){{0, 0, 0}, dju_eye3()};
    if (i == 0) continue;
    s->pose[i].p = dju_add3(dju_vec3(0, 0, 0.5), randomPoint(r, 0.5, 0.5, 0.5));
    s->pose[i].R = dju_quatToMat(randomQuat(r));
    s->ref[i] = s->pose[i].p;
  }
}

static djContacts* makeContacts(const djModel* m) {
  djContacts* c;
  djError err = {""};
  if (dj_makeContacts(&c, m, &err) != DJ_OK) fail_msg("%s", err.text);
  return c;
}

static void perturb(Case* s, Random* r, djPose* to, const djPose* from, double size) {
  to[0] = from[0];
  for (int i = 1; i < s->n; i++) {
    to[i].p = dju_add3(from[i].p, randomWithin(r, size));
    to[i].R = dju_mulMM(dju_quatToMat(smallQuat(r, size * uniform(r, 0, 3))), from[i].R);
  }
}

// ------------------------------------------ sums -----------------------------------------------

typedef struct Reference {
  djPairState* state;
  double value;
  int active;
  double gradient[MAXBODY][6];
} Reference;

// Every pair that can collide, with a new state.
static void bruteForce(Reference* out, const Case* s, const djPose* start, const djPose* pose,
                       double h) {
  const djModel* m = s->m;
  const djKernel* kernel = dj_kernel(m->opt.contact);
  int nscratch = DJ_KERNEL_SCRATCH(2 * m->collision->maxvert) + 64;
  double* scratch = malloc((size_t)nscratch * sizeof(double));
  djPairState* state = calloc(1, kernel->state_size);
  memset(out, 0, sizeof *out);
  for (int i = 0; i < m->ngeom; i++) {
    for (int j = i + 1; j < m->ngeom; j++) {
      if (!dj_isContactPair(m, i, j)) continue;
      bool swap = m->geom_type[i] == DJ_PLANE;
      int a = swap ? j : i, b = swap ? i : j, ba = m->geom_body[a], bb = m->geom_body[b];
      djPairCoefficients k = dj_pairCoefficients(m, i, j);
      const djContactScale scale = dj_pairScale(m, i, j);
      double setting[DJ_MAX_OF_KERNEL], skin = dj_skinOfOther(m->collision, 0, a, b);
      dj_pairSettings(setting, m, (int)m->opt.contact, i, j);
      djPairInput in = {.a = &m->collision->shape[a], .b = &m->collision->shape[b],
                        .pose_a = &start[ba], .pose_b = &start[bb], .start_a = &start[ba],
                        .start_b = &start[bb], .rate_a = &start[ba], .rate_b = &start[bb],
                        .ref_a = s->ref[ba], .ref_b = s->ref[bb], .h = h,
                        .setting = setting, .friction = k.friction,
                        .force_cap = m->contact.weight,
                        .inflate = k.inflate - skin, .lower = skin,
                        .recover = true, .recovery_part = scale.push / scale.weight,
                        .scratch = scratch, .nscratch = nscratch};
      memset(state, 0, kernel->state_size);
      djPairOutput o = {.twist_jac = NULL};
      assert_int_equal(kernel->begin(state, &in), DJ_OK);
      in.pose_a = &pose[ba];
      in.pose_b = &pose[bb];
      CHECK(kernel->eval(&o, state, &in, DJ_EVAL_HESSIAN) >= 0);
      out->value += o.value;
      if (!o.active) continue;
      out->active++;
      for (int q = 0; q < 6; q++) {
        out->gradient[ba][q] += o.gradient[q];
        out->gradient[bb][q] += o.gradient[6 + q];
      }
    }
  }
  free(state);
  free(scratch);
}

static void compare(const Case* s, djContacts* c, const djPose* pose, double h, int* active) {
  Reference ref;
  bruteForce(&ref, s, s->pose, pose, h);
  double value, gradient[MAXBODY][6] = {{0}}, size = 0;
  CHECK(dj_evalContacts(&value, c, s->m, pose, NULL, DJ_EVAL_HESSIAN) >= 0);
  if (!isfinite(ref.value)) {
    CHECK(value == INFINITY);
    return;
  }
  int n;
  const djContactBlock* const* block = dj_contactBlocks(&n, c);
  assert_int_equal(n, ref.active);
  *active += n;
  for (int k = 0; k < n; k++) {
    if (k > 0) {
      int p0 = block[k - 1]->geom_a, p1 = block[k - 1]->geom_b, q0 = block[k]->geom_a,
          q1 = block[k]->geom_b;
      int pl = p0 < p1 ? p0 : p1, ph = p0 + p1 - pl, ql = q0 < q1 ? q0 : q1, qh = q0 + q1 - ql;
      CHECK(pl < ql || (pl == ql && ph < qh));
    }
    for (int q = 0; q < 6; q++) {
      gradient[block[k]->body_a][q] += block[k]->out.gradient[q];
      gradient[block[k]->body_b][q] += block[k]->out.gradient[6 + q];
      size = djt_worst(size, fabs(block[k]->out.gradient[q]));
    }
  }
  djt_near(value, ref.value, 1e-9 * fabs(ref.value) + 1e-15);
  for (int b = 0; b < s->n; b++) {
    for (int q = 0; q < 6; q++) djt_near(gradient[b][q], ref.gradient[b][q], 1e-7 * size);
  }
}

static void testBruteForce(void) {
  Random r = {1};
  static Case s;
  int active = 0;
  for (int trial = 0; trial < 30; trial++) {
    djOption option = dj_defaultOption();
    if (trial % 2) option.support = 0.02;
    makeScene(&s, &r, 4 + below(&r, 12), 4, option);
    djContacts* c = makeContacts(s.m);
    double h = s.m->opt.timestep;
    djError err = {""};
    for (int step = 0; step < 12; step++) {
      djStatus begun = dj_beginContacts(c, s.m, s.pose, NULL, NULL, s.ref, h, &err);
      if (begun < 0) fail_msg("%s", err.text);
      compare(&s, c, s.pose, h, &active);
      for (int k = 0; k < 3; k++) {
        double factor;
        perturb(&s, &r, s.next, s.pose, logUniform(&r, 1e-5, step % 5 == 4 ? 0.3 : 1e-2));
        CHECK(dj_capContacts(&factor, c, s.m, s.pose, s.next) >= 0);
        CHECK(factor > 0 && factor <= 1);
        compare(&s, c, s.next, h, &active);
      }
      memcpy(s.pose, s.next, sizeof s.pose);
    }
    dj_deleteContacts(c);
    dj_deleteModel(s.m);
  }
  CHECK(active > 1000);
}

// A plane on a body that moves, and one that mocap moves, are always looked at.
static void testMovingPlane(void) {
  Scene* s = newScene(2);
  const int plane = addBody(s, 0, -1, 0, 0, 0, 0, 0);
  s->body[plane].mocap = true;
  addGeom(s, plane, DJ_PLANE, 0, 0, 1);
  addGeom(s, addBody(s, 0, DJ_FREE, 0, 0, 0, 1, 0.5), DJ_SPHERE, 0.1, 0, 0);
  djModel* m = takeScene(s);
  djContacts* c = makeContacts(m);
  djPose pose[3] = {{{0, 0, 0}, dju_eye3()}, {{0, 0, 0}, dju_eye3()}, {{5, 0, 5}, dju_eye3()}};
  djVec3 ref[3] = {{0, 0, 0}, {0, 0, 0}, {5, 0, 5}};
  double value;
  assert_int_equal(dj_beginContacts(c, m, pose, NULL, NULL, ref, 0.002, NULL), DJ_OK);
  assert_int_equal(dj_evalContacts(&value, c, m, pose, NULL, 0), DJ_OK);
  CHECK(value == 0);
  // tilted about y by 45 degrees the plane passes through the ball's centre; 0.1 lower it touches
  double q = sqrt(0.5);
  pose[1].R = (djMat3){{q, 0, -q, 0, 1, 0, q, 0, q}};
  assert_int_equal(dj_evalContacts(&value, c, m, pose, NULL, 0), DJ_OK);
  CHECK(value == INFINITY);
  double below_surface = 0.1 + 0.5 * m->contact.range - 2 * m->contact.skin;
  pose[1].p = dju_vec3(below_surface * q, 0, -below_surface * q);
  assert_int_equal(dj_evalContacts(&value, c, m, pose, NULL, 0), DJ_OK);
  CHECK(value > 0 && value < INFINITY);
  dj_deleteContacts(c);
  dj_deleteModel(m);
}

// ------------------------------------------ determinism ----------------------------------------

static void testDeterminism(void) {
  Random r = {3};
  static Case s;
  makeScene(&s, &r, 14, 4, dj_defaultOption());
  djContacts *c[3] = {makeContacts(s.m), makeContacts(s.m), makeContacts(s.m)};   // one starts late
  double h = s.m->opt.timestep, value[3], factor[3];
  for (int step = 0; step < 60; step++) {
    perturb(&s, &r, s.next, s.pose, 0.01);
    for (int k = 0; k < (step < 20 ? 2 : 3); k++) {
      CHECK(dj_beginContacts(c[k], s.m, s.pose, NULL, NULL, s.ref, h, NULL) >= 0);
      CHECK(dj_capContacts(&factor[k], c[k], s.m, s.pose, s.next) >= 0);
      CHECK(dj_evalContacts(&value[k], c[k], s.m, s.next, NULL, DJ_EVAL_HESSIAN) >= 0);
      CHECK(value[k] == value[0] && factor[k] == factor[0]);
      int n0, n;
      const djContactBlock* const* b0 = dj_contactBlocks(&n0, c[0]);
      const djContactBlock* const* b = dj_contactBlocks(&n, c[k]);
      assert_int_equal(n, n0);
      for (int i = 0; i < n; i++) {
        assert_memory_equal(b[i]->out.hessian, b0[i]->out.hessian, sizeof b0[i]->out.hessian);
      }
    }
    memcpy(s.pose, s.next, sizeof s.pose);
  }
  // warm or cold: the same up to the inner tolerance
  dj_resetContacts(c[1]);
  for (int k = 0; k < 2; k++) {
    CHECK(dj_beginContacts(c[k], s.m, s.pose, NULL, NULL, s.ref, h, NULL) >= 0);
    CHECK(dj_evalContacts(&value[k], c[k], s.m, s.pose, NULL, DJ_EVAL_HESSIAN) >= 0);
  }
  djt_near(value[1], value[0], 1e-9 * fabs(value[0]));
  static Case other;
  makeScene(&other, &r, 5, 4, dj_defaultOption());
  CHECK(dj_contactsSize(s.m) > dj_contactsSize(other.m));
  dj_deleteModel(other.m);
  for (int k = 0; k < 3; k++) dj_deleteContacts(c[k]);
  dj_deleteModel(s.m);
}

// ------------------------------------------ largest step ---------------------------------------

static double gapOf(const djModel* m, int a, int b, const djPose* pose) {
  djDistance d;
  const djShape* s = m->collision->shape;
  CHECK(dj_distance(&d, NULL, &s[a], &pose[m->geom_body[a]], 0, &s[b], &pose[m->geom_body[b]],
                    0) >= 0);
  return d.gap - dj_pairInflation(&s[a], &s[b], dj_pairCoefficients(m, a, b).inflate);
}

// After factor times a random motion no gap has shrunk by more than .9 of it and a quarter of its
// room.
static void testCap(void) {
  Random r = {4};
  static Case s;
  int capped = 0, free_flight = 0;
  for (int trial = 0; trial < 300; trial++) {
    makeScene(&s, &r, 3 + below(&r, 6), 4, dj_defaultOption());
    djContacts* c = makeContacts(s.m);
    CHECK(dj_beginContacts(c, s.m, s.pose, NULL, NULL, s.ref, 0.002, NULL) >= 0);
    double size = logUniform(&r, 1e-4, 3), factor;
    djVec3 step[MAXBODY];
    for (int i = 1; i < s.n; i++) step[i] = dju_scale3(size, randomUnit(&r));
    memcpy(s.next, s.pose, sizeof s.pose);
    for (int i = 1; i < s.n; i++) s.next[i].p = dju_add3(s.pose[i].p, step[i]);
    CHECK(dj_capContacts(&factor, c, s.m, s.pose, s.next) >= 0);
    CHECK(factor > 0 && factor <= 1);
    capped += factor < 1;
    free_flight += factor == 1;
    for (int i = 1; i < s.n; i++) s.next[i].p = dju_madd3(s.pose[i].p, factor, step[i]);
    for (int a = 1; a < s.m->ngeom; a++) {
      for (int b = a + 1; b < s.m->ngeom; b++) {
        if (!dj_isContactPair(s.m, a, b)) continue;
        const djShape* sh = s.m->collision->shape;
        double before = gapOf(s.m, a, b, s.pose), after = gapOf(s.m, a, b, s.next);
        double room = s.m->contact.support * s.m->contact.length_scale +
                      2 * fmin(sh[a].inner, sh[b].inner);
        double most = 0.9 * fmax(before, 0) + 0.25 * room;
        CHECK(before - after <= most * (1 + 1e-9) + 1e-12);
      }
    }
    // all together, turning about one point: nothing approaches anything
    djMat3 R = dju_quatToMat(smallQuat(&r, 0.3));
    for (int i = 1; i < s.n; i++) {
      s.next[i].p = dju_add3(dju_mulMV(R, s.pose[i].p), dju_vec3(0, 0, 30));
      s.next[i].R = dju_mulMM(R, s.pose[i].R);
    }
    djModel* m = s.m;
    int type = m->collision->shape[1].type;
    m->collision->shape[1].type = -1;   // but for the static box
    djContacts* d = makeContacts(m);
    m->collision->shape[1].type = type;
    CHECK(dj_beginContacts(d, m, s.pose, NULL, NULL, s.ref, 0.002, NULL) >= 0);
    CHECK(dj_capContacts(&factor, d, m, s.pose, s.next) >= 0);
    CHECK(factor == 1);
    dj_deleteContacts(d);
    dj_deleteContacts(c);
    dj_deleteModel(m);
  }
  CHECK(capped > 30 && free_flight > 30);
}

// A ball at 30 m/s against a plate of 1 mm.
static void testPlate(void) {
  Scene* s = newScene(1);
  addGeom(s, 0, DJ_BOX, 1, 1, 0.0005);
  addGeom(s, addBody(s, 0, DJ_FREE, 0, 0, 0, 1, 0.05), DJ_SPHERE, 0.02, 0, 0);
  djModel* m = takeScene(s);
  djData* d = djt_data(m);
  for (int trial = 0; trial < 40; trial++) {
    assert_int_equal(dj_resetData(m, d), DJ_OK);
    d->qpos[0] = 0.1;
    d->qpos[2] = 0.3 + 0.0017 * trial;
    d->qvel[2] = -30;
    for (int k = 0; k < 100; k++) {
      CHECK(dj_step(m, d) >= 0);
      CHECK(d->qpos[2] > 0.019);
    }
    CHECK(fabs(d->qvel[2]) < 0.2);   // stopped, without a rebound
  }
  djt_delete(m, d);
}

// ------------------------------------------ overlap, capacity ----------------------------------

static void testOverlapError(void) {
  Random r = {6};
  static Case s;
  djOption option = dj_defaultOption();
  option.overlap = DJ_OVERLAP_ERROR;
  makeScene(&s, &r, 3, 1, option);
  for (int i = 1; i < 3; i++) s.pose[i] = (djPose){{10.0 * i, 0, 10}, dju_eye3()};
  CHECK(dj_maxContactPairs(s.m) == 5);   // all that there are
  djContacts* c = makeContacts(s.m);
  djError err = {""};
  assert_int_equal(dj_beginContacts(c, s.m, s.pose, NULL, NULL, s.ref, 0.002, &err), DJ_OK);
  s.pose[2].p = s.pose[1].p;
  s.pose[2].p.x += 0.03;
  assert_int_equal(dj_beginContacts(c, s.m, s.pose, NULL, NULL, s.ref, 0.002, &err), DJ_OVERLAP);
  CHECK(strstr(err.text, "g2") && strstr(err.text, "g3") && strstr(err.text, "overlap by 0."));
  s.pose[2].p.x += 5;
  assert_int_equal(dj_beginContacts(c, s.m, s.pose, NULL, NULL, s.ref, 0.002, &err), DJ_OK);
  dj_deleteContacts(c);
  dj_deleteModel(s.m);
}

static void testCapacity(void) {
  Random r = {7};
  static Case s;
  makeScene(&s, &r, 40, 2, dj_defaultOption());
  for (int i = 1; i < s.n; i++) s.pose[i].p = dju_vec3(0, 0, 3);   // 741 pairs overlap
  djContacts* c = makeContacts(s.m);
  CHECK(dj_maxContactPairs(s.m) == 8 * 41 + 64);   // as contact.h has it
  djError err = {""};
  // all find room when a step begins
  CHECK(dj_beginContacts(c, s.m, s.pose, NULL, NULL, s.ref, 0.002, &err) >= 0);
  int all = 0;
  compare(&s, c, s.pose, 0.002, &all);
  CHECK(all == 741);
  // and it goes on with few
  for (int i = 1; i < s.n; i++) s.pose[i].p = dju_vec3(0.2 * i, 0, 3);
  CHECK(dj_beginContacts(c, s.m, s.pose, NULL, NULL, s.ref, 0.002, &err) >= 0);
  int active = 0;
  compare(&s, c, s.pose, 0.002, &active);
  // a motion without bounds is cut, not refused
  double factor;
  for (int i = 1; i < s.n; i++) {
    s.next[i] = s.pose[i];
    s.next[i].p.x += 1e6 * i;
  }
  s.next[0] = s.pose[0];
  CHECK(dj_capContacts(&factor, c, s.m, s.pose, s.next) >= 0);
  CHECK(factor > 0);
  s.next[1].p.x = NAN;
  CHECK(dj_capContacts(&factor, c, s.m, s.pose, s.next) >= 0);
  double value;
  djStatus status = dj_evalContacts(&value, c, s.m, s.next, NULL, 0);
  CHECK(status < 0 || value == INFINITY || isfinite(value));
  dj_deleteContacts(c);
  dj_deleteModel(s.m);
}

static void testBad(void) {
  Random r = {8};
  static Case s;
  makeScene(&s, &r, 4, 4, dj_defaultOption());
  djContacts* c = makeContacts(s.m);
  double value;
  djError err;
  assert_int_equal(dj_evalContacts(&value, c, s.m, s.pose, NULL, 0), DJ_INVALID);   // not begun
  assert_int_equal(dj_capContacts(&value, c, s.m, s.pose, s.pose), DJ_INVALID);
  assert_int_equal(dj_startContacts(c, s.m, s.pose), DJ_INVALID);
  assert_int_equal(dj_beginContacts(c, s.m, s.pose, NULL, NULL, s.ref, 0, &err), DJ_INVALID);
  assert_int_equal(dj_beginContacts(c, s.m, NULL, NULL, NULL, s.ref, 0.002, &err), DJ_INVALID);
  assert_int_equal(dj_beginContacts(NULL, s.m, s.pose, NULL, NULL, s.ref, 0.002, &err), DJ_INVALID);
  djContacts* none = c;
  djModel off = *s.m;
  off.opt.contact = DJ_CONTACT_NONE;
  assert_int_equal(dj_makeContacts(&none, &off, &err), DJ_UNSUPPORTED);
  assert_null(none);
  dj_deleteContacts(NULL);
  dj_resetContacts(NULL);
  dj_deleteContacts(c);
  dj_deleteModel(s.m);
}

// ------------------------------------------ reports --------------------------------------------

// A stack of two boxes at rest: forces are weights, overlaps and gaps are consistent.
static void testReport(void) {
  Scene* s = newScene(2);
  addGeom(s, 0, DJ_PLANE, 0, 0, 1);
  for (int i = 1; i < 3; i++) addBody(s, 0, DJ_FREE, 0.02 * (i - 1), 0, 0.2 * i - 0.1, i, 0.129);
  for (int i = 0; i < 2; i++) addGeom(s, 1, DJ_BOX, 0.05, 0.1, 0.1)->pos[0] = i ? 0.05 : -0.05;
  addGeom(s, 2, DJ_BOX, 0.1, 0.1, 0.1); // the lower box is two halves
  djModel* m = takeScene(s);
  djData* d = djt_data(m);
  for (int k = 0; k < 500; k++) assert_int_equal(dj_step(m, d), DJ_OK);
  assert_int_equal(d->ncontact, 2);
  assert_int_equal(d->npair, 4);
  const djContactForce* f = d->contact;
  CHECK(f[0].body1 == 0 && f[0].body2 == 1 && f[1].body1 == 1 && f[1].body2 == 2);
  djt_near(f[0].force[2], 3 * 9.81, 1e-4);
  djt_near(f[1].force[2], 2 * 9.81, 1e-4);
  djt_near(f[0].force[0], 0, 1e-4);
  // about body 2's origin its own weight and the support balance
  djt_near(f[1].torque[1], 0, 1e-4);
  djt_near(f[0].torque[1], -2 * 9.81 * 0.02, 1e-3);
  double sum = 0, deepest = 0, gap = INFINITY;
  for (int k = 0; k < d->npair; k++) {
    const djContactPair* p = &d->pair[k];
    CHECK(p->geom1 < p->geom2);
    CHECK(k == 0 || p->geom1 > p[-1].geom1 || p->geom2 > p[-1].geom2);
    djt_near(p->normal[2], 1, 1e-3);
    CHECK(p->gap > 0 && p->gap < m->contact.range && !p->recovering);
    djt_near(p->point[2], p->geom1 == 0 ? 0 : 0.2, 1e-3);
    djt_near(p->force[2], p->normal_force, 1e-3);
    if (p->geom1 == 0) sum += p->force[2];
    gap = fmin(gap, p->gap);
    deepest = djt_worst(deepest, 2 * m->contact.skin - p->gap);
  }
  djt_near(sum, 3 * 9.81, 1e-4);
  djt_near(d->stats.gap, gap, 1e-15);
  djt_near(d->stats.overlap, deepest, 1e-7);
  CHECK(d->stats.smallest_gap <= d->stats.gap && d->stats.deepest_overlap >= d->stats.overlap);
  CHECK(d->stats.recovering_steps == 0 && d->stats.deepest_overlap < 2 * m->contact.skin);
  // 1 cm deep: recovering, with the true depth and the gap of the contact shapes
  d->qpos[2] -= 0.01;
  assert_int_equal(dj_step(m, d), DJ_OK);
  CHECK(d->stats.recovering_steps == 1);
  djt_near(d->stats.overlap, 0.01, 2e-3);
  djt_near(d->stats.gap, 2 * m->contact.skin - d->stats.overlap, 1e-6);
  int recovering = 0;
  for (int k = 0; k < d->npair; k++) recovering += d->pair[k].recovering;
  assert_int_equal(recovering, 2);
  // nothing near
  CHECK(dj_resetData(m, d) == DJ_OK);
  d->qpos[2] += 5;
  d->qpos[7 + 2] += 10;
  assert_int_equal(dj_step(m, d), DJ_OK);
  CHECK(d->npair == 0 && d->ncontact == 0 && d->stats.gap == INFINITY && d->stats.overlap == 0);
  djt_delete(m, d);
}

DJT_MAIN(testBruteForce, testMovingPlane, testDeterminism, testCap, testPlate, testOverlapError,
         testCapacity, testBad, testReport)
