// Scenes: loading them, and the settings in force.

#ifndef DJ_TOOLS_SCENE_H_
#define DJ_TOOLS_SCENE_H_

#include "json_out.h"
#include "options.h"

#include <dijoco/dijoco.h>
#ifdef DJ_HAVE_MUJOCO
#include "stock.h"
#endif

// A parameter given by --set.
typedef struct SetValue {
  char* name;
  int n;
  double* value;
} SetValue;

typedef struct Scene {
  const char* path;
  djModel* model;          // unshared
  int nset;
  SetValue* set;           // applied to model; for stock MuJoCo when it is made
#ifdef DJ_HAVE_MUJOCO
  djReport* report;        // NULL for our own models
  mjModel* stock;          // NULL for our own models
#endif
} Scene;

// Version of the MuJoCo that is linked, or NULL.
const char* scene_mujocoVersion(void);

bool scene_isMJCF(const char* path);   // .xml or .mjb

// The following return 0, or EXIT_BAD_INPUT after their line on stderr.

// Load .xml, .mjb or .json.
int scene_load(Scene* scene, const Options* o, const char* path);
// Refuse features that are left out although they change the motion, unless --allow-ignored.
int scene_checkIgnored(const Scene* scene, const Options* o);
// Settings of a task (may be NULL), then those of the command line.
int scene_applySettings(Scene* scene, const Options* o, const djTask* task);
// --set, on our model.
int scene_applySets(Scene* scene, const Options* o);
// All of this, as simulate and compare need it.
int scene_open(Scene* scene, const Options* o, const char* path);

void scene_close(Scene* scene);

// Report a library error: "PATH: text", with the path only where the text does not begin with it.
int scene_fail(const Options* o, const char* path, const djError* err);

// "settings": those of our engine in force.
void scene_writeSettings(Json* out, const Scene* scene, const Options* o);
// Settings that are given and act on nothing, a line each.
void scene_printIdle(const djModel* model);

// Name of a body, or "#id".
const char* scene_bodyName(char text[16], const djModel* model, int body);

#endif  // DJ_TOOLS_SCENE_H_
