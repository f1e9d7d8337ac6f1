// Designs: maps, the vector of variables, and the gradient of the loss by it.

#include "common/design_case.h"
#include "common/design_scene.h"
#include "common/json.h"
#include "common/make_model.h"
#include "common/optimize_case.h"
#include "common/random_model.h"
#include "common/refused_text.h"
#include "common/test.h"
#include "common/worst.h"
#include "gradient/map.h"
#include "math/so3.h"

enum { HORIZON = 20, NU = 3 };

static djModel* makeModel(void) {
  djModel* m = djt_modelOf(djt_scene);
  return m;
}

static void makeCaseOf(DesignCase* c, const char* keys, const char* more) {
  char text[8192];
  snprintf(text, sizeof text, "{%s,%s}", keys, more);
  djt_openDesign(c, djt_scene, text);
}

// more: keys of the task besides those of `rest`.
static void makeCase(DesignCase* c, const char* more) { makeCaseOf(c, djt_task, more); }

// ---- maps -------------------------------------------------------------------------------------

#define ZEROS24 "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0"
#define ZEROS9 "0,0,0,0,0,0,0,0,0"
static const char maps[] =
    "'free':{'t':{'value':[" ZEROS9 "]},'s':{'value':[0.5,-1,2,0.3,0.7]},"
    "'one':{'value':0.4},'two':{'value':[1,-1]},'c':{'value':[[0,0,0],[0,0,0],[0,0,0],"
    "[0,0,0],[0,0,0],[0,0,0],[0,0,0],[0,0,0]]},'w':{'value':[0.1,0.2,0.3]},"
    "'q':{'value':[1,2,3,4]}},"
    "'maps':[{'type':'tanh','from':'t','to':'ctrl','hold':7},"
    "{'type':'spline','from':'s','actuator':'m1'},"
    "{'type':'spline','from':'one','actuator':2},"
    "{'type':'spline','from':'two','actuator':'#0','to':'ctrl'},"
    "{'type':'shared','from':'w','to':['geom/grip/pos','site/tip/pos']},"
    "{'type':'affine','from':'two','to':['geom/nail/size','body/hand/mass'],"
    "'matrix':[[1,2],[3,4],[5,6],[7,8]],'offset':[10,20,30,40]},"
    "{'type':'affine','from':'w','to':'body/finger/ipos'},"
    "{'type':'cage','from':'c','body':'hand','box':[[-0.3,-0.3,-0.6],[0.3,0.3,-0.105]]},"
    "{'type':'mirror','from':'w','to':['site/tip/pos','geom/nail/pos'],"
    "'normal':[3,0,4]},"
    "{'type':'mirror','from':'q','to':['body/tail/quat','geom/grip/quat'],"
    "'normal':[0,2,0]},"
    "{'type':'mirror','from':'w','to':['joint/swing/axis','joint/bend/axis'],"
    "'normal':[0,1,0]},"
    "{'type':'mirror','from':'one','to':['body/puck/mass','body/tail/mass'],"
    "'normal':[0,1,0]}]";

// Transposed derivatives against differences along random directions.
static void testMapsVjp(void) {
  djRng rng = {3};
  DesignCase c;
  makeCase(&c, maps);
  assert_int_equal(c.p->nmap, 12);
  for (int i = 0; i < c.p->nmap; i++) {
    const djMap* map = &c.p->map[i];
    size_t nz = (size_t)map->nz, nout = (size_t)map->nout;
    double* memory = calloc(4 * nz + 3 * nout + map->nwork + 1, sizeof *memory);
    double *z = memory, *d = z + nz, *dz = d + nz, *moved = dz + nz, *dout = moved + nz;
    double *plus = dout + nout, *minus = plus + nout, *work = minus + nout;
    for (int trial = 0; trial < 5; trial++) {
      double analytic = 0, difference = 0, h = 1e-5;
      for (size_t k = 0; k < nz; k++) {
        z[k] = djt_uniform(&rng, -1, 1);
        d[k] = djt_uniform(&rng, -1, 1);
        dz[k] = 7;  // it is added to
      }
      for (size_t k = 0; k < nout; k++) dout[k] = djt_uniform(&rng, -1, 1);
      map->type->vjp(dz, map, z, dout, work);
      for (size_t k = 0; k < nz; k++) analytic += (dz[k] - 7) * d[k];
      for (int side = 0; side < 2; side++) {
        for (size_t k = 0; k < nz; k++) moved[k] = z[k] + (side ? -h : h) * d[k];
        map->type->apply(side ? minus : plus, map, moved, work);
      }
      for (size_t k = 0; k < nout; k++) difference += dout[k] * (plus[k] - minus[k]) / (2 * h);
      assert_true(fabs(analytic) > 1e-6);
      assert_true(fabs(analytic - difference) < 1e-8 * (1 + fabs(analytic)));
    }
    free(memory);
  }
  djt_closeDesign(&c);
}

