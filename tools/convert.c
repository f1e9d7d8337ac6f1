// dijoco convert: write a scene as our own JSON model.

#include "inputs.h"
#include "output.h"
#include "verbs.h"

#include <stdio.h>

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

int verb_convert(const Options* o) {
  Scene s;
  int key;
  if (!o->out) return tool_fail(o->verb, NULL, "--out", "missing");
  int status = scene_load(&s, o, o->argument[0]);
  if (!status) status = scene_applySettings(&s, o, NULL);
  if (!status) status = scene_applySets(&s, o);
  if (!status) status = inputs_keyframe(&key, o, &s);
  if (!status) status = save(&s, o);
  if (!status && o->json) {
    Buffer text = {0};
    Json out;
    json_start(&out, &text);
    json_object(&out, NULL);
    json_text(&out, "scene", s.path);
    json_text(&out, "out", o->out);
    scene_writeSettings(&out, &s, o);
    json_end(&out);
    opt_print(&text);
  } else if (!status) {
    printf("%s: written\n", o->out);
  }
  scene_close(&s);
  return status;
}
