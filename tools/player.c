#include "player.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// From everything to what still tells something.
static const Detail detail_level[] = {{FILM_FRAMES + 1, 60},
                                      {200, 40},
                                      {150, 30},
                                      {100, 20},
                                      {70, 15},
                                      {50, 12},
                                      {35, 10},
                                      {25, 8},
                                      {15, 6},
                                      {8, 4},
                                      {4, 2},
                                      {2, 0}};
static const int face_level[] = {8000, 4000, 2000, 1000, 500, 200, 100};
enum {
  DETAIL_LEVELS = (int)(sizeof detail_level / sizeof detail_level[0]),
  FACE_LEVELS = (int)(sizeof face_level / sizeof face_level[0])
};

static void write_view(Json* out, const Camera* c) {
  json_object(out, "view");
  json_number(out, "azimuth", round(1e4 * atan2(-c->forward[1], -c->forward[0])) / 1e4);
  json_number(out, "elevation", round(1e4 * asin(fmax(-1, fmin(1, -c->forward[2])))) / 1e4);
  json_vector(out, "center", 3, c->center);
  json_number(out, "width", c->width / c->scale);
  json_number(out, "height", c->height / c->scale);
  json_end(out);
}

// The shapes and flexes, with as many faces as take no more than `most`, in an object that is left
// open. Returns false where meshes are coarser than they are.
static bool write_shapes(Buffer* text, const Player* p, size_t most) {
  bool all = true;
  for (int k = 0; k < FACE_LEVELS; k++) {
    Json out;
    buf_free(text);
    *text = (Buffer){0};
    json_start(&out, text);
    json_object(&out, NULL);
    all = player_shapes(&out, p, face_level[k]);
    player_flexes(&out, p);
    if (text->size <= most) break;
  }
  return all;
}

static void write_data(Buffer* text, const Player* p, const Buffer* shapes, const Detail* detail,
                       bool* all) {
  Json out;
  json_start(&out, text);
  json_object(&out, NULL);
  write_view(&out, p->camera);
  json_list(&out, "targets");
  for (int i = 0; i < p->ntarget; i++) json_vector(&out, NULL, 3, p->target + 3 * i);
  json_end(&out);
  *all = player_frames(&out, p, detail);
  buf_add(text, ",");
  buf_add(text, shapes->text + 1); // which begins with the object's brace
  buf_add(text, "\n}\n");
}

// Text of a script: "<" could begin the end of it.
static void add_script(Buffer* out, const char* text) {
  while (*text) {
    size_t n = strcspn(text, "<");
    buf_addn(out, text, n);
    text += n;
    if (*text == '<') buf_add(out, "\\u003c"), text++;
  }
}

static void write_notes(Buffer* out, bool meshes, bool frames) {
  if (!meshes) buf_add(out, "<p>For room meshes are shown coarser than they are.</p>\n");
  if (!frames) {
    buf_add(out, "<p>For room only some of the steps are shown, or of each the strongest of its "
                 "contact points.</p>\n");
  }
}

static void write_element(Buffer* out, const Player* p, const char* data, bool meshes,
                          bool frames) {
  buf_add(out, player_html);
  write_notes(out, meshes, frames);
  buf_addf(out,
           "<noscript><p>This page plays the runs by a script, which is switched off here; the "
           "pictures below show them, too.</p>%s</noscript>\n",
           p->still);
  buf_add(out, "<script type=\"application/json\" id=\"player-data\">");
  add_script(out, data);
  buf_add(out, "</script>\n");
  const char* const script[] = {solids_js, pictures_js, player_js};
  for (int k = 0; k < 3; k++) buf_addf(out, "<script>\n%s</script>\n", script[k]);
}

void player_write(Buffer* out, const Player* p, size_t most) {
  Buffer shapes = {0};
  bool meshes = write_shapes(&shapes, p, 2 * most / 5), done = false;
  for (int k = 0; k < DETAIL_LEVELS && !done; k++) {
    Buffer data = {0}, element = {0};
    bool frames;
    write_data(&data, p, &shapes, &detail_level[k], &frames);
    write_element(&element, p, data.text, meshes, frames);
    done = element.size <= most;
    if (done) buf_add(out, element.text);
    buf_free(&data);
    buf_free(&element);
  }
  if (!done) buf_add(out, "<p>The runs are too large to be played here.</p>\n");
  buf_free(&shapes);
}
