// Contact of a whole model: shapes, candidate pairs, and the sum over pairs, seen by integrators.
//
// This module alone joins the model with the kernels. It knows body poses, never joints; and of
// kernels no more than their rows say.

#ifndef DJ_CONTACT_CONTACT_H_
#define DJ_CONTACT_CONTACT_H_

#include "contact/kernel.h"

#include <dijoco/data.h>

#include <stdint.h>

// ------------------------------ model side (immutable after making) ----------------------------

// Derived collision data of a model: contact shapes of each kernel in use (skin and margins
// applied). Shape g of kernel use u is at u ngeom + g.
struct djCollision {
  int nuse;                        // kernels in use, at least 1
  int* use;                        // (nuse) rows of the table; first the scene's
  int nshape;                      // = nuse ngeom
  djShape* shape;                  // (nshape); type -1 where the geom has none
  djShapeBounds* bounds;           // (nshape)
  double* skin;                    // (nshape) djGeomSource.skin; infinite: of a plane, as that of
                                   //   the other geom of each pair
  double* inner;                   // (ngeom) likewise
  bool* collides;                  // (ngeom) some kernel has a shape of it
  int maxvert;                     // largest npad
  double* box;                     // (ngeom x 6) centre and half extents of all its shapes, body
                                   //   frame, not planes
  double* beyond;                  // (ngeom) how far the geom reaches beyond some shape at most
  double* reach;                   // (nbody) farthest point of its shapes from the frame's origin,
                                   //   planes not counted
  double* range;                   // (nuse) no pair's range by that kernel is larger
  double maxinflate;               // largest inflation of an explicit pair, >= 0
  struct djHull* hull;             // (nmesh) of the meshes that collide, the others zero; then
                                   //   (nmesh) those that they had at first, whose facets they keep
  int nhull;                       // = 2 nmesh
  struct djGrid* grid;             // (nmesh) distance fields that kernels want, the others zero
  int** list;                      // (nmesh) for supports of their hulls: shape/support.h
  int* listroom;                   // (nmesh) numbers that these have room for
  djMat3* listaxes;                // (nmesh) their axes in the mesh's frame
  double* listreach;               // (nmesh) for which erosion they hold
  int maxpair;                     // pairs that data makes room for at first
  bool bounded;                    // some pair has no half space
  int rowwords;                    // of `collide`
  unsigned* collide;               // (ngeom x rowwords) bits: pairs to consider; NULL: too many
  uint64_t version;                // of the shapes, and of what else a list of near pairs is of:
                                   //   other ones have another
  uint64_t coefficients;           // likewise of those of friction and restitution
  struct djFacets* facets;         // (nmesh) see inertia/facets.h; NULL: none yet
  struct djFacets* own_facets;     // (nmesh) those of dj_renewFacets; NULL: there was none
  struct djExcess* excess;         // (2 nbody) see inertia/mass_rule.c; NULL: none yet
  double* lumps;                   // (nbody x 2) see inertia/mass_rule.h; NULL: none
  int inertia_rule;                // of the last dj_followGeomsBy; 0: there was none
  void* buffer;
  size_t nbuffer;
};

// Place of a kernel among those in use; 0 for others.
static inline int dj_useOf(const struct djCollision* c, int kernel) {
  int u = c->nuse - 1;
  while (u > 0 && c->use[u] != kernel) u--;
  return u;
}

// What a pair's plane loses of its height to be as thin as the other geom, m; 0: it has its own.
static inline double dj_skinOfOther(const struct djCollision* c, int use, int a, int b) {
  const double* skin = c->skin + (size_t)use * (size_t)(c->nshape / c->nuse);
  return isinf(skin[b]) && isfinite(skin[a]) ? skin[a] : 0;
}

// Some kernel has a shape of the geom.
static inline bool dj_collides(const struct djCollision* c, int geom) {
  int ngeom = c->nshape / c->nuse;
  for (int i = geom; i < c->nshape; i += ngeom) {
    if (c->shape[i].type >= 0) return true;
  }
  return false;
}

// Facets of the hull that a mesh had when it was compiled, where the model does not have them: a
// cache of dj_followGeoms. Or those that a design's mesh has instead.
typedef struct djFacets {
  uint64_t key;                    // of the vertices; 0: not known
  int nface;                       // 0: flat
  int* face;                       // (nface x 3) indices into the mesh's vertices
} djFacets;

