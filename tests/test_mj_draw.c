// Contact as geoms in MuJoCo's scenes.

#include "common/mjcf.h"
#include "common/test.h"
#include "engine/draw.h"

#include <dijoco/dijoco.h>

#define BALL "a_ball_with_a_name_that_is_longer_than_labels_hold"

// A turned box on the floor with a ball on it, and a capsule; sizes and scales are all different.
static const char kScene[] =
    "<mujoco><option timestep='0.005'/><statistic meansize='.2' meanmass='3'/>"
    "<visual><map force='.01'/><scale contactwidth='.25' contactheight='.05' forcewidth='.15'/>"
    "</visual><worldbody><geom name='floor' type='plane' size='2 2 .1'/>"
    "<body pos='0 0 .1' euler='0 0 20'><freejoint/><geom name='B' type='box' size='.3 .2 .1' "
    "mass='4'/></body>"
    "<body pos='.1 0 .25'><joint type='slide' axis='0 0 1'/><geom name='" BALL "' size='.05' "
    "mass='1'/>"
    "</body>"
    "<body pos='1 0 .1' euler='90 0 0'><freejoint/><geom type='capsule' size='.1 .4' mass='2'/>"
    "</body></worldbody></mujoco>";

typedef struct Fixture {
  mjModel* m;
  mjData* d;
  djmContext* context;
  const djModel* model;
  const djData* data;
  mjvScene scn;
  mjvOption opt;
} Fixture;

static void begin(Fixture* f, const char* text, int steps) {
  djError err;
  f->m = djt_compile(text);
  f->d = mj_makeData(f->m);
  if (djm_makeContext(&f->context, NULL, f->m, &err) != DJ_OK) fail_msg("%s", err.text);
  for (int i = 0; i < steps; i++) assert_true(djm_step(f->m, f->d, f->context) >= 0);
  f->model = djm_model(f->context);
  f->data = djm_data(f->context);
  mj_forward(f->m, f->d);
  mjv_defaultScene(&f->scn);
  mjv_makeScene(f->m, &f->scn, 100);
  mjv_defaultOption(&f->opt);
}

static void end(Fixture* f) {
  mjv_freeScene(&f->scn);
  djm_deleteContext(f->context);
  djt_deleteEngine(f->m, f->d);
}

static const djContactPair* findPair(const Fixture* f, int geom1, int geom2) {
  for (int k = 0; k < f->data->npair; k++) {
    const djContactPair* pair = f->data->pair + k;
    if (pair->geom1 == geom1 && pair->geom2 == geom2) return pair;
  }
  fail_msg("no pair of %d and %d", geom1, geom2);
  return NULL;
}

// The nth geom of this type at or after the pair's index, as the scene has it.
static const mjvGeom* findGeom(const Fixture* f, const djContactPair* pair, int type, int nth) {
  int id = (int)(pair - f->data->pair);
  for (int i = 0; i < f->scn.ngeom; i++) {
    const mjvGeom* g = f->scn.geoms + i;
    if (g->objtype == mjOBJ_UNKNOWN && g->objid == id && g->type == type && nth-- == 0) return g;
  }
  fail_msg("pair %d has no geom of type %d", id, type);
  return NULL;
}

static void assertNear3(const float* x, const double* y) {
  for (int i = 0; i < 3; i++) assert_float_equal(x[i], y[i], 1e-6);
}

// Column k of a geom's orientation.
static void column(double out[3], const mjvGeom* g, int k) {
  for (int i = 0; i < 3; i++) out[i] = g->mat[3 * i + k];
}

