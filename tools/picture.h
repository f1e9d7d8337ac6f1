// Pictures of a scene as SVG: orthographic, convex geoms sorted from back to front.

#ifndef DJ_TOOLS_PICTURE_H_
#define DJ_TOOLS_PICTURE_H_

#include "text.h"

#include <dijoco/model.h>

// Poses of all bodies at one time.
typedef struct Poses {
  const double* xpos;   // (nbody x 3)
  const double* xquat;  // (nbody x 4)
} Poses;

typedef struct Camera {
  double right[3], up[3], forward[3];  // orthonormal; forward points away from the viewer
  double center[3];                    // world point in the middle of the picture
  double scale;                        // pixels per metre
  int width, height;
  double light[3];                     // unit, towards the light
} Camera;

// A camera that looks across the horizontal direction in which the moving bodies spread most, and
// shows all of them in all of the poses.
Camera camera_look(const djModel* model, int n, const Poses* poses, int width, int height);
// The same from another height, in radians above the horizon.
Camera camera_lookFrom(const djModel* model, int n, const Poses* poses, int width, int height,
                       double elevation);

// The same direction, framed on these poses: smaller or larger.
void camera_frame(Camera* camera, const djModel* model, int n, const Poses* poses);

// Distance of the lines on planes, metres.
double picture_grid(const Camera* camera);

// Gradients that pictures refer to: once per page, before the first picture.
void picture_defs(Buffer* out);

// What is drawn over a picture: a path of n points, or a cross in a ring (n 1).
typedef struct Mark {
  int n;
  const double* point;  // (n x 3) world
  const char* color;
  bool dashed;
} Mark;

// One <svg> element. label: what it shows, for readers that cannot see it.
void picture_draw(Buffer* out, const djModel* model, const Poses* poses, const Camera* camera,
                  const char* label);
void picture_drawMarked(Buffer* out, const djModel* model, const Poses* poses,
                        const Camera* camera, const char* label, int nmark, const Mark* mark);

// Move and shrink the picture so that it shows these points too.
void camera_include(Camera* camera, int n, const double* point);

// Geoms that are drawn: those that collide, and any of a body that has none that do.
bool picture_draws(const djModel* model, int geom);
// Farthest point of a geom from its centre, m.
double picture_size(const djModel* model, int geom, const Poses* poses);
// A point of a body's frame in the world.
void picture_place(double world[3], const double xpos[3], const double xquat[4],
                   const double local[3]);

#endif  // DJ_TOOLS_PICTURE_H_
