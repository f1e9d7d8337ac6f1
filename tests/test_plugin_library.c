// libdijoco_plugin.so in a process with no MuJoCo, one, several, or another one. This program is
// linked to none of them; each case runs in a process of its own, which loads what it needs.

#include "common/test.h"

#include <dijoco/mujoco.h>

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PLUGIN DIJOCO_BUILD_DIR "/lib/libdijoco_plugin.so"
#define OTHER DIJOCO_BUILD_DIR "/tests/libmujoco.so.9.9.9"         // another release
#define EMPTY DIJOCO_BUILD_DIR "/tests/libmujoco.so.empty"         // this release, no functions
#define COPY DIJOCO_BUILD_DIR "/tests/libmujoco.so.copy"           // the same MuJoCo once more
#define SCENE DIJOCO_SOURCE_DIR "/models/wall_friction/scene.xml"

// ------------------------------ cases in processes -----------------------------------------------

static char said[4096];  // what the last case wrote to standard error

// Runs body in a new process and keeps what it says.
static void runCase(void (*body)(void)) {
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    signal(SIGSEGV, SIG_DFL);  // cmocka would go on with the next test
    signal(SIGBUS, SIG_DFL);
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    body();
    _exit(0);
  }
  close(ends[1]);
  size_t n = 0;
  for (ssize_t got; (got = read(ends[0], said + n, sizeof(said) - 1 - n)) > 0;) n += got;
  said[n] = '\0';
  close(ends[0]);
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) fail_msg("status %d: %s", status, said);
}

