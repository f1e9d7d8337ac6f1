// Connections that a task leaves to us: which vertices hulls share, that they hold together what an
// optimizer moves, pieces, and steps that would flatten a hull.

#include "common/design_case.h"
#include "common/json.h"
#include "common/random_model.h"
#include "common/test.h"
#include "gradient/pieces.h"
#include "io/task_attach.h"
#include "math/vec.h"
#include "scene/body_part.h"
#include "shape/common.h"

// ---- points in common ---------------------------------------------------------------------------

// Planes of the box from a to b.
static void boxPlanes(double* plane, const double a[3], const double b[3]) {
  memset(plane, 0, 24 * sizeof *plane);
  for (int k = 0; k < 3; k++) {
    plane[8 * k + k] = -1;
    plane[8 * k + 3] = -a[k];
    plane[8 * k + 4 + k] = 1;
    plane[8 * k + 7] = b[k];
  }
}

static void testCommonPoint(void) {
  static const struct {
    double a[3], b[3], depth, point[3]; // of a box and that from 0 to 1; NAN: any
  } list[] = {{{0.5, 0.2, -1}, {3, 3, 0.4}, 0.2, {NAN, NAN, 0.2}},
              {{0.4, 0.4, 0.4}, {1.6, 1.6, 1.6}, 0.3, {0.7, 0.7, 0.7}},
              {{1, 0, 0}, {2, 1, 1}, 0, {1, 0.5, 0.5}},         // a face
              {{1, 0.5, 0.2}, {2, 3, 3}, 0, {1, 0.75, 0.6}},    // part of it
              {{1, 1, 0}, {2, 2, 1}, 0, {1, 1, 0.5}},           // an edge
              {{1.2, 0, 0}, {2, 1, 1}, -0.1, {1.1, 0.5, 0.5}}}; // nothing
  for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
    double plane[48];
    djVec3 x;
    double at[3];
    boxPlanes(plane, list[i].a, list[i].b);
    boxPlanes(plane + 24, (const double[3]){0, 0, 0}, (const double[3]){1, 1, 1});
    double depth = dj_commonPoint(&x, 12, plane, dju_vec3(0.3, 0.4, 0.6), 1);
    dju_store3(at, x);
    if (fabs(depth - list[i].depth) > 1e-4) fail_msg("%zu: %g", i, depth);
    for (int k = 0; k < 3; k++) {
      if (fabs(at[k] - list[i].point[k]) > 0.1) fail_msg("%zu: %d: %g", i, k, at[k]);
    }
  }
}

// ---- a robot ------------------------------------------------------------------------------------

#define BOX                                                                                        \
  "[[-0.1,-0.05,-0.05],[0.1,-0.05,-0.05],[-0.1,0.05,-0.05],[0.1,0.05,-0.05],"                      \
  "[-0.1,-0.05,0.05],[0.1,-0.05,0.05],[-0.1,0.05,0.05],[0.1,0.05,0.05]]"

// Two links of two hulls each: those of the first overlap, those of the second touch.
static const char scene[] =
    "{'dijoco_model':1,'option':{'timestep':0.005},'bodies':[{'name':'world'},"
    "{'name':'upper','pos':[0,0,0.8],'mass':1,'inertia':[0.02,0.03,0.04]},"
    "{'name':'lower','parent':'upper','pos':[%s,0,0],'mass':1,'inertia':[0.02,0.02,0.03]}],"
    "'joints':[{'name':'swing','type':'hinge','body':'upper','axis':[0,1,0],"
    "'pos':[-0.1,0,0]},"
    "{'name':'bend','type':'hinge','body':'lower','axis':[0,1,0]}],"
    "'meshes':[{'name':'a0','vert':" BOX "},{'name':'a1','vert':" BOX "},"
    "{'name':'b0','vert':" BOX "},{'name':'b1','vert':" BOX "}],"
    "'geoms':[{'name':'floor','type':'plane','size':[1,1,1]},"
    "{'name':'u0','type':'mesh','mesh':'a0','body':'upper'},"
    "{'name':'u1','type':'mesh','mesh':'a1','body':'upper',"
    "'pos':[0.15,0.01,0],'quat':[0.98,0.1,0,0]},"
    "{'name':'l0','type':'mesh','mesh':'b0','body':'lower','pos':[0.1,0,0]},"
    "{'name':'l1','type':'mesh','mesh':'%s','body':'lower','pos':[%s,0,0]}],"
    "'sites':[{'name':'tip','body':'lower','pos':[0.4,0,0]}],"
    "'actuators':[{'name':'m0','joint':'swing'}]}";

