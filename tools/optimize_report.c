// report.html of an optimisation: what the loss did, what the design does, what changed.

#include "optimize_run.h"

#include "chart.h"
#include "player.h"
#include "report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDE = 560, HIGH = 270, FEW = 8, ROWS = 200 };
enum { MOST_BYTES = 2000000, SHAPE_BYTES = 500000 }; // of the page, of its shapes

static const char* const mark_color = "#c2272d";

static const char own_style[] =
    ".three{display:grid;grid-template-columns:1fr 1fr 1fr;gap:10px 14px}"
    ".three h3{margin:8px 0 0}.three figure div{border:1px solid #e2dfd7;border-radius:6px;"
    "overflow:hidden;background:#fbfaf8}"
    ".two{grid-template-columns:1fr 1fr}"
    "td.n,th.n{text-align:right;white-space:nowrap}"
    "@media (max-width:900px){.three{grid-template-columns:1fr}}";

static void number_cell(Buffer* out, double value) {
  buf_addf(out, "<td class=\"n\">%.6g</td>", value);
}

// Tables end somewhere.
static void rows_left(Buffer* out, int n) {
  if (n > ROWS) buf_addf(out, "<tr><th>and %d more</th></tr>\n", n - ROWS);
}

// ---- loss

static void write_receding(Buffer* out, const OptimizeRun* r) {
  const djReceding* how = &r->how.receding;
  const djRecedingRun* run = r->receding;
  buf_addf(out, "</code>: %d windows of %d steps were optimised one after the other, each from the "
                "state that the one before left, and the first ", run->nframe, how->horizon);
  if (how->apply > 1) buf_addf(out, "%d steps of each executed.", how->apply);
  else buf_add(out, "step of each executed.");
  if (how->frame > 0) {
    buf_addf(out, " Up to step %d the controls are those of the run that this one goes on with.",
             how->frame);
  }
  if (run->next < run->horizon) {
    buf_addf(out, " From step %d on nothing is executed: shown is the plan.", run->next);
  }
}

static void write_head(Buffer* out, const OptimizeRun* r) {
  const char* task = r->options->argument[0];
  const char* status = optimize_status(r);
  buf_add(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
               "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
               "<title>DiJoCo: optimised ");
  html_text(out, task);
  buf_addf(out, "</title><style>%s%s%s</style></head><body>\n<h1>An optimised design</h1>\n",
           report_style, own_style, player_css);
  buf_add(out, "<p class=\"sub\"><code>");
  html_text(out, task);
  buf_addf(out, "</code>: %d numbers varied, %d steps of %.4g s simulated and differentiated %d "
                "times in %.3g s</p>\n",
           r->grad.design->n,
           r->receding ? r->how.receding.horizon : r->grad.problem->rollout.horizon,
           r->grad.design->model->opt.timestep, r->result.evaluations, r->wall);
  if (r->phases->nphase > 1) {
    buf_addf(out, "<p>Loss and terms are means over %d starts, moved by parts of a timestep along "
                  "their velocity; pictures show the first.</p>\n", r->phases->nphase);
  }
  if (r->grad.nscene > 1) {
    buf_addf(out, "<p>The loss is the sum of those of %d scenes, by their weights; pictures, controls "
                  "and the replay that is shown are of the first, <code>", r->grad.nscene);
    html_text(out, grad_sceneName(&r->grad, 0));
    buf_add(out, "</code>.</p>\n");
  }
  if (r->receding) {
    buf_addf(out, "<p>The loss of all %d steps goes", r->grad.problem->rollout.horizon);
  } else {
    buf_add(out, "<p>The loss falls");
  }
  buf_addf(out, " from <strong>%.4g</strong> to <strong>%.4g</strong> in %d iterations of <code>",
           r->loss[AT_START], r->loss[AT_END], r->result.iterations);
  html_text(out, r->how.type);
  if (r->receding) write_receding(out, r);
  else buf_addf(out, "</code>; the best is that of iteration %d.", r->result.best_iteration);
  if (strcmp(status, "ok") != 0) {
    buf_addf(out, " <strong>Status: %s</strong>", status);
    if (r->unconverged[AT_END] > 0) {
      buf_addf(out, " (%d steps of the result did not converge)", r->unconverged[AT_END]);
    }
    buf_add(out, ".");
  }
  buf_add(out, "</p>\n");
}