#define CHECK(condition)                                          \
  do {                                                            \
    if (!(condition)) {                                           \
      fprintf(stderr, "line %d: " #condition "\n", __LINE__);     \
      _exit(1);                                                   \
    }                                                             \
  } while (0)

static void* open_(const char* path, int flags) {
  void* handle = dlopen(path, RTLD_NOW | flags);
  if (!handle) fprintf(stderr, "%s\n", dlerror());
  CHECK(handle);
  return handle;
}

// The function `name` of a library, with the type that the header gives it.
#define FUNCTION(handle, name) ((__typeof__(name)*)entry(handle, #name))
static void* entry(void* handle, const char* name) {
  void* address = dlsym(handle, name);
  if (!address) fprintf(stderr, "there is no %s\n", name);
  CHECK(address);
  return address;
}

static bool begins(const djError* err, const char* text) {
  if (strncmp(err->text, text, strlen(text)) == 0) return true;
  fprintf(stderr, "\"%s\", not \"%s...\"\n", err->text, text);
  return false;
}

static void nothing(void* arg) { *(int*)arg = 1; }

// Every function that would call MuJoCo refuses, and says why. Those of a djmContext are left out:
// there is none.
static void checkRefused(void* plugin, const char* why) {
  djError err;
  djModel* model = NULL;
  djmContext* context = NULL;
  char* text = NULL;
  int ran = 0;
  int slot = 0, type = mjSENS_PLUGIN;
  mjModel* m = calloc(1, sizeof(*m));
  mjData* d = calloc(1, sizeof(*d));
  CHECK(m && d);
  m->nplugin = m->nsensor = 1;
  m->plugin = m->sensor_plugin = &slot;
  m->sensor_type = &type;
  mjtNum value[10];
  const djModel* wanted = (const djModel*)&err;
#define REFUSED(call)                        \
  do {                                       \
    err.text[0] = '\0';                      \
    CHECK((call) == DJ_UNSUPPORTED);         \
    CHECK(begins(&err, why));                \
  } while (0)
  REFUSED(FUNCTION(plugin, djm_registerPlugins)(&err));
  REFUSED(FUNCTION(plugin, dj_importMuJoCo)(&model, NULL, m, &err));
  REFUSED(FUNCTION(plugin, dj_loadMJCF)(&model, NULL, NULL, SCENE, &err));
  REFUSED(FUNCTION(plugin, djm_makeContext)(&context, NULL, m, &err));
  REFUSED(FUNCTION(plugin, djm_makeMJCF)(&text, SCENE, wanted, NULL, &err));
  REFUSED(FUNCTION(plugin, djm_writeMJCF)("unused.xml", SCENE, wanted, NULL, &err));
  REFUSED(FUNCTION(plugin, djm_checkDesign)(m, wanted, NULL, 1e-9, &err));
  REFUSED(FUNCTION(plugin, djm_guard)(nothing, &ran, &err));
  REFUSED(FUNCTION(plugin, djm_gap)(value, NULL, m, d, mjOBJ_GEOM, 0, 1, 0, &err));
  CHECK(FUNCTION(plugin, djm_gapSensor)(value, m, d, 0) == DJ_INVALID);
  CHECK(!FUNCTION(plugin, djm_isGapSensor)(m, 0));
  CHECK(!FUNCTION(plugin, djm_pluginContext)(m, d));
  free(m);
  free(d);
  CHECK(ran == 0 && !model && !context && !text);
  CHECK(FUNCTION(plugin, djm_registerPlugins)(NULL) == DJ_UNSUPPORTED);
}

static void checkKnown(void* mujoco) {
  CHECK(FUNCTION(mujoco, mjp_getPlugin)("dijoco.contact", NULL));
  CHECK(FUNCTION(mujoco, mjp_getPlugin)("dijoco.gap", NULL));
}

// A scene is loaded, stepped and written, and a MuJoCo error caught; MuJoCo knows the plugins.
static void checkWorks(void* plugin, void* mujoco) {
  djError err;
  djModel* model;
  mjModel* m;
  djmContext* context;
  char* text;
  CHECK(FUNCTION(plugin, dj_loadMJCF)(&model, NULL, &m, "none.xml", &err) == DJ_FILE);
  checkKnown(mujoco);
  CHECK(FUNCTION(plugin, djm_registerPlugins)(&err) == DJ_OK && err.text[0] == '\0');
  CHECK(FUNCTION(plugin, djm_registerPlugins)(NULL) == DJ_OK);
  CHECK(FUNCTION(plugin, dj_loadMJCF)(&model, NULL, &m, SCENE, &err) == DJ_OK);
  CHECK(FUNCTION(plugin, djm_makeContext)(&context, NULL, m, &err) == DJ_OK);
  mjData* d = FUNCTION(mujoco, mj_makeData)(m);
  for (int i = 0; i < 10; i++) CHECK(FUNCTION(plugin, djm_step)(m, d, context) >= 0);
  CHECK(d->time > 0);
  CHECK(FUNCTION(plugin, djm_makeMJCF)(&text, SCENE, model, NULL, &err) == DJ_OK);
  CHECK(strstr(text, "<mujoco"));
  CHECK(FUNCTION(plugin, djm_guard)((void (*)(void*))entry(mujoco, "mju_error"), "wrong", &err) ==
        DJ_INVALID);
  CHECK(begins(&err, "wrong"));
  free(text);
  FUNCTION(plugin, djm_deleteContext)(context);
  FUNCTION(mujoco, mj_deleteData)(d);
  FUNCTION(mujoco, mj_deleteModel)(m);
}

// ------------------------------ tests ------------------------------------------------------------

static void none(void) { checkRefused(open_(PLUGIN, RTLD_LOCAL), "no MuJoCo is loaded"); }

static void noneQuietly(void) {
  setenv("DIJOCO_QUIET", "1", 1);
  none();
}

static void noneAsIfUnset(void) {
  setenv("DIJOCO_QUIET", "", 1);
  none();
}

static void testNone(void) {
  void (*const loud[])(void) = {none, noneAsIfUnset};
  for (int i = 0; i < 2; i++) {
    runCase(loud[i]);
    assert_string_equal(said, "dijoco: plugins are not registered: no MuJoCo is loaded: load "
                              "MuJoCo " FAMILY_TEXT " first\n");
  }
  runCase(noneQuietly);
  assert_string_equal(said, "");
}

static void local(void) {
  void* mujoco = open_(MUJOCO, RTLD_LOCAL);
  checkWorks(open_(PLUGIN, RTLD_LOCAL), mujoco);
}

static void global(void) {
  void* mujoco = open_(MUJOCO, RTLD_GLOBAL);
  checkWorks(open_(PLUGIN, RTLD_GLOBAL), mujoco);
}

// As mj_loadPluginLibrary does it, in MuJoCo's own words.
static void byMuJoCo(void) {
  void* mujoco = open_(MUJOCO, RTLD_LOCAL);
  FUNCTION(mujoco, mj_loadPluginLibrary)(PLUGIN);
  void* plugin = dlopen(PLUGIN, RTLD_NOW | RTLD_NOLOAD);
  CHECK(plugin);
  checkKnown(mujoco);
  checkWorks(plugin, mujoco);
}

// MuJoCo may go out of scope; the plugins registered with it may not.
static void unloaded(void) {
  void* mujoco = open_(MUJOCO, RTLD_LOCAL);
  void* plugin = open_(PLUGIN, RTLD_LOCAL);
  CHECK(dlclose(mujoco) == 0 && dlclose(plugin) == 0);
  mujoco = dlopen(MUJOCO, RTLD_NOW | RTLD_NOLOAD);
  plugin = dlopen(PLUGIN, RTLD_NOW | RTLD_NOLOAD);
  CHECK(mujoco && plugin);
  checkWorks(plugin, mujoco);
}

static void testOne(void) {
  void (*const cases[])(void) = {local, global, byMuJoCo, unloaded};
  for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
    runCase(cases[i]);
    assert_string_equal(said, "");
  }
}

static void late(void) {
  setenv("DIJOCO_QUIET", "1", 1);
  void* plugin = open_(PLUGIN, RTLD_LOCAL);
  checkRefused(plugin, "no MuJoCo is loaded");
  checkWorks(plugin, open_(MUJOCO, RTLD_LOCAL));
}

static void* attachOnce(void* plugin) {
  djError err;
  return (void*)(intptr_t)FUNCTION(plugin, djm_registerPlugins)(&err);
}

