// What the player draws: geoms, and of each run their shapes.

#include "picture_color.h"
#include "player.h"
#include "scene.h"
#include "triangles.h"

#include <dijoco/surface.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIELD_FACES = 20000 }; // of a height field

int player_find(const int* id, int n, int wanted) {
  for (int i = 0; i < n; i++) {
    if (id[i] == wanted) return i;
  }
  return -1;
}

int player_geoms(int* geom, const Player* p) {
  const djModel* m = p->run[0].film->model;
  int n = 0;
  for (int g = 0; g < m->ngeom; g++) {
    if (m->geom_type[g] == DJ_PLANE || picture_draws(m, g)) geom[n++] = g;
  }
  return n;
}

int player_bodies(int* body, const Player* p) {
  const djModel* m = p->run[0].film->model;
  bool* used = tool_alloc((size_t)m->nbody, sizeof *used);
  for (int g = 0; g < m->ngeom; g++) {
    if (m->geom_type[g] == DJ_PLANE || picture_draws(m, g)) used[m->geom_body[g]] = true;
  }
  for (int v = 0; v < m->nflexvert; v++) used[m->flexvert_body[v]] = true;
  used[p->traced] = true;
  int n = 0;
  for (int b = 0; b < m->nbody; b++) {
    if (used[b]) body[n++] = b;
  }
  free(used);
  return n;
}

// Numbers with so many digits are shorter than those that are read back to the last bit.
static void add_numbers(Buffer* out, const double* x, int n, int digits) {
  for (int i = 0; i < n; i++) buf_addf(out, "%s%.*g", i ? "," : "", digits, x[i] + 0.0);
}

static void add_place(Buffer* out, const double pos[3], const double quat[4]) {
  buf_add(out, "],\"pos\":[");
  add_numbers(out, pos, 3, 6);
  buf_add(out, "],\"quat\":[");
  add_numbers(out, quat, 4, 6);
  buf_add(out, "]");
}

// ---- meshes

// Vertices by whole numbers of a unit of their own.
static void add_triangles(Buffer* out, const Triangles* t, bool smooth) {
  double size = 1e-9;
  for (int i = 0; i < 3 * t->nvert; i++) size = fmax(size, fabs(t->vert[i]));
  double unit = size / 2000;
  buf_addf(out, "{\"type\":\"mesh\",\"smooth\":%s,\"unit\":%.6g,\"vert\":[",
           smooth ? "true" : "false", unit);
  for (int i = 0; i < 3 * t->nvert; i++) {
    buf_addf(out, "%s%ld", i ? "," : "", lround(t->vert[i] / unit));
  }
  buf_add(out, "],\"face\":[");
  for (int i = 0; i < 3 * t->nface; i++) buf_addf(out, "%s%d", i ? "," : "", t->face[i]);
}

// The surface by which a geom touches, where that is not nearly the geom itself.
static bool find_surface(djSurface* s, Triangles* t, const djModel* m, int geom) {
  djSurfaceMesh mesh;
  if (dj_geomSurface(s, m, geom, NULL) < 0) return false;
  if (dj_makeSurfaceMesh(&mesh, m, geom, 0.01, NULL) < 0) return false;
  double size = 0;
  for (int i = 0; i < 3 * mesh.nvert; i++) size = fmax(size, fabs(mesh.vert[i]));
  bool shown = s->given || fmax(s->inside, s->outside) > 0.03 * size;
  if (shown) {
    *t = (Triangles){mesh.nvert, tool_alloc(3 * (size_t)mesh.nvert, sizeof(double)), mesh.nface,
                     tool_alloc(3 * (size_t)mesh.nface, sizeof(int))};
    memcpy(t->vert, mesh.vert, 3 * (size_t)mesh.nvert * sizeof(double));
    memcpy(t->face, mesh.face, 3 * (size_t)mesh.nface * sizeof(int));
  }
  dj_freeSurfaceMesh(&mesh);
  return shown;
}

// ---- shapes

static const char* type_name(int type) {
  switch ((djGeomType)type) {
    case DJ_PLANE:
      return "plane";
    case DJ_SPHERE:
      return "sphere";
    case DJ_CAPSULE:
      return "capsule";
    case DJ_ELLIPSOID:
      return "ellipsoid";
    case DJ_CYLINDER:
      return "cylinder";
    case DJ_BOX:
      return "box";
    case DJ_MESH:
    case DJ_HFIELD:
      break;
  }
  return "none"; // there is no picture of it
}

// Shapes of a run: those that are of triangles have some, the first of a mesh those of all.
typedef struct Shape {
  Triangles t;
  bool smooth;            // a surface
  int like;               // an earlier one of the same mesh, or -1
  double pos[3], quat[4]; // in the body
} Shape;

