// dijoco inspect: what a scene contains, and what of it is simulated how.

#include "contact_features.h"
#include "inputs.h"
#include "overlap.h"
#include "verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_wrapped(const char* text, int first, int indent) {
  Buffer lines = {0};
  buf_addWrapped(&lines, text, first, indent);
  if (lines.text) fputs(lines.text, stdout);
  buf_free(&lines);
}

// ------------------------------ surfaces --------------------------------------------------------

// Implicit surfaces of geoms that they are not: by the geoms' numbers; family NULL: exact.
static djSurface* find_surfaces(const djModel* m) {
  djSurface* list = tool_alloc((size_t)m->ngeom + 1, sizeof *list);
  for (int g = 0; g < m->ngeom; g++) {
    bool has = dj_geomSurface(&list[g], m, g, NULL) == DJ_OK;
    if (!has || (list[g].inside == 0 && list[g].outside == 0)) list[g].family = NULL;
  }
  return list;
}

static bool has_surfaces(const djModel* m, const djSurface* surface) {
  bool any = false;
  for (int g = 0; g < m->ngeom; g++) any = any || surface[g].family;
  return any;
}

static void write_surfaces(Json* out, const djModel* m, const djSurface* surface) {
  for (int g = 0; g < m->ngeom; g++) {
    const djSurface* s = &surface[g];
    const char* name = dj_id2name(m, DJ_OBJ_GEOM, g);
    char element[200], note[300];
    if (!s->family) continue;
    if (*name) snprintf(element, sizeof element, "geom/%.180s", name);
    else snprintf(element, sizeof element, "geom/#%d", g);
    snprintf(note, sizeof note, "contact is that of a %s%s, %s = %.4g: up to %.2g m inside and "
             "%.2g m outside of the geom", s->given ? "given " : "", s->family, s->sharp,
             s->size[s->nsize - 1], s->inside, s->outside);
    json_object(out, NULL);
    json_text(out, "element", element);
    json_text(out, "feature", "surface");
    json_text(out, "state", "approximated");
    json_text(out, "note", note);
    json_text(out, "family", s->family);
    json_number(out, "sharpness", s->size[s->nsize - 1]);
    json_number(out, "inside", s->inside);
    json_number(out, "outside", s->outside);
    json_end(out);
  }
}

static void print_surfaces(const djModel* m, const djSurface* surface) {
  if (!has_surfaces(m, surface)) return;
  printf("\n  approximated\n");
  print_wrapped("surface: contact is that of an implicit surface, up to so far inside and outside "
                "of the geom", 4, 4);
  printf("      %-24s %-24s %9s %10s %10s\n", "geom", "family", "sharpness", "inside m",
         "outside m");
  for (int g = 0; g < m->ngeom; g++) {
    const djSurface* s = &surface[g];
    const char* name = dj_id2name(m, DJ_OBJ_GEOM, g);
    char number[20];
    if (!s->family) continue;
    snprintf(number, sizeof number, "#%d", g);
    printf("      %-24.24s %-24s %9.4g %10.2g %10.2g%s\n", *name ? name : number, s->family,
           s->size[s->nsize - 1], s->inside, s->outside, s->given ? "  given" : "");
  }
}

// ------------------------------ points ----------------------------------------------------------

// Points and fields of geoms that penalty contact sees; false: it does not.
static bool find_points(djGeomPoints* p, const djModel* m, int geom) {
  return dj_geomPoints(p, m, geom, NULL) == DJ_OK;
}

static const char* field_text(char text[100], const djGeomPoints* p) {
  if (!p->field) return "none";
  if (!p->grid) return "exact";
  snprintf(text, 100, "grid of %.2g m, error up to %.2g m", p->spacing, p->error);
  return text;
}

