// What elasticity of flexes is by material and rest shape.
//
// An element with vertices 0..n (n = dim) and edge vectors e_i = x_i - x_0 has the metric
// G_ij = e_i . e_j, G0 at rest, and with A = G0^-1, V its volume there (of dim 2: area times
// thickness) and the strain E = (G - G0)/2 the energy
//   V (mu tr(A E A E) + lambda/2 tr(A E)^2):
// Saint Venant-Kirchhoff's; of dim 2 lambda is that of plane stress. E = sum_e D_e C_e is linear in
// the differences D_e of squared lengths of edges from those at rest, so that the energy is
// D^T S D/4.
//
// A flap is two triangles (0, 1, 2) and (1, 0, 3) at an edge of length l. With their areas a and b,
// k = D/(a + b), D = young thickness^3/(12 (1 - poisson^2)), and theta the angle between them, all
// at rest, its energy is
//   k cos(theta)/2 |sum_i c_i x_i|^2 + beta det(x),  beta = -k l^4 det(x0)/(16 a^2 b^2),
// with det(x) = det(x_1 - x_0, x_2 - x_0, x_3 - x_0), and c_i sums of cotangents of the angles at
// the edge: c_0 of those at 1, c_1 of those at 0, -c_2 of those of its triangle, -c_3 likewise.

#ifndef DJ_MODEL_FLEX_LAW_H_
#define DJ_MODEL_FLEX_LAW_H_

#include "math/dual.h"

#include <dijoco/model.h>

enum { DJ_FLEX_VERT = 4, DJ_FLEX_EDGE = 6, DJ_FLEX_STIFFNESS = 21, DJ_FLEX_BENDING = 17 };

// Edges of an element by dim: how many, and their vertices, in the order of flex_elemedge.
extern const int dj_flexEdgeCount[4];
extern const int dj_flexEdges[4][DJ_FLEX_EDGE][2];

// mu and lambda, of dim 2 times thickness, and D of flaps: values and derivatives.
typedef struct djFlexMaterial {
  double mu, lambda, rigidity;
  double by_young[3], by_poisson[3], by_thickness[3]; // of the three
} djFlexMaterial;
djFlexMaterial dj_flexMaterial(const djModel* model, int flex);

// An element at rest.
typedef struct djFlexRest {
  int dim;
  double e[3][3]; // edge vectors
  double A[9];    // (dim x dim)
  double volume;  // or area
} djFlexRest;
// rest: places of its vertices. False: it has no volume.
bool dj_flexRest(djFlexRest* rest, int dim, const double* const vert[DJ_FLEX_VERT]);

// S's upper triangle by rows.
void dj_flexStiffness(double S[DJ_FLEX_STIFFNESS], const djFlexRest* rest,
                      const djFlexMaterial* material);
// y = S x of n edges.
void dj_mulFlexStiffness(double* y, const double S[DJ_FLEX_STIFFNESS], const double* x, int n);

// phi = D^T S d/2 of edges: derivatives by mu and lambda, and by places at rest. strained: D has
// minus the squared lengths there; else it does not depend on them.
void dj_flexStiffnessParams(double by_material[2], double by_rest[DJ_FLEX_VERT][3],
                            const djFlexRest* rest, const djFlexMaterial* material, const double* D,
                            const double* d, bool strained);

// c, and B/D = scale c c^T, beta/D, with derivatives by places at rest.
typedef struct djFlap {
  djDual c[4], scale, beta;
} djFlap;
void dj_flap(djFlap* flap, const double* const vert[4]);
void dj_flapBending(double out[DJ_FLEX_BENDING], const djFlap* flap, double rigidity);

#endif // DJ_MODEL_FLEX_LAW_H_
