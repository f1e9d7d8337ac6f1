// Results of scenes/*.json as results/*.json has them, and as this build computes them. Differences
// beyond what compilers make fail. --write: store this build's results, and complete the scenes.
//
// A result says that nothing has changed, not that it is right. Scenes hold every setting, so that
// they stay what they are when rules and defaults of these change; of elements they hold what differs
// from the defaults.

#include "result.h"

#include "io/json.h"
#include "io/model_save.h"
#include "io/text.h"

#include <dirent.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER DIJOCO_SOURCE_DIR "/tests/references"
enum { MAX_SCENE = 40, LEAST_SCENES = 20, MAX_KIND = 100, PATH = 1000 };

_Noreturn void ref_fail(const char* format, ...) {
  va_list args;
  va_start(args, format);
  fflush(stdout);
  vfprintf(stderr, format, args);
  fprintf(stderr, "\n");
  va_end(args);
  exit(1);
}

// ------------------------------------------ vectors --------------------------------------------

double* ref_add(refResult* result, const char* name, int n) {
  if (result->n == REF_MAX_VECTOR) ref_fail("too many vectors: %s", name);
  refVector* v = &result->vector[result->n++];
  snprintf(v->name, sizeof v->name, "%s", name);
  v->n = n;
  v->value = calloc((size_t)n + 1, sizeof *v->value);
  if (!v->value) ref_fail("out of memory");
  return v->value;
}

void ref_free(refResult* result) {
  for (int k = 0; k < result->n; k++) free(result->vector[k].value);
  result->n = 0;
}

// ------------------------------------------ files ----------------------------------------------

static void pathOf(char path[PATH], const char* folder, const char* scene) {
  snprintf(path, PATH, "%s/%s/%.31s.json", FOLDER, folder, scene);
}

static void writeText(const char* path, const djText* text) {
  djFile* file;
  djError err;
  if (text->failed) ref_fail("out of memory");
  if (dj_openFile(&file, path, &err) < 0) ref_fail("%s", err.text);
  dj_writeFile(file, text->data, text->length);
  if (dj_commitFile(file, &err) < 0) ref_fail("%s", err.text);
}

static char* readText(const char* path, size_t* length) {
  char* text;
  djError err;
  if (dj_readFile(&text, length, path, &err) < 0) ref_fail("%s: %s", path, err.text);
  return text;
}

static void writeResult(const refResult* result, const char* path) {
  djText text = {0};
  for (int k = 0; k < result->n; k++) {
    const refVector* v = &result->vector[k];
    dj_addText(&text, k > 0 ? ",\n\"" : "{\n\"");
    dj_addText(&text, v->name);
    dj_addText(&text, "\": [");
    for (int i = 0; i < v->n; i++) {
      if (i > 0) dj_addText(&text, ", ");
      dj_addExact(&text, v->value[i]);
    }
    dj_addText(&text, "]");
  }
  dj_addText(&text, "\n}\n");
  writeText(path, &text);
  dj_freeText(&text);
}

static void readResult(refResult* result, const char* path) {
  djError err;
  cJSON* root;
  size_t length;
  char* text = readText(path, &length);
  if (dj_parseJson(&root, text, length, &err) < 0) ref_fail("%s: %s", path, err.text);
  djAt at = {&err, ""};
  for (const cJSON* item = root->child; item; item = item->next) {
    int n = cJSON_GetArraySize(item);
    if (dj_jsonVector(ref_add(result, item->string, n), n, item, &at) < 0) {
      ref_fail("%s: %s", path, err.text);
    }
  }
  cJSON_Delete(root);
  free(text);
}

static int byName(const void* a, const void* b) { return strcmp(a, b); }

// Names of the .json files of a folder, ascending. Returns how many.
static int listFiles(char names[MAX_SCENE][REF_NAME], const char* folder) {
  char path[PATH];
  int n = 0;
  snprintf(path, sizeof path, "%s/%s", FOLDER, folder);
  DIR* dir = opendir(path);
  if (!dir) ref_fail("%s: cannot be read", path);
  for (struct dirent* entry; (entry = readdir(dir));) {
    const char* end = strstr(entry->d_name, ".json");
    if (!end || end[5]) continue;
    if (n == MAX_SCENE || end - entry->d_name >= REF_NAME) ref_fail("%s: too much", path);
    snprintf(names[n++], REF_NAME, "%.*s", (int)(end - entry->d_name), entry->d_name);
  }
  closedir(dir);
  qsort(names, (size_t)n, sizeof *names, byName);
  return n;
}

// ------------------------------------------ comparison -----------------------------------------

// The largest difference of a kind of vector, relative to its largest entry, over all scenes.
typedef struct Kind {
  char name[REF_NAME];
  char scene[REF_NAME];      // where
  double worst, tolerance;
  int compared;              // numbers
} Kind;

// By how a state's vector is called, or how a derivative's name begins: 10 to 50 times the largest
// difference from gcc -O3 -march=native that scripts/references.sh has found among gcc -O2,
// portable, without fused multiply-adds, and clang 14 and 16.
static const struct {
  const char* text;
  double tolerance;
} kTolerances[] = {
    {"qpos", 1e-11},   {"qvel", 5e-9},    {"act", 1e-13},          {"pairs", 0},
    {"gaps", 1e-11},   {"normals", 2e-11}, {"limit forces", 3e-11}, {"forces", 1e-9},
    {"moments", 1e-9}, {"energy", 2e-12}, {"loss", 5e-12},         {"A ", 2e-9},
    {"B ", 5e-12},     {"by ", 1e-8},
};