static void write_points(Json* out, const djModel* m) {
  json_list(out, "points");
  for (int g = 0; g < m->ngeom; g++) {
    djGeomPoints p;
    if (!find_points(&p, m, g)) continue;
    json_object(out, NULL);
    json_integer(out, "geom", g);
    json_text(out, "name", dj_id2name(m, DJ_OBJ_GEOM, g));
    json_integer(out, "points", p.npoint);
    json_bool(out, "given", p.given);
    json_number(out, "radius", p.radius);
    json_text(out, "field", !p.field ? "none" : p.grid ? "grid" : "exact");
    if (p.grid) json_number(out, "grid_error", p.error);
    if (p.grid) json_number(out, "grid_spacing", p.spacing);
    json_number(out, "contact_scale", m->geom_contact_scale[g]);
    json_end(out);
  }
  json_end(out);
}

static void print_points(const djModel* m) {
  bool any = false;
  for (int g = 0; g < m->ngeom; g++) {
    djGeomPoints p;
    char text[100], number[20];
    const char* name = dj_id2name(m, DJ_OBJ_GEOM, g);
    if (!find_points(&p, m, g)) continue;
    if (!any) printf("\n  penalty contact\n      %-24s %8s %10s  %s\n", "geom", "points", "scale",
                     "distance field");
    any = true;
    snprintf(number, sizeof number, "#%d", g);
    printf("      %-24.24s %8d %10.4g  %s%s\n", *name ? name : number, p.npoint,
           m->geom_contact_scale[g], field_text(text, &p), p.given ? ", points given" : "");
  }
}

// ------------------------------ flexes ----------------------------------------------------------

static bool flex_touches(const djModel* m, int flex) {
  for (int g = m->ngeom - 1; g >= 0 && m->geom_flex[g] >= 0; g--) {
    if (m->geom_flex[g] == flex) return true;
  }
  return false;
}

static void write_flexes(Json* out, const djModel* m) {
  if (m->nflex == 0) return;
  json_list(out, "flexes");
  for (int f = 0; f < m->nflex; f++) {
    json_object(out, NULL);
    json_text(out, "name", dj_id2name(m, DJ_OBJ_FLEX, f));
    json_integer(out, "dim", m->flex_dim[f]);
    json_integer(out, "vertices", m->flex_vertnum[f]);
    json_integer(out, "edges", m->flex_edgenum[f]);
    json_integer(out, "elements", m->flex_elemnum[f]);
    json_bool(out, "touches", flex_touches(m, f));
    json_number(out, "radius", m->flex_radius[f]);
    json_number(out, "hole", dj_flexHole(m, f));
    json_end(out);
  }
  json_end(out);
}

static void print_flexes(const djModel* m) {
  for (int f = 0; f < m->nflex; f++) {
    const char* name = dj_id2name(m, DJ_OBJ_FLEX, f);
    printf("  flex %s: dim %d, %d vertices, %d edges, %d elements", name,
           m->flex_dim[f], m->flex_vertnum[f], m->flex_edgenum[f],
           m->flex_elemnum[f]);
    if (flex_touches(m, f)) {
      printf("; its vertices touch, balls up to radius %.3g m pass between them", dj_flexHole(m, f));
    }
    printf("\n");
  }
}

// ------------------------------ features --------------------------------------------------------

#ifdef DJ_HAVE_MUJOCO
static djFeatureState worst_state(const Scene* s) {
  return s->report ? s->report->state : DJ_EXACT;
}

// Surfaces have entries with more in them, see above, also where there is no report.
static bool is_surface(const djReportEntry* e) { return strcmp(e->feature, "surface") == 0; }

static void write_features(Json* out, const Scene* s) {
  for (int i = 0; s->report && i < s->report->n; i++) {
    const djReportEntry* e = &s->report->entry[i];
    if (is_surface(e)) continue;
    json_object(out, NULL);
    json_text(out, "element", e->element);
    json_text(out, "feature", e->feature);
    json_text(out, "state", dj_featureStateName(e->state));
    json_text(out, "note", e->note);
    json_end(out);
  }
}

static int count_entries(const Scene* s, djFeatureState state) {
  int n = 0;
  for (int i = 0; i < s->report->n; i++) n += s->report->entry[i].state == state;
  return n;
}

