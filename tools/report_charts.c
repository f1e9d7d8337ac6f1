// The report's charts.

#include "chart.h"
#include "picture_color.h"
#include "report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDE = 560, HIGH = 270, BODIES = 4, PAIRS = 4 };

static const char* const engine_color[ENGINES] = {"#1f5fa8", "#d9721e"};
static const char* const engine_name[ENGINES] = {"DiJoCo", "MuJoCo"};
static const char* const grey = "#555";

static Chart new_chart(const Record* r, const char* ylabel, const char* label) {
  return (Chart){.ylabel = ylabel, .xlabel = "time (s)", .label = label, .width = WIDE,
                 .height = HIGH, .n = r->nsample, .x = r->time};
}

static void figure(Buffer* out, const Chart* chart, const char* title) {
  buf_addf(out, "<figure><h3>%s</h3>\n", title);
  chart_draw(out, chart);
  buf_add(out, "<figcaption>");
}

static void figure_end(Buffer* out) { buf_add(out, "</figcaption></figure>\n"); }

// The largest |a - b| over the samples, and when.
static double largest_gap(const Record* r, const double* a, const double* b, double* when) {
  double most = 0;
  *when = 0;
  for (int i = 0; i < r->nsample; i++) {
    double d = fabs(a[i] - b[i]);
    if (d > most) {
      most = d;
      *when = r->time[i];
    }
  }
  return most;
}

// ---- bodies

// The moving bodies that travel farthest in either engine, in the model's order.
static int choose_bodies(const Record* r, int chosen[BODIES]) {
  const djModel* m = r->model;
  double path[BODIES];
  int n = 0;
  for (int b = 1; b < m->nbody; b++) {
    if (m->body_lastdof[b] < 0 && m->body_mocap[b] < 0) continue;
    double far = 0;
    for (int k = 0; k < ENGINES; k++) {
      const double* start = record_poses(r, k, 0).xpos + 3 * b;
      for (int i = 1; i < r->nsample; i++) {
        const double* x = record_poses(r, k, i).xpos + 3 * b;
        double d = hypot(hypot(x[0] - start[0], x[1] - start[1]), x[2] - start[2]);
        if (isfinite(d) && d > far) far = d;
      }
    }
    int at = n;
    while (at > 0 && path[at - 1] < far) at--;
    if (at == BODIES) continue;
    int last = n < BODIES ? n : BODIES - 1;
    for (int i = last; i > at; i--) path[i] = path[i - 1], chosen[i] = chosen[i - 1];
    path[at] = far;
    chosen[at] = b;
    if (n < BODIES) n++;
  }
  return n;
}

// Values of one body over the samples: coordinate 0..2, or 3: angle from its start.
static double* body_values(const Record* r, int engine, int body, int what) {
  double* y = tool_alloc((size_t)r->nsample, sizeof *y);
  const double* q0 = record_poses(r, engine, 0).xquat + 4 * body;
  for (int i = 0; i < r->nsample; i++) {
    Poses p = record_poses(r, engine, i);
    const double* q = p.xquat + 4 * body;
    if (what < 3) {
      y[i] = p.xpos[3 * body + what];
    } else {
      double w = q0[0] * q[0] + q0[1] * q[1] + q0[2] * q[2] + q0[3] * q[3];
      double s = 0;
      for (int k = 0; k < 4; k++) {
        double rest = q[k] - w * q0[k];
        s += rest * rest;
      }
      y[i] = 2 * atan2(sqrt(s), fabs(w)) * 180 / M_PI;
    }
  }
  return y;
}

static void add_engines(Chart* c) {
  chart_legend(c, grey, false, "DiJoCo");
  chart_legend(c, grey, true, "MuJoCo");
}

// Extent of all values, over bodies, engines and time: far below it, motion is not worth showing.
static double extent(const Record* r, int n, const int* body, int what) {
  double low = INFINITY, high = -INFINITY;
  for (int b = 0; b < n; b++) {
    for (int k = 0; k < ENGINES; k++) {
      double* y = body_values(r, k, body[b], what);
      for (int i = 0; i < r->nsample; i++) {
        if (!isfinite(y[i])) continue;
        low = fmin(low, y[i]);
        high = fmax(high, y[i]);
      }
      free(y);
    }
  }
  return high > low ? high - low : 0;
}

