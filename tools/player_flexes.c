// Ropes, cloth and solids of the player: vertices in frames of bodies, which move, and what is
// between them.

#include "flex_faces.h"
#include "player.h"

#include <stdlib.h>

// Body, x, y, z of each vertex.
static void add_vertices(Buffer* out, const djModel* m, int flex, const int* body, int nbody) {
  buf_add(out, "[");
  for (int v = m->flex_vertadr[flex]; v < m->flex_vertadr[flex] + m->flex_vertnum[flex]; v++) {
    const double* x = m->flexvert_pos + 3 * v;
    buf_addf(out, "%s%d,%.6g,%.6g,%.6g", v > m->flex_vertadr[flex] ? "," : "",
             player_find(body, nbody, m->flexvert_body[v]), x[0] + 0.0, x[1] + 0.0, x[2] + 0.0);
  }
  buf_add(out, "]");
}

static void add_integers(Buffer* out, const int* x, int n) {
  buf_add(out, "[");
  for (int i = 0; i < n; i++) buf_addf(out, "%s%d", i ? "," : "", x[i]);
  buf_add(out, "]");
}

void player_flexes(Json* out, const Player* p) {
  const djModel* m = p->run[0].film->model;
  int* body = tool_alloc((size_t)m->nbody, sizeof *body);
  int nbody = player_bodies(body, p);
  json_list(out, "flexes");
  for (int f = 0; f < m->nflex; f++) {
    Buffer vert = {0}, part = {0};
    FlexFaces faces = flex_faces(m, f);
    add_vertices(&vert, m, f, body, nbody);
    add_integers(&part, faces.vert, faces.corners * faces.n);
    json_object(out, NULL);
    json_text(out, "name", dj_id2name(m, DJ_OBJ_FLEX, f));
    json_text(out, "color", flex_color(m, f));
    json_number(out, "radius", m->flex_radius[f]);
    json_raw(out, "vert", vert.text);
    json_raw(out, faces.corners == 3 ? "face" : "edge", part.text);
    json_end(out);
    buf_free(&vert);
    buf_free(&part);
    free(faces.vert);
  }
  json_end(out);
  free(body);
}
