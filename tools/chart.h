// Line charts as SVG: axes with round ticks, units, a legend.

#ifndef DJ_TOOLS_CHART_H_
#define DJ_TOOLS_CHART_H_

#include "text.h"

enum { MAX_SERIES = 24, MAX_MARKS = 24 };

typedef struct Series {
  const char* color;
  bool dashed;
  const double* y;    // one per x; gaps where it is not finite
} Series;

// One line of the legend; several series may share it.
typedef struct LegendEntry {
  char text[64];
  const char* color;
  bool dashed;
} LegendEntry;

// Where something begins: a line upward with a name, of which the last word stays where there is
// little room.
typedef struct ChartMark {
  double x;
  char text[24];
} ChartMark;

typedef struct Chart {
  const char* ylabel;     // quantity and unit, as HTML
  const char* xlabel;
  const char* label;      // for readers that cannot see it
  int width, height;
  bool zero;              // the axis includes 0
  double least;           // the axis spans at least this
  bool logarithmic;       // values <= 0 are gaps
  int n;                  // points
  const double* x;
  int nseries;
  Series series[MAX_SERIES];
  int nlegend;
  LegendEntry legend[MAX_SERIES];
  int nmark;
  ChartMark mark[MAX_MARKS];
} Chart;

void chart_add(Chart* chart, const double* y, const char* color, bool dashed);
void chart_legend(Chart* chart, const char* color, bool dashed, const char* format, ...)
    __attribute__((format(printf, 4, 5)));
void chart_mark(Chart* chart, double x, const char* format, ...)
    __attribute__((format(printf, 3, 4)));

// One <svg> element; of many points those that are seen. Says so where there is nothing to draw.
void chart_draw(Buffer* out, const Chart* chart);

// Text with <, >, & and quotes escaped.
void html_text(Buffer* out, const char* text);

#endif  // DJ_TOOLS_CHART_H_
