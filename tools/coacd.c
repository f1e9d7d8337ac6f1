#include "coacd.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Its interface in C, as of version 1.0.14.
typedef struct CoacdMesh {
  double* vert;
  uint64_t nvert;
  int* tri;
  uint64_t ntri;
} CoacdMesh;

typedef struct CoacdList {
  CoacdMesh* mesh;
  uint64_t n;
} CoacdList;

typedef CoacdList Run(const CoacdMesh* input, double threshold, int max_convex_hull,
                      int preprocess_mode, int prep_resolution, int sample_resolution,
                      int mcts_nodes, int mcts_iteration, int mcts_max_depth, bool pca, bool merge,
                      bool decimate, int max_ch_vertex, bool extrude, double extrude_margin,
                      int apx_mode, unsigned seed, bool real_metric);
typedef void Free(CoacdList list);
typedef void SetLevel(const char* level);

typedef struct Library {
  Run* run;
  Free* free_list;
  SetLevel* set_level;
} Library;

static Library library;
static char found[PATH_MAX + 64];

#define WHERE "`python3 scripts/fetch.py coacd` fetches it, or set DIJOCO_COACD to its lib_coacd.so"

// dlsym gives functions as pointers to data.
static bool find(void* function, void* handle, const char* name) {
  void* symbol = dlsym(handle, name);
  memcpy(function, &symbol, sizeof symbol);
  return symbol;
}

static bool open_at(const char* path, djError* err) {
  void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char* why = dlerror();
    snprintf(err->text, sizeof err->text, "CoACD cannot be loaded (%.200s): " WHERE,
             why ? why : path);
    return false;
  }
  bool has = find(&library.run, handle, "CoACD_run") &&
             find(&library.free_list, handle, "CoACD_freeMeshArray") &&
             find(&library.set_level, handle, "CoACD_setLogLevel");
  if (!has) {
    snprintf(err->text, sizeof err->text, "%.200s is no CoACD: " WHERE, path);
    library.run = NULL;
    return false;
  }
  snprintf(found, sizeof found, "%s", path);
  library.set_level("off");
  return true;
}

// PATH/bin/dijoco: PATH/deps/coacd/coacd/lib_coacd.so.
static bool beside_build(char path[PATH_MAX + 64]) {
  char own[PATH_MAX];
  ssize_t n = readlink("/proc/self/exe", own, sizeof own - 1);
  if (n <= 0) return false;
  own[n] = 0;
  for (int k = 0; k < 2; k++) {
    char* slash = strrchr(own, '/');
    if (!slash) return false;
    *slash = 0;
  }
  snprintf(path, PATH_MAX + 64, "%s/deps/coacd/coacd/lib_coacd.so", own);
  return access(path, R_OK) == 0;
}

bool coacd_load(const char** path, djError* err) {
  char place[PATH_MAX + 64];
  const char* given = getenv("DIJOCO_COACD");
  bool good = library.run != NULL;
  if (!good && given) {
    good = open_at(given, err);
  } else if (!good) {
    good = open_at(beside_build(place) ? place : "lib_coacd.so", err);
  }
  if (path) *path = good ? found : NULL;
  return good;
}

djStatus coacd_run(djPieces* pieces, const djTriangles* solid, const CoacdWish* wish,
                   djError* err) {
  CoacdMesh mesh = {solid->vert, (uint64_t)solid->nvert, solid->tri, (uint64_t)solid->ntri};
  djStatus status = DJ_OK;
  *pieces = (djPieces){0};
  // Its own standard values; merge: hulls that fit together become one.
  CoacdList list = library.run(&mesh, 0.05, wish->hulls, 0, 50, 2000, 20, 150, 3, false, true,
                               false, 256, false, 0.01, 0, (unsigned)wish->seed, false);
  for (uint64_t i = 0; i < list.n && status == DJ_OK; i++) {
    const CoacdMesh* hull = &list.mesh[i];
    djError why;
    status = dj_addPiece(pieces, hull->nvert < INT_MAX / 64 ? (int)hull->nvert : 0, hull->vert,
                         NULL, wish->vertices, &why);
    if (status < 0) {
      snprintf(err->text, sizeof err->text, "hull %lu of CoACD: %.400s", (unsigned long)i,
               why.text);
    }
  }
  if (status == DJ_OK && list.n == 0) {
    snprintf(err->text, sizeof err->text, "CoACD finds no hulls");
    status = DJ_INVALID;
  }
  // It leaves more than it was asked for where hulls are far from each other or fit badly.
  if (status == DJ_OK && wish->hulls > 0) {
    status = dj_mergePieces(pieces, wish->hulls, wish->vertices, err);
  }
  library.free_list(list);
  if (status < 0) dj_freePieces(pieces);
  return status;
}
