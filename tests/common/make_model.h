// Models, their data, and tasks, for tests: what cannot be made fails the test with the message.

#ifndef DJ_TESTS_MAKE_MODEL_H_
#define DJ_TESTS_MAKE_MODEL_H_

#include "common/json.h"
#include "common/sample_model.h"
#include "common/test.h"

#include <dijoco/dijoco.h>

static inline djModel* djt_makeModel(const djModelDef* def) {
  djModel* model = NULL;
  djError err = {""};
  if (dj_makeModel(&model, def, &err) != DJ_OK) fail_msg("%s", err.text);
  return model;
}

static inline djModel* djt_copy(const djModel* m) {
  djModel* copy = NULL;
  djError err = {""};
  if (dj_copyModel(&copy, m, &err) != DJ_OK) fail_msg("%s", err.text);
  return copy;
}

// Of the text of a model file, and of the file.
static inline djModel* djt_modelOf(const char* text) {
  djModel* m = NULL;
  djError err = {""};
  if (dj_loadModelText(&m, djt_json(text), &err) != DJ_OK) fail_msg("%s", err.text);
  return m;
}
static inline djModel* djt_load(const char* path) {
  djModel* m = NULL;
  djError err = {""};
  if (dj_loadModel(&m, path, &err) != DJ_OK) fail_msg("%s", err.text);
  return m;
}

static inline djTask* djt_taskOf(const char* text) {
  djTask* task = NULL;
  djError err = {""};
  if (dj_loadTaskText(&task, djt_json(text), NULL, &err) != DJ_OK) fail_msg("%s", err.text);
  return task;
}

// The sample model; sample, unless NULL: its definition, filled here.
static inline djModel* djt_sampleModel(djSample* sample) {
  djSample own;
  if (!sample) sample = &own;
  djt_fillSample(sample);
  return djt_makeModel(&sample->def);
}

static inline djData* djt_data(const djModel* m) {
  djData* d = NULL;
  djError err = {""};
  if (dj_makeData(&d, m, &err) != DJ_OK) fail_msg("%s", err.text);
  return d;
}

static inline djParam djt_param(const djModel* m, const char* name) {
  djParam p = {0};
  djError err = {""};
  if (dj_paramId(&p, m, name, &err) != DJ_OK) fail_msg("%s", err.text);
  return p;
}

static inline void djt_delete(djModel* m, djData* d) {
  dj_deleteData(d);
  dj_deleteModel(m);
}

#endif  // DJ_TESTS_MAKE_MODEL_H_
