// dj_loadMJCF: a scene file, through MuJoCo's loader.

#include "attach.h"
#include "import_report.h"
#include "instance.h"
#include "physics.h"

#include <dijoco/mujoco.h>

#include <stdio.h>
#include <stdlib.h>
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

// ------------------------------ a plugin without an instance ------------------------------------

typedef struct djWritten {
  const char* path;
  char* text;                // the scene, includes resolved; NULL: not to be had
} djWritten;

static void writeScene(void* arg) {
  djWritten* job = arg;
  char why[100];
  mjSpec* spec = mj_parseXML(job->path, NULL, why, sizeof(why));
  mjModel* m = spec ? mj_compile(spec, NULL) : NULL;
  int size = 1000;
  for (int need = 1; m && need > 0; size = need + 1) {   // it answers with the size it needs
    char* text = realloc(job->text, (size_t)size);
    if (!text) break;
    job->text = text;
    need = mj_saveXMLString(spec, text, size, why, sizeof(why));
    if (need < 0) text[0] = '\0';
  }
  if (m) mj_deleteModel(m);
  if (spec) mj_deleteSpec(spec);
}

// Whether contact is off and the plugin named, but without an instance: of which nothing is left in
// the compiled model, so that the scene's text is asked.
static bool isDeclared(const mjModel* m, const char* path) {
  if (!djm_disabled(m, mjDSBL_CONTACT) || endsWith(path, ".mjb")) return false;
  for (int i = 0; i < m->nplugin; i++) {
    const mjpPlugin* plugin = mjp_getPluginAtSlot(m->plugin[i]);
    if (plugin && plugin->name && strcmp(plugin->name, "dijoco.contact") == 0) return false;
  }
  djWritten job = {path, NULL};
  djm_guard(writeScene, &job, NULL);
  bool declared = job.text && strstr(job.text, "plugin=\"dijoco.contact\"");
  free(job.text);
  return declared;
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
  if (status == DJ_OK && report && isDeclared(loaded, path)) {
    dj_deleteReport(*report);
    status = djm_reportAgain(report, loaded, *model, true, err);
    if (status != DJ_OK) {
      dj_deleteModel(*model);
      *model = NULL;
    }
  }
  if (status != DJ_OK) {
    mj_deleteModel(loaded);
    return status;
  }
  bool has = (*model)->physics, hand_over = !stock && !has;
  mjModel* own = hand_over ? loaded : NULL;
  if (!has && stock) status = djm_copyStock(&own, loaded, err);
  if (status == DJ_OK && !has) status = djm_givePhysics(*model, own, err);
  if (!hand_over && (!stock || status < 0)) mj_deleteModel(loaded);
  if (status == DJ_OK) {
    if (stock) *stock = loaded;
    return DJ_OK;
  }
  dj_deleteModel(*model);
  *model = NULL;
  if (report) {
    dj_deleteReport(*report);
    *report = NULL;
  }
  return status;
}

djStatus dj_loadMJCF(djModel** model, djReport** report, mjModel** stock, const char* path,
                     djError* err) {
  return dj_loadMJCFWatched(model, report, stock, path, NULL, err);
}
