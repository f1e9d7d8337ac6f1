#include "report.h"

#include <math.h>
#include <string.h>

void report_quantity(Buffer* out, double value, const char* unit) {
  static const struct {
    double factor;
    const char* prefix;
  } scale[] = {{1, ""}, {1e-3, "m"}, {1e-6, "&#181;"}, {1e-9, "n"}};
  double size = fabs(value);
  if (!isfinite(value)) {
    buf_addf(out, isnan(value) ? "undefined" : value > 0 ? "infinite" : "-infinite");
    return;
  }
  if (size > 0 && size < 1e-12) {
    buf_addf(out, "less than 10<sup>&#8722;12</sup>&#8239;%s", unit);
    return;
  }
  int k = 0;
  bool prefixed = strcmp(unit, "m") == 0 || strcmp(unit, "N") == 0 || strcmp(unit, "J") == 0 ||
                  strcmp(unit, "rad") == 0 || strcmp(unit, "s") == 0;
  while (prefixed && k < 3 && size > 0 && size < scale[k].factor) k++;
  double number = value / scale[k].factor;
  bool plain = fabs(number) >= 1000 && fabs(number) < 1e6;
  buf_addf(out, plain ? "%.0f" : "%.3g", number);
  buf_addf(out, "&#8239;%s%s", scale[k].prefix, unit);
}