// In %s: where the lower body hangs, the mesh of its last geom, and where that is.
static char* sceneWith(const char* pos, const char* mesh, const char* at) {
  size_t size = sizeof scene + 64;
  char* text = malloc(size);
  assert_non_null(text);
  snprintf(text, size, scene, pos, mesh, at);
  return text;
}

#define TASK(more)                                                                                 \
  "{'scene':'s','horizon':12,'inertia_from_geom':true,'ctrl':[0.3],"                               \
  "'contact':{'vertices':'all','skin':0},'loss':[{'type':'position','site':"                       \
  "'tip','target':[0.5,0,0.4],'weight':30},{'type':'com','target':[0.4,0,0.6],"                    \
  "'weight':30}]," more "}"
#define ALL "'variables':[{'name':'mesh/*/vert'},{'name':'body/lower/pos'}]"

// NULL, or the error's text.
static const char* openAuto(DesignCase* c, const char* scene_text, const char* task) {
  static djError err;
  *c = (DesignCase){0};
  err = (djError){""};
  if (dj_loadModelText(&c->m, djt_json(scene_text), &err) != DJ_OK) fail_msg("%s", err.text);
  if (dj_loadTaskText(&c->task, djt_json(task), NULL, &err) != DJ_OK) return err.text;
  if (dj_applyTask(c->m, c->task, &err) < 0) return err.text;
  if (dj_resolveTask(&c->p, c->task, c->m, &err) < 0) return err.text;
  return djd_makeDesign(&c->d, c->m, c->p, &err) < 0 ? err.text : NULL;
}

static djVec3 placeOf(const djModel* m, const djTaskPoint* p) {
  int id = p->object == DJ_NOBJ ? -1 : dj_name2id(m, p->object, p->name);
  if (p->object == DJ_OBJ_BODY) return dju_load3(m->body_pos + 3 * id);
  if (p->object == DJ_OBJ_JOINT) return dju_load3(m->jnt_pos + 3 * id);
  assert_int_equal(p->object, DJ_OBJ_GEOM);
  djMat3 R = dju_quatToMat(dju_normalizeQuat(dju_loadQuat(m->geom_quat + 4 * id)));
  int adr = m->mesh_vertadr[m->geom_mesh[id]] + p->vertex;
  return dju_add3(dju_load3(m->geom_pos + 3 * id), dju_mulMV(R, dju_load3(m->mesh_vert + 3 * adr)));
}

static void expectTogether(const djModel* m, const djProblem* p) {
  for (int i = 0; i < p->nconnect; i++) {
    djVec3 a = placeOf(m, &p->joined[i].a), b = placeOf(m, &p->joined[i].b);
    double apart = dju_norm3(dju_sub3(a, b));
    if (apart > 1e-12) fail_msg("connect[%d]: %g apart", i, apart);
  }
}