static void testPoints(void) {
  Fixture f;
  begin(&f, kScene, 150);
  assert_int_equal(f.data->npair, 3);
  djm_drawContacts(&f.scn, f.m, f.model, &f.opt, f.data);
  assert_int_equal(f.scn.ngeom, 0);   // no flag, nothing drawn
  f.opt.flags[mjVIS_CONTACTPOINT] = 1;
  f.opt.label = mjLABEL_CONTACTPOINT;
  djm_drawContacts(&f.scn, f.m, f.model, &f.opt, f.data);
  assert_int_equal(f.scn.ngeom, 9);
  assert_int_equal(f.scn.status, 0);
  for (int i = 0; i < 9; i++) {
    assert_int_equal(f.scn.geoms[i].category, mjCAT_DECOR);
    assert_int_equal(f.scn.geoms[i].segid, i);
  }

  // The plate under the box is turned with it; that under the ball is a square. The points are
  // elsewhere: the ball stands off the box's middle.
  const djContactPair* pair = findPair(&f, 0, 1);
  const mjvGeom* plate = findGeom(&f, pair, mjGEOM_BOX, 0);
  const double below[3] = {f.data->geom_xpos[3], f.data->geom_xpos[4], pair->point[2]};
  assertNear3(plate->pos, below);
  assert_true(fabs(below[0] - pair->point[0]) > 1e-3);
  double along[3], normal[3], wanted[3] = {cos(20 * mjPI / 180), sin(20 * mjPI / 180), 0};
  column(along, plate, 0);
  column(normal, plate, 2);
  assert_true(fabs(mju_dot3(along, wanted)) > 1 - 1e-4);
  assert_float_equal(mju_dot3(normal, pair->normal), 1, 1e-6);
  assert_float_equal(plate->size[0] / plate->size[1], 1.5, 1e-3);
  assert_true(plate->size[0] > 0.3 && plate->size[0] < 0.4);
  assert_true(plate->rgba[3] < 0.6f && plate->rgba[3] > 0);
  pair = findPair(&f, 1, 2);
  plate = findGeom(&f, pair, mjGEOM_BOX, 0);
  assert_float_equal(plate->size[0], plate->size[1], 1e-6);
  assert_true(plate->size[0] > 0.05 && plate->size[0] < 0.07);

  // Disc and gap.
  for (int k = 0; k < 3; k++) {
    pair = f.data->pair + k;
    const mjvGeom* disc = findGeom(&f, pair, mjGEOM_CYLINDER, 0);
    assertNear3(disc->pos, pair->point);
    assert_float_equal(disc->size[0], (0.25 * 0.2), 1e-6);
    assert_float_equal(disc->size[2], (0.05 * 0.2), 1e-6);
    const mjvGeom* line = findGeom(&f, pair, mjGEOM_LINE, 0);
    assert_float_equal(line->size[2], pair->gap, 1e-6);
    double middle[3], axis[3];
    column(axis, line, 2);
    for (int i = 0; i < 3; i++) middle[i] = line->pos[i] + 0.5 * pair->gap * axis[i];
    assertNear3(disc->pos, middle);
  }
  char label[100];
  pair = findPair(&f, 0, 3);
  snprintf(label, sizeof(label), "floor | g3 %.3g", pair->gap);
  assert_string_equal(findGeom(&f, pair, mjGEOM_CYLINDER, 0)->label, label);
  pair = findPair(&f, 1, 2);
  snprintf(label, sizeof(label), "B | %.39s %.3g", BALL, pair->gap);
  assert_string_equal(findGeom(&f, pair, mjGEOM_CYLINDER, 0)->label, label);
  end(&f);
}

// The vector that an arrow shows, as a force.
static void arrowForce(double force[3], const Fixture* f, const mjvGeom* g) {
  column(force, g, 2);
  mju_scl3(force, force, g->size[2] * f->m->stat.meanmass / f->m->vis.map.force);
}

static void testForces(void) {
  Fixture f;
  begin(&f, kScene, 0);
  f.d->xfrc_applied[6] = 10;     // pushes the box: friction
  for (int i = 0; i < 60; i++) assert_true(djm_step(f.m, f.d, f.context) >= 0);
  f.opt.flags[mjVIS_CONTACTFORCE] = 1;
  f.opt.label = mjLABEL_CONTACTFORCE;
  djm_drawContacts(&f.scn, f.m, f.model, &f.opt, f.data);
  assert_int_equal(f.scn.ngeom, f.data->npair);
  double force[3], normal[3], friction[3], sum[3];
  const djContactPair* box = findPair(&f, 0, 1);
  const mjvGeom* arrow = findGeom(&f, box, mjGEOM_ARROW, 0);
  assertNear3(arrow->pos, box->point);
  assert_float_equal(arrow->size[0], 0.15 * 0.2, 1e-6);
  arrowForce(force, &f, arrow);
  for (int i = 0; i < 3; i++) assert_float_equal(force[i], box->force[i], 1e-3);
  assert_true(force[0] < -5 && force[2] > 40);
  char label[100];
  snprintf(label, sizeof(label), "%.3g", mju_norm3(box->force));
  assert_string_equal(arrow->label, label);
  findGeom(&f, findPair(&f, 1, 2), mjGEOM_ARROW2, 0);   // between two bodies

  f.opt.flags[mjVIS_CONTACTSPLIT] = 1;
  f.scn.ngeom = 0;
  djm_drawContacts(&f.scn, f.m, f.model, &f.opt, f.data);
  const mjvGeom* part[2] = {findGeom(&f, box, mjGEOM_ARROW, 0), findGeom(&f, box, mjGEOM_ARROW, 1)};
  arrowForce(normal, &f, part[0]);
  arrowForce(friction, &f, part[1]);
  assert_float_equal(mju_norm3(normal), box->normal_force, (1e-3 * box->normal_force));
  assert_float_equal(mju_dot3(normal, friction), 0, 1e-3);
  mju_add3(sum, normal, friction);
  for (int i = 0; i < 3; i++) assert_float_equal(sum[i], box->force[i], 1e-3);
  assert_memory_not_equal(part[0]->rgba, part[1]->rgba, sizeof(part[0]->rgba));
  assert_true(part[0]->rgba[3] == 1 && part[1]->rgba[3] == 1);
  end(&f);
}

