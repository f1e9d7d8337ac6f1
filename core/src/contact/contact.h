// Contact of a whole model: shapes, candidate pairs, and the sum over pairs, seen by integrators.
//
// This module alone joins the model with the kernels. It knows body poses, never joints.

#ifndef DJ_CONTACT_CONTACT_H_
#define DJ_CONTACT_CONTACT_H_

#include "contact/kernel.h"

#include <dijoco/data.h>

#include <stdint.h>

// ------------------------------ model side (immutable after making) ----------------------------

// Derived collision data of a model: contact shapes (skin and margins applied).
struct djCollision {
  int nshape;                      // = ngeom
  djShape* shape;                  // (ngeom); type -1 where the geom never collides
  int maxvert;                     // largest npad
  double* inflate;                 // (ngeom) margin - gap, as far as the shape has it
  double* box;                     // (ngeom x 6) centre and half extents, body frame, not planes
  double* reach;                   // (nbody) farthest point of its shapes from the frame's origin,
                                   //   planes not counted
  double* beyond;                  // (ngeom) how far the geom itself reaches beyond its shape at most
  double maxinflate;               // largest inflation of an explicit pair, >= 0
  struct djHull* hull;             // (nmesh) of the meshes that collide, the others zero; then
                                   //   (nmesh) those that they had at first, whose facets they keep
  int nhull;                       // = 2 nmesh
  int maxpair;                     // pairs that data can hold
  int rowwords;                    // of `collide`
  unsigned* collide;               // (ngeom x rowwords) bits: pairs to consider; NULL: too many
  uint64_t version;                // of the shapes: other ones have another
  struct djFacets* facets;         // (nmesh) see geom_inertia.c; NULL: none yet
  void* buffer;
  size_t nbuffer;
};

// Facets of the hull that a mesh had when it was compiled, where the model does not have them: a
// cache of dj_followGeoms.
typedef struct djFacets {
  uint64_t key;                    // of the vertices; 0: not known
  int nface;                       // 0: flat
  int* face;                       // (nface x 3) indices into the mesh's vertices
} djFacets;

// Fill model->collision, model->contact and model->geom_skin from geoms and options, in place of
// what was there; on failure that stays. The default rules use the compiled geometry;
// `keep_defaults` keeps the settings that are already in force (parameters were set after the
// model was made) and rebuilds shapes only.
djStatus dj_makeCollision(djModel* model, bool keep_defaults, djError* err);
// The same, told of to a watch (or NULL) while hulls are made.
djStatus dj_makeCollisionWatched(djModel* model, bool keep_defaults, const djWatch* watch,
                                 djError* err);

// A parameter has been written: remake the shapes that depend on it, as dj_makeCollision with
// keep_defaults would. Meshes keep the facets that they had at first while these are convex
// (dj_moveHull). On failure all shapes are as they were.
djStatus dj_changeCollision(djModel* model, const djParam* param, djError* err);

// The collision data of a model for its copy, bit by bit.
djStatus dj_copyCollision(djModel* copy, const djModel* model, djError* err);
void dj_freeCollision(djModel* model);

// MuJoCo's pair predicate, exact (mujoco: filterparent, excludes, bitmasks, explicit pairs).
bool dj_canCollide(const djModel* model, int geom1, int geom2);

// The geom can collide with some other one, whether or not its type is supported.
bool dj_geomCollides(const djModel* model, int geom);

// Pairs that contact considers: they can collide, a kernel has their types, and their bodies can
// move against each other.
bool dj_isContactPair(const djModel* model, int geom1, int geom2);

// The geom itself, without skin and margin, as a shape; the discs of a cylinder (shape/curve.h) are
// flat and end at its edges. mem: 3 npad.
void dj_trueShape(djShape* out, double* mem, const djModel* model, int geom);

// Coefficients of a pair after mixing: explicit pairs first, then priority, else the larger.
// friction is 0 for condim 1. inflate: see djPairInput.
typedef struct djPairCoefficients {
  double friction;
  double inflate;
} djPairCoefficients;
djPairCoefficients dj_pairCoefficients(const djModel* model, int geom1, int geom2);

// The geom whose friction the pair takes; -1: an explicit pair's own. Of two equal ones geom2.
int dj_frictionGeom(const djModel* model, int geom1, int geom2);

// ------------------------------ data side (one thread) -----------------------------------------

typedef struct djContacts djContacts;

djStatus dj_makeContacts(djContacts** contacts, const djModel* model, djError* err);
void dj_deleteContacts(djContacts* contacts);
void dj_resetContacts(djContacts* contacts);       // forgets its pairs
size_t dj_contactsSize(const djModel* model);      // bytes
int dj_maxContactPairs(const djModel* model);      // capacity of the list of near pairs

// How many pairs heaps of that many shapes reach. Models that have more make room for these.
static inline long dj_pairsOfHeap(long shapes) { return 8 * shapes + 64; }

// Start of a step. pose (nbody): body poses at its start; ref (nbody): twist reference points,
// fixed during the step; both must stay valid until the step ends. Finds near pairs and fixes
// lagged planes, normal forces and erosions. DJ_OVERLAP (option overlap = error): text names the
// geoms and the depth.
djStatus dj_beginContacts(djContacts* contacts, const djModel* model, const djPose* pose,
                          const djVec3* ref, double h, djError* err);

// Largest factor in (0, 1] by which the motion pose -> trial may be taken, so that no pair
// approaches by more than a quarter of (gap + s L + thickness of the thinner one). Adds pairs that
// the motion brings near. Half spaces need no cap.
djStatus dj_capContacts(double* factor, djContacts* contacts, const djModel* model,
                        const djPose* pose, const djPose* trial);

// One geom pair in the list of the step; derivatives about ref[body_a], ref[body_b].
typedef struct djContactBlock {
  int geom_a, geom_b, body_a, body_b;
  djPairOutput out;
  double start_jac[144];           // after dj_startContacts
} djContactBlock;

// Evaluate all pairs at poses (nbody). *value is the sum (infinite when infeasible: then it stops
// early and derivatives are void). flags: DJ_EVAL_*.
djStatus dj_evalContacts(double* value, djContacts* contacts, const djModel* model,
                         const djPose* pose, int flags);

// After an infinite value: an error that names the pair of geoms.
djStatus dj_failInfinite(djError* err, const djContacts* contacts, const djModel* model);

// The blocks of the last evaluation that are active, n of them, in a fixed order (geom ids).
const djContactBlock* const* dj_contactBlocks(int* n, const djContacts* contacts);

// Derivative by start poses for the active blocks, at the poses of the last evaluation.
djStatus dj_startContacts(djContacts* contacts, const djModel* model, const djPose* pose);

// Derivative of the normal force (its size, without friction) of active block k by twists now and
// at the start, at the poses of the last evaluation.
djStatus dj_contactNormal(double now[12], double start[12], djContacts* contacts,
                          const djModel* model, const djPose* pose, int k);

// At the poses of the last evaluation, bodies moving by the twists x (nbody x 6, about ref): adds
// the derivative of x . gradient by friction coefficients, stiffness and support to param
// (model/param.h), that by contact shapes to shape (ngeom).
djStatus dj_contactParams(double* param, djShapeGrad* shape, djContacts* contacts,
                          const djModel* model, const djPose* pose, const double* x);

// End of a step: fills data->pair, data->contact, and the gap, overlap and recovery statistics.
djStatus dj_reportContacts(djData* data, djContacts* contacts, const djModel* model,
                           const djPose* pose);

#endif  // DJ_CONTACT_CONTACT_H_