static void testFound(void) {
  static const struct {
    const char *a, *b;
    int va, vb;
    djObject to;
  } wanted[] = {{"u0", "u1", 8, 8, DJ_OBJ_GEOM},
                {"l0", "l1", 8, 8, DJ_OBJ_GEOM},
                {"u0", "swing", 9, -1, DJ_OBJ_JOINT},
                {"l0", "bend", 9, -1, DJ_OBJ_JOINT},
                {"u1", "lower", 9, -1, DJ_OBJ_BODY}};
  DesignCase c;
  char* text = sceneWith("0.25", "b1", "0.3");
  const char* error = openAuto(&c, text, TASK(ALL ",'connect':'auto'"));
  if (error) fail_msg("%s", error);
  assert_int_equal(c.p->nconnect, 5);
  for (int i = 0; i < 5; i++) {
    const djTaskConnect* one = &c.p->joined[i];
    assert_string_equal(one->a.name, wanted[i].a);
    assert_string_equal(one->b.name, wanted[i].b);
    assert_true(one->a.vertex == wanted[i].va && one->b.vertex == wanted[i].vb);
    assert_true(one->b.object == wanted[i].to);
  }
  assert_int_equal(c.m->nmeshvert, 32 + 7);
  expectTogether(c.m, c.p);
  double shared[3]; // of the lower link: in the middle of the face that is common
  dju_store3(shared, placeOf(c.m, &c.p->joined[1].a));
  assert_true(fabs(shared[0] - 0.2) < 1e-9 && hypot(shared[1], shared[2]) < 1e-6);
  djBodyPart u0, u1; // of the upper link: inside of both
  assert_int_equal(dj_makePart(&u0, c.m, 1, NULL), DJ_OK);
  assert_int_equal(dj_makePart(&u1, c.m, 2, NULL), DJ_OK);
  djVec3 x = placeOf(c.m, &c.p->joined[0].a);
  assert_true(dj_depthIn(&u0, x) > 0.015 && dj_depthIn(&u1, x) > 0.015);
  dj_freePart(&u0);
  dj_freePart(&u1);
  int n;
  assert_int_equal(djd_countPieces(&n, c.d, NULL), DJ_OK);
  assert_int_equal(n, 1);
  djt_closeDesign(&c);
  free(text);
}

// Blocks of a square share faces; edges and corners only where these alone join them.
static void testEdges(void) {
  static const struct {
    const char* at[4];
    int n;
  } list[] = {{{"0,0,0", "0.2,0,0", "0,0.1,0", "0.2,0.1,0"}, 4},
              {{"0,0,0", "0.2,0.1,0", "0.4,0.2,0", "0.6,0.3,0"}, 3}, // a stair
              {{"0,0,0", "0.2,0.1,0.1", "0.4,0,0", "0.2,0,0"}, 3}};  // a corner, and a face beside
  for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
    char text[4000], *to = text;
    to += sprintf(to, "{'dijoco_model':1,'bodies':[{'name':'world'},{'name':'b',"
                      "'mass':1,'inertia':[1,1,1]}],'joints':[{'name':'j','type':"
                      "'free','body':'b'}],'meshes':[");
    for (int k = 0; k < 4; k++) {
      to += sprintf(to, "%s{'name':'m%d','vert':" BOX "}", k ? "," : "", k);
    }
    to += sprintf(to, "],'geoms':[");
    for (int k = 0; k < 4; k++) {
      to += sprintf(to, "%s{'name':'g%d','type':'mesh','mesh':'m%d','body':'b','pos':[%s]}",
                    k ? "," : "", k, k, list[i].at[k]);
    }
    strcpy(to, "]}");
    DesignCase c;
    const char* error = openAuto(&c, text,
                                 "{'scene':'s','horizon':1,'loss':[],"
                                 "'contact':{'vertices':'all','skin':0},'variables':["
                                 "{'name':'mesh/*/vert'}],'connect':'auto'}");
    if (error) fail_msg("%s", error);
    assert_int_equal(c.p->nconnect, list[i].n);
    expectTogether(c.m, c.p);
    int n;
    assert_int_equal(djd_countPieces(&n, c.d, NULL), DJ_OK);
    assert_int_equal(n, 1);
    djt_closeDesign(&c);
  }
}

