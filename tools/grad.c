// dijoco grad: a task's loss and its gradient by the task's variables, with a certificate.

#include "engine.h"
#include "grad_lead.h"
#include "grad_run.h"
#include "output.h"
#include "overlap.h"
#include "progress.h"
#include "verbs.h"
#include "warn.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Answer {
  GradRun run;
  int ncertificate;
  djdCertificate* certificate;  // one per variable
  double* spread;               // likewise: over phases
  double overlap;               // share of bodies' volumes that counts twice
} Answer;

// Whether the gradient is that of other physics than the run's.
static bool is_surrogate(const Answer* a) {
  for (int k = 0; k < a->run.nscene; k++) {
    if (djd_isSurrogate(a->run.part[k].design)) return true;
  }
  return false;
}

static bool all_passed(const Answer* a) {
  for (int i = 0; i < a->ncertificate; i++) {
    if (!a->certificate[i].passed && !a->certificate[i].surrogate) return false;
  }
  return true;
}

static const char* status_name(const Answer* a) {
  if (a->run.singular) return "singular";
  if (a->run.unconverged_steps > 0) return "no_convergence";
  return all_passed(a) ? "ok" : "check_failed";
}

static void write_shape(Json* out, const GradRun* g, const djVariable* v) {
  double rows_and_columns[2] = {g->problem->rollout.horizon, g->scene.model->nu};
  double entries = v->picked ? v->n : v->ntangent;
  bool table = v->kind == DJ_VAR_CTRL && !v->picked;
  json_vector(out, "shape", table ? 2 : 1, table ? rows_and_columns : &entries);
}

static void write_variable(Json* out, const GradRun* g, int variable) {
  const djVariable* v = &g->problem->variable[variable];
  double* value = grad_value(g, variable);
  json_object(out, NULL);
  json_text(out, "name", v->name);
  write_shape(out, g, v);
  if (v->picked && v->nvalue == v->ntangent) {
    double* picked = tool_alloc((size_t)v->n, sizeof *picked);
    for (int k = 0; k < v->n; k++) picked[k] = value[v->index[k]];
    json_vector(out, "value", (size_t)v->n, picked);
    free(picked);
  } else {
    json_vector(out, "value", (size_t)v->nvalue, value);
  }
  json_vector(out, "gradient", (size_t)v->n, grad_of(g, variable));
  json_end(out);
  free(value);
}

static void write_text(Json* out, const char* name, const char* text) {
  if (*text) json_text(out, name, text);
  else json_null(out, name);
}

// Slopes towards smaller and larger values, null where there is none.
static void write_sides(Json* out, const djdCertificate* c) {
  json_list(out, "one_sided");
  for (int k = 0; k < 2; k++) {
    if (isfinite(c->one_sided[k])) json_number(out, NULL, c->one_sided[k]);
    else json_null(out, NULL);
  }
  json_end(out);
}

static void write_certificate(Json* out, const Answer* a) {
  json_list(out, "certificate");
  for (int i = 0; i < a->ncertificate; i++) {
    const djdCertificate* c = &a->certificate[i];
    json_object(out, NULL);
    json_text(out, "name", a->run.problem->variable[i].name);
    json_number(out, "analytic", c->analytic);
    json_number(out, "difference", c->difference);
    json_number(out, "relative_error", c->relative_error);
    if (c->has_slope) json_number(out, "slope", c->slope);
    else json_null(out, "slope");
    if (c->surrogate) json_null(out, "passed");   // these are not to agree
    else json_bool(out, "passed", c->passed);
    json_bool(out, "surrogate", c->surrogate);
    json_number(out, "difference_error", c->difference_error);
    json_number(out, "step", c->step);
    json_number(out, "uncertainty", c->uncertainty);
    json_list(out, "touched");
    for (int k = 0; k < DJ_NKINK; k++) {
      if (c->touched >> k & 1) json_text(out, NULL, dj_kinkName(k));
    }
    json_end(out);
    write_text(out, "kink", c->kink);
    write_sides(out, c);
    write_text(out, "gave_up", c->gave_up);
    json_integer(out, "runs", c->evaluations);
    if (isfinite(a->spread[i])) json_number(out, "spread", a->spread[i]);
    else json_null(out, "spread");
    lead_write(out, c);
    json_end(out);
  }
  json_end(out);
}

