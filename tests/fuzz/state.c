// Files of `simulate --state`: the run goes on from there and is saved, or the file is refused;
// what is saved can be read again and, saved without a step, is what it was.

#include "fuzz.h"

#include "common/sample_model.h"
#include "verbs.h"

#include <math.h>
#include <unistd.h>

enum { PATH = 4096 };

static void makePath(char path[PATH], const char* name) {
  const char* folder = getenv("TMPDIR");
  const int n =
      snprintf(path, PATH, "%s/fuzz-%ld-%s", folder ? folder : "/tmp", (long)getpid(), name);
  FUZZ_CHECK(n > 0 && n < PATH);
}

// The sample with the integrator bdf2, once for all inputs.
static const char* scene(void) {
  static char path[PATH];
  if (path[0]) return path;
  djSample sample;
  djModel* m;
  djError err;
  djt_fillSample(&sample);
  sample.def.option.integrator = DJ_BDF2;
  sample.tendon[0].armature = 0; // which it does not take
  makePath(path, "scene.json");
  FUZZ_CHECK(dj_makeModel(&m, &sample.def, &err) == DJ_OK);
  FUZZ_CHECK(dj_saveModel(m, path, &err) == DJ_OK);
  dj_deleteModel(m);
  return path;
}

static char* contents(const char* path) {
  FILE* file = fopen(path, "rb");
  FUZZ_CHECK(file);
  char* text = calloc(1, 1 << 16);
  FUZZ_CHECK(text);
  const size_t n = fread(text, 1, (1 << 16) - 1, file);
  FUZZ_CHECK(n > 0 && n < (1 << 16) - 1);
  fclose(file);
  return text;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  char saved[PATH], again[PATH];
  makePath(saved, "saved.json");
  makePath(again, "again.json");
  Options o = {.verb = "simulate",
               .nargument = 1,
               .json = true,
               .time = 0.02,
               .threads = 1,
               .ctrl_seed = -1,
               .every = -1,
               .max_position = NAN,
               .max_rotation = NAN};
  o.argument[0] = scene();
  o.state = fuzz_file(data, size);
  o.save_state = saved;
  int status = verb_simulate(&o);
  fuzz_close();
  FUZZ_CHECK(status == EXIT_DONE || status == EXIT_NOT_HELD || status == EXIT_BAD_INPUT);
  if (status != EXIT_BAD_INPUT) {
    o.state = saved;
    o.save_state = again;
    o.time = 0;
    status = verb_simulate(&o);
    FUZZ_CHECK(status == EXIT_DONE || status == EXIT_NOT_HELD);
    char *first = contents(saved), *second = contents(again);
    FUZZ_CHECK(strcmp(first, second) == 0);
    free(first);
    free(second);
    remove(again);
  }
  remove(saved);
  return 0;
}
