// Broken input: a seeded sequence of deletions, doublings, swaps and changes of the tokens of good
// files, and cuts them off. Whatever comes out must give a status, never a crash or a leak (the
// sanitizers watch), and what loads must load again from its own definition.
//
// test_broken_input [SEED] runs another sequence.

#include "common/random_model.h"
#include "common/sample_model.h"
#include "common/test.h"

#include <time.h>

#define SECONDS 5      // for each test
#define MAX_ROUNDS 20000

typedef struct Run {
  djRng rng;
  clock_t start;
  int rounds, accepted;
} Run;

static bool more(Run* run) {
  bool time_left = (double)(clock() - run->start) < SECONDS * (double)CLOCKS_PER_SEC;
  return time_left && run->rounds++ < MAX_ROUNDS;
}

static Run newRun(void** state, unsigned long long stream) {
  const unsigned long long* seed = *state;
  return (Run){.rng = {*seed + 1000 * stream}, .start = clock()};
}

// ---- tokens -----------------------------------------------------------------------------------

#define MAX_TOKENS 20000

typedef struct Token {
  const char* text;
  size_t n;
} Token;

typedef struct Tokens {
  int n;
  Token token[MAX_TOKENS];
} Tokens;

static size_t tokenLength(const char* p) {
  if (*p == '"') {
    size_t n = 1;
    while (p[n] && p[n] != '"') n += p[n] == '\\' && p[n + 1] ? 2 : 1;
    return p[n] ? n + 1 : n;
  }
  size_t n = strcspn(p, " \n\t\r{}[],:\"");
  return n > 0 ? n : 1;
}

static void tokenize(Tokens* t, const char* text) {
  t->n = 0;
  for (const char* p = text; *p && t->n < MAX_TOKENS;) {
    size_t n = tokenLength(p);
    if (!strchr(" \n\t\r", *p)) t->token[t->n++] = (Token){p, n};
    p += n;
  }
}

static Token randomToken(djRng* rng, const Tokens* t) {
  static const char* const odd[] = {
      "0",      "-1",       "1",     "1e308", "-1e308", "1e-320", "1e999", "2147483648",
      "0.5",    "null",     "true",  "false", "\"\"",   "\"inf\"", "\"#0\"", "\"\\u0000\"",
      "[]",     "{}",       "[",     "]",     "{",      "}",      ",",     ":",
      "\"x\"",  "\"\xff\"", "-",     "1e",    "nan",    "\"box\"", "[0,0,0]", "[0,0,0,0]",
      "100000", "\"mesh\"", "[[]]",  "7",     "-0",     "\"free\"", "\"ball\"", "3"};
  const char* text = odd[djt_integer(rng, (int)(sizeof odd / sizeof odd[0]))];
  if (djt_integer(rng, 2)) return t->token[djt_integer(rng, t->n)];
  return (Token){text, strlen(text)};
}

static void breakOnce(Tokens* t, djRng* rng) {
  int i = djt_integer(rng, t->n), j = djt_integer(rng, t->n), n;
  Token saved;
  switch (djt_integer(rng, 6)) {
    case 0:  // delete one or several
      n = 1 + djt_integer(rng, djt_integer(rng, 4) ? 1 : 12);
      if (n > t->n - i) n = t->n - i;
      memmove(t->token + i, t->token + i + n, (size_t)(t->n - i - n) * sizeof(Token));
      t->n -= n;
      break;
    case 1:  // double one or several, in place
      n = 1 + djt_integer(rng, djt_integer(rng, 2) ? 1 : 60);
      if (n > t->n - i) n = t->n - i;
      if (t->n + n > MAX_TOKENS) break;
      memmove(t->token + i + n, t->token + i, (size_t)(t->n - i) * sizeof(Token));
      t->n += n;
      break;
    case 2:
      saved = t->token[i];
      t->token[i] = t->token[j];
      t->token[j] = saved;
      break;
    case 3:  // cut off
      if (djt_integer(rng, 20) == 0) t->n = i;
      break;
    default: t->token[i] = randomToken(rng, t);
  }
  if (t->n < 1) t->n = 1;
}