// Colours are not MuJoCo's, and pairs in recovery differ from the others.
static void testColours(void) {
  Fixture f;
  begin(&f,
        "<mujoco><option timestep='0.005'/><worldbody><geom type='plane' size='1 1 1'/>"
        "<body pos='0 0 .1'><freejoint/><geom size='.1'/></body>"
        "<body pos='1 0 .05'><freejoint/><geom size='.1'/></body></worldbody></mujoco>",
        3);
  f.opt.flags[mjVIS_CONTACTPOINT] = f.opt.flags[mjVIS_CONTACTFORCE] = 1;
  djm_drawContacts(&f.scn, f.m, f.model, &f.opt, f.data);
  const djContactPair *rest = findPair(&f, 0, 1), *deep = findPair(&f, 0, 2);
  assert_true(!rest->recovering && deep->recovering);
  const int type[] = {mjGEOM_BOX, mjGEOM_CYLINDER, mjGEOM_LINE, mjGEOM_ARROW};
  static const bool opaque[] = {false, true, true, true};
  const float* stock[] = {f.m->vis.rgba.contactpoint, f.m->vis.rgba.contactgap,
                          f.m->vis.rgba.contactforce, f.m->vis.rgba.contactfriction};
  for (int t = 0; t < 4; t++) {
    const float* a = findGeom(&f, rest, type[t], 0)->rgba;
    const float* b = findGeom(&f, deep, type[t], 0)->rgba;
    assert_true(fabsf(a[0] - b[0]) + fabsf(a[1] - b[1]) + fabsf(a[2] - b[2]) > 0.3f);
    assert_true(b[0] > 0.8f && b[1] < 0.2f && b[2] < 0.2f);   // red
    for (int i = 0; i < 4; i++) assert_true(a[i] > 0 && a[i] <= 1 && b[i] > 0 && b[i] <= 1);
    assert_true((a[3] == 1) == opaque[t] && a[3] == b[3]);
    for (int k = 0; k < 4; k++) {
      float difference = 0;
      for (int i = 0; i < 3; i++) difference += fabsf(a[i] - stock[k][i]);
      assert_true(difference > 0.3f);
    }
  }
  // Nobody asked for labels.
  for (int i = 0; i < f.scn.ngeom; i++) assert_string_equal(f.scn.geoms[i].label, "");
  // Overlapping: the gap is negative, and its line as long.
  assert_true(deep->gap < 0);
  assert_float_equal(findGeom(&f, deep, mjGEOM_LINE, 0)->size[2], -deep->gap, 1e-6);
  end(&f);
}

// Bodies on a sloping floor, under a gravity that is turned with it, or all of it upright.
static void beginTurned(Fixture* f, const mjtNum quat[4]) {
  static const char kBodies[] =
      "<geom name='floor' type='plane' size='2 2 .1'/>"
      "<body pos='0 0 .1' euler='0 0 20'><freejoint/><geom type='box' size='.2 .3 .1'/></body>"
      "<body pos='0 1 .15' euler='0 90 70'><freejoint/><geom type='capsule' size='.15 .2'/></body>"
      "<body pos='1 0 .1' euler='90 0 0'><freejoint/><geom type='mesh' mesh='wedge'/></body>";
  char text[4000];
  mjtNum gravity[3];
  mju_rotVecQuat(gravity, (const mjtNum[3]){1, 2, -9.81}, quat);
  snprintf(text, sizeof(text),
           "<mujoco><option timestep='0.005' gravity='%.17g %.17g %.17g'/><asset><mesh "
           "name='wedge' vertex='-.1 -.2 -.1 .1 -.2 -.1 -.1 .3 -.1 .1 .3 -.1 -.1 -.2 .2 .1 -.2 "
           ".1'/></asset><worldbody><frame quat='%.17g %.17g %.17g %.17g'>%s</frame></worldbody>"
           "</mujoco>",
           gravity[0], gravity[1], gravity[2], quat[0], quat[1], quat[2], quat[3], kBodies);
  begin(f, text, 20);
  f->opt.flags[mjVIS_CONTACTPOINT] = f->opt.flags[mjVIS_CONTACTFORCE] = 1;
  f->opt.flags[mjVIS_CONTACTSPLIT] = 1;
  djm_drawContacts(&f->scn, f->m, f->model, &f->opt, f->data);
}

