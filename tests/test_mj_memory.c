// djm_step and djm_forward allocate nothing; djm_transition and the MJCF writer survive that every
// allocation fails. The sanitizers bring an allocator of their own: skipped there.

#define _GNU_SOURCE   // dladdr

#include "common/file.h"
#include "common/file_faults.h"
#include "common/make_model.h"
#include "common/mj_zoo.h"
#include "common/test.h"

#include <dijoco/io.h>

#include <dlfcn.h>

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)

extern void* __libc_malloc(size_t size);
extern void* __libc_calloc(size_t count, size_t size);
extern void* __libc_realloc(void* old, size_t size);
extern void* __libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void* old);

// Allocations that count and fail are ours alone: MuJoCo ends the program without memory. Where the
// functions below are hidden from libraries it has the C library's, but not where programs of tests
// show all that they have (DIJOCO_SHARED_TESTS).
static long count;            // of allocations
static long countdown = -1;   // allocations until one fails; negative: none does
static bool from_then_on;     // ... and all that follow
static bool fired;
static void* held[4096];      // blocks that are not released, while watching
static int nheld;
static bool watching;

// Whether code at this place belongs to this program or to a library of ours.
static bool isOurs(const void* place) {
  static const void* program;
  Dl_info info;
  if (!program && dladdr((void*)&count, &info)) program = info.dli_fbase;
  return dladdr(place, &info) &&
         (info.dli_fbase == program || strstr(info.dli_fname, "/libdijoco"));
}

static bool fails(void) {
  count++;
  if (countdown < 0 || countdown-- > 0) return false;
  fired = true;
  if (from_then_on) countdown = 0;
  return true;
}

static void forget(const void* block) {
  for (int i = nheld - 1; block && i >= 0; i--) {
    if (held[i] != block) continue;
    held[i] = held[--nheld];
    return;
  }
}

static void* hold(void* block) {
  if (watching && block) {
    if (nheld == (int)(sizeof held / sizeof held[0])) abort();
    held[nheld++] = block;
  }
  return block;
}

// What the function that this is in gives: `block`, unless it is called by us and has to fail.
#define OURS isOurs(__builtin_return_address(0))
#define GIVE(block) (!OURS ? (block) : fails() ? NULL : hold(block))

void* malloc(size_t size) { return GIVE(__libc_malloc(size)); }
void* calloc(size_t n, size_t size) { return GIVE(__libc_calloc(n, size)); }
void* realloc(void* old, size_t size) {
  if (!OURS) return __libc_realloc(old, size);
  if (fails()) return NULL;
  forget(old);
  return hold(__libc_realloc(old, size));
}
void* aligned_alloc(size_t alignment, size_t size) {
  return GIVE(__libc_memalign(alignment, size));
}
int posix_memalign(void** block, size_t alignment, size_t size) {
  *block = GIVE(__libc_memalign(alignment, size));
  return *block ? 0 : 12;
}
void free(void* old) {
  forget(old);
  __libc_free(old);
}

static void testStep(void) {
  djRng rng = {21};
  mjModel* m = djt_compile(DJT_ZOO);
  mjData* d = mj_makeData(m);
  djmContext* c = djt_context(m);
  djt_shake(d, &rng, m, 0.05, 0.5);
  for (int sensors = 0; sensors < 2; sensors++) {
    djm_stepOption(c)->sensors = sensors;
    if (sensors) assert_true(djm_step(m, d, c) >= 0);   // makes room for a list of contacts
    long before = count;
    for (int k = 0; k < 50; k++) assert_true(djm_step(m, d, c) >= 0);
    assert_true(djm_data(c)->npair > 0);
    assert_int_equal(count, before);
  }
  long before = count;
  assert_true(djm_forward(m, d, c) >= 0);
  assert_int_equal(count, before);
  djm_deleteContext(c);
  djt_deleteEngine(m, d);
}

static void testTransition(void) {
  djRng rng = {22};
  mjModel* m = djt_compile(DJT_ZOO);
  mjData* d = mj_makeData(m);
  djt_shake(d, &rng, m, 0.05, 0.5);
  size_t nx = 2 * (size_t)m->nv + (size_t)m->na, n = (size_t)m->nsensordata * nx;
  mjtNum* C = malloc(n * sizeof(*C));
  assert_non_null(C);
  int failures = 0;
  for (int k = 0;; k++) {
    djmContext* c = djt_context(m);
    for (int i = 0; i < 20; i++) assert_true(djm_step(m, d, c) >= 0);
    countdown = k;
    djStatus status = djm_transition(m, d, c, NULL, NULL, C, NULL);
    bool done = countdown >= 0;
    countdown = -1;
    if (!done) {
      assert_true(status == DJ_NO_MEMORY || status == DJ_INVALID);
      assert_true(djm_errorText(c)[0] != '\0');
      failures++;
    }
    assert_true(djm_transition(m, d, c, NULL, NULL, C, NULL) >= 0);
    djm_deleteContext(c);
    if (done) break;
  }
  assert_true(failures >= 5);
  free(C);
  djt_deleteEngine(m, d);
}

#define FOLDER "test_mj_memory.d"
#define OUT FOLDER "/x.xml"