// Moments of what a body's hulls share, as dj_followGeomsBy found them: a cache. Of the compiled
// model, then of the design.
typedef struct djExcess {
  uint64_t key;                    // of the geoms; 0: not known
  double moments[13];
} djExcess;

// Fill model->collision, model->contact, the settings of kernels and model->geom_skin from geoms
// and options, in place of what was there; on failure that stays. The default rules use the
// compiled geometry; `keep_defaults` keeps the settings that are already in force (parameters were
// set after the model was made) and rebuilds shapes only.
djStatus dj_makeCollision(djModel* model, bool keep_defaults, djError* err);
// The same, told of to a watch (or NULL) while hulls are made.
djStatus dj_makeCollisionWatched(djModel* model, bool keep_defaults, const djWatch* watch,
                                 djError* err);

// A parameter has been written: remake the shapes that depend on it, as dj_makeCollision with
// keep_defaults would. Meshes keep the facets that they had at first while these are convex
// (dj_moveHull). On failure shapes are as they were when the old value is written and this is
// called again.
djStatus dj_changeCollision(djModel* model, const djParam* param, djError* err);

// The collision data of a model for its copy, bit by bit.
djStatus dj_copyCollision(djModel* copy, const djModel* model, djError* err);
void dj_freeCollision(djModel* model);
size_t dj_collisionBytes(const djModel* model);

// MuJoCo's pair predicate, exact (mujoco: filterparent, excludes, bitmasks, explicit pairs).
bool dj_canCollide(const djModel* model, int geom1, int geom2);

// The geom can collide with some other one, whether or not its type is supported.
bool dj_geomCollides(const djModel* model, int geom);

// Pairs that contact considers: they can collide, a kernel has their types, and their bodies can
// move against each other.
bool dj_isContactPair(const djModel* model, int geom1, int geom2);

// The kernel of a pair: the one that is named for it (djSettingDef), else the scene's where that
// has their types, else the first that has. -1: none.
int dj_pairKernel(const djModel* model, int geom1, int geom2);

// Whether a pair of geoms, the lower one first, acts at all distances.
bool dj_actsAfar(const djModel* model, int low, int high);

// Settings in force have been changed by a parameter: what follows from them.
void dj_settingsChanged(djModel* model);

// Coefficients of pairs have been changed: data take them anew, and nothing else.
void dj_coefficientsChanged(djModel* model);

// Which pairs are guided has been changed: data list them anew.
void dj_guidesChanged(djModel* model);

// Sizes of two geoms (or one twice) that default rules follow.
djContactScale dj_pairScale(const djModel* model, int geom1, int geom2);
// Settings of two geoms for a kernel (its number) in force, into setting. Returns bits of those
// that a geom or an explicit pair gives.
unsigned dj_pairSettings(double* setting, const djModel* model, int kernel, int geom1, int geom2);

// The explicit pair of two geoms, or -1.
int dj_explicitPair(const djModel* model, int geom1, int geom2);

// Coefficients of a pair after mixing: explicit pairs first, then priority, else the larger.
// friction is 0 for condim 1, no less than DJ_LEAST_FRICTION (MuJoCo's) where there is more than
// that. cone: from condim 4 on torsion, of 6 rolling. inflate: see djPairInput. restitution: of the
// velocity along the normal, 0 to 1, as option restitution has it. deeper: by how much deeper than
// where geoms touch contact begins, m, as option softness has it. source: the geom whose coefficient
// counts, of two equal ones the second; -1: an explicit pair's own.
enum { DJ_OF_SLIDING, DJ_OF_TORSION, DJ_OF_ROLLING, DJ_OF_RESTITUTION, DJ_NCOEFFICIENT };
typedef struct djPairCoefficients {
  double friction;
  djCone cone;
  double inflate;
  double restitution;
  double deeper;
  int source[DJ_NCOEFFICIENT];
} djPairCoefficients;
#define DJ_LEAST_FRICTION 1e-5
// Whether any pair may have restitution.
bool dj_hasRestitution(const djModel* model);
djPairCoefficients dj_pairCoefficients(const djModel* model, int geom1, int geom2);
// Whether there is a pair with friction of a kernel in which that has no derivatives by what moves
// shapes, and which.
bool dj_frictionKeepsShapes(int pair[2], const djModel* model);


// ------------------------------ data side (one thread) -----------------------------------------

typedef struct djContacts djContacts;

djStatus dj_makeContacts(djContacts** contacts, const djModel* model, djError* err);
void dj_deleteContacts(djContacts* contacts);

