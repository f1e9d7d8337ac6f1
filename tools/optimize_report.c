// report.html of an optimisation: what the loss did, what the design does, what changed.

#include "optimize_run.h"

#include "chart.h"
#include "report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIMES = 4, PICTURE_WIDE = 360, PICTURE_HIGH = 270 };
enum { WIDE = 560, HIGH = 270, FEW = 8, POINTS = 300, ARROWS = 30 };

static const char* const before_color = "#8a8578";
static const char* const after_color = "#1f5fa8";
static const char* const mujoco_color = "#d9721e";
static const char* const mark_color = "#c2272d";
static const char* const tail_color = "#7a3fa0";

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
  buf_addf(out, "</title><style>%s%s</style></head><body>\n<h1>An optimised design</h1>\n",
           report_style, own_style);
  buf_add(out, "<p class=\"sub\"><code>");
  html_text(out, task);
  buf_addf(out, "</code>: %d numbers varied, %d steps of %.4g s simulated and differentiated %d "
                "times in %.3g s</p>\n",
           r->grad.design->n,
           r->receding ? r->how.receding.horizon : r->grad.problem->rollout.horizon,
           r->grad.design->model->opt.timestep, r->result.evaluations, r->wall);
  if (r->phases->n > 1) {
    buf_addf(out, "<p>Loss and terms are means over %d starts, moved by parts of a timestep along "
                  "their velocity; pictures show the first.</p>\n", r->phases->n);
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

static void loss_chart(Buffer* out, const OptimizeRun* r) {
  size_t n = (size_t)r->nrow;
  double* x = tool_alloc(n, sizeof *x);
  double* loss = tool_alloc(n, sizeof *loss);
  double* best = tool_alloc(n, sizeof *best);
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
  }
  Chart c = {.ylabel = "loss", .xlabel = "iteration", .label = "The loss over the iterations",
             .width = WIDE, .height = HIGH, .n = r->nrow, .x = x, .zero = true,
             .logarithmic = positive && high > 20 * low};
  chart_add(&c, loss, after_color, false);
  chart_add(&c, best, mark_color, true);
  chart_legend(&c, after_color, false, "loss");
  chart_legend(&c, mark_color, true, "lowest so far");
  buf_add(out, "<figure><h3>Loss</h3>\n");
  chart_draw(out, &c);
  buf_add(out, "</figure>\n");
  free(x);
  free(loss);
  free(best);
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
  const djRollout* rollout = &r->grad.problem->rollout;
  buf_add(out, "<div><h3>Terms of the loss</h3><table><thead><tr><th></th><th></th>"
               "<th class=\"n\">start</th><th class=\"n\">result</th></tr></thead><tbody>\n");
  for (int i = 0; i < rollout->nloss; i++) {
    const djLossTerm* t = &rollout->loss[i];
    buf_addf(out, "<tr><th>%s", dj_lossEntry((int)t->type)->name);
    const char* name = r->grad.task->loss[i].name;
    if (name) {
      buf_add(out, " of ");
      html_text(out, name);
    }
    buf_add(out, "</th><td>");
    when_text(out, t);
    buf_add(out, "</td>");
    number_cell(out, r->term[AT_START][i]);
    number_cell(out, r->term[AT_END][i]);
    buf_add(out, "</tr>\n");
  }
  buf_add(out, "<tr><th><strong>sum</strong></th><td></td>");
  number_cell(out, r->loss[AT_START]);
  number_cell(out, r->loss[AT_END]);
  buf_add(out, "</tr></tbody></table></div>\n");
}

// ---- pictures

typedef struct Column {
  const char* title;
  const char* color;
  const djModel* model;
  int n;                // samples
  int stride;           // steps from one to the next
  const double* xpos;
  const double* xquat;
  const double* qpos;   // or NULL: no forces of a guide are drawn
} Column;

