// The player of reports: what a film keeps, that its data are JSON and say what the engine says,
// and that it is never larger than it may be.

#include "common/make_model.h"
#include "common/test.h"
#include "common/tool_case.h"
#include "film.h"
#include "page.h"
#include "player.h"
#include "touch.h"
#include "triangles.h"

#include <cjson/cJSON.h>

#include <dijoco/dijoco.h>

static Camera someCamera(void) {
  return (Camera){.right = {1, 0, 0},
                  .up = {0, 0, 1},
                  .forward = {0, 1, 0},
                  .scale = 100,
                  .width = 360,
                  .height = 270,
                  .light = {0, -1, 0}};
}

static const cJSON* key(const cJSON* object, const char* name) {
  const cJSON* found = cJSON_GetObjectItemCaseSensitive(object, name);
  if (!found) fail_msg("no %s", name);
  return found;
}
static double number(const cJSON* list, int i) {
  const cJSON* found = cJSON_GetArrayItem(list, i);
  assert_true(cJSON_IsNumber(found));
  return found->valuedouble;
}

// The element, well formed, and its data.
static cJSON* playerData(char** page, const Player* p, size_t most) {
  Buffer out = {0};
  player_write(&out, p, most);
  djt_wellFormed(out.text);
  assert_true(out.size <= most);
  char* data = strstr(out.text, "id=\"player-data\">");
  cJSON* json = data ? cJSON_Parse(strchr(data, '>') + 1) : NULL;
  if (page)
    *page = out.text;
  else
    buf_free(&out);
  return json;
}

// Place and rotation of a body at a frame, as the script finds them.
static void poseAt(double pose[7], const cJSON* data, const cJSON* run, int frame, int body) {
  const cJSON *bodies = key(data, "bodies"), *poses = key(run, "poses");
  int n = cJSON_GetArraySize(bodies);
  memset(pose, 0, 7 * sizeof *pose);
  for (int f = 0; f <= frame; f++) {
    const cJSON* list = cJSON_GetArrayItem(poses, f);
    int at = 0;
    for (int b = 0; b < n; b++) {
      bool moves = cJSON_IsTrue(key(cJSON_GetArrayItem(bodies, b), "moves"));
      if (f > 0 && !moves) continue;
      for (int k = 0; k < 7; k++, at++) {
        if (b == body) pose[k] += number(list, at);
      }
    }
    assert_int_equal(at, cJSON_GetArraySize(list));
  }
  for (int k = 0; k < 7; k++) pose[k] *= key(data, k < 3 ? "unit" : "turn")->valuedouble;
}

// ---- what the engine says

// A box that slides and turns on a floor and into a ball.
static djModel* slide(const char* contact) {
  static const char scene[] =
      "{\"dijoco_model\":1,\"option\":{\"timestep\":0.004,\"integrator\":\"bdf1\","
      "\"contact\":\"%s\"},\"bodies\":[{\"name\":\"world\"},"
      "{\"name\":\"</script>\",\"pos\":[0,0,0.1],\"mass\":1,\"inertia\":[0.01,0.01,0.01]},"
      "{\"pos\":[0.22,0.01,0.1],\"mass\":0.5,\"inertia\":[0.002,0.002,0.002]}],"
      "\"joints\":[{\"type\":\"free\",\"body\":1},{\"type\":\"free\",\"body\":2}],"
      "\"geoms\":[{\"type\":\"plane\",\"body\":0,\"size\":[0,0,1]},"
      "{\"type\":\"box\",\"body\":1,\"size\":[0.1,0.1,0.1]},"
      "{\"type\":\"sphere\",\"body\":2,\"size\":[0.1,0,0]}]}";
  char text[sizeof scene + 50];
  snprintf(text, sizeof text, scene, contact);
  djt_writeText("slide.json", text);
  djModel* m = djt_load("slide.json");
  return m;
}

// All steps; forces of the step of one frame (by geoms, on the higher) and its states are kept.
typedef struct Kept {
  double force[9][3], xpos[9], xquat[12];
  int points[TOUCH_STATES], all;
} Kept;

