// Shapes of a report: the bodies that an optimisation changed, before and after, from three sides,
// a colour for each of their hulls.

#include "chart.h"
#include "export_shell.h"
#include "optimize_run.h"
#include "picture_color.h"
#include "picture_geom.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BODIES = 6, WIDE = 240, HIGH = 200, MARGIN = 12, MANY = 2500 };

// Which axes go right and up in a view.
static const struct View {
  const char* label;
  int right, up;
} views[3] = {{"against x: y to the right, z up", 1, 2},
              {"along y: x to the right, z up", 0, 2},
              {"against z: x to the right, y up", 0, 1}};

typedef struct Shape {
  djPieces hulls[2]; // before, after
  double center[3], scale;
  bool facets; // or outlines
} Shape;

typedef struct Face {
  double depth;
  int hull, triangle; // triangle < 0: the outline
} Face;

static int by_depth(const void* a, const void* b) {
  const Face *p = a, *q = b;
  if (p->depth != q->depth) return p->depth < q->depth ? -1 : 1;
  return p->hull != q->hull ? p->hull - q->hull : p->triangle - q->triangle;
}

// Larger: nearer to the viewer. Views 0 and 2 look against their axis, 1 along it.
static double depth_of(const double* x, int view) { return view == 1 ? -x[1] : x[view]; }

static Point2 flat(const Shape* s, const double* x, int view) {
  const int r = views[view].right, u = views[view].up;
  return (Point2){WIDE / 2. + s->scale * (x[r] - s->center[r]),
                  HIGH / 2. - s->scale * (x[u] - s->center[u])};
}

// light: 1 is the colour itself, less is darker, more goes towards white at 2.
static void add_polygon(Buffer* out, const Point2* p, int n, const char* color, double light) {
  unsigned rgb = (unsigned)strtoul(color + 1, NULL, 16), shaded = 0;
  for (int k = 16; k >= 0; k -= 8) {
    const double c = rgb >> k & 255, lit = light < 1 ? c * light : c + (255 - c) * (light - 1);
    shaded |= (unsigned)lround(fmin(fmax(lit, 0), 255)) << k;
  }
  buf_add(out, "<path d=\"");
  for (int i = 0; i < n; i++) buf_addf(out, "%c%.1f %.1f", i ? 'L' : 'M', p[i].x, p[i].y);
  buf_addf(out, "Z\" fill=\"#%06x\" stroke=\"#%06x\"/>", shaded, shaded);
}

static void draw_outline(Buffer* out, const Shape* s, const djTriangles* t, int view, int color) {
  Point2* p = tool_alloc((size_t)t->nvert, sizeof *p);
  for (int i = 0; i < t->nvert; i++) p[i] = flat(s, t->vert + 3 * (size_t)i, view);
  const int n = hull2(p, t->nvert);
  add_polygon(out, p, n, palette(color), 1.2);
  free(p);
}

static void draw_facet(Buffer* out, const Shape* s, const djTriangles* t, int triangle, int view,
                       int color) {
  const double* v[3];
  double n[3];
  Point2 p[3];
  for (int k = 0; k < 3; k++) {
    v[k] = t->vert + 3 * (size_t)t->tri[3 * triangle + k];
    p[k] = flat(s, v[k], view);
  }
  shell_normal(n, v[0], v[1], v[2]);
  const double light = 0.75 + 0.35 * depth_of(n, view) + 0.35 * n[views[view].up];
  add_polygon(out, p, 3, palette(color), light);
}

// What faces the viewer, from back to front.
static void draw_view(Buffer* out, const Shape* s, const djPieces* hulls, int view) {
  size_t most = 1;
  int n = 0;
  for (int i = 0; i < hulls->n; i++) most += s->facets ? (size_t)hulls->hull[i].ntri : 1;
  Face* face = tool_alloc(most, sizeof *face);
  for (int i = 0; i < hulls->n; i++) {
    const djTriangles* t = &hulls->hull[i];
    double nearest = -INFINITY;
    for (int k = 0; k < t->nvert; k++) {
      nearest = fmax(nearest, depth_of(t->vert + 3 * (size_t)k, view));
    }
    if (!s->facets) face[n++] = (Face){nearest, i, -1};
    for (int k = 0; k < t->ntri && s->facets; k++) {
      const double* v[3];
      double normal[3], depth = 0;
      for (int c = 0; c < 3; c++) {
        v[c] = t->vert + 3 * (size_t)t->tri[3 * k + c];
        depth += depth_of(v[c], view) / 3;
      }
      shell_normal(normal, v[0], v[1], v[2]);
      if (depth_of(normal, view) > 1e-4) face[n++] = (Face){depth, i, k};
    }
  }
  qsort(face, (size_t)n, sizeof *face, by_depth);
  for (int i = 0; i < n; i++) {
    const djTriangles* t = &hulls->hull[face[i].hull];
    const int color = face[i].hull % NCOLORS;
    if (face[i].triangle < 0)
      draw_outline(out, s, t, view, color);
    else
      draw_facet(out, s, t, face[i].triangle, view, color);
  }
  free(face);
}