static void apply(double* out, const DesignCase* c, int map, const double* z) {
  double work[64];
  const djMap* m = &c->p->map[map];
  assert_true(m->nwork <= 64);
  m->type->apply(out, m, z, work);
}

static void testMapsValues(void) {
  DesignCase c;
  makeCase(&c, maps);
  double out[256], z[24];
  // tanh: rows held; from one end of the range to the other.
  for (int k = 0; k < 9; k++) z[k] = k < 3 ? -30 : k < 6 ? 0 : 0.5;
  apply(out, &c, 0, z);
  const double low[NU] = {-2, -1, -1}, high[NU] = {6, 1, 1};
  for (int row = 0; row < HORIZON; row++) {
    for (int a = 0; a < NU; a++) {
      double middle = (low[a] + high[a]) / 2, half = (high[a] - low[a]) / 2;
      double expected = row < 7 ? low[a] : row < 14 ? middle : middle + half * tanh(0.5);
      assert_true(fabs(out[NU * row + a] - expected) < 1e-14);
    }
  }
  // Splines: through the knots, natural at the ends (f'' from three close rows of a long one would
  // be 0; here by the formula's own second differences), straight for straight knots.
  const double knots[5] = {0.5, -1, 2, 0.3, 0.7}, line[5] = {1, 2, 3, 4, 5};
  apply(out, &c, 1, knots);
  assert_true(out[0] == 0.5 && fabs(out[HORIZON - 1] - 0.7) < 1e-15);
  apply(out, &c, 1, line);
  for (int row = 0; row < HORIZON; row++) assert_true(fabs(out[row] - 1 - 4.0 * row / 19) < 1e-14);
  apply(out, &c, 2, (double[1]){0.4});
  for (int row = 0; row < HORIZON; row++) assert_true(out[row] == 0.4);
  apply(out, &c, 3, (double[2]){1, -1});
  for (int row = 0; row < HORIZON; row++) assert_true(fabs(out[row] - 1 + 2.0 * row / 19) < 1e-14);
  apply(out, &c, 4, (double[3]){1, 2, 3});
  for (int k = 0; k < 6; k++) assert_true(out[k] == k % 3 + 1);
  apply(out, &c, 5, (double[2]){1, -1});
  for (int k = 0; k < 4; k++) assert_true(out[k] == 10 * (k + 1) - 1);
  apply(out, &c, 6, (double[3]){1, 2, 3});
  for (int k = 0; k < 3; k++) assert_true(out[k] == k + 1);
  djt_closeDesign(&c);
}

// Reflections, by what they are for: the image of R x is R' of the image of x.
static void testMirror(void) {
  DesignCase c;
  double out[16], turned[8];
  makeCase(&c, maps);
  const double x[3] = {1, 2, 3}, n[3] = {0.6, 0, 0.8}, normal = 0.6 * 1 + 0.8 * 3;
  apply(out, &c, 8, x);
  for (int k = 0; k < 3; k++) {
    assert_true(out[k] == x[k] && fabs(out[3 + k] - x[k] + 2 * normal * n[k]) < 1e-14);
  }
  djQuat q = dju_normalizeQuat((djQuat){0.5, 0.1, -0.7, 0.4});
  dju_storeQuat(turned, q);
  apply(out, &c, 9, turned);
  djVec3 y = dju_mulMV(dju_quatToMat(q), dju_vec3(1, 2, 3));
  djVec3 image = dju_mulMV(dju_quatToMat(dju_loadQuat(out + 4)), dju_vec3(1, -2, 3));
  assert_true(dju_norm3(dju_sub3(image, dju_vec3(y.x, -y.y, y.z))) < 1e-14);
  // A turn by an angle about a hinge's axis is mirrored by the same angle about its image.
  apply(out, &c, 10, (double[3]){0, 0.6, 0.8});
  y = dju_mulMV(dju_quatToMat(dju_expQuat(dju_vec3(0, 0.3 * 0.6, 0.3 * 0.8))), dju_vec3(1, 2, 3));
  djQuat other = dju_expQuat(dju_scale3(0.3, dju_load3(out + 3)));
  image = dju_mulMV(dju_quatToMat(other), dju_vec3(1, -2, 3));
  assert_true(dju_norm3(dju_sub3(image, dju_vec3(y.x, -y.y, y.z))) < 1e-14);
  apply(out, &c, 11, x);
  assert_true(out[0] == 1 && out[1] == 1);
  djt_closeDesign(&c);
}

