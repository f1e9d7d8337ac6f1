// dijoco simulate: run a scene in one engine.

#include "output.h"
#include "page.h"
#include "progress.h"
#include "state_file.h"
#include "states.h"
#include "verbs.h"
#include "warn.h"

#include <stdio.h>
#include <string.h>

static void print_vectors(const char* name, const double first[3], const double last[3]) {
  if (first[0] == 0 && first[1] == 0 && first[2] == 0) return;
  printf("  %-22s (%.6g, %.6g, %.6g) at the start, (%.6g, %.6g, %.6g) at the end\n", name, first[0],
         first[1], first[2], last[0], last[1], last[2]);
}

static void print_table(const Engine* e, const Scene* s, const Options* o) {
  const Tally* t = &e->tally;
  printf("%s, %s: %ld steps, %.6g s\n", s->path, e->name, t->steps, t->time);
  printf("  %-22s %ld\n", "newton iterations", t->newton_iterations);
  printf("  %-22s %ld\n", "unconverged steps", t->unconverged_steps);
  printf("  %-22s %.3g\n", "worst residual", t->worst_residual);
  printf("  %-22s %.6g m\n", "smallest gap", t->smallest_gap);
  printf("  %-22s %.6g m\n", "deepest overlap", t->deepest_overlap);
  printf("  %-22s %ld\n", "recovering steps", t->recovering_steps);
  if (t->fallback_steps) {
    bool restarts = e->own && e->model->opt.integrator == DJ_BDF2;
    printf("  %-22s %ld (taken by %s)\n", "fallback steps", t->fallback_steps,
           restarts ? "SDIRK2" : "the position integrator");
  }
  if (t->impact_steps) {
    printf("  %-22s %ld (in parts, as bodies closed fast or it failed whole)\n", "impact steps", t->impact_steps);
  }
  printf("  %-22s %.6g J at the start, %.6g J at the end\n", "energy", t->energy_first,
         t->energy_last);
  print_vectors("momentum", t->momentum_first + 3, t->momentum_last + 3);
  print_vectors("angular momentum", t->momentum_first, t->momentum_last);
  print_vectors("spin", t->spin_first, t->spin_last);
  printf("  %-22s %.3g s, %.3g us per step\n", "wall time", t->wall,
         t->steps ? 1e6 * t->wall / (double)t->steps : 0);
  if (*t->note) printf("  %-22s %.70s\n", t->stopped ? "stopped" : "note", t->note);
  scene_printIdle(s->model);
  if (o->out) printf("  %-22s %s\n", "written", o->out);
  if (!e->own) return;
  Failures f = engine_failures(t->steps, t->unconverged_steps, t->fallback_steps,
                               t->recovering_steps, e->model);
  if (*f.text) printf("warning: %s\n", f.text);
}

// All steps. False: a step was impossible.
static bool run(Engine* e, const Inputs* in, const Options* o, djFile* file, Page* page) {
  if (file) {
    states_header(file, e);
    states_row(file, e);
  }
  bool good = true;
  page_add(page, 0, 0);
  for (long k = 0; k < in->steps && good; k++) {
    good = engine_step(e, in, k);
    if (good) page_add(page, 0, k + 1);
    if (good && file && states_due(o, k + 1)) states_row(file, e);
    progress_show("simulating", (double)k + 1, (double)in->steps, "step %ld of %ld", k + 1,
                  in->steps);
  }
  progress_end();
  return engine_measure(e) && engine_measureMomentum(e) && good;
}

static void write_page(djFile* file, const Page* page, const char* scene) {
  Buffer text = {0};
  page_write(&text, page, scene);
  out_write(file, &text);
  buf_free(&text);
}

static int simulate(const Scene* s, const Options* o) {
  bool mujoco = o->engine && strcmp(o->engine, "mujoco") == 0;
  double timestep = s->model->opt.timestep;
#ifdef DJ_HAVE_MUJOCO
  bool given = dj_isGiven(&o->settings, dj_findSetting("timestep", 0));
  if (mujoco && s->stock && !given) timestep = s->stock->opt.timestep;
#endif
  Inputs in;
  Engine e = {0};
  int status = inputs_read(&in, o, s, timestep);
  if (!status && o->state) status = state_read(&in, o);
  if (!status && !engine_open(&e, mujoco, s, &in)) {
    status = tool_fail(o->verb, s->path, NULL, "%s", e.error);
  }
  djFile *file = NULL, *state = NULL, *player = NULL;
  Page page = {0};
  if (!status && o->out && !(file = out_open(o->verb, o->out))) status = EXIT_BAD_INPUT;
  if (!status && o->save_state && !(state = out_open(o->verb, o->save_state))) {
    status = EXIT_BAD_INPUT;
  }
  if (!status && o->player && !(player = out_open(o->verb, o->player))) status = EXIT_BAD_INPUT;
  if (!status && player) page_open(&page, 1, &e, in.steps);
  if (!status && !run(&e, &in, o, file, &page)) {
    status = tool_fail(o->verb, s->path, NULL, "%s", e.error);
    if (e.tally.steps > 0) status = EXIT_NOT_HELD;  // it ran, and what it did is written
  }
  if (status != EXIT_BAD_INPUT && state) state_write(state, &e);
  if (status != EXIT_BAD_INPUT && player) write_page(player, &page, s->path);
  page_close(&page);
  if (status != EXIT_BAD_INPUT && out_commit(o->verb)) status = EXIT_BAD_INPUT;
  if (status != EXIT_BAD_INPUT) {
    if (!mujoco && e.tally.unconverged_steps > 0) status = EXIT_NOT_HELD;
    Buffer text = {0};
    Json out;
    json_start(&out, &text);
    engine_write(&out, NULL, &e, s, o);
    if (o->json) opt_print(&text);
    else print_table(&e, s, o);
    buf_free(&text);
  }
  engine_close(&e);
  inputs_free(&in);
  return status;
}

int verb_simulate(const Options* o) {
  Scene s;
  int status = scene_open(&s, o, o->argument[0]);
  if (!status && !(o->engine && strcmp(o->engine, "mujoco") == 0)) warn_scene(&s, o);
  if (!status) status = simulate(&s, o);
  scene_close(&s);
  return status;
}