// Points of a geom, in its frame.
static int pointsOf(mjtNum points[8][3], const mjModel* m, int geom) {
  const mjtNum* size = m->geom_size + 3 * geom;
  const float* vert = m->mesh_vert;
  bool mesh = m->geom_type[geom] == mjGEOM_MESH, box = m->geom_type[geom] == mjGEOM_BOX;
  int n = mesh ? 6 : 8;
  for (int k = 0; k < n; k++) {
    for (int i = 0; i < 3; i++) {
      points[k][i] = mesh ? vert[3 * k + i] : (k >> i & 1 ? 1 : -1) * (box ? size[i] : 0);
    }
    if (!mesh && !box) points[k][2] = (k & 1 ? 1 : -1) * (size[0] + size[1]);   // a capsule's tips
  }
  return n;
}

// The plate has all of the geom over it, its rim is narrow, and its longer side follows the geom's.
static void checkPlate(const Fixture* f, int geom) {
  const mjvGeom* plate = findGeom(f, findPair(f, 0, geom), mjGEOM_BOX, 0);
  mjtNum points[8][3], reach[2] = {0, 0};
  int n = pointsOf(points, f->m, geom);
  for (int k = 0; k < n; k++) {
    mjtNum x[3], side[3];
    mju_mulMatVec3(x, f->data->geom_xmat + 9 * geom, points[k]);
    for (int i = 0; i < 3; i++) x[i] += f->data->geom_xpos[3 * geom + i] - plate->pos[i];
    for (int j = 0; j < 2; j++) {
      column(side, plate, j);
      reach[j] = fmax(reach[j], fabs(mju_dot3(x, side)));
    }
  }
  bool capsule = f->m->geom_type[geom] == mjGEOM_CAPSULE, box = f->m->geom_type[geom] == mjGEOM_BOX;
  if (capsule) reach[1] += f->m->geom_size[3 * geom];
  for (int j = 0; j < 2; j++) {
    bool fits = plate->size[j] > 1.1 * reach[j] && plate->size[j] < (box ? 1.2 : 1.7) * reach[j];
    if (!fits) fail_msg("geom %d: a plate of %g over %g", geom, plate->size[j], reach[j]);
  }
  assert_true(plate->size[0] > (box || capsule ? 1.4 : 1) * plate->size[1]);
}

// What is drawn of a turned scene is what is drawn of the scene, turned.
static void testTurned(void) {
  Fixture f, g;
  const mjtNum none[4] = {1, 0, 0, 0};
  mjtNum quat[4] = {0.8, 0.3, -0.4, 0.2};
  mju_normalize4(quat);
  beginTurned(&f, none);
  beginTurned(&g, quat);
  assert_int_equal(f.data->npair, 3);
  assert_int_equal(f.scn.ngeom, 15);
  assert_int_equal(g.scn.ngeom, 15);
  for (int geom = 1; geom < 4; geom++) {
    checkPlate(&f, geom);
    checkPlate(&g, geom);
  }
  for (int i = 0; i < 15; i++) {
    const mjvGeom *a = f.scn.geoms + i, *b = g.scn.geoms + i;
    assert_int_equal(a->type, b->type);
    mjtNum x[3] = {a->pos[0], a->pos[1], a->pos[2]}, y[3];
    mju_rotVecQuat(y, x, quat);
    for (int k = 0; k < 3; k++) {
      assert_float_equal(b->pos[k], y[k], 2e-5);
      assert_float_equal(a->size[k], b->size[k], 2e-5);
    }
    // The third axis always; of plates and discs all three.
    for (int k = a->type == mjGEOM_BOX || a->type == mjGEOM_CYLINDER ? 0 : 2; k < 3; k++) {
      column(x, a, k);
      mju_rotVecQuat(y, x, quat);
      column(x, b, k);
      for (int j = 0; j < 3; j++) assert_float_equal(x[j], y[j], 1e-3);
    }
    mjtNum first[3], second[3], third[3], cross[3];   // a right-handed frame
    column(first, b, 0);
    column(second, b, 1);
    column(third, b, 2);
    mju_cross(cross, first, second);
    for (int j = 0; j < 3; j++) assert_float_equal(cross[j], third[j], 1e-6);
  }
  end(&f);
  end(&g);
}

