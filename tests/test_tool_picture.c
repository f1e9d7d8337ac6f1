// Pictures: where the camera stands and what it shows, what is drawn in which order.

#include "common/make_model.h"
#include "common/test.h"
#include "common/tool_case.h"
#include "flex_faces.h"
#include "picture.h"
#include "picture_color.h"
#include "picture_flex.h"
#include "picture_geom.h"
#include "triangles.h"

#include <dijoco/dijoco.h>

// Two balls above a floor; a wall where it is asked for.
static const char scene[] =
    "{\"dijoco_model\":1,\"bodies\":[{\"name\":\"world\"},"
    "{\"name\":\"a\",\"pos\":[%g,%g,1],\"mass\":1,\"inertia\":[0.004,0.004,0.004]},"
    "{\"name\":\"b\",\"pos\":[%g,%g,1],\"mass\":1,\"inertia\":[0.004,0.004,0.004]}],"
    "\"joints\":[{\"type\":\"free\",\"body\":\"a\"},{\"type\":\"free\",\"body\":\"b\"}],"
    "\"geoms\":[{\"type\":\"plane\",\"body\":\"world\",\"size\":[0,0,1]}%s,"
    "{\"type\":\"sphere\",\"body\":\"a\",\"size\":[0.1,0,0]},"
    "{\"type\":\"sphere\",\"body\":\"b\",\"size\":[0.1,0,0]}]}";

typedef struct Shot {
  djModel* m;
  djData* d;
  Poses poses;
} Shot;

static Shot take(double ax, double ay, double bx, double by, const char* more) {
  char text[1500];
  Shot s;
  djError err = {""};
  snprintf(text, sizeof text, scene, ax, ay, bx, by, more);
  djt_writeText("two.json", text);
  if (dj_loadModel(&s.m, "two.json", &err) != DJ_OK) fail_msg("%s", err.text);
  assert_int_equal(dj_makeData(&s.d, s.m, NULL), DJ_OK);
  assert_int_equal(dj_forward(s.m, s.d), DJ_OK);
  s.poses = (Poses){s.d->xpos, s.d->xquat};
  return s;
}

static void drop(Shot* s) { djt_delete(s->m, s->d); }

static double dot(const double* a, const double* b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// The camera's axes, and the rectangle of all points of the balls, in parts of the picture.
static void assertFramed(const Camera* c, const Shot* s, double tight) {
  const double* axis[3] = {c->right, c->up, c->forward};
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 3; k++) djt_near(dot(axis[i], axis[k]), i == k, 1e-14);
  }
  djt_near(dot(c->light, c->light), 1, 1e-14);
  double triple = c->right[0] * (c->up[1] * c->forward[2] - c->up[2] * c->forward[1]) +
                  c->right[1] * (c->up[2] * c->forward[0] - c->up[0] * c->forward[2]) +
                  c->right[2] * (c->up[0] * c->forward[1] - c->up[1] * c->forward[0]);
  djt_near(triple, -1, 1e-14);   // not mirrored
  assert_true(c->up[2] > 0);
  double low[2] = {1, 1}, high[2] = {0, 0};
  for (int g = 1; g < 3; g++) {
    Placed p;
    placed_make(&p, s->m, g, &s->poses);
    for (int i = 0; i < p.npoint; i++) {
      Point2 at = project(c, p.point + 3 * i);
      double part[2] = {at.x / c->width, at.y / c->height};
      for (int k = 0; k < 2; k++) low[k] = fmin(low[k], part[k]), high[k] = fmax(high[k], part[k]);
    }
    placed_free(&p);
  }
  for (int k = 0; k < 2; k++) {
    djt_near(low[k] + high[k], 1, 1e-12);   // in the middle
    assert_true(low[k] > 0.0999);
  }
  djt_near(fmax((high[0] - low[0]) / 0.8, (high[1] - low[1]) / 0.76), tight, 1e-9);
}

static void testLook(void) {
  Shot s = take(0, 0, 3, 0, "");
  Camera c = camera_look(s.m, 1, &s.poses, 300, 200);
  assert_int_equal(c.width, 300);
  assertFramed(&c, &s, 1);
  djt_near(c.forward[2], -sin(0.32), 1e-14);
  assert_true(fabs(c.right[0]) > 0.9 && c.right[2] == 0);   // across the wide direction
  Camera high = camera_lookFrom(s.m, 1, &s.poses, 300, 200, 1.2);
  djt_near(high.forward[2], -sin(1.2), 1e-14);
  assertFramed(&high, &s, 1);
  // The same direction framed on poses in which the balls are nearer: larger.
  Shot near = take(0, 0, 0.5, 0, "");
  Camera framed = c;
  camera_frame(&framed, near.m, 1, &near.poses);
  assert_memory_equal(framed.forward, c.forward, sizeof c.forward);
  assert_true(framed.scale > 2 * c.scale);
  assertFramed(&framed, &near, 1);
  // Over both poses it is as for the wider.
  Poses both[2] = {near.poses, s.poses};
  camera_frame(&framed, s.m, 2, both);
  djt_near(framed.scale, c.scale, 1e-9 * c.scale);
  drop(&near);
  drop(&s);
}

