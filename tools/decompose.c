// dijoco decompose: a closed mesh as a union of convex hulls.

#include "coacd.h"
#include "json_out.h"
#include "output.h"
#include "verbs.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 16, VERTICES = 64, MOST_HULLS = 500 };

#define MIN_VOLUME 1e-15 // m^3, of a mesh: MuJoCo's mjMINVAL

typedef struct Method Method;

typedef struct Job {
  const Options* o;
  const Method* method;
  int grid[3];  // of blocks
  int vertices; // at most, of a hull
  djTriangles solid;
  double volume; // of the solid
  djPieces pieces;
  djPieceReport report;
  char name[64]; // of the body; hulls are NAME_00, NAME_01...
  int digits;
} Job;

// A way to make hulls.
struct Method {
  const char* name;
  bool grid, seed, shells;  // takes --grid, --seed; meshes of several solids
  djStatus (*cut)(Job* job, djError* err);
};

static int fail(const Job* job, const char* element, const djError* err) {
  return tool_fail(job->o->verb, job->o->argument[0], element, "%s", err->text);
}

// ------------------------------ methods --------------------------------------------------------

static djStatus cut_coacd(Job* job, djError* err) {
  const Options* o = job->o;
  CoacdWish wish = {(int)o->hulls, job->vertices, o->seed < 0 ? 0 : (int)o->seed};
  return coacd_run(&job->pieces, &job->solid, &wish, err);
}

static djStatus cut_blocks(Job* job, djError* err) {
  const Options* o = job->o;
  djStatus status = DJ_OK;
  if (!o->grid) {
    int most = o->hulls < 0 ? BLOCKS : (int)o->hulls;
    status = dj_chooseGrid(job->grid, &job->solid, most, err);
  }
  if (status < 0) return status;
  return dj_cutBlocks(&job->pieces, &job->solid, job->grid, job->vertices, NULL, err);
}

static djStatus cut_shells(Job* job, djError* err) {
  djStatus status = dj_cutShells(&job->pieces, &job->solid, job->vertices, err);
  if (status < 0 || job->o->hulls < 0) return status;
  return dj_mergePieces(&job->pieces, (int)job->o->hulls, job->vertices, err);
}

// What --method lists. A seed is no mistake where the default may be coacd or blocks.
static const Method methods[] = {
    {.name = "coacd", .seed = true, .cut = cut_coacd},
    {.name = "blocks", .grid = true, .seed = true, .cut = cut_blocks},
    {.name = "shells", .shells = true, .cut = cut_shells},
};

static const Method* find_method(const char* name) {
  const Method* m = methods;
  while (strcmp(m->name, name) != 0) m++;
  return m;
}

// ------------------------------ what is asked for ----------------------------------------------

static int read_grid(Job* job) {
  const Options* o = job->o;
  const char* at = o->grid;
  for (int k = 0; at && k < 3; k++) {
    char* end;
    errno = 0;
    long n = strtol(at, &end, 10);
    if (end == at || errno || *end != (k < 2 ? ',' : 0) || n < 1 || n > 256) {
      return tool_fail(o->verb, NULL, "--grid",
                       "expected three numbers of cells from 1 to 256, A,B,C, not '%s'", o->grid);
    }
    job->grid[k] = (int)n;
    at = end + 1;
  }
  return 0;
}

// What goes with what, and the method.
static int choose(Job* job) {
  const Options* o = job->o;
  djError err = {""};
  if (!o->out) return tool_fail(o->verb, NULL, "--out", "missing");
  if (o->vertices >= 0 && o->vertices < 4) {
    return tool_fail(o->verb, NULL, "--vertices", "a hull needs at least 4, not %ld", o->vertices);
  }
  if (o->hulls > MOST_HULLS) {
    return tool_fail(o->verb, NULL, "--hulls", "at most %d, not %ld", (int)MOST_HULLS, o->hulls);
  }
  job->vertices = o->vertices < 0 ? VERTICES : (int)o->vertices;
  const char* name = o->method;
  if (!name) name = !o->grid && coacd_load(NULL, &err) ? "coacd" : "blocks";
  const Method* m = job->method = find_method(name);
  if (o->grid && !m->grid) return tool_fail(o->verb, NULL, "--grid", "is of --method blocks");
  if (o->seed >= 0 && !m->seed) return tool_fail(o->verb, NULL, "--seed", "is of --method coacd");
  if (m->cut == cut_coacd && !coacd_load(NULL, &err)) {
    return tool_fail(o->verb, NULL, "--method coacd", "%s", err.text);
  }
  return read_grid(job);
}

