// dijoco optimize: improve a task's variables, and write what came out.

#include "export.h"
#include "interrupt.h"
#include "optimize_run.h"
#include "output.h"
#include "overlap.h"
#include "progress.h"
#include "verbs.h"
#include "warn.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Then come ctrl.csv and scene.xml of each scene, and the report.
enum { HISTORY_CSV, FINAL_JSON, TASK_JSON, REPLAY_JSON, FIRST_CTRL };

typedef struct OutFile {
  char name[64];
  djFile* file;
  bool written;
} OutFile;

typedef struct Outcome {
  OptimizeRun run;
  Replay replay;
  Again again;
  Export links;             // where they are asked for
  bool missed;              // a part of the output, of which a line on stderr tells
  int nfile;
  OutFile* file;            // (nfile)
  OutScene* scene;          // (nscene)
} Outcome;

static int ctrl_file(int scene) { return FIRST_CTRL + 2 * scene; }
static int scene_file(int scene) { return ctrl_file(scene) + 1; }
static int report_file(const Outcome* w) { return w->nfile - 1; }
static bool is_scene(const Outcome* w, int file) {
  return file > FIRST_CTRL && file < report_file(w) && (file - FIRST_CTRL) % 2 == 1;
}

// ---- files

static void name_files(Outcome* w) {
  static const char* const first[] = {"history.csv", "final.json", "task.json",
                                      "replay.json"};
  const GradRun* g = &w->run.grad;
  w->nfile = ctrl_file(g->nscene) + 1;
  w->file = tool_alloc((size_t)w->nfile, sizeof *w->file);
  w->scene = tool_alloc((size_t)g->nscene, sizeof *w->scene);
  for (int i = 0; i < FIRST_CTRL; i++) {
    snprintf(w->file[i].name, sizeof w->file[i].name, "%s", first[i]);
  }
  for (int k = 0; k < g->nscene; k++) {
    optimize_fileName(w->file[ctrl_file(k)].name, sizeof w->file->name, g, k, "ctrl", "csv");
    optimize_fileName(w->file[scene_file(k)].name, sizeof w->file->name, g, k, "scene", "xml");
  }
  snprintf(w->file[report_file(w)].name, sizeof w->file->name, "report.html");
}

// Before the work, so that what cannot be written is known in time.
static int open_files(Outcome* w) {
  const Options* o = w->run.options;
  if (!out_folder(o->out)) {
    return tool_fail(o->verb, o->out, NULL, "cannot be made: %s", strerror(errno));
  }
  name_files(w);
  for (int i = 0; i < w->nfile; i++) {
    w->file[i].file = out_openIn(o->verb, o->out, w->file[i].name);
    if (!w->file[i].file) return EXIT_BAD_INPUT;
  }
  return 0;
}

static void write_history(Buffer* out, const OptimizeRun* r) {
  const GradRun* g = &r->grad;
  bool staged = r->how.nstage > 0;
  bool joined = g->problem->nconnect > 0 && !r->receding;
  bool follows = g->problem->inertia_from_geom != DJ_INERTIA_COMPILED;
  int nloss = g->nscene > 1 ? g->nscene : 0;
  buf_add(out, "iteration,loss,step_norm,wall_s");
  for (int k = 0; k < nloss; k++) buf_addf(out, ",loss_%s", grad_sceneName(g, k));
  if (joined) buf_add(out, ",flattened,components,genus");
  buf_addf(out, "%s%s\n", r->receding ? ",frame" : staged ? ",stage" : "",
           follows ? ",overlap,jump" : "");
  for (int i = 0; i < r->nrow; i++) {
    const HistoryRow* h = &r->row[i];
    buf_addf(out, "%d,%.17g,%.17g,%.6f", h->iteration, h->loss, h->step_norm, h->wall);
    for (int k = 0; k < nloss; k++) buf_addf(out, ",%.17g", r->row_loss[i * nloss + k]);
    if (joined) buf_addf(out, ",%d,%d,%d", h->flattened, h->pieces, h->genus);
    if (r->receding) buf_addf(out, ",%d", h->frame);
    if (staged) buf_addf(out, ",%d", h->stage);
    if (follows) buf_addf(out, ",%.6g,%.6g", h->overlap, h->jump);
    buf_add(out, "\n");
  }
}

