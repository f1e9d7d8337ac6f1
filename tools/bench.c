// dijoco bench: our times beside MuJoCo's, in one run on one thread.

#include "bench.h"

#include "engine.h"
#include "interrupt.h"
#include "json_out.h"
#include "output.h"
#include "progress.h"
#include "scene.h"
#include "verbs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- the machine

static void processor(char* text, size_t size) {
  snprintf(text, size, "unknown");
  FILE* file = fopen("/proc/cpuinfo", "r");
  char line[500];
  while (file && fgets(line, sizeof line, file)) {
    char* colon = strchr(line, ':');
    if (strncmp(line, "model name", 10) != 0 || !colon) continue;
    colon[strcspn(colon, "\n")] = 0;
    snprintf(text, size, "%s", colon + 2);
    break;
  }
  if (file) fclose(file);
}

// How this program was compiled.
static const char* compiled(void) {
  return "C11"
#ifdef __OPTIMIZE__
         " optimised"
#else
         " not optimised"
#endif
#ifdef __SANITIZE_ADDRESS__
         " sanitizers"
#endif
#ifdef __SSE4_2__
         " sse4.2"
#endif
#ifdef __AVX__
         " avx"
#endif
#ifdef __AVX2__
         " avx2"
#endif
#ifdef __FMA__
         " fma"
#endif
#ifdef __AVX512F__
         " avx512f"
#endif
#ifdef __ARM_NEON
         " neon"
#endif
#ifdef __VERSION__
         ", compiler " __VERSION__
#endif
      ;
}

static void write_json(const Bench* b, const char* cpu, long cores) {
  Buffer out = {0};
  Json j;
  json_start(&j, &out);
  json_object(&j, NULL);
  json_object(&j, "machine");
  json_text(&j, "cpu", cpu);
  json_integer(&j, "cores", cores);
  json_text(&j, "flags", compiled());
  json_end(&j);
  const char* mujoco = scene_mujocoVersion();
  if (mujoco) json_text(&j, "mujoco", mujoco);
  json_list(&j, "results");
  for (int i = 0; i < b->n; i++) {
    const BenchResult* r = &b->result[i];
    json_object(&j, NULL);
    json_text(&j, "name", r->name);
    json_text(&j, "unit", "us");
    json_number(&j, "ours", r->ours);
    json_text(&j, "peer_name", r->peer_name);
    json_number(&j, "peer", r->peer);
    json_number(&j, "ratio", r->ours / r->peer);
    json_text(&j, "note", r->note);
    json_end(&j);
  }
  json_end(&j);
  json_list(&j, "fits");
  for (int i = 0; i < b->nfit; i++) {
    const BenchFit* f = &b->fit[i];
    json_object(&j, NULL);
    json_text(&j, "name", f->name);
    json_number(&j, "ours", f->ours);
    json_text(&j, "peer_name", f->peer_name);
    json_number(&j, "peer", f->peer);
    json_text(&j, "note", f->note);
    json_end(&j);
  }
  json_end(&j);
  json_list(&j, "skipped");
  for (int i = 0; i < b->nskipped; i++) json_text(&j, NULL, b->skipped[i]);
  json_end(&j);
  if (b->interrupted) json_bool(&j, "interrupted", true);
  json_end(&j);
  opt_print(&out);
}

// Text in lines of at most 96 characters after two blanks.
static void print_wrapped(const char* text) {
  while (*text) {
    size_t n = strlen(text);
    if (n > 94) {
      n = 94;
      while (n > 1 && text[n] != ' ') n--;
    }
    printf("      %.*s\n", (int)n, text);
    text += n;
    while (*text == ' ') text++;
  }
}

static void print_table(const Bench* b, const char* cpu, long cores) {
  printf("%.80s, %ld cores\n%.98s\n", cpu, cores, compiled());
  printf("one thread; medians in microseconds\n\n");
  printf("%-34s %10s %10s %8s  %s\n", "", "ours", "peer", "ratio", "peer");
  for (int i = 0; i < b->n; i++) {
    const BenchResult* r = &b->result[i];
    printf("%-34s %10.3f %10.3f %8.3f  %s\n", r->name, r->ours, r->peer, r->ours / r->peer,
           r->peer_name);
    if (*r->note) print_wrapped(r->note);
  }
  if (b->nfit) printf("\nfitted numbers\n");
  for (int i = 0; i < b->nfit; i++) {
    const BenchFit* f = &b->fit[i];
    printf("%-34s %10.3f %10.3f %8s  %s\n", f->name, f->ours, f->peer, "", f->peer_name);
    print_wrapped(f->note);
  }
  for (int i = 0; i < b->nskipped; i++) printf("skipped: %s\n", b->skipped[i]);
  if (b->interrupted) printf("interrupted: what would have come next is left out\n");
}

