// Parts of the importer, shared by import_*.c.

#ifndef DJ_MUJOCO_IMPORT_H_
#define DJ_MUJOCO_IMPORT_H_

#include <dijoco/mujoco.h>

#include <stddef.h>

// What is known of a MuJoCo model while it is imported.
typedef struct djmImport {
  const mjModel* m;
  djModelDef def;             // the result; its arrays live in blocks
  djJointDef* joint;          // (def.njnt) its joints
  djActuatorDef* actuator;    // (def.nu) and actuators
  // contact, by explicit pairs and by the dynamic predicate, between bodies that can move
  int* geom_dim;              // (ngeom) largest condim over dynamic partners, 0: none
  bool* geom_paired;          // (ngeom) in an explicit pair
  int max_dim;                // largest condim of any contact, 0: nothing collides
  int* geom_partner;          // (ngeom) one that it meets: at rest, or else the first; -1: none
  int* tree_feet;             // (nbody) of roots: bodies that collide and carry none that does
  struct djmRebound* rebound; // the one found last: most geoms have the same softness
  // of reports
  const djModel* model;       // made from this, with the settings in force
  bool flex_contact;          // contact of flexes is ours
  bool beside;                // MuJoCo steps, with our contact: DJM_CONTACTS
  bool limits;                // with it limits and friction loss are ours
  bool declared;              // the scene names dijoco.contact and has no instance of it
  // memory: blocks are released together
  struct djmBlock* blocks;
  djError* err;
} djmImport;

// Zeroed memory that lives as long as the import; NULL when there is none (n = 0 gives a block).
void* djm_alloc(djmImport* imp, size_t n, size_t size);

// Release an import's memory.
void djm_freeImport(djmImport* imp);

// Name of an element in m->names, "" where it has none.
const char* djm_name(const mjModel* m, int adr);
// "geom/NAME", "geom/#3" where it has none.
void djm_elementText(char* text, size_t size, const char* kind, const char* name, int id);

// Stages: each fills its part of imp->def.
djStatus djm_importOption(djmImport* imp);
djStatus djm_importBodies(djmImport* imp);
djStatus djm_importJoints(djmImport* imp);
djStatus djm_importGeoms(djmImport* imp);      // geoms, meshes, sites
extern const char* const djm_guideBodies;      // the text that has their names
// On a finished model; given: by a plugin's key, or "".
djStatus djm_setGuideBodies(djModel* model, const djmImport* imp, const char* given);
djStatus djm_importPairs(djmImport* imp);      // pairs, excludes, contact settings of both
djStatus djm_importTendons(djmImport* imp);
djStatus djm_importActuators(djmImport* imp);
djStatus djm_importEqualities(djmImport* imp);
djStatus djm_importKeys(djmImport* imp);       // after the actuators
djStatus djm_importFlexes(djmImport* imp);
// Why a flex is left out, or NULL; and whether its stiffness is that of a material.
const char* djm_flexProblem(const mjModel* m, int i);
bool djm_flexIsMaterial(const djmImport* imp, int i);
// Whether MuJoCo's flexes have the lengths, stiffness and damping of those of a model of ours.
bool djm_sameFlexes(const mjModel* m, const djModel* model);
// Geoms of a model of ours that MuJoCo has: all but those of flexes, which come last.
int djm_ownGeoms(const djModel* model);
// Whether vertex v (of all) has a geom, a sphere of its flex's radius; and the radius of a ball that
// passes between those of flex i at rest.
bool djm_vertexCollides(const mjModel* m, int i, int v);
double djm_flexHole(const djmImport* imp, int i);

// Contact models and settings of single pairs and geoms, whose <custom> fields have a '/'.
bool djm_isOwnSetting(const char* name);
djStatus djm_importPairSettings(djmImport* imp, djGeomDef* geom, djPairDef* pair);
// The implicit surface that a text names for a geom. Returns what is wrong with it, or NULL.
const char* djm_importShape(char why[200], djmImport* imp, djGeomDef* geom, const char* text);
// Fields about points of geoms, and kn, kd and kt of penalty contact (import_points.c); data (n):
// NULL of a text. Likewise.
bool djm_isPointField(const char* field);
bool djm_isPenalty(const char* field);
const char* djm_importPoints(djmImport* imp, djGeomDef* geom, const char* field,
                             const double* data, int n);
const char* djm_importPenalty(djSettingDef list[3], const double* data, int n);

// MuJoCo's number of one of our explicit pairs, -1: there is none. Those of shapes that we do not
// have are left out.
int djm_pairNumber(const mjModel* m, int pair);

