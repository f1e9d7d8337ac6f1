// dijoco contact: the contact model of one pair of shapes, or of a list of pairs, without a scene.

#include "contact_damped.h"
#include "contact_implicit.h"
#include "contact_penalty.h"
#include "json_in.h"
#include "json_out.h"
#include "verbs.h"

#include <dijoco/contact.h>
#include <dijoco/setting.h>

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SETTINGS = 18 };   // of one model

typedef struct Query {
  djcShape a, b;
  double *vert_a, *vert_b;  // owned
  double *weight_a, *weight_b;   // owned
  int *tri[2], *node[2];    // owned
  bool gap;                 // the smoothed gap alone, with `smoothing`
  double smoothing;
  djcOption option;
  djcSetting setting[MAX_SETTINGS];   // the option's
  bool hessian;
  Reader reader;
} Query;

static void read_geom(Query* q, djcShape* s, const cJSON* in, const char* path) {
  static const char* const keys[] = {"geom", "size", "pose", "origin", NULL};
  Reader* r = &q->reader;
  if (!read_keys(r, in, path, keys)) return;
  const char* name = read_text(r, in, path, "geom", true);
  if (!name) return;
  int type = 0, nsize;
  const char* known = dj_geomName(&nsize, DJ_PLANE);
  while (known[0] && strcmp(known, name) != 0) known = dj_geomName(&nsize, (djGeomType)++type);
  if (nsize < 0) {
    read_fail(r, path, "geom", "unknown geom '%.60s'", name);
    return;
  }
  s->geom = (djGeomType)type;
  if (nsize > 0 && !read_list(r, in, path, "size", true)) return;
  read_vector(r, in, path, "size", nsize, 3, s->size);
  for (int i = 0; i < nsize && !r->failed; i++) {
    if (!(s->size[i] > 0)) read_fail(r, path, "size", "[%d] must be positive", i);
  }
  double pose[7] = {0, 0, 0, 1, 0, 0, 0};
  read_vector(r, in, path, "pose", 7, 7, pose);
  double norm = 0;
  for (int i = 3; i < 7; i++) norm = fmax(norm, fabs(pose[i]));
  if (!(norm > 0)) read_fail(r, path, "pose", "its quaternion is zero");
  double length = 0;
  for (int i = 3; i < 7; i++) length += pose[i] / norm * (pose[i] / norm);
  for (int i = 0; i < 3; i++) s->pos[i] = s->origin[i] = pose[i];
  for (int i = 0; i < 4; i++) s->quat[i] = pose[3 + i] / norm / sqrt(length);
}

// Rows of three vertices, of models that see triangles.
static void read_triangles(Query* q, djcShape* s, const cJSON* in, const char* path) {
  Reader* r = &q->reader;
  if (q->option.model != DJ_LONG_RANGE) {
    read_fail(r, path, "triangles", "%s has none", dj_contactName(q->option.model));
    return;
  }
  double* index = read_points(r, in, path, "triangles", &s->ntri);
  if (!index) return;
  int* tri = tool_alloc(3 * (size_t)s->ntri, sizeof *tri);
  for (int i = 0; i < 3 * s->ntri && !r->failed; i++) {
    if (index[i] >= 0 && index[i] < s->nvert && index[i] == floor(index[i])) tri[i] = (int)index[i];
    else read_fail(r, path, "triangles", "[%d][%d] = %g is no vertex", i / 3, i % 3, index[i]);
  }
  free(index);
  q->tri[path[0] == 'b'] = tri;
  s->tri = tri;
}

// A whole number of a node, not negative.
static int read_node(Reader* r, const cJSON* in, const char* path, const char* key) {
  double value = NAN;
  read_number(r, in, path, key, &value);
  if (!(value >= 0 && value < INT_MAX && value == floor(value))) {
    read_fail(r, path, key, "expected a number from 0 on");
  }
  return r->failed ? 0 : (int)value;
}

