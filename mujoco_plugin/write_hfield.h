// Height fields in the MJCF that is written.

#ifndef DJ_MUJOCO_WRITE_HFIELD_H_
#define DJ_MUJOCO_WRITE_HFIELD_H_

#include "write.h"

// Sets all of a height field; *low: the lowest height, which is z = 0 there. False: no memory.
bool djm_fillHfield(mjsHField* out, double* low, int nrow, int ncol, const double size[3],
                    const double* height);
// A geom's place, given that of ours.
void djm_lowerGeom(mjsGeom* geom, const double pos[3], const double quat[4], double low);

// Those whose heights have changed, and their geoms: after mj_copyBack.
bool djm_writeHfields(djmWrite* w);
bool djm_checkHfields(const djModel* got, const djModel* wanted, double tolerance, djError* err);

#endif  // DJ_MUJOCO_WRITE_HFIELD_H_
