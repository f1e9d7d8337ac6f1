// The list of near pairs changes no result: whatever a body has done before, in this step and in
// earlier ones, a pair acts exactly where its gap is below the kernel's range, or by friction. Gaps
// are known in closed form here: of a box and a plane, and of two balls.

#include "common/make_model.h"
#include "common/random_shape.h"
#include "common/test.h"
#include "contact/contact.h"

// A box on body 1 and a plane, or a ball each on bodies 1 and 2; maybe an explicit pair of them.
typedef struct Scene {
  djModel* m;
  djGeomDef geom[2];
  int id[2];      // of the geoms in the model
  double inflate; // of both together
} Scene;

// Two free bodies beside the world.
static void makeBodies(djBodyDef body[3], djJointDef joint[2]) {
  for (int i = 0; i < 3; i++) {
    body[i] = dj_defaultBodyDef();
    body[i].mass = 1;
    for (int k = 0; k < 3; k++) body[i].inertia[k] = 0.01;
  }
  for (int i = 0; i < 2; i++) {
    joint[i] = dj_defaultJointDef();
    joint[i].body = i + 1;
    joint[i].type = DJ_FREE;
    joint[i].qpos0[3] = joint[i].springref[3] = 1;
  }
}

// support: 0: the default.
static void makeScene(Scene* s, Random* r, bool plane, bool pair, double support) {
  djBodyDef body[3];
  djJointDef joint[2];
  djGeomDef listed[2];
  makeBodies(body, joint);
  for (int i = 0; i < 2; i++) {
    djGeomDef* g = &s->geom[i];
    *g = dj_defaultGeomDef();
    g->type = i == 1 && plane ? DJ_PLANE : plane ? DJ_BOX : DJ_SPHERE;
    g->body = i == 0 ? 1 : plane ? 0 : 2;
    g->condim = 1;
    for (int k = 0; k < 3; k++) g->size[k] = logUniform(r, 0.05, 0.5);
    dju_storeQuat(g->quat, randomQuat(r));
    dju_store3(g->pos, dju_scale3(0.2, randomUnit(r)));
    g->margin = below(r, 2) ? uniform(r, 0, 0.02) : 0;
    g->gap = uniform(r, 0, g->margin);
    s->id[i] = plane ? 1 - i : i; // in the order of their bodies
    listed[s->id[i]] = *g;
  }
  djPairDef def_pair = {.geom1 = 0, .geom2 = 1, .condim = 1, .margin = uniform(r, 0.02, 0.1)};
  s->inflate = s->geom[0].margin - s->geom[0].gap + s->geom[1].margin - s->geom[1].gap;
  if (pair) s->inflate = def_pair.margin;
  djModelDef def = dj_defaultModelDef();
  if (support > 0) def.option.support = support;
  def.nbody = 3;
  def.njnt = 2;
  def.ngeom = 2;
  def.npair = pair;
  def.body = body;
  def.joint = joint;
  def.geom = listed;
  def.pair = &def_pair;
  s->m = djt_makeModel(&def);
}

static djPose placeOf(const djGeomDef* g, const djPose* pose) {
  djPose body = pose[g->body];
  return (djPose){dju_transform(&body, dju_load3(g->pos)),
                  dju_mulMM(body.R, dju_quatToMat(dju_loadQuat(g->quat)))};
}

// Gap of the contact shapes, and the direction from the first one to the other.
static double gapOf(djVec3* normal, const Scene* s, const djPose* pose) {
  djPose T0 = placeOf(&s->geom[0], pose), T1 = placeOf(&s->geom[1], pose);
  const double* size = s->geom[0].size;
  double skin[2] = {s->m->geom_skin[s->id[0]], s->m->geom_skin[s->id[1]]};
  if (isinf(skin[1])) skin[1] = skin[0]; // of a plane
  djVec3 between = dju_sub3(T1.p, T0.p);
  if (s->geom[1].type == DJ_SPHERE) {
    double length = dju_norm3(between);
    *normal = dju_scale3(1 / length, between);
    return length - (size[0] - skin[0]) - (s->geom[1].size[0] - skin[1]) - s->inflate;
  }
  *normal = dju_neg3(dju_column(&T1.R, 2));
  double reach = 0;
  for (int k = 0; k < 3; k++) {
    reach += (size[k] - skin[0]) * fabs(dju_dot3(*normal, dju_column(&T0.R, k)));
  }
  return dju_dot3(*normal, between) + skin[1] - reach - s->inflate;
}

