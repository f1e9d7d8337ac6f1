#include "export.h"

#include "export_shell.h"
#include "output.h"

#include <dijoco/decompose.h>
#include <dijoco/io.h>

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

// ---- files --------------------------------------------------------------------------------------

// Text of triangles as STL has them; title: one line.
static void write_stl(Buffer* out, const djTriangles* t, const char* title) {
  buf_addf(out, "solid %s\n", title);
  for (int i = 0; i < t->ntri; i++) {
    const double* v[3];
    double n[3];
    for (int k = 0; k < 3; k++) v[k] = t->vert + 3 * (size_t)t->tri[3 * i + k];
    shell_normal(n, v[0], v[1], v[2]);
    buf_addf(out, "facet normal %.9g %.9g %.9g\nouter loop\n", n[0], n[1], n[2]);
    for (int k = 0; k < 3; k++) {
      buf_addf(out, "vertex %.17g %.17g %.17g\n", v[k][0], v[k][1], v[k][2]);
    }
    buf_add(out, "endloop\nendfacet\n");
  }
  buf_addf(out, "endsolid %s\n", title);
}

static void write_obj(Buffer* out, const djTriangles* t, const char* title) {
  buf_addf(out, "# %s\n", title);
  for (int i = 0; i < t->nvert; i++) {
    const double* v = t->vert + 3 * (size_t)i;
    buf_addf(out, "v %.17g %.17g %.17g\n", v[0], v[1], v[2]);
  }
  for (int i = 0; i < t->ntri; i++) {
    const int* v = t->tri + 3 * (size_t)i;
    buf_addf(out, "f %d %d %d\n", v[0] + 1, v[1] + 1, v[2] + 1);
  }
}

// In millimetres, which OpenSCAD's own files resolve; its faces are clockwise from outside.
static void write_scad(Buffer* out, const djPieces* p, const char* name) {
  buf_addf(out, "// %s: one solid of its hulls, millimetres\nunion() {\n", name);
  for (int i = 0; i < p->n; i++) {
    const djTriangles* t = &p->hull[i];
    buf_add(out, "polyhedron(points = [");
    for (int k = 0; k < t->nvert; k++) {
      const double* v = t->vert + 3 * (size_t)k;
      buf_addf(out, "%s[%.12g, %.12g, %.12g]", k ? ", " : "", 1e3 * v[0], 1e3 * v[1], 1e3 * v[2]);
    }
    buf_add(out, "], faces = [");
    for (int k = 0; k < t->ntri; k++) {
      const int* v = t->tri + 3 * (size_t)k;
      buf_addf(out, "%s[%d, %d, %d]", k ? ", " : "", v[0], v[2], v[1]);
    }
    buf_add(out, "]);\n");
  }
  buf_add(out, "}\n");
}

// ---- the union ----------------------------------------------------------------------------------

// Runs OpenSCAD from one file to another. False with errno: it could not be started; else *status
// is how it ended.
static bool run_openscad(int* status, const char* from, const char* to) {
  char words[][16] = {"openscad", "--export-format", "asciistl", "-o"};
  char *source = tool_copyText(from), *target = tool_copyText(to);
  char* argument[] = {words[0], words[1], words[2], words[3], target, source, NULL};
  posix_spawn_file_actions_t quiet;
  pid_t child;
  posix_spawn_file_actions_init(&quiet);
  posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  int failed = posix_spawnp(&child, words[0], &quiet, NULL, argument, environ);
  posix_spawn_file_actions_destroy(&quiet);
  while (!failed && waitpid(child, status, 0) < 0) failed = errno == EINTR ? 0 : errno;
  free(source);
  free(target);
  errno = failed;
  return !failed;
}

// What OpenSCAD made of the file, checked, in metres.
static bool read_union(djTriangles* t, ExportLink* link, const char* path) {
  djError err = {""};
  char* text = NULL;
  size_t n = 0;
  bool good =
      dj_readFile(&text, &n, path, &err) >= 0 && dj_parseTriangles(t, "stl", text, n, &err) >= 0;
  dj_freeFile(text);
  for (int i = 0; good && i < 3 * t->nvert; i++) t->vert[i] *= 1e-3;
  if (good) shell_mend(t);
  good = good && dj_checkSolid(&link->united_volume, t, &err) >= 0;
  if (!good) snprintf(link->note, sizeof link->note, "what OpenSCAD made: %.250s", err.text);
  return good;
}

// Between two files of which neither has its place yet.
static bool call_openscad(djTriangles* t, ExportLink* link, const djFile* from, const djFile* to) {
  const char *source = dj_fileTemporary(from), *target = dj_fileTemporary(to);
  int ended = 0;
  if (!source || !target) {
    snprintf(link->note, sizeof link->note, "these are no regular files");
  } else if (!run_openscad(&ended, source, target)) {
    snprintf(link->note, sizeof link->note, "%s",
             errno == ENOENT ? "OpenSCAD (openscad) is not installed" : strerror(errno));
  } else if (ended != 0) {
    snprintf(link->note, sizeof link->note, "OpenSCAD failed");
  } else {
    return read_union(t, link, target);
  }
  return false;
}

static int unite(ExportLink* link, const Options* o, const djPieces* p) {
  Buffer text = {0};
  char scad[100], stl[100], title[120];
  djTriangles whole = {0};
  snprintf(scad, sizeof scad, "%s.scad", link->name);
  snprintf(stl, sizeof stl, "%s_union.stl", link->name);
  snprintf(title, sizeof title, "%s, one surface, metres", link->name);
  write_scad(&text, p, link->name);
  djFile* from = out_addIn(o->verb, o->out, scad, &text);
  djFile* to = from ? out_addIn(o->verb, o->out, stl, &text) : NULL;
  if (!to) return EXIT_BAD_INPUT;
  link->united = call_openscad(&whole, link, from, to);
  out_discard(to);
  if (link->united) {
    write_stl(&text, &whole, title);
    to = out_addIn(o->verb, o->out, stl, &text);
  }
  dj_freeTriangles(&whole);
  return to ? 0 : EXIT_BAD_INPUT;
}