static void write_coverage(Json* out, const Scene* s) {
  if (!s->report) return;
  json_list(out, "warnings");
  for (int i = 0; i < dj_reportLines(s->report); i++) {
    json_text(out, NULL, dj_reportLine(s->report, i));
  }
  json_end(out);
  json_object(out, "coverage");
  json_integer(out, "exact", dj_reportExact(s->report));
  json_integer(out, "approximated", count_entries(s, DJ_APPROXIMATED));
  json_integer(out, "ignored", count_entries(s, DJ_IGNORED));
  json_end(out);
}

static void print_coverage(const Scene* s) {
  if (!s->report) return;
  for (int i = 0; i < dj_reportLines(s->report); i++) {
    print_wrapped(dj_reportLine(s->report, i), 2, 4);
  }
  printf("coverage: %d features exact, %d approximated, %d ignored\n\n",
         dj_reportExact(s->report), count_entries(s, DJ_APPROXIMATED),
         count_entries(s, DJ_IGNORED));
}

static bool same_finding(const djReportEntry* a, const djReportEntry* b) {
  return a->state == b->state && strcmp(a->feature, b->feature) == 0 &&
         strcmp(a->note, b->note) == 0;
}

static bool same_feature(const djReportEntry* a, const djReportEntry* b) {
  size_t n = strcspn(a->element, "/");
  return a->state == b->state && strcmp(a->feature, b->feature) == 0 &&
         strcspn(b->element, "/") == n && strncmp(a->element, b->element, n) == 0;
}

// A paragraph: elements that are like this one, at most so many, and the note.
static void print_paragraph(const djReport* report, const djReportEntry* e, int most,
                            bool (*like)(const djReportEntry*, const djReportEntry*)) {
  Buffer elements = {0};
  int n = 0;
  buf_addf(&elements, "%s of", e->feature);
  for (int k = 0; k < report->n; k++) {
    if (!like(e, &report->entry[k]) || n++ >= most) continue;
    buf_addf(&elements, "%s %s", n > 1 ? "," : "", report->entry[k].element);
  }
  if (n > most) buf_addf(&elements, " and %d more (--all)", n - most);
  printf("\n  %s\n", dj_featureStateName(e->state));
  print_wrapped(elements.text, 4, 4);
  print_wrapped(e->note, 6, 6);
  buf_free(&elements);
}

// One for each feature, with the note of the worst element.
static void print_report(const Scene* s) {
  enum { MOST = 6 };
  for (int i = 0; i < dj_reportLines(s->report); i++) {
    const djReportEntry* e = &s->report->entry[dj_reportWorst(s->report, i)];
    if (!is_surface(e)) print_paragraph(s->report, e, MOST, same_feature);
  }
}

// One for each finding, with all elements that it holds for.
static void print_all(const Scene* s) {
  for (int state = DJ_IGNORED; s->report && state > DJ_EXACT; state--) {
    for (int i = 0; i < s->report->n; i++) {
      const djReportEntry* e = &s->report->entry[i];
      bool told = (int)e->state != state || is_surface(e);
      for (int k = 0; k < i && !told; k++) told = same_finding(&s->report->entry[k], e);
      if (!told) print_paragraph(s->report, e, s->report->n, same_finding);
    }
  }
}

static const char* state_name(const Scene* s, bool surfaces) {
  const djFeatureState state = worst_state(s);
  return dj_featureStateName(surfaces && state == DJ_EXACT ? DJ_APPROXIMATED : state);
}
static bool is_ignored(const Scene* s) { return worst_state(s) == DJ_IGNORED; }
#else
static void write_features(Json* out, const Scene* s) { (void)out, (void)s; }
static void write_coverage(Json* out, const Scene* s) { (void)out, (void)s; }
static void print_coverage(const Scene* s) { (void)s; }
static void print_report(const Scene* s) { (void)s; }
static void print_all(const Scene* s) { (void)s; }
static const char* state_name(const Scene* s, bool surfaces) {
  (void)s;
  return surfaces ? "approximated" : "exact";
}
static bool is_ignored(const Scene* s) { return (void)s, false; }
#endif