// Exact gradients, of the added vertices, too.
static void testCertificates(void) {
  DesignCase c;
  char* text = sceneWith("0.25", "b1", "0.3");
  assert_null(openAuto(&c, text, TASK(ALL ",'connect':'auto'")));
  double *x = malloc((size_t)c.d->n * sizeof *x), *g = malloc((size_t)c.d->n * sizeof *g), loss;
  assert_true(x && g);
  assert_int_equal(djd_evaluateDesign(&loss, g, c.d, c.d->x0), DJ_OK);
  for (int i = 0; i < c.p->nvariable; i++) {
    djdCertificate r;
    assert_int_equal(djd_certifyVariable(&r, c.d, i, loss, g, 3), DJ_OK);
    if (!r.passed) fail_msg("%s: %g, %g", c.p->variable[i].name, r.analytic, r.relative_error);
  }
  free(x);
  free(g);
  djt_closeDesign(&c);
  free(text);
}

typedef struct Seen {
  const DesignCase* c;
  int n, most, flattened;
} Seen;

static bool watchPieces(void* user, const djOptimizeStep* step) {
  Seen* s = user;
  s->n++;
  s->most = step->pieces > s->most ? step->pieces : s->most;
  s->flattened = step->flattened;
  expectTogether(s->c->d->model, s->c->p);
  return true;
}

// What is connected stays together, by all optimizers that take connections; without, it falls
// apart.
static void testHolds(void) {
  static const char* const types[] = {"trust_region", "adam"};
  char* text = sceneWith("0.25", "b1", "0.3");
  for (int t = 0; t < 4; t++) {
    DesignCase c;
    assert_null(openAuto(&c, text, TASK(ALL ",'connect':'auto'")));
    djOptimizer how = dj_defaultOptimizer();
    how.type = types[t % 2];
    how.direction = DJ_DIRECTION_GRADIENT;
    how.radius = 0.03;
    how.rate = 0.003;
    how.iterations = 20;
    int nequal = c.d->nequal;
    if (t >= 2) c.d->nequal = 0;
    Seen s = {.c = &c};
    double* x = malloc((size_t)c.d->n * sizeof *x);
    djOptimizeResult r;
    djError err = {""};
    memcpy(x, c.d->x0, (size_t)c.d->n * sizeof *x);
    if (t < 2) {
      assert_true(djd_optimizeDesign(&r, x, c.d, &how, 1, watchPieces, &s, &err) >= 0);
      assert_true(s.n == 21 && s.most == 1 && r.loss < 0.9 * r.first_loss);
      assert_true(nequal == 15 && djd_moveDesign(c.d, x) == DJ_OK);
      expectTogether(c.d->model, c.p);
    } else {
      assert_true(djd_optimizeDesign(&r, x, c.d, &how, 1, NULL, NULL, &err) >= 0);
      djVec3 a = placeOf(c.d->model, &c.p->joined[4].a), b = placeOf(c.d->model, &c.p->joined[4].b);
      assert_true(dju_norm3(dju_sub3(a, b)) > 1e-6);
    }
    free(x);
    djt_closeDesign(&c);
  }
  free(text);
}

// Vertices that are moved away from each other leave pieces; so does a link whose joint is outside.
static void testPieces(void) {
  DesignCase c;
  char* text = sceneWith("0.25", "b1", "0.3");
  assert_null(openAuto(&c, text, TASK(ALL ",'connect':'auto'")));
  double* x = malloc((size_t)c.d->n * sizeof *x);
  int n, adr = c.d->adr[3], end = c.d->adr[4]; // of mesh/b1/vert
  memcpy(x, c.d->x0, (size_t)c.d->n * sizeof *x);
  for (int k = adr; k < end; k += 3) x[k] += 0.001;
  assert_int_equal(djd_moveDesign(c.d, x), DJ_OK);
  assert_int_equal(djd_countPieces(&n, c.d, NULL), DJ_OK);
  assert_int_equal(n, 2);
  for (int k = adr; k < end; k += 3) x[k] -= 0.002;
  assert_int_equal(djd_moveDesign(c.d, x), DJ_OK);
  assert_int_equal(djd_countPieces(&n, c.d, NULL), DJ_OK);
  assert_int_equal(n, 1);
  x[c.d->adr[4]] += 0.1; // the lower body
  assert_int_equal(djd_moveDesign(c.d, x), DJ_OK);
  assert_int_equal(djd_countPieces(&n, c.d, NULL), DJ_OK);
  assert_int_equal(n, 2);
  free(x);
  djt_closeDesign(&c);
  free(text);
}

