// Models of definitions, for tests.

#ifndef DJ_TESTS_MAKE_MODEL_H_
#define DJ_TESTS_MAKE_MODEL_H_

#include "common/sample_model.h"

#include <dijoco/dijoco.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

// Fails the test with the message when there is none.
static inline djModel* djt_makeModel(const djModelDef* def) {
  djModel* model = NULL;
  djError err = {""};
  if (dj_makeModel(&model, def, &err) != DJ_OK) fail_msg("%s", err.text);
  return model;
}

// The sample model; sample, unless NULL: its definition, filled here.
static inline djModel* djt_sampleModel(djSample* sample) {
  djSample own;
  if (!sample) sample = &own;
  djt_fillSample(sample);
  return djt_makeModel(&sample->def);
}

#endif  // DJ_TESTS_MAKE_MODEL_H_
