// dijoco landscape: losses of tasks, and their gradients, along one entry of a variable.

#include "chart.h"
#include "grad_run.h"
#include "output.h"
#include "progress.h"
#include "verbs.h"
#include "warn.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDE = 820, HIGH = 360, DEFAULT_SAMPLES = 101 };

static const char* const colors[] = {"#1f5fa8", "#d9721e", "#2b8a3e", "#9c36b5",
                                     "#c92a2a", "#0b7285", "#5c4b00", "#555555"};
enum { NCOLOR = sizeof colors / sizeof colors[0] };

// One task's samples.
typedef struct Line {
  const char* task;
  GradRun run;
  djLandscape of;
  double *values, *loss, *gradient, *reconstructed; // (n)
} Line;

typedef struct Lines {
  const Options* o;
  int nline, n, index;
  double from, to;
  Line* line;
} Lines;

// ---- evaluation -------------------------------------------------------------------------------

// "A,B".
static bool read_range(double* from, double* to, const char* text) {
  char first[64];
  size_t n = strcspn(text, ",");
  if (text[n] != ',' || n >= sizeof first) return false;
  memcpy(first, text, n);
  first[n] = 0;
  return tool_number(from, first) && tool_number(to, text + n + 1) && isfinite(*from) &&
         isfinite(*to) && *from != *to;
}

static int variable_of(const GradRun* g, const char* name) {
  for (int i = 0; i < g->problem->nvariable; i++) {
    if (strcmp(g->problem->variable[i].name, name) == 0) return i;
  }
  return -1;
}

static int evaluate(Line* line, const Lines* all) {
  GradRun* g = &line->run;
  djError err = {""};
  const Options* o = all->o;
  const int variable = variable_of(g, o->variable);
  if (variable < 0) {
    return tool_fail(o->verb, line->task, "--variable", "the task has no variable '%s'",
                     o->variable);
  }
  const int* adr = g->design->adr + variable;
  if (all->index >= adr[1] - adr[0]) {
    return tool_fail(o->verb, line->task, "--index", "'%s' has %d entries that vary", o->variable,
                     adr[1] - adr[0]);
  }
  const size_t n = (size_t)all->n;
  double** const array[] = {&line->values, &line->loss, &line->gradient, &line->reconstructed};
  for (int k = 0; k < 4; k++) *array[k] = tool_alloc(n, sizeof **array[k]);
  progress_show("sampling", 0, 0, "%d losses of %s", all->n, line->task);
  const djStatus status =
      djd_landscape(&line->of, line->values, line->loss, line->gradient, line->reconstructed,
                    all->n, g->sum, adr[0] + all->index, all->from, all->to, &err);
  progress_end();
  return status < 0 ? tool_fail(o->verb, line->task, NULL, "%s", err.text) : 0;
}

static int load(Line* line, const Options* o) {
  Options one = *o; // messages name the first argument
  one.argument[0] = line->task;
  int status = grad_load(&line->run, o, line->task);
  for (int k = 0; k < line->run.nscene && !status; k++) {
    warn_scene(&line->run.part[k].scene, &one);
  }
  return status;
}

// ---- output -----------------------------------------------------------------------------------

// What of damped contact is switched off to see what it is for.
static int ablations(const char* name[3], const djModel* m) {
  int n = 0;
  if (m->opt.contact != DJ_DAMPED) return 0;
  if (!m->opt.invariant) name[n++] = "invariant = false";
  if (!m->opt.coordinate_derivative) name[n++] = "coordinate_derivative = false";
  if (m->contact.alpha == 0) name[n++] = "alpha = 0";
  return n;
}

static void write_line(Json* out, const Line* line, const Lines* all) {
  const djLandscape* of = &line->of;
  const char* without[3];
  const int nwithout = ablations(without, line->run.scene.model);
  const size_t n = (size_t)all->n;
  json_object(out, NULL);
  json_text(out, "task", line->task);
  json_text(out, "variable", all->o->variable);
  json_integer(out, "index", all->index);
  json_vector(out, "values", n, line->values);
  json_vector(out, "loss", n, line->loss);
  json_vector(out, "gradient", n, line->gradient);
  json_vector(out, "reconstructed", n, line->reconstructed);
  json_number(out, "range", of->range);
  json_integer(out, "sign_changes", of->sign_changes);
  json_number(out, "total_variation", of->total_variation);
  json_number(out, "gradient_total_variation", of->gradient_total_variation);
  json_number(out, "reconstruction_error", of->reconstruction_error);
  json_integer(out, "missing", of->missing);
  json_integer(out, "unconverged", of->unconverged);
  json_list(out, "ablations");
  for (int k = 0; k < nwithout; k++) json_text(out, NULL, without[k]);
  json_end(out);
  scene_writeSettings(out, &line->run.scene, all->o);
  json_end(out);
}

static void write_json(Buffer* text, const Lines* all) {
  Json out;
  json_start(&out, text);
  if (all->nline > 1) json_list(&out, NULL);
  for (int k = 0; k < all->nline; k++) write_line(&out, &all->line[k], all);
  if (all->nline > 1) json_end(&out);
}

// The name of a task's file, and what is switched off.
static void legend(Chart* chart, const Line* line, int k) {
  const char *without[3], *slash = strrchr(line->task, '/');
  const int n = ablations(without, line->run.scene.model);
  chart_legend(chart, colors[k % NCOLOR], false, "%.40s%s", slash ? slash + 1 : line->task,
               n > 0 ? " (ablation)" : "");
}

