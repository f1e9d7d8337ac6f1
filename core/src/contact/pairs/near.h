// Internal to contact: the data side, and the list of geom pairs that may act on each other.
//
// The list holds every pair whose boxes, grown by a margin for each body, overlap: those that may
// come into range, and those whose geoms themselves may overlap. It stays valid
// while no body has moved by more than its margin since the list was made. Each pair also carries
// a lower bound of its gap, which shrinks as bodies move, so that most listed pairs cost nothing;
// where that does not do, by how far they have moved against each other.
//
// A pair that is out of its kernel's range at the start of the step and stays so contributes
// exactly zero, unless it acts afar: then it is listed and evaluated at any distance. Neither margins
// nor bounds ever change a result.
//
// Lists and states grow as pairs need them: at the start of a step, or whenever no step is being
// solved (dj_fixContacts).

#ifndef DJ_CONTACT_PAIRS_NEAR_H_
#define DJ_CONTACT_PAIRS_NEAR_H_

#include "contact/contact.h"
#include "shape/broadphase.h"
#include "shape/distance.h"

typedef struct djNearPair {
  int low, high;           // geoms, low < high; the list is sorted by them
  int a, b;                // the same in the kernel's order: a plane is b
  int body_a, body_b;
  double bound;            // lower bound of the gap at djContacts.base
  bool b_in_a;             // which of both is seen from the other's body: the smaller one
  double radius;           // of a ball about its box
  double seen_gap;         // lower bound of the gap where it is `seen`: when it was measured
  djPose seen;             // centre of its box, axes of its body
  double range, room;      // by the kernel; and a motion of less than share (gap + room) is whole
  double share;
  const djKernel* kernel;
  int use;                 // its place among those in use
  unsigned own;            // bits of the settings that are not the scene's
  double friction, inflate, lower;   // as in djPairInput
  djCone cone;                       // likewise
  double guide_part, guide_scale;    // likewise
  double recovery_part;              // likewise
  double deeper;           // as in djPairCoefficients
  double restitution;      // 0: impacts are the barrier's
  int source[DJ_NCOEFFICIENT];       // as in djPairCoefficients
  bool always;             // bounds do not apply: the plane moves
  bool afar;               // it acts at any distance
  bool close;              // was within range when last evaluated
  bool acted;              // was active when last evaluated
  long acted_at;           // the last evaluation in this step that found it active; 0: begin
  bool near;               // in range at the start: it may act by lagged friction anywhere
  bool begun;              // the kernel has begun it in this step
  bool lagged;             // at djContacts.lag
  bool plain;              // without its guide, though guides act now (evalPair)
  int slot;                // of its state, or -1
  djDistanceCache cache;
} djNearPair;

// Motions of bodies from poses to others.
typedef struct djMoves {
  const djPose *from, *to;
  double* most;            // (nbody) of the points that a body reaches, at most
  bool* turned;            // (nbody) its turn is known
  djMat3* turn;            // (nbody) from R to turn R
} djMoves;

// The way of a geom's box: its centre at both ends, and bounds of all between (impact.c).
typedef struct djSwept {
  int geom;
  djVec3 from, to;
  double radius;           // of the ball around it
  double turn;             // how far a point at distance 1 of the centre is turned
  double low[3], high[3];
} djSwept;

