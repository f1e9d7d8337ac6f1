// Outlines come from the same queries as the path: a body and a small ball at a distance D along a
// direction have alpha = D/T, where T is how far the body reaches that way.

#define _POSIX_C_SOURCE 200809L

#include "draw.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define BALL 1e-4 // radius, by the bounds' diagonal
enum { SAMPLES = 10000, RIM = 180, VIEWS = 2 };
enum { WIDTH = 760, LEFT = 56, RIGHT = 16, TOP = 66, GAP = 44, BOTTOM = 46 };

// Two views: across (to the right), up, and along which they look, nearest last.
typedef struct View {
  int across, up, depth;
  double sign; // of depth: towards the eye
  const char* name;
} View;
static const View VIEW[VIEWS] = {{0, 1, 2, 1, "from above"}, {0, 2, 1, -1, "from the side"}};
static const char AXIS[] = "xyz";
static const char* const COLOR[] = {"#5b8db8", "#e0a458", "#7fa66b",
                                    "#8c7bb5", "#5aa9a3", "#b98a66"};
static const char BLUE[] = "#1f5fa8", RED[] = "#c0392b";

// A body's outline in each view, about its origin.
typedef struct Outline {
  int n[VIEWS];
  double rim[VIEWS][RIM][2]; // m
} Outline;

// ------------------------------------------ outlines -------------------------------------------

// Points of the surface (SAMPLES x 3), from the body's origin, along a spiral over all directions.
static bool surfaceOf(double* point, const Body* body, double radius, djError* err) {
  const double size[4] = {radius, radius, radius, 1}, zero[3] = {0}, upright[4] = {1, 0, 0, 0};
  const djcImplicitShape ball = {"superellipsoid", 0, 4, size};
  djcImplicitPair* pair;
  if (djc_makeImplicitPair(&pair, &body->shape, &ball, err) < 0) return false;
  double turn = 0;
  bool done = true;
  for (int i = 0; i < SAMPLES && done; i++) {
    const double z = (2 * i + 1.0) / SAMPLES - 1, r = sqrt(1 - z * z);
    const double d[3] = {r * cos(turn), r * sin(turn), z};
    djcImplicit o;
    done = djc_evalImplicitPair(&o, pair, zero, body->quat, d, upright, 0) >= 0;
    for (int k = 0; k < 3; k++) point[3 * i + k] = d[k] / o.alpha;
    turn += 3.6 / (sqrt(SAMPLES) * r);
  }
  djc_deleteImplicitPair(pair);
  return done ? true : fail(err, "a body's outline was not found");
}

// In each direction of the picture the point that is farthest.
static void rimOf(Outline* out, int view, const double* point) {
  const View* v = &VIEW[view];
  int last = -1, n = 0;
  for (int a = 0; a < RIM; a++) {
    const double angle = 2 * acos(-1) * a / RIM, c = cos(angle), s = sin(angle);
    double most = -INFINITY;
    int best = 0;
    for (int i = 0; i < SAMPLES; i++) {
      const double reach = c * point[3 * i + v->across] + s * point[3 * i + v->up];
      if (reach > most) {
        most = reach;
        best = i;
      }
    }
    if (best == last) continue;
    last = best;
    out->rim[view][n][0] = point[3 * best + v->across];
    out->rim[view][n++][1] = point[3 * best + v->up];
  }
  out->n[view] = n;
}

// Of all obstacles, then the quadrotor.
static Outline* outlinesOf(const Scene* s, djError* err) {
  Outline* out = calloc((size_t)s->nobstacle + 1, sizeof *out);
  double* point = calloc(3 * (size_t)SAMPLES, sizeof *point);
  const double radius = BALL * distance(s->low, s->high);
  bool done = out && point;
  if (!done) fail(err, "out of memory");
  for (int j = 0; j <= s->nobstacle && done; j++) {
    done = surfaceOf(point, j < s->nobstacle ? &s->obstacle[j] : &s->quadrotor, radius, err);
    for (int view = 0; view < VIEWS && done; view++) rimOf(&out[j], view, point);
  }
  free(point);
  if (!done) {
    free(out);
    return NULL;
  }
  return out;
}

// ------------------------------------------ drawing --------------------------------------------

// Where a view is, in pixels: x = left + scale (p - low), y = bottom - scale (p - low).
typedef struct Frame {
  const View* view;
  int number;
  double left, bottom, scale;
  const double* low;
} Frame;

static double across(const Frame* f, double x) {
  return f->left + f->scale * (x - f->low[f->view->across]);
}
static double upward(const Frame* f, double y) {
  return f->bottom - f->scale * (y - f->low[f->view->up]);
}

// With the body's origin at x, y (pixels).
static void drawOutline(djFile* out, const Frame* f, const Outline* o, double x, double y,
                        const char* style) {
  dj_printFile(out, "<polygon %s points=\"", style);
  for (int i = 0; i < o->n[f->number]; i++) {
    const double* p = o->rim[f->number][i];
    dj_printFile(out, "%s%.1f,%.1f", i ? " " : "", x + f->scale * p[0], y - f->scale * p[1]);
  }
  dj_printFile(out, "\"/>\n");
}

