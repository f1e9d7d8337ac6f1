#include "chart.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LEFT = 80, RIGHT = 14, TOP = 10, BOTTOM = 40, LEGEND_LINE = 18 };

typedef struct Axis {
  double low, high, step;
  bool logarithmic;  // low, high, step are exponents of ten
  double from, to;   // pixels
} Axis;

void chart_add(Chart* c, const double* y, const char* color, bool dashed) {
  if (c->nseries < MAX_SERIES) c->series[c->nseries++] = (Series){color, dashed, y};
}

void chart_legend(Chart* c, const char* color, bool dashed, const char* format, ...) {
  if (c->nlegend == MAX_SERIES) return;
  LegendEntry* e = &c->legend[c->nlegend++];
  e->color = color;
  e->dashed = dashed;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(e->text, sizeof e->text, format, arguments);
  va_end(arguments);
}

void chart_mark(Chart* c, double x, const char* format, ...) {
  if (c->nmark == MAX_MARKS) return;
  ChartMark* mark = &c->mark[c->nmark++];
  mark->x = x;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(mark->text, sizeof mark->text, format, arguments);
  va_end(arguments);
}

void html_text(Buffer* out, const char* text) {
  for (const char* c = text; *c; c++) {
    switch (*c) {
      case '<': buf_add(out, "&lt;"); break;
      case '>': buf_add(out, "&gt;"); break;
      case '&': buf_add(out, "&amp;"); break;
      case '"': buf_add(out, "&quot;"); break;
      default: buf_addn(out, c, 1);
    }
  }
}

// Round ticks: 1, 2 or 5 times a power of ten, about `count` of them.
static Axis make_axis(double low, double high, double least, int count, double from, double to) {
  double size = fmax(fabs(low), fabs(high));
  least = fmax(least, fmax(1e-9 * size, 1e-12));  // below this, differences are rounding
  if (high - low < least) {
    double middle = (low + high) / 2, half = size > 0 ? least / 2 : 1;
    low = middle - half;
    high = middle + half;
  }
  double raw = (high - low) / count, power = pow(10, floor(log10(raw))), rest = raw / power;
  double step = power * (rest <= 1 ? 1 : rest <= 2 ? 2 : rest <= 5 ? 5 : 10);
  return (Axis){step * floor(low / step + 1e-9), step * ceil(high / step - 1e-9), step, false, from,
                to};
}

static double place(const Axis* a, double value) {
  if (a->logarithmic) value = value > 0 ? log10(value) : NAN;
  return a->from + (value - a->low) / (a->high - a->low) * (a->to - a->from);
}

static void tick_text(char* text, size_t size, const Axis* a, double value) {
  if (a->logarithmic) {
    snprintf(text, size, "1e%d", (int)lround(value));
    return;
  }
  if (fabs(value) < 1e-9 * a->step) value = 0;
  double largest = fmax(fabs(a->low), fabs(a->high));
  bool scientific = largest >= 1e5 || largest < 1e-3;
  if (scientific && value == 0) {
    snprintf(text, size, "0");
  } else if (scientific) {
    int digits = (int)fmax(0, ceil(log10(largest / a->step) - 1e-9));
    snprintf(text, size, "%.*e", digits > 6 ? 6 : digits, value);
  } else {
    int decimals = (int)fmax(0, ceil(-log10(a->step) - 1e-9));
    snprintf(text, size, "%.*f", decimals, value);
  }
}

// Range of all series; false where there is nothing finite.
static bool data_range(const Chart* c, double* low, double* high) {
  *low = INFINITY;
  *high = -INFINITY;
  for (int s = 0; s < c->nseries; s++) {
    for (int i = 0; i < c->n; i++) {
      double y = c->series[s].y[i];
      if (!isfinite(y) || (c->logarithmic && !(y > 0))) continue;
      *low = fmin(*low, y);
      *high = fmax(*high, y);
    }
  }
  if (!(*low <= *high)) return false;
  if (c->zero && !c->logarithmic) {
    *low = fmin(*low, 0);
    *high = fmax(*high, 0);
  }
  return true;
}

static Axis value_axis(const Chart* c, double low, double high, double from, double to) {
  if (!c->logarithmic) return make_axis(low, high, c->least, 5, from, to);
  Axis a = {floor(log10(low)), ceil(log10(high)), 1, true, from, to};
  if (a.high <= a.low) a.high = a.low + 1;
  while ((a.high - a.low) / a.step > 7) a.step++;
  a.high = a.low + a.step * ceil((a.high - a.low) / a.step);
  return a;
}

static void draw_axes(Buffer* out, const Chart* c, const Axis* x, const Axis* y) {
  char text[32];
  buf_add(out, "<g class=\"grid\">");
  for (int k = 0; k <= (int)lround((y->high - y->low) / y->step); k++) {
    double value = y->low + k * y->step;
    double at = y->from + (value - y->low) / (y->high - y->low) * (y->to - y->from);
    tick_text(text, sizeof text, y, value);
    buf_addf(out, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>", x->from, x->to, at,
             at);
    buf_addf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>", x->from - 7, at + 4,
             text);
  }
  double first = x->step * ceil(x->low / x->step - 1e-9);
  for (int k = 0; k <= (int)floor((x->high - first) / x->step + 1e-9); k++) {
    double value = first + k * x->step, at = place(x, value);
    tick_text(text, sizeof text, x, value);
    buf_addf(out, "<line class=\"tick\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>", at, at,
             y->from, y->from + 5);
    buf_addf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>", at, y->from + 18,
             text);
  }
  buf_addf(out, "<line class=\"tick\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>", x->from,
           x->to, y->from, y->from);
  buf_addf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" class=\"name\">%s</text>",
           (x->from + x->to) / 2, y->from + 34, c->xlabel);
  buf_addf(out,
           "<text transform=\"translate(14 %.1f) rotate(-90)\" text-anchor=\"middle\" "
           "class=\"name\">%s</text></g>",
           (y->from + y->to) / 2, c->ylabel);
}