struct djContacts {
  int nuse;
  int* use;                // (nuse) kernels, as in djCollision
  int* first;              // (nuse) slots of the first settings of kernels in use
  djTraits* traits;        // (nuse) theirs, when the data was made
  double* range;           // (nuse) of the kernels in use, no pair's is larger
  double maxrange;         // the largest
  double share;            // least share of the kernels' largest steps
  double h;                // as in djPairInput
  double rest;             // as in djPairInput
  const struct djCollision* collision;   // whose shapes, in which version, the list is about
  uint64_t version;
  uint64_t coefficients;                 // in which version its pairs have them
  const int* eq_active;    // (nequality) of the step, as dj_tieContacts has it
  uint64_t tied_key;       // dj_tiedKey of these
  bool listed;             // pairs, margins and start poses are valid
  int nbody;
  djPose* start;           // (nbody) at the start of the step
  djPose* base;            // (nbody) to which margins and pairs' bounds refer
  bool ahead;              // those are near the end of this step
  djPose* past;            // (nbody) a step before the start: past_pose, or NULL: unknown
  djPose* past_pose;       // (nbody)
  djPose* rate;            // (nbody) from which displacements count: start, or rate_pose
  djPose* rate_pose;       // (nbody)
  djPose* lag;             // (nbody) poses of which friction's planes and forces are, or NULL: start
  djPose* lag_pose;        // (nbody)
  double* twist;           // (nbody x 6) of the last evaluation
  bool moving;             // they are not all zero
  djVec3* ref;             // (nbody)
  double* slack;           // (nbody) what is left of the margins, from the base poses
  djMoves moved;           // base to now
  djMoves move;            // scratch: now to trial
  double* margin;          // (nbody) scratch
  double* need;            // (nbody) scratch
  int npair, maxlist;
  int roomy;               // what it may grow to before pairs are listed more tightly
  int wanted;              // pairs that were found for the list
  int crowded;             // states that were asked for
  djEase ease;             // of evaluations, and their iterate (djPairInput)
  int iterate;
  bool fixed;              // a step is being solved: nothing grows
  bool derivatives;        // evaluations are for derivatives: what acts in these alone acts
  djNearPair *pair, *other;   // (maxlist + nslot) the list, and the one before
  djBoxPair* found;        // (maxlist)
  int nafar, maxafar;      // pairs that act afar, whatever their distance
  djBoxPair* afar;         // (maxafar) of box_geom, sorted; owned
  int nbox;                // geoms that collide
  int* box_geom;           // (nbox) ascending
  double* box;             // (nbox x 6)
  djSwept* swept;           // (nbox) scratch of impact.c
  djBroadphase* broadphase;
  void* broadphase_memory;
  int nslot, nfree;        // states of pairs
  int* free_slot;          // (nslot)
  size_t state_size, touch_size;
  bool uses_twist, uses_rates;   // which arrays there are
  unsigned char* state;    // (nslot x state_size)
  int nblock;              // of the last evaluation
  djContactBlock* block;   // (nslot)
  bool meets;              // all kernels in use have what meet.c asks for
  bool curved;             // the last evaluation has Hessians
  bool marked;             // the last evaluation is that of the present point
  bool keeps, replays;     // there are blocks of the present point; evaluations give these
  int nkept;
  djContactBlock* kept;    // (nslot) them, at kept_pose, in the order of the list
  djPose* kept_pose;       // (nbody)
  double* setting;         // (nslot x DJ_MAX_OF_KERNEL) of pairs, in force
  double* twist_jac;       // (nslot x 144) where a kernel uses twists, else NULL
  double* rate_jac;        // (nslot x 144) where rate poses have been given, else NULL
  const djContactBlock** active;   // (nslot)
  int* active_pair;        // (nslot)
  long neval;              // evaluations in this step
  int infinite;            // the listed pair that made the last evaluation infinite
  bool evaluated;          // blocks belong to `eval_pose`
  bool blocked;            // or they do, some of them infinite: for dj_meetContacts alone
  djPose* eval_pose;       // (nbody)
  double* scratch;
  int nscratch;
  unsigned char* touch_state;   // of touch.c
  double* depth;           // (nslot) scratch of reports
  void *buffer, *list_buffer, *slot_buffer;
  size_t nbuffer;
  djReportRoom report;
};

// Without a call, unlike fmax.
static inline double dj_larger(double x, double y) { return x > y ? x : y; }

// Upper bound of the displacement of points within `reach` of the frame's origin.
double dj_displacement(const djPose* from, const djPose* to, double reach);

// Remake the list at the base poses so that each body may move by need (nbody), from c->need,
// which may be a guess; where that finds many more pairs than there is room for, with no more than
// that, and where there still are more, in more room. DJ_CROWDED, DJ_NO_MEMORY: there is none; the
// list is then as it was.
djStatus dj_listPairs(djContacts* c, const djModel* m, bool guess);

// Room for at least so many pairs in the list, and so many states. DJ_CROWDED while a step is being
// solved. On failure all is as it was.
djStatus dj_growList(djContacts* c, int npair);
djStatus dj_growSlots(djContacts* c, int nslot);
// Room for derivatives by rate poses.
djStatus dj_needRates(djContacts* c);