static void make_shapes(Shape* shape, const djModel* m, const int* geom, int n) {
  int* first = tool_alloc((size_t)m->nmesh, sizeof *first); // of a mesh; counted from 1
  for (int i = 0; i < n; i++) {
    Shape* s = &shape[i];
    djSurface surface;
    int g = geom[i], mesh = m->geom_type[g] == DJ_MESH ? m->geom_mesh[g] : -1;
    *s = (Shape){.like = -1};
    s->smooth = find_surface(&surface, &s->t, m, g);
    memcpy(s->pos, s->smooth ? surface.pos : m->geom_pos + 3 * g, sizeof s->pos);
    memcpy(s->quat, s->smooth ? surface.quat : m->geom_quat + 4 * g, sizeof s->quat);
    if (m->geom_type[g] == DJ_HFIELD && m->geom_hfield[g] >= 0) {
      triangles_hfield(&s->t, m, m->geom_hfield[g], FIELD_FACES);
    }
    if (s->smooth || mesh < 0) continue;
    s->like = first[mesh] - 1;
    if (s->like >= 0) continue;
    first[mesh] = i + 1;
    triangles_mesh(&s->t, m, mesh, false);
  }
  free(first);
}

static void free_shapes(Shape* shape, int n) {
  for (int i = 0; i < n; i++) triangles_free(&shape[i].t);
  free(shape);
}

static void add_shape(Buffer* out, const djModel* m, int geom, const Shape* s) {
  if (m->geom_flex[geom] >= 0) {   // the flex itself is drawn
    buf_add(out, "{\"type\":\"none\",\"size\":[");
  } else if (s->t.nface > 0) {
    add_triangles(out, &s->t, s->smooth);
  } else if (s->like >= 0) {
    buf_addf(out, "{\"type\":\"mesh\",\"like\":%d,\"size\":[", s->like);
  } else {
    buf_addf(out, "{\"type\":\"%s\",\"size\":[", type_name(m->geom_type[geom]));
    add_numbers(out, m->geom_size + 3 * geom, 3, 6);
  }
  add_place(out, s->pos, s->quat);
  buf_add(out, "}");
}

// All shapes, with so many faces at most. Returns false where they are coarser than they are.
static bool add_look(Buffer* out, const djModel* m, const int* geom, int n, int most) {
  Shape* shape = tool_alloc((size_t)n, sizeof *shape);
  double faces = 0;
  bool all = true;
  make_shapes(shape, m, geom, n);
  for (int i = 0; i < n; i++) faces += shape[i].t.nface;
  buf_add(out, "[");
  for (int i = 0; i < n; i++) {
    int before = shape[i].t.nface;
    triangles_thin(&shape[i].t, (int)fmax(most / fmax(faces, 1) * before, 24));
    all = all && shape[i].t.nface == before;
    if (i) buf_add(out, ",");
    add_shape(out, m, geom[i], &shape[i]);
  }
  buf_add(out, "]");
  free_shapes(shape, n);
  return all;
}

static void write_geoms(Json* out, const Player* p, const int* geom, int ngeom) {
  const djModel* m = p->run[0].film->model;
  char text[32];
  int* body = tool_alloc((size_t)m->nbody, sizeof *body);
  int nbody = player_bodies(body, p);
  json_list(out, "bodies");
  for (int i = 0; i < nbody; i++) {
    json_object(out, NULL);
    json_text(out, "name", scene_bodyName(text, m, body[i]));
    json_bool(out, "moves", picture_moves(m, body[i]));
    json_end(out);
  }
  json_end(out);
  json_list(out, "geoms");
  for (int i = 0; i < ngeom; i++) {
    const char* name = dj_id2name(m, DJ_OBJ_GEOM, geom[i]);
    json_object(out, NULL);
    json_text(out, "name", name ? name : "");
    json_integer(out, "body", player_find(body, nbody, m->geom_body[geom[i]]));
    json_text(out, "color", picture_color(m, m->geom_body[geom[i]]));
    json_end(out);
  }
  json_end(out);
  free(body);
}

// Runs of the same design share their shapes.
bool player_shapes(Json* out, const Player* p, int faces) {
  const djModel* m = p->run[0].film->model;
  int* geom = tool_alloc((size_t)m->ngeom, sizeof *geom);
  int n = player_geoms(geom, p), nlook = 0, look[PLAYER_RUNS];
  Buffer text[PLAYER_RUNS] = {{0}};
  bool all = true;
  write_geoms(out, p, geom, n);
  json_list(out, "looks");
  for (int r = 0; r < p->nrun; r++) {
    Buffer* t = &text[nlook];
    all = add_look(t, p->run[r].film->model, geom, n, faces) && all;
    look[r] = 0;
    while (strcmp(text[look[r]].text, t->text) != 0) look[r]++;
    if (look[r] == nlook)
      json_raw(out, NULL, text[nlook++].text);
    else
      buf_free(t);
  }
  json_end(out);
  json_list(out, "look");
  for (int r = 0; r < p->nrun; r++) json_integer(out, NULL, look[r]);
  json_end(out);
  for (int i = 0; i < nlook; i++) buf_free(&text[i]);
  free(geom);
  return all;
}