// A long spline: smooth at its knots and natural at its ends.
static void testSplineIsSmooth(void) {
  djTask* task = NULL;
  djProblem* p = NULL;
  djModel* m = makeModel();
  djError err = {""};
  static const char text[] =
      "{'scene':'s','horizon':4001,'loss':[],'free':{'s':{'value':[1,3,-2,0.5,4]}},"
      "'maps':[{'type':'spline','from':'s','actuator':'m1'}]}";
  assert_int_equal(dj_loadTaskText(&task, djt_json(text), NULL, &err), DJ_OK);
  assert_int_equal(dj_resolveTask(&p, task, m, &err), DJ_OK);
  double* f = malloc(4001 * sizeof *f);
  double work[10];
  const double* knot = p->free[0].value;
  p->map[0].type->apply(f, &p->map[0], knot, work);
  for (int k = 0; k < 5; k++) assert_true(fabs(f[1000 * k] - knot[k]) < 1e-12);
  double h = 1e-3, before = 0;
  for (int row = 1; row < 4000; row++) {
    double second = (f[row + 1] - 2 * f[row] + f[row - 1]) / (h * h);
    if (row == 1 || row == 3999) assert_true(fabs(second) < 0.2);
    if (row > 1) assert_true(fabs(second - before) < 0.2);  // a jump would be of order 10
    before = second;
  }
  free(f);
  dj_deleteProblem(p);
  dj_deleteTask(task);
  dj_deleteModel(m);
}

// Corners that move by an affine field move everything inside by it.
static void testCage(void) {
  djRng rng = {8};
  DesignCase c;
  makeCase(&c, maps);
  const djMap* map = &c.p->map[7];
  double M[9], t[3], z[24], out[256];
  for (int k = 0; k < 9; k++) M[k] = djt_uniform(&rng, -1, 1);
  for (int k = 0; k < 3; k++) t[k] = djt_uniform(&rng, -1, 1);
  for (int corner = 0; corner < 8; corner++) {
    const double x[3] = {corner & 1 ? 0.3 : -0.3, corner & 2 ? 0.3 : -0.3,
                         corner & 4 ? -0.105 : -0.6};
    for (int i = 0; i < 3; i++) {
      z[3 * corner + i] = t[i] + M[3 * i] * x[0] + M[3 * i + 1] * x[1] + M[3 * i + 2] * x[2];
    }
  }
  apply(out, &c, 7, z);
  // The block's vertices, the tip, and the finger; the grip is outside.
  static const char* const names[] = {"mesh/block/vert", "site/tip/pos", "body/finger/pos"};
  assert_int_equal(map->ntarget, 3);
  int at = 0;
  for (int k = 0; k < 3; k++) {
    double value[24];
    djParam param = djt_param(c.m, names[k]);
    assert_int_equal(dj_getParam(value, c.m, &param), DJ_OK);
    const djParam* target = &c.p->param[map->target[k].param];
    assert_true(target->field == param.field && target->id == param.id);
    djPose pose = {{0, 0, 0}, dju_eye3()};
    if (k == 0) {
      pose.p = dju_load3(c.m->geom_pos + 6);
      pose.R = dju_quatToMat(dju_loadQuat(c.m->geom_quat + 8));
    }
    for (int i = 0; i < param.nvalue; i += 3) {
      djVec3 x = dju_transform(&pose, dju_load3(value + i)), u;
      u.x = t[0] + M[0] * x.x + M[1] * x.y + M[2] * x.z;
      u.y = t[1] + M[3] * x.x + M[4] * x.y + M[5] * x.z;
      u.z = t[2] + M[6] * x.x + M[7] * x.y + M[8] * x.z;
      djVec3 found = dju_mulMV(pose.R, dju_load3(out + at + i));
      assert_true(dju_norm3(dju_sub3(found, u)) < 1e-13);
    }
    at += param.nvalue;
  }
  djt_closeDesign(&c);
}

// ---- variables --------------------------------------------------------------------------------

static void drawDirection(double* d, const DesignCase* c, int variable, djRng* rng) {
  memset(d, 0, (size_t)c->d->n * sizeof *d);
  double sum = 0;
  for (int k = c->d->adr[variable]; k < c->d->adr[variable + 1]; k++) {
    d[k] = djt_uniform(rng, -1, 1);
    sum += d[k] * d[k];
  }
  for (int k = 0; k < c->d->n; k++) d[k] /= sqrt(sum);
}

// Certificates of every variable at x, or of one in `every`.
static void certify(DesignCase* c, const double* x, djRng* rng, int every) {
  djDesign* d = c->d;
  double loss, *grad = malloc(2 * (size_t)d->n * sizeof *grad), *direction = grad + d->n;
  assert_int_equal(djd_evaluateDesign(&loss, grad, d, x), DJ_OK);
  for (int v = 0; v < c->p->nvariable; v += every) {
    double analytic = 0;
    drawDirection(direction, c, v, rng);
    for (int k = 0; k < d->n; k++) analytic += grad[k] * direction[k];
    djdCertificate r;
    assert_int_equal(djd_checkDesign(&r, d, x, direction, loss, analytic, 0.01), DJ_OK);
    if (!(r.relative_error < 1e-5)) {   // some directions are noisier than the certificate allows
      fail_msg("%s: %.12g, difference %.12g, slope %g", c->p->variable[v].name, analytic,
               r.difference, r.slope);
    }
    if (analytic == 0 || v % 5) continue;
    assert_int_equal(djd_checkDesign(&r, d, x, direction, loss, 1.0001 * analytic, 0.01), DJ_OK);
    assert_true(r.relative_error > 5e-5);
  }
  free(grad);
}