// Fields about limits and default rules (import_limit.c), for the finished model.
extern const char* const djm_limitInertia;   // before the element
extern const char* const djm_rulesGravity;
bool djm_isLimitInertia(const char* field);
djStatus djm_setLimitInertia(djModel* model, djmImport* imp);

// Coefficient of restitution of a contact, 0 to 1 (import_restitution.c): by its damping ratio, and
// by what MuJoCo's solref has as one; 0: solref has no spring.
double djm_restitution(double damping_ratio);
double djm_solrefRestitution(const mjtNum solref[mjNREF]);
// The damping ratio of a coefficient: the inverse of djm_restitution.
double djm_dampingRatio(double restitution);

// Fills geom_dim, geom_paired, max_dim.
djStatus djm_findContacts(djmImport* imp);

// List everything that is not exact.
djStatus djm_makeReport(djReport** report, djmImport* imp);

// ---- predicates that import and report share

// Whether an mjDSBL_* bit is set.
bool djm_disabled(const mjModel* m, int bit);

// Sets flags of m as bits of djDisable have them; others stay.
void djm_putDisableBits(mjModel* m, int bits);

// Whether contact shapes of this type exist.
bool djm_shapeSupported(int type);

// Whether geom's shape collides and is supported; others are imported without contact.
bool djm_geomCollides(const djmImport* imp, int geom);

// Whether a geom has contype or conaffinity.
bool djm_hasBits(const mjModel* m, int geom);

// Whether a geom counts where its body is named: geoms with bits do, or all of them if none has.
bool djm_countsInBody(const mjModel* m, int geom);

// Whether body i moves (has dofs at or above it).
bool djm_moves(const mjModel* m, int body);

// Whether a tendon whose path bends has armature.
bool djm_bentArmature(const mjModel* m);

// What of a model `euler` does not take as MuJoCo does, or NULL: `position` takes its steps.
const char* djm_beyondEuler(const mjModel* m);

// Whether actuator i can produce force: its group is enabled, and so is actuation.
bool djm_actuatorLive(const mjModel* m, int i);

// Whether actuator i's transmission, inputs, dynamics, gain and bias can all be carried.
bool djm_actuatorSupported(const mjModel* m, int i);
// Its transmission; the element becomes one that makes no force.
bool djm_transmissionSupported(const mjModel* m, int i);
void djm_silence(djActuatorDef* actuator);
// A law of it is a muscle's; and it is one that is carried.
bool djm_isMuscle(const mjModel* m, int i);
bool djm_muscleSound(const mjModel* m, int i);
// A pid or a dcmotor; and it is one that is carried: with several inputs, a rate limit, an
// integral.
bool djm_isServo(const mjModel* m, int i);
bool djm_servoSound(const mjModel* m, int i);

// Number of activations of actuator i that the import keeps.
int djm_keptActivations(const mjModel* m, int i);

// Whether equality constraint i is imported: MuJoCo's number of it, and so its flag in data, may be
// another one than ours.
bool djm_equalityKept(const mjModel* m, int i);

// Limits, friction loss and equality constraints act by MuJoCo's own rows.
static inline bool djm_hasRows(const djmImport* imp) {
  return imp->model->opt.integrator == DJ_EULER;
}

// What djModel has of solref and solimp, of limits and of friction loss.
void djm_impedance(double impedance[mjNIMP], const mjtNum solimp[mjNIMP]);
void djm_lossLaw(double* damping, double* impedance, const mjModel* m,
                 const mjtNum solref[mjNREF], const mjtNum solimp[mjNIMP]);

// Coefficients of a soft limit, per unit of effective inertia (1/s^2, 1/s).
void djm_limitLaw(double* stiffness, double* damping, const mjModel* m,
                  const mjtNum solref[mjNREF], const mjtNum solimp[mjNIMP]);

// Whether tendon i moves with the configuration; whether its path wraps around geoms: then it is
// imported without effect.
bool djm_tendonMoves(const mjModel* m, int i);
bool djm_tendonWraps(const mjModel* m, int i);

// Whether armature of tendon i couples dofs of which none is the other's ancestor: MuJoCo's inertia
// has no room for that and leaves it out.
bool djm_tendonForks(const mjModel* m, int i);

// Reference stiffness k and damping b of MuJoCo's solref, solimp after its safety rules.
void djm_softness(double* k, double* b, double* dmin, double* dmax, const mjModel* m,
                  const mjtNum solref[mjNREF], const mjtNum solimp[mjNIMP]);

#endif  // DJ_MUJOCO_IMPORT_H_