static void write_json(Buffer* text, const Scene* s, const djSurface* surface, int key,
                       const Options* o) {
  const djModel* m = s->model;
  Json out;
  json_start(&out, text);
  json_object(&out, NULL);
  json_text(&out, "scene", s->path);
  json_object(&out, "sizes");
  json_integer(&out, "nq", m->nq);
  json_integer(&out, "nv", m->nv);
  json_integer(&out, "nu", m->nu);
  json_integer(&out, "na", m->na);
  json_integer(&out, "nbody", m->nbody);
  json_integer(&out, "njnt", m->njnt);
  json_integer(&out, "ngeom", m->ngeom);
  json_integer(&out, "npair", m->npair);
  json_integer(&out, "nmesh", m->nmesh);
  json_integer(&out, "nflex", m->nflex);
  json_integer(&out, "nsite", m->nsite);
  json_integer(&out, "ntendon", m->ntendon);
  json_integer(&out, "nkey", m->nkey);
  json_end(&out);
  json_number(&out, "total_mass", m->total_mass);
  write_coverage(&out, s);
  json_list(&out, "features");
  write_features(&out, s);
  write_surfaces(&out, m, surface);
  json_end(&out);
  write_points(&out, m);
  write_flexes(&out, m);
  overlap_write(&out, m);
  features_write(&out, s, key);
  json_text(&out, "state", state_name(s, has_surfaces(m, surface)));
  scene_writeSettings(&out, s, o);
  json_end(&out);
}

// Where a contact model or setting is of its own: "geom 'ball'".
static const char* own_element(char text[120], const djModel* m, int geom, int pair) {
  const char* name = pair >= 0 ? m->names + m->name_pair[pair] : dj_id2name(m, DJ_OBJ_GEOM, geom);
  const char* kind = pair >= 0 ? "pair" : "geom";
  if (*name) snprintf(text, 120, "%s '%.80s'", kind, name);
  else snprintf(text, 120, "%s #%d", kind, pair >= 0 ? pair : geom);
  return text;
}

// The row of a setting's name, of a model if that has it, else the first.
static const djSetting* row_for(int slot, int contact) {
  int model;
  const djSetting *first = dj_contactSetting(&model, slot), *row;
  for (int i = slot; (row = dj_contactSetting(&model, i)); i++) {
    if (model == contact && strcmp(row->name, first->name) == 0) return row;
  }
  return first;
}

// A setting's value as users write it, on the next line where this one is full; column: where it
// stands.
static void print_value(int* column, const djSetting* row, double value) {
  char text[200];
  if (row->kind == DJ_SETTING_CHOICE) {
    snprintf(text, sizeof text, " %s %s", row->name, dj_choiceName(row, (int)value));
  } else {
    snprintf(text, sizeof text, " %s %.4g%s%s", row->name, value, *row->unit ? " " : "",
             row->unit);
  }
  if (*column + (int)strlen(text) > 100) *column = printf("\n   ") - 1;
  *column += printf("%s", text);
}

// A geom or a pair of those that may have settings of their own, geoms first.
typedef struct Own {
  int geom, pair;             // one is -1
  int contact;
  double restitution;
  bool settings;
} Own;

static Own own_at(const djModel* m, int k) {
  Own x = {.geom = k < m->ngeom ? k : -1, .pair = k < m->ngeom ? -1 : k - m->ngeom};
  x.contact = x.pair >= 0 ? m->pair_contact[x.pair] : m->geom_contact[x.geom];
  x.restitution = dj_restitution(m, x.geom, x.pair);
  x.settings = x.contact != DJ_CONTACT_DEFAULT;
  for (int i = 0; i < m->nsetting; i++) {
    x.settings |= m->setting_geom[i] == x.geom && m->setting_pair[i] == x.pair;
  }
  return x;
}

