// Parts of both stages of tasks: what each key's reader makes of JSON, and what names become in a
// model.

#include "common/json.h"
#include "common/make_model.h"
#include "common/message.h"
#include "common/near.h"
#include "common/random.h"
#include "common/test.h"
#include "gradient/map.h"
#include "io/task_parse.h"
#include "io/task_resolve.h"
#include "math/vec.h"
#include "model/param.h"

// A task that is read part by part, and its problem.
typedef struct Parts {
  djTask task;
  djProblem problem;
  djPool pool;
  cJSON* root[8];
  int nroot;
  djError err;
} Parts;

typedef djStatus (*Reader)(djTask* task, const cJSON* item, djPool* pool, djError* err);

static djStatus readPart(Parts* p, Reader reader, const char* text) {
  char object[2000];
  snprintf(object, sizeof object, "{\"x\": %s}", djt_json(text));
  cJSON** root = &p->root[p->nroot++];
  assert_true(p->nroot <= 8);
  if (dj_parseJson(root, object, strlen(object), &p->err) != DJ_OK) fail_msg("%s", p->err.text);
  return reader(&p->task, dj_jsonGet(*root, "x"), &p->pool, &p->err);
}

static void mustRead(Parts* p, Reader reader, const char* text) {
  if (readPart(p, reader, text) != DJ_OK) fail_msg("%s", p->err.text);
}

static void closeParts(Parts* p) {
  for (int i = 0; i < p->nroot; i++) cJSON_Delete(p->root[i]);
  dj_poolFree(&p->pool);
}

static void refuse(Reader reader, const char* text, const char* message) {
  Parts p = {.task = {.horizon = 4}};
  assert_int_equal(readPart(&p, reader, text), DJ_INVALID);
  assertMessage(p.err.text, message);
  closeParts(&p);
}

// ---- reading ----------------------------------------------------------------------------------