static void testGradients(void) {
  djRng rng = {11};
  DesignCase c;
  makeCase(&c, djt_variables);
  djDesign* d = c.d;
  assert_int_equal(djd_checkVariables(c.p, NULL), DJ_OK);
  certify(&c, d->x0, &rng, 4);
  // Elsewhere too, where rotations and normalisations have their Jacobians.
  double* x = malloc((size_t)d->n * sizeof *x);
  for (int k = 0; k < d->n; k++) x[k] = d->x0[k] + 0.02 * djt_uniform(&rng, -1, 1);
  for (int v = 0; v < c.p->nvariable; v++) {
    bool turns = c.p->variable[v].kind == DJ_VAR_PARAM && c.p->variable[v].nvalue == 4;
    for (int k = d->adr[v]; k < d->adr[v + 1] && turns; k++) x[k] += djt_uniform(&rng, -1, 1);
    if (c.p->variable[v].kind != DJ_VAR_QPOS0) continue;
    for (int k = 8; k < 11; k++) x[d->adr[v] + k] += djt_uniform(&rng, -1, 1);
  }
  certify(&c, x, &rng, 1);
  free(x);
  djt_closeDesign(&c);
}

// Masses and inertias that follow the geoms.
static void testFollowing(void) {
  djRng rng = {21};
  DesignCase c;
  makeCase(&c, "'inertia_from_geom':true,'set':{'geom/puck/size':[0.06,0.05,0.06]},"
               "'free':{'r':{'value':[0.03]}},'maps':[{'type':'affine','from':'r',"
               "'to':'geom/nail/size','matrix':[[1],[0],[0]]}],"
               "'variables':[{'name':'geom/puck/size'},"
               "{'name':'mesh/block/vert','index':[0,4,8,21,23]},{'name':'geom/head/pos'},"
               "{'name':'geom/grip/pos'},{'name':'r'}]");
  djDesign* d = c.d;
  assert_int_equal(dj_applySet(c.m, c.task, NULL), DJ_OK);  // the design has the model before it
  assert_true(fabs(c.m->body_mass[1] - 0.6) < 1e-14 && c.m->contact.weight > 0);
  djt_closeDesign(&c);

  makeCase(&c, "'inertia_from_geom':true,'variables':[{'name':'geom/puck/size'},"
               "{'name':'mesh/block/vert','index':[0,4,8,21,23]},"
               "{'name':'geom/head/pos'},{'name':'geom/grip/pos'},"
               "{'name':'geom/nail/size','index':[0]}]");
  d = c.d;
  double* x = malloc((size_t)d->n * sizeof *x);
  for (int k = 0; k < d->n; k++) x[k] = d->x0[k] + 0.002 * djt_uniform(&rng, -1, 1);
  certify(&c, x, &rng, 1);
  // Mass goes with the volume, back and forth.
  double mass = c.m->body_mass[1];
  x[0] = 2 * d->x0[0];
  x[1] = d->x0[1];
  x[2] = d->x0[2];
  assert_int_equal(djd_moveDesign(d, x), DJ_OK);
  assert_true(fabs(d->model->body_mass[1] - 2 * mass) < 1e-14);
  x[1] = -1;
  assert_true(djd_moveDesign(d, x) < 0);
  assert_int_equal(djd_moveDesign(d, d->x0), DJ_OK);
  assert_true(fabs(d->model->body_mass[1] - mass) < 1e-15);
  free(x);
  djt_closeDesign(&c);

  static const char* const list[][2] = {
      {"'variables':[{'name':'body/hand/ipos'}]",
       "inertia_from_geom: 'body/hand/ipos' follows its geoms"},
      {"'free':{'z':{'value':1}},'maps':[{'type':'shared','from':'z','to':'body/puck/mass'}]",
       "inertia_from_geom: 'puck' follows its geoms"},
      {"'set':{'body/puck/mass':1}",
       "set: 'body/puck/mass': follows its geoms (inertia_from_geom)"}};
  djModel* m = makeModel();
  for (int i = 0; i < 3; i++) {
    char text[4096];
    djTask* task = NULL;
    djProblem* p = NULL;
    djError err = {""};
    snprintf(text, sizeof text, "{%s,'inertia_from_geom':true,%s}", djt_task, list[i][0]);
    assert_int_equal(dj_loadTaskText(&task, djt_json(text), NULL, &err), DJ_OK);
    djStatus status = dj_applySet(m, task, &err);
    if (status == DJ_OK) status = dj_resolveTask(&p, task, m, &err);
    djt_refused(DJ_INVALID, status, err, list[i][1]);
    dj_deleteTask(task);
  }
  dj_deleteModel(m);
}