static void write_ctrl(Buffer* out, const djDesign* d) {
  const djRollout* rollout = &d->rollout;
  int nu = d->model->nu;
  for (int i = 0; i < nu; i++) buf_addf(out, "%sctrl[%d]", i ? "," : "", i);
  buf_add(out, "\n");
  for (int k = 0; k < rollout->horizon; k++) {
    for (int i = 0; i < nu; i++) {
      buf_addf(out, "%s%.17g", i ? "," : "", rollout->ctrl[(size_t)k * (size_t)nu + (size_t)i]);
    }
    buf_add(out, "\n");
  }
}

// ---- JSON

static void write_terms(Json* out, const OptimizeRun* r) {
  json_list(out, "terms");
  for (int i = 0; i < r->grad.nterm; i++) {
    GradTerm t = grad_term(&r->grad, i);
    json_object(out, NULL);
    if (t.scene) json_text(out, "scene", t.scene);
    json_text(out, "type", grad_termName(&t));
    json_number(out, "first", r->term[AT_START][i]);
    json_number(out, "last", r->term[AT_END][i]);
    json_end(out);
  }
  json_end(out);
  grad_writeScenes(out, &r->grad, r->scene_loss[AT_START], r->scene_loss[AT_END]);
}

static void write_result(Json* out, const OptimizeRun* r) {
  json_text(out, "status", optimize_status(r));
  json_number(out, "loss_first", r->loss[AT_START]);
  json_number(out, "loss_last", r->loss[AT_END]);
  json_integer(out, "iterations", r->result.iterations);
  json_integer(out, "phases", r->phases->nphase);
  json_text(out, "inertia", dj_inertiaRuleName(r->grad.problem->inertia_from_geom));
  json_object(out, "overlap");
  json_number(out, "first", r->overlap[AT_START]);
  json_number(out, "last", r->overlap[AT_END]);
  json_end(out);
  json_object(out, "facets");
  json_integer(out, "renewals", r->result.renewals);
  json_number(out, "largest_jump", r->result.largest_jump);
  json_end(out);
  if (!r->receding) return;
  json_object(out, "receding");
  json_integer(out, "horizon", r->how.receding.horizon);
  json_integer(out, "apply", r->how.receding.apply);
  json_integer(out, "frames", r->receding->nframe);
  json_integer(out, "executed", r->receding->next);
  json_end(out);
}

// By how much a guide bends the result: without it.
static void write_bias(Json* out, const OptimizeRun* r) {
  bool plain = r->course[PLAIN].xpos != NULL;
  json_object(out, "bias");
  json_number(out, "position", r->bias);
  json_number(out, "loss_plain", r->loss[plain ? PLAIN : AT_END]);
  json_end(out);
  reach_write(out, r);
}

static void write_final(Buffer* text, const OptimizeRun* r) {
  const djProblem* p = r->grad.problem;
  Json out;
  json_start(&out, text);
  json_object(&out, NULL);
  write_result(&out, r);
  write_terms(&out, r);
  write_bias(&out, r);
  json_list(&out, "variables");
  for (int i = 0; i < p->nvariable; i++) {
    const djVariable* v = &p->variable[i];
    json_object(&out, NULL);
    json_text(&out, "name", v->name);
    json_vector(&out, "value", (size_t)v->nvalue, r->value[AT_END][i]);
    json_vector(&out, "start", (size_t)v->nvalue, r->value[AT_START][i]);
    json_end(&out);
  }
  json_end(&out);
  json_end(&out);
}

static void write_largest(Json* out, const char* key, const Largest* l, const djModel* m) {
  char name[16];
  json_object(out, key);
  json_number(out, "max", l->max);
  json_number(out, "at_time", l->time);
  json_text(out, "body", scene_bodyName(name, m, l->id));
  json_end(out);
}

// Replays of all scenes.
static void write_others(Json* out, const Outcome* w) {
  const Replay* replay = &w->replay;
  json_list(out, "replays");
  for (int k = 0; k <= replay->nother; k++) {
    const OtherReplay* other = k > 0 ? &replay->other[k - 1] : NULL;
    const Differences* d = other ? &other->difference : &replay->record.difference;
    const djModel* m = w->run.grad.part[k].design->model;
    const char* note = other ? other->note : replay->note;
    json_object(out, NULL);
    json_text(out, "scene", grad_sceneName(&w->run.grad, k));
    if (other ? other->done : replay->done) {
      write_largest(out, "position", &d->position, m);
      write_largest(out, "rotation", &d->rotation, m);
    }
    if (*note) json_text(out, "note", note);
    json_end(out);
  }
  json_end(out);
}

