// Records: whatever a file says is repeated or refused with a reason.

#include "fuzz.h"

#include <dijoco/record.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  djReplay* replay = NULL;
  djReplayCall call;
  djError err = {""};
  djStatus status = dj_openReplay(&replay, fuzz_file(data, size), &err);
  for (int k = 0; k < 20 && status == DJ_OK; k++) {
    status = dj_nextReplay(&call, replay, &err);
    if (status < 0 || !call.what) break;
    FUZZ_CHECK(!call.differs || call.array[0]);
  }
  FUZZ_CHECK(status == DJ_OK || (status < 0 && err.text[0]));
  dj_closeReplay(replay);
  fuzz_close();
  return 0;
}
