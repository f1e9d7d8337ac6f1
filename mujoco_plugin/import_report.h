// A report, with what is kept beside the public list.

#ifndef DJ_MUJOCO_IMPORT_REPORT_H_
#define DJ_MUJOCO_IMPORT_REPORT_H_

#include "import_checks.h"

#include <stdio.h>

// Which row of the table an entry is of, and which element of the row's kind.
typedef struct djmPlace {
  int check, id;
} djmPlace;

typedef struct djmReport {
  djReport list;             // what users have a pointer to
  int capacity;
  djmPlace* place;           // (list.n)
  const djmCheck* check;     // the table
  int exact;                 // features that are exact
  bool declared;             // djmImport's
  int nline;
  char** line;               // (nline) a feature each
  int* worst;                // (nline) its entry
} djmReport;

// Whether the scene names dijoco.contact without an instance; report may be NULL.
bool djm_isDeclared(const djReport* report);

// As dj_renewReport, of a scene of which this is known.
djStatus djm_reportAgain(djReport** report, const mjModel* m, const djModel* model, bool declared,
                         djError* err);

// Fill exact (import_coverage.c) and the lines (import_summary.c) of a report whose list is full.
djStatus djm_countExact(djmReport* report, djmImport* imp);
djStatus djm_summarize(djmReport* report, const djmImport* imp);

#endif  // DJ_MUJOCO_IMPORT_REPORT_H_