static void testLosses(void) {
  Parts p = {.task = {.horizon = 4}};
  mustRead(&p, dj_parseLosses,
           "[{'type': 'distance', 'body': 'a', 'body2': 'b', 'target': 2,"
           "  'weight': -3, 'tolerance': 0.5, 'when': {'step': 4}},"
           " {'type': 'orientation', 'body': 'c', 'target': [0, 0, 3, 4]},"
           " {'type': 'com', 'target': [1, 2, 3], 'when': 'running'}]");
  const djTaskLoss* l = p.task.loss;
  assert_int_equal(p.task.nloss, 3);
  assert_true(l[0].term.type == DJ_LOSS_DISTANCE && l[0].object == DJ_OBJ_BODY);
  assert_string_equal(l[0].name, "a");
  assert_string_equal(l[0].name2, "b");
  assert_true(l[0].term.target[0] == 2 && l[0].term.weight == -3 && l[0].term.tolerance == 0.5);
  assert_true(l[0].term.when == DJ_WHEN_STEP && l[0].term.step == 4);
  assert_true(l[1].term.target[2] == 0.6 && l[1].term.target[3] == 0.8 && !l[1].name2);
  assert_true(l[1].term.weight == 1 && l[1].term.tolerance == 0);
  assert_true(l[2].object == DJ_NOBJ && !l[2].name && l[2].term.when == DJ_WHEN_RUNNING);
  closeParts(&p);
  p = (Parts){.task = {.horizon = 40}};
  mustRead(&p, dj_parseLosses,
           "[{'type': 'position', 'geom': 'a', 'index': [2, 0], 'target': [5, 6],"
           "  'norm': true, 'when': {'every': 5, 'from': 3, 'to': 30}},"
           " {'type': 'position', 'body': 'a', 'index': [1], 'target': [5, 6, 7],"
           "  'when': {'to': 9}},"
           " {'type': 'distance', 'site': 'a', 'geom2': 'b', 'when': {'every': 2}},"
           " {'type': 'qpos', 'joint': 'a', 'joint2': 'b', 'target': 1}]");
  l = p.task.loss;
  const djLossTerm* t = &l[0].term;
  assert_true(t->norm && t->nindex == 2 && t->index[0] == 2 && t->index[1] == 0);
  assert_true(t->target[2] == 5 && t->target[0] == 6 && t->when == DJ_WHEN_EVERY);
  assert_true(t->every == 5 && t->from == 3 && t->to == 30);
  t = &l[1].term;
  assert_true(!t->norm && t->nindex == 1 && t->index[0] == 1 && t->target[1] == 6);
  assert_true(t->when == DJ_WHEN_RUNNING && t->from == 0 && t->to == 9);
  assert_true(l[2].object == DJ_OBJ_SITE && l[2].object2 == DJ_OBJ_GEOM && l[2].name2[0] == 'b');
  assert_true(l[2].term.every == 2 && l[2].term.from == 0 && l[2].term.to == 0);
  assert_true(l[3].object2 == DJ_OBJ_JOINT && l[3].name2[0] == 'b');
  assert_true(l[1].object2 == DJ_NOBJ && !l[1].name2);
  closeParts(&p);
  static const char* const bad[][2] = {
      {"'effort', 'when': {}", "step: is missing"},
      {"'effort', 'when': {'step': 1, 'every': 2}", "step: stands alone"},
      {"'effort', 'when': {'every': 0}", "every: must be between 1 and the horizon, 4"},
      {"'effort', 'when': {'from': 4, 'to': 3}", "from: is larger than to"},
      {"'effort', 'when': {'to': 5}", "to: must be between 1 and the horizon, 4"},
      {"'effort', 'norm': 1", "norm: must be true or false"},
      {"'position', 'body': 'a', 'target': [1, 2], 'index': [0, 3]",
       "index: must be some of 0, 1, 2"},
      {"'position', 'body': 'a', 'target': [1, 2], 'index': [0, 0]",
       "index: must be some of 0, 1, 2"},
      {"'position', 'body': 'a', 'target': [1, 2], 'index': []", "index: must be some of 0, 1, 2"},
      {"'distance', 'body': 'a'", "body2: is missing"},
      {"'distance', 'body': 'a', 'body2': 'b', 'site2': 'c'", "names more than one element"}};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    char text[300], message[200];
    snprintf(text, sizeof text, "[{'type': %s}]", bad[i][0]);
    snprintf(message, sizeof message, "loss[0]: %s", bad[i][1]);
    refuse(dj_parseLosses, text, message);
  }
  p = (Parts){.task = {.horizon = 4}};
  mustRead(&p, dj_parseLosses, "[]");
  assert_int_equal(p.task.nloss, 0);
  closeParts(&p);
  refuse(dj_parseLosses, "{}", "loss: must be a list");
  refuse(dj_parseLosses, "[3]", "loss[0]: must be an object");
  refuse(dj_parseLosses, "[{'type': 'effort'}, {}]", "loss[1]: type: is missing");
  refuse(dj_parseLosses, "[{'type': 'effort', 'when': {'step': 5}}]",
         "loss[0]: step: must be between 1 and the horizon, 4");
  refuse(dj_parseLosses, "[{'type': 'effort', 'when': {'step': 0}}]",
         "loss[0]: step: must be between 1 and the horizon, 4");
  refuse(dj_parseLosses, "[{'type': 'orientation', 'body': 'c', 'target': [0,0,0,0]}]",
         "loss[0]: target: is a zero quaternion");
  refuse(dj_parseLosses, "[{'type': 'effort', 'tolerance': -1}]",
         "loss[0]: tolerance: must not be negative");
}