// Nodes {"tri": i} and {"l": i, "r": j}.
static void read_tree(Query* q, djcShape* s, const cJSON* in, const char* path) {
  static const char* const leaf[] = {"tri", NULL};
  static const char* const pair[] = {"l", "r", NULL};
  Reader* r = &q->reader;
  const cJSON* list = read_list(r, in, path, "tree", true);
  if (!list) return;
  s->nnode = cJSON_GetArraySize(list);
  int *node = tool_alloc(2 * (size_t)s->nnode + 1, sizeof *node), *at = node;
  q->node[path[0] == 'b'] = node;
  s->node = node;
  const cJSON* item;
  cJSON_ArrayForEach(item, list) {
    const bool ends = cJSON_GetObjectItemCaseSensitive(item, "tri") != NULL;
    if (!cJSON_IsObject(item)) read_fail(r, path, "tree", "expected objects");
    if (r->failed || !read_keys(r, item, "tree", ends ? leaf : pair)) return;
    *at++ = read_node(r, item, "tree", ends ? "tri" : "l");
    *at++ = ends ? -1 : read_node(r, item, "tree", "r");
  }
}

static void read_shape(Query* q, djcShape* s, double** vert, const cJSON* entry,
                       const char* path) {
  static const char* const keys[] = {"vertices", "radius", "origin", "triangles", "tree",
                                     NULL};
  Reader* r = &q->reader;
  const cJSON* in = read_object(r, entry, "", path, true);
  if (!in) return;
  s->quat[0] = 1;
  if (cJSON_GetObjectItemCaseSensitive(in, "geom")) {
    read_geom(q, s, in, path);
  } else {
    if (!read_keys(r, in, path, keys)) return;
    *vert = read_points(r, in, path, "vertices", &s->nvert);
    if (!*vert) return;
    s->vert = *vert;
    read_number(r, in, path, "radius", &s->radius);
    if (s->radius < 0) read_fail(r, path, "radius", "must not be negative");
    if (cJSON_GetObjectItemCaseSensitive(in, "triangles")) read_triangles(q, s, in, path);
    if (cJSON_GetObjectItemCaseSensitive(in, "tree") && !r->failed) read_tree(q, s, in, path);
    for (int i = 0; i < s->nvert; i++) {
      for (int k = 0; k < 3; k++) s->origin[k] += (*vert)[3 * i + k] / s->nvert;
    }
  }
  read_vector(r, in, path, "origin", 3, 3, s->origin);
}

static void read_friction(Query* q, const cJSON* entry) {
  static const char* const keys[] = {"coefficient", "dt", "eps", "arms", "cap", "motion_a",
                                     "motion_b", NULL};
  Reader* r = &q->reader;
  const cJSON* in = read_object(r, entry, "", "friction", false);
  if (!in || !read_keys(r, in, "friction", keys)) return;
  djcFriction* f = &q->option.friction;
  f->enabled = true;
  f->coefficient = f->dt = NAN;
  read_number(r, in, "friction", "coefficient", &f->coefficient);
  read_number(r, in, "friction", "dt", &f->dt);
  read_number(r, in, "friction", "eps", &f->eps);
  if (isnan(f->coefficient)) read_fail(r, "friction", "coefficient", "missing");
  if (isnan(f->dt)) read_fail(r, "friction", "dt", "missing");
  if (f->coefficient < 0) read_fail(r, "friction", "coefficient", "must not be negative");
  if (!(f->dt > 0)) read_fail(r, "friction", "dt", "must be positive");
  if (!(f->eps > 0)) read_fail(r, "friction", "eps", "must be positive");
  const char* arms = read_text(r, in, "friction", "arms", false);
  if (arms && strcmp(arms, "plane") != 0 && strcmp(arms, "paper") != 0) {
    read_fail(r, "friction", "arms", "expected plane or paper, not '%.60s'", arms);
  }
  if (arms) f->arms = strcmp(arms, "paper") == 0 ? DJ_ARMS_PAPER : DJ_ARMS_PLANE;
  const char* cap = read_text(r, in, "friction", "cap", false);
  if (cap && strcmp(cap, "magnitude") != 0 && strcmp(cap, "paper") != 0) {
    read_fail(r, "friction", "cap", "expected magnitude or paper, not '%.60s'", cap);
  }
  if (cap) f->cap = strcmp(cap, "paper") == 0 ? DJ_CAP_PAPER : DJ_CAP_MAGNITUDE;
  read_vector(r, in, "friction", "motion_a", 6, 6, f->motion_a);
  read_vector(r, in, "friction", "motion_b", 6, 6, f->motion_b);
}