static void pose_chart(Buffer* out, const Record* r, int n, const int* body, int what) {
  static const char* const title[] = {"Position x", "Position y", "Height z", "Rotation"};
  static const char* const label[] = {"x (m)", "y (m)", "z (m)", "angle from the start (&#176;)"};
  Chart c = new_chart(r, label[what], title[what]);
  for (int i = 0; i < 3 && what < 3; i++) {
    c.least = fmax(c.least, 1e-4 * extent(r, n, body, i));
  }
  if (what == 3) c.least = 0.01;
  double* y[ENGINES * BODIES] = {NULL};
  double most = 0, when = 0;
  int which = 0;
  for (int b = 0; b < n; b++) {
    char number[16];
    const char* color = picture_color(r->model, body[b]);
    for (int k = 0; k < ENGINES; k++) {
      y[2 * b + k] = body_values(r, k, body[b], what);
      chart_add(&c, y[2 * b + k], color, k == 1);
    }
    chart_legend(&c, color, false, "%.40s", scene_bodyName(number, r->model, body[b]));
    double at, d = largest_gap(r, y[2 * b], y[2 * b + 1], &at);
    if (d > most) most = d, when = at, which = body[b];
  }
  add_engines(&c);
  figure(out, &c, title[what]);
  if (most >= 1e-12) {
    char number[16];
    buf_add(out, "The curves differ by at most ");
    report_quantity(out, most, what < 3 ? "m" : "&#176;");
    buf_addf(out, " (body ");
    html_text(out, scene_bodyName(number, r->model, which));
    buf_addf(out, ", at %.4g s).", when);
  } else {
    buf_add(out, "The curves coincide.");
  }
  figure_end(out);
  for (int k = 0; k < ENGINES * n; k++) free(y[k]);
}

static void apart_chart(Buffer* out, const Record* r) {
  Chart c = new_chart(r, "largest distance (m)", "Difference of positions over time");
  c.logarithmic = true;
  chart_add(&c, r->apart, "#8a2f5c", false);
  figure(out, &c, "How far the engines are apart");
  buf_add(out, "Distance between the two engines&#8217; positions of the body for which it is "
               "largest, on a logarithmic axis. A straight rise means exponential divergence, as "
               "in any chaotic motion; a plateau means that both came to rest.");
  figure_end(out);
}

// ---- energy, gap, forces

static void energy_chart(Buffer* out, const Record* r, const Engine* e) {
  Chart c = new_chart(r, "energy (J)", "Energy over time");
  for (int k = 0; k < ENGINES; k++) {
    chart_add(&c, r->energy[k], engine_color[k], k == 1);
    chart_legend(&c, engine_color[k], k == 1, "%s", engine_name[k]);
  }
  figure(out, &c, "Energy");
  buf_add(out, "Kinetic energy plus the potential of gravity and springs. ");
  for (int k = 0; k < ENGINES; k++) {
    const Tally* t = &e[k].tally;
    buf_addf(out, "%s: from ", engine_name[k]);
    report_quantity(out, t->energy_first, "J");
    buf_add(out, " to ");
    report_quantity(out, t->energy_last, "J");
    buf_add(out, k ? "." : "; ");
  }
  figure_end(out);
}

static void gap_chart(Buffer* out, const Record* r, const Engine* e) {
  Chart c = new_chart(r, "smallest gap (m)", "Smallest gap over time");
  double low = INFINITY, high = 0;
  for (int k = 0; k < ENGINES; k++) {
    for (int i = 0; i < r->nsample; i++) {
      if (!isfinite(r->gap[k][i])) continue;
      low = fmin(low, r->gap[k][i]);
      high = fmax(high, r->gap[k][i]);
    }
    chart_add(&c, r->gap[k], engine_color[k], k == 1);
    chart_legend(&c, engine_color[k], k == 1, "%s", engine_name[k]);
  }
  c.logarithmic = low > 0 && high > 20 * low;
  c.zero = !c.logarithmic;
  figure(out, &c, "Smallest gap");
  buf_add(out, "Smallest distance of any two colliding geoms that are near each other; breaks mean "
               "that none were. DiJoCo&#8217;s is between its contact shapes, which are the geoms "
               "eroded by the skin (");
  report_quantity(out, r->model->contact.skin, "m");
  buf_add(out, "): it stays positive. MuJoCo&#8217;s is between the geoms themselves: below zero "
               "they overlap (at most ");
  report_quantity(out, e[1].tally.deepest_overlap, "m");
  buf_add(out, ").");
  figure_end(out);
}