// A wall between the camera and the balls makes it look from elsewhere.
static void testHidden(void) {
  char wall[200];
  Shot s = take(0, 0, 0.5, 0, "");
  Camera c = camera_look(s.m, 1, &s.poses, 300, 200);
  double at[3];
  for (int i = 0; i < 3; i++) at[i] = s.d->xpos[3 + i] - 0.6 * c.forward[i];
  snprintf(wall, sizeof wall,
           ",{\"type\":\"sphere\",\"body\":\"world\",\"size\":[0.3,0,0],"
           "\"pos\":[%g,%g,%g]}",
           at[0], at[1], at[2]);
  Shot blocked = take(0, 0, 0.5, 0, wall);
  Camera other = camera_look(blocked.m, 1, &blocked.poses, 300, 200);
  double apart = 0;
  for (int i = 0; i < 3; i++) apart += other.forward[i] * (at[i] - s.d->xpos[3 + i]);
  assert_true(dot(c.forward, other.forward) < 0.9);
  if (apart < 0) {   // nearer than the ball: then beside it
    Point2 p = project(&other, at), q = project(&other, s.d->xpos + 3);
    assert_true(hypot(p.x - q.x, p.y - q.y) > 0.35 * other.scale);
  }
  drop(&blocked);
  drop(&s);
}

static void testInclude(void) {
  Shot s = take(0, 0, 0.5, 0, "");
  Camera c = camera_look(s.m, 1, &s.poses, 300, 200), before = c;
  camera_include(&c, 1, s.d->xpos + 3);
  djt_near(c.scale, before.scale, 1e-12 * c.scale);
  for (int i = 0; i < 3; i++) djt_near(c.center[i], before.center[i], 1e-14);
  const double far[6] = {0.2, 0.1, 7, -3, 5, 1};
  camera_include(&c, 2, far);
  assert_true(c.scale < before.scale);
  const double* point[4] = {far, far + 3, s.d->xpos + 3, s.d->xpos + 6};
  double least = 1;
  for (int i = 0; i < 4; i++) {
    Point2 p = project(&c, point[i]);
    least = fmin(least, fmin(p.x, c.width - p.x) / c.width - 0.1);
    least = fmin(least, fmin(p.y, c.height - p.y) / c.height - 0.12);
  }
  djt_near(least, 0, 1e-12);   // no more than it takes
  drop(&s);
}

static void testGrid(void) {
  for (double scale = 0.01; scale < 1e4; scale *= 1.3) {
    Camera c = {.width = 200, .height = 100, .scale = scale};
    double grid = picture_grid(&c), most = 0.75 * 200 / scale / 4;
    assert_true(grid <= most && most < 2.5 * grid);
    double rest = grid / pow(10, floor(log10(grid * 1.0001)));
    assert_true(fabs(rest - 1) < 1e-9 || fabs(rest - 2) < 1e-9 || fabs(rest - 5) < 1e-9);
  }
}

static char* draw(const Shot* s, const Camera* c, int nmark, const Mark* mark) {
  Buffer out = {0};
  picture_drawMarked(&out, s->m, &s->poses, c, "two balls", nmark, mark);
  return out.text;
}