// ---- links --------------------------------------------------------------------------------------

// A name for files: of plain characters, unlike those of other links.
static void choose_name(ExportLink* link, const djModel* m, int body) {
  const char* own = dj_id2name(m, DJ_OBJ_BODY, body);
  size_t n = own ? strlen(own) : 0;
  bool plain = n > 0 && n < 60;
  for (size_t i = 0; i < n && i < 59; i++) {
    const char c = own[i];
    const bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '_' || (c == '-' && i > 0);
    link->name[i] = good ? c : '_';
    plain = plain && good;
  }
  n = strlen(link->name);
  if (!plain) snprintf(link->name + n, sizeof link->name - n, "%sbody_%d", n ? "_" : "", body);
}

static int write_shells(const ExportLink* link, const Options* o, const djPieces* p) {
  Buffer text = {0};
  char title[160], name[120];
  bool stl = strcmp(o->export, "stl") == 0;
  for (int i = 0; i < p->n; i++) {
    snprintf(title, sizeof title, "%s, shell %d of %d, metres", link->name, i + 1, p->n);
    if (stl)
      write_stl(&text, &p->hull[i], title);
    else
      write_obj(&text, &p->hull[i], title);
    snprintf(name, sizeof name, "%s_%d.obj", link->name, i);
    if (!stl && !out_addIn(o->verb, o->out, name, &text)) return EXIT_BAD_INPUT;
  }
  snprintf(name, sizeof name, "%s.stl", link->name);
  return stl && !out_addIn(o->verb, o->out, name, &text) ? EXIT_BAD_INPUT : 0;
}

static int write_link(ExportLink* link, const Options* o, const djModel* m, int body) {
  djPieces p = {0};
  djError err = {""};
  int status = 0;
  choose_name(link, m, body);
  link->thickness = INFINITY;
  for (int g = 0; g < m->ngeom && !status; g++) {
    bool round;
    double volume;
    if (m->geom_body[g] != body || !shell_has(m, g)) continue;
    if (shell_add(&p, &round, m, g, &err) < 0 ||
        dj_checkSolid(&volume, &p.hull[p.n - 1], &err) < 0) {
      const char* name = dj_id2name(m, DJ_OBJ_GEOM, g);
      char element[120];
      if (name && *name)
        snprintf(element, sizeof element, "geom '%.90s'", name);
      else
        snprintf(element, sizeof element, "geom #%d", g);
      status = tool_fail(o->verb, o->argument[0], element, "has no closed shell: %s", err.text);
      break;
    }
    link->nround += round;
    link->volume += volume;
    link->thickness = fmin(link->thickness, shell_thickness(m, g, &p.hull[p.n - 1]));
  }
  link->nshell = p.n;
  if (!status) status = write_shells(link, o, &p);
  if (!status && p.n > 1 && strcmp(o->export, "stl") == 0) status = unite(link, o, &p);
  dj_freePieces(&p);
  return status;
}

int export_links(Export* e, const Options* o, const djModel* m) {
  int status = 0;
  *e = (Export){.format = o->export, .link = tool_alloc((size_t)m->nbody, sizeof *e->link)};
  for (int b = 1; b < m->nbody && !status; b++) {
    bool solid = false;
    for (int g = 0; g < m->ngeom; g++) solid = solid || (m->geom_body[g] == b && shell_has(m, g));
    if (solid) status = write_link(&e->link[e->n++], o, m, b);
  }
  if (status || e->n > 0) return status;
  return tool_fail(o->verb, o->argument[0], "--export", "no body has a geom with a volume");
}

void export_free(Export* e) {
  free(e->link);
  *e = (Export){0};
}

// ---- what is said -------------------------------------------------------------------------------

void export_json(Json* out, const Export* e) {
  json_list(out, "export");
  for (int i = 0; i < e->n; i++) {
    const ExportLink* l = &e->link[i];
    char name[100];
    json_object(out, NULL);
    json_text(out, "link", l->name);
    json_integer(out, "shells", l->nshell);
    json_integer(out, "inscribed", l->nround);
    json_number(out, "volume", l->volume);
    json_number(out, "thickness", l->thickness);
    if (l->united) {
      snprintf(name, sizeof name, "%s_union.stl", l->name);
      json_object(out, "union");
      json_text(out, "file", name);
      json_number(out, "volume", l->united_volume);
      json_end(out);
    } else {
      json_null(out, "union");
    }
    if (*l->note) json_text(out, "note", l->note);
    json_end(out);
  }
  json_end(out);
}

void export_print(const Export* e) {
  printf("  %-24s %7s %13s %13s %13s\n", "link, metres", "shells", "volume", "least width",
         "union");
  for (int i = 0; i < e->n; i++) {
    const ExportLink* l = &e->link[i];
    printf("  %-24s %7d %13.6g %13.6g ", l->name, l->nshell, l->volume, l->thickness);
    if (l->united)
      printf("%13.6g\n", l->united_volume);
    else
      printf("%13s\n", l->nshell > 1 ? "-" : "one shell");
    bool told = *l->note == 0;
    for (int k = 0; k < i; k++) told = told || strcmp(l->note, e->link[k].note) == 0;
    if (!told) printf("    no union: %s\n", l->note);
    if (l->nround > 0) printf("    %d shells are inscribed in round shapes\n", l->nround);
  }
}