// ---- where the models are

// FOLDER/NAME where FOLDER is `levels` above this program's, or NAME below the working directory;
// NULL where neither can be read.
static const char* find_folder(char* text, size_t size, int levels, const char* name) {
  char self[800];
  ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
  for (int up = 0; n > 0 && up <= levels; up++) {
    while (n > 0 && self[n - 1] != '/') n--;
    if (n > 0) n--;
  }
  self[n > 0 ? n : 0] = 0;
  snprintf(text, size, "%s/%s", self, name);
  if (access(text, R_OK) == 0) return text;
  snprintf(text, size, "%s", name);
  return access(text, R_OK) == 0 ? text : NULL;
}

// In a build tree the program is build/bin/dijoco, what was fetched is in build/deps.
static const char* robot_folder(char* text, size_t size, const Options* o) {
  const char* folder = o->models ? o->models : getenv("DIJOCO_GYMNASIUM");
  return folder && *folder ? folder : find_folder(text, size, 1, "deps/gymnasium");
}

static void run_items(Bench* b) {
  bench_robots(b);
  bench_context(b);
  bench_pair(b);
  bench_stack(b);
  bench_pile(b);
  bench_guide(b);
  bench_triangles(b);
  bench_rollouts(b);
  bench_implicit(b);
  bench_design(b);
  bench_batch(b);
}

// How many things there are, then each; what was found so far is shown after a signal, too.
static int time_things(Bench* b, void (*run)(Bench*)) {
  const Options* o = b->options;
  char cpu[200];
  interrupt_defer("ending after this one (again: at once)");
  for (int pass = 0; pass < 2; pass++) {
    b->counting = pass == 0;
    run(b);
  }
  progress_end();
  if (b->interrupted && b->pairs) out_discard(b->pairs);
  int status = out_commit(o->verb);
  processor(cpu, sizeof cpu);
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  if (!status && o->json) write_json(b, cpu, cores);
  if (!status && !o->json) print_table(b, cpu, cores);
  free(b->result);
  if (status) return status;
  return b->interrupted ? EXIT_NOT_HELD : EXIT_DONE;
}

// Tasks have no peer but themselves.
static int time_tasks(Bench* b) {
  const Options* o = b->options;
  if (o->pairs) return tool_fail(o->verb, NULL, "--pairs", "is not for tasks");
  if (o->models) return tool_fail(o->verb, NULL, "--models", "is not for tasks");
  int status = bench_openTasks(b);
  if (!status) status = time_things(b, bench_tasks);
  bench_closeTasks(b);
  return status;
}

int verb_bench(const Options* o) {
  char models[900], robots[900];
  Bench b = {.options = o};
  if (o->nargument > 0) return time_tasks(&b);
  if (!scene_mujocoVersion()) {
    return tool_fail(o->verb, NULL, NULL, "this build has no MuJoCo to compare with");
  }
  b.robots = robot_folder(robots, sizeof robots, o);
  b.models = find_folder(models, sizeof models, 2, "models");
  if (o->models && access(o->models, R_OK) != 0) {
    return tool_fail(o->verb, o->models, NULL, "cannot be read");
  }
  if (o->pairs && !(b.pairs = out_open(o->verb, o->pairs))) return EXIT_BAD_INPUT;
  return time_things(&b, run_items);
}

#ifndef DJ_HAVE_MUJOCO
void bench_robots(Bench* b) { (void)b; }
void bench_context(Bench* b) { (void)b; }
void bench_pair(Bench* b) { (void)b; }
void bench_stack(Bench* b) { (void)b; }
void bench_pile(Bench* b) { (void)b; }
void bench_guide(Bench* b) { (void)b; }
void bench_triangles(Bench* b) { (void)b; }
void bench_rollouts(Bench* b) { (void)b; }
void bench_implicit(Bench* b) { (void)b; }
void bench_design(Bench* b) { (void)b; }
void bench_batch(Bench* b) { (void)b; }
#endif
