// Elasticity and damping of flexes: rows of the force table that differ by their law.
//
// A law is a sum over terms of up to four vertices, points of bodies. It knows their places x and,
// of damping, what rates are by: places at `rate` and the time since, or, of prompt motions,
// velocities. Gradients and second derivatives are summed by vertices and pairs of them first, then
// taken to bodies (flex_sum.c).

#ifndef DJ_FORCE_FLEX_H_
#define DJ_FORCE_FLEX_H_

#include "force/twist_force.h"
#include "model/flex.h"

enum {
  DJ_FLEX_SPRING = 1,
  DJ_FLEX_DAMPER = 2,
  DJ_FLEX_SLOPES = 4,    // second derivatives are asked for, too,
  DJ_FLEX_RATES = 8,     // and those by what rates are by,
  DJ_FLEX_MAJORIZER = 16 // or positive semi-definite ones
};

// What all terms share.
typedef struct djFlexMotion {
  const djModel* model;
  bool prompt; // rates are by velocities
  double h;    // time since `rate`
  double lag;  // time over which MuJoCo's damping of elements looks back; 0: not at all
} djFlexMotion;

// One term.
typedef struct djFlexTerm {
  int n; // vertices
  int vert[DJ_FLEX_VERT];
  int pair[DJ_FLEX_EDGE]; // of vertices i < k, at dj_flexPair(i, k); -1: they have no part
  djVec3 x[DJ_FLEX_VERT], y[DJ_FLEX_VERT]; // places; places at `rate`, or velocities
  double value;                            // energy
  double f[DJ_FLEX_VERT][3];
  double K[DJ_FLEX_VERT][DJ_FLEX_VERT][9]; // of f by x
  double R[DJ_FLEX_VERT][DJ_FLEX_VERT][9]; // and by y
} djFlexTerm;

static inline int dj_flexPair(int i, int k) { return i == 0 ? k - 1 : i + k; }

// Pairs of vertices of a model: edges, then of each edge those that are opposite to it.
static inline int dj_flexPairCount(const djModel* m) { return 2 * m->nflexedge; }
static inline const int* dj_flexPairVertices(const djModel* m, int p) {
  return p < m->nflexedge ? m->flexedge_vert + 2 * (size_t)p
                          : m->flexedge_flap + 2 * (size_t)(p - m->nflexedge);
}

typedef struct djFlexLaw {
  int (*count)(const djModel* model); // terms that there may be
  // Vertices and pairs of term i; false: there is none.
  bool (*term)(djFlexTerm* term, const djModel* model, int i);
  // Value and f; K and R if they are asked for: adds to n x n blocks. what: DJ_FLEX_*.
  void (*evaluate)(djFlexTerm* term, const djFlexMotion* at, int i, int what);
  // Adds d(sum of f . u)/d parameter, u of the term's vertices.
  void (*params)(double* param, const djFlexTerm* term, const djFlexMotion* at, int i, int what,
                 const djVec3 u[DJ_FLEX_VERT]);
} djFlexLaw;

extern const djFlexLaw dj_flexEdgeLaw, dj_flexElementLaw, dj_flexFlapLaw;

// Sums by vertices and pairs: blocks of a vertex and itself, then two of each pair; of energies
// (`rates` false) K has one, in the order of dj_flexPairVertices: the other is its transpose.
typedef struct djFlexSum {
  int* slide;          // (nflexvert) first of three slides that alone move the vertex, or -1
  double *x, *y;       // (nflexvert x 3)
  double* f;           // (nflexvert x 3)
  double *K, *R;       // ((nflexvert + 2 pairs) x 9)
  bool *vertex, *pair; // that have a part
  bool rates;          // R is set
} djFlexSum;

size_t dj_flexSumSize(const djModel* model);
djFlexSum dj_initFlexSum(const djModel* model, void* memory);
// Places at the point, and places at `rate`, or, with twists of bodies (nbody x 6), velocities.
void dj_setFlexPlaces(djFlexSum* sum, const djMotion* at, const double* twist);
void dj_clearFlexSum(djFlexSum* sum, const djModel* model, bool rates);
void dj_addFlexTerm(djFlexSum* sum, const djFlexTerm* term, const djModel* model, bool slopes);
// Where vertex i is.
djVec3 dj_flexPlace(const djModel* model, const djKin* kin, int i);

// The block of vertices a and b of pair p.
static inline double* dj_flexBlock(double* K, const djModel* m, int p, int a) {
  int turned = dj_flexPairVertices(m, p)[0] != a;
  return K + 9 * ((size_t)m->nflexvert + 2 * (size_t)p + (size_t)turned);
}

// To bodies: wrenches and nested second derivatives of an energy; of wrenches by poses and twists;
// by poses at `rate`.
void dj_addFlexWrench(double* wrench, const djFlexSum* sum, const djMotion* at); // (nbody x 6)
void dj_projectFlex(djForceSum* out, const djFlexSum* sum, const djMotion* at);
void dj_projectFlexTwists(djForceSum* out, djTwistForces* twist, const djFlexSum* sum,
                          const djMotion* at);
void dj_projectFlexRates(djStartSum* out, const djFlexSum* sum, const djMotion* at);
void dj_projectFlexTwistRates(djStartSum* out, const djFlexSum* sum, const djMotion* at);
// And cotangents of bodies that move by out->x.
void dj_flexCotangents(djParamSums* out, const djFlexSum* sum, const djMotion* at);
void dj_flexTwistCotangents(djParamSums* out, double* scratch, const djFlexSum* sum,
                            const djMotion* at);

// f and, if they are asked for, K and R of edges with vectors d: f = w d, w = S D, with dD_e = g_e
// . dd_e + r_e . dy_e, y differences of what rates are by.
typedef struct djFlexEdges {
  int n;
  const int (*edge)[2];
  djVec3 d[DJ_FLEX_EDGE], g[DJ_FLEX_EDGE], r[DJ_FLEX_EDGE];
  double S[DJ_FLEX_EDGE][DJ_FLEX_EDGE], D[DJ_FLEX_EDGE];
} djFlexEdges;
void dj_sumFlexEdges(djFlexTerm* term, const djFlexEdges* edges, int what);

#endif // DJ_FORCE_FLEX_H_
