// JSON scenes: what loads can be stepped and differentiated, and saved as a scene that loads again.

#include "fuzz.h"

#include "common/sample_model.h"

#include <unistd.h>

// Saved and loaded, it is the same model.
static void save(const djModel* m) {
  char path[4096];
  const char* folder = getenv("TMPDIR");
  djModel* again;
  djError err;
  snprintf(path, sizeof path, "%s/fuzz-%ld.json", folder ? folder : "/tmp", (long)getpid());
  FUZZ_CHECK(dj_saveModel(m, path, &err) == DJ_OK);
  FUZZ_CHECK(dj_loadModel(&again, path, &err) == DJ_OK);
  FUZZ_CHECK(djt_difference(m, again) == NULL);
  remove(path);
  dj_deleteModel(again);
}

static void step(const djModel* m) {
  djData* d;
  djError err;
  if (dj_makeData(&d, m, &err) < 0) return;
  for (int k = 0; k < 3; k++) dj_step(m, d);
  size_t nx = (size_t)dj_tangentSize(m);
  double* A = malloc((nx * nx + 1) * sizeof *A);
  FUZZ_CHECK(A);
  djd_lastTransition(m, d, A, NULL);
  free(A);
  dj_deleteData(d);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  char* text = fuzz_text(data, size);
  djModel* m;
  djError err;
  if (fuzz_wantsMuch(text)) {
    free(text);
    return 0;
  }
  if (dj_loadModelText(&m, text, &err) >= 0) {
    save(m);
    if (m->nv < 100 && m->nmeshvert < 500) step(m);
    dj_deleteModel(m);
  } else {
    FUZZ_CHECK(!m && err.text[0]);
  }
  free(text);
  return 0;
}