static void draw(Buffer* out, const Lines* all, bool gradient) {
  Chart chart = {.ylabel = gradient ? "gradient" : "loss",
                 .xlabel = all->o->variable,
                 .label = gradient ? "gradient of each task" : "loss of each task",
                 .width = WIDE,
                 .height = HIGH,
                 .n = all->n,
                 .x = all->line[0].values};
  for (int k = 0; k < all->nline; k++) {
    const Line* line = &all->line[k];
    chart_add(&chart, gradient ? line->gradient : line->loss, colors[k % NCOLOR], false);
    legend(&chart, line, k);
  }
  chart_draw(out, &chart);
}

// Both charts in one picture, one below the other.
static void write_svg(Buffer* out, const Lines* all) {
  buf_addf(
      out,
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
      "viewBox=\"0 0 %d %d\">\n<style>text{font:12px sans-serif;fill:#444}"
      ".grid line{stroke:#e8e5de}.grid line.tick{stroke:#888}polyline,path{fill:none}</style>\n"
      "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
      WIDE, 2 * HIGH, WIDE, 2 * HIGH);
  for (int k = 0; k < 2; k++) {
    buf_addf(out, "<svg y=\"%d\" width=\"%d\" height=\"%d\">\n", k * HIGH, WIDE, HIGH);
    draw(out, all, k == 1);
    buf_add(out, "</svg>\n");
  }
  buf_add(out, "</svg>\n");
}

static int write_files(const Lines* all, const Buffer* json) {
  const Options* o = all->o;
  if (!out_folder(o->out)) return tool_fail(o->verb, o->out, NULL, "cannot be made");
  Buffer svg = {0}, copy = {0};
  buf_addn(&copy, json->text, json->size);
  write_svg(&svg, all);
  if (!out_addIn(o->verb, o->out, "landscape.json", &copy)) return EXIT_BAD_INPUT;
  if (!out_addIn(o->verb, o->out, "landscape.svg", &svg)) return EXIT_BAD_INPUT;
  return out_commit(o->verb);
}

static void print_text(const Lines* all) {
  printf("%s[%d] from %g to %g, %d values\n\n", all->o->variable, all->index, all->from, all->to,
         all->n);
  printf("%-36s %12s %8s %12s %12s %12s\n", "task", "range", "changes", "variation", "of gradient",
         "reconstr.");
  for (int k = 0; k < all->nline; k++) {
    const Line* line = &all->line[k];
    const djLandscape* of = &line->of;
    const char* without[3];
    const int n = ablations(without, line->run.scene.model);
    printf("%-36.36s %12.6g %8d %12.6g %12.6g %12.3g\n", line->task, of->range, of->sign_changes,
           of->total_variation, of->gradient_total_variation, of->reconstruction_error);
    for (int i = 0; i < n; i++) printf("  ablation: %s\n", without[i]);
    if (of->missing) printf("  %d samples without a loss or a gradient\n", of->missing);
    if (of->unconverged) printf("  %d samples with unconverged steps\n", of->unconverged);
  }
  if (all->o->out) printf("written: %s/landscape.json, landscape.svg\n", all->o->out);
}

static int answer(const Lines* all) {
  Buffer text = {0};
  write_json(&text, all);
  int status = all->o->out ? write_files(all, &text) : 0;
  if (!status && all->o->json) opt_print(&text);
  if (!status && !all->o->json) print_text(all);
  buf_free(&text);
  for (int k = 0; k < all->nline && !status; k++) {
    const djLandscape* of = &all->line[k].of;
    if (of->missing || of->unconverged) status = EXIT_NOT_HELD;
  }
  return status;
}

static int check_options(Lines* all, const Options* o) {
  if (o->nargument == 0) return tool_fail(o->verb, NULL, "TASK", "missing");
  if (!o->variable) return tool_fail(o->verb, NULL, "--variable", "missing");
  if (!o->range) return tool_fail(o->verb, NULL, "--range", "missing");
  if (!read_range(&all->from, &all->to, o->range)) {
    return tool_fail(o->verb, NULL, "--range", "expected two different numbers A,B, not '%s'",
                     o->range);
  }
  all->index = o->index > 0 ? (int)o->index : 0;
  all->n = o->count > 0 ? (int)o->count : DEFAULT_SAMPLES;
  return all->n < 2 ? tool_fail(o->verb, NULL, "--samples", "expected two or more") : 0;
}

int verb_landscape(const Options* o) {
  Lines all = {.o = o, .nline = o->nargument};
  if (grad_refusesRamp(o)) return EXIT_BAD_INPUT;
  int status = check_options(&all, o);
  if (status) return status;
  all.line = tool_alloc((size_t)all.nline, sizeof *all.line);
  for (int k = 0; k < all.nline && !status; k++) {
    all.line[k].task = o->argument[k];
    status = load(&all.line[k], o);
    if (!status) status = evaluate(&all.line[k], &all);
  }
  if (!status) status = answer(&all);
  for (int k = 0; k < all.nline; k++) {
    Line* line = &all.line[k];
    free(line->values);
    free(line->loss);
    free(line->gradient);
    free(line->reconstructed);
    if (line->run.options) grad_free(&line->run);
  }
  free(all.line);
  return status;
}