// ---- bodies -------------------------------------------------------------------------------------

static bool make_hulls(djPieces* hulls, const djModel* m, int body) {
  djError err;
  bool round;
  for (int g = 0; g < m->ngeom; g++) {
    if (m->geom_body[g] != body || !shell_has(m, g)) continue;
    if (shell_add(hulls, &round, m, g, &err) < 0) return false;
  }
  return hulls->n > 0;
}

static bool differ(const Shape* s) {
  if (s->hulls[0].n != s->hulls[1].n) return true;
  for (int i = 0; i < s->hulls[0].n; i++) {
    const djTriangles *a = &s->hulls[0].hull[i], *b = &s->hulls[1].hull[i];
    if (a->nvert != b->nvert) return true;
    if (memcmp(a->vert, b->vert, 3 * (size_t)a->nvert * sizeof(double)) != 0) return true;
  }
  return false;
}

static void fit(Shape* s) {
  double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
  int count = 0;
  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < s->hulls[k].n; i++) {
      const djTriangles* t = &s->hulls[k].hull[i];
      count += t->ntri;
      for (int j = 0; j < 3 * t->nvert; j++) {
        low[j % 3] = fmin(low[j % 3], t->vert[j]);
        high[j % 3] = fmax(high[j % 3], t->vert[j]);
      }
    }
  }
  s->facets = count <= MANY;
  s->scale = INFINITY;
  for (int v = 0; v < 3; v++) {
    const int r = views[v].right, u = views[v].up;
    s->scale = fmin(s->scale, (WIDE - 2 * MARGIN) / (high[r] - low[r]));
    s->scale = fmin(s->scale, (HIGH - 2 * MARGIN) / (high[u] - low[u]));
  }
  for (int k = 0; k < 3; k++) s->center[k] = (low[k] + high[k]) / 2;
}

static void write_body(Buffer* out, const Shape* s, const char* name) {
  static const char* const when[2] = {"before", "after"};
  buf_add(out, "<h3>");
  html_text(out, name);
  buf_addf(out, ", %d hull%s</h3>\n<div class=\"three\">\n", s->hulls[1].n,
           s->hulls[1].n > 1 ? "s" : "");
  for (int k = 0; k < 2; k++) {
    for (int v = 0; v < 3; v++) {
      buf_addf(
          out,
          "<figure><div><svg viewBox=\"0 0 %d %d\" stroke-width=\".4\" role=\"img\" aria-label=\"",
          WIDE, HIGH);
      html_text(out, name);
      buf_addf(out, " %s, %s\">", when[k], views[v].label);
      draw_view(out, s, &s->hulls[k], v);
      buf_addf(out, "</svg></div><figcaption>%s, %s</figcaption></figure>\n", when[k],
               views[v].label);
    }
  }
  buf_add(out, "</div>\n");
}

void optimize_shapes(Buffer* out, const OptimizeRun* r, size_t most) {
  const djModel* m[2] = {r->course[AT_START].film.model, r->grad.design->model};
  int changed = 0, shown = 0;
  if (!m[0] || m[0]->ngeom != m[1]->ngeom || m[0]->nbody != m[1]->nbody) return;
  for (int b = 1; b < m[1]->nbody; b++) {
    Shape s = {.facets = true};
    Buffer text = {0};
    bool good = make_hulls(&s.hulls[0], m[0], b) && make_hulls(&s.hulls[1], m[1], b) && differ(&s);
    changed += good;
    if (good && shown < BODIES) {
      char name[16];
      const char* own = dj_id2name(m[1], DJ_OBJ_BODY, b);
      fit(&s);
      write_body(&text, &s, own && *own ? own : scene_bodyName(name, m[1], b));
      if (out->size + text.size + 400 < most) {
        if (shown++ == 0) {
          buf_add(out,
                  "<h2>Shapes</h2>\n<p>Bodies that were changed, in their own frames and at one "
                  "scale each, before and after; each hull has a colour.</p>\n");
        }
        buf_add(out, text.text);
      }
    }
    buf_free(&text);
    dj_freePieces(&s.hulls[0]);
    dj_freePieces(&s.hulls[1]);
  }
  if (changed > shown) {
    buf_addf(out, "<p>%d more bodies were changed; there is no room for them.</p>\n",
             changed - shown);
  }
}