static void keep(Kept* k, const djModel* m, djData* d) {
  memset(k, 0, sizeof *k);
  for (int i = 0; i < d->npair; i++) {
    const djContactPair* p = &d->pair[i];
    memcpy(k->force[3 * p->geom1 + p->geom2], p->force, sizeof p->force);
  }
  static djcPenaltyPoint point[500];
  static double place[1500];
  static int geom[1000];
  assert_int_equal(dj_contactPoints(&k->all, point, place, geom, 500, m, d), DJ_OK);
  for (int i = 0; i < k->all; i++) {
    k->points[point[i].state == DJC_FREE    ? TOUCH_FREE
              : point[i].state == DJC_STICK ? TOUCH_STICKS
                                            : TOUCH_SLIPS]++;
  }
  if (k->all == 0) k->all = k->points[TOUCH_ACTS] = d->npair;
  memcpy(k->xpos, d->xpos, sizeof k->xpos);
  memcpy(k->xquat, d->xquat, sizeof k->xquat);
}

static void shoot(Film* f, Kept* kept, const djModel* m, long steps, long step) {
  djData* d = djt_data(m);
  TouchList touch = {0};
  film_open(f, m, steps);
  d->qvel[0] = 1.5, d->qvel[5] = 3;
  for (long k = 0; k <= steps; k++) {
    if (k > 0) assert_true(dj_step(m, d) >= 0);
    if (k == step) keep(kept, m, d);
    if (!film_due(f, k)) continue;
    if (k > 0) touch_dijoco(&touch, m, d);
    film_add(f, 0.004 * (double)k, d->xpos, d->xquat, &touch);
  }
  touch_free(&touch);
  dj_deleteData(d);
}

static void assertKept(const cJSON* data, const Kept* kept, int frame) {
  const cJSON* run = cJSON_GetArrayItem(key(data, "runs"), 0);
  for (int b = 0; b < 3; b++) {
    double pose[7], turned = 0;
    poseAt(pose, data, run, frame, b);
    for (int k = 0; k < 3; k++) djt_near(pose[k], kept->xpos[3 * b + k], 2e-4);
    for (int k = 0; k < 4; k++) turned += pose[3 + k] * kept->xquat[4 * b + k];
    djt_near(fabs(turned), 1, 2e-4);
    double before[7], with = 0; // so near that the way between them is the short one
    poseAt(before, data, run, frame - 1, b);
    for (int k = 0; k < 4; k++) with += pose[3 + k] * before[3 + k];
    assert_true(with > 0.9);
  }
  const cJSON *list = cJSON_GetArrayItem(key(run, "touches"), frame), *pairs = key(data, "pairs");
  double force[9][3] = {{0}}, most = 0;
  int points[TOUCH_STATES] = {0};
  assert_int_equal(cJSON_GetArraySize(list), 8 * kept->all);
  for (int i = 0; i < 8 * kept->all; i += 8) {
    const cJSON* pair = cJSON_GetArrayItem(pairs, (int)number(list, i));
    int a = (int)number(pair, 0), b = (int)number(pair, 1);
    double* sum = force[a < b ? 3 * a + b : 3 * b + a];
    points[(int)number(list, i + 1)]++;
    for (int k = 0; k < 3; k++) sum[k] += (a < b ? 1 : -1) * number(list, i + 5 + k);
  }
  for (int p = 0; p < 9; p++) {
    for (int k = 0; k < 3; k++) {
      djt_near(force[p][k], kept->force[p][k], 1e-2);
      most = fmax(most, fabs(force[p][k]));
    }
  }
  assert_true(most > 1);
  for (int k = 0; k < TOUCH_STATES; k++) assert_int_equal(points[k], kept->points[k]);
}

static void testForces(void) {
  static const char* const contact[] = {"penalty", "separating_plane", "implicit_surface"};
  for (int c = 0; c < 3; c++) {
    djModel* m = slide(contact[c]);
    Camera camera = someCamera();
    Film film;
    Kept kept;
    shoot(&film, &kept, m, 40, 17);
    assert_int_equal(film.nframe, 41);
    Player p = {.nrun = 1,
                .run = {{"a<b", "#123456", &film, "", {0}}},
                .camera = &camera,
                .traced = 1,
                .still = "<b>x</b>"};
    char* page;
    cJSON* data = playerData(&page, &p, 1000000);
    assert_non_null(data);
    assert_int_equal(cJSON_GetArraySize(key(data, "times")), 41);
    djt_near(number(key(data, "times"), 17), 0.068, 1e-9);
    const cJSON* run = cJSON_GetArrayItem(key(data, "runs"), 0);
    assert_string_equal(key(run, "name")->valuestring, "a<b");
    assertKept(data, &kept, 17);
    assert_null(strstr(page, "a<b")); // no text of the data can end the script
    assert_null(strstr(page, "http"));
    assert_non_null(strstr(page, "<noscript>"));
    assert_non_null(strstr(page, "<b>x</b></noscript>"));
    assert_null(strstr(page, "For room"));
    cJSON* again = playerData(NULL, &p, 1000000); // the same bytes
    assert_true(cJSON_Compare(data, again, true));
    cJSON_Delete(again);
    cJSON_Delete(data);
    free(page);
    film_close(&film);
    dj_deleteModel(m);
  }
}