// The row at which the stage of row i ends.
static int stage_end(const OptimizeRun* r, int i) {
  int end = i + 1;
  while (end < r->nrow && r->row[end].stage == r->row[i].stage) end++;
  return end;
}

// What each stage set, and what it did.
static void stages_text(Buffer* out, const OptimizeRun* r) {
  for (int i = 0; i < r->nrow; i = stage_end(r, i)) {
    const djStage* stage = &r->stage[r->row[i].stage];
    int last = stage_end(r, i) - 1;
    double low = INFINITY;
    for (int k = i; k <= last; k++) low = fmin(low, r->row[k].loss);
    buf_addf(out, "<br/>Stage %d", r->row[i].stage + 1);
    for (int k = 0; k < stage->nset; k++) {
      buf_add(out, k ? ", " : ", which sets ");
      html_text(out, stage->set[k].name);
      if (stage->set[k].n == 1) buf_addf(out, " = %.6g", stage->set[k].value[0]);
    }
    buf_addf(out, ": %d iterations, %.4g to %.4g.", r->row[last].iteration, r->row[i].loss, low);
  }
}

static const char* const scene_color[] = {"#3a7d44", "#b7791f", "#7d3c98", "#0e7c7b"};

// Losses of each scene by the iterations, one after the other.
static double* scene_losses(const OptimizeRun* r) {
  size_t n = r->grad.nscene > 1 ? (size_t)r->grad.nscene : 0, rows = (size_t)r->nrow;
  double* loss = tool_alloc(n * rows, sizeof *loss);
  for (size_t k = 0; k < n; k++) {
    for (size_t i = 0; i < rows; i++) loss[k * rows + i] = r->row_loss[i * n + k];
  }
  return loss;
}

static void loss_chart(Buffer* out, const OptimizeRun* r) {
  size_t n = (size_t)r->nrow;
  double* x = tool_alloc(n, sizeof *x);
  double* loss = tool_alloc(n, sizeof *loss);
  double* best = tool_alloc(n, sizeof *best);
  double* each = scene_losses(r);   // of as many as have a colour
  int most = (int)(sizeof scene_color / sizeof *scene_color);
  int nscene = r->grad.nscene > 1 && r->grad.nscene <= most ? r->grad.nscene : 0;
  bool positive = true;
  double low = INFINITY, high = -INFINITY;
  for (int i = 0; i < r->nrow; i++) {
    const HistoryRow* h = &r->row[i];
    bool first = i == 0 || h->stage != h[-1].stage;   // the loss may be another one
    x[i] = r->how.nstage > 0 ? i : h->iteration;
    loss[i] = h->loss;
    best[i] = first ? loss[i] : fmin(best[i - 1], loss[i]);
    positive = positive && best[i] > 0;
    low = fmin(low, best[i]);
    high = fmax(high, loss[i]);
    for (int k = 0; k < nscene; k++) {
      double one = each[(size_t)k * n + (size_t)i];
      positive = positive && one > 0;
      low = fmin(low, one);
    }
  }
  Chart c = {.ylabel = "loss", .xlabel = "iteration", .label = "The loss over the iterations",
             .width = WIDE, .height = HIGH, .n = r->nrow, .x = x, .zero = true,
             .logarithmic = positive && high > 20 * low};
  for (int k = 0; k < nscene; k++) {
    chart_add(&c, each + (size_t)k * n, scene_color[k], false);
  }
  chart_add(&c, loss, after_color, false);
  chart_add(&c, best, mark_color, true);
  chart_legend(&c, after_color, false, "loss");
  chart_legend(&c, mark_color, true, "lowest so far");
  for (int k = 0; k < nscene; k++) {
    chart_legend(&c, scene_color[k], false, "%s", grad_sceneName(&r->grad, k));
  }
  for (int i = 0; i < r->nrow && r->how.nstage > 0; i = stage_end(r, i)) {
    chart_mark(&c, i, "stage %d", r->row[i].stage + 1);
  }
  buf_add(out, "<figure><h3>Loss</h3>\n");
  chart_draw(out, &c);
  if (r->how.nstage > 0) {
    buf_add(out, "<figcaption>Each stage starts from the result of the one before; its loss may be "
                 "another one.");
    stages_text(out, r);
    buf_add(out, "</figcaption>");
  }
  buf_add(out, "</figure>\n");
  free(x);
  free(loss);
  free(best);
  free(each);
}

