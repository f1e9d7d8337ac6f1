// dijoco convert: write a scene as our own JSON model, as MJCF with its implicit surfaces as meshes,
// or its links for building.

#include "export.h"
#include "inputs.h"
#include "output.h"
#include "verbs.h"
#include "warn.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int save(const Scene* s, const Options* o) {
  djFile* file = out_open(o->verb, o->out);
  if (!file) return EXIT_BAD_INPUT;
  djError err;
  if (dj_writeModel(s->model, file, &err) < 0) {
    out_discard(file);
    return tool_fail(o->verb, o->out, NULL, "%s", err.text);
  }
  return out_commit(o->verb);
}

static bool ends_with(const char* text, const char* ending) {
  size_t n = strlen(text), k = strlen(ending);
  return n >= k && strcmp(text + n - k, ending) == 0;
}

#ifdef DJ_HAVE_MUJOCO
// *count: meshes.
static int save_surfaces(int* count, const Scene* s, const Options* o) {
  char* mjcf;
  djError err;
  const double part = isnan(o->surface_error) ? 0 : o->surface_error;
  if (djm_makeSurfaceMJCF(&mjcf, count, s->path, s->model, part, &err) != DJ_OK) {
    return scene_fail(o, s->path, &err);
  }
  int status = EXIT_BAD_INPUT;
  if (*count == 0) {
    tool_fail(o->verb, s->path, "--surface",
              "no geom touches by an implicit surface other than itself (--contact "
              "implicit_surface)");
  } else {
    djFile* file = out_open(o->verb, o->out);
    if (file) {
      dj_writeFile(file, mjcf, strlen(mjcf));
      status = out_commit(o->verb);
    }
  }
  free(mjcf);
  return status;
}
#else
static int save_surfaces(int* count, const Scene* s, const Options* o) {
  (void)count;
  return tool_fail(o->verb, s->path, "--surface", "needs MuJoCo, which this build is without");
}
#endif

// What goes with what.
static int check_options(const Options* o) {
  if (!o->out) return tool_fail(o->verb, NULL, "--out", "missing");
  if (!o->surface && !isnan(o->surface_error)) {
    return tool_fail(o->verb, NULL, "--surface-error", "needs --surface");
  }
  if (o->surface && !isnan(o->surface_error) && !(o->surface_error > 0 && o->surface_error <= 1)) {
    return tool_fail(o->verb, NULL, "--surface-error", "must be positive and at most 1");
  }
  if (o->surface && ends_with(o->out, ".json")) {
    return tool_fail(o->verb, NULL, "--surface", "writes MJCF: --out FILE.xml");
  }
  if (o->export && o->surface) return tool_fail(o->verb, NULL, "--export", "or --surface");
  return 0;
}

static int save_links(Export* links, const Scene* s, const Options* o) {
  if (!out_folder(o->out)) {
    return tool_fail(o->verb, o->out, NULL, "cannot be made: %s", strerror(errno));
  }
  int status = export_links(links, o, s->model);
  return status ? status : out_commit(o->verb);
}

int verb_convert(const Options* o) {
  Scene s;
  Export links = {0};
  int key, count = 0;
  int status = check_options(o);
  if (status) return status;
  status = scene_load(&s, o, o->argument[0]);
  if (!status) status = scene_applySettings(&s, o, NULL);
  if (!status) status = scene_applySets(&s, o);
  if (!status) status = inputs_keyframe(&key, o, &s);
  if (!status && o->export) status = save_links(&links, &s, o);
  else if (!status) status = o->surface ? save_surfaces(&count, &s, o) : save(&s, o);
  if (!status && o->json) {
    Buffer text = {0};
    Json out;
    json_start(&out, &text);
    json_object(&out, NULL);
    json_text(&out, "scene", s.path);
    json_text(&out, "out", o->out);
    if (o->surface) json_integer(&out, "meshes", count);
    if (o->export) export_json(&out, &links);
    scene_writeSettings(&out, &s, o);
    json_end(&out);
    opt_print(&text);
  } else if (!status) {
    printf("%s: written", o->out);
    if (o->surface) printf(", %d geoms as meshes", count);
    printf("\n");
    if (o->export) export_print(&links);
  }
  if (!status) warn_scene(&s, o);
  export_free(&links);
  scene_close(&s);
  return status;
}