// Moves the bodies a little, then body 1 along the normal to the gap.
static void moveTo(djPose* to, const Scene* s, const djPose* from, Random* r, double size,
                   double gap) {
  memmove(to, from, 3 * sizeof *to);
  for (int b = 1; b < 3; b++) {
    to[b].p = dju_add3(from[b].p, randomWithin(r, size));
    to[b].R = dju_mulMM(dju_quatToMat(smallQuat(r, size * uniform(r, 0, 3))), from[b].R);
  }
  djVec3 n;
  double now = gapOf(&n, s, to);
  to[1].p = dju_madd3(to[1].p, now - gap, n);
}

static double randomGap(const Scene* s, Random* r) {
  double range = s->m->contact.range;
  return below(r, 2) ? range * uniform(r, 0.85, 0.999) : range * 1.001 + logUniform(r, 1e-4, 0.1);
}

static int countActive(djContacts* c, const djModel* m, const djPose* pose) {
  double value;
  int n;
  assert_true(dj_evalContacts(&value, c, m, pose, NULL, 0) >= 0);
  dj_contactBlocks(&n, c);
  assert_true((value > 0) == (n > 0));
  return n;
}

static void testActs(void) {
  Random r = {1};
  int active = 0, apart = 0;
  for (int trial = 0; trial < 400; trial++) {
    Scene s;
    makeScene(&s, &r, trial % 2, trial % 4 >= 2, trial % 8 >= 4 ? uniform(&r, 0.02, 0.1) : 0);
    djContacts* c;
    djError err = {""};
    if (dj_makeContacts(&c, s.m, &err) < 0) fail_msg("%s", err.text);
    djPose pose[3], next[3];
    djVec3 ref[3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}, n;
    for (int b = 0; b < 3; b++) { // often along an axis, where boxes bound distances best
      djVec3 p = b ? dju_scale3(b * 3.0, randomUnit(&r)) : dju_vec3(0, 0, 0);
      if (b == 2 && below(&r, 2)) {
        p = dju_madd3(pose[1].p, below(&r, 2) ? 3 : -3, dju_vec3(0, 0, 1));
      }
      pose[b] = (djPose){p, b ? dju_quatToMat(randomQuat(&r)) : dju_eye3()};
    }
    double size = logUniform(&r, 1e-4, 0.1);
    moveTo(pose, &s, pose, &r, 0, randomGap(&s, &r));
    for (int step = 0; step < 20; step++) {
      memcpy(next, pose, sizeof next);
      djStatus begun = dj_beginContacts(c, s.m, pose, NULL, NULL, ref, 0.002, &err);
      if (begun < 0) fail_msg("%s", err.text);
      for (int k = 0; k < 4; k++) {
        double factor;
        djPose from[3];
        memcpy(from, next, sizeof from);
        if (k > 0) moveTo(next, &s, pose, &r, size, randomGap(&s, &r));
        if (k > 1) assert_true(dj_capContacts(&factor, c, s.m, from, next) >= 0);
        bool acts = gapOf(&n, &s, next) < s.m->contact.range;
        assert_int_equal(countActive(c, s.m, next), acts);
        active += acts;
        apart += !acts;
      }
      memcpy(pose, next, sizeof pose);
    }
    dj_deleteContacts(c);
    dj_deleteModel(s.m);
  }
  assert_true(active > 5000 && apart > 5000);
}

// Force on body 1, and whether its pair acts.
static bool forceOn(djVec3* force, djContacts* c, const djModel* m, const djPose* pose) {
  double value;
  int n;
  assert_true(dj_evalContacts(&value, c, m, pose, NULL, DJ_EVAL_GRADIENT) >= 0);
  const djContactBlock* const* block = dj_contactBlocks(&n, c);
  *force = dju_vec3(0, 0, 0);
  if (n == 0) return false;
  const double* g = block[0]->out.gradient + (block[0]->body_a == 1 ? 3 : 9);
  *force = dju_neg3(dju_load3(g));
  return true;
}

