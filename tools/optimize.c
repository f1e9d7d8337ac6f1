// dijoco optimize: improve a task's variables, and write what came out.

#include "interrupt.h"
#include "optimize_run.h"
#include "output.h"
#include "overlap.h"
#include "progress.h"
#include "verbs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HISTORY_CSV, FINAL_JSON, TASK_JSON, CTRL_CSV, SCENE_XML, REPORT_HTML, NFILES };
static const char* const file_name[NFILES] = {"history.csv", "final.json", "task.json",
                                              "ctrl.csv", "scene.xml", "report.html"};

typedef struct Outcome {
  OptimizeRun run;
  Replay replay;
  djFile* file[NFILES];
  bool written[NFILES];
  char* scene;              // text of scene.xml, or NULL
  char scene_note[600];     // why there is none
  bool scene_failed;        // it should have been written
} Outcome;

// ---- files

// Before the work, so that what cannot be written is known in time.
static int open_files(Outcome* w) {
  const Options* o = w->run.options;
  if (!out_folder(o->out)) {
    return tool_fail(o->verb, o->out, NULL, "cannot be made: %s", strerror(errno));
  }
  for (int i = 0; i < NFILES; i++) {
    w->file[i] = out_openIn(o->verb, o->out, file_name[i]);
    if (!w->file[i]) return EXIT_BAD_INPUT;
  }
  return 0;
}

static void write_history(Buffer* out, const OptimizeRun* r) {
  bool staged = r->how.nstage > 0;
  const char* last = r->receding ? ",frame" : staged ? ",stage" : "";
  bool follows = r->grad.problem->inertia_from_geom != DJ_INERTIA_COMPILED;
  buf_addf(out, "iteration,loss,step_norm,wall_s%s%s\n", last, follows ? ",overlap,jump" : "");
  for (int i = 0; i < r->nrow; i++) {
    const HistoryRow* h = &r->row[i];
    buf_addf(out, "%d,%.17g,%.17g,%.6f", h->iteration, h->loss, h->step_norm, h->wall);
    if (r->receding) buf_addf(out, ",%d", h->frame);
    if (staged) buf_addf(out, ",%d", h->stage);
    if (follows) buf_addf(out, ",%.6g,%.6g", h->overlap, h->jump);
    buf_add(out, "\n");
  }
}

static void write_ctrl(Buffer* out, const OptimizeRun* r) {
  const djRollout* rollout = &r->grad.design->rollout;
  int nu = r->grad.design->model->nu;
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
  const djRollout* rollout = &r->grad.problem->rollout;
  json_list(out, "terms");
  for (int i = 0; i < rollout->nloss; i++) {
    json_object(out, NULL);
    json_text(out, "type", dj_lossEntry((int)rollout->loss[i].type)->name);
    json_number(out, "first", r->term[AT_START][i]);
    json_number(out, "last", r->term[AT_END][i]);
    json_end(out);
  }
  json_end(out);
}

