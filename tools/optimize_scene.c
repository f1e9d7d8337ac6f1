#include "optimize_run.h"

#include "output.h"

#include <dijoco/io.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A file of this name of a scene before list[k], or NULL.
static const char* earlier(const OutScene* list, int k, const char* name) {
  for (int j = 0; j < k; j++) {
    const djmSceneFiles* f = &list[j].files;
    for (int i = 0; i < f->nfile; i++) {
      if (strcmp(f->name[i], name) == 0) return f->obj[i];
    }
  }
  return NULL;
}

#ifdef DJ_HAVE_MUJOCO

static bool clashes(const OutScene* list, int k) {
  const djmSceneFiles* f = &list[k].files;
  for (int i = 0; i < f->nfile; i++) {
    const char* other = earlier(list, k, f->name[i]);
    if (other && strcmp(other, f->obj[i]) != 0) return true;
  }
  return false;
}

static djStatus make(OutScene* scene, const GradPart* part, const char* suffix, djError* err) {
  const djRollout* rollout = &part->design->rollout;
  const djKeyDef key = {.name = "optimized",
                        .qpos = rollout->qpos0,
                        .qvel = rollout->qvel0,
                        .act = rollout->act0,
                        .ctrl = rollout->ctrl};
  djm_freeSceneFiles(&scene->files);
  return djm_makeSceneFiles(&scene->files, part->task->scene, part->design->model, &key, suffix,
                            err);
}

void scene_make(OutScene* list, int k, const OptimizeRun* r) {
  const GradPart* part = &r->grad.part[k];
  const char *path = part->task->scene, *form = r->options->export;
  const char* plain = form && strcmp(form, "obj") == 0 ? "_mesh" : ""; // links have theirs
  djError err = {""};
  djStatus status = make(&list[k], part, plain, &err);
  if (status == DJ_OK && clashes(list, k)) {
    char suffix[120];
    snprintf(suffix, sizeof suffix, "%s_%.100s", plain, grad_sceneName(&r->grad, k));
    status = make(&list[k], part, suffix, &err);
  }
  if (status == DJ_OK) return;
  snprintf(list[k].note, sizeof list[k].note, "%s", err.text);
  const char* ending = strrchr(path, '.');
  list[k].failed = ending && strcmp(ending, ".xml") == 0;
}

void scene_freeFiles(OutScene* scene) { djm_freeSceneFiles(&scene->files); }

#else

void scene_make(OutScene* list, int k, const OptimizeRun* r) {
  snprintf(list[k].note, sizeof list[k].note, "%s: a build with MuJoCo is needed",
           r->grad.part[k].task->scene);
}

void scene_freeFiles(OutScene* scene) { (void)scene; }

#endif

const char* scene_text(const OutScene* scene) {
  return scene->files.scene ? scene->files.scene : scene->files.text;
}

int scene_writeInstead(OutScene* list, int k, const OptimizeRun* r) {
  const Options* o = r->options;
  OutScene* scene = &list[k];
  Buffer text = {0};
  djError err;
  if (scene->files.refused) {
    optimize_fileName(scene->refused_name, sizeof scene->refused_name, &r->grad, k,
                      "scene", "refused.xml");
    buf_add(&text, scene->files.refused);
    if (!out_addIn(o->verb, o->out, scene->refused_name, &text)) return EXIT_BAD_INPUT;
  }
  optimize_fileName(scene->json_name, sizeof scene->json_name, &r->grad, k, "scene", "json");
  scene->json = out_openIn(o->verb, o->out, scene->json_name);
  if (!scene->json) return EXIT_BAD_INPUT;
  if (dj_writeModel(r->grad.part[k].design->model, scene->json, &err) == DJ_OK &&
      dj_finishFile(scene->json, &err) == DJ_OK) {
    return 0;
  }
  out_discard(scene->json);
  scene->json = NULL;
  *scene->json_name = 0;
  const size_t used = strlen(scene->note);
  snprintf(scene->note + used, sizeof scene->note - used, "; nor as .json: %.200s", err.text);
  return 0;
}

int scene_writeMeshes(const OutScene* list, int k, const Options* o) {
  const djmSceneFiles* f = &list[k].files;
  for (int i = 0; i < f->nfile; i++) {
    Buffer text = {0};
    if (earlier(list, k, f->name[i])) continue;
    buf_add(&text, f->obj[i]);
    if (!out_addIn(o->verb, o->out, f->name[i], &text)) return EXIT_BAD_INPUT;
  }
  return 0;
}

void scene_listMeshes(Json* out, const OutScene* list, int n) {
  for (int k = 0; k < n; k++) {
    const djmSceneFiles* f = &list[k].files;
    for (int i = 0; i < f->nfile; i++) {
      if (!earlier(list, k, f->name[i])) json_text(out, NULL, f->name[i]);
    }
    if (*list[k].json_name) json_text(out, NULL, list[k].json_name);
    if (*list[k].refused_name) json_text(out, NULL, list[k].refused_name);
  }
}
