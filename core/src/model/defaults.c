#include "model/element.h"

#define DJ_TEXT(x) #x
#define DJ_VERSION_TEXT(a, b, c) DJ_TEXT(a) "." DJ_TEXT(b) "." DJ_TEXT(c)

const char* dj_version(void) {
  return DJ_VERSION_TEXT(DJ_VERSION_MAJOR, DJ_VERSION_MINOR, DJ_VERSION_PATCH);
}

djBodyDef dj_defaultBodyDef(void) {
  djBodyDef def;
  dj_defaultElement(&def, DJ_OBJ_BODY);
  return def;
}

djJointDef dj_defaultJointDef(void) {
  djJointDef def;
  dj_defaultElement(&def, DJ_OBJ_JOINT);
  return def;
}

djGeomDef dj_defaultGeomDef(void) {
  djGeomDef def;
  dj_defaultElement(&def, DJ_OBJ_GEOM);
  return def;
}

djTendonDef dj_defaultTendonDef(void) {
  djTendonDef def;
  dj_defaultElement(&def, DJ_OBJ_TENDON);
  return def;
}

djActuatorDef dj_defaultActuatorDef(void) {
  djActuatorDef def;
  dj_defaultElement(&def, DJ_OBJ_ACTUATOR);
  return def;
}

djEqualityDef dj_defaultEqualityDef(void) {
  djEqualityDef def;
  dj_defaultElement(&def, DJ_OBJ_EQUALITY);
  return def;
}

djFlexDef dj_defaultFlexDef(void) {
  djFlexDef def;
  dj_defaultElement(&def, DJ_OBJ_FLEX);
  return def;
}

djModelDef dj_defaultModelDef(void) { return (djModelDef){.option = dj_defaultOption()}; }