// ---- room

// Balls of 2 m, rings of as many vertices as there are rings; closed: with all their triangles.
static djModel* manyVertices(int rings, int nball, bool closed) {
  Buffer text = {0};
  buf_add(&text, "{\"dijoco_model\":1,\"bodies\":[{\"name\":\"world\"}");
  for (int i = 0; i < nball; i++) {
    buf_add(&text, ",{\"mass\":1,\"inertia\":[1,1,1]}");
  }
  buf_add(&text, "],\"joints\":[");
  for (int i = 1; i <= nball; i++) {
    buf_addf(&text, "%s{\"type\":\"free\",\"body\":%d}", i > 1 ? "," : "", i);
  }
  buf_add(&text, "],\"meshes\":[{\"name\":\"m\",\"vert\":[[0,0,-1],[0,0,1]");
  for (int i = 0; i < rings * rings; i++) {
    double polar = M_PI * (i / rings + 1) / (rings + 1), a = 2 * M_PI * (i % rings) / rings;
    buf_addf(&text, ",[%.9g,%.9g,%.9g]", sin(polar) * cos(a), sin(polar) * sin(a), -cos(polar));
  }
  buf_add(&text, closed ? "],\"triangles\":[" : "]");
  for (int k = 0; k < rings && closed; k++) {
    int next = (k + 1) % rings, top = 2 + rings * (rings - 1);
    buf_addf(&text, "%s[0,%d,%d],[1,%d,%d]", k ? "," : "", 2 + next, 2 + k, top + k, top + next);
    for (int i = 0; i + 1 < rings; i++) {
      int a = 2 + rings * i + k, b = 2 + rings * i + next;
      buf_addf(&text, ",[%d,%d,%d],[%d,%d,%d]", a, b, b + rings, a, b + rings, a + rings);
    }
  }
  buf_add(&text, closed ? "]}],\"geoms\":[" : "}],\"geoms\":[");
  for (int i = 1; i <= nball; i++) {
    buf_addf(&text, "%s{\"type\":\"mesh\",\"mesh\":\"m\",\"body\":%d}", i > 1 ? "," : "", i);
  }
  buf_add(&text, "]}");
  djt_writeText("many.json", text.text);
  buf_free(&text);
  djModel* m = djt_load("many.json");
  return m;
}

// A long run in which all moves and much touches.
static void shootLong(Film* f, const djModel* m, long steps) {
  TouchList touch = {0};
  size_t n = (size_t)m->nbody;
  double *xpos = tool_alloc(3 * n, sizeof *xpos), *xquat = tool_alloc(4 * n, sizeof *xquat);
  film_open(f, m, steps);
  for (long k = 0; k <= steps; k++) {
    if (!film_due(f, k)) continue;
    double t = (double)k;
    for (size_t b = 0; b < n; b++) {
      for (int j = 0; j < 3; j++) xpos[3 * b + (size_t)j] = b ? 5 * sin(t + (double)b + j) : 0;
      xquat[4 * b] = b ? cos(0.1 * t) : 1;
      xquat[4 * b + 3] = b ? sin(0.1 * t) : 0;
    }
    touch.n = 0;
    for (int i = 0; i < 500; i++) {
      *touch_add(&touch) = (Touch){0, i % m->ngeom, TOUCH_ACTS, {sin(t + i), i, -t}, {i, 0.1, -i}};
    }
    film_add(f, 0.001 * t, xpos, xquat, &touch);
  }
  touch_free(&touch);
  free(xpos);
  free(xquat);
}

