// Touches: when two bodies that go on as they do meet, where, and along what direction.
//
// A touch is told by the pair's own barrier, at stiffness 1 and with a support that is ten times
// wider (djKernel.touch): bodies touch where its force is as large as that of a single vertex a
// little before the pair's range begins. So its direction and place are as smooth in the poses as contact itself
// is: a face that lands almost flat is met all over at once, not at its lowest corner.

#ifndef DJ_CONTACT_PAIRS_TOUCH_H_
#define DJ_CONTACT_PAIRS_TOUCH_H_

#include "contact/pairs/near.h"
#include "contact/pairs/shape_grad.h"

// A body on its way: its centre of mass goes along a parabola while it turns about that, by the
// rotation vector time turn + time^2/2 spin.
typedef struct djFlight {
  djPose pose;             // of its frame
  djVec3 com;
  djVec3 turn, move;       // rates, world axes: rad/s, m/s of the centre of mass
  djVec3 spin, push;       // accelerations
} djFlight;

// Where it is after a time, s, with its rates there.
djFlight dj_alongFlight(const djFlight* way, double time);

typedef struct djTouch {
  int low, high;           // geoms
  int body[2];             // in the kernel's order: a, b
  double friction, restitution;
  double speed;            // m/s; slower approaches are left to the barrier
  djPose pose[2];
  djVec3 com[2];           // reference points of twists, too
  double size;             // of the force, 1 at a touch; 0: apart, infinite: shapes overlap
  double level;            // N, of the force of which that is a multiple
  double gradient[12], hessian[144];   // over level: see djPairOutput
  djVec3 normal;           // unit, from a to b
  djVec3 point;            // midway between both surfaces, where the force acts
  double soft;             // m, of the soft maximum over vertices by which surfaces are found
  djVec3 surface[2];       // points of both shapes farthest along +-normal
} djTouch;

// Whether the pair's impacts are impulses.
static inline bool dj_mayTouch(const djNearPair* p) { return p->restitution > 0; }

// Sets all of *touch at the poses; size alone where the force vanishes or is infinite. cold: forget
// warm starts.
djStatus dj_evalTouch(djTouch* touch, djContacts* c, const djModel* m, const djNearPair* p,
                      const djPose pose[2], const djVec3 com[2], bool cold);

// Time until the pair's bodies touch, s, *touch then; infinite: not before `most`. 0: they do now.
// *timed: a later start would move the time.
djStatus dj_timeOfTouch(double* time, bool* timed, djTouch* touch, djContacts* c, const djModel* m,
                        const djNearPair* p, const djFlight way[2], double most);

// n (12) . d gradient/d twists of both bodies (12), wrenches as about points that do not move:
// adds to out (12).
void dj_pullTouch(double out[12], const djTouch* touch, const double lambda[12]);

// Derivatives by the pair's coefficients, of what an impact does.
typedef struct djImpactSlopes {
  double friction, restitution;
} djImpactSlopes;

// Adds d(lambda . gradient + along normal . surfaces)/d parameter, at these poses; along: of the
// mean of both surfaces. by: what the coefficients do beside that.
djStatus dj_touchParams(double* param, djShapeGrad* shape, djContacts* c, const djModel* m,
                        const djTouch* touch, const double lambda[12], double along,
                        djImpactSlopes by);

#endif  // DJ_CONTACT_PAIRS_TOUCH_H_