// ------------------------------ hulls ----------------------------------------------------------

// Volume of a hull as MuJoCo keeps it, with vertices in single precision.
static double volume_of(const djTriangles* hull) {
  double volume = 0;
  for (int t = 0; t < hull->ntri; t++) {
    double x[3][3];
    for (int i = 0; i < 3; i++) {
      const double* v = hull->vert + 3 * (size_t)hull->tri[3 * (size_t)t + (size_t)i];
      for (int k = 0; k < 3; k++) x[i][k] = (double)(float)v[k] - (double)(float)hull->vert[k];
    }
    volume += (x[0][0] * (x[1][1] * x[2][2] - x[1][2] * x[2][1]) +
               x[0][1] * (x[1][2] * x[2][0] - x[1][0] * x[2][2]) +
               x[0][2] * (x[1][0] * x[2][1] - x[1][1] * x[2][0])) /
              6;
  }
  return volume;
}

// Scenes with what is written can be compiled.
static int check_volumes(const Job* job) {
  for (int i = 0; i < job->pieces.n; i++) {
    double volume = volume_of(&job->pieces.hull[i]);
    if (volume > 1.0001 * MIN_VOLUME) continue;
    return tool_fail(job->o->verb, job->o->argument[0], NULL,
                     "hull %d of %d has a volume of %.3g m^3 and MuJoCo takes no mesh below %g: "
                     "is the mesh in another unit of length, or are there too many hulls?",
                     i, job->pieces.n, volume, MIN_VOLUME);
  }
  return 0;
}

// The report on hulls; of several solids with the volume of their union.
static djStatus compare(Job* job, djError* err) {
  if (!job->method->shells) return dj_comparePieces(&job->report, &job->pieces, &job->solid, err);
  return dj_compareShells(&job->report, &job->volume, &job->pieces, &job->solid, err);
}

// What other methods take: one solid.
static djStatus check_solid(Job* job, djError* err) {
  djPieces pieces;
  djStatus status = dj_checkSolid(&job->volume, &job->solid, err);
  if (status != DJ_INVALID || dj_cutShells(&pieces, &job->solid, job->vertices, NULL) < 0) {
    return status;
  }
  dj_freePieces(&pieces);
  size_t n = strlen(err->text);
  snprintf(err->text + n, sizeof err->text - n, "; by --method shells its solids have a hull each");
  return status;
}

static int split(Job* job) {
  const Options* o = job->o;
  djError err = {""};
  djStatus status = DJ_OK;
  if (!job->method->shells) status = check_solid(job, &err);
  if (status == DJ_OK) status = job->method->cut(job, &err);
  if (status == DJ_OK && job->pieces.n > MOST_HULLS) {
    return tool_fail(o->verb, o->argument[0], NULL, "%d hulls, more than %d", job->pieces.n,
                     (int)MOST_HULLS);
  }
  if (status == DJ_OK) status = compare(job, &err);
  if (status < 0) return fail(job, NULL, &err);
  return check_volumes(job);
}

// The file's name without folder and end, of characters that XML and patterns leave alone.
static void choose_name(Job* job) {
  const char *path = job->o->argument[0], *slash = strrchr(path, '/');
  const char* from = slash ? slash + 1 : path;
  const char* dot = strrchr(from, '.');
  size_t n = dot ? (size_t)(dot - from) : strlen(from);
  if (n > 40) n = 40;
  for (size_t i = 0; i < n; i++) {
    char c = from[i];
    bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    job->name[i] = plain ? c : '_';
  }
  if (n == 0) strcpy(job->name, "mesh");
  job->digits = job->pieces.n > 100 ? 3 : 2;
}

