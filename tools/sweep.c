// dijoco sweep: a task at many samples, by threads and processes, as a table.

#include "sweep.h"

#include "clock.h"
#include "json_in.h"
#include "progress.h"
#include "verbs.h"
#include "warn.h"

#include <dijoco/crew.h>

#include <inttypes.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Work {
  Sweep* sweep;
  Folder* folder;
  Worker* worker;           // one for each thread
  pthread_mutex_t mutex;    // of the progress line
  atomic_bool failed;       // something could not be written
  double started;
} Work;

// ---- what the sweep is

// FNV-1a, of 64 bits.
static void add_digest(uint64_t* digest, const char* text, size_t n) {
  for (size_t i = 0; i <= n; i++) {   // its end, too
    *digest = (*digest ^ (i < n ? (unsigned char)text[i] : 0x100u)) * 0x100000001b3u;
  }
}

static void add_file(uint64_t* digest, const char* path) {
  FILE* f = fopen(path, "rb");
  char part[4096];
  size_t n;
  while (f && (n = fread(part, 1, sizeof part, f)) > 0) add_digest(digest, part, n);
  if (f) fclose(f);
}

// sweep.json: names for people, a digest of what the numbers depend on.
static void identify(Buffer* text, const Sweep* w) {
  const Options* o = w->options;
  const Samples* s = &w->samples;
  uint64_t digest = 0xcbf29ce484222325u;
  char* task = cJSON_PrintUnformatted(w->task);
  add_digest(&digest, task, strlen(task));
  free(task);
  for (int k = 0; k < w->base.nscene; k++) add_file(&digest, w->base.part[k].task->scene);
  if (s->text) add_digest(&digest, s->text, strlen(s->text));
  for (int k = 0; k < o->nset; k++) add_digest(&digest, o->set[k], strlen(o->set[k]));
  if (o->keyframe) add_digest(&digest, o->keyframe, strlen(o->keyframe));
  Buffer settings = {0};
  Json j;
  json_start(&j, &settings);
  json_object(&j, NULL);
  Options same = *o;
  same.threads = -1;   // which change no bit
  scene_writeSettings(&j, &w->base.scene, &same);
  json_number(&j, "spread", s->spread);
  json_integer(&j, "check_seed", o->check ? o->check_seed : -1);
  json_integer(&j, "check_runs", o->check ? o->check_runs : -1);
  json_end(&j);
  add_digest(&digest, settings.text, settings.size);
  buf_free(&settings);

  char code[24];
  snprintf(code, sizeof code, "%016" PRIx64, digest);
  json_start(&j, text);
  json_object(&j, NULL);
  json_text(&j, "version", dj_version());
  json_text(&j, "task", o->argument[0]);
  json_integer(&j, "samples", s->n);
  if (s->random) json_integer(&j, "seed", s->seed);
  json_bool(&j, "check", o->check);
  json_bool(&j, "optimize", o->optimize);
  json_text(&j, "digest", code);
  json_end(&j);
  buf_add(text, "\n");
}

// ---- the work

// What is left is foretold by what this process alone has done.
static void show(Work* work) {
  SweepTally t = folder_tally(work->folder);
  int n = work->sweep->samples.n;
  pthread_mutex_lock(&work->mutex);
  progress_show("sweeping", t.done, n, "%d of %d samples, %d here, %d failed", t.done, n, t.here,
                t.status[SAMPLE_FAILED]);
  pthread_mutex_unlock(&work->mutex);
}

static void take_sample(void* arg, int sample, int lane) {
  Work* work = arg;
  if (atomic_load(&work->failed) || !folder_take(work->folder, sample)) return;
  Buffer row = {0};
  double start = tool_clock();
  sweep_row(&row, &work->worker[lane], sample);
  if (!folder_give(work->folder, sample, &row, tool_clock() - start)) {
    atomic_store(&work->failed, true);
  }
  buf_free(&row);
  show(work);
}

// Threads where --threads does not say: a process's share of the processors, where mpirun has started
// several on this machine.
static int default_threads(void) {
  double n = (double)sysconf(_SC_NPROCESSORS_ONLN), several;
  const char* ranks = getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  if (!ranks) ranks = getenv("MPI_LOCALNRANKS");
  if (ranks && tool_number(&several, ranks) && several >= 1) n /= several;
  return n >= 1 && n < 1e6 ? (int)n : 1;
}

