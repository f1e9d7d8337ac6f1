#include "picture_geom.h"

#include "picture_color.h"
#include "triangles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROUND = 32 };  // points on a circle
enum { MESH_FACES = 1600 }; // in a picture
enum { FIELD_FACES = 2400 }; // of a height field, without its sides

static void quat_to_mat(double m[9], const double q[4]) {
  double w = q[0], x = q[1], y = q[2], z = q[3];
  double out[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
                   2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                   2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
  memcpy(m, out, sizeof out);
}

static void mul_quat(double out[4], const double a[4], const double b[4]) {
  double r[4] = {a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
                 a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
                 a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
                 a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]};
  memcpy(out, r, sizeof r);
}

static void rotate(double out[3], const double m[9], const double v[3]) {
  for (int i = 0; i < 3; i++) out[i] = m[3 * i] * v[0] + m[3 * i + 1] * v[1] + m[3 * i + 2] * v[2];
}

static double dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

void picture_place(double world[3], const double xpos[3], const double xquat[4],
                   const double local[3]) {
  double mat[9];
  quat_to_mat(mat, xquat);
  rotate(world, mat, local);
  for (int i = 0; i < 3; i++) world[i] += xpos[i];
}

static void add_local(Placed* p, double x, double y, double z) {
  double local[3] = {x, y, z}, *out = p->point + 3 * p->npoint++;
  rotate(out, p->mat, local);
  for (int i = 0; i < 3; i++) out[i] += p->pos[i];
}

// Points of an ellipsoid: circles of latitude.
static void add_ellipsoid(Placed* p, const double size[3], double shift) {
  for (int i = 1; i < 8; i++) {
    double polar = M_PI * i / 8;
    for (int k = 0; k < 16; k++) {
      double angle = 2 * M_PI * k / 16;
      add_local(p, size[0] * sin(polar) * cos(angle), size[1] * sin(polar) * sin(angle),
                size[2] * cos(polar) + shift);
    }
  }
}

// Of a height field; none where it does not collide.
static void make_field(Triangles* t, const Placed* p) {
  const int field = p->model->geom_hfield[p->geom];
  *t = (Triangles){0};
  if (field >= 0) triangles_hfield(t, p->model, field, FIELD_FACES);
}

static void add_all(Placed* p) {
  const double* s = p->size;
  double ball[3] = {s[0], s[0], s[0]};
  switch (p->type) {
    case DJ_SPHERE:
      add_ellipsoid(p, ball, 0);
      break;
    case DJ_CAPSULE:
      add_ellipsoid(p, ball, s[1]);
      add_ellipsoid(p, ball, -s[1]);
      break;
    case DJ_ELLIPSOID:
      add_ellipsoid(p, s, 0);
      break;
    case DJ_CYLINDER:
      for (int k = 0; k < 2 * ROUND; k++) {
        double angle = 2 * M_PI * (k % ROUND) / ROUND;
        add_local(p, s[0] * cos(angle), s[0] * sin(angle), k < ROUND ? -s[1] : s[1]);
      }
      break;
    case DJ_BOX:
      for (int k = 0; k < 8; k++) {
        add_local(p, k & 1 ? s[0] : -s[0], k & 2 ? s[1] : -s[1], k & 4 ? s[2] : -s[2]);
      }
      break;
    case DJ_MESH: {
      int mesh = p->model->geom_mesh[p->geom];
      const double* v = p->model->mesh_vert + 3 * p->model->mesh_vertadr[mesh];
      for (int k = 0; k < p->model->mesh_vertnum[mesh]; k++) {
        add_local(p, v[3 * k], v[3 * k + 1], v[3 * k + 2]);
      }
      break;
    }
    case DJ_HFIELD: {
      Triangles t;
      make_field(&t, p);
      for (int k = 0; k < t.nvert; k++) {
        add_local(p, t.vert[3 * k], t.vert[3 * k + 1], t.vert[3 * k + 2]);
      }
      triangles_free(&t);
      break;
    }
    case DJ_PLANE:
      break;
  }
}