static void write_result(Json* out, const OptimizeRun* r) {
  json_text(out, "status", optimize_status(r));
  json_number(out, "loss_first", r->loss[AT_START]);
  json_number(out, "loss_last", r->loss[AT_END]);
  json_integer(out, "iterations", r->result.iterations);
  json_integer(out, "phases", r->phases->n);
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

static const char* stop_name(djStop stop) {
  switch (stop) {
    case DJ_STOP_ITERATIONS: return "iterations";
    case DJ_STOP_GRADIENT: return "gradient_tolerance";
    case DJ_STOP_STEP: return "step_tolerance";
    case DJ_STOP_CALLBACK: return "interrupted";
    case DJ_STOP_STUCK: return "stuck";
    case DJ_STOP_PATIENCE: return "patience";
  }
  return "unknown";
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
  json_text(&out, "stop", stop_name(r->result.stop));
  if (!r->receding) json_integer(&out, "best_iteration", r->result.best_iteration);
  json_integer(&out, "phase_threads", r->phases->nthread);
  json_integer(&out, "evaluations", r->result.evaluations);
  json_integer(&out, "refused", r->result.refused);
  if (!r->receding) json_integer(&out, "restarts", r->result.restarts);
  json_integer(&out, "variables", r->grad.design->n);
  json_integer(&out, "steps", r->grad.problem->rollout.horizon);
  json_integer(&out, "unconverged_steps", r->unconverged[AT_END]);
  write_terms(&out, r);
  write_bias(&out, r);
  if (w->scene) json_text(&out, "scene", file_name[SCENE_XML]);
  else json_null(&out, "scene");
  if (*w->scene_note) json_text(&out, "scene_note", w->scene_note);
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
  json_list(&out, "files");
  for (int i = 0; i < NFILES; i++) {
    if (w->written[i]) json_text(&out, NULL, file_name[i]);
  }
  json_end(&out);
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
  if (r->phases->n > 1) printf("  means over %d phases of a timestep\n", r->phases->n);
  printf("  %-24s %14s %14s\n", "", "start", "result");
  printf("  %-24s %14.6g %14.6g\n", "loss", r->loss[AT_START], r->loss[AT_END]);
  for (int i = 0; i < r->grad.problem->rollout.nloss; i++) {
    printf("    %-22s %14.6g %14.6g\n",
           dj_lossEntry((int)r->grad.problem->rollout.loss[i].type)->name, r->term[AT_START][i],
           r->term[AT_END][i]);
  }
  overlap_warn(r->grad.problem, r->overlap[AT_END]);
  if (r->result.renewals > 0) {
    printf("  facets of hulls were renewed %d times; the loss jumped by %.3g at most\n",
           r->result.renewals, r->result.largest_jump);
  }
  if (w->replay.done) {
    const Largest* l = &w->replay.record.difference.position;
    char name[16];
    printf("  in MuJoCo: bodies are at most %.4g m apart (%s, at %.4g s)\n", l->max,
           scene_bodyName(name, w->replay.record.model, l->id), l->time);
  }
  if (*w->scene_note) printf("  no scene.xml: %s\n", w->scene_note);
  printf("written: %s/report.html\n", r->options->out);
}

// ---- scene.xml

static void make_scene(Outcome* w) {
  const OptimizeRun* r = &w->run;
  const char* path = r->grad.task->scene;
#ifdef DJ_HAVE_MUJOCO
  const djRollout* rollout = &r->grad.design->rollout;
  const djKeyDef key = {.name = "optimized", .qpos = rollout->qpos0, .qvel = rollout->qvel0,
                        .act = rollout->act0, .ctrl = rollout->ctrl};
  djError err = {""};
  djStatus status = djm_makeMJCF(&w->scene, path, r->grad.design->model, &key, &err);
  if (status == DJ_OK) return;
  snprintf(w->scene_note, sizeof w->scene_note, "%s", err.text);
  const char* ending = strrchr(path, '.');
  w->scene_failed = ending && strcmp(ending, ".xml") == 0;
#else
  snprintf(w->scene_note, sizeof w->scene_note, "%s: a build with MuJoCo is needed", path);
#endif
}

// Everything but the report, which shows what MuJoCo makes of the written scene.
static int write_results(Outcome* w) {
  const OptimizeRun* r = &w->run;
  Buffer text[NFILES] = {{0}};
  write_history(&text[HISTORY_CSV], r);
  write_final(&text[FINAL_JSON], r);
  int status = optimize_task(&text[TASK_JSON], r, r->options->out);
  if (r->grad.design->model->nu > 0) write_ctrl(&text[CTRL_CSV], r);
  make_scene(w);
  if (w->scene) buf_add(&text[SCENE_XML], w->scene);
  for (int i = 0; i < NFILES && !status; i++) {
    if (i == REPORT_HTML) continue;
    w->written[i] = text[i].text != NULL;
    if (w->written[i]) out_write(w->file[i], &text[i]);
    else out_discard(w->file[i]);
  }
  for (int i = 0; i < NFILES; i++) buf_free(&text[i]);
  return status;
}

static int write_report(Outcome* w) {
  const OptimizeRun* r = &w->run;
  djFile* scene = w->file[SCENE_XML];
  djError err;
  Buffer report = {0};
  if (!w->written[SCENE_XML]) {
    snprintf(w->replay.note, sizeof w->replay.note, "%.500s", w->scene_note);
  } else if (dj_finishFile(scene, &err) < 0) {
    return tool_fail(r->options->verb, NULL, NULL, "%s", err.text);
  } else if (!dj_fileTemporary(scene)) {
    snprintf(w->replay.note, sizeof w->replay.note, "scene.xml is no regular file");
  } else {
    replay_run(&w->replay, r, dj_fileTemporary(scene));
  }
  optimize_report(&report, r, &w->replay);
  out_write(w->file[REPORT_HTML], &report);
  w->written[REPORT_HTML] = true;
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
  if (w->scene_failed) {
    tool_fail(o->verb, w->run.grad.task->scene, NULL, "scene.xml is not written: %s",
              w->scene_note);
    return EXIT_NOT_HELD;
  }
  return strcmp(optimize_status(&w->run), "ok") == 0 ? 0 : EXIT_NOT_HELD;
}

int verb_optimize(const Options* o) {
  if (!o->out) return tool_fail(o->verb, NULL, "--out", "missing: a folder for the results");
  if (grad_refusesRamp(o)) return EXIT_BAD_INPUT;
  Outcome w = {0};
  int status = optimize_load(&w.run, o);
  if (!status) status = optimize(&w);
  replay_close(&w.replay);
  free(w.scene);
  optimize_free(&w.run);
  return status;
}
