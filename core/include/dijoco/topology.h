// Holes of a body: what its geoms fill together, counted on a lattice of cells.

#ifndef DIJOCO_TOPOLOGY_H_
#define DIJOCO_TOPOLOGY_H_

#include <dijoco/model.h>

#ifdef __cplusplus
extern "C" {
#endif

// What is counted of a body.
typedef struct djTopology {
  int components; // that do not touch
  int genus;      // tunnels through them
  int cavities;   // closed on all sides
  double volume;  // m^3; of the solid cells
} djTopology;

// Of the union of a body's geoms: meshes as the hulls of their vertices as they are now, boxes,
// spheres, capsules, ellipsoids, cylinders; others do not count. A cell (metres, its edge) is solid
// where its centre is at most 1e-6 m outside of a geom: gaps much narrower than a cell are seen
// where a row of centres lies in them. Counted are components, tunnels and cavities of the closed
// cells, which touch along edges and corners, too, by their Euler characteristic. Tunnels are not
// more than the loops of the geoms' nerve, these being grown by half a cell (round ones stand out
// by up to a hundredth of their radius, too): beside the line where two of them cross, cells may
// touch by chance. cell 0: 1/100 of the longest side of the body's box. DJ_INVALID: more than 2^26
// cells, a flat mesh, no geom that counts.
DJ_API djStatus dj_bodyTopology(djTopology* topology, const djModel* model, int body, double cell,
                                djError* err);

#ifdef __cplusplus
}
#endif

#endif // DIJOCO_TOPOLOGY_H_