static int by_peak(const void* a, const void* b) {
  const PairRecord *p = *(const PairRecord* const*)a, *q = *(const PairRecord* const*)b;
  return p->peak > q->peak ? -1 : p->peak < q->peak;
}

static double* magnitudes(const Record* r, const double* force) {
  double* y = tool_alloc((size_t)r->nsample, sizeof *y);
  for (int i = 0; i < r->nsample; i++) {
    y[i] = hypot(hypot(force[3 * i], force[3 * i + 1]), force[3 * i + 2]);
  }
  return y;
}

static void force_chart(Buffer* out, const Record* r) {
  static const char* const color[PAIRS] = {"#1b7f79", "#b5532a", "#5b4b9a", "#7a8a1f"};
  Chart c = new_chart(r, "contact force (N)", "Contact forces over time");
  c.zero = true;
  size_t count = (size_t)r->npair;
  const PairRecord** sorted = tool_alloc(count, sizeof(PairRecord*));
  for (size_t p = 0; p < count; p++) sorted[p] = &r->pair[p];
  if (count) qsort(sorted, count, sizeof(PairRecord*), by_peak);
  int n = r->npair < PAIRS ? r->npair : PAIRS;
  double* y[ENGINES * PAIRS] = {NULL};
  for (int p = 0; p < n; p++) {
    char one[16], two[16];
    for (int k = 0; k < ENGINES; k++) {
      y[2 * p + k] = magnitudes(r, sorted[p]->force[k]);
      chart_add(&c, y[2 * p + k], color[p], k == 1);
    }
    chart_legend(&c, color[p], false, "%.22s on %.22s",
                 scene_bodyName(one, r->model, sorted[p]->body1),
                 scene_bodyName(two, r->model, sorted[p]->body2));
  }
  if (n) add_engines(&c);
  figure(out, &c, "Contact forces");
  if (n == 0) {
    buf_add(out, "No bodies touched.");
  } else {
    buf_add(out, "Magnitude of the total force between two bodies");
    if (r->stride > 1) {
      buf_addf(out, ", averaged over the %ld steps from point to point", r->stride);
    }
    if (n < r->npair) buf_addf(out, "; the %d strongest of %d pairs", n, r->npair);
    buf_add(out, ".");
  }
  figure_end(out);
  for (int k = 0; k < ENGINES * n; k++) free(y[k]);
  free(sorted);
}

static void work_chart(Buffer* out, const Record* r) {
  static const char* const color[NWORK] = {"#1f5fa8", "#d9721e", "#1b7f79", "#999"};
  Chart c = new_chart(r, "a step", "What DiJoCo's steps take");
  c.zero = true;
  for (int k = 0; k < NWORK; k++) {
    chart_add(&c, r->work[k], color[k], k + 1 == NWORK);
    chart_legend(&c, color[k], k + 1 == NWORK, "%s", record_work[k]);
  }
  figure(out, &c, "What a step takes");
  buf_add(out, "Evaluations of forces with their derivatives, factorizations of Jacobians, steps of "
               "the passes over rows, and loaded pairs of geoms");
  if (r->stride > 1) buf_addf(out, "; the most of %ld steps from point to point", r->stride);
  buf_add(out, ".");
  figure_end(out);
}

void report_charts(Buffer* out, const Report* report) {
  const Record* r = report->record;
  int body[BODIES], n = choose_bodies(r, body), moving = 0;
  for (int b = 1; b < r->model->nbody; b++) {
    moving += r->model->body_lastdof[b] >= 0 || r->model->body_mocap[b] >= 0;
  }
  buf_add(out, "<h2>Over time</h2>\n<p>Solid lines are DiJoCo, dashed lines stock MuJoCo.");
  if (n < moving) {
    buf_addf(out, " Positions are shown for the %d of %d moving bodies that travel farthest.", n,
             moving);
  }
  buf_add(out, " Positions are those of body frames.</p>\n<div class=\"charts\">\n");
  for (int what = 0; what < 4; what++) pose_chart(out, r, n, body, what);
  apart_chart(out, r);
  energy_chart(out, r, report->engine);
  gap_chart(out, r, report->engine);
  force_chart(out, r);
  work_chart(out, r);
  buf_add(out, "</div>\n");
}