// The sample of step k.
static int column_sample(const Column* c, int k) {
  int sample = (k + c->stride - 1) / c->stride;
  return sample < c->n ? sample : c->n - 1;
}

static Poses column_poses(const Column* c, const djModel* m, int k) {
  size_t at = (size_t)column_sample(c, k) * (size_t)m->nbody;
  return (Poses){c->xpos + 3 * at, c->xquat + 4 * at};
}

// The body whose path is drawn: of the first term that has a place, else the last moving one.
static int traced_body(const OptimizeRun* r) {
  const djRollout* rollout = &r->grad.problem->rollout;
  const djModel* m = r->grad.design->model;
  for (int i = 0; i < rollout->nloss; i++) {
    const djLossTerm* t = &rollout->loss[i];
    if (t->type == DJ_LOSS_DISTANCE || t->type == DJ_LOSS_VELOCITY) return t->id;
    if (t->type != DJ_LOSS_POSITION) continue;
    if (t->object == DJ_OBJ_SITE) return m->site_body[t->id];
    if (t->object == DJ_OBJ_GEOM) return m->geom_body[t->id];
    return t->id;
  }
  int body = 0;
  for (int b = 1; b < m->nbody; b++) {
    if (m->body_lastdof[b] >= 0) body = b;
  }
  return body;
}

// Points of a path from one to the next, in samples: long ones are thinned out.
static int path_stride(const Column* c) { return (c->n + POINTS - 1) / POINTS; }

static double* body_path(int* n, const Column* c, const djModel* m, int body) {
  double* path = tool_alloc(3 * (size_t)c->n, sizeof *path);
  *n = 0;
  for (int i = 0; i < c->n; i += path_stride(c)) {
    memcpy(path + 3 * (*n)++, c->xpos + 3 * ((size_t)i * (size_t)m->nbody + (size_t)body),
           3 * sizeof *path);
  }
  return path;
}

// Targets in space.
static int find_targets(Mark* mark, const djRollout* rollout) {
  int n = 0;
  for (int i = 0; i < rollout->nloss && n < FEW; i++) {
    const djLossTerm* t = &rollout->loss[i];
    if (t->type != DJ_LOSS_POSITION && t->type != DJ_LOSS_COM) continue;
    mark[n++] = (Mark){1, t->target, mark_color, false};
  }
  return n;
}

// Motion that stays near a table is seen from above.
static double choose_elevation(const djModel* m, const Column* column, int n) {
  double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
  for (int k = 0; k < n; k++) {
    for (int i = 0; i < column[k].n * m->nbody; i++) {
      if (m->body_lastdof[i % m->nbody] < 0) continue;
      for (int j = 0; j < 3; j++) {
        low[j] = fmin(low[j], column[k].xpos[3 * i + j]);
        high[j] = fmax(high[j], column[k].xpos[3 * i + j]);
      }
    }
  }
  double wide = fmin(high[0] - low[0], high[1] - low[1]);
  return high[2] - low[2] < 0.5 * wide ? 0.95 : 0.32;
}

