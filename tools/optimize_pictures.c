// Pictures of an optimisation's report: runs of the start, of the result, and of the result in
// MuJoCo, to be played, and as stills.

#include "optimize_run.h"

#include "chart.h"
#include "picture_color.h"
#include "player.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIMES = 4, PICTURE_WIDE = 360, PICTURE_HIGH = 270, FEW = 8, POINTS = 300, ARROWS = 30 };
enum { STILLS_BYTES = 800000 };

const char before_color[] = "#8a8578", after_color[] = "#1f5fa8", mujoco_color[] = "#d9721e";
static const char* const mark_color = "#c2272d";
static const char* const tail_color = "#7a3fa0";

typedef struct Column {
  const char* title;
  const char* color;
  const djModel* model;
  int n;      // samples
  int stride; // steps from one to the next
  const double* xpos;
  const double* xquat;
  const double* qpos; // or NULL: no forces of a guide are drawn
  const Film* film;
  const char* note; // why it ended early, or ""
} Column;

// The sample of step k.
static int column_sample(const Column* c, int k) {
  int sample = (k + c->stride - 1) / c->stride;
  return sample < c->n ? sample : c->n - 1;
}

static Poses column_poses(const Column* c, const djModel* m, int k) {
  size_t at = (size_t)column_sample(c, k) * (size_t)m->nbody;
  return (Poses){c->xpos + 3 * at, c->xquat + 4 * at};
}

// A point that moves with a body.
typedef struct Traced {
  djObject object; // body, site or geom
  int id, body;
} Traced;

// What is shown, and from where.
typedef struct Show {
  const OptimizeRun* run;
  int ncolumn;
  Column column[PLAYER_RUNS];
  Traced traced;
  Camera camera;
  double* path[PLAYER_RUNS];
  int ntarget;
  Mark mark[FEW + 1 + ARROWS]; // targets first
} Show;

static Traced trace(const djModel* m, djObject object, int id) {
  Traced t = {object, id, id};
  if (object == DJ_OBJ_SITE)
    t.body = m->site_body[id];
  else if (object == DJ_OBJ_GEOM)
    t.body = m->geom_body[id];
  else
    t.object = DJ_OBJ_BODY;
  return t;
}

// That whose path is drawn: of the first term that has a place which moves, else the last moving
// body's frame.
static Traced traced_point(const OptimizeRun* r) {
  const djRollout* rollout = &r->grad.problem->rollout;
  const djModel* m = r->grad.design->model;
  for (int i = 0; i < rollout->nloss; i++) {
    const djLossTerm* t = &rollout->loss[i];
    if (t->type == DJ_LOSS_VELOCITY) return trace(m, DJ_OBJ_BODY, t->id);
    if (t->type != DJ_LOSS_POSITION && t->type != DJ_LOSS_DISTANCE) continue;
    Traced one = trace(m, t->object, t->id);
    if (t->type == DJ_LOSS_POSITION || picture_moves(m, one.body)) return one;
    Traced other = trace(m, t->object2, t->id2);
    if (picture_moves(m, other.body)) return other;
  }
  int body = 0;
  for (int b = 1; b < m->nbody; b++) {
    if (m->body_lastdof[b] >= 0) body = b;
  }
  return trace(m, DJ_OBJ_BODY, body);
}

// Its place in the body, in a model of the same elements.
static void traced_place(double place[3], const Traced* t, const djModel* m) {
  const double zero[3] = {0, 0, 0};
  const double* from = t->object == DJ_OBJ_SITE   ? m->site_pos + 3 * t->id
                       : t->object == DJ_OBJ_GEOM ? m->geom_pos + 3 * t->id
                                                  : zero;
  memcpy(place, from, sizeof zero);
}

static const char* traced_name(char text[16], const Traced* t, const djModel* m) {
  const char* name = dj_id2name(m, t->object, t->id);
  return name && *name ? name : scene_bodyName(text, m, t->body);
}

// Points of a path from one to the next, in samples: long ones are thinned out.
static int path_stride(const Column* c) { return (c->n + POINTS - 1) / POINTS; }

static double* point_path(int* n, const Column* c, const djModel* m, const Traced* t) {
  double* path = tool_alloc(3 * (size_t)c->n, sizeof *path);
  double place[3];
  *n = 0;
  traced_place(place, t, c->model);
  for (int i = 0; i < c->n; i += path_stride(c)) {
    size_t at = (size_t)i * (size_t)m->nbody + (size_t)t->body;
    picture_place(path + 3 * (*n)++, c->xpos + 3 * at, c->xquat + 4 * at, place);
  }
  return path;
}