void placed_make(Placed* p, const djModel* model, int geom, const Poses* poses) {
  *p = (Placed){.model = model, .geom = geom, .type = (djGeomType)model->geom_type[geom]};
  int body = model->geom_body[geom], most = 256;
  const double *xquat = poses->xquat + 4 * body, *xpos = poses->xpos + 3 * body;
  double mat[9];
  quat_to_mat(mat, xquat);
  rotate(p->pos, mat, model->geom_pos + 3 * geom);
  for (int i = 0; i < 3; i++) p->pos[i] += xpos[i];
  mul_quat(p->quat, xquat, model->geom_quat + 4 * geom);
  quat_to_mat(p->mat, p->quat);
  memcpy(p->size, model->geom_size + 3 * geom, sizeof p->size);
  if (p->type == DJ_MESH) most = model->mesh_vertnum[model->geom_mesh[geom]];
  if (p->type == DJ_HFIELD) most = 4 * FIELD_FACES;
  p->finite = true;
  for (int i = 0; i < 3; i++) p->finite = p->finite && fabs(p->pos[i]) < 1e9;
  for (int i = 0; i < 4; i++) p->finite = p->finite && isfinite(p->quat[i]);
  p->point = tool_alloc((size_t)most, 3 * sizeof(double));
  if (p->finite) add_all(p);
}

void placed_free(Placed* p) { free(p->point); }

djcShape placed_shape(const Placed* p) {
  djcShape s = {.geom = p->type};
  if (p->type == DJ_MESH) {
    s.nvert = p->npoint;
    s.vert = p->point;
  }
  memcpy(s.size, p->size, sizeof s.size);
  memcpy(s.pos, p->pos, sizeof s.pos);
  memcpy(s.origin, p->pos, sizeof s.origin);
  memcpy(s.quat, p->quat, sizeof s.quat);
  return s;
}

Point2 project(const Camera* c, const double world[3]) {
  double d[3];
  for (int i = 0; i < 3; i++) d[i] = world[i] - c->center[i];
  return (Point2){c->width / 2.0 + c->scale * dot(c->right, d),
                  c->height / 2.0 - c->scale * dot(c->up, d)};
}

static int compare_points(const void* a, const void* b) {
  const Point2 *p = a, *q = b;
  if (p->x != q->x) return p->x < q->x ? -1 : 1;
  return p->y < q->y ? -1 : p->y > q->y;
}