// A broken copy of a text, in new memory.
static char* breakText(const char* good, Tokens* t, djRng* rng) {
  tokenize(t, good);
  int times = 1 + djt_integer(rng, djt_integer(rng, 3) ? 2 : 10);
  for (int k = 0; k < times; k++) breakOnce(t, rng);
  size_t n = 1;
  for (int i = 0; i < t->n; i++) n += t->token[i].n + 1;
  char* text = malloc(n);
  assert_non_null(text);
  char* p = text;
  for (int i = 0; i < t->n; i++) {
    memcpy(p, t->token[i].text, t->token[i].n);
    p += t->token[i].n;
    *p++ = ' ';
  }
  *p = 0;
  if (djt_integer(rng, 10) == 0 && p > text) {
    int at = djt_integer(rng, (int)(p - text));
    text[at] ^= (char)(1 << djt_integer(rng, 8));
  }
  return text;
}

// ---- scenes -----------------------------------------------------------------------------------

static char* readText(const char* path) {
  FILE* file = fopen(path, "rb");
  assert_non_null(file);
  char* text = calloc(1, 100000);
  assert_non_null(text);
  assert_true(fread(text, 1, 99999, file) > 0);
  fclose(file);
  return text;
}

static char* sampleText(djModel** model) {
  static const char* const path = "test_broken_input.tmp.json";
  djSample sample;
  djt_fillSample(&sample);
  assert_int_equal(dj_makeModel(model, &sample.def, NULL), DJ_OK);
  assert_int_equal(dj_saveModel(*model, path, NULL), DJ_OK);
  char* text = readText(path);
  remove(path);
  return text;
}

static void checkError(djStatus status, const djError* err, const char* text) {
  if (status >= 0) return;
  bool good = err->text[0] && !strchr(err->text, '\n');
  if (!good) fail_msg("no message for: %s", text);
}

static void test_scenes(void** state) {
  Run run = newRun(state, 1);
  djModel* sample = NULL;
  char* good = sampleText(&sample);
  Tokens* tokens = malloc(sizeof *tokens);
  assert_non_null(tokens);
  while (more(&run)) {
    char* text = breakText(good, tokens, &run.rng);
    djModel* model = NULL;
    djError err = {""};
    djStatus status = dj_loadModelText(&model, text, &err);
    checkError(status, &err, text);
    assert_true((status < 0) == (model == NULL));
    if (model) {
      djModelDef def;
      void* storage = NULL;
      djModel* again = NULL;
      assert_int_equal(dj_getDef(&def, &storage, model, NULL), DJ_OK);
      if (dj_makeModel(&again, &def, &err) != DJ_OK) fail_msg("%s: %s", err.text, text);
      const char* difference = djt_difference(model, again);
      if (difference) fail_msg("%s differs: %s", difference, text);
      dj_freeDef(storage);
      dj_deleteModel(again);
      run.accepted++;
    }
    dj_deleteModel(model);
    free(text);
  }
  print_message("%d scenes, %d accepted\n", run.rounds, run.accepted);
  assert_true(run.accepted > 0);
  free(tokens);
  free(good);
  dj_deleteModel(sample);
}

// ---- tasks ------------------------------------------------------------------------------------

