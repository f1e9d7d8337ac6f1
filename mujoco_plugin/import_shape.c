// Which of MuJoCo's types of geoms the core has.

#include "import.h"

bool djm_shapeSupported(int type) {
  return type == mjGEOM_PLANE || type == mjGEOM_SPHERE || type == mjGEOM_CAPSULE ||
         type == mjGEOM_ELLIPSOID || type == mjGEOM_CYLINDER || type == mjGEOM_BOX ||
         type == mjGEOM_MESH || type == mjGEOM_HFIELD;
}