static double turn(Point2 a, Point2 b, Point2 c) {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

// Andrew's monotone chain.
int hull2(Point2* p, int n) {
  if (n < 3) return n;
  qsort(p, (size_t)n, sizeof *p, compare_points);
  Point2* h = tool_alloc(2 * (size_t)n + 1, sizeof *h);
  int k = 0;
  for (int i = 0; i < n; i++) {
    while (k >= 2 && turn(h[k - 2], h[k - 1], p[i]) <= 0) k--;
    h[k++] = p[i];
  }
  int lower = k + 1;
  for (int i = n - 2; i >= 0; i--) {
    while (k >= lower && turn(h[k - 2], h[k - 1], p[i]) <= 0) k--;
    h[k++] = p[i];
  }
  k = k - 1 < n ? k - 1 : n;
  memcpy(p, h, (size_t)k * sizeof *p);
  free(h);
  return k;
}

void add_points(Buffer* out, const Point2* p, int n) {
  for (int i = 0; i < n; i++) buf_addf(out, "%s%.1f,%.1f", i ? " " : "", p[i].x, p[i].y);
}

// Colour times factor: below 1 darker, above 1 towards white.
static void shade(char text[8], int color, double factor) {
  static const char digit[] = "0123456789abcdef";
  unsigned long rgb = strtoul(palette(color) + 1, NULL, 16);
  text[0] = '#';
  for (int i = 0; i < 3; i++) {
    double v = (double)((rgb >> (16 - 8 * i)) & 255);
    v = factor <= 1 ? v * factor : 255 - (255 - v) * (2 - factor);
    int level = v < 0 ? 0 : v > 255 ? 255 : (int)v;
    text[1 + 2 * i] = digit[level / 16];
    text[2 + 2 * i] = digit[level % 16];
  }
  text[7] = 0;
}

static void draw_face(Buffer* out, const Camera* c, const double* point, const int* id, int n,
                      int color) {
  double a[3], b[3], normal[3] = {0, 0, 0};
  for (int k = 1; k + 1 < n; k++) {
    for (int i = 0; i < 3; i++) {
      a[i] = point[3 * id[k] + i] - point[3 * id[0] + i];
      b[i] = point[3 * id[k + 1] + i] - point[3 * id[0] + i];
    }
    normal[0] += a[1] * b[2] - a[2] * b[1];
    normal[1] += a[2] * b[0] - a[0] * b[2];
    normal[2] += a[0] * b[1] - a[1] * b[0];
  }
  double length = sqrt(dot(normal, normal));
  if (!(length > 0) || dot(normal, c->forward) >= 0) return;
  double bright = dot(normal, c->light) / length;
  char fill[8];
  shade(fill, color, bright > 0 ? 0.72 + 0.5 * bright : 0.72 + 0.2 * bright);
  Point2 corner[ROUND];
  for (int k = 0; k < n; k++) corner[k] = project(c, point + 3 * id[k]);
  buf_add(out, "<polygon points=\"");
  add_points(out, corner, n);
  buf_addf(out, "\" fill=\"%s\" stroke=\"%s\" stroke-width=\".4\"/>", fill, fill);
}

static void draw_outline(Buffer* out, const Placed* p, const Camera* c, int color) {
  Point2* corner = tool_alloc((size_t)p->npoint, sizeof *corner);
  for (int k = 0; k < p->npoint; k++) corner[k] = project(c, p->point + 3 * k);
  int n = hull2(corner, p->npoint);
  char stroke[8];
  shade(stroke, color, 0.5);
  buf_add(out, "<polygon points=\"");
  add_points(out, corner, n);
  buf_addf(out, "\" fill=\"none\" stroke=\"%s\" stroke-width=\".8\" stroke-linejoin=\"round\"/>",
           stroke);
  free(corner);
}

static void draw_box(Buffer* out, const Placed* p, const Camera* c, int color) {
  static const int face[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                 {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
  for (int k = 0; k < 6; k++) draw_face(out, c, p->point, face[k], 4, color);
}

static void draw_cylinder(Buffer* out, const Placed* p, const Camera* c, int color) {
  int bottom[ROUND], top[ROUND];
  for (int k = 0; k < ROUND; k++) {
    int next = (k + 1) % ROUND;
    int side[4] = {k, next, ROUND + next, ROUND + k};
    draw_face(out, c, p->point, side, 4, color);
    bottom[k] = ROUND - 1 - k;
    top[k] = ROUND + k;
  }
  draw_face(out, c, p->point, bottom, ROUND, color);
  draw_face(out, c, p->point, top, ROUND, color);
}

// Faces of a mesh in a picture, at most, where all meshes of the scene have their share.
static int most_faces(const djModel* m) {
  int n = 1;
  for (int g = 0; g < m->ngeom; g++) n += m->geom_type[g] == DJ_MESH;
  return n < 30 ? MESH_FACES / n : MESH_FACES / 30;
}

static void draw_mesh(Buffer* out, const Placed* p, const Camera* c, int color) {
  Triangles t;
  triangles_mesh(&t, p->model, p->model->geom_mesh[p->geom], true);
  triangles_thin(&t, most_faces(p->model));
  for (int k = 0; k < t.nvert; k++) {
    double local[3];
    memcpy(local, t.vert + 3 * k, sizeof local);
    rotate(t.vert + 3 * k, p->mat, local);
    for (int i = 0; i < 3; i++) t.vert[3 * k + i] += p->pos[i];
  }
  for (int k = 0; k < t.nface; k++) draw_face(out, c, t.vert, t.face + 3 * k, 3, color);
  triangles_free(&t);
}

typedef struct FaceDepth {
  int face;
  double depth;
} FaceDepth;

static int farther(const void* a, const void* b) {
  const FaceDepth *p = a, *q = b;
  return p->depth > q->depth ? -1 : p->depth < q->depth;
}

// Hills hide each other: from back to front.
static void draw_field(Buffer* out, const Placed* p, const Camera* c, int color) {
  Triangles t;
  make_field(&t, p);
  FaceDepth* order = tool_alloc((size_t)t.nface, sizeof *order);
  for (int k = 0; k < t.nface; k++) {
    order[k].face = k;
    for (int i = 0; i < 3; i++) {
      order[k].depth += dot(p->point + 3 * t.face[3 * k + i], c->forward) / 3;
    }
  }
  if (t.nface > 0) qsort(order, (size_t)t.nface, sizeof *order, farther);
  for (int k = 0; k < t.nface; k++) {
    draw_face(out, c, p->point, t.face + 3 * order[k].face, 3, color);
  }
  free(order);
  triangles_free(&t);
}

// Circle of an ellipsoid's surface about a local axis, where it faces the viewer: shows spin.
static void draw_meridian(Buffer* out, const Placed* p, const Camera* c, const double size[3],
                          int axis, int color) {
  char stroke[8];
  shade(stroke, color, 0.55);
  bool drawing = false;
  for (int k = 0; k <= ROUND; k++) {
    double u[3], local[3], local_normal[3], world[3], normal[3], angle = 2 * M_PI * k / ROUND;
    u[axis] = 0;
    u[(axis + 1) % 3] = cos(angle);
    u[(axis + 2) % 3] = sin(angle);
    for (int i = 0; i < 3; i++) {
      local[i] = size[i] * u[i];
      local_normal[i] = u[i] / size[i];
    }
    rotate(world, p->mat, local);
    rotate(normal, p->mat, local_normal);
    for (int i = 0; i < 3; i++) world[i] += p->pos[i];
    if (dot(normal, c->forward) > 0) {
      if (drawing) buf_add(out, "\"/>");
      drawing = false;
      continue;
    }
    Point2 at = project(c, world);
    if (!drawing) {
      buf_addf(out, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\".7\" points=\"", stroke);
    }
    buf_addf(out, "%s%.1f,%.1f", drawing ? " " : "", at.x, at.y);
    drawing = true;
  }
  if (drawing) buf_add(out, "\"/>");
}

// The outline of an ellipsoid is an ellipse: the image of the unit sphere under a 2 x 3 matrix M,
// whose axes are the eigenvectors of M M^T.
static void draw_ellipsoid(Buffer* out, const Placed* p, const Camera* c, const double size[3],
                           int color) {
  double m[2][3];
  for (int k = 0; k < 3; k++) {
    double column[3] = {p->mat[k] * size[k], p->mat[3 + k] * size[k], p->mat[6 + k] * size[k]};
    m[0][k] = c->scale * dot(c->right, column);
    m[1][k] = -c->scale * dot(c->up, column);
  }
  double xx = dot(m[0], m[0]), xy = dot(m[0], m[1]), yy = dot(m[1], m[1]);
  double middle = (xx + yy) / 2, half = sqrt((xx - yy) * (xx - yy) / 4 + xy * xy);
  double angle = atan2(xy, (xx - yy) / 2) / 2;
  Point2 at = project(c, p->pos);
  char stroke[8];
  shade(stroke, color, 0.5);
  buf_addf(out,
           "<ellipse rx=\"%.2f\" ry=\"%.2f\" transform=\"translate(%.1f %.1f) rotate(%.2f)\" "
           "fill=\"url(#ball%d)\" stroke=\"%s\" stroke-width=\".8\"/>",
           sqrt(middle + half), sqrt(fmax(middle - half, 0)), at.x, at.y, angle * 180 / M_PI,
           color, stroke);
  draw_meridian(out, p, c, size, 0, color);
  draw_meridian(out, p, c, size, 2, color);
}

static void draw_stroke(Buffer* out, Point2 a, Point2 b, double width, const char* color,
                        double opacity) {
  double longer = fabs(a.x - b.x) + fabs(a.y - b.y) < 0.05 ? 0.05 : 0;
  buf_addf(out,
           "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.2f\" y2=\"%.1f\" stroke=\"%s\" "
           "stroke-width=\"%.1f\" stroke-linecap=\"round\"",
           a.x, a.y, b.x + longer, b.y, color, width);
  if (opacity < 1) buf_addf(out, " opacity=\"%.2f\"", opacity);
  buf_add(out, "/>");
}

// A capsule's outline is a thick line with round ends.
static void draw_capsule(Buffer* out, const Placed* p, const Camera* c, int color) {
  double end[2][3];
  for (int i = 0; i < 3; i++) {
    end[0][i] = p->pos[i] - p->size[1] * p->mat[3 * i + 2];
    end[1][i] = p->pos[i] + p->size[1] * p->mat[3 * i + 2];
  }
  Point2 a = project(c, end[0]), b = project(c, end[1]);
  double width = 2 * p->size[0] * c->scale, shift = 0.14 * width;
  char dark[8], light[8];
  shade(dark, color, 0.5);
  shade(light, color, 1.45);
  draw_stroke(out, a, b, width + 1.2, dark, 1);
  draw_stroke(out, a, b, width, palette(color), 1);
  double lx = dot(c->light, c->right), ly = -dot(c->light, c->up);
  a.x += shift * lx, a.y += shift * ly, b.x += shift * lx, b.y += shift * ly;
  draw_stroke(out, a, b, 0.55 * width, light, 0.35);
  draw_stroke(out, a, b, 0.28 * width, light, 0.5);
}

void draw_geom(Buffer* out, const Placed* p, const Camera* c, int color) {
  double ball[3] = {p->size[0], p->size[0], p->size[0]};
  switch (p->type) {
    case DJ_SPHERE:
      draw_ellipsoid(out, p, c, ball, color);
      return;
    case DJ_ELLIPSOID:
      draw_ellipsoid(out, p, c, p->size, color);
      return;
    case DJ_CAPSULE:
      draw_capsule(out, p, c, color);
      return;
    case DJ_CYLINDER:
      draw_cylinder(out, p, c, color);
      break;
    case DJ_BOX:
      draw_box(out, p, c, color);
      break;
    case DJ_MESH:
      draw_mesh(out, p, c, color);
      break;
    case DJ_HFIELD:
      draw_field(out, p, c, color);
      return;
    case DJ_PLANE:
      return;
  }
  draw_outline(out, p, c, color);
}

void draw_shadow(Buffer* out, const Placed* p, const Camera* c, const double origin[3],
                 const double normal[3]) {
  double slope = dot(c->light, normal);
  if (!(slope > 0.1) || p->npoint < 3) return;
  Point2* corner = tool_alloc((size_t)p->npoint, sizeof *corner);
  int n = 0;
  for (int k = 0; k < p->npoint; k++) {
    double d[3], foot[3];
    for (int i = 0; i < 3; i++) d[i] = p->point[3 * k + i] - origin[i];
    double height = dot(d, normal);
    for (int i = 0; i < 3; i++) {
      foot[i] = p->point[3 * k + i] - (height > 0 ? height / slope : 0) * c->light[i];
    }
    corner[n++] = project(c, foot);
  }
  n = hull2(corner, n);
  buf_add(out, "<polygon points=\"");
  add_points(out, corner, n);
  buf_add(out, "\"/>");
  free(corner);
}