// Friction follows from the normal force at the start of the step: also where the bodies are far
// apart at its end it pulls with mu times that force, against their motion.
static void testFrictionReaches(void) {
  Random r = {2};
  for (int trial = 0; trial < 60; trial++) {
    Scene s;
    makeScene(&s, &r, trial % 2, false, 0);
    for (int g = 0; g < 2; g++) s.m->geom_condim[g] = 3;
    djContacts* c;
    djError err = {""};
    if (dj_makeContacts(&c, s.m, &err) < 0) fail_msg("%s", err.text);
    djPose pose[3], next[3];
    for (int b = 0; b < 3; b++) {
      pose[b] = (djPose){dju_vec3(0, 0, 3.0 * b), b ? dju_quatToMat(randomQuat(&r)) : dju_eye3()};
    }
    djVec3 ref[3] = {pose[0].p, pose[1].p, pose[2].p}, n, at_start, far;
    moveTo(pose, &s, pose, &r, 0, 0.85 * s.m->contact.range);
    assert_int_equal(dj_beginContacts(c, s.m, pose, NULL, NULL, ref, 0.002, &err), DJ_OK);
    assert_true(forceOn(&at_start, c, s.m, pose));
    gapOf(&n, &s, pose);
    double N = fabs(dju_dot3(at_start, n)), mu = s.m->geom_friction[0];
    djVec3 t = dju_cross3(n, randomUnit(&r));
    t = dju_scale3(1 / dju_norm3(t), t);
    memcpy(next, pose, sizeof next);
    double away = logUniform(&r, 0.2, 3);
    next[1].p = dju_madd3(dju_madd3(pose[1].p, -away, n), 0.5, t);
    assert_true(forceOn(&far, c, s.m, next));
    assert_true(fabs(dju_dot3(far, n)) < 1e-6 * N);
    assert_true(fabs(dju_dot3(far, t) + mu * N) < 1e-3 * mu * N);
    dj_deleteContacts(c);
    dj_deleteModel(s.m);
  }
}