static void drawPath(djFile* out, const Frame* f, const double* path, int knots,
                     const char* color) {
  dj_printFile(out,
               "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" "
               "stroke-linejoin=\"round\" points=\"",
               color);
  for (int i = 0; i < knots; i++) {
    dj_printFile(out, "%s%.1f,%.1f", i ? " " : "", across(f, path[3 * i + f->view->across]),
                 upward(f, path[3 * i + f->view->up]));
  }
  dj_printFile(out, "\"/>\n<g fill=\"%s\">", color);
  for (int i = 0; i < knots; i++) {
    dj_printFile(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.2\"/>",
                 across(f, path[3 * i + f->view->across]), upward(f, path[3 * i + f->view->up]));
  }
  dj_printFile(out, "</g>\n");
}

// The bounds, a tick each metre.
static void drawBounds(djFile* out, const Frame* f, const Scene* s, bool last) {
  const int a = f->view->across, u = f->view->up;
  const double right = across(f, s->high[a]), top = upward(f, s->high[u]);
  dj_printFile(out,
               "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"#fbfaf8\" "
               "stroke=\"#999\"/>\n",
               f->left, top, right - f->left, f->bottom - top);
  dj_printFile(out, "<text x=\"%.1f\" y=\"%.1f\">%s</text>\n", f->left, top - 8, f->view->name);
  for (double x = ceil(s->low[a]); x <= s->high[a]; x++) {
    dj_printFile(out,
                 "<path d=\"M%.1f %.1fv5\" stroke=\"#999\"/><text x=\"%.1f\" y=\"%.1f\" "
                 "text-anchor=\"middle\">%g</text>\n",
                 across(f, x), f->bottom, across(f, x), f->bottom + 18, x);
  }
  for (double y = ceil(s->low[u]); y <= s->high[u]; y++) {
    dj_printFile(out,
                 "<path d=\"M%.1f %.1fh-5\" stroke=\"#999\"/><text x=\"%.1f\" y=\"%.1f\" "
                 "text-anchor=\"end\">%g</text>\n",
                 f->left, upward(f, y), f->left - 8, upward(f, y) + 4, y);
  }
  const double middle = (f->bottom + top) / 2;
  dj_printFile(out,
               "<text x=\"14\" y=\"%.1f\" text-anchor=\"middle\" transform=\"rotate(-90 14 "
               "%.1f)\">%c (m)</text>\n",
               middle, middle, AXIS[u]);
  if (last) {
    dj_printFile(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%c (m)</text>\n",
                 (f->left + right) / 2, f->bottom + 36, AXIS[a]);
  }
}

static int familyOf(const Body* body) {
  int family = 0;
  while (*djc_implicitFamily(family) && strcmp(djc_implicitFamily(family), body->shape.family) != 0)
    family++;
  return family % (int)(sizeof COLOR / sizeof *COLOR);
}

// The next obstacle from behind: the one whose depth follows `after`.
static int nextObstacle(const Scene* s, const View* v, double* after) {
  int best = -1;
  double least = INFINITY;
  for (int j = 0; j < s->nobstacle; j++) {
    const double depth = v->sign * s->obstacle[j].pos[v->depth] + 1e-9 * j;
    if (depth > *after && depth < least) {
      least = depth;
      best = j;
    }
  }
  *after = least;
  return best;
}

// At each knot of the optimised path.
static void drawQuadrotors(djFile* out, const Frame* f, const Scene* s, const Outline* o,
                           const double* path) {
  char style[160];
  snprintf(style, sizeof style,
           "id=\"quadrotor%d\" fill=\"%s\" fill-opacity=\".12\" "
           "stroke=\"%s\" stroke-width=\".7\"",
           f->number, RED, RED);
  dj_printFile(out, "<defs>");
  drawOutline(out, f, o, 0, 0, style);
  dj_printFile(out, "</defs>\n");
  for (int i = 0; i < s->knots; i++) {
    dj_printFile(out, "<use href=\"#quadrotor%d\" x=\"%.1f\" y=\"%.1f\"/>\n", f->number,
                 across(f, path[3 * i + f->view->across]), upward(f, path[3 * i + f->view->up]));
  }
}

static void drawView(djFile* out, const Frame* f, const Scene* s, const Outline* o,
                     const double* first, const double* path) {
  char style[160];
  double after = -INFINITY;
  drawBounds(out, f, s, f->number == VIEWS - 1);
  for (int i = 0; i < s->nobstacle; i++) {
    const int j = nextObstacle(s, f->view, &after);
    const double* pos = s->obstacle[j].pos;
    const char* color = COLOR[familyOf(&s->obstacle[j])];
    snprintf(style, sizeof style, "fill=\"%s\" fill-opacity=\".4\" stroke=\"%s\"", color, color);
    drawOutline(out, f, &o[j], across(f, pos[f->view->across]), upward(f, pos[f->view->up]), style);
  }
  drawPath(out, f, first, s->knots, BLUE);
  drawPath(out, f, path, s->knots, RED);
  drawQuadrotors(out, f, s, &o[s->nobstacle], path);
}