// A list with the same connections and a set with as many vertices: the same design.
static void testWritten(void) {
  DesignCase c, again;
  char *text = sceneWith("0.25", "b1", "0.3"), *task = malloc(20000), *at = task;
  assert_null(openAuto(&c, text, TASK(ALL ",'connect':'auto'")));
  at += sprintf(at, "%s", TASK(ALL ",'connect':["));
  at--; // the brace
  for (int i = 0; i < 5; i++) {
    const djTaskConnect* one = &c.p->joined[i];
    at += sprintf(at, "%s{'a':{'geom':'%s','vertex':%d},'b':{'%s':'%s'", i ? "," : "", one->a.name,
                  one->a.vertex,
                  one->b.object == DJ_OBJ_GEOM   ? "geom"
                  : one->b.object == DJ_OBJ_BODY ? "body"
                                                 : "joint",
                  one->b.name);
    if (one->b.vertex >= 0) at += sprintf(at, ",'vertex':%d", one->b.vertex);
    at += sprintf(at, "}}");
  }
  at += sprintf(at, "],'set':{");
  for (int i = 0; i < 4; i++) {
    at += sprintf(at, "%s'%s':[", i ? "," : "", c.p->variable[i].name);
    for (int k = c.d->adr[i]; k < c.d->adr[i + 1]; k++) {
      at += sprintf(at, "%s%.17g", k > c.d->adr[i] ? "," : "", c.d->x0[k]);
    }
    at += sprintf(at, "]");
  }
  strcpy(at, "}}");
  const char* error = openAuto(&again, text, task);
  if (error) fail_msg("%s", error);
  assert_true(again.d->n == c.d->n && again.d->nequal == c.d->nequal);
  assert_memory_equal(again.d->x0, c.d->x0, (size_t)c.d->n * sizeof(double));
  double one, other;
  assert_int_equal(djd_evaluateDesign(&one, NULL, c.d, c.d->x0), DJ_OK);
  assert_int_equal(djd_evaluateDesign(&other, NULL, again.d, c.d->x0), DJ_OK);
  assert_true(fabs(one - other) < 1e-12 * one);
  djt_closeDesign(&c);
  djt_closeDesign(&again);
  free(text);
  free(task);
}

// A cage moves both ends of a connection alike: there is nothing to hold.
static void testCage(void) {
  DesignCase c;
  char* text = sceneWith("0.25", "b1", "0.3");
  const char* error =
      openAuto(&c, text,
               TASK("'free':{'c':{'value':[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]}},"
                    "'maps':[{'type':'cage','from':'c','body':'upper','box':"
                    "[[-0.3,-0.3,-0.3],[0.5,0.3,0.3]],'to':['mesh/a0/vert','mesh/a1/vert']}],"
                    "'variables':[{'name':'c'},{'name':'body/lower/pos'}],'connect':'auto'"));
  if (error) fail_msg("%s", error);
  assert_int_equal(c.p->nconnect, 3); // the upper link's: two hulls, its joint, the lower link
  for (int i = 0; i < 3; i++) {
    assert_true(c.d->value[i] == 0);
    assert_int_equal(c.d->equal_start[i + 1], 0);
  }
  double most = 0;
  for (int k = 0; k < c.d->n; k++) most = fmax(most, fabs(djt_equal(c.d, 6, k)));
  assert_true(most > 0.1);
  djt_closeDesign(&c);
  free(text);
}

// ---- errors -------------------------------------------------------------------------------------

