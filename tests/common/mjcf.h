// Compiling MJCF text, for tests against MuJoCo.

#ifndef DJ_TESTS_MJCF_H_
#define DJ_TESTS_MJCF_H_

#include "common/test.h"
#include "engine/engine.h"
#include "import.h"
#include "stock.h"

// The compiled model, or NULL and MuJoCo's message.
static inline mjModel* djt_tryCompile(const char* text, char error[1000]) {
  mjVFS vfs;
  error[0] = '\0';
  mj_defaultVFS(&vfs);
  mj_addBufferVFS(&vfs, "model.xml", text, (int)strlen(text));
  mjModel* m = mj_loadXML("model.xml", &vfs, error, 1000);
  mj_deleteVFS(&vfs);
  return m;
}

// The same; fails the test with the message when there is none.
static inline mjModel* djt_compile(const char* text) {
  char error[1000];
  mjModel* m = djt_tryCompile(text, error);
  if (!m) fail_msg("MuJoCo: %s\n%.3000s", error, text);
  return m;
}

static inline djModel* djt_import(djReport** report, const mjModel* m) {
  djModel* model;
  djError err;
  djStatus status = dj_importMuJoCo(&model, report, m, &err);
  if (status != DJ_OK) fail_msg("status %d: %s", status, err.text);
  return model;
}

static inline djModel* djt_importText(const char* text) {
  mjModel* m = djt_compile(text);
  djModel* model = djt_import(NULL, m);
  mj_deleteModel(m);
  return model;
}

// Group setup: scenes may have the plugin dijoco.contact.
static inline int djt_registerContact(void** state) {
  (void)state;
  return mjp_registerPlugin(djm_contactPlugin()) < 0;
}

// What MuJoCo warned of, one after the other, from where djt_onWarning is its handler.
static char djt_warning[8000];
static inline void djt_onWarning(const char* text) {
  size_t n = strlen(djt_warning);
  snprintf(djt_warning + n, sizeof(djt_warning) - n, "%s\n", text);
}

// Group setup: djt_registerContact, and warnings are kept.
static inline int djt_keepWarnings(void** state) {
  mju_user_warning = djt_onWarning;
  return djt_registerContact(state);
}

// Folder of gymnasium's MJCF models. A test that needs them fails without them.
static inline const char* djt_robotFolder(void) {
  const char* folder = getenv("DIJOCO_GYMNASIUM");
  if (!folder) fail_msg("no models of gymnasium: scripts/fetch_models.sh fetches them");
  return folder;
}

static inline void djt_deleteEngine(mjModel* m, mjData* d) {
  mj_deleteData(d);
  mj_deleteModel(m);
}

// Entry of the report, or NULL.
static inline const djReportEntry* djt_entry(const djReport* report, const char* element,
                                             const char* feature) {
  for (int i = 0; i < report->n; i++) {
    const djReportEntry* e = report->entry + i;
    if (strcmp(e->element, element) == 0 && strcmp(e->feature, feature) == 0) return e;
  }
  return NULL;
}

#endif  // DJ_TESTS_MJCF_H_
