#include "report.h"

#include "chart.h"

#include <cjson/cJSON.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TIMES = 6, PICTURE_WIDE = 280, PICTURE_HIGH = 230 };

const char report_style[] =
    ":root{color-scheme:light}"
    "body{font:16px/1.5 system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif;color:#222;"
    "background:#fff;max-width:1180px;margin:0 auto;padding:28px 24px 60px}"
    "h1{font-size:28px;line-height:1.2;margin:0 0 4px}h2{font-size:21px;margin:40px 0 6px}"
    "h3{font-size:16px;margin:0 0 4px}p{margin:6px 0 12px;max-width:100ch}"
    ".sub{color:#666;margin:0 0 18px}"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums}"
    "th,td{text-align:left;padding:5px 22px 5px 0;border-bottom:1px solid #e6e3dc;"
    "vertical-align:top}"
    "th{font-weight:600}td.n{text-align:right}tbody th{font-weight:400;color:#444}"
    "figure{margin:0}figcaption{font-size:14px;color:#555;line-height:1.4;margin-top:4px}"
    "svg{display:block;width:100%;height:auto}"
    ".times{display:grid;grid-template-columns:1fr 1fr;gap:22px 28px}"
    ".pair{display:grid;grid-template-columns:1fr 1fr;border:1px solid #e2dfd7;"
    "border-radius:6px;overflow:hidden;background:#fbfaf8}"
    ".pair div{position:relative}.pair div+div{border-left:1px solid #e2dfd7}"
    ".pair b{position:absolute;left:9px;top:6px;font-size:13px;font-weight:600;color:#555}"
    ".charts{display:grid;grid-template-columns:1fr 1fr;gap:30px 32px}"
    ".tables{display:grid;grid-template-columns:1fr 1fr;gap:8px 40px}"
    ".chart text{font-size:12px;fill:#444}.chart .name{font-size:13px;fill:#222}"
    ".chart .legend{fill:#222}.chart .empty{font-size:14px;fill:#888}"
    ".grid line{stroke:#e8e5de;stroke-width:1}.grid line.tick{stroke:#888}"
    "code{font-size:13px;background:#f4f2ed;padding:2px 5px;border-radius:3px}"
    "@media (max-width:900px){.times,.charts,.tables{grid-template-columns:1fr}}";

// ---- largest differences

static void difference_row(Buffer* out, const char* what, const Largest* l, const char* unit,
                           const char* where) {
  buf_addf(out, "<tr><th>%s</th><td>", what);
  report_quantity(out, l->max, unit);
  buf_addf(out, "</td><td>%.4g s</td><td>", l->time);
  html_text(out, where);
  buf_add(out, "</td></tr>\n");
}

static void write_differences(Buffer* out, const Report* report) {
  const Differences* d = &report->record->difference;
  const djModel* m = report->record->model;
  char one[16], two[16], pair[160] = "";
  if (d->force.max > 0) {
    snprintf(pair, sizeof pair, "%.70s on %.70s", scene_bodyName(one, m, d->force.id),
             scene_bodyName(two, m, d->force.id2));
  }
  buf_add(out, "<h2>Largest differences</h2>\n<table><thead><tr><th></th><th>largest</th><th>at"
               "</th><th>where</th></tr></thead><tbody>\n");
  difference_row(out, "position of a body frame", &d->position, "m",
                 scene_bodyName(one, m, d->position.id));
  difference_row(out, "rotation of a body", &d->rotation, "rad",
                 scene_bodyName(one, m, d->rotation.id));
  difference_row(out, "velocity (any entry of qvel)", &d->qvel, "m/s or rad/s", "");
  difference_row(out, "energy", &d->energy, "J", "");
  difference_row(out, "contact force between two bodies", &d->force, "N", pair);
  buf_add(out, "</tbody></table>\n<p>Over all steps. The contact force&#8217;s largest difference "
               "averages ");
  report_quantity(out, d->force_mean_last_half, "N");
  buf_add(out, " over the second half of the run.</p>\n");
}

// ---- pictures

static bool has_plane(const djModel* m) {
  for (int g = 0; g < m->ngeom; g++) {
    if (m->geom_type[g] == DJ_PLANE) return true;
  }
  return false;
}