static void write_pictures(Buffer* out, const OptimizeRun* r, const Column* column, int ncolumn) {
  const djModel* m = r->grad.design->model;
  const djRollout* rollout = &r->grad.problem->rollout;
  const double h = m->opt.timestep;
  int body = traced_body(r), ntarget;
  Mark mark[FEW + 1 + ARROWS];
  Tail* tail = tail_open(r);
  ntarget = find_targets(mark, rollout);
  Poses all[3 * TIMES];
  int n = 0;
  for (int i = 0; i < TIMES; i++) {
    int step = (int)lround((double)i * rollout->horizon / (TIMES - 1));
    for (int k = 0; k < ncolumn; k++) all[n++] = column_poses(&column[k], m, step);
  }
  Camera c = camera_lookFrom(m, n, all, PICTURE_WIDE, PICTURE_HIGH,
                             choose_elevation(m, column, ncolumn));
  for (int k = 0; k < ntarget; k++) camera_include(&c, 1, mark[k].point);
  double* path[3];
  for (int k = 0; k < ncolumn; k++) {
    int npoint;
    path[k] = body_path(&npoint, &column[k], m, body);
    camera_include(&c, npoint, path[k]);
  }
  char text[16];
  buf_add(out, "<h2>Before and after</h2>\n<p>");
  if (ntarget > 0) buf_addf(out, "The red ring%s mark%s the target. ", ntarget > 1 ? "s" : "",
                            ntarget > 1 ? "" : "s");
  buf_add(out, "Lines are paths of ");
  html_text(out, scene_bodyName(text, m, body));
  buf_add(out, " up to the time shown. What cannot move is grey.");
  if (tail) {
    buf_add(out, " Purple lines, from the bodies, are forces of the guide's tail; the longest of a "
                 "picture have the same length, the others go by the root of their size.");
  }
  buf_add(out, "</p>\n");
  picture_defs(out);
  buf_addf(out, "<div class=\"three%s\">\n", ncolumn == 2 ? " two" : "");
  for (int k = 0; k < ncolumn; k++) buf_addf(out, "<h3>%s</h3>", column[k].title);
  for (int i = 0; i < n; i++) {
    int k = i % ncolumn;
    int step = (int)lround((double)(i / ncolumn) * rollout->horizon / (TIMES - 1));
    char label[80];
    snprintf(label, sizeof label, "%s at %.4g s", column[k].title, step * h);
    int npoint = column_sample(&column[k], step) / path_stride(&column[k]) + 1;
    mark[ntarget] = (Mark){npoint, path[k], column[k].color, false};
    buf_add(out, "<figure><div>");
    int nmark = mark[ntarget].n > 1 ? ntarget + 1 : ntarget;
    if (tail && column[k].qpos) {
      size_t at = (size_t)column_sample(&column[k], step) * (size_t)m->nq;
      nmark += tail_arrows(mark + nmark, ARROWS, tail, column[k].qpos + at, 60 / c.scale,
                           tail_color);
    }
    picture_drawMarked(out, column[k].model, &all[i], &c, label, nmark, mark);
    buf_addf(out, "</div><figcaption>t = %.4g s</figcaption></figure>\n", step * h);
  }
  buf_add(out, "</div>\n");
  for (int k = 0; k < ncolumn; k++) free(path[k]);
  tail_close(tail);
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
  for (int i = 0; i < p->nvariable; i++) {
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
  buf_add(out, "</tbody></table>\n<p>All values are in <code>final.json</code>; "
               "<code>task.json</code> starts from them.</p>\n");
}

// ---- replay

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

void optimize_report(Buffer* out, const OptimizeRun* r, const Replay* replay) {
  write_head(out, r);
  buf_add(out, "<div class=\"charts\">\n");
  if (r->receding) window_chart(out, r);
  else loss_chart(out, r);
  terms_table(out, r);
  buf_add(out, "</div>\n");
  const Course *a = &r->course[AT_START], *b = &r->course[AT_END];
  const djModel *first = r->grad.scene.model, *last = r->grad.design->model;
  Column column[3] = {{"Start", before_color, first, a->nsample, 1, a->xpos, a->xquat, a->qpos},
                      {"Result", after_color, last, b->nsample, 1, b->xpos, b->xquat, b->qpos}};
  int n = 2;
  if (replay->done && replay->record.nsample > 0) {
    column[n++] = (Column){"Result in MuJoCo", mujoco_color, last,
                           replay->record.nsample, (int)replay->record.stride,
                           replay->record.xpos[1], replay->record.xquat[1], NULL};
  }
  if (a->nsample > 0 && b->nsample > 0) write_pictures(out, r, column, n);
  ctrl_charts(out, r);
  variables_table(out, r);
  write_replay(out, replay);
  buf_add(out, "</body></html>\n");
}
