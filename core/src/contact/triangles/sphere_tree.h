// A tree of balls over the triangles of a closed mesh.
//
// A node has the mass m of its triangles, which is their area, its centre x, their centroid, their
// second moment V about it over their mass, and the radius R of a ball about x that holds them:
//   leaf       V = sum_3 |v - x|^2/12
//   others     V = sum_c m_c/m (V_c + |x_c - x|^2)
//   all        R = max |v - x|
// Of a layered tree x and R are others (the paper's Definition 5.3):
//   all        x the mean of its vertices, each once
//   leaf       R = max |v - x|
//   others     R = max_c (|x - x_c| + R_c)
// Where vertices move triangles stay together as they were, and numbers are found anew.

#ifndef DJ_CONTACT_TRIANGLES_SPHERE_TREE_H_
#define DJ_CONTACT_TRIANGLES_SPHERE_TREE_H_

#include "math/vec.h"

#include <dijoco/types.h>

// The left child is the next node; right: the other one, 0 of a leaf. Its triangles are first ..
// first + n - 1. far: the vertex that is farthest from x; of layered nodes that are no leaves which
// child is, 0 or 1.
typedef struct djSphereNode {
  double x[3], R, V, m;
  double right, first, n, far;
} djSphereNode;
enum { DJ_SPHERE_NODE = 10 }; // numbers of it

typedef struct djSphereTree {
  int ntri;
  const djSphereNode* node; // (2 ntri - 1)
  const double* tri;        // (ntri x 3) vertices, in the order of leaves
  const double* vert[3];    // (nvert) each
} djSphereTree;

static inline djVec3 dj_treeVertex(const djSphereTree* t, int triangle, int k) {
  const int i = (int)t->tri[3 * triangle + k];
  return dju_vec3(t->vert[0][i], t->vert[1][i], t->vert[2][i]);
}

// Parts the triangles of `from` (ntri x 3) by where they are: fills right, first and n of nodes,
// and tri.
djStatus dj_growSphereTree(djSphereNode* node, double* tri, const int* from, int ntri,
                           const double* const vert[3]);
// The same as given: nodes (2 ntri - 1 x 2) of their two children, of leaves a triangle and -1, the
// root last. DJ_INVALID: that is no tree of all triangles.
djStatus dj_plantSphereTree(djSphereNode* node, double* tri, const int* from, int ntri,
                            const int* given);
// The rest of the nodes.
void dj_fitSphereTree(djSphereNode* node, const djSphereTree* tree);

// Then x and R of a layered tree.
djStatus dj_layerSphereTree(djSphereNode* node, const djSphereTree* tree, int nvert);

// By x, R, V and m of each node. Adds derivatives by vertices to vert; by is spoilt.
typedef struct djSphereGrad {
  double x[3], R, V, m;
} djSphereGrad;
void dj_sphereTreeParams(double* const vert[3], djSphereGrad* by, const djSphereTree* tree);

// Of a layered tree, by x and R.
djStatus dj_layeredTreeParams(double* const vert[3], djSphereGrad* by, const djSphereTree* tree,
                              int nvert);

#endif // DJ_CONTACT_TRIANGLES_SPHERE_TREE_H_
