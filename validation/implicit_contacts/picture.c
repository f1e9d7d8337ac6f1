// Pictures of sharpness and of witness points, in the plane z = 0, which cuts all shapes in half.

#include "contacts.h"

#include <stdio.h>

enum { TURNS = 360 };

static const char* const SHADE[3] = {"#f2b880", "#d9792b", "#8c3d0c"};
static const char* const LINE[SHARP_FAMILIES] = {"#c0392b", "#2a6f97", "#3a7d44", "#7d3a78"};

static FILE* start(const char* file, int width, int height) {
  FILE* out = fopen(file, "w");
  if (!out) djv_fail("%s: cannot be written", file);
  fprintf(out,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
          "font-family=\"sans-serif\" font-size=\"13\" fill=\"#222\">\n"
          "<rect width=\"100%%\" height=\"100%%\" fill=\"#fbfaf8\"/>\n",
          width, height, width);
  return out;
}

static void finish(FILE* out, const char* file) {
  fputs("</svg>\n", out);
  if (fclose(out)) djv_fail("%s: cannot be written", file);
}

typedef struct View {
  double x, y, scale; // of the origin, and pixels a metre
} View;

// The section of a shape, turned by `angle` about z and scaled, about a place.
static void outline(FILE* out, const View* v, const djcImplicitShape* s, const double pos[2],
                    double angle, double scale, const char* style) {
  fputs("<path d=\"", out);
  for (int i = 0; i < TURNS; i++) {
    const double t = 2 * M_PI * i / TURNS, u[3] = {cos(t), sin(t), 0};
    const double r = scale * radiusAlong(s, u);
    fprintf(out, "%c%.2f %.2f", i ? 'L' : 'M', v->x + v->scale * (pos[0] + r * cos(t + angle)),
            v->y - v->scale * (pos[1] + r * sin(t + angle)));
  }
  fprintf(out, "Z\" %s/>\n", style);
}

static void sharpOutline(FILE* out, const View* v, int family) {
  // Corners of the section: a box of 0.9 by 0.7, a cone or cylinder along x.
  const double half = family % 2 ? 0.7 : 0.9, end = family % 2 ? 0.8 : 0.7;
  const double other = family == 1 ? 0.5 : end;
  const double corner[4][2] = {{-half, -end}, {half, -other}, {half, other}, {-half, end}};
  fputs("<path d=\"", out);
  for (int i = 0; i < 4; i++) {
    fprintf(out, "%c%.2f %.2f", i ? 'L' : 'M', v->x + v->scale * corner[i][0],
            v->y - v->scale * corner[i][1]);
  }
  fputs("Z\" fill=\"none\" stroke=\"#222\" stroke-dasharray=\"5 3\"/>\n", out);
}

// log10 of the errors over the doublings.
static void chart(FILE* out, double error[SHARP_FAMILIES][LEVELS]) {
  const double left = 90, top = 300, width = 500, height = 240, high = 0, low = -4;
  fprintf(out,
          "<rect x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" fill=\"#fff\" stroke=\"#999\"/>\n",
          left, top, width, height);
  for (int k = 0; k < LEVELS; k++) {
    const double x = left + width * (k + 0.5) / LEVELS;
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%d</text>\n", x,
            top + height + 18, 10 << k);
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%d</text>\n", x,
            top + height + 36, 1 << k);
  }
  fprintf(out, "<text x=\"%g\" y=\"%g\" text-anchor=\"end\">beta</text>\n", left - 10,
          top + height + 18);
  fprintf(out, "<text x=\"%g\" y=\"%g\" text-anchor=\"end\">n</text>\n", left - 10,
          top + height + 36);
  for (int d = (int)low; d <= (int)high; d++) {
    const double y = top + height * (high - d) / (high - low);
    fprintf(out,
            "<path d=\"M%g %.1fh%g\" stroke=\"#ddd\"/><text x=\"%g\" y=\"%.1f\" "
            "text-anchor=\"end\">1e%d m</text>\n",
            left, y, width, left - 8, y + 4, d);
  }
  for (int f = 0; f < SHARP_FAMILIES; f++) {
    Sharp s;
    makeSharp(&s, f, 0);
    fputs("<path d=\"", out);
    for (int k = 0; k < LEVELS; k++) {
      fprintf(out, "%c%.1f %.1f", k ? 'L' : 'M', left + width * (k + 0.5) / LEVELS,
              top + height * (high - log10(error[f][k])) / (high - low));
    }
    fprintf(out, "\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n", LINE[f]);
    fprintf(out,
            "<path d=\"M620 %dh24\" stroke=\"%s\" stroke-width=\"2\"/><text x=\"652\" y=\"%d\">%s"
            "</text>\n",
            330 + 26 * f, LINE[f], 334 + 26 * f, s.name);
  }
  fputs("<text x=\"620\" y=\"460\">distance from a ball beside</text>"
        "<text x=\"620\" y=\"478\">that of the sharp shape: mean</text>\n",
        out);
}