// Plates are those of the smaller geom, whichever comes first, a little larger than it is.
static void testSmaller(void) {
#define FLOOR "<geom type='plane' size='9 9 1'/>"
  static const struct {
    const char* world;
    int geom1;
    double size;
  } cases[] = {
      {FLOOR "<body pos='0 0 .05'><freejoint/><geom size='.05'/></body><body pos='0 0 .2'>"
       "<freejoint/><geom size='.1'/></body>", 1, 0.05},
      {FLOOR "<body pos='0 0 .1'><freejoint/><geom size='.1'/></body><body pos='0 0 .25'>"
       "<freejoint/><geom size='.05'/></body>", 1, 0.05},
      {"<body pos='0 0 .05'><freejoint/><geom size='.05'/></body><body>" FLOOR "</body>", 0, 0.05},
      {FLOOR "<body pos='0 0 1.5'><freejoint/><geom size='1.5'/></body><body pos='0 0 5'>"
       "<freejoint/><geom size='2'/></body>", 1, 1.5}};
  for (int i = 0; i < 4; i++) {
    char text[1000];
    snprintf(text, sizeof(text), "<mujoco><worldbody>%s</worldbody></mujoco>", cases[i].world);
    Fixture f;
    begin(&f, text, 1);
    f.opt.flags[mjVIS_CONTACTPOINT] = 1;
    djm_drawContacts(&f.scn, f.m, f.model, &f.opt, f.data);
    const djContactPair* pair = findPair(&f, cases[i].geom1, cases[i].geom1 + 1);
    const mjvGeom* plate = findGeom(&f, pair, mjGEOM_BOX, 0);
    for (int k = 0; k < 2; k++) {
      assert_true(plate->size[k] > cases[i].size && plate->size[k] < 1.3 * cases[i].size);
    }
    assert_true(plate->size[2] > 0 && plate->size[2] < 0.1 * cases[i].size);
    // A ball shows no turning: its plate has the world's axes.
    double along[3];
    column(along, plate, 0);
    assert_float_equal(along[0], 1, 1e-6);
    end(&f);
  }
}

static int warnings;

static void countWarning(const char* text) {
  (void)text;
  warnings++;
}

// A scene that has room for n of the geoms gets the first n, nothing beyond them, and one warning.
static void testFull(void) {
  Fixture f;
  begin(&f, kScene, 150);
  f.opt.flags[mjVIS_CONTACTPOINT] = f.opt.flags[mjVIS_CONTACTFORCE] = 1;
  f.opt.flags[mjVIS_CONTACTSPLIT] = 1;
  mjv_updateScene(f.m, f.d, &f.opt, NULL, &(mjvCamera){.type = mjCAMERA_FREE, .distance = 1},
                  mjCAT_DYNAMIC | mjCAT_STATIC, &f.scn);
  int before = f.scn.ngeom;
  assert_int_equal(before, f.m->ngeom);
  djm_drawContacts(&f.scn, f.m, f.model, &f.opt, f.data);
  int needed = f.scn.ngeom - before;
  assert_true(needed >= 12 && f.scn.ngeom < 99);
  mjvGeom* all = malloc(100 * sizeof(*all));
  assert_non_null(all);
  memcpy(all, f.scn.geoms, 100 * sizeof(*all));
  void (*previous)(const char*) = mju_user_warning;
  mju_user_warning = countWarning;
  for (int room = 0; room <= needed; room++) {
    memset(f.scn.geoms + before, 0x5a, (100 - before) * sizeof(mjvGeom));
    f.scn.ngeom = before;
    f.scn.status = warnings = 0;
    f.scn.maxgeom = before + room;
    djm_drawContacts(&f.scn, f.m, f.model, &f.opt, f.data);
    assert_int_equal(f.scn.ngeom, before + room);
    assert_int_equal(f.scn.status, room < needed);
    assert_int_equal(warnings, room < needed);
    assert_memory_equal(all, f.scn.geoms, (before + room) * sizeof(mjvGeom));
    const unsigned char* beyond = (const unsigned char*)(f.scn.geoms + before + room);
    size_t size = (needed - room) * sizeof(mjvGeom);
    for (size_t i = 0; i < size; i++) assert_int_equal(beyond[i], 0x5a);
  }
  mju_user_warning = previous;
  f.scn.maxgeom = 100;
  free(all);
  end(&f);
}

DJT_MAIN(testPoints, testForces, testColours, testTurned, testSmaller, testFull)
