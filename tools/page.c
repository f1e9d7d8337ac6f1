#include "page.h"

#include "chart.h"
#include "player.h"
#include "report.h"

#include <stdlib.h>
#include <string.h>

enum { VIEW_WIDE = 560, VIEW_HIGH = 420 };

void page_open(Page* p, int n, const Engine* engine, long steps) {
  *p = (Page){.n = n};
  for (int i = 0; i < n; i++) {
    bool own = engine[i].own;
    p->run[i].engine = &engine[i];
    p->run[i].name = own ? "DiJoCo" : "MuJoCo";
    p->run[i].color = own ? "#1f5fa8" : "#d9721e";
    film_open(&p->run[i].film, engine[i].model, steps);
  }
}

static void find_touches(TouchList* list, const Engine* e, long k) {
  list->n = 0;
  if (k == 0) return; // no step has been taken
  if (e->own)
    touch_dijoco(list, e->model, e->data);
  else
    touch_mujoco(list, e);
}

void page_add(Page* p, int run, long k) {
  const Engine* e = p->run[run].engine;
  Film* film = &p->run[run].film; // of a page that was not opened none is due
  if (!film_due(film, k)) return;
  find_touches(&p->touch, e, k);
  film_add(film, e->time, e->xpos, e->xquat, &p->touch);
}

static Camera find_camera(const Page* p) {
  int n = 0, all = 0;
  for (int i = 0; i < p->n; i++) all += p->run[i].film.nframe;
  Poses* poses = tool_alloc((size_t)all, sizeof *poses);
  for (int i = 0; i < p->n; i++) {
    for (int k = 0; k < p->run[i].film.nframe; k++) poses[n++] = film_poses(&p->run[i].film, k);
  }
  Camera camera = camera_look(p->run[0].film.model, n, poses, VIEW_WIDE, VIEW_HIGH);
  free(poses);
  return camera;
}

// The heaviest body that moves: the path of its centre of mass is drawn.
static int heaviest(const djModel* m) {
  int found = 0;
  for (int b = 1; b < m->nbody; b++) {
    bool moves = m->body_weld[b] != 0;
    if (moves && (found == 0 || m->body_mass[b] > m->body_mass[found])) found = b;
  }
  return found;
}

static void write_player(Buffer* out, const Page* p) {
  Camera camera = find_camera(p);
  Buffer still = {0};
  const djModel* m = p->run[0].film.model;
  Player player = {.camera = &camera, .traced = heaviest(m)};
  for (int i = 0; i < p->n; i++) {
    const Film* film = &p->run[i].film;
    bool whole = film->nframe == film_length(film);
    PlayerRun* run = &player.run[player.nrun++];
    *run =
        (PlayerRun){.name = p->run[i].name,
                    .color = p->run[i].color,
                    .film = film,
                    .note = whole ? "" : "ended early: what came after could not be done or shown"};
    memcpy(run->point, m->body_ipos + 3 * player.traced, sizeof run->point);
  }
  const Film* first = &p->run[0].film;
  Poses middle = film_poses(first, first->nframe / 2);
  picture_draw(&still, first->model, &middle, &camera, "A still picture of the run, in the middle");
  player.still = still.size < PAGE_BYTES / 8 ? still.text : "";
  player_write(out, &player, PAGE_BYTES - out->size);
  buf_free(&still);
}

void page_write(Buffer* out, const Page* p, const char* scene) {
  buf_add(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
               "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
               "<title>DiJoCo: ");
  html_text(out, scene);
  buf_addf(out, "</title><style>%s%s</style></head><body>\n<h1>", report_style, player_css);
  html_text(out, scene);
  buf_add(out, "</h1>\n");
  picture_defs(out);
  bool some = true;
  for (int i = 0; i < p->n; i++) some = some && p->run[i].film.nframe > 0;
  if (some) write_player(out, p);
  buf_add(out, "</body></html>\n");
}

void page_close(Page* p) {
  for (int i = 0; i < p->n; i++) film_close(&p->run[i].film);
  touch_free(&p->touch);
  *p = (Page){0};
}