// The ball behind is drawn first, from either side; colours are those of the bodies.
static void testOrder(void) {
  for (int k = 0; k < 2; k++) {
    Shot s = take(0, 0, 0.02, k ? 0.3 : -0.3, "");
    Camera c = {.right = {1, 0, 0},
                .up = {0, 0, 1},
                .forward = {0, 1, 0},
                .center = {0, 0, 1},
                .scale = 300,
                .width = 300,
                .height = 200,
                .light = {0, -1, 0}};
    char *svg = draw(&s, &c, 0, NULL), *a = strstr(svg, "#ball0"), *b = strstr(svg, "#ball1");
    assert_true(a && b && !strstr(a + 1, "#ball0") && !strstr(b + 1, "#ball1"));
    assert_int_equal(b < a, k == 1);
    assert_int_equal(strncmp(svg, "<svg viewBox=\"0 0 300 200\"", 26), 0);
    assert_non_null(strstr(svg, "aria-label=\"two balls\""));
    assert_string_equal(svg + strlen(svg) - 7, "</svg>\n");
    free(svg);
    assert_string_equal(picture_color(s.m, 1), palette(0));
    assert_string_equal(picture_color(s.m, 2), palette(1));
    assert_string_equal(picture_color(s.m, 0), palette(STATIC_COLOR));
    // What is beside the picture, or nowhere, is left out.
    s.d->xpos[3] = k ? 5 : -5;
    s.d->xpos[6] = NAN;
    svg = draw(&s, &c, 0, NULL);
    assert_null(strstr(svg, "#ball"));
    assert_null(strstr(svg, "nan"));
    free(svg);
    drop(&s);
  }
}

static void testParts(void) {
  Shot s = take(0, 0, 0.5, 0, "");
  Camera c = camera_look(s.m, 1, &s.poses, 300, 200);
  const double path[9] = {0, 0, 1, 0.1, 0, 1, 0.2, 0, 1.1};
  Mark mark[2] = {{3, path, "#123456", true}, {1, path, "#654321", false}};
  char *plain = draw(&s, &c, 0, NULL), *marked = draw(&s, &c, 2, mark), number[64];
  assert_int_equal(strncmp(plain, marked, strlen(plain) - 7), 0);   // marks are over all else
  char* line = strstr(marked, "stroke=\"#123456\"");
  assert_non_null(line);
  assert_non_null(strstr(line, "stroke-dasharray"));
  Point2 p[3];
  for (int i = 0; i < 3; i++) p[i] = project(&c, path + 3 * i);
  snprintf(number, sizeof number, "M%.1f %.1fL%.1f %.1fL%.1f %.1f\"", p[0].x, p[0].y, p[1].x,
           p[1].y, p[2].x, p[2].y);
  assert_non_null(strstr(line, number));
  snprintf(number, sizeof number, "<circle cx=\"%.1f\" cy=\"%.1f\"", p[0].x, p[0].y);
  assert_non_null(strstr(strstr(line, "#654321"), number));
  assert_non_null(strstr(plain, "<polygon"));   // the floor, which is not seen from below
  for (int i = 0; i < 3; i++) c.forward[i] = -c.forward[i], c.right[i] = -c.right[i];
  char* below = draw(&s, &c, 0, NULL);
  assert_null(strstr(below, "<polygon"));
  // Every gradient that a picture can ask for is there, once.
  Buffer defs = {0};
  picture_defs(&defs);
  for (int k = 0; k <= NCOLORS; k++) {
    snprintf(number, sizeof number, "id=\"ball%d\"", k);
    char* id = strstr(defs.text, number);
    assert_true(id && !strstr(id + 1, number));
    assert_non_null(strstr(id, palette(k)));
  }
  buf_free(&defs);
  free(plain);
  free(marked);
  free(below);
  drop(&s);
}