// Losses of windows: each as it began and after its iterations, where there are too many for all.
static void window_chart(Buffer* out, const OptimizeRun* r) {
  enum { MANY = 2000 };
  size_t n = 0, most = (size_t)r->nrow;
  double* x = tool_alloc(most, sizeof *x);
  double* loss = tool_alloc(most, sizeof *loss);
  double* best = tool_alloc(most, sizeof *best);
  double low = INFINITY, high = -INFINITY, apply = r->how.receding.apply, lowest = 0;
  for (int i = 0; i < r->nrow; i++) {
    const HistoryRow* h = &r->row[i];
    bool first = i == 0 || h->frame != h[-1].frame;
    bool last = i + 1 == r->nrow || h[1].frame != h->frame;
    lowest = first ? h->loss : fmin(lowest, h->loss);
    if (!first && !last && r->nrow > MANY) continue;
    x[n] = h->frame + apply * h->iteration / (r->how.iterations + 1);
    loss[n] = h->loss;
    best[n] = lowest;
    low = fmin(low, lowest);
    high = fmax(high, loss[n]);
    n++;
  }
  Chart c = {.ylabel = "loss", .xlabel = "step at which the window starts",
             .label = "The loss of each window over its iterations", .width = WIDE, .height = HIGH,
             .n = (int)n, .x = x, .zero = true, .logarithmic = low > 0 && high > 20 * low};
  chart_add(&c, loss, after_color, false);
  chart_add(&c, best, mark_color, true);
  chart_legend(&c, after_color, false, "loss of a window over its iterations");
  chart_legend(&c, mark_color, true, "lowest so far");
  buf_add(out, "<figure><h3>Losses of the windows</h3>\n");
  chart_draw(out, &c);
  buf_add(out, "</figure>\n");
  free(x);
  free(loss);
  free(best);
}

static void when_text(Buffer* out, const djLossTerm* t) {
  if (t->when == DJ_WHEN_FINAL) buf_add(out, "at the end");
  else if (t->when == DJ_WHEN_STEP) buf_addf(out, "at step %d", t->step);
  else if (t->when == DJ_WHEN_EVERY) buf_addf(out, "every %d steps", t->every);
  else if (t->from > 0 || t->to > 0) buf_add(out, "for a while");
  else buf_add(out, "all the time");
}

static void terms_table(Buffer* out, const OptimizeRun* r) {
  buf_add(out, "<div><h3>Terms of the loss</h3><table><thead><tr><th></th><th></th>"
               "<th class=\"n\">start</th><th class=\"n\">result</th></tr></thead><tbody>\n");
  for (int i = 0; i < r->grad.nterm && i < ROWS; i++) {
    GradTerm one = grad_term(&r->grad, i);
    const djLossTerm* t = &one.part->problem->rollout.loss[one.term];
    buf_addf(out, "<tr><th>%s", grad_termName(&one));
    const char* name = one.part->task->loss[one.term].name;
    if (name) {
      buf_add(out, " of ");
      html_text(out, name);
    }
    if (r->grad.nscene > 1) {
      buf_add(out, " in ");
      html_text(out, one.scene);
    }
    buf_add(out, "</th><td>");
    when_text(out, t);
    buf_add(out, "</td>");
    number_cell(out, r->term[AT_START][i]);
    number_cell(out, r->term[AT_END][i]);
    buf_add(out, "</tr>\n");
  }
  rows_left(out, r->grad.nterm);
  for (int k = 0; k < r->grad.nscene && r->grad.nscene > 1; k++) {
    buf_add(out, "<tr><th><code>");
    html_text(out, grad_sceneName(&r->grad, k));
    buf_addf(out, "</code></th><td>weight %.6g</td>", r->grad.part[k].task->weight);
    number_cell(out, r->scene_loss[AT_START][k]);
    number_cell(out, r->scene_loss[AT_END][k]);
    buf_add(out, "</tr>\n");
  }
  buf_add(out, "<tr><th><strong>sum</strong></th><td></td>");
  number_cell(out, r->loss[AT_START]);
  number_cell(out, r->loss[AT_END]);
  buf_add(out, "</tr></tbody></table></div>\n");
}