static void testErrors(void) {
  static const struct {
    const char *pos, *mesh, *at, *task, *text;
  } list[] = {
      {"0.25", "b1", "0.31", TASK(ALL ",'connect':'auto'"),
       "connect: geoms 'l0' and 'l1' of body 'lower' do not touch, nor does anything between them"},
      {"0.5", "b1", "0.5", TASK(ALL ",'connect':'auto'"), "body 'lower'"},
      {"0.25", "b0", "0.3", TASK(ALL ",'connect':'auto'"),
       "connect: mesh 'b0' is that of geoms 'l0' and 'l1'"},
      {"0.25", "b1", "0.3", TASK("'variables':[{'name':'mesh/c*/vert'}],'connect':'auto'"),
       "mesh/c*/vert"},
      {"0.25", "b1", "0.3", TASK("'connect':'all'"), "connect: must be a list or \"auto\""},
      {"0.25", "b1", "0.3", TASK("'connect':[{'a':{'geom':'u0','vertex':8},'b':{'geom':'u1'}}]"),
       "connect[0]: a: geom 'u0' has no vertex 8"},
      {"0.25", "b1", "0.3", "{'scene':'s','horizon':1,'loss':[]," ALL ",'connect':'auto'}",
       "connect: \"auto\" needs \"contact\": {\"vertices\": \"all\"}: it adds vertices inside of "
       "hulls"}};
  for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
    DesignCase c;
    char* text = sceneWith(list[i].pos, list[i].mesh, list[i].at);
    const char* error = openAuto(&c, text, list[i].task);
    if (!error || !strstr(error, list[i].text)) fail_msg("%zu: %s", i, error ? error : "none");
    djt_closeDesign(&c);
    free(text);
  }
}

// Where both links are away from what joins them.
static void testOutside(void) {
  DesignCase c;
  char* text = sceneWith("0.35", "b1", "0.2");
  char* moved = strstr(text, "'pos':[0.1,0,0]}"); // l0 begins 0.05 from the joint
  memcpy(moved, "'pos':[0.2,0,0]}", 16);
  const char* error = openAuto(&c, text, TASK(ALL ",'connect':'auto'"));
  assert_non_null(error);
  assert_string_equal(error,
                      "connect: where body 'lower' hangs is outside of it and of body 'upper'");
  djt_closeDesign(&c);
  free(text);
}

// Where one of them alone is away.
static void testOutsideOne(void) {
  DesignCase c;
  char* text = sceneWith("0.35", "b1", "0.2");
  const char* error = openAuto(&c, text, TASK(ALL ",'connect':'auto'"));
  assert_non_null(error);
  assert_string_equal(error, "connect: joint 'bend' is outside of body 'upper' by 0.1 m");
  djt_closeDesign(&c);
  free(text);
}

// The same where connections are listed: which link the geom that is tied belongs to counts.
static void testOutsideListed(void) {
  enum { PLACES = 4, TIES = 6 };
  static const struct {
    const char *lower, *l0; // where the lower body hangs, and where its first geom is
  } place[PLACES] = {{"0.25", "0.1"}, {"0.35", "0.1"}, {"0.25", "0.2"}, {"0.35", "0.2"}};
  static const char* const tie[TIES] = {
      "{'a':{'geom':'u1','vertex':1},'b':{'body':'lower'}}",
      "{'a':{'geom':'u1','vertex':1},'b':{'anchor':'bend'}}",
      "{'a':{'joint':'bend'},'b':{'geom':'l0','vertex':0}}",
      "{'a':{'geom':'l0'},'b':{'joint':'bend'}}",
      "{'a':{'site':'tip'},'b':{'joint':'bend'}}",
      "{'a':{'geom':'l0','vertex':1},'b':{'geom':'l1','vertex':0}}"};
  static const char upper[] = "connect[1]: joint 'bend' is outside of body 'upper' by 0.1 m",
                    lower[] = "connect[1]: joint 'bend' is outside of body 'lower' by 0.1 m",
                    both[] = "connect[1]: where body 'lower' hangs is outside of it and of body "
                             "'upper'";
  static const char* const said[PLACES][TIES] = {
      {NULL}, {upper, upper}, {NULL, NULL, lower, lower}, {both, both, both, both}};
  for (int k = 0; k < PLACES * TIES; k++) {
    DesignCase c;
    char* text = sceneWith(place[k / TIES].lower, "b1", "0.4");
    char task[2000], moved[32], *at = strstr(text, "'pos':[0.1,0,0]}");
    snprintf(moved, sizeof moved, "'pos':[%s,0,0]}", place[k / TIES].l0);
    memcpy(at, moved, strlen(moved));
    snprintf(task, sizeof task, TASK(ALL ",'connect':[{'a':{'geom':'u0'},'b':null},%s]"),
             tie[k % TIES]);
    const char *error = openAuto(&c, text, task), *want = said[k / TIES][k % TIES];
    djt_failIf(want ? !error || strcmp(error, want) : error != NULL, "%d: %s", k,
               error ? error : "no error");
    djt_closeDesign(&c);
    free(text);
  }
}