// What x is, and that evaluations do not depend on what came before.
static void testEntries(void) {
  DesignCase c;
  makeCase(&c, djt_variables);
  djDesign* d = c.d;
  assert_int_equal(d->n, 9 + 3 + 4 + 3 + 1 + 24 + 11 + 4 + 1 + 3 + 3 + 1 + 1 + 3 + 1);
  assert_true(d->x0[9] == 0.5 && d->x0[10] == 0.3 && d->x0[11] == -1);
  assert_true(d->lower[0] == -3 && d->upper[0] == 3 && d->upper[d->n - 1] == -1);
  assert_true(isinf(d->lower[d->n - 1]) && d->x0[d->n - 1] == -9.81);
  const int group[15] = {1, 1, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0};
  for (int v = 0; v < c.p->nvariable; v++) {
    for (int k = d->adr[v]; k < d->adr[v + 1]; k++) assert_int_equal(d->group[k], group[v]);
  }
  // Outputs: the quaternion is normalised in the model, the free vector is as it is.
  double q[4], loss[3], length = 0;
  djd_designValue(q, d, 2);
  assert_true(q[0] == 1.9 && q[3] == -0.2);
  memcpy(q, d->model->body_quat + 12, sizeof q);
  for (int k = 0; k < 4; k++) length += q[k] * q[k];
  assert_true(fabs(length - 1) < 1e-14 && fabs(q[1] / q[0] - 0.3 / 1.9) < 1e-14);
  // The base model is not touched; shared targets are equal; the cage comes on top of the affine
  // map before it.
  assert_true(c.m->geom_size[3] == 0.06 && d->model->geom_size[3] == 0.06);
  assert_true(memcmp(d->model->body_quat + 12, d->model->body_iquat + 8, 32) == 0);
  double z = d->model->body_pos[11];
  assert_true(fabs(z + 0.34) < 0.02 && fabs(z + 0.34) > 1e-4);

  double* x = malloc(2 * (size_t)d->n * sizeof *x);
  double* grad = x + d->n;
  assert_int_equal(djd_evaluateDesign(&loss[0], NULL, d, d->x0), DJ_OK);
  memcpy(x, d->x0, (size_t)d->n * sizeof *x);
  for (int k = 0; k < d->n; k++) x[k] += 0.01;
  assert_int_equal(djd_evaluateDesign(&loss[1], grad, d, x), DJ_OK);
  // A negative size, and a number that is none, are refused; the next evaluation is not harmed.
  int len = d->adr[4];
  x[len] = -1;
  djError none = {""};
  d->error = none;
  double unused;
  assert_true(djd_evaluateDesign(&unused, grad, d, x) < 0);
  assert_non_null(strstr(d->error.text, "geom 'puck': size must be positive"));
  assert_true(djd_designObjective(d, &unused, grad, x) < 0);
  x[len] = NAN;
  assert_true(djd_evaluateDesign(&unused, grad, d, x) < 0);
  assert_int_equal(djd_evaluateDesign(&loss[2], NULL, d, d->x0), DJ_OK);
  assert_true(loss[0] == loss[2] && loss[0] != loss[1]);
  assert_true(d->result.loss == loss[2] && d->result.unconverged_steps == 0);

  // A rotation entry turns: x = w, q = q0 exp(w).
  int turn = d->adr[9];
  memcpy(x, d->x0, (size_t)d->n * sizeof *x);
  x[turn + 1] = 0.5;
  assert_int_equal(djd_moveDesign(d, x), DJ_OK);
  djd_designValue(q, d, 9);
  djQuat expected = dju_mulQuat(dju_loadQuat(c.m->body_quat + 8), dju_expQuat(dju_vec3(0, 0.5, 0)));
  assert_true(fabs(q[0] - expected.w) + fabs(q[2] - expected.y) < 1e-14);
  free(x);
  djt_closeDesign(&c);
}