// ------------------------------ files ----------------------------------------------------------

static const char* hull_name(char text[100], const Job* job, int i) {
  snprintf(text, 100, "%s_%0*d", job->name, job->digits, i);
  return text;
}

static int write_file(const Job* job, const char* name, Buffer* text) {
  djError err;
  djFile* file = out_openIn(job->o->verb, job->o->out, name);
  int status = file ? 0 : EXIT_BAD_INPUT;
  if (file) {
    out_write(file, text);
    // No more than one is open at a time: there may be a thousand.
    if (dj_finishFile(file, &err) < 0) status = tool_fail(job->o->verb, NULL, NULL, "%s", err.text);
  }
  buf_free(text);
  return status;
}

static int write_hull(const Job* job, int i) {
  const djTriangles* hull = &job->pieces.hull[i];
  Buffer text = {0};
  char name[100], file[110];
  buf_addf(&text, "# hull %d of %d\n", i, job->pieces.n);
  for (int k = 0; k < hull->nvert; k++) {
    const double* v = hull->vert + 3 * (size_t)k;
    buf_addf(&text, "v %.17g %.17g %.17g\n", v[0], v[1], v[2]);
  }
  for (int t = 0; t < hull->ntri; t++) {
    const int* v = hull->tri + 3 * (size_t)t;
    buf_addf(&text, "f %d %d %d\n", v[0] + 1, v[1] + 1, v[2] + 1);
  }
  snprintf(file, sizeof file, "%s.obj", hull_name(name, job, i));
  return write_file(job, file, &text);
}

// A list of names as JSON has it, lines of at most about 100 columns.
static void add_names(Buffer* text, const Job* job, const char* before, const char* after) {
  char name[100];
  size_t line = text->size;
  buf_add(text, "    [");
  for (int i = 0; i < job->pieces.n; i++) {
    if (text->size - line > 70) {
      buf_add(text, "\n     ");
      line = text->size;
    }
    buf_addf(text, "\"%s%s%s\"%s", before, hull_name(name, job, i), after,
             i + 1 < job->pieces.n ? ", " : "]\n");
  }
}

static int write_fragment(const Job* job) {
  Buffer text = {0};
  char name[100];
  buf_addf(&text,
           "<!-- %s as %d convex hulls. A scene in this folder has it by\n"
           "       <include file=\"fragment.xml\"/>\n"
           "     at its top; give the body a joint there or here. Names to paste, of geoms,\n",
           job->name, job->pieces.n);
  add_names(&text, job, "", "");
  buf_add(&text, "     and of the vertices as variables of a task (one pattern: ");
  buf_addf(&text, "\"mesh/%s_*/vert\"),\n", job->name);
  add_names(&text, job, "mesh/", "/vert");
  buf_add(&text, "-->\n<mujoco>\n  <asset>\n");
  for (int i = 0; i < job->pieces.n; i++) {
    hull_name(name, job, i);
    buf_addf(&text, "    <mesh name=\"%s\" file=\"%s.obj\"/>\n", name, name);
  }
  buf_addf(&text, "  </asset>\n  <worldbody>\n    <body name=\"%s\">\n", job->name);
  for (int i = 0; i < job->pieces.n; i++) {
    hull_name(name, job, i);
    buf_addf(&text, "      <geom name=\"%s\" type=\"mesh\" mesh=\"%s\"/>\n", name, name);
  }
  buf_add(&text, "    </body>\n  </worldbody>\n</mujoco>\n");
  return write_file(job, "fragment.xml", &text);
}

static void write_known(Json* out, const char* key, double value) {
  if (isnan(value))
    json_null(out, key);
  else
    json_number(out, key, value);
}

