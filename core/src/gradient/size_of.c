// Sizes of public structs by name.

#include <dijoco/array.h>
#include <dijoco/batch.h>
#include <dijoco/check.h>
#include <dijoco/contact.h>
#include <dijoco/decompose.h>
#include <dijoco/design.h>
#include <dijoco/entry.h>
#include <dijoco/gradient.h>
#include <dijoco/hessian.h>
#include <dijoco/implicit.h>
#include <dijoco/optimize.h>
#include <dijoco/overlap.h>
#include <dijoco/penalty.h>
#include <dijoco/receding.h>
#include <dijoco/setting.h>

#include <string.h>

size_t dj_sizeOf(const char* type) {
  static const struct {
    const char* name;
    size_t size;
  } table[] = {
#define X(type) {#type, sizeof(type)}
      X(djError),     X(djParam),     X(djArray),          X(djOption),
      X(djStats),     X(djLossTerm),  X(djRollout),        X(djRolloutResult),
      X(djcShape),    X(djcFriction), X(djcOption),        X(djcResult),
      X(djOptimizer), X(djOptimizeStep), X(djOptimizeProblem), X(djOptimizeResult),
      X(djSetting), X(djSettings), X(djKey), X(djEntry), X(djdCertificate), X(djContactPair), X(djKeyDef),
      X(djcGap),      X(djcSetting), X(djWatch), X(djChoice),
      X(djReceding), X(djRecedingFrame), X(djRecedingCallback), X(djRecedingRun),
      X(djcImplicitShape), X(djcImplicit), X(djcImplicitDistance),
      X(djStage), X(djTriangles), X(djPieces), X(djPieceReport),
      X(djHullPoints), X(djHullOverlap), X(djLandscape),
      X(djVariation), X(djBatchResult),
      X(djcPenaltyQuery), X(djcPenaltyPoint), X(djcPenalty),
#undef X
  };
  for (size_t i = 0; type && i < sizeof table / sizeof table[0]; i++) {
    if (strcmp(table[i].name, type) == 0) return table[i].size;
  }
  return 0;
}