// What resolves to nothing good.
static void testErrors(void) {
  static const char z[] = "'free':{'z':{'value':[1,2,3]},'c':{'value':[" ZEROS24 "]}}";
  static const char* const list[][2] = {
      {"'maps':[{'type':'shared','from':'y','to':'option/gravity'}]",
       "maps[0]: from: there is no free vector 'y'"},
      {"'maps':[{'type':'shared','from':'z'}]", "maps[0]: to: is missing"},
      {"'maps':[{'type':'shared','from':'z','to':'geom/x/pos'}]",
       "maps[0]: to: 'geom/x/pos': there is no such geom"},
      {"'maps':[{'type':'shared','from':'z','to':['site/tip/pos','site/#0/pos']}]",
       "maps[0]: to: 'site/#0/pos' is listed twice"},
      {"'maps':[{'type':'shared','from':'z','to':'body/hand/quat'}]",
       "maps[0]: to: 'body/hand/quat' is 4 numbers, 'z' is 3"},
      {"'maps':[{'type':'affine','from':'z','to':'body/hand/quat'}]",
       "maps[0]: from: 'z' must be 4 numbers"},
      {"'maps':[{'type':'affine','from':'z','to':'body/hand/mass','matrix':[[1,2]]}]",
       "maps[0]: matrix: must be 1 x 3 numbers"},
      {"'maps':[{'type':'affine','from':'z','to':'site/tip/pos','offset':[1]}]",
       "maps[0]: offset: must be 3 numbers"},
      {"'maps':[{'type':'mirror','from':'z','to':'site/tip/pos','normal':[0,0,0]}]",
       "maps[0]: normal: must be a vector of 3 numbers"},
      {"'maps':[{'type':'mirror','from':'z','to':['site/tip/pos','ctrl'],"
       "'normal':[0,0,1]}]",
       "maps[0]: to: 'ctrl' has no mirror image"},
      {"'maps':[{'type':'mirror','from':'z','to':['site/tip/pos',"
       "'geom/nail/size'],'normal':[0,0,1]}]",
       "maps[0]: to: 'geom/nail/size' is no mirror image of 3 numbers 'z'"},
      {"'maps':[{'type':'tanh','from':'z','to':'site/tip/pos'}]", "maps[0]: to: must be 'ctrl'"},
      {"'maps':[{'type':'tanh','from':'z','hold':10}]", "maps[0]: from: 'z' must be 6 numbers"},
      {"'maps':[{'type':'tanh','from':'z','hold':0}]", "maps[0]: hold: must be positive"},
      {"'maps':[{'type':'spline','from':'z','actuator':7}]", "maps[0]: actuator: there is no '#7'"},
      {"'maps':[{'type':'cage','from':'z','body':'hand','box':[[0,0,0],[1,1,1]]}]",
       "maps[0]: from: 'z' must be 24 numbers"},
      {"'maps':[{'type':'cage','from':'c','body':'foot','box':[[0,0,0],[1,1,1]]}]",
       "maps[0]: body: there is no 'foot'"},
      {"'maps':[{'type':'cage','from':'c','body':'hand','box':[[0,0,0],[1,0,1]]}]",
       "maps[0]: box: is empty"},
      {"'maps':[{'type':'cage','from':'c','body':'hand','box':[[0,0,0]]}]",
       "maps[0]: box: must be two points"},
      {"'maps':[{'type':'cage','from':'c','body':'hand','box':[[5,5,5],[6,6,6]]}]",
       "maps[0]: box: nothing of the body is inside"},
      {"'maps':[{'type':'cage','from':'c','body':'hand','box':[[-1,-1,-1],[1,1,1]],"
       "'to':'site/tip/quat'}]",
       "maps[0]: to: 'site/tip/quat' has nothing inside the box"},
      {"'maps':[{'type':'shared','from':'z','to':'site/tip/pos'}],"
       "'variables':[{'name':'site/tip/pos'}]",
       "variables: 'site/tip/pos' is computed by maps[0]"},
      {"'maps':[{'type':'spline','from':'z','actuator':1}],"
       "'variables':[{'name':'ctrl','index':[0,2,7]}]",
       "variables: 'ctrl' is computed by maps[0]"},
      {"'variables':[{'name':'z','index':[0,1]},{'name':'z','index':[1]}]",
       "variables: an entry of 'z' is listed twice"},
      {"'variables':[{'name':'z','index':[3]}]", "variables: 'z': index: there is no entry 3"},
  };
  static const char* const named[][2] = {
      {"ctrl", "free: ctrl: is the name of something else"},
      {"qpos0[joint/swing]", "free: qpos0[joint/swing]: is the name of something else"},
      {"site/tip/pos", "free: site/tip/pos: is the name of something else"}};
  char frame[4096];
  djModel* m = makeModel();
  snprintf(frame, sizeof frame, "{%s,%s,%%s}", djt_task, z);
  djt_refuseTasks(DJ_INVALID, m, frame, list);
  snprintf(frame, sizeof frame, "{%s,'free':{'%%s':{'value':1}}}", djt_task);
  djt_refuseTasks(DJ_INVALID, m, frame, named);
  dj_deleteModel(m);
}

// A vector and a part of it have gradients side by side, but may not both be optimised.
static void testParts(void) {
  DesignCase c;
  djError err = {""};
  makeCase(&c, "'variables':[{'name':'qpos0'},{'name':'qpos0[joint/ball]'}]");
  assert_int_equal(djd_checkVariables(c.p, &err), DJ_INVALID);
  assert_string_equal(err.text,
                      "variables: 'qpos0' and 'qpos0[joint/ball]' have an entry in common");
  double loss, grad[14];
  assert_int_equal(c.d->n, 14);
  assert_int_equal(djd_evaluateDesign(&loss, grad, c.d, c.d->x0), DJ_OK);
  for (int k = 0; k < 3; k++) assert_true(grad[8 + k] == grad[11 + k] && grad[8 + k] != 0);
  djt_closeDesign(&c);
}

