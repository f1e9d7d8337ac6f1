// Settings of single geoms, pairs and models from JSON text. Included after cmocka.

#ifndef DJ_TESTS_OWN_SETTINGS_H_
#define DJ_TESTS_OWN_SETTINGS_H_

#include "common/test.h"
#include "io/model_contact.h"

static inline djStatus djt_readOwn(djModelDef* def, const char* text, djPool* pool, djError* err) {
  cJSON* root;
  if (dj_parseJson(&root, text, strlen(text), err) != DJ_OK) fail_msg("%s", err->text);
  djStatus status = dj_readOwnSettings(def, root, pool, err);
  cJSON_Delete(root);
  return status;
}

#endif  // DJ_TESTS_OWN_SETTINGS_H_
