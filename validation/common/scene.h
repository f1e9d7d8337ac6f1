// Scenes in code: model definitions that grow body by body, with masses from densities, and a
// supply of random convex hulls.

#ifndef DJ_VALIDATION_SCENE_H_
#define DJ_VALIDATION_SCENE_H_

#include <dijoco/dijoco.h>

#include <stdint.h>

#define DJV_MAX_BODY 132
#define DJV_MAX_GEOM 136
#define DJV_MAX_JOINT 264
#define DJV_MAX_ACTUATOR 264
#define DJV_MAX_VERT 60

// A convex polytope of its own: vertices and outward triangles, found here by brute force.
typedef struct djvHull {
  int nvert, nface;
  double vert[DJV_MAX_VERT][3];
  int face[2 * DJV_MAX_VERT][3];
  double volume, com[3], inertia[9];   // density 1, inertia about com
} djvHull;

typedef struct djvScene {
  djModelDef def;
  djBodyDef body[DJV_MAX_BODY];
  djJointDef joint[DJV_MAX_JOINT];
  djGeomDef geom[DJV_MAX_GEOM];
  djActuatorDef actuator[DJV_MAX_ACTUATOR];
  djMeshDef mesh[DJV_MAX_GEOM];
  djvHull hull[DJV_MAX_GEOM];          // of the meshes
} djvScene;

// Random numbers: xorshift; uniform in [low, high).
typedef struct djvRandom {
  uint64_t state;
} djvRandom;
djvRandom djv_random(uint64_t seed);
double djv_uniform(djvRandom* random, double low, double high);
// n of them, the last drawn first. Compilers differ in the order in which they evaluate arguments
// and initialisers: one draw in each statement.
void djv_uniforms(double* v, int n, djvRandom* random, double low, double high);
int djv_integer(djvRandom* random, int low, int high);          // both ends included
void djv_randomQuat(djvRandom* random, double quat[4]);

// A scene with the world only. It points into itself: do not copy it.
void djv_startScene(djvScene* s, double timestep);
// A body: free, without joint yet (parent > 0 or fixed), frame relative to its parent.
int djv_addFree(djvScene* s, const double pos[3], const double quat[4]);
int djv_addBody(djvScene* s, int parent, const double pos[3]);
int djv_addJoint(djvScene* s, int body, djJointType type, const double axis[3]);
// Geoms; pos, quat in the body's frame, NULL: none. The result may be edited.
djGeomDef* djv_addGeom(djvScene* s, int body, djGeomType type, const double size[3],
                       const double pos[3], const double quat[4]);
djGeomDef* djv_addFloor(djvScene* s);
djGeomDef* djv_addHull(djvScene* s, int body, const djvHull* hull, const double pos[3],
                       const double quat[4]);

// Mass, centre of mass and inertia of every body from its geoms, which must not be planes.
void djv_setDensity(djvScene* s, double density);
// The same for one body, scaled to a given mass.
void djv_setMass(djvScene* s, int body, double mass);

// Makes model and data, or ends the program.
void djv_make(djModel** model, djData** data, const djvScene* s);

// n random points on a sphere, all of them vertices of their hull; vertices that are given, likewise;
// and the image under a scaling of the axes.
void djv_makeHull(djvHull* hull, djvRandom* random, int n);
void djv_closeHull(djvHull* hull);   // faces, volume, inertia of given vertices
void djv_scaleHull(djvHull* out, const djvHull* hull, const double scale[3]);

#endif  // DJ_VALIDATION_SCENE_H_