// Settings of a contact model by their names.
static void read_settings(Query* q, const cJSON* entry) {
  Reader* r = &q->reader;
  const char* keys[MAX_SETTINGS + 1] = {NULL};
  const djSetting *row, *rows[MAX_SETTINGS] = {NULL};
  int model, n = 0;
  for (int i = 0; (row = dj_contactSetting(&model, i)) && n < MAX_SETTINGS; i++) {
    if (model != (int)q->option.model) continue;
    keys[n] = row->name;
    rows[n++] = row;
  }
  const cJSON* in = read_object(r, entry, "", "params", false);
  if (!in || !read_keys(r, in, "params", keys)) return;
  for (int i = 0; i < n; i++) {
    double value = NAN;
    if (!cJSON_GetObjectItemCaseSensitive(in, keys[i])) continue;
    if (rows[i]->kind == DJ_SETTING_CHOICE) {
      const char* text = read_text(r, in, "params", keys[i], false);
      const djChoice* c = rows[i]->choice;
      while (text && c->name && strcmp(c->name, text) != 0) c++;
      if (text && !c->name) read_fail(r, "params", keys[i], "unknown value '%.60s'", text);
      value = c->value;
    } else {
      read_number(r, in, "params", keys[i], &value);
    }
    q->setting[q->option.nsetting++] = (djcSetting){keys[i], value};
  }
  q->option.setting = q->setting;
}

// A guide's weights of one shape; `in` holds the key.
static void read_weights(Query* q, djcShape* s, double** weight, const cJSON* in,
                         const char* path, const char* key) {
  Reader* r = &q->reader;
  const cJSON* list = read_list(r, in, path, key, false);
  int n = list ? cJSON_GetArraySize(list) : 0;
  if (n == 0 || r->failed || *weight) return;
  *weight = tool_alloc((size_t)n, sizeof(double));
  read_vector(r, in, path, key, n, n, *weight);
  s->nweight = n;
  s->weight = *weight;
}

// The tail of a guide. Weights and l may stand beside the shapes too.
static void read_guide(Query* q, const cJSON* in, const char* path) {
  Reader* r = &q->reader;
  double guide = NAN, length = NAN, scale = NAN;
  read_number(r, in, path, "guide", &guide);
  read_number(r, in, path, "guide_length", &length);
  read_number(r, in, path, "guide_scale", &scale);
  if (guide < 0) read_fail(r, path, "guide", "must not be negative");
  if (length <= 0) read_fail(r, path, "guide_length", "must be positive");
  if (scale <= 0) read_fail(r, path, "guide_scale", "must be positive");
  if (guide >= 0) q->setting[q->option.nsetting++] = (djcSetting){"guide", guide};
  if (length > 0) q->setting[q->option.nsetting++] = (djcSetting){"guide_length", length};
  if (scale > 0) q->option.guide_scale = scale;
  q->option.setting = q->setting;
  read_weights(q, &q->a, &q->weight_a, in, path, "guide_weights_a");
  read_weights(q, &q->b, &q->weight_b, in, path, "guide_weights_b");
}

