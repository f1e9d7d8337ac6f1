// The report's list, and the loop over the table of checks.

#include "import_checks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char* dj_featureStateName(djFeatureState state) {
  return state == DJ_IGNORED ? "ignored" : state == DJ_APPROXIMATED ? "approximated" : "exact";
}

void dj_deleteReport(djReport* report) {
  if (!report) return;
  for (int i = 0; i < report->n; i++) free((void*)(size_t)report->entry[i].element);
  free(report->entry);
  free(report);
}

// Copies element, feature and note into one block, which `element` owns.
static djStatus addEntry(djReport* report, int* capacity, const char* element,
                         const char* feature, djFeatureState state, const char* note) {
  if (report->n == *capacity) {
    int larger = *capacity ? 2 * *capacity : 16;
    djReportEntry* grown = realloc(report->entry, larger * sizeof(*grown));
    if (!grown) return DJ_NO_MEMORY;
    report->entry = grown;
    *capacity = larger;
  }
  size_t n1 = strlen(element) + 1, n2 = strlen(feature) + 1, n3 = strlen(note) + 1;
  char* text = malloc(n1 + n2 + n3);
  if (!text) return DJ_NO_MEMORY;
  memcpy(text, element, n1);
  memcpy(text + n1, feature, n2);
  memcpy(text + n1 + n2, note, n3);
  djReportEntry* entry = &report->entry[report->n++];
  entry->element = text;
  entry->feature = text + n1;
  entry->state = state;
  entry->note = text + n1 + n2;
  if (state > report->state) report->state = state;
  return DJ_OK;
}

// Kinds of elements: name in the report, number, and addresses of the names.
static int elements(const char** kind, const int** name, const mjModel* m, djmKind which) {
  const struct {
    const char* kind;
    mjtSize n;
    const int* name;
  } table[DJM_NKIND] = {
      [DJM_OPTION] = {"option", 1, NULL},
      [DJM_JOINT] = {"joint", m->njnt, m->name_jntadr},
      [DJM_GEOM] = {"geom", m->ngeom, m->name_geomadr},
      [DJM_PAIR] = {"pair", m->npair, m->name_pairadr},
      [DJM_EQUALITY] = {"equality", m->neq, m->name_eqadr},
      [DJM_TENDON] = {"tendon", m->ntendon, m->name_tendonadr},
      [DJM_ACTUATOR] = {"actuator", m->nactuator, m->name_actuatoradr},
      [DJM_FLEX] = {"flex", m->nflex, m->name_flexadr},
      [DJM_PLUGIN] = {"plugin", m->nplugin, m->name_pluginadr},
  };
  *kind = table[which].kind;
  *name = table[which].name;
  return (int)table[which].n;
}

static djStatus runCheck(djReport* report, int* capacity, const djmImport* imp,
                         const djmCheck* check) {
  const char* kind;
  const int* name;
  int n = elements(&kind, &name, imp->m, check->kind);
  for (int i = 0; i < n; i++) {
    djmNote note = "";
    if (!check->applies(imp, i, note)) continue;
    char element[300];
    if (!name) {
      snprintf(element, sizeof(element), "%s", kind);
    } else if (*djm_name(imp->m, name[i])) {
      snprintf(element, sizeof(element), "%s/%s", kind, djm_name(imp->m, name[i]));
    } else {
      snprintf(element, sizeof(element), "%s/#%d", kind, i);
    }
    djStatus status = addEntry(report, capacity, element, check->feature, check->state,
                               *note ? note : check->note);
    if (status != DJ_OK) return status;
  }
  return DJ_OK;
}

djStatus djm_makeReport(djReport** report, const djmImport* imp) {
  *report = calloc(1, sizeof(**report));
  if (!*report) return DJ_NO_MEMORY;
  int n, capacity = 0;
  const djmCheck* checks = djm_checks(&n);
  for (int i = 0; i < n; i++) {
    djStatus status = runCheck(*report, &capacity, imp, checks + i);
    if (status != DJ_OK) {
      dj_deleteReport(*report);
      *report = NULL;
      return status;
    }
  }
  return DJ_OK;
}