static const char task_text[] =
    "{\"scene\":\"scene.json\",\"contact\":{\"model\":\"separating_plane\",\"support\":0.003,"
    "\"stiffness\":1e-3,\"overlap\":\"error\"},\"integrator\":\"position\",\"timestep\":0.01,"
    "\"tolerance\":1e-5,\"horizon\":3,\"initial\":{\"keyframe\":\"away\",\"qvel\":[1,2,3,4,5,6,7,"
    "8,9,10,11]},\"ctrl\":[[1,2,3],[4,5,6],[7,8,9]],\"set\":{\"geom/foot/size\":[0.3,0.4,0],"
    "\"joint/slide/damping\":0.5,\"mesh/tetra/vert\":[0,0,0,1,0,0,0,1,0,0,0,1,1,1,1]},"
    "\"inertia_from_geom\":false,\"loss\":[{\"type\":\"position\",\"body\":\"box\",\"target\":[1,2,"
    "3],\"weight\":2,\"when\":\"running\"},{\"type\":\"position\",\"geom\":\"#3\",\"target\":[1,2,"
    "3],\"when\":{\"step\":2}},{\"type\":\"orientation\",\"body\":\"box\",\"target\":[0,0,0,5]},{"
    "\"type\":\"com\",\"target\":[0,0,1]},{\"type\":\"distance\",\"body\":\"box\",\"body2\":"
    "\"cart\",\"target\":0.5},{\"type\":\"qvel\",\"joint\":\"robot/hinge\",\"target\":0.25},{"
    "\"type\":\"effort\",\"weight\":1e-3,\"tolerance\":1}],\"variables\":[{\"name\":\"ctrl\"},{"
    "\"name\":\"qpos0[joint/free]\",\"index\":[0,2]},{\"name\":\"qpos0[joint/slide]\",\"min\":-1,"
    "\"max\":1},{\"name\":\"qvel0\"},{\"name\":\"act0\",\"index\":[1]},{\"name\":"
    "\"geom/foot/size\",\"index\":[0],\"min\":0.1,\"max\":[0.5]},{\"name\":\"body/box/quat\"},{"
    "\"name\":\"contact/stiffness\"}],\"optimizer\":{\"type\":\"adam\",\"rate\":0.1}}";

static const char design_text[] =
    "{\"scene\":\"scene.json\",\"horizon\":3,\"loss\":[{\"type\":\"effort\",\"weight\":1e-3}],"
    "\"inertia_from_geom\":true,\"free\":{\"t\":{\"value\":[[1,2,3],[4,5,6]],\"min\":-9,\"max\":"
    "[9,9,9,9,9,9]},\"s\":{\"value\":[1,2,0.5]},\"p\":{\"value\":[0.1,0.2,0.3]},\"c\":{\"value\":["
    "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]},\"q\":{\"value\":1}},\"maps\":[{\"type\":"
    "\"tanh\",\"from\":\"t\",\"to\":\"ctrl\",\"hold\":2},{\"type\":\"spline\",\"from\":\"s\","
    "\"actuator\":\"motor\"},{\"type\":\"shared\",\"from\":\"p\",\"to\":[\"site/tip/pos\","
    "\"geom/cart/pos\"]},{\"type\":\"affine\",\"from\":\"q\",\"to\":\"body/box/quat\",\"matrix\":"
    "[[1],[2],[3],[4]],\"offset\":[1,0,0,1]},{\"type\":\"cage\",\"from\":\"c\",\"body\":\"cart\","
    "\"box\":[[-1,-1,-1],[1,1,1]]}],\"connect\":[{\"a\":{\"geom\":\"#3\",\"vertex\":2},\"b\":{"
    "\"geom\":\"#3\"}},{\"a\":{\"joint\":\"slide\"},\"b\":{\"body\":\"robot/pole\"}}],"
    "\"variables\":[{\"name\":\"t\"},{\"name\":\"s\",\"index\":[0,2],\"min\":0.1},{\"name\":\"c\"},"
    "{\"name\":\"q\"},{\"name\":\"mesh/cube/vert\"}],"
    "\"optimizer\":{\"type\":\"trust_region\",\"radius\":0.1}}";

// A design is made and moved.
static djStatus tryDesign(const djModel* model, const djProblem* problem, djError* err) {
  djDesign* design = NULL;
  djStatus status = djd_makeDesign(&design, model, problem, err);
  assert_true((status < 0) == (design == NULL));
  if (!design) return status;
  double* x = calloc((size_t)design->n + 1, sizeof *x);
  assert_non_null(x);
  for (int k = 0; k < design->n; k++) x[k] = design->x0[k] + 0.01;
  djStatus moved = djd_moveDesign(design, x);
  assert_true(moved == DJ_OK || *design->error.text);
  free(x);
  djd_deleteDesign(design);
  return status;
}

