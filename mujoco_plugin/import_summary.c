// A report in short: a line for each feature, of all elements that have it.

#include "import_report.h"

#include <stdlib.h>
#include <string.h>

static const djmReport* whole(const djReport* report) { return (const djmReport*)report; }

int dj_reportLines(const djReport* report) { return report ? whole(report)->nline : 0; }

const char* dj_reportLine(const djReport* report, int i) {
  return i >= 0 && i < dj_reportLines(report) ? whole(report)->line[i] : "";
}

int dj_reportWorst(const djReport* report, int i) {
  return i >= 0 && i < dj_reportLines(report) ? whole(report)->worst[i] : -1;
}

int dj_reportExact(const djReport* report) { return report ? whole(report)->exact : 0; }

// The entry of row k with the largest error, or the first; *n: how many there are. -1: none.
static int worstOf(int* n, const djmReport* r, const djmImport* imp, int k) {
  int worst = -1;
  double most = 0;
  djmSize* sizeOf = djm_sizeOf(&r->check[k]);
  *n = 0;
  for (int i = 0; i < r->list.n; i++) {
    if (r->place[i].check != k) continue;
    double size = sizeOf ? sizeOf(imp, r->place[i].id) : 0;
    (*n)++;
    if (worst >= 0 && !(size > most)) continue;
    worst = i;
    most = size;
  }
  return worst;
}

// "solref of 12 geoms, most at geom/foot: what the note says first".
static djStatus addLine(djmReport* r, const djmImport* imp, int k) {
  int n, worst = worstOf(&n, r, imp, k);
  if (worst < 0) return DJ_OK;
  const djReportEntry* e = &r->list.entry[worst];
  const char* kind;
  const int* name;
  char who[400], text[1000];
  djm_elements(&kind, &name, imp->m, r->check[k].kind);
  bool option = r->check[k].kind == DJM_OPTION;
  const char* plural = r->check[k].kind == DJM_EQUALITY ? "constraint" : "";
  if (n == 1) {
    snprintf(who, sizeof(who), "%.300s", e->element);
  } else if (djm_sizeOf(&r->check[k])) {
    snprintf(who, sizeof(who), "%d %ss, most at %.300s", n, kind, e->element);
  } else {
    snprintf(who, sizeof(who), "%d %s%s%ss (%.300s)", n, kind, *plural ? " " : "", plural,
             e->element);
  }
  snprintf(text, sizeof(text), "%s%s%s%s: %.*s", e->feature, option ? "" : " of ",
           option ? "" : who, e->state == DJ_IGNORED ? " is ignored" : "",
           (int)strcspn(e->note, ";"), e->note);
  char* copy = malloc(strlen(text) + 1);
  if (!copy) return DJ_NO_MEMORY;
  strcpy(copy, text);
  r->worst[r->nline] = worst;
  r->line[r->nline++] = copy;
  return DJ_OK;
}

// What is ignored comes first, then what contacts do, which shows most.
static int orderOf(const djmCheck* check) {
  bool contact = check->kind == DJM_GEOM || check->kind == DJM_PAIR;
  bool off = check->kind == DJM_OPTION && strcmp(check->feature, "contact") == 0;
  return check->state == DJ_IGNORED ? 0 : contact || off ? 1 : 2;
}

djStatus djm_summarize(djmReport* r, const djmImport* imp) {
  int n;
  djm_checks(&n);
  r->line = calloc((size_t)n, sizeof(*r->line));
  r->worst = calloc((size_t)n, sizeof(*r->worst));
  if (!r->line || !r->worst) return DJ_NO_MEMORY;
  for (int order = 0; order < 3; order++) {
    for (int k = 0; k < n; k++) {
      djStatus status = orderOf(&r->check[k]) == order ? addLine(r, imp, k) : DJ_OK;
      if (status != DJ_OK) return status;
    }
  }
  return DJ_OK;
}