static void testFree(void) {
  Parts p = {0};
  mustRead(&p, dj_parseFree,
           "{'z': {'value': [[1, 2], [3, 4]], 'min': [[0, 1], [2, 3]], 'max': 5},"
           " 'y': {'value': 7}}");
  const djTaskFree* f = p.task.free;
  assert_int_equal(p.task.nfree, 2);
  assert_true(f[0].n == 4 && f[0].nmin == 4 && f[0].nmax == 1 && f[0].max[0] == 5);
  for (int k = 0; k < 4; k++) assert_true(f[0].value[k] == k + 1 && f[0].min[k] == k);
  assert_true(f[1].n == 1 && f[1].value[0] == 7 && f[1].nmin == 0 && f[1].nmax == 0);
  assert_string_equal(f[1].name, "y");
  closeParts(&p);
  refuse(dj_parseFree, "[]", "free: must be an object");
  refuse(dj_parseFree, "{'z': {}}", "free: z: value: is missing");
  refuse(dj_parseFree, "{'z': {'value': []}}", "free: z: value: has no numbers");
  refuse(dj_parseFree, "{'z': {'value': [1, 2, 3], 'min': [1, 2]}}",
         "free: z: min: must be 1 or 3 numbers");
  refuse(dj_parseFree, "{'z': {'value': [1, 2], 'min': [0, 3], 'max': 2}}",
         "free: z: min is larger than max");
  refuse(dj_parseFree, "{'z': {'value': 1}, 'z': {'value': 2}}", "free: z: is given twice");
}

static void testMaps(void) {
  Parts p = {0};
  mustRead(&p, dj_parseMaps,
           "[{'type': 'spline', 'from': 'y', 'actuator': 3},"
           " {'type': 'affine', 'from': 'z', 'to': ['a', 'b'],"
           "  'matrix': [[1, 2], [3, 4], [5, 6]]},"
           " {'type': 'shared', 'from': 'z', 'to': 'c'}]");
  const djMapDef* map = p.task.map;
  assert_int_equal(p.task.nmap, 3);
  assert_string_equal(map[0].type, "spline");
  assert_string_equal(map[0].from, "y");
  assert_string_equal(map[0].arg[0].text, "#3");
  assert_true(map[0].nto == 0 && map[1].nto == 2 && map[2].nto == 1);
  assert_string_equal(map[1].to[1], "b");
  assert_string_equal(map[2].to[0], "c");
  const djMapArg* matrix = &map[1].arg[0];
  assert_true(matrix->given && matrix->rows == 3 && matrix->columns == 2 && matrix->number[5] == 6);
  assert_false(map[1].arg[1].given);
  closeParts(&p);
  refuse(dj_parseMaps, "{}", "maps: must be a list");
  refuse(dj_parseMaps, "[7]", "maps[0]: must be an object");
  refuse(dj_parseMaps, "[{'from': 'z'}]", "maps[0]: type: is missing");
  refuse(dj_parseMaps, "[{'type': 'shared'}]", "maps[0]: from: is missing");
  refuse(dj_parseMaps, "[{'type': 'shared', 'from': 'z', 'to': []}]", "maps[0]: to: has no names");
  refuse(dj_parseMaps, "[{'type': 'shared', 'from': 'z', 'to': ['a', 1]}]",
         "maps[0]: to: must be a name or a list of names");
}

static void testConnect(void) {
  Parts p = {0};
  mustRead(&p, dj_parseConnect,
           "[{'a': {'geom': 'g', 'vertex': 2}, 'b': {'site': 's'}},"
           " {'b': {'body': 'c'}, 'a': {'joint': 'j'}}]");
  const djTaskConnect* c = p.task.connect;
  assert_int_equal(p.task.nconnect, 2);
  assert_true(c[0].a.object == DJ_OBJ_GEOM && c[0].a.vertex == 2);
  assert_true(c[0].b.object == DJ_OBJ_SITE && c[0].b.vertex == -1);
  assert_true(c[1].a.object == DJ_OBJ_JOINT && c[1].b.object == DJ_OBJ_BODY);
  assert_string_equal(c[1].a.name, "j");
  assert_string_equal(c[1].b.name, "c");
  closeParts(&p);
  refuse(dj_parseConnect, "{}", "connect: must be a list or \"auto\"");
  refuse(dj_parseConnect, "[{'a': {'site': 's'}}]", "connect[0]: b: is missing");
  refuse(dj_parseConnect, "[{'a': {'site': 's', 'body': 'c'}, 'b': {}}]",
         "connect[0]: a: must name one element");
  refuse(dj_parseConnect, "[{'a': {'site': 's'}, 'b': {'body': 'c', 'vertex': 1}}]",
         "connect[0]: b: vertex: must be that of a geom's mesh");
  refuse(dj_parseConnect, "[{'a': {'geom': 's', 'vertex': -1}, 'b': {}}]",
         "connect[0]: a: vertex: must be that of a geom's mesh");
}