static void write_json(Buffer* text, const Answer* a) {
  const GradRun* g = &a->run;
  const djProblem* p = g->problem;
  Json out;
  json_start(&out, text);
  json_object(&out, NULL);
  json_text(&out, "status", status_name(a));
  json_number(&out, "loss", g->loss);
  json_bool(&out, "surrogate", is_surrogate(a));
  json_list(&out, "terms");
  for (int i = 0; i < g->nterm; i++) {
    GradTerm t = grad_term(g, i);
    json_object(&out, NULL);
    if (t.scene) json_text(&out, "scene", t.scene);
    json_text(&out, "type", grad_termName(&t));
    json_number(&out, "value", g->term[i]);
    json_end(&out);
  }
  json_end(&out);
  grad_writeScenes(&out, g, g->scene_loss, NULL);
  json_list(&out, "variables");
  for (int i = 0; i < p->nvariable; i++) write_variable(&out, g, i);
  json_end(&out);
  json_text(&out, "inertia", dj_inertiaRuleName(p->inertia_from_geom));
  json_number(&out, "overlap", a->overlap);
  json_integer(&out, "steps", grad_steps(g));
  json_integer(&out, "unconverged_steps", g->unconverged_steps);
  json_integer(&out, "fallback_steps", g->fallback_steps);
  json_integer(&out, "recovering_steps", g->recovering_steps);
  json_number(&out, "worst_residual", g->worst_residual);
  if (g->options->check) write_certificate(&out, a);
  json_number(&out, "worst_condition", g->worst_condition);
  scene_writeSettings(&out, &g->scene, g->options);
  json_object(&out, "time");
  json_number(&out, "forward_s", g->forward);
  json_number(&out, "backward_s", g->backward);
  json_end(&out);
  json_end(&out);
}

static void print_variables(const GradRun* g) {
  const djProblem* p = g->problem;
  printf("\n%-34s %8s %14s %14s\n", "variable", "entries", "|gradient|", "largest entry");
  for (int i = 0; i < p->nvariable; i++) {
    const djVariable* v = &p->variable[i];
    double sum = 0, most = 0;
    for (int k = 0; k < v->n; k++) {
      double x = grad_of(g, i)[k];
      sum += x * x;
      if (!(fabs(x) <= fabs(most))) most = x;
    }
    printf("%-34.34s %8d %14.6g %14.6g\n", v->name, v->n, sqrt(sum), most);
  }
}

static const char* verdict(const djdCertificate* c) {
  if (c->surrogate) return "surrogate";
  return c->passed ? "passed" : *c->gave_up ? "GAVE UP" : "FAILED";
}

// Text in lines of at most 100 columns, the first of which begins with "what: name: ".
static void print_note(const char* what, const char* name, const char* text) {
  int column = printf("%s: %.40s:", what, name);
  while (*text) {
    int n = (int)strcspn(text, " ");
    if (column + 1 + n > 99) column = printf("\n ") - 1;
    column += printf(" %.*s", n, text);
    text += n + (text[n] == ' ');
  }
  printf("\n");
}

// What kinks and certificates without a verdict are about.
static void print_notes(const Answer* a) {
  for (int i = 0; i < a->ncertificate; i++) {
    const djdCertificate* c = &a->certificate[i];
    const char* name = a->run.problem->variable[i].name;
    char text[sizeof c->kink + 80];
    if (*c->kink) {
      snprintf(text, sizeof text, "%s; slopes %.6g below, %.6g above", c->kink, c->one_sided[0],
               c->one_sided[1]);
      print_note("kink", name, text);
    }
    if (*c->gave_up && !c->surrogate) print_note("gave up", name, c->gave_up);
  }
}

// Kinks that the differences are about.
static void print_touched(const Answer* a) {
  bool any = false;
  for (int i = 0; i < a->ncertificate; i++) {
    const unsigned touched = a->certificate[i].touched;
    if (!touched) continue;
    printf("touched: %s:", a->run.problem->variable[i].name);
    for (int k = 0; k < DJ_NKINK; k++) {
      if (touched >> k & 1) printf(" %s", dj_kinkName(k));
    }
    printf("\n");
    any = true;
  }
  if (!any) return;
  printf("touched: runs within ten steps of a difference cross sets at which penalty contact has\n"
         "  kinks: first touch of a point (touch), end of its normal force (release), end of\n"
         "  sticking (slip), other pieces of a distance field (ridge). There a gradient is that of\n"
         "  one side.\n");
}

static void print_leads(const Answer* a) {
  const char** name = tool_alloc((size_t)a->ncertificate, sizeof *name);
  for (int i = 0; i < a->ncertificate; i++) name[i] = a->run.problem->variable[i].name;
  lead_print(a->ncertificate, name, a->certificate, is_surrogate(a));
  free(name);
}