// Again and again, until nothing is left but what others are at: what one that has ended was at is
// taken over.
static int run(Work* work) {
  const Sweep* w = work->sweep;
  int nthread = w->options->threads > 0 ? (int)w->options->threads : default_threads();
  if (nthread > w->samples.n) nthread = w->samples.n;
  djCrew* crew = dj_makeCrew(nthread);
  if (!crew) return tool_fail(w->options->verb, NULL, NULL, "out of memory");
  work->worker = tool_alloc((size_t)dj_crewSize(crew), sizeof *work->worker);
  for (int k = 0; k < dj_crewSize(crew); k++) work->worker[k].sweep = w;
  for (int before = -1; before < folder_tally(work->folder).here && !atomic_load(&work->failed);) {
    before = folder_tally(work->folder).here;
    dj_crewDo(crew, w->samples.n, take_sample, work);
  }
  for (int k = 0; k < dj_crewSize(crew); k++) worker_free(&work->worker[k]);
  dj_deleteCrew(crew);
  free(work->worker);
  progress_end();
  return atomic_load(&work->failed) ? EXIT_BAD_INPUT : 0;
}

// ---- results

static void print_json(const Work* work, const SweepTally* t, bool complete) {
  const Sweep* w = work->sweep;
  Buffer text = {0};
  Json out;
  json_start(&out, &text);
  json_object(&out, NULL);
  json_text(&out, "status", complete ? "done" : "others");
  json_integer(&out, "samples", w->samples.n);
  json_integer(&out, "done", t->done);
  json_integer(&out, "here", t->here);
  for (int s = 0; s < SAMPLE_STATUSES; s++) {
    json_integer(&out, sample_statusName((SampleStatus)s), t->status[s]);
  }
  json_number(&out, "sample_s", t->done > 0 ? t->seconds / t->done : 0);
  json_number(&out, "wall_s", tool_clock() - work->started);
  json_end(&out);
  opt_print(&text);
}

static void print_text(const Work* work, const SweepTally* t, bool complete) {
  const Sweep* w = work->sweep;
  printf("%s: %d of %d samples done, %d of them here, in %.3g s\n", w->options->argument[0], t->done,
         w->samples.n, t->here, tool_clock() - work->started);
  for (int s = 0; s < SAMPLE_STATUSES; s++) {
    if (t->status[s] > 0) printf("  %-16s %d\n", sample_statusName((SampleStatus)s), t->status[s]);
  }
  if (t->done > 0) printf("  %.3g s a sample\n", t->seconds / t->done);
  if (complete) printf("written: %s/samples.csv\n", w->options->out);
  else printf("the others are at work in other processes, the last of which writes samples.csv\n");
}

static int sweep(Work* work) {
  Sweep* w = work->sweep;
  const Options* o = w->options;
  Buffer text = {0};
  identify(&text, w);
  work->folder = folder_open(o->verb, o->out, w->samples.n, &text);
  buf_free(&text);
  int status = work->folder ? run(work) : EXIT_BAD_INPUT;
  if (status) return status;
  SweepTally t = folder_tally(work->folder);
  bool complete = t.done == w->samples.n;
  if (complete) {
    Buffer header = {0};
    sweep_header(&header, w);
    status = folder_merge(work->folder, &header);
    buf_free(&header);
  }
  if (status) return status;
  if (o->json) print_json(work, &t, complete);
  else print_text(work, &t, complete);
  return complete && t.status[SAMPLE_OK] < t.done ? EXIT_NOT_HELD : 0;
}

static int load(Sweep* w) {
  const Options* o = w->options;
  int status = grad_load(&w->base, o, o->argument[0]);
  if (status) return status;
  djError err = {""};
  if (o->optimize && djd_checkVariables(w->base.problem, &err) < 0) {
    return scene_fail(o, o->argument[0], &err);
  }
  char message[256];
  w->task = read_json(o->argument[0], message, sizeof message);
  if (!w->task) return tool_fail(o->verb, o->argument[0], NULL, "%s", message);
  w->label = sweep_labels(w->base.design);
  status = samples_read(&w->samples, w);
  if (!status && o->optimize && !w->samples.patch && w->base.task->optimizer.receding.horizon > 0) {
    status = tool_fail(o->verb, o->argument[0], "receding",
                       "windows start from the task's own values: give samples as JSON");
  }
  return status;
}

int verb_sweep(const Options* given) {
  Options o = *given;
  if (o.check_seed >= 0 || o.check_runs > 0) o.check = true;
  if (!o.out) return tool_fail(o.verb, NULL, "--out", "missing: a folder for the results");
  if (grad_refusesRamp(&o)) return EXIT_BAD_INPUT;
  pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
  Sweep w = {.options = &o, .loading = &loading};
  Work work = {.sweep = &w, .mutex = PTHREAD_MUTEX_INITIALIZER, .started = tool_clock()};
  int status = load(&w);
  for (int k = 0; k < w.base.nscene && !status; k++) warn_scene(&w.base.part[k].scene, &o);
  if (!status) status = sweep(&work);
  folder_close(work.folder);
  samples_free(&w.samples);
  for (int e = 0; w.label && e < w.base.design->n; e++) free(w.label[e]);
  free(w.label);
  cJSON_Delete(w.task);
  grad_free(&w.base);
  return status;
}