// Every stage up to a design; the status of the first that fails.
static djStatus tryTask(const djModel* sample, const char* text) {
  djTask* task = NULL;
  djModel* model = NULL;
  djProblem* problem = NULL;
  djError err = {""};
  djStatus status = dj_loadTaskText(&task, text, NULL, &err);
  checkError(status, &err, text);
  assert_true((status < 0) == (task == NULL));
  if (task) {
    djOption option = sample->opt;
    dj_applySettings(&option, &task->settings);
    assert_int_equal(dj_copyModel(&model, sample, NULL), DJ_OK);
    status = dj_setOption(model, &option, &err);
    checkError(status, &err, text);
    if (status == DJ_OK) status = dj_applySet(model, task, &err);
    checkError(status, &err, text);
    if (status == DJ_OK) status = dj_resolveTask(&problem, task, model, &err);
    checkError(status, &err, text);
    assert_true((status < 0) == (problem == NULL));
    if (status == DJ_OK) status = tryDesign(model, problem, &err);
    checkError(status, &err, text);
  }
  dj_deleteProblem(problem);
  dj_deleteModel(model);
  dj_deleteTask(task);
  return status;
}

static void test_tasks(void** state) {
  Run run = newRun(state, 2);
  djModel* sample = NULL;
  free(sampleText(&sample));
  Tokens* tokens = malloc(sizeof *tokens);
  assert_non_null(tokens);
  assert_int_equal(tryTask(sample, task_text), DJ_OK);
  assert_int_equal(tryTask(sample, design_text), DJ_OK);
  while (more(&run)) {
    char* text = breakText(run.rounds % 2 ? task_text : design_text, tokens, &run.rng);
    run.accepted += tryTask(sample, text) == DJ_OK;
    free(text);
  }
  print_message("%d tasks, %d accepted\n", run.rounds, run.accepted);
  assert_true(run.accepted > 0);
  free(tokens);
  dj_deleteModel(sample);
}

// ---- numbers ----------------------------------------------------------------------------------

static void test_tables(void** state) {
  static const char* const path = "test_broken_input.tmp.csv";
  static const char good[] = "ctrl[0],ctrl[1],ctrl[2]\n1,2,3\n4,-5e-3,6\n\n7,8,9.5\n";
  Run run = newRun(state, 3);
  for (int k = 0; k < 1000; k++) {
    char text[sizeof good];
    memcpy(text, good, sizeof good);
    size_t n = sizeof good - 1;
    for (int i = djt_integer(&run.rng, 3); i >= 0; i--) {
      int at = djt_integer(&run.rng, (int)n);
      text[at] = (char)djt_integer(&run.rng, 256);
    }
    if (djt_integer(&run.rng, 5) == 0) n = (size_t)djt_integer(&run.rng, (int)n);
    FILE* file = fopen(path, "wb");
    assert_non_null(file);
    fwrite(text, 1, n, file);
    fclose(file);
    double *ctrl = NULL, value[9];
    int rows = 0;
    djError err = {""};
    djStatus status = dj_readCtrl(&ctrl, &rows, 3, path, &err);
    checkError(status, &err, text);
    assert_true((status < 0) == (ctrl == NULL));
    dj_freeNumbers(ctrl);
    checkError(dj_readNumbers(value, 9, path, &err), &err, text);
  }
  remove(path);
}

// ---- contact queries --------------------------------------------------------------------------

static double oddNumber(djRng* rng, int wild) {
  static const double odd[] = {0,      -0.0,   1,       -1,    1e-12, 1e12,     1e300,
                               -1e300, 1e-300, 5e-324,  0.5,   2,     INFINITY, NAN};
  if (djt_integer(rng, 100) < wild) {
    return odd[djt_integer(rng, (int)(sizeof odd / sizeof odd[0]))];
  }
  return djt_uniform(rng, -1, 1);
}

static void oddNumbers(double* v, int n, djRng* rng, int wild) {
  for (int i = 0; i < n; i++) v[i] = oddNumber(rng, wild);
}

#define MAX_QUERY_VERT 12

