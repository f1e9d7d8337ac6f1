// Numbers and tables: --ctrl, --qpos, --qvel. The first byte is the number of columns. What is read
// is finite, and reads back the same from the text that it is written as.

#include "fuzz.h"

#include <dijoco/dijoco.h>

#include <math.h>

static void checkNumbers(const double* value, size_t n) {
  for (size_t i = 0; i < n; i++) {
    char text[32];
    double again;
    FUZZ_CHECK(isfinite(value[i]));
    FUZZ_CHECK(dj_parseNumbers(&again, 1, dj_formatNumber(text, value[i]), NULL) == DJ_OK);
    FUZZ_CHECK(memcmp(&again, &value[i], sizeof again) == 0);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  int columns = data[0] % 8, rows;
  double *ctrl, value[8];
  djError err;
  const char* path = fuzz_file(data + 1, size - 1);
  if (dj_readCtrl(&ctrl, &rows, columns, path, &err) >= 0) {
    FUZZ_CHECK(rows >= 1);
    checkNumbers(ctrl, (size_t)(rows * columns));
    dj_freeNumbers(ctrl);
  } else {
    FUZZ_CHECK(err.text[0]);
  }
  if (dj_readNumbers(value, columns, path, &err) >= 0) checkNumbers(value, (size_t)columns);
  else FUZZ_CHECK(err.text[0]);
  fuzz_close();
  char* text = fuzz_text(data + 1, size - 1);
  if (dj_parseNumbers(value, columns, text, &err) >= 0) checkNumbers(value, (size_t)columns);
  free(text);
  return 0;
}