static djStatus readOptimizer(djTask* task, const cJSON* item, djPool* pool, djError* err) {
  task->optimizer = dj_defaultOptimizer();
  return dj_parseOptimizer(&task->optimizer, item, pool, err);
}

// Every key alone sets its number and no other; what is not given stays.
static void testOptimizer(void) {
  const djOptimizer standard = dj_defaultOptimizer();
  const djSetting* key;
  for (int i = 0; (key = dj_optimizerKey(i)); i++) {
    Parts p = {0};
    char text[100];
    double value = key->kind == DJ_SETTING_WHOLE ? 7 : 0.3125;
    if (key->kind == DJ_SETTING_WHOLE && key->below > 0) value = key->below - 1;
    djOptimizer user = standard;   // of the key
    for (int k = 0; dj_checkOptimizerKey(&user, key->name, NULL) < 0; k++) {
      user.type = dj_optimizerEntry(k)->name;
    }
    snprintf(text, sizeof text, "{'%s': %g, 'type': '%s'}", key->name, value, user.type);
    if (key->choice) {
      value = key->choice[1].value;
      snprintf(text, sizeof text, "{'%s': '%s', 'type': '%s'}", key->name, key->choice[1].name,
               user.type);
    }
    mustRead(&p, readOptimizer, text);
    assert_true(p.task.optimizer.given);
    assert_string_equal(p.task.optimizer.type, user.type);
    const djSetting* other;
    for (int k = 0; (other = dj_optimizerKey(k)); k++) {
      double wanted = k == i ? value : dj_getOptimizer(&standard, other);
      assert_true(dj_getOptimizer(&p.task.optimizer, other) == wanted);
    }
    closeParts(&p);
    snprintf(text, sizeof text, "{'%s': -1}", key->name);
    p = (Parts){0};
    assert_int_equal(readPart(&p, readOptimizer, text), DJ_INVALID);
    closeParts(&p);
  }
  Parts p = {0};
  mustRead(&p, readOptimizer, "{'type': 'lbfgsb'}");
  assert_string_equal(p.task.optimizer.type, "lbfgsb");
  closeParts(&p);
  refuse(readOptimizer, "{'type': 'none'}", "optimizer: type: unknown optimizer 'none'");
  refuse(readOptimizer, "{'speed': 1}", "optimizer: unknown key 'speed'");
  refuse(readOptimizer, "{'direction': 'mean'}",
         "optimizer: direction: is not of the optimizer adam, but of trust_region");
}

// ---- names ------------------------------------------------------------------------------------

static djStatus resolveParts(Parts* p, const djModel* m) {
  djStatus status = dj_resolveMaps(&p->problem, &p->task, m, &p->pool, &p->err);
  if (status == DJ_OK) status = dj_resolveVariables(&p->problem, &p->task, m, &p->pool, &p->err);
  if (status == DJ_OK) status = dj_resolveConnect(&p->problem, &p->task, m, &p->pool, &p->err);
  return status;
}

