// djm_attach: finds the MuJoCo that the process has loaded, and fills the table.
//
// All patch releases of one minor release have the same mjModel and mjData, so that one binary
// serves them. A process may hold several copies, for instance one that the program is linked to
// and a Python package's. The one that the program itself sees is taken first, and by the program's
// eyes: its variables (mju_user_error...) may have been moved into the program.

#define _GNU_SOURCE  // dl_iterate_phdr, RTLD_DEFAULT
#include "attach.h"

#include <dijoco/mujoco.h>

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAJOR = mjVERSION_HEADER / 1000000, MINOR = mjVERSION_HEADER / 1000 % 1000 };
enum { MAX_LIBRARY = 16 };

djmMuJoCo djm_mujoco;
static atomic_bool attached;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// ------------------------------ finding ----------------------------------------------------------

// A copy of MuJoCo.
typedef struct djmLibrary {
  char path[4096];
  void* handle;             // RTLD_DEFAULT (which is NULL): the one that the program sees
  int (*version)(void);     // its mj_version, by which copies are told apart
  char text[32];            // "4.0.1"
} djmLibrary;

typedef struct djmSearch {
  int n;
  djmLibrary library[MAX_LIBRARY];
} djmSearch;

// Completes the entry s->library[s->n] and counts it, unless it is no MuJoCo or listed already.
static bool count(djmSearch* s, void* handle) {
  djmLibrary* library = s->library + s->n;
  library->handle = handle;
  library->version = (int (*)(void))dlsym(handle, "mj_version");
  if (!library->version) return false;
  for (int i = 0; i < s->n; i++) {
    if (s->library[i].version == library->version) return false;
  }
  const char* (*text)(void) = (const char* (*)(void))dlsym(handle, "mj_versionString");
  if (text) {
    snprintf(library->text, sizeof(library->text), "%s", text());
  } else {
    snprintf(library->text, sizeof(library->text), "%d", library->version());
  }
  s->n++;
  return true;
}

typedef struct djmNames {
  int n;
  char path[MAX_LIBRARY][4096];
} djmNames;

static int listName(struct dl_phdr_info* info, size_t size, void* arg) {
  (void)size;
  djmNames* names = arg;
  const char* path = info->dlpi_name ? info->dlpi_name : "";
  const char* slash = strrchr(path, '/');
  if (names->n < MAX_LIBRARY && strstr(slash ? slash : path, "libmujoco")) {
    snprintf(names->path[names->n++], sizeof(names->path[0]), "%s", path);
  }
  return 0;
}

// Lists all copies in the process; their handles keep them loaded until release.
static void search(djmSearch* s) {
  Dl_info info;
  void* seen = dlsym(RTLD_DEFAULT, "mj_version");
  bool named = seen && dladdr(seen, &info) && info.dli_fname;
  snprintf(s->library[0].path, sizeof(s->library[0].path), "%s", named ? info.dli_fname : "");
  s->n = 0;
  count(s, RTLD_DEFAULT);

  // dlopen inside dl_iterate_phdr could wait for a thread that waits for this one.
  static djmNames names;
  names.n = 0;
  dl_iterate_phdr(listName, &names);
  for (int i = 0; i < names.n && s->n < MAX_LIBRARY; i++) {
    void* handle = dlopen(names.path[i], RTLD_LAZY | RTLD_NOLOAD);
    if (!handle) continue;
    memcpy(s->library[s->n].path, names.path[i], sizeof(names.path[i]));
    if (!count(s, handle)) dlclose(handle);
  }
}

// Lets all copies go but the one that is used, which must stay.
static void release(djmSearch* s, const djmLibrary* used) {
  for (int i = 0; i < s->n; i++) {
    djmLibrary* library = s->library + i;
    if (library == used) {
      if (library->handle == RTLD_DEFAULT) dlopen(library->path, RTLD_LAZY | RTLD_NOLOAD);
    } else if (library->handle != RTLD_DEFAULT) {
      dlclose(library->handle);
    }
  }
}