static double toleranceOf(const char* name) {
  const int n = sizeof kTolerances / sizeof *kTolerances;
  size_t length = strlen(name);
  bool state = strncmp(name, "first ", 6) == 0 || strncmp(name, "last ", 5) == 0;
  for (int k = 0; k < n; k++) {
    const char* text = kTolerances[k].text;
    size_t size = strlen(text);
    bool ends = length >= size && strcmp(name + length - size, text) == 0;
    bool begins = strncmp(name, text, size) == 0;
    if (begins || (state && ends)) return kTolerances[k].tolerance;
  }
  ref_fail("%s: there is no tolerance for it", name);
}

static Kind* kindOf(Kind kinds[MAX_KIND], int* n, const char* name) {
  for (int k = 0; k < *n; k++) {
    if (strcmp(kinds[k].name, name) == 0) return &kinds[k];
  }
  if (*n == MAX_KIND) ref_fail("too many kinds");
  Kind* kind = &kinds[(*n)++];
  *kind = (Kind){.tolerance = toleranceOf(name)};
  snprintf(kind->name, sizeof kind->name, "%s", name);
  return kind;
}

// Relative to the largest entry, or to 1e-6 where that is less: what is zero but for rounding has
// no size. NaN and infinity are as far off as can be.
static double difference(const refVector* a, const refVector* b) {
  double size = 1e-6, most = 0;
  for (int i = 0; i < a->n; i++) {
    double d = fabs(a->value[i] - b->value[i]);
    if (!isfinite(d)) return INFINITY;
    size = fmax(size, fabs(b->value[i]));
    most = fmax(most, d);
  }
  return most / size;
}

static void compare(Kind kinds[MAX_KIND], int* nkind, const char* scene, const refResult* now,
                    const refResult* stored) {
  if (now->n != stored->n) ref_fail("%s: %d vectors, stored %d", scene, now->n, stored->n);
  for (int k = 0; k < now->n; k++) {
    const refVector *a = &now->vector[k], *b = &stored->vector[k];
    if (strcmp(a->name, b->name) != 0) ref_fail("%s: %s, stored %s", scene, a->name, b->name);
    if (a->n != b->n) ref_fail("%s: %s: %d numbers, stored %d", scene, a->name, a->n, b->n);
    Kind* kind = kindOf(kinds, nkind, a->name);
    double d = difference(a, b);
    kind->compared += a->n;
    if (d <= kind->worst) continue;
    kind->worst = d;
    snprintf(kind->scene, sizeof kind->scene, "%.31s", scene);
  }
}

static int printKinds(const Kind* kinds, int n) {
  int failed = 0;
  printf("%-26s %7s  %10s %10s\n", "vector", "numbers", "difference", "tolerance");
  for (int k = 0; k < n; k++) {
    const Kind* kind = &kinds[k];
    bool ok = kind->compared > 0 && kind->worst <= kind->tolerance;
    failed += !ok;
    printf("%-26s %7d  %10.1e %10.1e  %-20s%s\n", kind->name, kind->compared, kind->worst,
           kind->tolerance, kind->scene, ok ? "" : "  MISS");
  }
  return failed;
}

// ------------------------------------------ main -----------------------------------------------

// The model of a scene, whose file must hold every setting, and of elements what differs from the defaults;
// complete: write it so.
static djModel* openScene(const char* scene, bool complete) {
  char path[PATH];
  djModel* m;
  djError err;
  djText text = {0};
  size_t length;
  pathOf(path, "scenes", scene);
  if (dj_loadModel(&m, path, &err) < 0) ref_fail("%s", err.text);
  if (dj_modelText(&text, m, DJ_WITH_SETTINGS, &err) < 0) ref_fail("%s: %s", path, err.text);
  char* file = readText(path, &length);
  bool whole = length == text.length && memcmp(file, text.data, length) == 0;
  free(file);
  if (complete && !whole) {
    writeText(path, &text);
    dj_deleteModel(m);
    if (dj_loadModel(&m, path, &err) < 0) ref_fail("%s", err.text);
  }
  dj_freeText(&text);
  if (!complete && !whole) ref_fail("%s: is not as a model writes itself, with every setting", path);
  return m;
}

int main(int argc, char** argv) {
  static char scene[MAX_SCENE][REF_NAME], stored[MAX_SCENE][REF_NAME];
  static Kind kinds[MAX_KIND];
  bool write = argc == 2 && strcmp(argv[1], "--write") == 0;
  if (argc > 1 && !write) {
    fprintf(stderr, "usage: %s [--write]\n", argv[0]);
    return 2;
  }
  int n = listFiles(scene, "scenes"), nstored = listFiles(stored, "results"), nkind = 0;
  if (n < LEAST_SCENES) ref_fail("%d scenes; there are to be %d", n, (int)LEAST_SCENES);
  for (int k = 0; k < nstored && !write; k++) {
    if (nstored != n || strcmp(scene[k], stored[k]) != 0) {
      ref_fail("scenes and results do not go together: %s, %s", scene[k], stored[k]);
    }
  }
  if (!write && nstored == 0) ref_fail("no results are stored");
  for (int k = 0; k < n; k++) {
    char path[PATH];
    refResult now = {0}, then = {0};
    djModel* m = openScene(scene[k], write);
    printf("%s\n", scene[k]);
    fflush(stdout);
    ref_measure(&now, m);
    pathOf(path, "results", scene[k]);
    if (write) {
      writeResult(&now, path);
    } else {
      readResult(&then, path);
      compare(kinds, &nkind, scene[k], &now, &then);
    }
    ref_free(&now);
    ref_free(&then);
    dj_deleteModel(m);
  }
  int failed = write ? 0 : printKinds(kinds, nkind);
  if (failed > 0) printf("%d of %d vectors are not as stored\n", failed, nkind);
  return failed > 0;
}
