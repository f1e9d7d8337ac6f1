#include "picture_color.h"
#include "picture_flex.h"
#include "picture_geom.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// More geoms than this are sorted by the depth of their centres only.
enum { SORT_MOST = 400 };
// Half the width of a plane's tile, in pictures.
static const double REACH = 0.75;

static double dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(double out[3], const double a[3], const double b[3]) {
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

bool picture_draws(const djModel* m, int geom) {
  if (m->geom_contype[geom] || m->geom_conaffinity[geom]) return true;
  int body = m->geom_body[geom];
  for (int k = 0; k < m->body_geomnum[body]; k++) {
    int other = m->body_geomadr[body] + k;
    if (m->geom_contype[other] || m->geom_conaffinity[other]) return false;
  }
  for (int k = 0; k < m->npair; k++) {
    if (m->pair_geom1[k] == geom || m->pair_geom2[k] == geom) return true;
  }
  return picture_moves(m, body);
}

// One that is drawn and no plane, of a body that moves, or does not.
static bool is_solid(const djModel* m, int geom, bool moving) {
  return m->geom_type[geom] != DJ_PLANE && picture_draws(m, geom) &&
         picture_moves(m, m->geom_body[geom]) == moving;
}

double picture_size(const djModel* m, int geom, const Poses* poses) {
  Placed p;
  double size = 0;
  placed_make(&p, m, geom, poses);
  for (int i = 0; i < p.npoint; i++) {
    double d[3];
    for (int k = 0; k < 3; k++) d[k] = p.point[3 * i + k] - p.pos[k];
    size = fmax(size, sqrt(dot(d, d)));
  }
  placed_free(&p);
  return size;
}

static int color_number(const djModel* m, int body) {
  const char* color = picture_color(m, body);
  for (int k = 0; k < NCOLORS; k++) {
    if (palette(k) == color) return k;
  }
  return STATIC_COLOR;
}

// ---- camera

static void look_along(Camera* c, double azimuth, double elevation) {
  double to_viewer[3] = {cos(azimuth) * cos(elevation), sin(azimuth) * cos(elevation),
                         sin(elevation)};
  double right[3] = {-sin(azimuth), cos(azimuth), 0};
  memcpy(c->right, right, sizeof right);
  cross(c->up, to_viewer, right);
  for (int i = 0; i < 3; i++) {
    c->forward[i] = -to_viewer[i];
    c->light[i] = 0.62 * to_viewer[i] - 0.42 * c->right[i] + (i == 2 ? 0.9 : 0);
  }
  double length = sqrt(dot(c->light, c->light));
  for (int i = 0; i < 3; i++) c->light[i] /= length;
}

// How many planes show their front.
static int fronts(const Camera* c, const djModel* m, const Poses* poses) {
  int count = 0;
  for (int g = 0; g < m->ngeom; g++) {
    if (m->geom_type[g] != DJ_PLANE) continue;
    Placed p;
    placed_make(&p, m, g, poses);
    double normal[3] = {p.mat[2], p.mat[5], p.mat[8]};
    count += dot(normal, c->forward) < -0.02;
    placed_free(&p);
  }
  return count;
}

// Calls visit for every point of every moving geom and every moving vertex of a flex.
typedef void (*Visit)(void* user, const double point[3]);
static void each_point(const djModel* m, int n, const Poses* poses, Visit visit, void* user) {
  for (int g = 0; g < m->ngeom; g++) {
    if (!is_solid(m, g, true)) continue;
    for (int k = 0; k < n; k++) {
      Placed p;
      placed_make(&p, m, g, &poses[k]);
      for (int i = 0; i < p.npoint; i++) visit(user, p.point + 3 * i);
      placed_free(&p);
    }
  }
  for (int v = 0; v < m->nflexvert; v++) {
    for (int k = 0; k < n && picture_moves(m, m->flexvert_body[v]); k++) {
      double point[3];
      flex_vertex(point, m, v, &poses[k]);
      visit(user, point);
    }
  }
}

typedef struct Spread {
  double n, x, y, xx, xy, yy;
} Spread;

static void add_spread(void* user, const double p[3]) {
  Spread* s = user;
  s->n++;
  s->x += p[0], s->y += p[1];
  s->xx += p[0] * p[0], s->xy += p[0] * p[1], s->yy += p[1] * p[1];
}

typedef struct Frame {
  const Camera* camera;
  double low[3], high[3];  // along right, up, forward
} Frame;

static void add_frame(void* user, const double p[3]) {
  Frame* f = user;
  const double* axis[3] = {f->camera->right, f->camera->up, f->camera->forward};
  for (int i = 0; i < 3; i++) {
    double at = dot(axis[i], p);
    f->low[i] = fmin(f->low[i], at);
    f->high[i] = fmax(f->high[i], at);
  }
}

void camera_frame(Camera* c, const djModel* m, int n, const Poses* poses) {
  Frame f = {.camera = c, .low = {INFINITY, INFINITY, INFINITY},
             .high = {-INFINITY, -INFINITY, -INFINITY}};
  each_point(m, n, poses, add_frame, &f);
  if (!(f.low[0] <= f.high[0])) {
    double corner[2][3] = {{-1, -1, -0.2}, {1, 1, 1}};
    add_frame(&f, corner[0]);
    add_frame(&f, corner[1]);
  }
  double wide = fmax(f.high[0] - f.low[0], 1e-6), high = fmax(f.high[1] - f.low[1], 1e-6);
  c->scale = fmin(0.8 * c->width / wide, 0.76 * c->height / high);
  const double* axis[3] = {c->right, c->up, c->forward};
  for (int i = 0; i < 3; i++) {
    c->center[i] = 0;
    for (int k = 0; k < 3; k++) c->center[i] += (f.low[k] + f.high[k]) / 2 * axis[k][i];
  }
}

void camera_include(Camera* c, int n, const double* point) {
  const double* axis[2] = {c->right, c->up};
  double half[2] = {0.4 * c->width / c->scale, 0.38 * c->height / c->scale}, shrink = 1;
  for (int k = 0; k < 2; k++) {
    double middle = dot(axis[k], c->center), low = middle - half[k], high = middle + half[k];
    for (int i = 0; i < n; i++) {
      low = fmin(low, dot(axis[k], point + 3 * i));
      high = fmax(high, dot(axis[k], point + 3 * i));
    }
    for (int j = 0; j < 3; j++) c->center[j] += ((low + high) / 2 - middle) * axis[k][j];
    shrink = fmin(shrink, 2 * half[k] / (high - low));
  }
  c->scale *= shrink;
}

// ---- order: from back to front

typedef struct Item {
  Placed placed;
  double low[2], high[2];  // on the picture
  double depth;
} Item;

static void measure(Item* item, const Camera* c) {
  item->low[0] = item->low[1] = INFINITY;
  item->high[0] = item->high[1] = -INFINITY;
  for (int k = 0; k < item->placed.npoint; k++) {
    Point2 p = project(c, item->placed.point + 3 * k);
    item->low[0] = fmin(item->low[0], p.x);
    item->low[1] = fmin(item->low[1], p.y);
    item->high[0] = fmax(item->high[0], p.x);
    item->high[1] = fmax(item->high[1], p.y);
  }
  item->depth = dot(item->placed.pos, c->forward);
}

// +1: a is in front of b, -1: behind it, 0: neither hides the other. The plane that separates two
// convex bodies tells, whatever their sizes. Height fields lie behind what stands on them.
static int in_front(const Item* a, const Item* b, const Camera* c) {
  for (int i = 0; i < 2; i++) {
    if (a->high[i] <= b->low[i] || b->high[i] <= a->low[i]) return 0;
  }
  const bool ground[2] = {a->placed.type == DJ_HFIELD, b->placed.type == DJ_HFIELD};
  if (ground[0] != ground[1]) return ground[0] ? -1 : 1;
  djcShape sa = placed_shape(&a->placed), sb = placed_shape(&b->placed);
  double gap, normal[3], pa[3], pb[3];
  if (djc_distance(&gap, normal, pa, pb, &sa, &sb) != DJ_OK) return a->depth < b->depth ? 1 : -1;
  double along = dot(normal, c->forward);
  return along > 1e-9 ? 1 : along < -1e-9 ? -1 : 0;
}

static int compare_depth(const void* a, const void* b) {
  const Item *p = a, *q = b;
  return p->depth > q->depth ? -1 : p->depth < q->depth;
}

// Order of drawing: repeatedly the farthest item that nothing undrawn lies behind of. Cycles are
// cut at the farthest item.
static void sort_items(int* order, Item* item, int n, const Camera* c) {
  qsort(item, (size_t)n, sizeof *item, compare_depth);
  for (int i = 0; i < n; i++) order[i] = i;
  if (n > SORT_MOST) return;
  char* behind = tool_alloc((size_t)n * (size_t)n, 1);  // [i * n + j]: j lies behind i
  int* waiting = tool_alloc((size_t)n, sizeof *waiting);
  bool* done = tool_alloc((size_t)n, sizeof *done);
  for (int i = 0; i < n; i++) {
    for (int j = i + 1; j < n; j++) {
      int front = in_front(&item[i], &item[j], c);
      if (front > 0) behind[i * n + j] = 1, waiting[i]++;
      if (front < 0) behind[j * n + i] = 1, waiting[j]++;
    }
  }
  for (int k = 0; k < n; k++) {
    int next = -1;
    for (int i = 0; i < n && next < 0; i++) {
      if (!done[i] && waiting[i] == 0) next = i;
    }
    for (int i = 0; i < n && next < 0; i++) {
      if (!done[i]) next = i;
    }
    done[next] = true;
    order[k] = next;
    for (int i = 0; i < n; i++) {
      if (behind[i * n + next]) waiting[i]--;
    }
  }
  free(behind);
  free(waiting);
  free(done);
}

// ---- choice of the camera

// How many times a geom that cannot move hides one that can, before the first and the last pose.
static int hidden(const Camera* c, const djModel* m, int n, const Poses* poses) {
  int count = 0;
  for (int s = 0; s < m->ngeom; s++) {
    if (!is_solid(m, s, false)) continue;
    for (int g = 0; g < m->ngeom; g++) {
      if (!is_solid(m, g, true)) continue;
      for (int k = 0; k < n; k += n > 1 ? n - 1 : 1) {
        Item a, b;
        placed_make(&a.placed, m, s, &poses[k]);
        placed_make(&b.placed, m, g, &poses[k]);
        measure(&a, c);
        measure(&b, c);
        if (a.placed.finite && b.placed.finite) count += in_front(&a, &b, c) > 0;
        placed_free(&a.placed);
        placed_free(&b.placed);
      }
    }
  }
  return count;
}

Camera camera_look(const djModel* m, int n, const Poses* poses, int width, int height) {
  return camera_lookFrom(m, n, poses, width, height, 0.32);
}

Camera camera_lookFrom(const djModel* m, int n, const Poses* poses, int width, int height,
                       double elevation) {
  Camera best = {0};
  Spread s = {0};
  each_point(m, n, poses, add_spread, &s);
  double across = 0;
  if (s.n > 0) {
    double xx = s.xx - s.x * s.x / s.n, yy = s.yy - s.y * s.y / s.n, xy = s.xy - s.x * s.y / s.n;
    across = atan2(2 * xy, xx - yy) / 2;
  }
  static const double turn[4] = {-1.25, -1.9, 1.25, 1.9};  // from the wide direction, radians
  double most = -INFINITY;
  for (int k = 0; k < 4; k++) {
    Camera c = {.width = width, .height = height};
    look_along(&c, across + turn[k], elevation);
    camera_frame(&c, m, n, poses);
    double count = 1000 * fronts(&c, m, &poses[0]);
    if (m->ngeom <= SORT_MOST) count -= hidden(&c, m, n, poses);
    if (count > most) {
      most = count;
      best = c;
    }
  }
  return best;
}

// ---- picture

static double round_length(double size) {
  double power = pow(10, floor(log10(size)));
  double rest = size / power;
  return power * (rest < 2 ? 1 : rest < 5 ? 2 : 5);
}

double picture_grid(const Camera* c) {
  return round_length(REACH * fmax(c->width, c->height) / c->scale / 4);
}

// A plane: a tile with a grid about the middle of the picture, and shadows on it.
static void draw_plane(Buffer* out, const Placed* p, const Camera* c, const Item* item, int n) {
  double normal[3] = {p->mat[2], p->mat[5], p->mat[8]};
  double side[2][3] = {{p->mat[0], p->mat[3], p->mat[6]}, {p->mat[1], p->mat[4], p->mat[7]}};
  if (dot(normal, c->forward) > -0.02) return;  // seen from behind
  double reach = REACH * fmax(c->width, c->height) / c->scale, d[3], low[2], high[2];
  for (int i = 0; i < 3; i++) d[i] = c->center[i] - p->pos[i];
  double step = picture_grid(c);
  for (int k = 0; k < 2; k++) {
    double middle = dot(side[k], d);
    low[k] = step * floor((middle - reach) / step);
    high[k] = step * ceil((middle + reach) / step);
    if (p->size[k] > 0) {
      low[k] = fmax(low[k], -p->size[k]);
      high[k] = fmin(high[k], p->size[k]);
    }
    if (!(low[k] < high[k])) return;
  }
  Point2 corner[4];
  for (int k = 0; k < 4; k++) {
    double at[3], s = k == 1 || k == 2 ? high[0] : low[0], t = k >= 2 ? high[1] : low[1];
    for (int i = 0; i < 3; i++) at[i] = p->pos[i] + s * side[0][i] + t * side[1][i];
    corner[k] = project(c, at);
  }
  buf_add(out, "<polygon points=\"");
  add_points(out, corner, 4);
  buf_add(out, "\" fill=\"#f0ede6\" stroke=\"#d8d3c8\"/><path stroke=\"#dcd7cc\" "
               "stroke-width=\".6\" fill=\"none\" d=\"");
  for (int k = 0; k < 2; k++) {
    for (double s = step * ceil(low[k] / step); s < high[k]; s += step) {
      double a[3], b[3];
      for (int i = 0; i < 3; i++) {
        a[i] = p->pos[i] + s * side[k][i] + low[1 - k] * side[1 - k][i];
        b[i] = p->pos[i] + s * side[k][i] + high[1 - k] * side[1 - k][i];
      }
      Point2 from = project(c, a), to = project(c, b);
      buf_addf(out, "M%.1f %.1fL%.1f %.1f", from.x, from.y, to.x, to.y);
    }
  }
  buf_add(out, "\"/><g fill=\"#4a4438\" opacity=\".16\">");
  for (int k = 0; k < n && normal[2] > 0.3; k++) {
    draw_shadow(out, &item[k].placed, c, p->pos, normal);
  }
  buf_add(out, "</g>");
}

void picture_defs(Buffer* out) {
  buf_add(out, "<svg width=\"0\" height=\"0\" style=\"position:absolute\" aria-hidden=\"true\">"
               "<defs>");
  for (int k = 0; k <= NCOLORS; k++) {
    buf_addf(out,
             "<radialGradient id=\"ball%d\" cx=\".36\" cy=\".3\" r=\".8\">"
             "<stop offset=\"0\" stop-color=\"#fff\"/><stop offset=\".35\" stop-color=\"%s\"/>"
             "<stop offset=\"1\" stop-color=\"#4a4a4a\"/></radialGradient>",
             k, palette(k));
  }
  buf_add(out, "</defs></svg>\n");
}

static void draw_mark(Buffer* out, const Mark* mark, const Camera* c) {
  Point2 p = project(c, mark->point);
  if (mark->n == 1) {
    buf_addf(out, "<g stroke=\"%s\" fill=\"none\" stroke-width=\"2\">"
                  "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"6\"/>"
                  "<path d=\"M%.1f %.1fh20M%.1f %.1fv20\"/></g>",
             mark->color, p.x, p.y, p.x - 10, p.y, p.x, p.y - 10);
    return;
  }
  buf_addf(out, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"1.6\"%s d=\"", mark->color,
           mark->dashed ? " stroke-dasharray=\"5 4\"" : "");
  for (int i = 0; i < mark->n; i++) {
    p = project(c, mark->point + 3 * i);
    buf_addf(out, "%c%.1f %.1f", i ? 'L' : 'M', p.x, p.y);
  }
  buf_add(out, "\"/>");
}

void picture_draw(Buffer* out, const djModel* m, const Poses* poses, const Camera* c,
                  const char* label) {
  picture_drawMarked(out, m, poses, c, label, 0, NULL);
}

void picture_drawMarked(Buffer* out, const djModel* m, const Poses* poses, const Camera* c,
                        const char* label, int nmark, const Mark* mark) {
  Item* item = tool_alloc((size_t)m->ngeom, sizeof *item);
  int* order = tool_alloc((size_t)m->ngeom, sizeof *order);
  int n = 0;
  for (int g = 0; g < m->ngeom; g++) {
    bool drawn = m->geom_type[g] != DJ_PLANE && picture_draws(m, g) && m->geom_flex[g] < 0;
    if (!drawn) continue;
    placed_make(&item[n].placed, m, g, poses);
    measure(&item[n], c);
    if (item[n].placed.finite && item[n].placed.npoint > 0) n++;
    else placed_free(&item[n].placed);
  }
  sort_items(order, item, n, c);
  FlexParts parts = flex_parts(m, poses, c);
  buf_addf(out, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">", c->width, c->height,
           label);
  for (int g = 0; g < m->ngeom; g++) {
    if (m->geom_type[g] != DJ_PLANE) continue;
    Placed p;
    placed_make(&p, m, g, poses);
    if (p.finite) draw_plane(out, &p, c, item, n);
    placed_free(&p);
  }
  for (int k = 0; k < n; k++) {
    const Item* next = &item[order[k]];
    flex_draw(out, &parts, next->depth, m, c);
    if (next->high[0] < 0 || next->low[0] > c->width) continue;
    draw_geom(out, &next->placed, c, color_number(m, m->geom_body[next->placed.geom]));
  }
  flex_draw(out, &parts, -INFINITY, m, c);
  flex_freeParts(&parts);
  for (int k = 0; k < nmark; k++) draw_mark(out, &mark[k], c);
  buf_add(out, "</svg>\n");
  for (int k = 0; k < n; k++) placed_free(&item[k].placed);
  free(item);
  free(order);
}