static void write_again(Json* out, const Again* a) {
  if (a->done) {
    json_number(out, "replayed_loss", a->loss);
    json_number(out, "replayed_difference", a->difference);
  } else {
    json_null(out, "replayed_loss");
  }
  if (*a->why) json_text(out, "replayed_note", a->why);
}

static void write_summary(Buffer* text, const Outcome* w) {
  const OptimizeRun* r = &w->run;
  Json out;
  json_start(&out, text);
  json_object(&out, NULL);
  write_result(&out, r);
  json_text(&out, "task", r->options->argument[0]);
  json_text(&out, "out", r->options->out);
  json_text(&out, "optimizer", r->how.type);
  json_text(&out, "stop", optimize_stopName(r->result.stop));
  if (!r->receding) json_integer(&out, "best_iteration", r->result.best_iteration);
  json_integer(&out, "phase_threads", r->phases->nthread);
  json_integer(&out, "evaluations", r->result.evaluations);
  json_integer(&out, "refused", r->result.refused);
  if (!r->receding) json_integer(&out, "restarts", r->result.restarts);
  if (!r->receding && r->moves_meshes) json_integer(&out, "flattened", r->result.flattened);
  if (!r->receding && r->grad.problem->nconnect > 0) {
    json_integer(&out, "connections", r->grad.problem->nconnect);
    json_integer(&out, "components", r->nrow > 0 ? r->row[r->nrow - 1].pieces : 0);
  }
  json_integer(&out, "variables", r->grad.design->n);
  json_integer(&out, "steps", grad_steps(&r->grad));
  json_integer(&out, "unconverged_steps", r->unconverged[AT_END]);
  json_integer(&out, "fallback_steps", r->fallback[AT_END]);
  json_integer(&out, "recovering_steps", r->recovering[AT_END]);
  write_terms(&out, r);
  write_bias(&out, r);
  if (scene_text(w->scene)) json_text(&out, "scene", w->file[scene_file(0)].name);
  else json_null(&out, "scene");
  if (*w->scene->note) json_text(&out, "scene_note", w->scene->note);
  if (w->replay.done) {
    const Differences* d = &w->replay.record.difference;
    json_object(&out, "replay");
    write_largest(&out, "position", &d->position, w->replay.record.model);
    write_largest(&out, "rotation", &d->rotation, w->replay.record.model);
    if (*w->replay.note) json_text(&out, "note", w->replay.note);
    json_end(&out);
  } else {
    json_null(&out, "replay");
  }
  if (r->grad.nscene > 1) write_others(&out, w);
  write_again(&out, &w->again);
  json_list(&out, "files");
  for (int i = 0; i < w->nfile; i++) {
    if (w->file[i].written) json_text(&out, NULL, w->file[i].name);
  }
  scene_listMeshes(&out, w->scene, r->grad.nscene);
  json_end(&out);
  if (r->options->export) export_json(&out, &w->links);
  json_number(&out, "wall_s", r->wall);
  scene_writeSettings(&out, &r->grad.scene, r->options);
  json_end(&out);
}