// ------------------------------ the table --------------------------------------------------------

static const struct {
  const char* name;
  size_t offset;
} symbols[] = {
#define DJM_ENTRY(name) {#name, offsetof(djmMuJoCo, name)},
    DJM_SYMBOLS(DJM_ENTRY)
#undef DJM_ENTRY
};

// Fills the table; returns the name of what is missing, or NULL. attach.h says what may be.
static const char* fill(void* handle) {
  const char* missing = NULL;
  for (size_t i = 0; i < sizeof(symbols) / sizeof(*symbols); i++) {
    void* address = dlsym(handle, symbols[i].name);
    memcpy((char*)&djm_mujoco + symbols[i].offset, &address, sizeof(address));
    bool optional = symbols[i].offset == offsetof(djmMuJoCo, mjs_getInStringVec);
    if (!address && !optional) missing = symbols[i].name;
  }
  return missing;
}

// ------------------------------ attaching --------------------------------------------------------

static bool quiet(void) {
  const char* value = getenv("DIJOCO_QUIET");
  return value && *value;
}

static djStatus attach(djmSearch* s, djError* err) {
  search(s);
  const djmLibrary* chosen = NULL;
  for (int i = 0; i < s->n && !chosen; i++) {
    if (s->library[i].version() / 1000 == mjVERSION_HEADER / 1000) chosen = s->library + i;
  }
  const char* missing = chosen ? fill(chosen->handle) : NULL;
  char* text = err->text;
  size_t size = sizeof(err->text);
  djStatus status = DJ_UNSUPPORTED;
  if (s->n == 0) {
    snprintf(text, size, "no MuJoCo is loaded: load MuJoCo %d.%d first", MAJOR, MINOR);
  } else if (!chosen) {
    snprintf(text, size, "MuJoCo %s is loaded, but this libdijoco_plugin.so is for %d.%d: use that "
             "MuJoCo, or a DiJoCo built for %s (%.256s)", s->library[0].text, MAJOR, MINOR,
             s->library[0].text, s->library[0].path);
  } else if (missing) {
    snprintf(text, size, "MuJoCo %s has no function %s (%.256s)", chosen->text, missing,
             chosen->path);
  } else {
    status = DJ_OK;
    if (s->n > 1 && !quiet()) {
      fprintf(stderr, "dijoco: %d copies of MuJoCo are loaded; using %s (%s)\n", s->n,
              chosen->text, chosen->path);
    }
  }
  release(s, status == DJ_OK ? chosen : NULL);
  return status;
}

djStatus djm_attach(djError* err) {
  static _Thread_local bool attaching;  // this thread is below, and registers plugins
  if (atomic_load_explicit(&attached, memory_order_acquire) || attaching) return DJ_OK;
  djError unused;
  if (!err) err = &unused;
  djStatus status = DJ_OK;
  pthread_mutex_lock(&lock);
  if (!atomic_load_explicit(&attached, memory_order_relaxed)) {
    static djmSearch found;
    status = attach(&found, err);
    if (status == DJ_OK) {
      attaching = true;
      djError why;
      if (djm_registerPlugins(&why) != DJ_OK) fprintf(stderr, "dijoco: %s\n", why.text);
      attaching = false;
      atomic_store_explicit(&attached, true, memory_order_release);
    }
  }
  pthread_mutex_unlock(&lock);
  return status;
}

// mj_loadPluginLibrary loads this library and does nothing else. A program may load it before
// MuJoCo, so that failure is no error yet. It is said all the same, or scenes with our plugins
// would be refused without a reason. DIJOCO_QUIET=1 leaves the saying to the calls that fail.
__attribute__((constructor)) static void onLoad(void) {
  djError err;
  if (djm_attach(&err) == DJ_OK || quiet()) return;
  fprintf(stderr, "dijoco: plugins are not registered: %s\n", err.text);
}