static void write_json(Buffer* text, const Job* job) {
  char name[100], file[110];
  Json out;
  json_start(&out, text);
  json_object(&out, NULL);
  json_text(&out, "mesh", job->o->argument[0]);
  json_text(&out, "out", job->o->out);
  json_text(&out, "body", job->name);
  json_text(&out, "method", job->method->name);
  if (job->method->grid) {
    json_list(&out, "grid");
    for (int k = 0; k < 3; k++) json_integer(&out, NULL, job->grid[k]);
    json_end(&out);
  } else if (job->method->seed) {
    json_integer(&out, "seed", job->o->seed < 0 ? 0 : job->o->seed);
  }
  json_list(&out, "hulls");
  for (int i = 0; i < job->pieces.n; i++) {
    snprintf(file, sizeof file, "%s.obj", hull_name(name, job, i));
    json_object(&out, NULL);
    json_text(&out, "file", file);
    json_integer(&out, "vertices", job->pieces.hull[i].nvert);
    json_number(&out, "volume", job->pieces.volume[i]);
    json_end(&out);
  }
  json_end(&out);
  write_known(&out, "volume", job->volume);
  write_known(&out, "volume_ratio", job->report.volume_ratio);
  json_number(&out, "hausdorff", job->report.hausdorff);
  json_number(&out, "hausdorff_error", job->report.hausdorff_error);
  json_number(&out, "overlap", job->report.overlap);
  json_end(&out);
}

static int write_all(const Job* job) {
  const Options* o = job->o;
  Buffer text = {0};
  if (!out_folder(o->out)) {
    return tool_fail(o->verb, o->out, NULL, "cannot be made: %s", strerror(errno));
  }
  int status = 0;
  for (int i = 0; i < job->pieces.n && !status; i++) status = write_hull(job, i);
  if (!status) status = write_fragment(job);
  if (!status) {
    write_json(&text, job);
    buf_add(&text, "\n");
    status = write_file(job, "decompose.json", &text);
  }
  return status ? status : out_commit(o->verb);
}

static void print_text(const Job* job) {
  int least = 0, most = 0;
  const djPieces* p = &job->pieces;
  for (int i = 1; i < p->n; i++) {
    if (p->hull[i].nvert < p->hull[least].nvert) least = i;
    if (p->hull[i].nvert > p->hull[most].nvert) most = i;
  }
  int fewest = p->hull[least].nvert;
  printf("%s: %d hull%s of %d", job->o->argument[0], p->n, p->n == 1 ? "" : "s", fewest);
  if (p->hull[most].nvert > fewest) printf(" to %d", p->hull[most].nvert);
  printf(" vertices, by %s", job->method->name);
  if (job->method->grid) {
    printf(" (grid %d,%d,%d)", job->grid[0], job->grid[1], job->grid[2]);
  }
  if (job->o->hulls >= 0 && p->n > job->o->hulls) {
    printf("\n  more than --hulls %ld", job->o->hulls);
  }
  if (isnan(job->volume)) {
    printf("\n  volume not known: the hull of a concave shell overlaps others");
  } else {
    printf("\n  volume %.6g m^3, of the union %.6g times that", job->volume,
           job->report.volume_ratio);
  }
  printf("; overlap %.3g\n", job->report.overlap);
  printf("  surfaces up to %.3g m apart (+- %.2g)\n  %s: written\n", job->report.hausdorff,
         job->report.hausdorff_error, job->o->out);
}

int verb_decompose(const Options* o) {
  Job job = {.o = o};
  djError err = {""};
  int status = choose(&job);
  if (status) return status;
  if (dj_readTriangles(&job.solid, o->argument[0], &err) < 0) {
    status = tool_fail(o->verb, NULL, NULL, "%s", err.text);
  }
  if (!status) status = split(&job);
  if (!status) {
    choose_name(&job);
    status = write_all(&job);
  }
  if (!status && o->json) {
    Buffer text = {0};
    write_json(&text, &job);
    opt_print(&text);
  } else if (!status) {
    print_text(&job);
  }
  if (!status && o->hulls >= 0 && job.pieces.n > o->hulls) status = EXIT_NOT_HELD;
  dj_freePieces(&job.pieces);
  dj_freeTriangles(&job.solid);
  return status;
}