static void print_text(const Outcome* w) {
  const OptimizeRun* r = &w->run;
  printf("%s: %s after %d iterations of %s, %.2f s\n", r->options->argument[0],
         optimize_status(r), r->result.iterations, r->how.type, r->wall);
  if (r->receding) {
    printf("  in %d windows of %d steps; %d of %d steps are executed\n", r->receding->nframe,
           r->how.receding.horizon, r->receding->next, r->receding->horizon);
  }
  if (r->result.flattened > 0) {
    printf("  %d steps were shortened: hulls would have been flat, or cages inside out\n",
           r->result.flattened);
  }
  if (r->phases->nphase > 1) printf("  means over %d phases of a timestep\n", r->phases->nphase);
  printf("  %-24s %14s %14s\n", "", "start", "result");
  printf("  %-24s %14.6g %14.6g\n", "loss", r->loss[AT_START], r->loss[AT_END]);
  for (int k = 0; k < r->grad.nscene && r->grad.nscene > 1; k++) {
    printf("  %-24s %14.6g %14.6g\n", grad_sceneName(&r->grad, k), r->scene_loss[AT_START][k],
           r->scene_loss[AT_END][k]);
  }
  for (int i = 0; i < r->grad.nterm; i++) {
    GradTerm t = grad_term(&r->grad, i);
    printf("    %-22s %14.6g %14.6g", grad_termName(&t), r->term[AT_START][i], r->term[AT_END][i]);
    if (r->grad.nscene > 1) printf("  of %s", t.scene);
    printf("\n");
  }
  overlap_warn(r->grad.problem, r->overlap[AT_END]);
  scene_printIdle(r->grad.scene.model);
  if (r->result.renewals > 0) {
    printf("  facets of hulls were renewed %d times; the loss jumped by %.3g at most\n",
           r->result.renewals, r->result.largest_jump);
  }
  reach_print(r);
  if (w->replay.done) {
    const Largest* l = &w->replay.record.difference.position;
    char name[16];
    printf("  in MuJoCo: bodies are at most %.4g m apart (%s, at %.4g s)\n", l->max,
           scene_bodyName(name, w->replay.record.model, l->id), l->time);
  }
  for (int k = 1; k <= w->replay.nother; k++) {
    const OtherReplay* other = &w->replay.other[k - 1];
    const Largest* l = &other->difference.position;
    char name[16];
    if (!other->done) continue;
    printf("    of %-20s at most %.4g m (%s, at %.4g s)\n", grad_sceneName(&r->grad, k), l->max,
           scene_bodyName(name, r->grad.part[k].design->model, l->id), l->time);
  }
  if (w->again.done && *w->again.why) {
    printf("  loss of what was written, run again: %.10g, which differs by %.2g of it\n    (%s)\n",
           w->again.loss, w->again.difference, w->again.why);
  } else if (!w->again.done) {
    printf("  what was written was not run again: %s\n", w->again.why);
  }
  for (int k = 0; k < r->grad.nscene; k++) {
    const OutScene* one = &w->scene[k];
    if (!*one->note) continue;
    printf("  no %s: %s\n", w->file[scene_file(k)].name, one->note);
    if (*one->json_name) printf("    the result is in %s\n", one->json_name);
    if (*one->refused_name) printf("    what was refused is in %s\n", one->refused_name);
  }
  if (r->options->export) export_print(&w->links);
  printf("written: %s/report.html\n", r->options->out);
  Failures f = engine_failures((long)grad_steps(&r->grad) * r->phases->nphase,
                               r->unconverged[AT_END], r->fallback[AT_END],
                               r->recovering[AT_END], r->grad.scene.model);
  if (*f.text) printf("warning: result: %s\n", f.text);
}

// ---- writing

// Everything but the scenes and the report, which shows what MuJoCo makes of them.
static int write_results(Outcome* w) {
  const OptimizeRun* r = &w->run;
  Buffer* text = tool_alloc((size_t)w->nfile, sizeof *text);
  write_history(&text[HISTORY_CSV], r);
  write_final(&text[FINAL_JSON], r);
  const char** scene = tool_alloc((size_t)r->grad.nscene, sizeof *scene);
  int status = 0;
  bool all = true;
  w->missed = optimize_task(&text[TASK_JSON], r, r->options->out) != 0;
  for (int k = 0; k < r->grad.nscene && !status; k++) {
    const djDesign* d = r->grad.part[k].design;
    if (d->model->nu > 0) write_ctrl(&text[ctrl_file(k)], d);
    scene_make(w->scene, k, r);
    const char* written = scene_text(&w->scene[k]);
    if (written) buf_add(&text[scene_file(k)], written);
    else status = scene_writeInstead(w->scene, k, r);
    scene[k] = written ? w->file[scene_file(k)].name : w->scene[k].json_name;
    all = all && *scene[k];
  }
  if (all && !status) optimize_replayTask(&text[REPLAY_JSON], r, r->options->out, scene);
  for (int i = 0; i < report_file(w) && !status; i++) {
    OutFile* f = &w->file[i];
    f->written = text[i].text != NULL;
    if (is_scene(w, i) && f->written) continue;
    if (f->written) out_write(f->file, &text[i]);
    else out_discard(f->file);
  }
  for (int k = 0; k < r->grad.nscene && !status; k++) {
    status = scene_writeMeshes(w->scene, k, r->options);
  }
  for (int i = 0; i < w->nfile; i++) buf_free(&text[i]);
  free(text);
  free(scene);
  return status;
}