// What the colours are: the paths, then each family that is there.
static void drawLegend(djFile* out, const Scene* s) {
  double x = LEFT;
  dj_printFile(out,
               "<path d=\"M%.0f 16h26\" stroke=\"%s\" stroke-width=\"2\"/><text x=\"%.0f\" "
               "y=\"20\">first path</text>\n",
               x, BLUE, x + 32);
  x += 120;
  dj_printFile(out,
               "<path d=\"M%.0f 16h26\" stroke=\"%s\" stroke-width=\"2\"/><text x=\"%.0f\" "
               "y=\"20\">optimised</text>\n",
               x, RED, x + 32);
  x = LEFT;
  for (int family = 0; *djc_implicitFamily(family); family++) {
    const char* name = djc_implicitFamily(family);
    bool there = false;
    for (int j = 0; j < s->nobstacle; j++) {
      there = there || strcmp(s->obstacle[j].shape.family, name) == 0;
    }
    if (!there) continue;
    const char* color = COLOR[family % (int)(sizeof COLOR / sizeof *COLOR)];
    dj_printFile(out,
                 "<rect x=\"%.0f\" y=\"30\" width=\"12\" height=\"12\" fill=\"%s\" "
                 "fill-opacity=\".4\" stroke=\"%s\"/><text x=\"%.0f\" y=\"41\">",
                 x, color, color, x + 18);
    for (const char* c = name; *c; c++) dj_printFile(out, "%c", *c == '_' ? ' ' : *c);
    dj_printFile(out, "</text>\n");
    x += 42 + 7 * (double)strlen(name);
  }
}

static void drawAll(djFile* out, const Scene* s, const Outline* o, const double* first,
                    const double* path) {
  const double scale = (WIDTH - LEFT - RIGHT) / (s->high[0] - s->low[0]);
  double height = TOP + BOTTOM + (VIEWS - 1) * GAP;
  for (int i = 0; i < VIEWS; i++) height += scale * (s->high[VIEW[i].up] - s->low[VIEW[i].up]);
  dj_printFile(out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %.0f\" "
               "width=\"%d\" font-family=\"sans-serif\" font-size=\"13\" fill=\"#222\">\n"
               "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
               WIDTH, height, WIDTH);
  drawLegend(out, s);
  Frame f = {.left = LEFT, .bottom = TOP, .scale = scale, .low = s->low};
  for (int i = 0; i < VIEWS; i++) {
    f.view = &VIEW[i];
    f.number = i;
    f.bottom += scale * (s->high[VIEW[i].up] - s->low[VIEW[i].up]) + (i > 0 ? GAP : 0);
    drawView(out, &f, s, o, first, path);
  }
  dj_printFile(out, "</svg>\n");
}

// ------------------------------------------ files ----------------------------------------------

// A knot a line: the first path, the optimised one, and the least alpha from there to the next
// knot.
static void writeTable(djFile* out, Scene* s, const double* first, const double* path) {
  char text[32];
  dj_printFile(out, "knot,first_x,first_y,first_z,x,y,z,alpha\n");
  for (int i = 0; i < s->knots; i++) {
    const double *p = path + 3 * i, *q = i + 1 < s->knots ? p + 3 : p;
    const double least = leastOfAll(s, p, q);
    dj_printFile(out, "%d", i);
    for (int k = 0; k < 3; k++) dj_printFile(out, ",%s", dj_formatNumber(text, first[3 * i + k]));
    for (int k = 0; k < 3; k++) dj_printFile(out, ",%s", dj_formatNumber(text, p[k]));
    dj_printFile(out, ",%s\n", dj_formatNumber(text, least));
  }
}

bool writeFiles(const char* folder, const double* first, const double* path, Scene* scene,
                djError* err) {
  static const char* const name[2] = {"path.csv", "path.svg"};
  if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
    return fail(err, "%.200s: %s", folder, strerror(errno));
  }
  Outline* outline = outlinesOf(scene, err);
  if (!outline) return false;
  djFile* file[2] = {NULL, NULL};
  int n = 0;
  for (bool open = true; n < 2 && open; n += open) {
    char place[1024];
    if (snprintf(place, sizeof place, "%s/%s", folder, name[n]) >= (int)sizeof place)
      open = fail(err, "%.200s...: too long", folder);
    else
      open = dj_openFile(&file[n], place, err) >= 0;
  }
  bool done = n == 2;
  if (done) {
    writeTable(file[0], scene, first, path);
    drawAll(file[1], scene, outline, first, path);
    done = dj_commitFiles(file, 2, err) >= 0;
  } else if (n == 1) {
    dj_discardFile(file[0]);
  }
  free(outline);
  return done;
}