// What has no volume holds nothing, and does no harm.
static void testFlatPart(void) {
  static const char mesh[] = "{'name':'f','vert':[[0,0,0],[1,0,0],[1,1,0],[0,1,0]]},",
                    geom[] = "{'type':'mesh','mesh':'f','body':'upper',"
                             "'contype':0,'conaffinity':0},";
  static const char* const place[2] = {"0.25", "0.35"};
  for (int k = 0; k < 2; k++) {
    DesignCase c;
    char text[sizeof scene + 400], *plain = sceneWith(place[k], "b1", "0.3");
    char* at = strstr(plain, "{'name':'b0'");
    char* next = strstr(plain, "{'name':'u1'");
    snprintf(text, sizeof text, "%.*s%s%.*s%s%s", (int)(at - plain), plain, mesh, (int)(next - at),
             at, geom, next);
    const char* error =
        openAuto(&c, text,
                 TASK("'variables':[{'name':'mesh/a1/vert'}],'connect':[{'a':{'geom':'u1',"
                      "'vertex':1},'b':{'body':'lower'}}]"));
    if (k == 0 && error) fail_msg("%s", error);
    if (k == 1) {
      assert_non_null(error);
      assert_string_equal(error, "connect[0]: joint 'bend' is outside of body 'upper' by 0.1 m");
    }
    djt_closeDesign(&c);
    free(plain);
  }
}

// Parts of a link, what is deepest in them, and a link without any.
static void testLinkHolds(void) {
  DesignCase c;
  djBodyPart part[5] = {{0}};
  djVec3 own, above;
  double depth;
  char* text = sceneWith("0.25", "b1", "0.3");
  if (dj_loadModelText(&c.m, djt_json(text), NULL) != DJ_OK) fail();
  for (int g = 1; g < 5; g++) assert_int_equal(dj_makePart(&part[g], c.m, g, NULL), DJ_OK);
  dj_placeOfHanging(&own, &above, c.m, 2, 1);
  assert_true(dju_norm3(own) == 0 && above.x == 0.25 && above.y == 0 && above.z == 0);
  assert_true(dj_linkHolds(&depth, c.m, part, 1, dju_vec3(-0.09, 0, 0)));
  assert_true(fabs(depth - 0.01) < 1e-12);
  assert_false(dj_linkHolds(&depth, c.m, part, 1, dju_vec3(-0.12, 0, 0)));
  assert_true(fabs(depth + 0.02) < 1e-12);
  assert_true(dj_linkHolds(&depth, c.m, part, 2, dju_vec3(0, 0.05, 0))); // on a face
  assert_false(dj_linkHolds(&depth, c.m, part, 0, own));
  assert_true(depth == -INFINITY);
  for (int g = 1; g < 5; g++) dj_freePart(&part[g]);
  dj_deleteModel(c.m);
  free(text);
}