static void read_params(Query* q, const cJSON* entry) {
  static const char* const keys[] = {"s",           "length_scale",    "guide",
                                     "guide_length", "guide_scale",     "guide_weights_a",
                                     "guide_weights_b", NULL};
  Reader* r = &q->reader;
  if (q->option.model != DJ_SEPARATING_PLANE) {
    read_settings(q, entry);
    return;
  }
  const cJSON* in = read_object(r, entry, "", "params", false);
  if (!in || !read_keys(r, in, "params", keys)) return;
  read_number(r, in, "params", "s", &q->option.support);
  read_number(r, in, "params", "length_scale", &q->option.length_scale);
  if (!(q->option.support > 0 && q->option.support < 1)) {
    read_fail(r, "params", "s", "must lie between 0 and 1");
  }
  if (!(q->option.length_scale > 0)) read_fail(r, "params", "length_scale", "must be positive");
  read_guide(q, in, "params");
}

// The smoothed gap in place of a contact model.
static void read_gap(Query* q, const cJSON* entry) {
  static const char* const keys[] = {"model", "params", "a", "b", NULL};
  static const char* const params[] = {"smoothing", NULL};
  Reader* r = &q->reader;
  q->gap = true;
  q->smoothing = -1;
  if (!read_keys(r, entry, "", keys)) return;
  const cJSON* in = read_object(r, entry, "", "params", false);
  if (in && read_keys(r, in, "params", params)) {
    q->smoothing = NAN;
    read_number(r, in, "params", "smoothing", &q->smoothing);
    if (isnan(q->smoothing)) q->smoothing = -1;   // not given
    else if (q->smoothing < 0) read_fail(r, "params", "smoothing", "must not be negative");
  }
  read_shape(q, &q->a, &q->vert_a, entry, "a");
  read_shape(q, &q->b, &q->vert_b, entry, "b");
}

static void read_query(Query* q, const cJSON* entry) {
  static const char* const keys[] = {"model",    "params",  "hessian", "a",
                                     "b",        "friction", "twist_a", "twist_b",
                                     "guide_scale", "guide_weights_a", "guide_weights_b", NULL};
  static const char* const planned = "damped";
  *q = (Query){.option = djc_defaultOption()};
  Reader* r = &q->reader;
  if (!cJSON_IsObject(entry)) {
    read_fail(r, "", NULL, "expected an object");
    return;
  }
  const char* model = read_text(r, entry, "", "model", false);
  if (model && strcmp(model, "gap") == 0) {
    read_gap(q, entry);
    return;
  }
  int number = DJ_SEPARATING_PLANE;
  for (int i = 0; model && dj_contactName((djContactModel)i)[0]; i++) {
    if (strcmp(model, dj_contactName((djContactModel)i)) == 0) number = i;
  }
  if (model && strcmp(model, dj_contactName((djContactModel)number)) != 0) {
    if (strcmp(model, planned) == 0) read_fail(r, "", "model", "%s is not available", model);
    read_fail(r, "", "model", "unknown model '%.60s'", model);
  }
  if (r->failed || !read_keys(r, entry, "", keys)) return;
  q->option.model = (djContactModel)number;
  if (!(q->option.support > 0)) q->option.support = 0.1;
  if (!(q->option.length_scale > 0)) q->option.length_scale = 1;
  if (!(q->option.friction.eps > 0)) q->option.friction.eps = 1e-8;
  q->option.friction.enabled = false;
  read_params(q, entry);
  read_bool(r, entry, "", "hessian", &q->hessian);
  read_shape(q, &q->a, &q->vert_a, entry, "a");
  read_shape(q, &q->b, &q->vert_b, entry, "b");
  if (number == DJ_SEPARATING_PLANE) read_guide(q, entry, "");
  read_friction(q, entry);
  read_vector(r, entry, "", "twist_a", 6, 6, q->option.twist_a);
  read_vector(r, entry, "", "twist_b", 6, 6, q->option.twist_b);
}

static void write_error(Json* out, const char* message) {
  json_object(out, NULL);
  json_text(out, "status", "error");
  json_text(out, "message", message);
  json_end(out);
}

