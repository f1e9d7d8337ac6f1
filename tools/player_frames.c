// What the player moves: poses and contact points of each run, as whole numbers of small units.

#include "picture_color.h"
#include "player.h"
#include "scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double TURN = 1e-4; // unit of quaternions

// Pairs of geoms that touch in any run, in the order in which they come.
typedef struct Pairs {
  int n, capacity;
  int* geom; // (n x 2) ids
} Pairs;

static int pair_place(Pairs* p, const Touch* t) {
  for (int i = 0; i < p->n; i++) {
    if (p->geom[2 * i] == t->geom1 && p->geom[2 * i + 1] == t->geom2) return i;
  }
  if (p->n == p->capacity) {
    p->capacity = 2 * p->capacity + 16;
    p->geom = tool_grow(p->geom, 2 * (size_t)p->capacity, sizeof *p->geom);
  }
  p->geom[2 * p->n] = t->geom1;
  p->geom[2 * p->n + 1] = t->geom2;
  return p->n++;
}

// A power of ten, so small that what moves is seen to a part in thousands.
static double length_unit(const Player* p) {
  const djModel* m = p->run[0].film->model;
  Poses start = film_poses(p->run[0].film, 0);
  double size = 0;
  for (int g = 0; g < m->ngeom; g++) {
    if (m->geom_type[g] == DJ_PLANE || !picture_moves(m, m->geom_body[g])) continue;
    size = fmax(size, picture_size(m, g, &start));
  }
  if (!(size > 0)) size = 1;
  return pow(10, floor(log10(size / 1000)));
}

static void add_integer(Buffer* out, bool* some, double value) {
  buf_addf(out, "%s%.0f", *some ? "," : "", value + 0.0);
  *some = true;
}

// The unit quaternion of two that is nearer to the last one.
static void read_pose(double now[7], const Film* f, int frame, int body, double unit,
                      const double last[7]) {
  Poses at = film_poses(f, frame);
  double with = 0;
  for (int k = 0; k < 4; k++) with += at.xquat[4 * body + k] * last[3 + k];
  for (int k = 0; k < 3; k++) now[k] = round(at.xpos[3 * body + k] / unit);
  for (int k = 0; k < 4; k++) {
    now[3 + k] = round((with < 0 ? -1 : 1) * at.xquat[4 * body + k] / TURN);
  }
}

// Frames as lists: the first of all bodies, later ones what has been added of those that move.
static void write_poses(Buffer* out, const Film* f, const int* frame, int nframe, const int* body,
                        int nbody, double unit) {
  double* last = tool_alloc(7 * (size_t)nbody, sizeof *last);
  for (int i = 0; i < nframe; i++) {
    bool some = false;
    buf_add(out, i ? ",[" : "[");
    for (int b = 0; b < nbody; b++) {
      double now[7];
      if (i > 0 && !picture_moves(f->model, body[b])) continue;
      read_pose(now, f, frame[i], body[b], unit, last + 7 * b);
      for (int k = 0; k < 7; k++) {
        add_integer(out, &some, now[k] - last[7 * b + k]);
        last[7 * b + k] = now[k];
      }
    }
    buf_add(out, "]");
  }
  free(last);
}

// A frame's points: pair, state, place (3), force (3), in one list.
static bool write_touches(Buffer* out, const Frame* frame, int most, Pairs* pairs, double unit) {
  int n = frame->touch.n < most ? frame->touch.n : most;
  buf_add(out, "[");
  for (int i = 0; i < n; i++) {
    const Touch* t = &frame->touch.touch[i];
    buf_addf(out, "%s%d,%d", i ? "," : "", pair_place(pairs, t), (int)t->state);
    for (int k = 0; k < 3; k++) buf_addf(out, ",%.0f", round(t->point[k] / unit) + 0.0);
    for (int k = 0; k < 3; k++) {
      bool zero = fabs(t->force[k]) < 5e-5 * touch_size(t); // as far as the digits go
      buf_addf(out, ",%.4g", zero ? 0 : t->force[k]);
    }
  }
  buf_add(out, "]");
  return n == frame->all;
}