// Targets in space.
static int find_targets(Mark* mark, const djRollout* rollout) {
  int n = 0;
  for (int i = 0; i < rollout->nloss && n < FEW; i++) {
    const djLossTerm* t = &rollout->loss[i];
    if (t->type != DJ_LOSS_POSITION && t->type != DJ_LOSS_COM) continue;
    mark[n++] = (Mark){1, t->target, mark_color, false};
  }
  return n;
}

// Motion that stays near a table is seen from above.
static double choose_elevation(const djModel* m, const Column* column, int n) {
  double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
  for (int k = 0; k < n; k++) {
    for (int i = 0; i < column[k].n * m->nbody; i++) {
      if (m->body_lastdof[i % m->nbody] < 0) continue;
      for (int j = 0; j < 3; j++) {
        low[j] = fmin(low[j], column[k].xpos[3 * i + j]);
        high[j] = fmax(high[j], column[k].xpos[3 * i + j]);
      }
    }
  }
  double wide = fmin(high[0] - low[0], high[1] - low[1]);
  return high[2] - low[2] < 0.5 * wide ? 0.95 : 0.32;
}

// The step of the i-th of n times.
static int time_step(const Show* s, int i, int n) {
  return (int)lround((double)i * s->run->grad.problem->rollout.horizon / (n - 1));
}

static void find_camera(Show* s) {
  const djModel* m = s->run->grad.design->model;
  Poses all[PLAYER_RUNS * TIMES];
  int n = 0;
  for (int i = 0; i < TIMES; i++) {
    for (int k = 0; k < s->ncolumn; k++) {
      all[n++] = column_poses(&s->column[k], m, time_step(s, i, TIMES));
    }
  }
  s->camera = camera_lookFrom(m, n, all, PICTURE_WIDE, PICTURE_HIGH,
                              choose_elevation(m, s->column, s->ncolumn));
  for (int k = 0; k < s->ntarget; k++) camera_include(&s->camera, 1, s->mark[k].point);
  for (int k = 0; k < s->ncolumn; k++) {
    int npoint;
    s->path[k] = point_path(&npoint, &s->column[k], m, &s->traced);
    camera_include(&s->camera, npoint, s->path[k]);
  }
}

// ---- stills

// One picture; tail may be NULL.
static void write_still(Buffer* out, Show* s, Tail* tail, int k, int step, const char* label) {
  const djModel* m = s->run->grad.design->model;
  const Column* c = &s->column[k];
  int npoint = column_sample(c, step) / path_stride(c) + 1;
  Mark* mark = s->mark;
  Poses poses = column_poses(c, m, step);
  mark[s->ntarget] = (Mark){npoint, s->path[k], c->color, false};
  int nmark = npoint > 1 ? s->ntarget + 1 : s->ntarget;
  if (tail && c->qpos) {
    size_t at = (size_t)column_sample(c, step) * (size_t)m->nq;
    nmark +=
        tail_arrows(mark + nmark, ARROWS, tail, c->qpos + at, 60 / s->camera.scale, tail_color);
  }
  picture_drawMarked(out, c->model, &poses, &s->camera, label, nmark, mark);
}

static void write_times(Buffer* out, Show* s, Tail* tail, int ntime) {
  const double h = s->run->grad.design->model->opt.timestep;
  char text[16];
  buf_add(out, "<h2>Before and after</h2>\n<p>");
  if (s->ntarget > 0)
    buf_addf(out, "The red ring%s mark%s the target. ", s->ntarget > 1 ? "s" : "",
             s->ntarget > 1 ? "" : "s");
  buf_add(out, "Lines are paths of ");
  html_text(out, traced_name(text, &s->traced, s->run->grad.design->model));
  buf_add(out, " up to the time shown. What cannot move is grey.");
  if (tail) {
    buf_add(out, " Purple lines, from the bodies, are forces of the guide's tail; the longest of a "
                 "picture have the same length, the others go by the root of their size.");
  }
  buf_add(out, "</p>\n");
  buf_addf(out, "<div class=\"three%s\">\n", s->ncolumn == 2 ? " two" : "");
  for (int k = 0; k < s->ncolumn; k++) buf_addf(out, "<h3>%s</h3>", s->column[k].title);
  for (int i = 0; i < ntime * s->ncolumn; i++) {
    int k = i % s->ncolumn, step = time_step(s, i / s->ncolumn, ntime);
    char label[80];
    snprintf(label, sizeof label, "%s at %.4g s", s->column[k].title, step * h);
    buf_add(out, "<figure><div>");
    write_still(out, s, tail, k, step, label);
    buf_addf(out, "</div><figcaption>t = %.4g s</figcaption></figure>\n", step * h);
  }
  buf_add(out, "</div>\n");
}

