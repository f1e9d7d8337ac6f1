// Supports: the vertex of a shape that is farthest in a direction, exactly, eroded as it may be.
//
// Small shapes are scanned. Of large hulls lists say which vertices a direction can have as its
// farthest, so that only these are looked at. With U the principal axes of the vertices and S their
// spread along these, d.v = (S U^T d).(S^-1 U^T v): in those axes flat hulls and needles are as
// round as others. Cells of directions S U^T d are the six sides of a cube, halved both ways again
// and again where lists are long. Vertex i is not in a cell's list where some j is farther in all
// of its directions, for all erosions 0 <= e <= reach:
//
//   d.(v_i - v_j) - e d.(m_i - m_j) < 0.
//
// That is linear in d and in e, so that a cell's corners and both ends of e decide. Scales and
// shifts of the shape do not matter. The farthest vertex is in the list whatever erosion makes of
// the hull: eroded vertices need not be vertices of a hull, nor have its edges.
//
// Of equal vertices it is always the first: lists change nothing but the time.

#ifndef DJ_SHAPE_SUPPORT_H_
#define DJ_SHAPE_SUPPORT_H_

#include "shape/shape.h"

#include <stddef.h>

// Hulls of fewer vertices have no lists: a scan takes no longer.
#define DJ_LISTS_FROM 128

// Numbers that the lists of a hull of n vertices have room for; 0: none are made.
int dj_listRoom(int n);

// Lists for the vertices (n x 3) and erosion vectors (n x 3) of a hull, and U S as columns.
// list: (dj_listRoom(n)).
djStatus dj_makeLists(int* list, djMat3* axes, int n, const double* vert, const double* move,
                      double reach);

// The vertex of s, eroded further by e, that is farthest along d, body frame; nvert > 0.
int dj_farthestVertex(const djShape* s, double e, djVec3 d);

// The list in which it looks, ascending and filled up by its first to n, whole lanes; NULL: it
// scans all vertices.
const int* dj_supportList(int* n, const djShape* s, double e, djVec3 d);

// Vertex i of s, eroded further by e.
static inline djVec3 dj_erodedVertex(const djShape* s, double e, int i) {
  djVec3 x = {s->vert[0][i], s->vert[1][i], s->vert[2][i]};
  if (!(e > 0)) return x;
  return dju_madd3(x, -e, dju_vec3(s->move[0][i], s->move[1][i], s->move[2][i]));
}

#endif // DJ_SHAPE_SUPPORT_H_