void drawSharpness(const char* file, double error[SHARP_FAMILIES][LEVELS]) {
  FILE* out = start(file, 880, 600);
  const double origin[2] = {0, 0};
  for (int f = 0; f < SHARP_FAMILIES; f++) {
    const View v = {115 + 216 * f, 150, 100};
    Sharp s;
    for (int k = 0; k < 3; k++) {
      char style[80];
      makeSharp(&s, f, k + (f < 2 ? -1 : 1));
      snprintf(style, sizeof style, "fill=\"none\" stroke=\"%s\" stroke-width=\"2\"", SHADE[k]);
      outline(out, &v, &s.shape, origin, 0, 1, style);
    }
    sharpOutline(out, &v, f);
    fprintf(out,
            "<text x=\"%g\" y=\"24\" text-anchor=\"middle\">%s</text><text x=\"%g\" y=\"43\" "
            "text-anchor=\"middle\">%s</text>\n",
            v.x, s.name, v.x, f < 2 ? "beta 5, 10, 20" : "n 2, 4, 8");
  }
  chart(out, error);
  finish(out, file);
}

// ---- witness points -----------------------------------------------------------------------------

static void dot(FILE* out, const View* v, const double p[3], const char* style) {
  fprintf(out, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"4.5\" %s/>\n", v->x + v->scale * p[0],
          v->y - v->scale * p[1], style);
}

static void segment(FILE* out, const View* v, const double p[3], const double q[3],
                    const char* style) {
  fprintf(out, "<path d=\"M%.2f %.2fL%.2f %.2f\" %s/>\n", v->x + v->scale * p[0],
          v->y - v->scale * p[1], v->x + v->scale * q[0], v->y - v->scale * q[1], style);
}

// A cone and a box, apart, in contact and overlapping along one line.
static void panel(FILE* out, const View* v, const Sharp s[2], double part, const char* title) {
  static const double zero[3] = {0}, one[4] = {1, 0, 0, 0};
  const double angle = -0.3, quat[4] = {cos(angle / 2), 0, 0, sin(angle / 2)};
  double pos[3] = {1.2, 1.7, 0};
  djcImplicitPair* pair;
  djcImplicit o;
  djcImplicitDistance d;
  if (djc_makeImplicitPair(&pair, &s[0].shape, &s[1].shape, NULL)) djv_fail("no pair to draw");
  for (int step = 0; step < 2; step++) {
    if (djc_evalImplicitPair(&o, pair, zero, one, pos, quat, 0)) djv_fail("nothing to draw");
    for (int k = 0; k < 3 && step == 0; k++) pos[k] *= part / o.alpha;
  }
  if (djc_implicitDistance(&d, NULL, NULL, pair, 0)) djv_fail("no distance to draw");
  djc_deleteImplicitPair(pair);
  static const char solid[] = "fill=\"#f7d9b8\" fill-opacity=\"0.6\" stroke=\"#d9792b\"";
  static const char thin[] = "fill=\"none\" stroke=\"#999\" stroke-dasharray=\"4 3\"";
  outline(out, v, &s[0].shape, zero, 0, 1, solid);
  outline(out, v, &s[1].shape, pos, angle, 1, solid);
  outline(out, v, &s[0].shape, zero, 0, o.alpha, thin);
  outline(out, v, &s[1].shape, pos, angle, o.alpha, thin);
  segment(out, v, zero, o.x, "stroke=\"#999\"");
  segment(out, v, pos, o.x, "stroke=\"#999\"");
  segment(out, v, o.point_a, o.point_b, "stroke=\"#222\" stroke-width=\"1.5\"");
  segment(out, v, d.point_a, d.point_b, "stroke=\"#2a6f97\" stroke-width=\"1.5\"");
  dot(out, v, d.point_a, "fill=\"#fff\" stroke=\"#2a6f97\" stroke-width=\"2\"");
  dot(out, v, d.point_b, "fill=\"#fff\" stroke=\"#2a6f97\" stroke-width=\"2\"");
  dot(out, v, o.point_a, "fill=\"#222\"");
  dot(out, v, o.point_b, "fill=\"#222\"");
  dot(out, v, o.x, "fill=\"#c0392b\"");
  fprintf(out, "<text x=\"%g\" y=\"30\" text-anchor=\"middle\" font-size=\"15\">%s</text>\n",
          v->x + 70, title);
  fprintf(out,
          "<text x=\"%g\" y=\"50\" text-anchor=\"middle\">alpha %.3f, gap %+.3f m, distance %+.3f "
          "m</text>\n",
          v->x + 70, o.alpha, fabs(o.gap) < 1e-9 ? 0 : o.gap,
          fabs(d.distance) < 1e-9 ? 0 : d.distance);
}

void drawWitness(const char* file) {
  static const char* const TITLE[3] = {"apart", "in contact", "overlapping"};
  static const double PART[3] = {1.45, 1, 0.72};
  FILE* out = start(file, 1080, 470);
  Sharp s[2];
  makeSharp(&s[0], 1, 1);
  makeSharp(&s[1], 2, 2);
  for (int k = 0; k < 3; k++) {
    const View v = {105 + 360 * k, 325, 80};
    panel(out, &v, s, PART[k], TITLE[k]);
  }
  fputs(
      "<circle cx=\"30\" cy=\"450\" r=\"4.5\" fill=\"#c0392b\"/><text x=\"42\" y=\"454\">x, where "
      "both touch, scaled by alpha</text><circle cx=\"330\" cy=\"450\" r=\"4.5\" fill=\"#222\"/>"
      "<text x=\"342\" y=\"454\">witness points, scaled back</text><circle cx=\"570\" cy=\"450\" "
      "r=\"4.5\" fill=\"#fff\" stroke=\"#2a6f97\" stroke-width=\"2\"/><text x=\"582\" y=\"454\">"
      "closest points (overlapping: of least depth)</text>\n",
      out);
  finish(out, file);
}