// ---- controls

static void ctrl_charts(Buffer* out, const OptimizeRun* r) {
  const djModel* m = r->grad.design->model;
  size_t n = (size_t)r->grad.problem->rollout.horizon, nu = (size_t)m->nu;
  int shown = m->nu < FEW ? m->nu : FEW;
  if (shown == 0) return;
  double* x = tool_alloc(n, sizeof *x);
  double* y[2] = {tool_alloc(n, sizeof(double)), tool_alloc(n, sizeof(double))};
  for (size_t k = 0; k < n; k++) x[k] = (double)k * m->opt.timestep;
  buf_add(out, "<h2>Controls</h2>\n<div class=\"charts\">\n");
  for (int i = 0; i < shown; i++) {
    const char* name = dj_id2name(m, DJ_OBJ_ACTUATOR, i);
    char text[24];
    snprintf(text, sizeof text, "ctrl[%d]", i);
    for (size_t k = 0; k < n; k++) {
      for (int p = 0; p < 2; p++) y[p][k] = r->course[p].ctrl[k * nu + (size_t)i];
    }
    Chart c = {.ylabel = "control", .xlabel = "time (s)", .label = "A control over time",
               .width = WIDE, .height = 220, .n = (int)n, .x = x, .least = 1e-3};
    chart_add(&c, y[AT_START], before_color, true);
    chart_add(&c, y[AT_END], after_color, false);
    chart_legend(&c, before_color, true, "start");
    chart_legend(&c, after_color, false, "result");
    buf_add(out, "<figure><h3>");
    html_text(out, name && *name ? name : text);
    buf_add(out, "</h3>\n");
    chart_draw(out, &c);
    buf_add(out, "</figure>\n");
  }
  buf_add(out, "</div>\n");
  if (shown < m->nu) buf_addf(out, "<p>The first %d of %d actuators.</p>\n", shown, m->nu);
  free(x);
  free(y[0]);
  free(y[1]);
}

// ---- variables

static void entries_text(Buffer* out, const djVariable* v, const double* value) {
  if (v->nvalue > FEW) {
    double low = INFINITY, high = -INFINITY;
    for (int k = 0; k < v->nvalue; k++) {
      low = fmin(low, value[k]);
      high = fmax(high, value[k]);
    }
    buf_addf(out, "%d numbers, %.4g to %.4g", v->nvalue, low, high);
    return;
  }
  for (int k = 0; k < v->nvalue; k++) buf_addf(out, "%s%.6g", k ? ", " : "", value[k]);
}

static void variables_table(Buffer* out, const OptimizeRun* r) {
  const djProblem* p = r->grad.problem;
  buf_add(out, "<h2>Variables</h2>\n<table><thead><tr><th></th><th>start</th><th>result</th>"
               "<th class=\"n\">largest change</th></tr></thead><tbody>\n");
  for (int i = 0; i < p->nvariable && i < ROWS; i++) {
    const djVariable* v = &p->variable[i];
    double most = 0;
    for (int k = 0; k < v->nvalue; k++) {
      double d = fabs(r->value[AT_END][i][k] - r->value[AT_START][i][k]);
      if (d > most) most = d;
    }
    buf_add(out, "<tr><th><code>");
    html_text(out, v->name);
    buf_add(out, "</code></th><td>");
    entries_text(out, v, r->value[AT_START][i]);
    buf_add(out, "</td><td>");
    entries_text(out, v, r->value[AT_END][i]);
    buf_add(out, "</td>");
    number_cell(out, most);
    buf_add(out, "</tr>\n");
  }
  rows_left(out, p->nvariable);
  buf_add(out, "</tbody></table>\n<p>All values are in <code>final.json</code>; "
               "<code>task.json</code> starts from them.</p>\n");
}

// ---- replay