static void testResolveMaps(void) {
  djModel* m = djt_sampleModel(NULL);
  Parts p = {.task = {.horizon = 2}};
  mustRead(&p, dj_parseFree, "{'z': {'value': [1, 2, 3], 'min': -4, 'max': [5, 6, 7]}}");
  mustRead(&p, dj_parseMaps,
           "[{'type': 'shared', 'from': 'z', 'to': ['body/*o*/pos', 'site/tip/pos']},"
           " {'type': 'shared', 'from': 'z', 'to': 'body/box/pos'}]");
  if (resolveParts(&p, m) != DJ_OK) fail_msg("%s", p.err.text);
  const djProblem* q = &p.problem;
  assert_true(q->nfree == 1 && q->nmap == 2 && q->nvariable == 0 && q->nconnect == 0);
  for (int k = 0; k < 3; k++) {
    assert_true(q->free[0].value[k] == k + 1 && q->free[0].min[k] == -4);
    assert_true(q->free[0].max[k] == k + 5);
  }
  // robot/pole, box (once) and the site; the world has no place
  static const int field[3] = {DJ_FIELD_BODY_POS, DJ_FIELD_BODY_POS, DJ_FIELD_SITE_POS};
  static const int id[3] = {2, 3, 0};
  assert_int_equal(q->nparam, 3);
  for (int k = 0; k < 3; k++) {
    assert_int_equal(q->param[k].field, field[k]);
    assert_int_equal(q->param[k].id, id[k]);
  }
  assert_true(q->map[0].ntarget == 3 && q->map[0].nout == 9 && q->map[1].target[0].param == 1);
  closeParts(&p);
  static const char* const taken[] = {"ctrl", "qpos0", "qvel0", "act0", "qpos0[joint/slide]",
                                      "qvel0[x", "body/box/mass"};
  for (size_t k = 0; k < sizeof taken / sizeof *taken; k++) {
    char text[80], message[80];
    p = (Parts){0};
    snprintf(text, sizeof text, "{'%s': {'value': 1}}", taken[k]);
    snprintf(message, sizeof message, "free: %s: is the name of something else", taken[k]);
    mustRead(&p, dj_parseFree, text);
    assert_int_equal(resolveParts(&p, m), DJ_INVALID);
    assert_string_equal(p.err.text, message);
    closeParts(&p);
  }
  p = (Parts){.task = {.horizon = 2}};
  mustRead(&p, dj_parseFree, "{'z': {'value': [1, 2, 3]}}");
  mustRead(&p, dj_parseMaps, "[{'type': 'shared', 'from': 'z', 'to': 'body/x*/pos'}]");
  assert_int_equal(resolveParts(&p, m), DJ_INVALID);
  assert_true(strncmp(p.err.text, "maps[0]: to: 'body/x*/pos': ", 28) == 0);
  closeParts(&p);
  dj_deleteModel(m);
}

// Where variables of every kind are.
static void testResolveVariables(void) {
  djModel* m = djt_sampleModel(NULL);
  static const int two[2] = {4, 1};
  static const double low[2] = {-1, -2}, high[1] = {3};
  const djTaskVariable list[] = {
      {.name = "ctrl", .nindex = 2, .index = two, .nmin = 2, .min = low, .nmax = 1, .max = high},
      {.name = "qpos0", .nindex = -1},
      {.name = "qvel0[joint/#3]", .nindex = -1},
      {.name = "qpos0[joint/#3]", .nindex = -1},
      {.name = "z", .nindex = 2, .index = (int[]){2, 0}, .nmin = 2, .min = low},
      {.name = "body/*o*/mass", .nindex = -1, .nmin = 1, .min = high},
      {.name = "joint/free/springref", .nindex = 1, .index = two + 1}};
  enum { N = sizeof list / sizeof *list };
  Parts p = {.task = {.horizon = 5, .nvariable = N, .variable = list}};
  mustRead(&p, dj_parseFree, "{'z': {'value': [1, 2, 3], 'min': -1.5, 'max': [5, 6, 7]}}");
  if (resolveParts(&p, m) != DJ_OK) fail_msg("%s", p.err.text);
  const djVariable* v = p.problem.variable;
  assert_int_equal(p.problem.nvariable, N + 1);
  assert_true(v[0].kind == DJ_VAR_CTRL && v[0].nvalue == 15 && v[0].n == 2 && v[0].picked);
  assert_true(v[0].index[0] == 4 && v[0].min[1] == -2 && v[0].max[0] == 3 && v[0].max[1] == 3);
  assert_true(v[1].kind == DJ_VAR_QPOS0 && v[1].nvalue == 13 && v[1].ntangent == 11);
  assert_true(v[1].n == 11 && v[1].index[10] == 10 && v[1].min[10] == -INFINITY);
  assert_true(v[2].kind == DJ_VAR_QVEL0_JOINT && v[2].joint == 3 && v[2].nvalue == 3);
  assert_true(v[2].adr == 8 && v[2].valueadr == 8 && v[2].ntangent == 3);
  assert_true(v[3].kind == DJ_VAR_QPOS0_JOINT && v[3].joint == 3 && v[3].nvalue == 4);
  assert_true(v[3].adr == 8 && v[3].valueadr == 9 && v[3].ntangent == 3);
  assert_true(v[4].kind == DJ_VAR_FREE && v[4].free == 0 && v[4].max[0] == 7 && v[4].max[1] == 5);
  assert_true(v[4].min[0] == -1 && v[4].min[1] == -1.5);   // the tighter of both
  for (int k = 0; k < 2; k++) {   // robot/pole, box
    assert_true(v[5 + k].kind == DJ_VAR_PARAM && v[5 + k].param == k && v[5 + k].adr == k);
    assert_int_equal(p.problem.param[k].id, 2 + k);
    assert_true(v[5 + k].min[0] == 3);
  }
  assert_true(v[7].param == 2 && v[7].adr == 2 && v[7].nvalue == 7 && v[7].ntangent == 6);
  assert_int_equal(p.problem.nparamtangent, 8);
  closeParts(&p);
  dj_deleteModel(m);
}

