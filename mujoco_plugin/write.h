// Parts of the MJCF writer, shared by write*.c.

#ifndef DJ_MUJOCO_WRITE_H_
#define DJ_MUJOCO_WRITE_H_

#include "write_files.h"

typedef struct djmWrite {
  const char* scene;          // path
  const djModel* wanted;      // what the written scene shall compile to
  const djKeyDef* key;        // keyframe to add, or NULL
  mjSpec* spec;               // the scene without frames and defaults' inference, then edited
  mjModel* m;                 // compiled from it
  djModel* base;              // imported from m: what the scene holds before the change, or NULL
  bool* mesh_changed;         // (nmesh)
  bool rest_moved;            // qpos0 is no longer that of the design
  mjModel* made;              // what the changed spec compiles to, or NULL
  mjVFS vfs;                  // the files of meshes
  char* text;                 // the result
  bool saved;                 // it is whole
  const char* suffix;         // of files; NULL: there are none
  djmSceneFiles* files;
  djStatus status;
  djError* err;
} djmWrite;

// Remember the first failure; returns false.
bool djm_writeFail(djmWrite* w, djStatus status, const char* format, ...)
    __attribute__((format(printf, 3, 4)));

// A scene as a spec whose elements are those of the compiled model: no frames, no scaling, every
// inertia explicit, angles in radians, assets by absolute path, values exact. Fills spec, m, base.
bool djm_canonical(djmWrite* w);

// A spec of the wanted model itself, where the scene holds no MJCF. Fills spec.
bool djm_specFromModel(djmWrite* w, bool with_triangles);

// Numbers of the compiled model m in which wanted and base differ. Meshes are only marked.
bool djm_writeValues(djmWrite* w);
// Inertia and gravcomp of all bodies, in the spec: after mj_copyBack.
void djm_writeBodies(djmWrite* w);
// Rest lengths of all tendons, likewise.
void djm_writeTendons(djmWrite* w);
// Numbers of flexes, likewise; whether a scene has them.
void djm_writeFlexes(djmWrite* w);
bool djm_checkFlexes(const djModel* got, const djModel* wanted, double tolerance, djError* err);
// Bodies of vertices to where a rest shape has them, in m: before mj_copyBack.
bool djm_writeRest(djmWrite* w);
// Whether a body may be elsewhere at qpos0; that all such are at the same places at the same
// coordinates: else *body is not.
bool djm_placedByRest(const djModel* model, int body);
bool djm_checkRestPlaces(const djModel* got, const djModel* wanted, double tolerance, int* body);
// A flex of ours, but for the names of its bodies; contact: that of its vertices, or NULL.
void djm_addFlex(mjsFlex* out, const djFlexDef* flex, const djGeomDef* contact);
// Changed meshes as lists of vertices, and the frames of their geoms.
bool djm_writeMeshes(djmWrite* w, bool with_faces);
// Changed meshes as files, of a spec that is compiled and saved: fills files, where MuJoCo takes
// them.
bool djm_writeFiles(djmWrite* w);
// The spec as text, of which the old is freed.
bool djm_saveSpec(djmWrite* w, char** text);
// Settings in force as <custom> fields, and the keyframe.
bool djm_writeSettings(djmWrite* w);
bool djm_setNumber(djmWrite* w, const char* name, double value);
bool djm_setNumbers(djmWrite* w, const char* name, int n, const double* value);
bool djm_setText(djmWrite* w, const char* name, const char* value);
// Those of single pairs and geoms, and whether a scene has them.
bool djm_writeOwnSettings(djmWrite* w);
bool djm_checkOwnSettings(const djModel* got, const djModel* wanted, double tolerance,
                          djError* err);
// What limits count by, where a scene that is compiled would have another inertia: *changed.
bool djm_writeLimits(djmWrite* w, const mjModel* made, bool* changed);
bool djm_checkEqualities(const djModel* got, const djModel* wanted, double tolerance, djError* err);
bool djm_checkLimits(const djModel* got, const djModel* wanted, double tolerance, djError* err);
// Points and fields of geoms, for these.
bool djm_writePoints(djmWrite* w, const djModelDef* def);
bool djm_checkPoints(const djModel* got, const djModel* wanted, double tolerance, djError* err);
// An explicit pair's name in the scene, and whether settings name it.
void djm_pairName(char* name, size_t size, const djModel* model, int pair);
bool djm_pairHasOwn(const djModel* model, int pair);
// The field of an element: dijoco_NAME/ELEMENT.
void djm_fieldName(char* field, size_t size, const char* name, const djModel* model, int geom,
                   int pair);
// A geom of the spec or (geom -1) an explicit pair, and its number; a field of ours of it, for
// which a pair is named.
mjsElement* djm_specElement(int* id, const djmWrite* w, int geom, int pair);
bool djm_setElementNumber(djmWrite* w, const char* name, int geom, int pair, double value);
// How deep MuJoCo's contact rests (djGeomDef.soft_depth), where that counts: with other masses and
// sizes another depth would be read.
bool djm_writeDepths(djmWrite* w);
bool djm_hasDepth(const djModel* model, int pair);
bool djm_checkDepths(const djModel* got, const djModel* wanted, double tolerance, djError* err);
// Restitution of a geom or (geom -1) an explicit pair where another would be read; whether a pair
// has another one than MuJoCo's default.
bool djm_writeRestitution(djmWrite* w, int geom, int pair);
bool djm_hasRestitution(const djModel* model, int pair);
// False: that of a field differs.
bool djm_checkRestitution(char* field, size_t size, double* got, double* wanted,
                          const djModel* made, const djModel* design, double tolerance);
bool djm_writeKey(djmWrite* w);

#endif  // DJ_MUJOCO_WRITE_H_