// Those that have a restitution and nothing else, by its values.
static void print_restitution(const djModel* m) {
  int n = m->ngeom + m->npair;
  for (int k = 0; k < n; k++) {
    Own x = own_at(m, k);
    int same = 0;
    bool told = x.settings || x.restitution == 0;
    for (int j = 0; j < n && !told; j++) {
      Own y = own_at(m, j);
      bool alike = !y.settings && y.restitution == x.restitution && (y.pair < 0) == (x.pair < 0);
      told = alike && j < k;
      same += alike;
    }
    if (told) continue;
    char text[120];
    printf("  contact of %s", own_element(text, m, x.geom, x.pair));
    if (same > 1) printf(" and %d more (--all)", same - 1);
    printf(": restitution %.4g\n", x.restitution);
  }
}

// What single geoms and pairs have of their own, with their restitution, and the settings of models
// that they name.
static void print_own(const djModel* m, bool all) {
  char text[120];
  int model;
  const djSetting* row;
  bool used[64] = {false};
  for (int k = 0; k < m->ngeom + m->npair; k++) {
    Own x = own_at(m, k);
    if (!x.settings && !(all && x.restitution > 0)) continue;
    int column = printf("  contact of %s:", own_element(text, m, x.geom, x.pair));
    if (x.contact != DJ_CONTACT_DEFAULT) {
      column += printf(" %s", dj_contactName((djContactModel)x.contact));
    }
    if (x.contact >= 0 && x.contact < 64) used[x.contact] = true;
    for (int i = 0; i < m->nsetting; i++) {
      if (m->setting_geom[i] != x.geom || m->setting_pair[i] != x.pair) continue;
      print_value(&column, row_for(m->setting_slot[i], x.contact), m->setting_value[i]);
    }
    if (x.restitution > 0) printf(" restitution %.4g", x.restitution);
    printf("\n");
  }
  if (!all) print_restitution(m);
  for (int k = 1; k < 64; k++) {
    if (!used[k] && (int)m->opt.contact != k) continue;
    int column = printf("  %s:", dj_contactName((djContactModel)k));
    for (int i = 0; (row = dj_contactSetting(&model, i)); i++) {
      if (model == k) print_value(&column, row, m->kernel_setting[i]);
    }
    printf("\n");
  }
}

static void print_text(const Scene* s, const djSurface* surface, int key, bool all) {
  const djModel* m = s->model;
  const djContactSettings* c = &m->contact;
  printf("%s: %s\n", s->path, state_name(s, has_surfaces(m, surface)));
  print_coverage(s);
  printf("  bodies %d, joints %d (nq %d, nv %d), geoms %d, meshes %d, ", m->nbody, m->njnt, m->nq,
         m->nv, m->ngeom, m->nmesh);
  if (m->ntendon > 0) printf("tendons %d, ", m->ntendon);
  printf("actuators %d, keyframes %d\n", m->nu, m->nkey);
  print_flexes(m);
  printf("  total mass %.6g kg, timestep %.6g s\n", m->total_mass, m->opt.timestep);
  printf("  contact: %s\n", dj_contactName(m->opt.contact));
  printf("  support %.4g, barrier coefficient (stiffness) %.4g J, skin %.4g m, range %.4g m\n",
         c->support, c->stiffness, c->skin, c->range);
  print_own(m, all);
  features_print(s, key);
  scene_printIdle(m);
  if (all) print_all(s);
  else print_report(s);
  print_surfaces(m, surface);
  print_points(m);
  overlap_print(m);
}

int verb_inspect(const Options* o) {
  Scene s;
  int key;
  int status = scene_load(&s, o, o->argument[0]);
  if (!status) status = scene_applySettings(&s, o, NULL);
  if (!status) status = scene_applySets(&s, o);
  if (!status) status = inputs_keyframe(&key, o, &s);
  if (!status) {
    djSurface* surface = find_surfaces(s.model);
    if (o->json) {
      Buffer text = {0};
      write_json(&text, &s, surface, key, o);
      opt_print(&text);
    } else {
      print_text(&s, surface, key, o->all);
    }
    free(surface);
    status = is_ignored(&s) ? EXIT_NOT_HELD : EXIT_DONE;
  }
  scene_close(&s);
  return status;
}