static void testRefusedVariables(void) {
  djModel* m = djt_sampleModel(NULL);
  static const double up[3] = {2, 3, 1}, down[1] = {1};
  const struct {
    djTaskVariable v[2];
    int n;
    const char* text;
  } list[] = {
      {{{.name = "speed", .nindex = -1}}, 1, "there is no variable 'speed'"},
      {{{.name = "qpos0[joint/x]", .nindex = -1}}, 1,
       "'qpos0[joint/x]': there is no such joint"},
      {{{.name = "act0", .nindex = 1, .index = (int[]){2}}}, 1,
       "'act0': index: there is no entry 2"},
      {{{.name = "act0", .nindex = 1, .index = (int[]){-1}}}, 1,
       "'act0': index: there is no entry -1"},
      {{{.name = "act0", .nindex = -1, .nmax = 3, .max = up}}, 1,
       "'act0': max: must be 1 or 2 numbers"},
      {{{.name = "act0", .nindex = -1, .nmin = 1, .min = up, .nmax = 1, .max = down}}, 1,
       "'act0': min is larger than max"},
      {{{.name = "body/box/quat", .nindex = -1, .nmin = 1, .min = up}}, 1,
       "'body/box/quat': entry 0 is a rotation and takes no bounds"},
      {{{.name = "qvel0", .nindex = -1}, {.name = "qvel0", .nindex = -1}}, 2,
       "'qvel0' is listed twice"},
      {{{.name = "body/box/mass", .nindex = -1}, {.name = "body/#3/mass", .nindex = -1}}, 2,
       "'body/#3/mass' is listed twice"}};
  for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
    char text[200];
    Parts p = {.task = {.horizon = 2, .nvariable = list[k].n, .variable = list[k].v}};
    assert_int_equal(resolveParts(&p, m), DJ_INVALID);
    snprintf(text, sizeof text, "variables: %s", list[k].text);
    assert_string_equal(p.err.text, text);
    closeParts(&p);
  }
  dj_deleteModel(m);
}

// ---- connections ------------------------------------------------------------------------------

// A point of the sample model in the frame of its body.
static djVec3 pointOf(const djModel* m, const djTaskPoint* p) {
  int id = dj_name2id(m, p->object, p->name);
  switch (p->object) {
    case DJ_OBJ_SITE: return dju_load3(m->site_pos + 3 * id);
    case DJ_OBJ_JOINT: return dju_load3(m->jnt_pos + 3 * id);
    case DJ_OBJ_BODY: return dju_load3(m->body_pos + 3 * id);
    default: break;
  }
  djVec3 pos = dju_load3(m->geom_pos + 3 * id);
  if (p->vertex < 0) return pos;
  const double* vert = m->mesh_vert + 3 * (m->mesh_vertadr[m->geom_mesh[id]] + p->vertex);
  djPose T = {pos, dju_quatToMat(dju_loadQuat(m->geom_quat + 4 * id))};
  return dju_transform(&T, dju_load3(vert));
}