// Likewise picked entries; every entry moves what it names, the others staying where they are.
static void testPicked(void) {
  static const char* const names[] = {"body/hand/pos", "body/hand/quat", "qvel0", "ctrl", "z"};
  static const int part[] = {1, 2, 3, 4, 1};
  DesignCase c;
  djError err = {""};
  for (int i = 0; i < 5; i++) {
    char text[400];
    snprintf(text, sizeof text, "'variables':[{'name':'%s'},{'name':'%s','index':[%d]}]%s",
             names[i], names[i], part[i],
             i < 4 ? ""
                   : ",'free':{'z':{'value':[0.1,0.1,-0.3]}},'maps':["
                     "{'type':'shared','from':'z','to':'body/hand/pos'}]");
    makeCase(&c, text);
    assert_int_equal(djd_checkVariables(c.p, &err), DJ_INVALID);
    double loss, *grad = calloc((size_t)c.d->n, sizeof *grad);
    double* x = calloc((size_t)c.d->n, sizeof *x);
    assert_true(grad && x);
    assert_int_equal(djd_evaluateDesign(&loss, grad, c.d, c.d->x0), DJ_OK);
    int last = c.d->n - 1;
    assert_true(grad[last] == grad[part[i]] && grad[last] != 0);
    for (int e = 0; e <= last; e++) {
      double side[2], step = 1e-5;
      for (int k = 0; k < 2; k++) {
        memcpy(x, c.d->x0, (size_t)c.d->n * sizeof *x);
        x[e] += k ? -step : step;
        assert_int_equal(djd_evaluateDesign(&side[k], NULL, c.d, x), DJ_OK);
      }
      double slope = (side[0] - side[1]) / (2 * step);
      djt_failIf(fabs(slope - grad[e]) > 1e-6 * fmax(fabs(grad[e]), 1e-2),
                 "%s, entry %d: %.9g, by differences %.9g", names[i], e, grad[e], slope);
    }
    free(grad);
    free(x);
    djt_closeDesign(&c);
  }
}

// A small task is solved: the puck to a place, by its start, the finger to an angle, by controls.
static void testOptimize(void) {
  static const char keys[] =
      "'scene':'s','horizon':20,'initial':{'qpos':[0,0,0.052,1,0,0,0,0,0,1,0,0,0]},"
      "'loss':[{'type':'position','body':'puck','target':[0.1,0.03,0.05],"
      "'weight':50},"
      "{'type':'qpos','joint':'bend','target':0.1}]";
  static const char* const types[] = {"adam", "trust_region", "lbfgsb"};
  for (int t = 0; t < 3; t++) {
    DesignCase c;
    makeCaseOf(&c, keys,
               "'free':{'t':{'value':[" ZEROS9 "],'min':-2,'max':2}},"
               "'maps':[{'type':'tanh','from':'t','hold':7}],"
               "'variables':[{'name':'t'},{'name':'qvel0','index':[0,1],'max':1.2}]");
    djDesign* d = c.d;
    djOptimizer o = dj_defaultOptimizer();
    o.type = types[t];
    o.rate = 0.1;
    o.radius = 0.5;
    o.iterations = t == 0 ? 60 : 20;
    djOptimizeProblem p = {.n = d->n, .lower = d->lower, .upper = d->upper, .group = d->group,
                           .objective = djd_designObjective, .user = d};
    double x[11], loss;
    memcpy(x, d->x0, sizeof x);
    djOptimizeResult r = djt_optimize(x, &p, &o);
    assert_true(r.loss < 0.05 * r.first_loss);
    assert_int_equal(djd_evaluateDesign(&loss, NULL, d, x), DJ_OK);
    assert_true(fabs(loss - r.loss) < 1e-12);
    for (int k = 0; k < 11; k++) assert_true(x[k] >= d->lower[k] && x[k] <= d->upper[k]);
    assert_true(x[9] > 1.1);
    djt_closeDesign(&c);
  }
}

// Where the vertex of the head that is connected is, less where the finger and the tip are, in the
// hand's frame.
static void gaps(double gap[6], const djModel* m) {
  djPose pose = {dju_load3(m->geom_pos + 6), dju_quatToMat(dju_loadQuat(m->geom_quat + 8))};
  djVec3 vertex = dju_transform(&pose, dju_load3(m->mesh_vert + 3 * 7));
  dju_store3(gap, dju_sub3(vertex, dju_load3(m->body_pos + 9)));
  dju_store3(gap + 3, dju_sub3(vertex, dju_load3(m->site_pos)));
}