// A height field is a closed body of triangles, as many as there is room for, with the volume of what
// lies over its base; it is drawn, behind what stands on it.
static void testField(void) {
  static const char text[] =
      "{\"dijoco_model\":1,\"bodies\":[{\"name\":\"world\"},{\"name\":\"a\",\"pos\":[0,0,1],"
      "\"mass\":1,\"inertia\":[0.004,0.004,0.004]}],\"joints\":[{\"type\":\"free\",\"body\":\"a\"}],"
      "\"hfields\":[{\"name\":\"f\",\"size\":[1.5,1,0.25],\"heights\":[[0.1,0.2,0.3,0.1],"
      "[0.4,0.1,0.2,0.3],[0.2,0.2,0.1,0.4]]}],\"geoms\":[{\"type\":\"hfield\",\"body\":\"world\","
      "\"hfield\":\"f\"},{\"type\":\"sphere\",\"body\":\"a\",\"size\":[0.1,0,0]}]}";
  Shot s;
  djError err = {""};
  djt_writeText("field.json", text);
  if (dj_loadModel(&s.m, "field.json", &err) != DJ_OK) fail_msg("%s", err.text);
  assert_int_equal(dj_makeData(&s.d, s.m, NULL), DJ_OK);
  assert_int_equal(dj_forward(s.m, s.d), DJ_OK);
  s.poses = (Poses){s.d->xpos, s.d->xquat};
  for (int most = 3; most < 100; most += 90) {
    Triangles t;
    triangles_hfield(&t, s.m, 0, most);
    assert_int_equal(t.nface, most < 50 ? 2 + 8 : 2 * 6 + 2 * 10);
    double volume = 0, sum[3] = {0};
    for (int k = 0; k < t.nface; k++) {
      const double* v[3];
      for (int i = 0; i < 3; i++) v[i] = t.vert + 3 * t.face[3 * k + i];
      for (int i = 0; i < 3; i++) {
        int a = (i + 1) % 3, b = (i + 2) % 3;
        double area = (v[1][a] - v[0][a]) * (v[2][b] - v[0][b]) -
                      (v[1][b] - v[0][b]) * (v[2][a] - v[0][a]);
        sum[i] += area;
        if (i == 2) volume += area / 2 * ((v[0][2] + v[1][2] + v[2][2]) / 3 + 0.25);
      }
    }
    djt_near(sum[0], 0, 1e-14);   // its sides are closed, and open below
    djt_near(sum[1], 0, 1e-14);
    djt_near(sum[2], 2 * 3 * 2, 1e-13);
    // over cells of 1 by 1: the corner heights, by the triangles that share them
    if (most > 50) djt_near(volume, 6 * 0.25 + (2 * (0.1 + 0.4) + 1 * (0.1 + 0.2) +
                                    3 * (0.2 + 0.3 + 0.4 + 0.3 + 0.2 + 0.1) + 6 * (0.1 + 0.2)) / 6,
                            1e-13);
    triangles_free(&t);
  }
  Camera c = camera_look(s.m, 1, &s.poses, 300, 200);
  char* drawn = draw(&s, &c, 0, NULL);
  const char* ball = strstr(drawn, "<ellipse");
  assert_non_null(ball);
  int before = 0;
  for (const char* at = drawn; (at = strstr(at, "<polygon")) && at < ball; at++) before++;
  assert_true(before >= 12);   // all of the top, and the sides that are seen
  assert_null(strstr(ball, "<polygon"));
  free(drawn);
  drop(&s);
}

// Of two tetrahedra with a common side the other six are shown, of their flex's colour, where their
// vertices are, those behind first.
static void testFlex(void) {
  static const char text[] =
      "{\"dijoco_model\":1,\"bodies\":[{\"name\":\"world\"},{\"name\":\"a\",\"pos\":[0,0,1],"
      "\"mass\":1,\"inertia\":[0.004,0.004,0.004]}],"
      "\"joints\":[{\"type\":\"free\",\"body\":\"a\"}],\"flexes\":[{\"name\":\"f\","
      "\"dim\":3,\"young\":100,\"bodies\":[0,0,0,\"a\",0],"
      "\"pos\":[[1,0,0],[0,1,0],[0,0,1],[1,0.9,-0.2],[0,0,0]],"
      "\"vert\":[[1,0,0],[0,1,0],[0,0,1],[1,1,1],[0,0,0]],"
      "\"elements\":[[4,0,1,2],[3,1,0,2]]}]}";
  Shot s;
  djError err = {""};
  djt_writeText("flex.json", text);
  if (dj_loadModel(&s.m, "flex.json", &err) != DJ_OK) fail_msg("%s", err.text);
  assert_int_equal(dj_makeData(&s.d, s.m, NULL), DJ_OK);
  assert_int_equal(dj_forward(s.m, s.d), DJ_OK);
  s.poses = (Poses){s.d->xpos, s.d->xquat};
  FlexFaces faces = flex_faces(s.m, 0);
  assert_int_equal(faces.n, 6);
  assert_int_equal(faces.corners, 3);
  for (int i = 0; i < 6; i++) {
    int set = 0;
    for (int k = 0; k < 3; k++) set |= 1 << faces.vert[3 * i + k];
    assert_int_not_equal(set, 7);   // the common one
  }
  free(faces.vert);
  assert_string_equal(flex_color(s.m, 0), picture_color(s.m, 1));
  const double vertex[3] = {1, 0.9, 0.8};
  double point[3];
  flex_vertex(point, s.m, 3, &s.poses);
  for (int i = 0; i < 3; i++) djt_near(point[i], vertex[i], 1e-15);
  Camera c = camera_look(s.m, 1, &s.poses, 300, 200);
  FlexParts parts = flex_parts(s.m, &s.poses, &c);
  assert_int_equal(parts.n, 6);
  for (int i = 1; i < 6; i++) assert_true(parts.part[i].depth <= parts.part[i - 1].depth);
  flex_freeParts(&parts);
  drop(&s);
}

DJT_MAIN_IN(djt_enterFolder, djt_leaveFolder, testLook, testHidden, testInclude, testGrid,
            testOrder, testParts, testField, testFlex)