// A support that grows from one step to the next makes pairs act that were out of range.
static void testRangeGrows(void) {
  Random r = {3};
  for (int trial = 0; trial < 40; trial++) {
    Scene s;
    makeScene(&s, &r, trial % 2, false, 0.001);
    djContacts* c;
    djError err = {""};
    djVec3 force, ref[3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    if (dj_makeContacts(&c, s.m, &err) < 0) fail_msg("%s", err.text);
    djPose pose[3];
    for (int b = 0; b < 3; b++) pose[b] = (djPose){dju_vec3(0, 0, 3.0 * b), dju_eye3()};
    moveTo(pose, &s, pose, &r, 0, 0.3);
    assert_int_equal(dj_beginContacts(c, s.m, pose, NULL, NULL, ref, 0.002, &err), DJ_OK);
    assert_false(forceOn(&force, c, s.m, pose));
    double support = 0.15;
    djParam p = djt_param(s.m, "contact/support");
    assert_int_equal(dj_setParam(s.m, &p, &support, &err), DJ_OK);
    assert_true(s.m->contact.support * 2 > 0.3 * (1 - s.m->contact.support));
    assert_int_equal(dj_beginContacts(c, s.m, pose, NULL, NULL, ref, 0.002, &err), DJ_OK);
    assert_true(forceOn(&force, c, s.m, pose));
    dj_deleteContacts(c);
    dj_deleteModel(s.m);
  }
}

// ---- implicit surfaces ------------------------------------------------------------------------

// Two free bodies that fly at each other, with a geom each, whose gap is not their distance.
static djModel* surfaces(Random* r) {
  static const djGeomType types[4] = {DJ_BOX, DJ_CYLINDER, DJ_ELLIPSOID, DJ_CAPSULE};
  djBodyDef body[3];
  djJointDef joint[2];
  djGeomDef geom[2];
  djModelDef def = dj_defaultModelDef();
  djModel* m;
  djError err = {""};
  makeBodies(body, joint);
  for (int i = 0; i < 2; i++) {
    geom[i] = dj_defaultGeomDef();
    geom[i].type = types[below(r, 4)];
    geom[i].body = i + 1;
    for (int k = 0; k < 3; k++) geom[i].size[k] = uniform(r, 0.05, 0.3);
    dju_storeQuat(geom[i].quat, randomQuat(r));
    geom[i].sharpness = geom[i].type == DJ_ELLIPSOID ? 1 : 8;
  }
  def.option.contact = DJ_IMPLICIT_SURFACE;
  memset(def.option.gravity, 0, sizeof def.option.gravity);
  def.nbody = 3;
  def.njnt = def.ngeom = 2;
  def.body = body;
  def.joint = joint;
  def.geom = geom;
  if (dj_makeModel(&m, &def, &err) != DJ_OK) fail_msg("%s", err.text);
  return m;
}

// The touch of both surfaces, which are where the bodies are.
static void touchNow(djcImplicit* touch, const djModel* m, const djData* d) {
  djcImplicitShape shape[2];
  djSurface surface[2];
  double pos[2][3], quat[2][4];
  for (int i = 0; i < 2; i++) {
    assert_int_equal(dj_geomSurface(&surface[i], m, i, NULL), DJ_OK);
    shape[i] =
        (djcImplicitShape){surface[i].family, surface[i].nface, surface[i].nsize, surface[i].size};
    const djQuat q = dju_loadQuat(d->qpos + 7 * i + 3);
    const djPose body = {dju_load3(d->qpos + 7 * i), dju_quatToMat(q)};
    dju_store3(pos[i], dju_transform(&body, dju_load3(surface[i].pos)));
    dju_storeQuat(quat[i], dju_mulQuat(q, dju_loadQuat(surface[i].quat)));
  }
  assert_int_equal(djc_implicit(touch, NULL, NULL, &shape[0], pos[0], quat[0], &shape[1], pos[1],
                                quat[1], DJC_DERIVATIVES, NULL),
                   DJ_OK);
}

// One step, which is that of new data.
static void stepAlike(djData* d, const djModel* m) {
  djData* fresh = djt_data(m);
  memcpy(fresh->qpos, d->qpos, 14 * sizeof(double));
  memcpy(fresh->qvel, d->qvel, 12 * sizeof(double));
  assert_true(dj_step(m, d) >= 0 && dj_step(m, fresh) >= 0);
  assert_memory_equal(d->qpos, fresh->qpos, 14 * sizeof(double));
  assert_memory_equal(d->qvel, fresh->qvel, 12 * sizeof(double));
  dj_deleteData(fresh);
}

// Past each other, then straight at each other by more than their distance and less than the gap.
// first: how fast past. Returns whether gap and distance differ enough.
static bool meets(Random* r, double first) {
  djModel* m = surfaces(r);
  djcImplicit t;
  djData* d = djt_data(m);
  const djVec3 u = randomUnit(r);
  dju_store3(d->qpos + 7, u);
  touchNow(&t, m, d);
  dju_store3(d->qpos + 7, dju_scale3(1 - t.gap + 0.02, u)); // a gap of 0.02
  dju_store3(d->qvel + 6, dju_scale3(first, dju_cross3(u, randomUnit(r))));
  stepAlike(d, m);
  touchNow(&t, m, d);
  const djVec3 n = dju_load3(t.normal);
  const double part = dju_dot3(n, dju_load3(d->qpos + 7)) / dju_norm3(dju_load3(d->qpos + 7));
  const bool oblique = d->npair == 0 && t.gap > 1e-3 && part < 0.85;
  if (oblique) { // planes separate them by the gap times that part
    memset(d->qvel, 0, 12 * sizeof(double));
    dju_store3(d->qvel + 6, dju_scale3(-0.5 * (1 + part) * t.gap / m->opt.timestep, n));
    stepAlike(d, m);
    assert_int_equal(d->npair, 1);
  }
  djt_delete(m, d);
  return oblique;
}

static void testSurfaces(void) {
  Random r = {11};
  for (int k = 0; k < 2; k++) {
    int met = 0;
    for (int i = 0; i < 400; i++) met += meets(&r, k ? 8 : 0);
    assert_true(met > 20);
  }
}

DJT_MAIN(testActs, testSurfaces, testFrictionReaches, testRangeGrows)