// A scene in both engines, before its meshes have their places: from the text that needs no other
// file.
static int replay_scene(Outcome* w, int k) {
  const Options* o = w->run.options;
  OutFile* scene = &w->file[scene_file(k)];
  const OutScene* made = &w->scene[k];
  const djDesign* d = w->run.grad.part[k].design;
  char* note = k > 0 ? w->replay.other[k - 1].note : w->replay.note;
  djError err;
  Buffer text = {0};
  if (made->json && dj_fileTemporary(made->json)) {
    again_load(&w->again, k, dj_fileTemporary(made->json), true);
  }
  if (!scene->written) {
    snprintf(note, sizeof w->replay.note, "%.500s", made->note);
    return 0;
  }
  bool regular = dj_fileTemporary(scene->file) != NULL;
  buf_add(&text, regular ? made->files.text : scene_text(made));
  out_write(scene->file, &text);
  buf_free(&text);
  if (dj_finishFile(scene->file, &err) < 0) return tool_fail(o->verb, NULL, NULL, "%s", err.text);
  if (!regular) {
    snprintf(note, sizeof w->replay.note, "%s is no regular file", scene->name);
    return 0;
  }
  again_load(&w->again, k, dj_fileTemporary(scene->file), false);
  if (k == 0) replay_run(&w->replay, d, dj_fileTemporary(scene->file));
  else replay_other(&w->replay.other[k - 1], d, dj_fileTemporary(scene->file));
  if (scene_text(made) == made->files.text) return 0;
  out_discard(scene->file);
  buf_add(&text, scene_text(made));
  scene->file = out_addIn(o->verb, o->out, scene->name, &text);
  return scene->file ? 0 : EXIT_BAD_INPUT;
}

static int write_report(Outcome* w) {
  const OptimizeRun* r = &w->run;
  OutFile* page = &w->file[report_file(w)];
  Buffer report = {0};
  int status = 0;
  again_open(&w->again, r);
  w->replay.nother = r->grad.nscene - 1;
  w->replay.other = tool_alloc((size_t)w->replay.nother, sizeof *w->replay.other);
  for (int k = 0; k < r->grad.nscene && !status; k++) status = replay_scene(w, k);
  if (status) return status;
  progress_show("running what was written", 0, 0, "%s", "");
  again_run(&w->again, r);
  optimize_report(&report, r, &w->replay, &w->again);
  out_write(page->file, &report);
  page->written = true;
  buf_free(&report);
  return out_commit(r->options->verb);
}

static int optimize(Outcome* w) {
  const Options* o = w->run.options;
  interrupt_defer("ending after this iteration (again: at once, without results)");
  int status = open_files(w);
  if (!status) status = optimize_run(&w->run);
  progress_show("writing the results", 0, 0, "%s", "");
  if (!status) status = write_results(w);
  if (!status && o->export && export_links(&w->links, o, w->run.grad.design->model)) {
    w->missed = true;
  }
  if (!status) status = write_report(w);
  progress_end();
  if (status) return status;
  if (o->json) {
    Buffer text = {0};
    write_summary(&text, w);
    opt_print(&text);
  } else {
    print_text(w);
  }
  for (int k = 0; k < w->run.grad.nscene; k++) {
    const OutScene* scene = &w->scene[k];
    if (!scene->failed) continue;
    tool_fail(o->verb, w->run.grad.part[k].task->scene, NULL, "%s is not written: %s",
              w->file[scene_file(k)].name, scene->note);
    return EXIT_NOT_HELD;
  }
  return !w->missed && strcmp(optimize_status(&w->run), "ok") == 0 ? 0 : EXIT_NOT_HELD;
}

int verb_optimize(const Options* o) {
  if (!o->out) return tool_fail(o->verb, NULL, "--out", "missing: a folder for the results");
  if (grad_refusesRamp(o)) return EXIT_BAD_INPUT;
  Outcome w = {0};
  int status = optimize_load(&w.run, o);
  for (int k = 0; k < w.run.grad.nscene && !status; k++) {
    warn_scene(&w.run.grad.part[k].scene, o);
  }
  if (!status) status = optimize(&w);
  replay_close(&w.replay);
  again_close(&w.again, &w.run);
  for (int k = 0; k < w.run.grad.nscene && w.scene; k++) scene_freeFiles(&w.scene[k]);
  free(w.scene);
  free(w.file);
  export_free(&w.links);
  optimize_free(&w.run);
  return status;
}