// Rows of the equations tell by how much gaps change, wherever x goes; they hold at x0.
static void checkRows(djDesign* d, const double before[6]) {
  djRng rng = {6};
  double after[6], *x = malloc((size_t)d->n * sizeof *x);
  for (int k = 0; k < d->n; k++) x[k] = d->x0[k] + 0.01 * djt_uniform(&rng, -1, 1);
  assert_int_equal(djd_moveDesign(d, x), DJ_OK);
  gaps(after, d->model);
  for (int r = 0; r < 6; r++) {
    double change = 0, value = 0, sign = r < 3 ? 1 : -1;   // the site is the second one's first
    for (int k = 0; k < d->n; k++) {
      change += djt_equal(d, r, k) * (x[k] - d->x0[k]);
      value += djt_equal(d, r, k) * d->x0[k];
    }
    assert_true(fabs(change - sign * (after[r] - before[r])) < 1e-14);
    assert_true(fabs(value - d->value[r]) < 1e-14);
  }
  free(x);
}

// Connected points move together: a vertex with a child's frame and a site, the latter moved by a
// cage together with what is not connected.
static void testConnect(void) {
  static const char connect[] =
      "'connect':[{'a':{'geom':'head','vertex':7},'b':{'body':'finger'}},"
      "{'a':{'site':'tip'},'b':{'geom':'head','vertex':7}}],"
      "'free':{'c':{'value':[" ZEROS24 "],'min':-0.04,'max':0.03}},"
      "'maps':[{'type':'cage','from':'c','body':'hand','to':'site/tip/pos',"
      "'box':[[-0.3,-0.3,-0.6],[0.3,0.3,-0.105]]}],"
      "'variables':[{'name':'mesh/block/vert','index':[21,22,23,6,0,1]},"
      "{'name':'c'},{'name':'geom/head/pos','min':-1,'max':1},"
      "{'name':'body/finger/pos'},{'name':'geom/grip/pos'},{'name':'ctrl'}]";
  DesignCase c;
  makeCase(&c, connect);
  djDesign* d = c.d;
  assert_int_equal(d->nequal, 6);
  double before[6], after[6], *x = malloc((size_t)d->n * sizeof *x);
  gaps(before, d->model);
  checkRows(d, before);
  for (int t = 0; t < 2; t++) {
    djOptimizer o = dj_defaultOptimizer();
    o.type = t ? "trust_region" : "adam";
    o.rate = 0.002;
    o.radius = 0.02;
    o.iterations = 5;
    djOptimizeProblem p = {.n = d->n, .lower = d->lower, .upper = d->upper, .group = d->group,
                           .nequal = d->nequal, .equal_start = d->equal_start,
                           .equal_index = d->equal_index, .equal = d->equal, .value = d->value,
                           .objective = djd_designObjective, .user = d};
    djOptimizeResult r;
    for (int held = 1; held >= 0; held--) {
      double moved = 0, broken = 0;
      if (!held) p.nequal = 0;
      memcpy(x, d->x0, (size_t)d->n * sizeof *x);
      assert_int_equal(dj_optimize(&r, x, &p, &o, NULL), DJ_OK);
      assert_true(r.loss < r.first_loss);
      assert_int_equal(djd_moveDesign(d, x), DJ_OK);
      gaps(after, d->model);
      for (int k = 0; k < 6; k++) broken = djt_worst(broken, fabs(after[k] - before[k]));
      for (int k = 0; k < 3; k++) {
        moved = djt_worst(moved, fabs(d->model->site_pos[k] - c.m->site_pos[k]));
      }
      assert_true(moved > 1e-3);
      assert_true(held ? broken < 1e-12 : broken > 1e-4);
    }
  }
  free(x);
  djt_closeDesign(&c);

  static const char* const list[][2] = {
      {"[{'a':{'site':'tip'},'b':{'geom':'nail'}}]",
       "connect[0]: 'tip' and 'nail' are not in the frame of one body"},
      {"[{'a':{'site':'top'},'b':{'geom':'head'}}]", "connect[0]: a: there is no element 'top'"},
      {"[{'a':{'site':'tip'},'b':{'geom':'head','vertex':8}}]",
       "connect[0]: b: geom 'head' has no vertex 8"},
      {"[{'a':{'site':'tip'},'b':{'geom':'head','vertex':1}}],"
       "'variables':[{'name':'geom/head/quat'}]",
       "connect[0]: b: geom 'head' may not turn"},
  };
  djModel* m = makeModel();
  char frame[4096];
  snprintf(frame, sizeof frame, "{%s,'connect':%%s}", djt_task);
  djt_refuseTasks(DJ_INVALID, m, frame, list);
  dj_deleteModel(m);
}

DJT_MAIN(testMapsVjp, testMapsValues, testSplineIsSmooth, testCage, testMirror, testGradients,
         testFollowing, testEntries, testErrors, testParts, testPicked, testOptimize, testConnect)