static void testRoom(void) {
  static const size_t most[] = {2000000, 1200000, 300000, 20000};
  static const int ball[] = {3, 40};
  for (int k = 0; k < 2; k++) {
    djModel* m = manyVertices(k ? 20 : 140, ball[k], k == 0);
    Camera camera = someCamera();
    Film film[3];
    Player p = {.nrun = 3, .camera = &camera, .traced = 1, .still = ""};
    for (int r = 0; r < 3; r++) {
      shootLong(&film[r], m, 100000);
      assert_int_equal(film[r].nframe, film_length(&film[r]));
      assert_true(film[r].nframe > FILM_FRAMES / 2 && film[r].nframe <= FILM_FRAMES + 1);
      p.run[r] = (PlayerRun){"r", "#000000", &film[r], "", {0}};
    }
    for (int i = 0; i < 4; i++) {
      char* page;
      cJSON* data = playerData(&page, &p, most[i]);
      assert_int_equal(!data, i == 3); // the script alone is longer
      if (data) {
        int n = cJSON_GetArraySize(key(data, "times"));
        assert_true(n >= 2);
        assert_true(i > 1 || n >= 8);
        djt_near(number(key(data, "times"), n - 1), 100, 1e-9); // its end is there
        assert_non_null(strstr(page, "For room"));
        const cJSON* run = cJSON_GetArrayItem(key(data, "runs"), 1);
        assert_int_equal(number(key(run, "all"), 0), 500);
      } else {
        assert_non_null(strstr(page, "too large"));
      }
      cJSON_Delete(data);
      free(page);
    }
    for (int r = 0; r < 3; r++) film_close(&film[r]);
    dj_deleteModel(m);
  }
}

// ---- films, lists, triangles

static void testFilm(void) {
  djModel* m = slide("separating_plane");
  static const long steps[] = {1, 299, 300, 301, 1000, 100001};
  for (int i = 0; i < 6; i++) {
    Film f;
    film_open(&f, m, steps[i]);
    assert_true(film_length(&f) <= FILM_FRAMES + 1);
    assert_int_equal(film_step(&f, 0), 0);
    assert_int_equal(film_step(&f, film_length(&f) - 1), steps[i]);
    assert_true(film_step(&f, film_length(&f) - 2) < steps[i]);
    assert_true(film_due(&f, 0) && !film_due(&f, 1));
    film_close(&f);
    assert_false(film_due(&f, 0)); // one that was never opened is never due
  }
  // A pose that is not a number ends it.
  Film f;
  double xpos[9] = {0}, xquat[12] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0};
  film_open(&f, m, 3);
  film_add(&f, 0, xpos, xquat, NULL);
  xpos[4] = NAN;
  film_add(&f, 1, xpos, xquat, NULL);
  assert_int_equal(f.nframe, 1);
  assert_false(film_due(&f, 2));
  film_close(&f);
  dj_deleteModel(m);
}

static void testSort(void) {
  TouchList list = {0};
  for (int i = 0; i < 50; i++) {
    *touch_add(&list) = (Touch){i, 60, TOUCH_ACTS, {0}, {0, 0, i % 7}};
  }
  touch_sort(&list, 30);
  assert_int_equal(list.n, 30);
  for (int i = 1; i < 30; i++) {
    double before = touch_size(&list.touch[i - 1]), now = touch_size(&list.touch[i]);
    assert_true(before > now || (before == now && list.touch[i - 1].geom1 < list.touch[i].geom1));
  }
  touch_free(&list);
}

static double volumeOf(const Triangles* t) {
  double volume = 0;
  for (int f = 0; f < t->nface; f++) {
    const double *a = t->vert + 3 * t->face[3 * f], *b = t->vert + 3 * t->face[3 * f + 1],
                 *c = t->vert + 3 * t->face[3 * f + 2];
    volume += (a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
               a[2] * (b[0] * c[1] - b[1] * c[0])) /
              6;
  }
  return volume;
}

// Fewer faces, still about as large, closed and outward: the volume tells. Without triangles they
// are those of the hull.
static void testThin(void) {
  static const int most[] = {20000, 5000, 1000, 200, 30};
  for (int closed = 0; closed < 2; closed++) {
    djModel* m = manyVertices(70, 1, closed);
    for (int i = 0; i < 5; i++) {
      Triangles t;
      triangles_mesh(&t, m, 0, false);
      int before = t.nface;
      if (closed)
        assert_int_equal(before, 2 * 70 * 70);
      else
        assert_true(before > 1500);
      triangles_thin(&t, most[i]);
      assert_true(t.nface <= most[i] && t.nface >= 8);
      assert_true(i == 4 || t.nface > most[i] / 2 || t.nface == before);
      if (i < 3)
        djt_near(volumeOf(&t), 4.18879, 0.2);
      else
        assert_true(volumeOf(&t) > 0.8 && volumeOf(&t) < 4.2);
      triangles_free(&t);
    }
    dj_deleteModel(m);
  }
}

// What is added to a page that is not open is dropped.
static void testPage(void) {
  Page page = {0};
  page_add(&page, 0, 0);
  page_add(&page, 0, 1);
  assert_int_equal(page.run[0].film.nframe, 0);
  page_close(&page);
}

DJT_MAIN_IN(djt_enterFolder, djt_leaveFolder, testForces, testRoom, testFilm, testSort, testThin,
            testPage)