static void lateByThreads(void) {
  setenv("DIJOCO_QUIET", "1", 1);
  void* plugin = open_(PLUGIN, RTLD_LOCAL);
  void* mujoco = open_(MUJOCO, RTLD_LOCAL);
  pthread_t thread[8];
  for (int i = 0; i < 8; i++) CHECK(pthread_create(thread + i, NULL, attachOnce, plugin) == 0);
  for (int i = 0; i < 8; i++) {
    void* status;
    CHECK(pthread_join(thread[i], &status) == 0 && (intptr_t)status == DJ_OK);
  }
  checkWorks(plugin, mujoco);
}

static void testLate(void) {
  runCase(late);
  assert_string_equal(said, "");
  runCase(lateByThreads);
  assert_string_equal(said, "");
}

static void other(void) {
  open_(OTHER, RTLD_LOCAL);
  checkRefused(open_(PLUGIN, RTLD_LOCAL), "MuJoCo 9.9.9 is loaded");
}

static void empty(void) {
  open_(EMPTY, RTLD_GLOBAL);
  checkRefused(open_(PLUGIN, RTLD_LOCAL), "MuJoCo " FAMILY_TEXT ".999 has no function");
}

static void testUnusable(void) {
  runCase(other);
  assert_non_null(strstr(said, "plugins are not registered: MuJoCo 9.9.9 is loaded"));
  assert_non_null(strstr(said, "this libdijoco_plugin.so is for " FAMILY_TEXT));
  assert_non_null(strstr(said, OTHER));
  assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1);
  runCase(empty);
  assert_non_null(strstr(said, EMPTY));
}

static void otherToo(void) {
  open_(OTHER, RTLD_GLOBAL);
  local();
}

static void copies(void) {
  open_(MUJOCO, RTLD_LOCAL);
  void* seen = open_(COPY, RTLD_GLOBAL);
  checkWorks(open_(PLUGIN, RTLD_LOCAL), seen);
}

// What is not used is let go: it is unloaded with the last other handle.
static void letGo(void) {
  setenv("DIJOCO_QUIET", "1", 1);
  void* plugin = NULL;
  for (int i = 0; i < 2; i++) {   // refused, then beside one that is used
    void* other = open_(OTHER, RTLD_LOCAL);
    void* mujoco = i ? open_(MUJOCO, RTLD_LOCAL) : NULL;
    if (!plugin) plugin = open_(PLUGIN, RTLD_LOCAL);
    if (i) checkWorks(plugin, mujoco);
    else checkRefused(plugin, "MuJoCo 9.9.9 is loaded");
    CHECK(dlclose(other) == 0);
    CHECK(!dlopen(OTHER, RTLD_NOW | RTLD_NOLOAD));
  }
}

// A library of another name is none of MuJoCo's, whatever its folder is called.
static void otherName(void) {
  char path[] = "djlibraryXXXXXX";
  CHECK(mkdtemp(path));
  char command[4000], file[100];
  snprintf(file, sizeof(file), "%s/libmujoco.d", path);
  CHECK(mkdir(file, 0700) == 0);
  snprintf(file, sizeof(file), "./%s/libmujoco.d/libother.so", path);
  snprintf(command, sizeof(command), "cp '" OTHER "' '%s'", file);
  CHECK(system(command) == 0);
  open_(file, RTLD_LOCAL);
  snprintf(command, sizeof(command), "rm -r '%s'", path);
  CHECK(system(command) == 0);
  local();
}

// Of many copies the one that fits is found. Sixteen are looked at.
static void many(int n) {
  char path[] = "djlibraryXXXXXX";
  CHECK(mkdtemp(path));
  char command[4000], file[100];
  for (int i = 1; i < n; i++) {
    snprintf(file, sizeof(file), "./%s/libmujoco.so.%d", path, i);
    snprintf(command, sizeof(command), "cp '" OTHER "' '%s'", file);
    CHECK(system(command) == 0);
    open_(file, RTLD_LOCAL);
  }
  snprintf(command, sizeof(command), "rm -r '%s'", path);
  CHECK(system(command) == 0);
}

static void sixteen(void) {
  many(16);
  local();
}

static void forty(void) {
  many(40);
  void* mujoco = open_(MUJOCO, RTLD_GLOBAL);   // seen by the program, though the last
  checkWorks(open_(PLUGIN, RTLD_LOCAL), mujoco);
}

static void testMany(void) {
  runCase(letGo);
  assert_string_equal(said, "");
  runCase(otherName);
  assert_string_equal(said, "");
  void (*const cases[])(void) = {sixteen, forty};
  for (int i = 0; i < 2; i++) {
    runCase(cases[i]);
    assert_true(strncmp(said, "dijoco: 16 copies of MuJoCo are loaded; using ", 46) == 0);
    assert_non_null(strstr(said, MUJOCO));
  }
}

static void testSeveral(void) {
  runCase(otherToo);
  assert_non_null(strstr(said, "dijoco: 2 copies of MuJoCo are loaded; using "));
  assert_non_null(strstr(said, MUJOCO));
  runCase(copies);
  assert_non_null(strstr(said, "dijoco: 2 copies of MuJoCo are loaded; using "));
  assert_non_null(strstr(said, COPY));
}

DJT_MAIN(testNone, testOne, testLate, testUnusable, testSeveral, testMany)