// The pairs that act afar in a model, into c->afar. DJ_NO_MEMORY.
djStatus dj_listAfar(djContacts* c, const djModel* m);

// A pair of which nothing is known yet.
void dj_newPair(djNearPair* p, const djContacts* c, const djModel* m, int low, int high);
// What of it a parameter of friction or restitution changes: anew.
void dj_takeCoefficients(djNearPair* p, const djModel* m);

// The list is about the model's shapes as they are.
bool dj_isCurrent(const djContacts* c, const djModel* m);

// The list as of a step that starts at these poses (nbody) and comes to those.
djStatus dj_coverContacts(djContacts* c, const djModel* m, const djPose* start, const djPose* end);

// Adds what derivatives by a pair's coefficients of friction and restitution, by its settings
// (slope, at x) are by parameters; first: slot of the kernel's first setting.
void dj_addFrictionParams(double* param, const djModel* m, const djNearPair* p, double slope,
                          const djCone* cone);
void dj_addRestitutionParams(double* param, const djModel* m, const djNearPair* p, double slope);
void dj_addSettingParams(double* param, const djModel* m, int first, const djNearPair* p,
                         const double* x, const double* slope);

// Two geoms at given poses.
djGeomPair dj_geomPair(const djContacts* c, const djNearPair* p, const djModel* m,
                       const djPose* pose);

// Motions of all bodies (nbody).
void dj_measureMoves(djMoves* moves, const djModel* m, const djPose* from, const djPose* to);
// At most: how far a pair's bodies move together, or its geoms against each other, which may be much
// less.
static inline double dj_bothMove(const djNearPair* p, const djMoves* moves) {
  return moves->most[p->body_a] + moves->most[p->body_b];
}
double dj_relativeMove(const djNearPair* p, const djModel* m, djMoves* moves);
// Where moves lead that begin at the base poses: a lower bound of a pair's gap, the best one that is
// known where it is not more than `enough`; the gap is no less than that.
double dj_leastGap(djNearPair* p, const djModel* m, djMoves* moves, double enough);
void dj_seeGap(djNearPair* p, const djModel* m, djMoves* moves, double gap);
// Whether a pair that is out of range at the start of the step may be in range where c->moved
// leads.
bool dj_mayReach(djContacts* c, const djModel* m, djNearPair* p);

// Signed gap of the contact shapes at given poses; cache may be NULL.
djStatus dj_pairGap(djDistance* d, djDistanceCache* cache, const djContacts* c,
                    const djNearPair* p, const djModel* m, const djPose* pose);
// A bound of the distance, no more than the gap, which a kernel may measure otherwise: the planes
// through both points with the normal separate the shapes.
double dj_separation(const djDistance* d);

// Depth to which the geoms themselves overlap (<= 0: apart); -INFINITY where the kernel does not
// say.
djStatus dj_trueDepth(double* depth, djContacts* c, const djNearPair* p, const djModel* m,
                      const djPose* pose);

djPairInput dj_pairInput(const djContacts* c, const djModel* m, const djNearPair* p,
                         const djPose* pose);

// Before an evaluation: where the last one was of the present point, its blocks are kept. The kept
// ones in place of an evaluation; their energy.
void dj_keepBlocks(djContacts* c);
double dj_replayBlocks(djContacts* c);

// H (n x n, of n/6 bodies) goes a share of the way to a positive semi-definite one: see
// dj_convexContacts.
void dj_convexHessian(double* H, int n, double share);

// The blocks of these poses, evaluated anew where the last evaluation was elsewhere.
djStatus dj_refreshContacts(djContacts* c, const djModel* m, const djPose* pose);

// What acts afar does so now.
static inline bool dj_guides(const djContacts* c, const djModel* m) {
  return c->derivatives || !m->opt.guide_backward_only;
}

static inline djPairState* dj_stateOf(const djContacts* c, const djNearPair* p) {
  return (djPairState*)(void*)(c->state + (size_t)p->slot * c->state_size);
}

#endif  // DJ_CONTACT_PAIRS_NEAR_H_