static const char kScene[] =
    "<mujoco><asset><mesh name='wedge' vertex='0 0 0 1 0 0 0 1 0 0 0 1'/></asset><worldbody>"
    "<geom type='plane' size='5 5 .1'/><body name='a' pos='0 0 2'><freejoint/>"
    "<geom type='mesh' mesh='wedge'/><body name='b' pos='1 0 0'><joint name='j' axis='0 1 0' "
    "range='-1 1' limited='true'/><geom name='g' size='.1'/><site name='s'/></body></body>"
    "</worldbody><actuator><motor joint='j'/></actuator></mujoco>";

// A change of the model that no memory is left to follow: nothing has happened, nothing is lost,
// and the context follows when there is some.
static void testFollow(void) {
  mjModel* m = djt_compile(kScene);
  mjData* d = mj_makeData(m);
  int failures = 0;
  for (int k = 0;; k++) {
    watching = true;
    djmContext* c = djt_context(m);
    assert_true(djm_step(m, d, c) >= 0);
    dj_setOptionEntry(djm_model(c), "tolerance", (double[]){1e-6}, 1, NULL);
    mjtNum height = d->qpos[2];
    m->opt.gravity[0] = k + 1;
    m->geom_size[3] = 0.1 + 1e-4 * k;
    countdown = k;
    djStatus status = djm_step(m, d, c);
    bool done = countdown >= 0;
    countdown = -1;
    if (!done) {
      assert_true(status < 0 && d->qpos[2] == height && djm_changes(c) == 0);
      assert_non_null(strstr(djm_errorText(c), "out of memory"));
      failures++;
    }
    assert_true(djm_step(m, d, c) >= 0 && djm_changes(c) == 1);
    assert_true(djm_model(c)->opt.gravity[0] == k + 1 && djm_model(c)->opt.tolerance == 1e-6);
    djm_deleteContext(c);
    watching = false;
    assert_int_equal(nheld, 0);
    if (done) break;
  }
  print_message("%d allocations\n", failures);
  assert_true(failures > 50);
  djt_deleteEngine(m, d);
}

// One more of each kind of change that the writer knows.
static djModel* changedModel(void) {
  static const struct {
    const char* name;
    double value[12];
  } change[] = {{"mesh/wedge/vert", {0, 0, 0, 1.5, 0, 0, 0, 1, 0, 0, 0, 1}},
                {"body/b/mass", {3}},
                {"geom/g/size", {.2, 0, 0}},
                {"joint/j/range", {-.5, 1}},
                {"contact/support", {.01}}};
  djModel* m;
  djError err;
  if (dj_loadMJCF(&m, NULL, NULL, FOLDER "/scene.xml", &err) != DJ_OK) fail_msg("%s", err.text);
  for (size_t k = 0; k < sizeof change / sizeof change[0]; k++) {
    djParam param = djt_param(m, change[k].name);
    assert_int_equal(dj_setParam(m, &param, change[k].value, &err), DJ_OK);
  }
  return m;
}

// The k-th allocation of ours fails, k = 0, 1, ...; with `all`, those after it too.
static void exhaustWriter(const djModel* m, const char* scene, const djKeyDef* key, bool all) {
  djError err;
  djtText after = {NULL, 0};
  int failures = 0;
  for (long k = -1;; k++) {   // first without a fault
    djt_writeText(OUT, "<!-- what was there before -->");
    djtText before = djt_folder(FOLDER);
    err.text[0] = 0;
    fired = false;
    from_then_on = all;
    watching = true;
    nheld = 0;
    countdown = k;
    djStatus status = djm_writeMJCF(OUT, scene, m, key, &err);
    countdown = -1;
    int leaks = nheld;
    watching = false;
    djtText now = djt_folder(FOLDER);
    if (!after.data) after = djt_folder(FOLDER);
    djt_failIf(fired ? status >= 0 || !err.text[0] : status != DJ_OK,
               "%s, allocation %ld: status %d, '%s'", scene, k, status, err.text);
    assert_true(djt_sameText(&now, fired ? &before : &after));
    assert_int_equal(leaks, 0);
    failures += fired;
    free(before.data);
    free(now.data);
    if (k >= 0 && !fired) break;
  }
  free(after.data);
  assert_true(failures >= 20);
}

static void testWriter(void) {
  (void)!system("rm -rf " FOLDER);
  assert_int_equal(mkdir(FOLDER, 0755), 0);
  djt_writeText(FOLDER "/scene.xml", kScene);
  djModel* m = changedModel();
  const double qpos[8] = {0, 0, 3, 1, 0, 0, 0, .1};
  const djKeyDef key = {.name = "end", .qpos = qpos};
  djError err;
  assert_int_equal(dj_saveModel(m, FOLDER "/scene.json", &err), DJ_OK);
  for (int all = 0; all < 2; all++) {
    exhaustWriter(m, FOLDER "/scene.xml", &key, all);
    exhaustWriter(m, FOLDER "/scene.json", &key, all);
  }
  dj_deleteModel(m);
  (void)!system("rm -rf " FOLDER);
}

DJT_MAIN(testStep, testTransition, testFollow, testWriter)

#else

int main(void) { return 77; }

#endif
