// Penalty contact (DiffHand, III): points of each geom in the distance field of the other, with
// damping and friction by velocities at the point. No energy. True geoms, which may overlap.

#include "contact/penalty/penalty.h"

#include "contact/penalty/penalty_pair.h"
#include "contact/penalty/penalty_query.h"
#include "contact/shapes/convex.h"

#include <string.h>

static djStatus openPair(djPenaltyPair* pair, const djPairInput* in) {
  if (!in || !in->setting || !dj_settingsValid(&dj_penalty, in->setting)) return DJ_INVALID;
  return dj_openPenaltyPair(pair, in, &dj_penaltyModel);
}

static djStatus eval(djPairOutput* out, djPairState* state, const djPairInput* in, int flags) {
  djPenaltyPair pair;
  (void)state;
  const djStatus status = openPair(&pair, in);
  if (status < 0) return status;
  dj_evalPoints(out, &pair, flags);
  return DJ_OK;
}

static djStatus vjp(djPairGrad* grad, djPairState* state, const djPairInput* in,
                    const double lambda[12]) {
  djPenaltyPair pair;
  (void)state;
  const djStatus status = openPair(&pair, in);
  if (status < 0) return status;
  for (int k = 0; k < pair.nway; k++) dj_addWayVjp(grad, &pair, &pair.way[k], lambda);
  return DJ_OK;
}

static djStatus report(djPairReport* out, djPairState* state, const djPairInput* in) {
  djPenaltyPair pair;
  (void)state;
  memset(out, 0, sizeof *out);
  const djStatus status = openPair(&pair, in);
  if (status >= 0) dj_reportPoints(out, &pair);
  return status;
}

static djStatus points(const djPairInput* in, djPairPointVisit visit, void* user) {
  djPenaltyPair pair;
  const djStatus status = openPair(&pair, in);
  if (status >= 0) dj_listPoints(&pair, visit, user);
  return status;
}

// ------------------------------------------ row ------------------------------------------------

static bool wantsGrid(const djModel* m, int geom) { return m->geom_field[geom] != 0; }

static double range(const double* setting) {
  (void)setting;
  return 0;
}

const djKernel dj_penalty = {
    .settings = &dj_penaltySettings,
    .smoothness = DJ_C0,
    .where =
        "the force jumps at ridges of fields; it is continuous at first touch of a point, where "
        "its normal force ends and where its friction begins to slip",
    .traits = {.uses_twist = true, .overlaps = true},
    .takes = dj_convexTakes,
    .range = range,
    .wantsGrid = wantsGrid,
    .pointRadius = dj_penaltyRadius,
    .shapeSize = dj_penaltyShapeSize,
    .makeShape = dj_makePenalty,
    .shapeParams = dj_penaltyParams,
    .gap = dj_pointGap,
    .depth = dj_pointDepth,
    .eval = eval,
    .report = report,
    .points = points,
    .vjp = vjp,
    .queryShapes = dj_penaltyShapes,
};