// At as many times as there is room for.
static void write_stills(Buffer* out, Show* s) {
  Tail* tail = tail_open(s->run);
  for (int ntime = TIMES; ntime >= 2; ntime--) {
    write_times(out, s, tail, ntime);
    if (out->size < STILLS_BYTES) break;
    buf_free(out);
  }
  if (!out->text) buf_add(out, "<p>The scene is too large for pictures.</p>\n");
  tail_close(tail);
}

// ---- player

static void play(Buffer* out, Show* s, size_t most) {
  Buffer still = {0};
  double target[3 * FEW];
  Player p = {
      .camera = &s->camera, .ntarget = s->ntarget, .target = target, .traced = s->traced.body};
  for (int k = 0; k < s->ntarget; k++) memcpy(target + 3 * k, s->mark[k].point, 3 * sizeof *target);
  for (int k = 0; k < s->ncolumn; k++) {
    const Column* c = &s->column[k];
    if (c->film->nframe == 0) continue;
    PlayerRun* run = &p.run[p.nrun++];
    *run = (PlayerRun){.name = c->title, .color = c->color, .film = c->film, .note = c->note};
    traced_place(run->point, &s->traced, c->film->model);
  }
  int middle = s->run->grad.problem->rollout.horizon / 2;
  write_still(&still, s, NULL, AT_END, middle, "A still picture of the result, in the middle");
  p.still = still.size < STILLS_BYTES / 8 ? still.text : "";
  if (p.nrun > 0) player_write(out, &p, most);
  buf_free(&still);
}

// Runs have the same bodies and geoms, which the player relies on.
static bool is_alike(const djModel* a, const djModel* b) {
  return a && b && a->nbody == b->nbody && a->ngeom == b->ngeom &&
         memcmp(a->geom_body, b->geom_body, (size_t)a->ngeom * sizeof(int)) == 0;
}

static void fill_columns(Show* s, const Replay* replay) {
  const OptimizeRun* r = s->run;
  const Course *a = &r->course[AT_START], *b = &r->course[AT_END];
  const djModel* last = r->grad.design->model;
  const djModel* first = a->film.model ? a->film.model : r->grad.scene.model;
  const char* note = "ended early: a step was not possible";
  int all = r->grad.problem->rollout.horizon + 1;
  s->column[0] = (Column){"Start", before_color, first,   a->nsample, 1,
                          a->xpos, a->xquat,     a->qpos, &a->film,   a->nsample < all ? note : ""};
  s->column[1] = (Column){"Result", after_color, last,    b->nsample, 1,
                          b->xpos,  b->xquat,    b->qpos, &b->film,   b->nsample < all ? note : ""};
  s->ncolumn = 2;
  const Record* record = &replay->record;
  if (!replay->done || record->nsample == 0 || !is_alike(last, replay->film.model)) return;
  s->column[s->ncolumn++] =
      (Column){"Result in MuJoCo", mujoco_color,     last, record->nsample, (int)record->stride,
               record->xpos[1],    record->xquat[1], NULL, &replay->film,   replay->note};
}

void optimize_pictures(Buffer* out, const OptimizeRun* r, const Replay* replay, size_t most) {
  if (r->course[AT_START].nsample == 0 || r->course[AT_END].nsample == 0) return;
  Show s = {.run = r, .traced = traced_point(r)};
  Buffer stills = {0};
  fill_columns(&s, replay);
  s.ntarget = find_targets(s.mark, &r->grad.problem->rollout);
  find_camera(&s);
  write_stills(&stills, &s);
  picture_defs(out);
  size_t used = stills.size + 2000; // what comes around it
  buf_add(out, "<h2>The runs</h2>\n");
  play(out, &s, used < most ? most - used : 0);
  buf_add(out, stills.text);
  buf_free(&stills);
  for (int k = 0; k < s.ncolumn; k++) free(s.path[k]);
}
