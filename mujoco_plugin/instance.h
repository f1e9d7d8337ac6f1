// An instance of the plugin dijoco.contact in a scene: its configuration, and the model that the
// importer sees because of it.
//
// Contacts of owned geoms are ours, with whatever they touch; those between other geoms stay
// MuJoCo's. All geoms are owned unless `bodies` or `geoms` name some. MuJoCo's own contact of owned
// geoms is to be off: by the flag contact="disable", or by contype = conaffinity = 0, and neither
// keeps ours from acting: a geom that is named and has no bits collides with every geom that is
// named or has bits.

#ifndef DJ_MUJOCO_INSTANCE_H_
#define DJ_MUJOCO_INSTANCE_H_

#include "import.h"

#include <dijoco/setting.h>

// Configuration keys beside the settings that DJ_BY_PLUGIN marks; the last one is NULL.
extern const char* const djm_ownKeys[];

// What a model is imported for.
typedef enum djmPurpose {
  DJM_WHOLE,      // our step in place of MuJoCo's: everything that the scene has
  DJM_CONTACTS    // beside MuJoCo's: contact of owned geoms; limits and friction loss as configured
} djmPurpose;

// An instance's configuration.
typedef struct djmInstance {
  int id;                // in m->plugin; -1: the scene has none
  int substeps;          // >= 1
  bool joints;           // limits, friction loss of joints, tendons are ours: constraints="dijoco"
  bool all;              // neither geoms nor bodies are named: all geoms are owned
  bool* owned;           // (ngeom)
  bool* named;           // (ngeom) owned because `bodies` or `geoms` say so
} djmInstance;

// Value of a configuration key of any plugin's instance; "" where it is not given.
const char* djm_configOf(const mjModel* m, int instance, const char* key);

// Read the scene's instance; arrays are imp's. DJ_INVALID: err names the key.
djStatus djm_readInstance(djmInstance* instance, djmImport* imp, const mjModel* m);

// Let the view (a copy of the struct m; arrays that change are imp's) have the contacts that are
// ours, and only these.
djStatus djm_applyInstance(mjModel* view, djmImport* imp, const djmInstance* instance,
                           djmPurpose purpose);

// Options that the configuration gives, into imp->def.
djStatus djm_importInstanceOption(djmImport* imp, const djmInstance* instance);

// As dj_importMuJoCo. instance_out (may be NULL): id, substeps and joints of the instance.
// settings: stronger than those of the scene, or NULL. watch: told while hulls are made, or NULL.
djStatus djm_import(djModel** model, djReport** report, djmInstance* instance_out,
                    const mjModel* m, djmPurpose purpose, const djSettings* settings,
                    const djWatch* watch, djError* err);

// DJ_UNSUPPORTED: it keeps a history beside MuJoCo's state.
djStatus djm_checkHistory(djIntegrator integrator, djError* err);

// As djm_makeContextWith.
djStatus djm_makeContextFor(djmContext** context, djReport** report, const mjModel* m,
                            djmPurpose purpose, const djSettings* settings, djError* err);

// Names of owned geoms that MuJoCo collides too, "a, b, c and 4 more"; "" if there are none.
djStatus djm_listCollided(char* text, size_t size, const mjModel* m, djError* err);

#endif  // DJ_MUJOCO_INSTANCE_H_
