// The MJCF writer and every failure of the system on the way.

#include "common/file.h"
#include "common/file_faults.h"
#include "common/mjcf.h"

#define FOLDER "test_mj_file.d"

static const char* const scene = DIJOCO_SOURCE_DIR "/models/throw/scene.xml";
static const char* const out = FOLDER "/x.xml";

static void reset(void* user) {
  (void)user;
  djt_writeText(out, "<!-- what was there before -->\n");
  assert_int_equal(chmod(out, 0640), 0);
}

static int writeScene(void* user, char text[512]) {
  djError err = {""};
  djStatus status = djm_writeMJCF(out, scene, user, NULL, &err);
  memcpy(text, err.text, sizeof err.text);
  return status;
}

static void test_faults(void) {
  djModel* m;
  djError err;
  assert_int_equal(dj_loadMJCF(&m, NULL, NULL, scene, &err), DJ_OK);
  djt_sweepAll(FOLDER, false, reset, writeScene, m);
  dj_deleteModel(m);
}

static int removeFolder(void** state) {
  (void)state;
  return system("rm -rf " FOLDER);
}

static int setup(void** state) { return removeFolder(state) | mkdir(FOLDER, 0755); }

DJT_MAIN_EACH(setup, removeFolder, test_faults)