// By how much closer the camera must come to go with the bodies: among what stands around, where
// they are tells more.
static double least_gain(const djModel* m) {
  for (int g = 0; g < m->ngeom; g++) {
    if (m->geom_body[g] == 0 && m->geom_type[g] != DJ_PLANE) return 25;
  }
  return 2.5;
}

static void write_pictures(Buffer* out, const Report* report) {
  const Record* r = report->record;
  int sample[TIMES], n = record_times(r, TIMES, sample);
  Poses all[ENGINES * TIMES];
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < ENGINES; k++) all[ENGINES * i + k] = record_poses(r, k, sample[i]);
  }
  Camera whole = camera_look(r->model, ENGINES * n, all, PICTURE_WIDE, PICTURE_HIGH);
  // Where the bodies travel far, the camera goes with them, at the smallest scale that fits.
  double scale = INFINITY;
  for (int i = 0; i < n; i++) {
    Camera c = whole;
    camera_frame(&c, r->model, ENGINES, &all[ENGINES * i]);
    scale = fmin(scale, c.scale);
  }
  bool follows = scale > least_gain(r->model) * whole.scale;
  buf_add(out, "<h2>The scene</h2>\n<p>The same camera looks at both engines.");
  if (follows) buf_add(out, " It moves with the bodies, which travel far.");
  buf_add(out, " What cannot move is grey.");
  if (has_plane(r->model)) {
    Camera shown = whole;
    if (follows) shown.scale = scale;
    buf_add(out, " Lines on planes are ");
    report_quantity(out, picture_grid(&shown), "m");
    buf_add(out, " apart.");
  }
  buf_add(out, "</p>\n");
  picture_defs(out);
  buf_add(out, "<div class=\"times\">\n");
  for (int i = 0; i < n; i++) {
    Camera c = whole;
    if (follows) {
      camera_frame(&c, r->model, ENGINES, &all[ENGINES * i]);
      c.scale = scale;
    }
    buf_add(out, "<figure><div class=\"pair\">\n");
    for (int k = 0; k < ENGINES; k++) {
      char label[64];
      const char* name = k ? "MuJoCo" : "DiJoCo";
      snprintf(label, sizeof label, "The scene in %s at %.4g s", name, r->time[sample[i]]);
      buf_addf(out, "<div><b>%s</b>", name);
      picture_draw(out, r->model, &all[ENGINES * i + k], &c, label);
      buf_add(out, "</div>\n");
    }
    buf_addf(out, "</div><figcaption>t = %.4g s: ", r->time[sample[i]]);
    if (r->apart[sample[i]] < 1e-9) {
      buf_add(out, "the bodies coincide.</figcaption></figure>\n");
      continue;
    }
    buf_add(out, "the bodies are at most ");
    report_quantity(out, r->apart[sample[i]], "m");
    buf_add(out, " apart.</figcaption></figure>\n");
  }
  buf_add(out, "</div>\n");
}

// ---- settings and run

static void value_text(Buffer* out, const cJSON* value) {
  if (cJSON_IsNumber(value)) {
    buf_addf(out, "%.6g", value->valuedouble);
  } else if (cJSON_IsString(value)) {
    html_text(out, value->valuestring);
  } else if (cJSON_IsBool(value)) {
    buf_add(out, cJSON_IsTrue(value) ? "yes" : "no");
  } else if (cJSON_IsArray(value)) {
    for (const cJSON* c = value->child; c; c = c->next) {
      value_text(out, c);
      if (c->next) buf_add(out, ", ");
    }
  }
}

static void key_text(Buffer* out, const char* key) {
  buf_add(out, "<tr><th>");
  for (const char* s = key; *s; s++) buf_addn(out, *s == '_' ? " " : s, 1);
  buf_add(out, "</th><td>");
}

static void settings_table(Buffer* out, const cJSON* object, const char* title) {
  buf_addf(out, "<div><h3>%s</h3><table><tbody>\n", title);
  for (const cJSON* c = object ? object->child : NULL; c; c = c->next) {
    key_text(out, c->string);
    value_text(out, c);
    buf_add(out, "</td></tr>\n");
  }
  buf_add(out, "</tbody></table></div>\n");
}