// Bounds that leave a shared vertex no place: the error says whose.
static void testContradiction(void) {
  DesignCase c;
  char* text = sceneWith("0.25", "b1", "0.3");
  assert_null(openAuto(&c, text,
                       TASK("'variables':[{'name':'mesh/b0/vert','min':-1,'max':1},"
                            "{'name':'mesh/b1/vert','min':0.02,'max':1}],"
                            "'connect':[{'a':{'geom':'l0','vertex':1},'b':{'geom':"
                            "'l1','vertex':0}}]")));
  double* x = malloc((size_t)c.d->n * sizeof *x);
  djOptimizer how = dj_defaultOptimizer();
  djOptimizeResult r;
  djError err = {""};
  memcpy(x, c.d->x0, (size_t)c.d->n * sizeof *x);
  ((double*)(size_t)c.d->upper)[4] = -0.2; // of vertex 1's y in b0
  djt_refused(DJ_INVALID, djd_optimizeDesign(&r, x, c.d, &how, 1, NULL, NULL, &err), err,
              "connect: bounds of 'mesh/b0/vert', entry 4, contradict those of "
              "what it is connected to");
  free(x);
  djt_closeDesign(&c);
  free(text);
}

// ---- flat hulls ---------------------------------------------------------------------------------

// A loss that is least where the hull is flat: steps are shortened, and counted; the run goes on.
static void testFlat(void) {
  static const char* const types[] = {"trust_region", "adam", "lbfgsb"};
  static const char block[] =
      "{'dijoco_model':1,'bodies':[{'name':'world'},{'name':'b','pos':[0,0,1],"
      "'mass':1,'inertia':[0.1,0.1,0.1]}],'joints':[{'name':'j','type':'free',"
      "'body':'b'}],'meshes':[{'name':'m','vert':" BOX
      "}],'geoms':[%s{'name':'g','type':'mesh','mesh':'m','body':'b'}]}";
  static const char floor_text[] = "{'name':'f','type':'plane','size':[1,1,1]},";
  static const char task[] = "{'scene':'s','horizon':2,'inertia_from_geom':true,"
                             "'loss':[{'type':'com','target':[0,0,0.9]}],"
                             "'variables':[{'name':'mesh/m/vert','index':[14,17,20,23],'max':1}]}";
  for (int t = 0; t < 6; t++) {
    DesignCase c;
    char text[sizeof block + sizeof floor_text];
    bool collides = t < 3; // else there is no hull but that of the mass
    snprintf(text, sizeof text, block, collides ? floor_text : "");
    const char* error = openAuto(&c, text, task);
    if (error) fail_msg("%s", error);
    double x[4] = {-0.05, -0.05, -0.05, -0.05};
    assert_int_equal(djd_moveDesign(c.d, x), DJ_INVALID);
    assert_int_equal(djd_countFlattened(c.d), 1);
    for (int k = 0; k < 4; k++) x[k] = -0.0499; // with volume, but less than a hundredth
    if (collides) {
      assert_int_equal(djd_moveDesign(c.d, x), DJ_INVALID);
      assert_string_equal(djd_designError(c.d), "'mesh/m/vert': the hull would be flat");
      assert_int_equal(djd_countFlattened(c.d), 2);
    }
    for (int k = 0; k < 4; k++) x[k] = -0.045;
    assert_int_equal(djd_moveDesign(c.d, x), DJ_OK);
    djOptimizer how = dj_defaultOptimizer();
    how.type = types[t % 3];
    how.direction = DJ_DIRECTION_GRADIENT;
    how.radius = 0.08;
    how.rate = 0.06;
    how.iterations = 6;
    memcpy(x, c.d->x0, sizeof x);
    djOptimizeResult r;
    djError err = {""};
    Seen s = {.c = &c};
    assert_true(djd_optimizeDesign(&r, x, c.d, &how, 1, watchPieces, &s, &err) >= 0);
    assert_true(r.flattened > 0 && s.flattened == r.flattened && r.refused >= r.flattened);
    assert_true(r.loss < r.first_loss && djd_moveDesign(c.d, x) == DJ_OK);
    djt_closeDesign(&c);
  }
}

DJT_MAIN(testCommonPoint, testFound, testEdges, testCertificates, testHolds, testPieces,
         testWritten, testCage, testErrors, testOutside, testOutsideOne, testOutsideListed,
         testFlatPart, testLinkHolds, testContradiction, testFlat)
