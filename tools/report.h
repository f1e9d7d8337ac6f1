// report.html of a comparison: one file, no scripts, nothing from the network.

#ifndef DJ_TOOLS_REPORT_H_
#define DJ_TOOLS_REPORT_H_

#include "record.h"

typedef struct Report {
  const Scene* scene;
  const Record* record;
  const Engine* engine;     // [ENGINES]
  // the two objects of summary.json, as text
  const char* json[ENGINES];
} Report;

// What all reports look like: the content of their <style>.
extern const char report_style[];

void report_write(Buffer* out, const Report* report);

// A part of it: the charts.
void report_charts(Buffer* out, const Report* report);

// A number with its unit, scaled: "8.3 mm".
void report_quantity(Buffer* out, double value, const char* unit);

#endif  // DJ_TOOLS_REPORT_H_
