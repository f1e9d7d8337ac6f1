// dj_loadMJCF: a scene file, through MuJoCo's loader.

#include "attach.h"
#include "instance.h"

#include <dijoco/mujoco.h>

#include <stdio.h>
#include <string.h>

typedef struct djLoad {
  const char* path;
  bool binary;
  mjModel* model;
  char text[1024];      // of the XML loader
} djLoad;

static void run(void* arg) {
  djLoad* load = arg;
  load->model = load->binary ? mj_loadModel(load->path, NULL)
                             : mj_loadXML(load->path, NULL, load->text, sizeof(load->text));
}

// Raises MuJoCo's error, so that it takes the way of all others (one line, cut to length).
static void rethrow(void* arg) { mju_error("%s", ((djLoad*)arg)->text); }

static bool endsWith(const char* path, const char* ending) {
  size_t n = strlen(path), k = strlen(ending);
  return n >= k && strcmp(path + n - k, ending) == 0;
}

static djStatus load(mjModel** stock, const char* path, djError* err) {
  djLoad job = {.path = path, .binary = endsWith(path, ".mjb")};
  FILE* file = fopen(path, "rb");
  if (!file) {
    snprintf(err->text, sizeof(err->text), "cannot open the file");
    return DJ_FILE;
  }
  fclose(file);
  djStatus status = djm_guard(run, &job, err);
  if (status == DJ_OK && !job.model) {
    if (job.text[0]) {
      status = djm_guard(rethrow, &job, err);
    } else {
      if (!err->text[0]) snprintf(err->text, sizeof(err->text), "MuJoCo cannot load the file");
      status = DJ_INVALID;
    }
  }
  if (status == DJ_OK) {
    *stock = job.model;
  } else if (job.model) {
    mj_deleteModel(job.model);
  }
  return status;
}

djStatus dj_loadMJCFWatched(djModel** model, djReport** report, mjModel** stock, const char* path,
                            const djWatch* watch, djError* err) {
  djError unused;
  if (!err) err = &unused;
  err->text[0] = '\0';
  if (model) *model = NULL;
  if (report) *report = NULL;
  if (stock) *stock = NULL;
  if (!model || !path) {
    snprintf(err->text, sizeof(err->text), "dj_loadMJCF: no model or path given");
    return DJ_INVALID;
  }
  mjModel* loaded = NULL;
  djStatus status = djm_attach(err);
  if (status == DJ_OK) status = load(&loaded, path, err);
  if (status != DJ_OK) return status;
  status = djm_import(model, report, NULL, loaded, DJM_WHOLE, NULL, watch, err);
  if (status == DJ_OK && stock) {
    *stock = loaded;
  } else {
    mj_deleteModel(loaded);
  }
  return status;
}

djStatus dj_loadMJCF(djModel** model, djReport** report, mjModel** stock, const char* path,
                     djError* err) {
  return dj_loadMJCFWatched(model, report, stock, path, NULL, err);
}