static bool write_run(Json* out, const PlayerRun* run, const int* frame, int nframe,
                      const int* body, int nbody, double unit, int most, Pairs* pairs) {
  Buffer poses = {0}, touches = {0};
  bool all = true, cut = false;
  int n = 0;
  while (n < nframe && frame[n] < run->film->nframe) n++;
  buf_add(&poses, "[");
  write_poses(&poses, run->film, frame, n, body, nbody, unit);
  buf_add(&poses, "]");
  buf_add(&touches, "[");
  for (int i = 0; i < n; i++) {
    if (i) buf_add(&touches, ",");
    cut = !write_touches(&touches, &run->film->frame[frame[i]], most, pairs, unit) || cut;
  }
  buf_add(&touches, "]");
  json_object(out, NULL);
  json_text(out, "name", run->name);
  json_text(out, "color", run->color);
  json_text(out, "note", run->note);
  json_vector(out, "point", 3, run->point);
  json_raw(out, "poses", poses.text);
  json_raw(out, "touches", touches.text);
  if (cut) { // how many there are of which
    json_list(out, "all");
    for (int i = 0; i < n; i++) json_integer(out, NULL, run->film->frame[frame[i]].all);
    json_end(out);
    all = false;
  }
  json_end(out);
  buf_free(&poses);
  buf_free(&touches);
  return all;
}

static void write_pairs(Json* out, const Pairs* pairs, const Player* p) {
  const djModel* m = p->run[0].film->model;
  int* geom = tool_alloc((size_t)m->ngeom, sizeof *geom);
  int n = player_geoms(geom, p);
  json_list(out, "pairs");
  for (int i = 0; i < pairs->n; i++) {
    json_list(out, NULL);
    for (int k = 0; k < 2; k++) {
      json_integer(out, NULL, player_find(geom, n, pairs->geom[2 * i + k]));
    }
    json_end(out);
  }
  json_end(out);
  free(geom);
}

// Frames of the longest film, evenly: returns how many.
static int choose_frames(int* frame, const Player* p, int most) {
  int have = 0, n = 0;
  for (int r = 0; r < p->nrun; r++) {
    if (p->run[r].film->nframe > have) have = p->run[r].film->nframe;
  }
  int every = most > 1 ? (have - 1 + most - 2) / (most - 1) : have;
  if (every < 1) every = 1;
  for (int i = 0; i < have; i += every) frame[n++] = i;
  if (n > 0 && frame[n - 1] != have - 1) frame[n++] = have - 1;
  return n;
}

bool player_frames(Json* out, const Player* p, const Detail* detail) {
  const djModel* m = p->run[0].film->model;
  int frame[FILM_FRAMES + 2], n = choose_frames(frame, p, detail->frames);
  int* body = tool_alloc((size_t)m->nbody, sizeof *body);
  int nbody = player_bodies(body, p);
  double unit = length_unit(p);
  const Film* longest = p->run[0].film;
  for (int r = 1; r < p->nrun; r++) {
    if (p->run[r].film->nframe > longest->nframe) longest = p->run[r].film;
  }
  Buffer times = {0};
  for (int i = 0; i < n; i++) {
    buf_addf(&times, "%c%.6g", i ? ',' : '[', longest->frame[frame[i]].time);
  }
  buf_add(&times, "]");
  json_raw(out, "times", times.text);
  buf_free(&times);
  json_number(out, "unit", unit);
  json_number(out, "turn", TURN);
  json_integer(out, "traced", player_find(body, nbody, p->traced));
  Pairs pairs = {0};
  bool all = n == longest->nframe;
  json_list(out, "runs");
  for (int r = 0; r < p->nrun; r++) {
    all = write_run(out, &p->run[r], frame, n, body, nbody, unit, detail->touches, &pairs) && all;
  }
  json_end(out);
  write_pairs(out, &pairs, p);
  free(pairs.geom);
  free(body);
  return all;
}
