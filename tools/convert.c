// dijoco convert: write a scene as our own JSON model.

#include "inputs.h"
#include "output.h"
#include "verbs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Save under a temporary name beside the file, then rename.
static int save(const Scene* s, const Options* o) {
  Buffer name = {0};
  buf_addf(&name, "%s.part", o->out);
  djError err = {""};
  int status = 0;
  if (dj_saveModel(s->model, name.text, &err) < 0) {
    remove(name.text);
    bool named = strncmp(err.text, name.text, name.size) == 0;
    status = tool_fail(o->verb, named ? NULL : o->out, NULL, "%s", err.text);
  } else if (rename(name.text, o->out) != 0) {
    int failed = errno;
    remove(name.text);
    status = tool_fail(o->verb, o->out, NULL, "cannot be written: %s", strerror(failed));
  }
  buf_free(&name);
  return status;
}

int verb_convert(const Options* o) {
  Scene s;
  int key;
  if (!o->out) return tool_fail(o->verb, NULL, "--out", "missing");
  int status = scene_load(&s, o, o->argument[0]);
  if (!status) status = scene_applySettings(&s, o, NULL);
  if (!status) status = scene_applySets(&s, o);
  if (!status) status = inputs_keyframe(&key, o, &s);
  if (!status) s.model->gravity_ramp = s.gravity_ramp;
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