static void write_friction(Json* out, const djcResult* r, bool finite) {
  json_object(out, "friction");
  if (finite) json_number(out, "value", r->friction_value);
  else json_null(out, "value");
  json_vector(out, "wrench_a", 6, finite ? r->friction_wrench_a : NULL);
  json_vector(out, "wrench_b", 6, finite ? r->friction_wrench_b : NULL);
  json_end(out);
}

static void write_result(Json* out, const Query* q, const djcResult* r, const double* gradient_a,
                         const double* gradient_b, const double* hessian) {
  bool finite = isfinite(r->value);
  size_t n = 3 * (size_t)(q->a.nvert + q->b.nvert);
  json_object(out, NULL);
  json_text(out, "status", r->status == DJ_NOT_CONVERGED ? "no_convergence" : "ok");
  json_number(out, "value", r->value);
  json_number(out, "gap", r->gap);
  json_vector(out, "plane", 4, r->has_plane && finite ? r->plane : NULL);
  json_integer(out, "iterations", r->iterations);
  json_matrix(out, "gradient_a", (size_t)q->a.nvert, 3, finite ? gradient_a : NULL);
  json_matrix(out, "gradient_b", (size_t)q->b.nvert, 3, finite ? gradient_b : NULL);
  json_vector(out, "twist_gradient", 12, finite ? r->twist_gradient : NULL);
  if (q->hessian) {
    json_matrix(out, "hessian", n, n, finite ? hessian : NULL);
    json_matrix(out, "twist_hessian", 12, 12, finite ? r->twist_hessian : NULL);
  }
  if (q->option.model == DJ_LONG_RANGE) {
    json_integer(out, "visited", r->visited);
    json_integer(out, "exact", r->exact);
  }
  if (!r->energy) json_matrix(out, "twist_jac", 12, 12, r->twist_jac);
  if (q->option.friction.enabled) write_friction(out, r, finite);
  json_end(out);
}

// Derivatives are null where there are none: centres that coincide, smoothing 0.
static void write_gap(Json* out, djStatus status, const djcGap* g) {
  bool smooth = status == DJ_OK && g->smoothing > 0;
  json_object(out, NULL);
  json_text(out, "status", status == DJ_NOT_CONVERGED ? "no_convergence" : "ok");
  json_number(out, "gap", g->gap);
  json_vector(out, "normal", 3, g->normal);
  json_vector(out, "point_a", 3, g->point_a);
  json_vector(out, "point_b", 3, g->point_b);
  json_number(out, "smoothing", g->smoothing);
  json_integer(out, "iterations", g->iterations);
  json_vector(out, "twist_gradient", 12, g->gap_twist);
  json_matrix(out, "twist_normal", 3, 12, smooth ? g->normal_twist : NULL);
  json_matrix(out, "twist_point_a", 3, 12, smooth ? g->point_a_twist : NULL);
  json_matrix(out, "twist_point_b", 3, 12, smooth ? g->point_b_twist : NULL);
  json_end(out);
}

// Answer one query of the gap; as `answer`.
static int answer_gap(Json* out, const Query* q, char* message, size_t size) {
  djcGap g;
  djStatus status = djc_gap(&g, &q->a, &q->b, q->smoothing);
  if (status >= 0) {
    write_gap(out, status, &g);
    return status == DJ_NOT_CONVERGED ? EXIT_NOT_HELD : EXIT_DONE;
  }
  djError err = {"a and b: too large or too small to compute with"};
  djcGapPair* pair;
  djc_makeGapPair(&pair, 1, &q->a, 1, &q->b, q->smoothing, &err);   // for its message
  djc_deleteGapPair(pair);
  snprintf(message, size, "%s", err.text);
  write_error(out, message);
  return EXIT_BAD_INPUT;
}

static void free_query(Query* q) {
  free(q->vert_a);
  free(q->vert_b);
  free(q->weight_a);
  free(q->weight_b);
  free(q->tri[0]);
  free(q->tri[1]);
  free(q->node[0]);
  free(q->node[1]);
}