// What both runs tell of themselves, side by side.
static void run_table(Buffer* out, const cJSON* ours, const cJSON* stock) {
  buf_add(out, "<table><thead><tr><th></th><th>DiJoCo</th><th>MuJoCo</th></tr></thead><tbody>\n");
  for (const cJSON* c = ours ? ours->child : NULL; c; c = c->next) {
    const cJSON* other = cJSON_GetObjectItemCaseSensitive(stock, c->string);
    if (cJSON_IsObject(c) || strcmp(c->string, "scene") == 0 || strcmp(c->string, "engine") == 0) {
      continue;
    }
    key_text(out, c->string);
    value_text(out, c);
    buf_add(out, "</td><td>");
    value_text(out, other);
    buf_add(out, "</td></tr>\n");
  }
  buf_add(out, "</tbody></table>\n");
}

static void write_tables(Buffer* out, const Report* report) {
  cJSON* json[ENGINES];
  for (int k = 0; k < ENGINES; k++) json[k] = cJSON_Parse(report->json[k]);
  buf_add(out, "<h2>The runs</h2>\n<p>Each engine counts and measures in its own way: iterations "
               "are of Newton&#8217;s method here, of the constraint solver in MuJoCo; residuals "
               "are each engine&#8217;s own. Times are wall-clock, of the steps alone.</p>\n");
  run_table(out, json[0], json[1]);
  buf_add(out, "<h2>Settings in force</h2>\n<div class=\"tables\">\n");
  for (int k = 0; k < ENGINES; k++) {
    settings_table(out, cJSON_GetObjectItemCaseSensitive(json[k], "settings"),
                   k ? "MuJoCo" : "DiJoCo");
  }
  buf_add(out, "</div>\n");
  for (int k = 0; k < ENGINES; k++) cJSON_Delete(json[k]);
}

static void write_head(Buffer* out, const Report* report) {
  const Record* r = report->record;
  const Differences* d = &r->difference;
  char one[16];
  const char* slash = strrchr(report->scene->path, '/');
  const char* mujoco = scene_mujocoVersion();
  buf_add(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
               "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
               "<title>DiJoCo and MuJoCo: ");
  html_text(out, slash ? slash + 1 : report->scene->path);
  buf_addf(out, "</title><style>%s</style></head><body>\n<h1>One scene, two engines</h1>\n",
           report_style);
  buf_add(out, "<p class=\"sub\"><code>");
  html_text(out, report->scene->path);
  buf_addf(out, "</code> simulated for %.4g s by DiJoCo %s and by stock MuJoCo %s, from the same "
                "start with the same controls</p>\n",
           r->time[r->nsample - 1] - r->time[0], dj_version(), mujoco ? mujoco : "");
  buf_add(out, "<p>Bodies are at most ");
  report_quantity(out, d->position.max, "m");
  buf_addf(out, " apart (");
  html_text(out, scene_bodyName(one, r->model, d->position.id));
  buf_addf(out, ", at %.4g s), and turned by at most ", d->position.time);
  report_quantity(out, d->rotation.max, "rad");
  buf_add(out, " against each other.");
  for (int k = 0; k < ENGINES; k++) {
    const Tally* t = &report->engine[k].tally;
    if (t->stopped) {
      buf_addf(out, " <strong>%s stopped at %.4g s</strong>: ", k ? "MuJoCo" : "DiJoCo", t->time);
      html_text(out, t->note);
      buf_add(out, ".");
    }
  }
  if (report->engine[0].tally.unconverged_steps > 0) {
    buf_addf(out, " <strong>%ld of DiJoCo&#8217;s %ld steps did not converge</strong>; the run "
                  "went on from their best iterates.",
             report->engine[0].tally.unconverged_steps, report->engine[0].tally.steps);
  }
  buf_add(out, "</p>\n");
}

void report_write(Buffer* out, const Report* report) {
  write_head(out, report);
  write_pictures(out, report);
  write_differences(out, report);
  report_charts(out, report);
  write_tables(out, report);
  buf_add(out, "</body></html>\n");
}