// Whether some pair acts afar now, which has no rows; contacts may be NULL.
bool dj_pullsAfar(const djContacts* contacts, const djModel* model);
void dj_resetContacts(djContacts* contacts);       // forgets its pairs
size_t dj_contactsSize(const djModel* model);      // bytes
size_t dj_contactsBytes(const djContacts* contacts);   // that are held now; NULL: 0
int dj_maxContactPairs(const djModel* model);      // pairs that reports have room for at first

// How many pairs heaps of that many shapes reach. Models that have more make room for these at
// first.
static inline long dj_pairsOfHeap(long shapes) { return 8 * shapes + 64; }

// Whether bodies that move points by no more than `move` (nbody) in a step, and by `own` beside the
// first body of their tree, may close by more than half the size of a pair. Then into how many
// parts, 1 to `most`, the step is to be cut so that they do not on the way from poses to others, at
// which they would be without contact (impact.c).
bool dj_mayImpact(const djContacts* contacts, const djModel* model, const double* move,
                  const double* own);
int dj_impactParts(djContacts* contacts, const djModel* model, const djPose* from,
                   const djPose* to, int most);

// After dj_beginContacts: friction's planes and forces as at these poses (nbody), near which the
// step is to end (option friction = implicit), of all pairs that do not recover.
djStatus dj_lagContacts(djContacts* contacts, const djModel* model, const djPose* pose,
                        djError* err);

// Which equality constraints (nequality) act in the steps that begin from now on: geoms that they
// hold in each other do not collide (pairs/tied.h). eq_active is kept. contacts may be NULL.
void dj_tieContacts(djContacts* contacts, const djModel* model, const int* eq_active);
// Where bodies (nbody) were a step before the start of the steps that begin from now on; NULL, as
// at first: unknown. contacts may be NULL.
void dj_setPastContacts(djContacts* contacts, const djPose* past);
// The time from where contact is evaluated to the end of the step, s: of steps that begin from now on.
void dj_setRestOfContacts(djContacts* contacts, double rest);

// Start of a step. pose (nbody): body poses at its start; rate (nbody): those from which its
// displacement counts (djPairInput), NULL: pose; twist (nbody x 6): velocities about ref, NULL:
// zero; ref (nbody): twist reference points, fixed during the step; h: as in djPairInput. All are
// copied. Finds near pairs and fixes lagged planes, normal forces and erosions. Makes room for as
// many pairs as there are. DJ_OVERLAP (option overlap = error): text names the geoms and the depth.
djStatus dj_beginContacts(djContacts* contacts, const djModel* model, const djPose* pose,
                          const djPose* rate, const double* twist, const djVec3* ref, double h,
                          djError* err);

// While a step is being solved arrays do not grow: where pairs have no room calls below return
// DJ_CROWDED (the solve is void). dj_growContacts then makes room, and the step is to be taken
// anew.
#define DJ_CROWDED ((djStatus)-100)
void dj_fixContacts(djContacts* contacts, bool fixed);
// Evaluations from now on are for derivatives, in which alone a guide may act (option
// guide_backward_only).
void dj_differentiateContacts(djContacts* contacts, const djModel* model, bool derivatives);
// How pairs are evaluated from now on, and as which iterate (djPairInput). Whether any of the last
// evaluation can be eased.
void dj_easeContacts(djContacts* contacts, djEase ease, int iterate);
// Of the last evaluation: by how much bodies press others that go at some speed (nbody, m/s, 0 of
// others): part (nbody) is the largest energy of their pairs, relative to what may come of pushing
// what is there; of the world that of all other pairs.
void dj_squeezeContacts(double* part, const djContacts* contacts, const djModel* model,
                        const double* speed);
bool dj_canEaseContacts(const djContacts* contacts);
// With an iterate above 0 the last evaluation, if there was one, is that of the present point.
// After a trial from there: of pairs whose energy is by more than `excess` above what the blocks of
// the present point foresee these blocks give way to others (meet.c). *found: of how many.
djStatus dj_meetContacts(int* found, djContacts* contacts, const djModel* model, double excess);
// From now on evaluations give the blocks of the present point as they are by now, if that has
// these poses, which is returned; NULL: no longer. contacts may be NULL.
bool dj_replayContacts(djContacts* contacts, const djPose* pose);
// Whether kernels of pairs that have begun have forces with kinks (DJ_C0).
bool dj_kinkedContacts(const djContacts* contacts);
djStatus dj_growContacts(djContacts* contacts, const djModel* model, djError* err);