// The parts of a connection add up to how the difference of its points changes.
static void testResolveConnect(void) {
  djSample sample;
  djt_fillSample(&sample);
  for (int k = 0; k < 4; k++) sample.geom[3].quat[k] = (const double[]){0.5, 0.7, -0.1, 0.5}[k];
  djModel *m = djt_makeModel(&sample.def), *moved = NULL;
  assert_int_equal(dj_copyModel(&moved, m, NULL), DJ_OK);
  Parts p = {0};
  djRng rng = {1};
  mustRead(&p, dj_parseConnect,
           "[{'a': {'geom': '#3', 'vertex': 5}, 'b': {'joint': 'free'}},"
           " {'a': {'site': 'tip'}, 'b': {'body': '#5'}},"
           " {'a': {'geom': 'foot'}, 'b': {'joint': 'robot/hinge'}},"
           " {'a': {'body': 'world'}, 'b': {'geom': 'floor'}}]");
  if (resolveParts(&p, m) != DJ_OK) fail_msg("%s", p.err.text);
  static const int parts[4] = {3, 2, 2, 1};   // a vertex has its geom's place, too
  for (int i = 0; i < 4; i++) {
    const djConnect* c = &p.problem.connect[i];
    const djTaskConnect* t = &p.task.connect[i];
    double sum[3] = {0, 0, 0};
    assert_int_equal(c->npart, parts[i]);
    for (int k = 0; k < c->npart; k++) {
      double *value = dj_paramData(moved, &c->part[k].param) + c->part[k].start, by[3];
      djt_uniforms(by, 3, &rng, -1, 1);
      for (int r = 0; r < 9; r++) sum[r / 3] += c->part[k].factor[r] * by[r % 3];
      for (int r = 0; r < 3; r++) value[r] += by[r];
    }
    djVec3 before = dju_sub3(pointOf(m, &t->a), pointOf(m, &t->b));
    djVec3 after = dju_sub3(pointOf(moved, &t->a), pointOf(moved, &t->b));
    djVec3 error = dju_sub3(dju_sub3(after, before), dju_load3(sum));
    djt_near(dju_norm3(error), 0, 1e-14);
  }
  closeParts(&p);
  dj_deleteModel(moved);
  dj_deleteModel(m);
}

static void testRefusedConnect(void) {
  static const char* const list[][2] = {
      {"{'site': 'tip'}, 'b': {'geom': 'floor'}",
       "'tip' and 'floor' are not in the frame of one body"},
      {"{'site': 'x'}, 'b': {'geom': 'floor'}", "a: there is no element 'x'"},
      {"{'site': 'tip'}, 'b': {'geom': 'foot', 'vertex': 0}", "b: geom 'foot' has no vertex 0"},
      {"{'geom': '#3', 'vertex': 8}, 'b': {'joint': 'free'}", "a: geom '#3' has no vertex 8"},
      {"{'geom': '#3', 'vertex': 7}, 'b': {'joint': 'free'}", "a: geom '#3' may not turn"}};
  djModel* m = djt_sampleModel(NULL);
  const djTaskVariable quat = {.name = "geom/#3/quat", .nindex = -1};
  for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
    char text[200];
    Parts p = {.task = {.nvariable = 1, .variable = &quat}};
    snprintf(text, sizeof text, "[{'a': %s}]", list[k][0]);
    mustRead(&p, dj_parseConnect, text);
    assert_int_equal(resolveParts(&p, m), DJ_INVALID);
    snprintf(text, sizeof text, "connect[0]: %s", list[k][1]);
    assert_string_equal(p.err.text, text);
    closeParts(&p);
  }
  dj_deleteModel(m);
}

DJT_MAIN(testLosses, testFree, testMaps, testConnect, testOptimizer, testResolveMaps,
         testResolveVariables, testRefusedVariables, testResolveConnect, testRefusedConnect)
