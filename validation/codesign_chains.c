// What contact costs (SDRS, Figs. 6 to 9, Table II): chains that wind round each other, and pairs
// of hulls beside IPC's barrier. Times are of one run and one core; --quick has no targets for
// them.

#include "codesign_chains/chains.h"
#include "codesign_chains/pairs.h"

int main(int argc, char** argv) {
  bool timed = !djv_isQuick(argc, argv);
  djvReport r = {0};
  chains_check(&r, timed);
  pairs_check(&r, timed);
  return djv_finish(&r);
}
