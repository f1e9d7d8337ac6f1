// A library that passes for MuJoCo until it is asked for more than its version.

int mj_version(void);
const char* mj_versionString(void);

__attribute__((visibility("default"))) int mj_version(void) { return FAKE_VERSION; }
__attribute__((visibility("default"))) const char* mj_versionString(void) { return FAKE_TEXT; }