// Answer one entry; returns its exit status. message: why it is an error.
static int answer(Json* out, const cJSON* entry, char* message, size_t size) {
  const cJSON* model = cJSON_GetObjectItemCaseSensitive(entry, "model");
  if (cJSON_IsString(model) && strcmp(model->valuestring, "implicit_surface") == 0) {
    int status = answer_implicit(out, entry, message, size);
    if (status == EXIT_BAD_INPUT) write_error(out, message);
    return status;
  }
  if (cJSON_IsString(model) && strcmp(model->valuestring, "damped") == 0) {
    int status = answer_damped(out, entry, message, size);
    if (status == EXIT_BAD_INPUT) write_error(out, message);
    return status;
  }
  if (cJSON_IsString(model) && strcmp(model->valuestring, "penalty") == 0) {
    int status = answer_penalty(out, entry, message, size);
    if (status == EXIT_BAD_INPUT) write_error(out, message);
    return status;
  }
  Query q;
  read_query(&q, entry);
  if (q.gap && !q.reader.failed) {
    int status = answer_gap(out, &q, message, size);
    free_query(&q);
    return status;
  }
  djcResult result;
  memset(&result, 0, sizeof result);
  double *gradient_a = NULL, *gradient_b = NULL, *hessian = NULL;
  if (q.reader.failed) {
    snprintf(message, size, "%s%s%s", q.reader.element, *q.reader.element ? ": " : "",
             q.reader.message);
    result.status = DJ_INVALID;
  } else {
    size_t n = 3 * (size_t)(q.a.nvert + q.b.nvert);
    if (q.a.nvert) gradient_a = tool_alloc(3 * (size_t)q.a.nvert, sizeof(double));
    if (q.b.nvert) gradient_b = tool_alloc(3 * (size_t)q.b.nvert, sizeof(double));
    const bool vertices = q.a.nvert && q.b.nvert && q.option.model != DJ_LONG_RANGE;
    if (q.hessian && vertices) hessian = tool_alloc(n, n * sizeof(double));
    djStatus status = djc_pair(&result, gradient_a, gradient_b, hessian, &q.a, &q.b, &q.option);
    result.status = status;
    if (status < 0) {
      snprintf(message, size, "%s", *result.message ? result.message : "the query was refused");
    }
  }
  if (result.status < 0) write_error(out, message);
  else write_result(out, &q, &result, gradient_a, gradient_b, hessian);
  free_query(&q);
  free(gradient_a);
  free(gradient_b);
  free(hessian);
  return result.status < 0 ? EXIT_BAD_INPUT : result.status > 0 ? EXIT_NOT_HELD : EXIT_DONE;
}

// Answers to a list, in order. element, message: the first that is an error.
static int answer_list(Json* out, const cJSON* list, char* element, char* message, size_t size) {
  int worst = EXIT_DONE, i = 0;
  json_object(out, NULL);
  json_list(out, "results");
  for (const cJSON* entry = list->child; entry; entry = entry->next, i++) {
    char text[512];
    int status = answer(out, entry, text, sizeof text);
    if (status == EXIT_BAD_INPUT && worst < status) {
      snprintf(element, size, "[%d]", i);
      snprintf(message, size, "%s", text);
    }
    if (status > worst) worst = status;
  }
  json_end(out);
  json_end(out);
  return worst;
}

int verb_contact(const Options* o) {
  const char* path = o->argument[0];
  const char* file = strcmp(path, "-") == 0 ? "standard input" : path;
  char message[512] = "", element[512] = "";
  cJSON* json = read_json(path, message, sizeof message);
  if (!json) return tool_fail(o->verb, file, NULL, "%s", message);
  Buffer out = {0};
  Json writer;
  json_start(&writer, &out);
  int status = cJSON_IsArray(json) ? answer_list(&writer, json, element, message, sizeof message)
                                   : answer(&writer, json, message, sizeof message);
  cJSON_Delete(json);
  opt_print(&out);
  if (status == EXIT_BAD_INPUT) {
    tool_fail(o->verb, file, *element ? element : NULL, "%s", message);
  }
  return status;
}