static djcShape oddShape(double vert[3 * MAX_QUERY_VERT], djRng* rng, int wild) {
  djcShape s = {.quat = {1, 0, 0, 0}};
  oddNumbers(vert, 3 * MAX_QUERY_VERT, rng, wild);
  oddNumbers(s.origin, 3, rng, wild);
  oddNumbers(s.pos, 3, rng, wild);
  oddNumbers(s.size, 3, rng, wild);
  if (djt_integer(rng, 2)) oddNumbers(s.quat, 4, rng, wild);
  if (djt_integer(rng, 100) >= wild) {
    for (int k = 0; k < 3; k++) s.size[k] = fabs(s.size[k]);
  }
  s.radius = djt_integer(rng, 2) ? 0 : fabs(oddNumber(rng, wild));
  s.geom = (djGeomType)djt_integer(rng, 8);
  s.nvert = djt_integer(rng, 2) ? 1 + djt_integer(rng, MAX_QUERY_VERT) : 0;
  s.vert = vert;
  if (s.nvert > 1 && djt_integer(rng, 4) == 0) {  // flat, a line, or all the same
    for (int i = 1; i < s.nvert; i++) {
      for (int k = djt_integer(rng, 3); k < 3; k++) vert[3 * i + k] = vert[k];
    }
  }
  // Far enough to be apart, half of the time.
  if (djt_integer(rng, 2)) {
    for (int i = 0; i < s.nvert; i++) vert[3 * i] += 2.1;
    s.pos[0] += 2.1;
  }
  return s;
}

static bool isNumber(const double* v, int n) {
  for (int i = 0; i < n; i++) {
    if (isnan(v[i])) return false;
  }
  return true;
}

static void test_queries(void** state) {
  Run run = newRun(state, 4);
  double vert_a[3 * MAX_QUERY_VERT], vert_b[3 * MAX_QUERY_VERT];
  double grad_a[3 * MAX_QUERY_VERT], grad_b[3 * MAX_QUERY_VERT];
  double* hessian = malloc(sizeof(double) * 36 * MAX_QUERY_VERT * MAX_QUERY_VERT);
  assert_non_null(hessian);
  while (more(&run)) {
    int wild = djt_integer(&run.rng, 2) ? 0 : 15;
    djcShape a = oddShape(vert_a, &run.rng, wild), b = oddShape(vert_b, &run.rng, wild);
    djcOption option = djc_defaultOption();
    if (djt_integer(&run.rng, 2)) option.support = oddNumber(&run.rng, wild);
    if (djt_integer(&run.rng, 4) == 0) option.length_scale = oddNumber(&run.rng, wild);
    option.friction.enabled = djt_integer(&run.rng, 3) == 0;
    option.friction.arms = (djArms)djt_integer(&run.rng, 2);
    option.friction.cap = (djCap)djt_integer(&run.rng, 2);
    oddNumbers(option.friction.motion_a, 6, &run.rng, wild);
    oddNumbers(option.friction.motion_b, 6, &run.rng, wild);
    bool vertices = a.nvert > 0 && b.nvert > 0;
    djcResult result;
    djStatus status = djc_pair(&result, a.nvert > 0 ? grad_a : NULL, b.nvert > 0 ? grad_b : NULL,
                               vertices ? hessian : NULL, &a, &b, &option);
    assert_int_equal(result.status, status);
    if (status < 0) {
      assert_true(result.message[0] != 0);
    } else if (status == DJ_OK) {
      run.accepted++;
      assert_true(isNumber(&result.value, 1) && isNumber(&result.gap, 1));
      if (wild == 0) assert_true(isNumber(result.twist_gradient, 12));
    }
    double gap, normal[3], point_a[3], point_b[3];
    status = djc_distance(&gap, normal, point_a, point_b, &a, &b);
    if (status == DJ_OK && wild == 0) assert_true(isNumber(&gap, 1) && isNumber(normal, 3));
  }
  print_message("%d queries, %d accepted\n", run.rounds, run.accepted);
  assert_true(run.accepted > 0);
  free(hessian);
}

int main(int argc, char** argv) {
  unsigned long long seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_prestate(test_scenes, &seed),
      cmocka_unit_test_prestate(test_tasks, &seed),
      cmocka_unit_test_prestate(test_tables, &seed),
      cmocka_unit_test_prestate(test_queries, &seed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