// Where the points end that share a column of pixels with point i, where there are many.
static int column_end(const Chart* c, const Axis* x, int i) {
  int end = i + 1;
  if (c->n < 4 * c->width) return end;
  double column = floor(place(x, c->x[i]));
  while (end < c->n && floor(place(x, c->x[end])) == column) end++;
  return end;
}

// Of these points the first, the least, the largest and the last are seen; where one is a gap all.
static bool is_seen(const Series* s, int i, int first, int end, int least, int largest) {
  return i == first || i == end - 1 || i == least || i == largest || !isfinite(s->y[least]);
}

static void find_extremes(int* least, int* largest, const Series* s, int first, int end) {
  *least = *largest = first;
  for (int i = first; i < end; i++) {
    if (!isfinite(s->y[i])) {
      *least = i;
      return;
    }
    if (s->y[i] < s->y[*least]) *least = i;
    if (s->y[i] > s->y[*largest]) *largest = i;
  }
}

static void draw_series(Buffer* out, const Chart* c, const Series* s, const Axis* x,
                        const Axis* y) {
  bool open = false;
  int first = 0, end = 0, least = 0, largest = 0;
  for (int i = 0; i < c->n; i++) {
    if (i == end) {
      first = i;
      end = column_end(c, x, i);
      find_extremes(&least, &largest, s, first, end);
    }
    if (!is_seen(s, i, first, end, least, largest)) continue;
    double at = place(y, s->y[i]);
    if (!isfinite(at)) {
      if (open) buf_add(out, "\"/>");
      open = false;
      continue;
    }
    if (!open) {
      buf_addf(out, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"%s\" "
                    "stroke-linejoin=\"round\"%s points=\"",
               s->color, s->dashed ? "1.8" : "1.4", s->dashed ? " stroke-dasharray=\"5 4\"" : "");
    }
    buf_addf(out, "%s%.1f,%.1f", open ? " " : "", place(x, c->x[i]), at);
    open = true;
  }
  if (open) buf_add(out, "\"/>");
}

// Width of a text at 12 pixels, roughly.
static double text_width(const char* text) { return 6.3 * (double)strlen(text); }

// The legend above the plot; returns its height. With out == NULL it only measures.
static double draw_legend(Buffer* out, const Chart* c) {
  double x = LEFT, y = 12;
  for (int k = 0; k < c->nlegend; k++) {
    const LegendEntry* e = &c->legend[k];
    double wide = 34 + text_width(e->text) + 12;
    if (x > LEFT && x + wide > c->width) {
      x = LEFT;
      y += LEGEND_LINE;
    }
    if (out) {
      buf_addf(out,
               "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" "
               "stroke-width=\"2\"%s/><text class=\"legend\" x=\"%.1f\" y=\"%.1f\">",
               x, x + 26, y, y, e->color, e->dashed ? " stroke-dasharray=\"5 4\"" : "", x + 32,
               y + 4);
      html_text(out, e->text);
      buf_add(out, "</text>");
    }
    x += wide;
  }
  return c->nlegend ? y + LEGEND_LINE - 6 : 0;
}

static void draw_marks(Buffer* out, const Chart* c, const Axis* x, const Axis* y) {
  for (int k = 0; k < c->nmark; k++) {
    double at = place(x, c->mark[k].x), end = k + 1 < c->nmark ? place(x, c->mark[k + 1].x) : x->to;
    const char *text = c->mark[k].text, *word = strrchr(text, ' ');
    if (word && at + text_width(text) + 6 > end) text = word + 1;
    buf_addf(out,
             "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#888\" "
             "stroke-dasharray=\"2 3\"/><text x=\"%.1f\" y=\"%.1f\">",
             at, at, y->from, y->to, at + 3, y->to + 10);
    html_text(out, text);
    buf_add(out, "</text>");
  }
}

void chart_draw(Buffer* out, const Chart* c) {
  double legend = draw_legend(NULL, c), low, high;
  buf_addf(out, "<svg class=\"chart\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"", c->width,
           c->height);
  html_text(out, c->label);
  buf_add(out, "\">");
  if (c->n < 1 || !data_range(c, &low, &high)) {
    buf_addf(out, "<text class=\"empty\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">nothing to "
                  "show: no finite values</text></svg>\n",
             c->width / 2, c->height / 2);
    return;
  }
  draw_legend(out, c);
  Axis x = make_axis(c->x[0], c->x[c->n - 1], 0, 8, LEFT, c->width - RIGHT);
  if (c->x[c->n - 1] > c->x[0]) {
    x.low = c->x[0];  // time fills the width
    x.high = c->x[c->n - 1];
  }
  Axis y = value_axis(c, low, high, c->height - BOTTOM, TOP + legend);
  draw_axes(out, c, &x, &y);
  draw_marks(out, c, &x, &y);
  for (int s = 0; s < c->nseries; s++) draw_series(out, c, &c->series[s], &x, &y);
  buf_add(out, "</svg>\n");
}