// Largest factor in (0, 1] by which the motion pose -> trial may be taken: what the kernels' step
// caps allow. Adds pairs that the motion brings near.
djStatus dj_capContacts(double* factor, djContacts* contacts, const djModel* model,
                        const djPose* pose, const djPose* trial);

// One geom pair in the list of the step; derivatives about ref[body_a], ref[body_b].
typedef struct djContactBlock {
  int geom_a, geom_b, body_a, body_b;
  const djKernel* kernel;
  const djTraits* traits;
  djPairOutput out;                // out.twist_jac: NULL unless the kernel uses_twist
  double start_jac[144];           // after dj_startContacts
  bool lagged;                     // that is by the poses of dj_lagContacts instead
  bool has_past;                   // after dj_pastContacts: there is `past`
  djPairPast past;
  double* rate_jac;                // (144) then too, where rate poses are others than start poses;
                                   //   else NULL
} djContactBlock;

// Evaluate all pairs at poses (nbody) and twists (nbody x 6, about ref; NULL: zero). *value is the
// sum (infinite when infeasible: then derivatives are void). flags: DJ_EVAL_*.
djStatus dj_evalContacts(double* value, djContacts* contacts, const djModel* model,
                         const djPose* pose, const double* twist, int flags);

// After an infinite value: an error that names the pair of geoms.
djStatus dj_failInfinite(djError* err, const djContacts* contacts, const djModel* model);

// The blocks of the last evaluation that are active, n of them, in a fixed order (geom ids). Calls
// below are about that evaluation, at its twists.
const djContactBlock* const* dj_contactBlocks(int* n, const djContacts* contacts);

// Hessians of these blocks, where they are symmetric, go a share of the way to positive
// semi-definite ones: negative curvatures are multiplied by 1 - share.
void dj_convexContacts(djContacts* contacts, const djModel* model, double share);

// Derivative by start poses for the active blocks, at the poses of the last evaluation.
djStatus dj_startContacts(djContacts* contacts, const djModel* model, const djPose* pose);

// And by the poses of dj_setPastContacts.
djStatus dj_pastContacts(djContacts* contacts, const djModel* model, const djPose* pose);

// Derivative of the normal force (its size, without friction) of active block k by twists now and
// at the start, at the poses of the last evaluation.
djStatus dj_contactNormal(double now[12], double start[12], djContacts* contacts,
                          const djModel* model, const djPose* pose, int k);

// At the poses of the last evaluation, bodies moving by the twists x (nbody x 6, about ref): adds
// the derivative of x . gradient by friction coefficients and kernels' settings to param
// (model/param.h), that by contact shapes to shape (pairs/shape_grad.h).
djStatus dj_contactParams(double* param, djShapeGrad* shape, djContacts* contacts,
                          const djModel* model, const djPose* pose, const double* x);

// Lists of reports that have outgrown a data's own, and how many pairs the last has room for.
typedef struct djReportRoom {
  struct djReportMemory* memory;
  int npair;
} djReportRoom;

// Room for npair entries in data->pair and data->contact. DJ_NO_MEMORY.
djStatus dj_roomForReport(djData* data, djReportRoom* room, int npair);
void dj_freeReports(djReportRoom* room);
djReportRoom* dj_reportRoom(djContacts* contacts);

// Adds what a listed pair exerts, of bodies with those poses, to data->contact.
void dj_addReported(djData* data, const djContactPair* pair, const djModel* model,
                    const djPose* pose);

// Velocities act in some pair; contacts may be NULL. Before a report: the pairs evaluated at these
// poses and velocities, where the last evaluation was with others.
bool dj_contactsUseTwists(const djContacts* contacts);
djStatus dj_refreshTwists(djContacts* contacts, const djModel* model, const djPose* pose,
                          const double* twist);

// End of a step: fills data->pair, data->contact, and the gap, overlap and recovery statistics.
djStatus dj_reportContacts(djData* data, djContacts* contacts, const djModel* model,
                           const djPose* pose);

// Visits the points of all pairs that the last report lists and that act at points, at its poses;
// geom: that of the point, field: the other.
typedef void (*djContactPointVisit)(void* user, int geom, int field, const djPairPoint* point);
djStatus dj_visitContactPoints(djContacts* contacts, const djModel* model, const djPose* pose,
                               djContactPointVisit visit, void* user);

#endif  // DJ_CONTACT_CONTACT_H_
