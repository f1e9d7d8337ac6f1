// The report's list, and the loop over the table of checks.

#include "attach.h"
#include "import_report.h"
#include "instance.h"

#include <stdlib.h>
#include <string.h>

const char* dj_featureStateName(djFeatureState state) {
  return state == DJ_IGNORED ? "ignored" : state == DJ_APPROXIMATED ? "approximated" : "exact";
}

void dj_deleteReport(djReport* report) {
  djmReport* r = (djmReport*)report;
  if (!r) return;
  for (int i = 0; i < r->list.n; i++) free((void*)(size_t)r->list.entry[i].element);
  for (int i = 0; i < r->nline; i++) free(r->line[i]);
  free(r->list.entry);
  free(r->place);
  free(r->line);
  free(r->worst);
  free(r);
}

bool djm_isDeclared(const djReport* report) {
  return report && ((const djmReport*)report)->declared;
}

static bool hasRoom(djmReport* r) {
  if (r->list.n < r->capacity) return true;
  int larger = r->capacity ? 2 * r->capacity : 16;
  djReportEntry* entry = realloc(r->list.entry, (size_t)larger * sizeof(*entry));
  if (entry) r->list.entry = entry;
  djmPlace* place = realloc(r->place, (size_t)larger * sizeof(*place));
  if (place) r->place = place;
  if (!entry || !place) return false;
  r->capacity = larger;
  return true;
}

// Copies element, feature and note into one block, which `element` owns.
static djStatus addEntry(djmReport* r, const char* element, int check, int id, const char* note) {
  const char* feature = r->check[check].feature;
  size_t n1 = strlen(element) + 1, n2 = strlen(feature) + 1, n3 = strlen(note) + 1;
  char* text = hasRoom(r) ? malloc(n1 + n2 + n3) : NULL;
  if (!text) return DJ_NO_MEMORY;
  memcpy(text, element, n1);
  memcpy(text + n1, feature, n2);
  memcpy(text + n1 + n2, note, n3);
  r->place[r->list.n] = (djmPlace){check, id};
  djReportEntry* entry = &r->list.entry[r->list.n++];
  *entry = (djReportEntry){text, text + n1, r->check[check].state, text + n1 + n2};
  if (entry->state > r->list.state) r->list.state = entry->state;
  return DJ_OK;
}

// Whether, beside MuJoCo's step, MuJoCo itself takes care of what ours leaves out.
static bool isMuJoCos(const djmImport* imp, const djmCheck* check) {
  if (!imp->beside || check->state != DJ_IGNORED) return false;
  switch (check->kind) {
    case DJM_EQUALITY:
    case DJM_PLUGIN:
    case DJM_FLEX:
      return true;
    case DJM_ACTUATOR:
      return strcmp(check->feature, "biasprm") != 0;
    case DJM_TENDON:
      return strcmp(check->feature, "geom") == 0;
    default:
      return false;
  }
}

static djStatus runCheck(djmReport* report, const djmImport* imp, int k) {
  const djmCheck* check = &report->check[k];
  const char* kind;
  const int* name;
  int n = isMuJoCos(imp, check) ? 0 : djm_elements(&kind, &name, imp->m, check->kind);
  for (int i = 0; i < n; i++) {
    djmNote note = "";
    if (!check->applies(imp, i, note)) continue;
    char element[300];
    if (name) djm_elementText(element, sizeof(element), kind, djm_name(imp->m, name[i]), i);
    else snprintf(element, sizeof(element), "%s", kind);
    djStatus status = addEntry(report, element, k, i, *note ? note : check->note);
    if (status != DJ_OK) return status;
  }
  return DJ_OK;
}

// Where the settings in force leave no contact, nothing about it is left to say.
static void dropContacts(djmImport* imp) {
  if (imp->model->opt.contact >= 0) return;
  memset(imp->geom_dim, 0, (size_t)imp->m->ngeom * sizeof(*imp->geom_dim));
  memset(imp->geom_paired, 0, (size_t)imp->m->ngeom * sizeof(*imp->geom_paired));
  imp->max_dim = 0;
}

djStatus djm_makeReport(djReport** report, djmImport* imp) {
  djmReport* r = calloc(1, sizeof(*r));
  *report = NULL;
  if (!r) return DJ_NO_MEMORY;
  int n;
  djStatus status = DJ_OK;
  r->check = djm_checks(&n);
  r->declared = imp->declared;
  if (imp->model->opt.contact == DJ_CONTACT_MUJOCO) n = 0;   // all is MuJoCo's own
  dropContacts(imp);
  for (int i = 0; i < n && status == DJ_OK; i++) status = runCheck(r, imp, i);
  if (status == DJ_OK) status = djm_countExact(r, imp);
  if (status == DJ_OK) status = djm_summarize(r, imp);
  if (status == DJ_OK) *report = &r->list;
  else dj_deleteReport(&r->list);
  return status;
}