// A row for each scene after the first.
static void other_replays(Buffer* out, const OptimizeRun* r, const Replay* replay) {
  char name[16];
  if (replay->nother == 0) return;
  buf_addf(out, "<p>That was <code>");
  html_text(out, grad_sceneName(&r->grad, 0));
  buf_add(out, "</code>. The other scenes:</p>\n<table><tr><th></th><th>position</th>"
               "<th>rotation</th><th></th></tr>\n");
  for (int k = 1; k <= replay->nother; k++) {
    const OtherReplay* other = &replay->other[k - 1];
    const Differences* d = &other->difference;
    buf_add(out, "<tr><td><code>");
    html_text(out, grad_sceneName(&r->grad, k));
    buf_add(out, "</code></td><td>");
    if (other->done) report_quantity(out, d->position.max, "m");
    buf_add(out, "</td><td>");
    if (other->done) report_quantity(out, d->rotation.max, "rad");
    buf_add(out, "</td><td>");
    if (other->done) {
      html_text(out, scene_bodyName(name, r->grad.part[k].design->model, d->position.id));
      buf_addf(out, ", at %.4g s", d->position.time);
    }
    if (*other->note) buf_add(out, " ");
    html_text(out, other->note);
    buf_add(out, "</td></tr>\n");
  }
  buf_add(out, "</table>\n");
}

static void write_again(Buffer* out, const Again* a) {
  buf_add(out, "<h2>Run again</h2>\n<p>");
  if (!a->done) {
    buf_add(out, "What was written was not run again: ");
    html_text(out, a->why);
    buf_add(out, ".</p>\n");
    return;
  }
  buf_addf(out, "What was written, <code>dijoco grad replay.json</code>, gives the loss %.10g: ",
           a->loss);
  if (again_same(a)) {
    buf_add(out, "that of the result.</p>\n");
    return;
  }
  buf_addf(out, "another one than the result by %.2g of it (", a->difference);
  html_text(out, a->why);
  buf_add(out, ").</p>\n");
}

static void write_replay(Buffer* out, const Replay* replay) {
  buf_add(out, "<h2>In MuJoCo</h2>\n<p>");
  if (!replay->done) {
    buf_add(out, "There is no replay: ");
    html_text(out, replay->note);
    buf_add(out, ".</p>\n");
    return;
  }
  const Record* record = &replay->record;
  const Differences* d = &record->difference;
  char name[16];
  const char* mujoco = scene_mujocoVersion();
  buf_addf(out, "Stock MuJoCo %s loads <code>scene.xml</code>, which holds the optimised design, "
                "and replays it from keyframe <code>optimized</code> with the same controls. "
                "Bodies are at most <strong>",
           mujoco ? mujoco : "");
  report_quantity(out, d->position.max, "m");
  buf_add(out, "</strong> apart (");
  html_text(out, scene_bodyName(name, record->model, d->position.id));
  buf_addf(out, ", at %.4g s), and turned by at most ", d->position.time);
  report_quantity(out, d->rotation.max, "rad");
  buf_add(out, " against each other. Its contact is softer, so bodies that slide, roll or bounce "
               "end elsewhere.");
  if (*replay->note) {
    buf_add(out, " <strong>");
    html_text(out, replay->note);
    buf_add(out, "</strong>.");
  }
  buf_add(out, "</p>\n");
  Chart c = {.ylabel = "distance (m)", .xlabel = "time (s)",
             .label = "Largest distance of a body from its place in MuJoCo", .width = WIDE,
             .height = 220, .n = record->nsample, .x = record->time, .zero = true};
  chart_add(&c, record->apart, mujoco_color, false);
  buf_add(out, "<div class=\"charts\"><figure><h3>Largest distance of a body from its place in "
               "MuJoCo</h3>\n");
  chart_draw(out, &c);
  buf_add(out, "</figure></div>\n");
}

void optimize_report(Buffer* out, const OptimizeRun* r, const Replay* replay, const Again* again) {
  write_head(out, r);
  buf_add(out, "<div class=\"charts\">\n");
  if (r->receding) window_chart(out, r);
  else loss_chart(out, r);
  terms_table(out, r);
  buf_add(out, "</div>\n");
  Buffer rest = {0};
  optimize_shapes(&rest, r, SHAPE_BYTES);
  ctrl_charts(&rest, r);
  variables_table(&rest, r);
  write_again(&rest, again);
  write_replay(&rest, replay);
  other_replays(&rest, r, replay);
  buf_add(&rest, "</body></html>\n");
  size_t used = out->size + rest.size;
  optimize_pictures(out, r, replay, used < MOST_BYTES ? MOST_BYTES - used : 0);
  buf_add(out, rest.text);
  buf_free(&rest);
}
