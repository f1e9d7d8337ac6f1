// dijoco compare: one scene, both engines, the same start and controls.

#include "output.h"
#include "page.h"
#include "progress.h"
#include "report.h"
#include "states.h"
#include "verbs.h"
#include "warn.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DIJOCO_CSV, MUJOCO_CSV, CONTACTS_CSV, SUMMARY_JSON, REPORT_HTML, NFILES };
static const char* const file_name[NFILES] = {"dijoco.csv", "mujoco.csv", "contacts.csv",
                                              "summary.json", "report.html"};

typedef struct Comparison {
  const Scene* scene;
  const Options* options;
  Inputs inputs;
  Engine engine[ENGINES];
  Record record;
  Page page;
  djFile *file[NFILES], *player;
  Scene plain_scene;         // without the tail of a guide, where the scene has one; else no model
  Engine plain;
  double bias;               // largest difference of a body's position without it, m
} Comparison;

static double norm3(const double v[3]) { return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

static int open_files(Comparison* c) {
  const char* folder = c->options->out;
  const char* verb = c->options->verb;
  if (!out_folder(folder)) {
    return tool_fail(verb, folder, NULL, "cannot be made: %s", strerror(errno));
  }
  for (int i = 0; i < NFILES; i++) {
    c->file[i] = out_openIn(verb, folder, file_name[i]);
    if (!c->file[i]) return EXIT_BAD_INPUT;
  }
  const char* player = c->options->player;
  if (player && !(c->player = out_open(verb, player))) return EXIT_BAD_INPUT;
  return 0;
}

static void write_contacts(djFile* file, const Engine* e) {
  for (int i = 0; i < e->ncontact; i++) {
    const djContactForce* f = &e->contact[i];
    if (f->force[0] == 0 && f->force[1] == 0 && f->force[2] == 0) continue;
    dj_printFile(file, "%.17g,%s,%d,%d,%.17g,%.17g,%.17g\n", e->time, e->name, f->body1,
                 f->body2, f->force[0], f->force[1], f->force[2]);
  }
}

static void write_rows(Comparison* c, long k) {
  if (!states_due(c->options, k)) return;
  for (int i = 0; i < ENGINES; i++) {
    states_row(c->file[i == 0 ? DIJOCO_CSV : MUJOCO_CSV], &c->engine[i]);
    if (k > 0) write_contacts(c->file[CONTACTS_CSV], &c->engine[i]);
  }
}

static int open_plain(Comparison* c) {
  djError err = {""};
  if (!dj_guidesRuns(c->scene->model)) return 0;
  c->plain_scene = (Scene){.path = c->scene->path};
  if (dj_copyModel(&c->plain_scene.model, c->scene->model, &err) < 0) {
    return scene_fail(c->options, c->scene->path, &err);
  }
  dj_setGuideBackwardOnly(c->plain_scene.model, true);
  if (engine_open(&c->plain, false, &c->plain_scene, &c->inputs)) return 0;
  return tool_fail(c->options->verb, c->scene->path, NULL, "%s", c->plain.error);
}

// The same step without a guide, as long as that can be done.
static void step_plain(Comparison* c, long k) {
  if (!c->plain_scene.model || c->plain.tally.stopped) return;
  if (!engine_step(&c->plain, &c->inputs, k) || !engine_measure(&c->plain)) {
    c->plain.tally.stopped = true;
    return;
  }
  for (int b = 0; b < c->scene->model->nbody; b++) {
    const double *p = c->engine[0].xpos + 3 * b, *q = c->plain.xpos + 3 * b;
    c->bias = fmax(c->bias, norm3((double[]){p[0] - q[0], p[1] - q[1], p[2] - q[2]}));
  }
}

// All steps, both engines side by side; ends where one of them cannot go on.
static int run(Comparison* c) {
  const Inputs* in = &c->inputs;
  states_header(c->file[DIJOCO_CSV], &c->engine[0]);
  states_header(c->file[MUJOCO_CSV], &c->engine[1]);
  dj_printFile(c->file[CONTACTS_CSV], "time,engine,body1,body2,fx,fy,fz\n");
  record_open(&c->record, c->scene->model, in->steps);
  if (c->player) page_open(&c->page, ENGINES, c->engine, in->steps);
  for (int i = 0; i < ENGINES; i++) page_add(&c->page, i, 0);
  write_rows(c, 0);
  record_add(&c->record, c->engine, 0);
  for (long k = 0; k < in->steps; k++) {
    for (int i = 0; i < ENGINES; i++) {
      bool stepped = engine_step(&c->engine[i], in, k);
      if (stepped) page_add(&c->page, i, k + 1);
      if (stepped && engine_measure(&c->engine[i])) continue;
      tool_fail(c->options->verb, c->scene->path, NULL, "%s", c->engine[i].error);
      return k == 0 ? EXIT_BAD_INPUT : EXIT_NOT_HELD;
    }
    step_plain(c, k);
    write_rows(c, k + 1);
    record_add(&c->record, c->engine, k + 1);
    progress_show("simulating", (double)k + 1, (double)in->steps, "step %ld of %ld", k + 1,
                  in->steps);
  }
  progress_end();
  for (int i = 0; i < ENGINES; i++) {
    if (engine_measureMomentum(&c->engine[i])) continue;
    tool_fail(c->options->verb, c->scene->path, NULL, "%s", c->engine[i].error);
    return EXIT_NOT_HELD;
  }
  return 0;
}

static void write_largest(Json* out, const char* key, const Largest* l) {
  json_object(out, key);
  json_number(out, "max", l->max);
  json_number(out, "at_time", l->time);
}

static void write_body(Json* out, const char* key, const char* id_key, const djModel* m, int body) {
  char text[16];
  json_text(out, key, scene_bodyName(text, m, body));
  json_integer(out, id_key, body);
}

static void write_difference(Json* out, const Record* r) {
  const Differences* d = &r->difference;
  json_object(out, "difference");
  write_largest(out, "position", &d->position);
  write_body(out, "body", "body_id", r->model, d->position.id);
  json_end(out);
  write_largest(out, "rotation", &d->rotation);
  write_body(out, "body", "body_id", r->model, d->rotation.id);
  json_end(out);
  write_largest(out, "qvel", &d->qvel);
  json_integer(out, "dof", d->qvel.id);
  json_end(out);
  write_largest(out, "energy", &d->energy);
  json_end(out);
  write_largest(out, "contact_force", &d->force);
  write_body(out, "body1", "body1_id", r->model, d->force.id);
  write_body(out, "body2", "body2_id", r->model, d->force.id2);
  json_number(out, "mean_last_half", d->force_mean_last_half);
  json_end(out);
  json_end(out);
}

static void write_summary(Buffer* text, const Comparison* c) {
  Json out;
  json_start(&out, text);
  json_object(&out, NULL);
  json_text(&out, "scene", c->scene->path);
  json_number(&out, "time", c->engine[0].tally.time);
  for (int i = 0; i < ENGINES; i++) {
    engine_write(&out, c->engine[i].name, &c->engine[i], c->scene, c->options);
  }
  write_difference(&out, &c->record);
  json_object(&out, "bias");   // by the tail of a guide; a scene has no loss
  json_number(&out, "position", c->bias);
  json_null(&out, "loss_plain");
  json_end(&out);
  json_end(&out);
}

static void write_report(Buffer* text, const Comparison* c) {
  Buffer json[ENGINES] = {{0}, {0}};
  for (int i = 0; i < ENGINES; i++) {
    Json out;
    json_start(&out, &json[i]);
    engine_write(&out, NULL, &c->engine[i], c->scene, c->options);
  }
  Report report = {.scene = c->scene, .record = &c->record, .engine = c->engine,
                   .json = {json[0].text, json[1].text}};
  report_write(text, &report);
  for (int i = 0; i < ENGINES; i++) buf_free(&json[i]);
}

static double spin_change(const Tally* t) {
  double change[3];
  for (int k = 0; k < 3; k++) change[k] = t->spin_last[k] - t->spin_first[k];
  return norm3(change);
}

// What each engine's energy and the angular momentum of free-floating trees have changed by: lost
// by the integrator, where nothing acts.
static void print_losses(const Tally* a, const Tally* b) {
  printf("  %-22s %14.4g %14.4g\n", "energy, change (J)", a->energy_last - a->energy_first,
         b->energy_last - b->energy_first);
  if (norm3(a->spin_first) == 0 && norm3(a->spin_last) == 0) return;
  printf("  %-22s %14.6g %14.6g\n", "spin, end (kg m2/s)", norm3(a->spin_last),
         norm3(b->spin_last));
  printf("  %-22s %14.4g %14.4g\n", "spin, change", spin_change(a), spin_change(b));
}

static void print_table(const Comparison* c) {
  const Differences* d = &c->record.difference;
  const djModel* m = c->scene->model;
  char one[16], two[16];
  printf("%s: %ld steps, %.6g s\n", c->scene->path, c->engine[0].tally.steps,
         c->engine[0].tally.time);
  printf("  %-22s %14s %14s\n", "", "dijoco", "mujoco");
  const Tally *a = &c->engine[0].tally, *b = &c->engine[1].tally;
  printf("  %-22s %14ld %14ld\n", "iterations", a->newton_iterations, b->newton_iterations);
  printf("  %-22s %14ld %14ld\n", "unconverged steps", a->unconverged_steps,
         b->unconverged_steps);
  printf("  %-22s %14.4g %14.4g\n", "smallest gap (m)", a->smallest_gap, b->smallest_gap);
  printf("  %-22s %14.4g %14.4g\n", "deepest overlap (m)", a->deepest_overlap, b->deepest_overlap);
  printf("  %-22s %14.6g %14.6g\n", "energy, end (J)", a->energy_last, b->energy_last);
  print_losses(a, b);
  printf("  %-22s %14.4g %14.4g\n", "wall per step (us)",
         a->steps ? 1e6 * a->wall / (double)a->steps : 0,
         b->steps ? 1e6 * b->wall / (double)b->steps : 0);
  printf("largest differences\n");
  printf("  %-22s %14.4g m      at %.4g s, %.40s\n", "position", d->position.max, d->position.time,
         scene_bodyName(one, m, d->position.id));
  printf("  %-22s %14.4g rad    at %.4g s, %.40s\n", "rotation", d->rotation.max, d->rotation.time,
         scene_bodyName(one, m, d->rotation.id));
  printf("  %-22s %14.4g        at %.4g s\n", "qvel", d->qvel.max, d->qvel.time);
  printf("  %-22s %14.4g J      at %.4g s\n", "energy", d->energy.max, d->energy.time);
  printf("  %-22s %14.4g N      at %.4g s, %.20s on %.20s\n", "contact force", d->force.max,
         d->force.time, scene_bodyName(one, m, d->force.id), scene_bodyName(two, m, d->force.id2));
  printf("  %-22s %14.4g N\n", "  mean of last half", d->force_mean_last_half);
  if (c->plain_scene.model) printf("  %-22s %14.4g m\n", "without the guide", c->bias);
  scene_printIdle(m);
  printf("written: %s/report.html\n", c->options->out);
  Failures f = engine_failures(a->steps, a->unconverged_steps, a->fallback_steps,
                               a->recovering_steps, m);
  if (*f.text) printf("warning: dijoco: %s\n", f.text);
}

// --max-position and --max-rotation.
static int check_limits(const Comparison* c) {
  const Options* o = c->options;
  const Differences* d = &c->record.difference;
  int status = 0;
  if (!isnan(o->max_position) && !(d->position.max <= o->max_position)) {
    tool_fail(o->verb, c->scene->path, "--max-position", "positions differ by %.6g m, more than %g",
              d->position.max, o->max_position);
    status = EXIT_NOT_HELD;
  }
  if (!isnan(o->max_rotation) && !(d->rotation.max <= o->max_rotation)) {
    tool_fail(o->verb, c->scene->path, "--max-rotation",
              "rotations differ by %.6g rad, more than %g", d->rotation.max, o->max_rotation);
    status = EXIT_NOT_HELD;
  }
  if (c->engine[0].tally.unconverged_steps > 0) status = EXIT_NOT_HELD;
  return status;
}

static int finish(Comparison* c) {
  Buffer summary = {0}, report = {0}, page = {0};
  write_summary(&summary, c);
  write_report(&report, c);
  if (c->player) {
    page_write(&page, &c->page, c->scene->path);
    out_write(c->player, &page);
    buf_free(&page);
  }
  out_write(c->file[SUMMARY_JSON], &summary);
  out_write(c->file[REPORT_HTML], &report);
  buf_free(&report);
  int status = out_commit(c->options->verb);
  if (!status && c->options->json) opt_print(&summary);
  if (!status && !c->options->json) print_table(c);
  buf_free(&summary);
  return status;
}

static int compare(Comparison* c) {
  int status = inputs_read(&c->inputs, c->options, c->scene, c->scene->model->opt.timestep);
  for (int i = 0; i < ENGINES && !status; i++) {
    if (!engine_open(&c->engine[i], i == 1, c->scene, &c->inputs)) {
      status = tool_fail(c->options->verb, c->scene->path, NULL, "%s", c->engine[i].error);
    }
  }
  if (!status) status = open_plain(c);
  if (!status) status = open_files(c);
  if (!status) status = run(c);
  if (status == EXIT_BAD_INPUT) return status;
  int written = finish(c);
  if (written) return written;
  int limits = check_limits(c);
  return limits > status ? limits : status;
}

int verb_compare(const Options* o) {
  if (!o->out) return tool_fail(o->verb, NULL, "--out", "missing");
  Scene s;
  int status = scene_open(&s, o, o->argument[0]);
  Comparison c = {.scene = &s, .options = o};
  if (!status) {
    warn_scene(&s, o);
    status = compare(&c);
    record_close(&c.record);
    page_close(&c.page);
    for (int i = 0; i < ENGINES; i++) engine_close(&c.engine[i]);
    engine_close(&c.plain);
    dj_deleteModel(c.plain_scene.model);
    inputs_free(&c.inputs);
  }
  scene_close(&s);
  return status;
}