static void print_certificate(const Answer* a) {
  printf("\n%-24s %15s %15s %10s %7s %9s  %s\n", "check along one direction", "gradient",
         "difference", "rel. error", "slope", "spread", "");
  for (int i = 0; i < a->ncertificate; i++) {
    const djdCertificate* c = &a->certificate[i];
    char slope[16] = "-";
    if (c->has_slope) snprintf(slope, sizeof slope, "%.3f", c->slope);
    char spread[24] = "-";
    if (isfinite(a->spread[i])) snprintf(spread, sizeof spread, "%.2g", a->spread[i]);
    printf("%-25.25s %15.9g %15.9g %10.1e %7s %9s  %s\n", a->run.problem->variable[i].name,
           c->analytic, c->difference, c->relative_error, slope, spread,
           verdict(c));
  }
  print_notes(a);
  print_touched(a);
  printf("spread: the gradient's standard deviation over %d starts, moved by parts of a timestep\n"
         "  along their velocity, by the size of its mean.\n",
         SPREAD_PHASES);
  if (is_surrogate(a)) {
    printf("surrogate: not tested, as differences are of runs, the gradients of other steps: with a guide\n"
           "  (guide_backward_only), or with smoother contact (derivatives).\n");
  }
  printf("largest condition number of a step's Jacobian: %.2g\n", a->run.worst_condition);
  if (a->ncertificate > 0) print_leads(a);
}

static void print_text(const Answer* a) {
  const GradRun* g = &a->run;
  printf("%s: %s\n", g->options->argument[0], status_name(a));
  printf("  loss %.10g after %d steps, %d of them unconverged, worst residual %.2g\n",
         g->loss, grad_steps(g), g->unconverged_steps,
         g->worst_residual);
  printf("  forward %.3g s, backward %.3g s\n", g->forward, g->backward);
  for (int i = 0; i < g->nterm; i++) {
    GradTerm t = grad_term(g, i);
    printf("  term %-14s %.10g", grad_termName(&t), g->term[i]);
    if (t.scene) printf("  of %s", t.scene);
    printf("\n");
  }
  overlap_warn(g->problem, a->overlap);
  scene_printIdle(g->scene.model);
  print_variables(g);
  if (g->options->check) print_certificate(a);
  if (g->options->out) printf("written: %s\n", g->options->out);
  Failures f = engine_failures(grad_steps(g), g->unconverged_steps, g->fallback_steps,
                               g->recovering_steps, g->scene.model);
  if (*f.text) printf("warning: %s\n", f.text);
}

static int answer(Answer* a) {
  const Options* o = a->run.options;
  djFile* file = o->out ? out_open(o->verb, o->out) : NULL;
  int status = o->out && !file ? EXIT_BAD_INPUT : grad_compute(&a->run);
  if (status) return status;
  a->overlap = overlap_share(a->run.design->model);
  if (o->check && !a->run.singular) {
    a->certificate = tool_alloc((size_t)a->run.problem->nvariable, sizeof *a->certificate);
    unsigned long seed = o->check_seed > 0 ? (unsigned long)o->check_seed : 0;
    const int n = a->run.problem->nvariable;
    long taken = 0;
    for (int i = 0; i < n; i++) {
      int most = djd_checkBudget(i + 1, (int)o->check_runs, taken);
      grad_certify(&a->certificate[i], &a->run, i, seed, most);
      taken += a->certificate[i].evaluations;
      a->ncertificate++;
    }
    a->spread = tool_alloc((size_t)a->run.problem->nvariable, sizeof *a->spread);
    status = grad_spread(a->spread, &a->run);
    progress_end();
    if (status) return status;
  }
  Buffer text = {0};
  write_json(&text, a);
  if (file) {
    out_write(file, &text);
    status = out_commit(o->verb);
  }
  if (!status && o->json) opt_print(&text);
  if (!status && !o->json) print_text(a);
  buf_free(&text);
  if (!status && strcmp(status_name(a), "ok") != 0) status = EXIT_NOT_HELD;
  return status;
}

int verb_grad(const Options* given) {
  Options o = *given;
  if (o.check_seed >= 0 || o.check_runs > 0) o.check = true;
  if (grad_refusesRamp(&o)) return EXIT_BAD_INPUT;
  Answer a = {0};
  int status = grad_load(&a.run, &o, o.argument[0]);
  for (int k = 0; k < a.run.nscene && !status; k++) warn_scene(&a.run.part[k].scene, &o);
  if (!status) status = answer(&a);
  free(a.certificate);
  free(a.spread);
  grad_free(&a.run);
  return status;
}
