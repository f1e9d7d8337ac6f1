// Meshes in OBJ and STL files.

#include "base/status.h"
#include "io/read_file.h"
#include "io/text.h"

#include <dijoco/decompose.h>

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = INT_MAX / 64 }; // vertices or triangles

// Numbers as they come: corners of triangles are points of their own until equal ones are found.
typedef struct List {
  int n, room;
  double* x; // (n x 3)
} List;

typedef struct Corners {
  int n, room;
  int* point; // (n) a triangle has three
} Corners;

// What is read, and where the reader stands.
typedef struct Reader {
  List point;
  Corners corner;
  const char *at, *end;
  long line;
  djError* err;
} Reader;

static djStatus fail(Reader* r, const char* what, const char* p, size_t n) {
  if (!p) return dj_fail(r->err, DJ_INVALID, "line %ld: %s", r->line, what);
  return dj_fail(r->err, DJ_INVALID, "line %ld: %s '%.*s'", r->line, what, n < 40 ? (int)n : 40, p);
}

static djStatus addPoint(Reader* r, const double x[3]) {
  List* list = &r->point;
  if (list->n >= MOST) return dj_fail(r->err, DJ_INVALID, "the mesh has too many vertices");
  if (list->n == list->room) {
    int room = 2 * list->room + 64;
    double* grown = realloc(list->x, 3 * (size_t)room * sizeof *grown);
    if (!grown) return dj_failMemory(r->err);
    list->x = grown;
    list->room = room;
  }
  for (int k = 0; k < 3; k++) list->x[3 * (size_t)list->n + (size_t)k] = x[k] + 0.0; // no -0
  list->n++;
  return DJ_OK;
}

static djStatus addTriangle(Reader* r, int a, int b, int c) {
  Corners* list = &r->corner;
  if (list->n >= 3 * MOST) return dj_fail(r->err, DJ_INVALID, "the mesh has too many triangles");
  if (list->n + 3 > list->room) {
    int room = 2 * list->room + 192;
    int* grown = realloc(list->point, (size_t)room * sizeof *grown);
    if (!grown) return dj_failMemory(r->err);
    list->point = grown;
    list->room = room;
  }
  list->point[list->n++] = a;
  list->point[list->n++] = b;
  list->point[list->n++] = c;
  return DJ_OK;
}

// ---- words of text ----------------------------------------------------------------------------

static bool isSpace(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

// The next word of the line; of no length at its end.
static size_t nextWord(Reader* r, const char** word) {
  for (;;) {
    while (r->at < r->end && isSpace(*r->at)) r->at++;
    bool joined = r->end - r->at > 1 && r->at[0] == '\\' && (r->at[1] == '\n' || r->at[1] == '\r');
    if (!joined) break;
    while (*r->at != '\n' && r->at < r->end - 1) r->at++;
    r->at++;
    r->line++;
  }
  *word = r->at;
  while (r->at < r->end && !isSpace(*r->at) && *r->at != '\n') r->at++;
  return (size_t)(r->at - *word);
}

static void skipLine(Reader* r) {
  while (r->at < r->end && *r->at != '\n') r->at++;
  if (r->at < r->end) r->at++;
  r->line++;
}

static bool isWord(const char* word, size_t n, const char* name) {
  return strlen(name) == n && memcmp(word, name, n) == 0;
}

static char lowerOf(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

// The same of words that may be in capitals; name: in small letters.
static bool isAnyCase(const char* word, size_t n, const char* name) {
  bool same = strlen(name) == n;
  for (size_t i = 0; i < n && same; i++) same = lowerOf(word[i]) == name[i];
  return same;
}

static djStatus readPoint(Reader* r) {
  double x[3];
  for (int k = 0; k < 3; k++) {
    const char *word, *stop;
    size_t n = nextWord(r, &word);
    if (n == 0) return fail(r, "three coordinates expected", NULL, 0);
    x[k] = dj_scanNumber(word, &stop);
    if (stop != word + n || !isfinite(x[k])) return fail(r, "not a finite number:", word, n);
  }
  return addPoint(r, x);
}

// ---- OBJ --------------------------------------------------------------------------------------

// A corner of a face, "7", "7/1", "7//3", "-1": the number of its vertex.
static djStatus readCorner(int* point, Reader* r, const char* word, size_t n) {
  long number = 0;
  size_t i = word[0] == '-';
  for (; i < n && word[i] >= '0' && word[i] <= '9'; i++) {
    if (number <= INT_MAX) number = 10 * number + (word[i] - '0');
  }
  bool good = i > (size_t)(word[0] == '-') && (i == n || word[i] == '/');
  for (size_t k = i; k < n && good; k++) good = strchr("/-0123456789", word[k]) && word[k];
  if (!good) return fail(r, "not the number of a vertex:", word, n);
  long index = word[0] == '-' ? r->point.n - number : number - 1;
  if (index < 0 || index >= r->point.n) return fail(r, "there is no vertex", word, n);
  *point = (int)index;
  return DJ_OK;
}

static djStatus readFace(Reader* r) {
  int first = -1, last = -1, count = 0;
  for (;; count++) {
    const char* word;
    int point;
    size_t n = nextWord(r, &word);
    if (n == 0 || *word == '#') break;
    djStatus status = readCorner(&point, r, word, n);
    if (status == DJ_OK && count >= 2) status = addTriangle(r, first, last, point);
    if (status < 0) return status;
    if (count == 0) first = point;
    last = point;
  }
  return count >= 3 ? DJ_OK : fail(r, "a face needs three vertices", NULL, 0);
}

static djStatus parseObj(Reader* r) {
  static const char* const other[] = {"vt",       "vn",       "vp",         "g",         "o",
                                      "s",        "l",        "p",          "mg",        "usemtl",
                                      "mtllib",   "usemap",   "maplib",     "lod",       "bevel",
                                      "c_interp", "d_interp", "shadow_obj", "trace_obj", NULL};
  djStatus status = DJ_OK;
  for (; r->at < r->end && status == DJ_OK; skipLine(r)) {
    const char* word;
    size_t n = nextWord(r, &word);
    int k = 0;
    if (n == 0 || *word == '#') continue;
    if (isWord(word, n, "v")) {
      status = readPoint(r);
    } else if (isWord(word, n, "f")) {
      status = readFace(r);
    } else {
      while (other[k] && !isWord(word, n, other[k])) k++;
      if (!other[k]) status = fail(r, "not known in an OBJ file:", word, n);
    }
    if (status < 0) break;
  }
  return status;
}

// ---- STL --------------------------------------------------------------------------------------

static djStatus addLastTriangle(Reader* r) {
  return addTriangle(r, r->point.n - 3, r->point.n - 2, r->point.n - 1);
}

// One line of a text file; *corner: how many of a triangle there are.
static djStatus parseStlLine(Reader* r, const char* word, size_t n, int* corner) {
  static const char* const ends[] = {"facet", "endfacet", "outer", "endloop", NULL};
  int k = 0;
  if (isAnyCase(word, n, "vertex")) {
    if (*corner == 3) return fail(r, "a facet has three vertices", NULL, 0);
    djStatus status = readPoint(r);
    if (status == DJ_OK && ++*corner == 3) status = addLastTriangle(r);
    return status;
  }
  if (isAnyCase(word, n, "solid") || isAnyCase(word, n, "endsolid")) return DJ_OK;
  while (ends[k] && !isAnyCase(word, n, ends[k])) k++;
  if (!ends[k]) return fail(r, "not known in an STL file:", word, n);
  if (*corner != 0 && *corner != 3) return fail(r, "a facet has three vertices", NULL, 0);
  *corner = 0;
  return DJ_OK;
}

static djStatus parseStlText(Reader* r) {
  int corner = 0;
  for (; r->at < r->end; skipLine(r)) {
    const char* word;
    size_t n = nextWord(r, &word);
    if (n == 0) continue;
    djStatus status = parseStlLine(r, word, n, &corner);
    if (status < 0) return status;
  }
  if (corner != 0 && corner != 3) return fail(r, "the file ends within a facet", NULL, 0);
  return DJ_OK;
}

static uint32_t littleWord(const unsigned char* p) {
  return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static djStatus parseStlBinary(Reader* r, const unsigned char* bytes, uint32_t ntri) {
  for (uint32_t t = 0; t < ntri; t++) {
    const unsigned char* p = bytes + 84 + 50 * (size_t)t + 12; // after the normal
    for (int i = 0; i < 3; i++) {
      double x[3];
      for (int k = 0; k < 3; k++, p += 4) {
        float f;
        uint32_t word = littleWord(p);
        memcpy(&f, &word, sizeof f);
        x[k] = (double)f;
        if (!isfinite(x[k])) {
          return dj_fail(r->err, DJ_INVALID, "triangle %lu is not finite", (unsigned long)t);
        }
      }
      djStatus status = addPoint(r, x);
      if (status < 0) return status;
    }
    djStatus status = addLastTriangle(r);
    if (status < 0) return status;
  }
  return DJ_OK;
}

// Binary files are known by their length: their headers may say "solid", too.
static djStatus parseStl(Reader* r, const void* bytes, size_t n) {
  const unsigned char* p = bytes;
  const char* word;
  if (n >= 84 && (n - 84) / 50 == littleWord(p + 80) && (n - 84) % 50 == 0) {
    return parseStlBinary(r, p, littleWord(p + 80));
  }
  while (r->at < r->end && *r->at == '\n') skipLine(r);
  size_t length = nextWord(r, &word);
  if (!isAnyCase(word, length, "solid")) {
    return dj_fail(r->err, DJ_INVALID,
                   "neither a text nor a binary STL file: no 'solid' at its start, and not as long "
                   "as its number of triangles wants");
  }
  skipLine(r);
  return parseStlText(r);
}

// ---- the mesh ---------------------------------------------------------------------------------

typedef struct Place {
  double x[3];
  int point;
} Place;

static int comparePlaces(const void* a, const void* b) {
  const Place *p = a, *q = b;
  for (int k = 0; k < 3; k++) {
    if (p->x[k] != q->x[k]) return p->x[k] < q->x[k] ? -1 : 1;
  }
  return (p->point > q->point) - (p->point < q->point);
}

// first[i]: the first point that is where point i is.
static djStatus findEqual(int* first, const List* list) {
  Place* place = malloc(((size_t)list->n + 1) * sizeof *place);
  if (!place) return DJ_NO_MEMORY;
  for (int i = 0; i < list->n; i++) {
    memcpy(place[i].x, list->x + 3 * (size_t)i, sizeof place[i].x);
    place[i].point = i;
  }
  if (list->n > 0) qsort(place, (size_t)list->n, sizeof *place, comparePlaces);
  for (int i = 0; i < list->n; i++) {
    bool same = i > 0 && memcmp(place[i].x, place[i - 1].x, sizeof place[i].x) == 0;
    first[place[i].point] = same ? first[place[i - 1].point] : place[i].point;
  }
  free(place);
  return DJ_OK;
}

// From what was read; number: (points) memory.
static void fillMesh(djTriangles* mesh, const Reader* r, int* number) {
  const int* point = r->corner.point;
  for (int t = 0; t < r->corner.n / 3; t++) {
    int v[3];
    for (int k = 0; k < 3; k++) v[k] = number[point[3 * (size_t)t + (size_t)k]];
    if (v[0] == v[1] || v[1] == v[2] || v[2] == v[0]) continue;
    memcpy(mesh->tri + 3 * (size_t)mesh->ntri++, v, sizeof v);
  }
  for (int i = 0; i < r->point.n; i++) number[i] = -1;
  for (int k = 0; k < 3 * mesh->ntri; k++) number[mesh->tri[k]] = 0;
  for (int i = 0; i < r->point.n; i++) {
    if (number[i] < 0) continue;
    number[i] = mesh->nvert;
    memcpy(mesh->vert + 3 * (size_t)mesh->nvert++, r->point.x + 3 * (size_t)i, 3 * sizeof(double));
  }
  for (int k = 0; k < 3 * mesh->ntri; k++) mesh->tri[k] = number[mesh->tri[k]];
}

static djStatus makeMesh(djTriangles* mesh, Reader* r) {
  if (r->corner.n == 0) return dj_fail(r->err, DJ_INVALID, "the mesh has no triangles");
  int* number = malloc((size_t)r->point.n * sizeof *number);
  mesh->vert = malloc(3 * (size_t)r->point.n * sizeof *mesh->vert);
  mesh->tri = malloc((size_t)r->corner.n * sizeof *mesh->tri);
  djStatus status = number && mesh->vert && mesh->tri ? findEqual(number, &r->point) : DJ_NO_MEMORY;
  if (status == DJ_OK) fillMesh(mesh, r, number);
  free(number);
  if (status < 0) return dj_failMemory(r->err);
  return mesh->ntri ? DJ_OK : dj_fail(r->err, DJ_INVALID, "the mesh has no triangles");
}

djStatus dj_parseTriangles(djTriangles* mesh, const char* format, const void* bytes, size_t n,
                           djError* err) {
  if (!mesh) return dj_fail(err, DJ_INVALID, "mesh: NULL");
  *mesh = (djTriangles){0};
  if (!format || (!bytes && n > 0)) return dj_fail(err, DJ_INVALID, "format or bytes: NULL");
  bool obj = strcmp(format, "obj") == 0, stl = strcmp(format, "stl") == 0;
  if (!obj && !stl) {
    return dj_fail(err, DJ_INVALID, "'%.40s' is not a format of meshes (obj, stl)", format);
  }
  char* text = malloc(n + 1); // numbers end where it does
  if (!text) return dj_failMemory(err);
  if (n > 0) memcpy(text, bytes, n);
  text[n] = 0;
  Reader r = {.at = text, .end = text + n, .line = 1, .err = err};
  djStatus status = obj ? parseObj(&r) : parseStl(&r, text, n);
  if (status == DJ_OK) status = makeMesh(mesh, &r);
  if (status < 0) dj_freeTriangles(mesh);
  free(r.point.x);
  free(r.corner.point);
  free(text);
  return status;
}

djStatus dj_readTriangles(djTriangles* mesh, const char* path, djError* err) {
  if (!mesh) return dj_fail(err, DJ_INVALID, "mesh: NULL");
  *mesh = (djTriangles){0};
  if (!path) return dj_fail(err, DJ_INVALID, "path: NULL");
  char format[8] = "", *text;
  const char *name = strrchr(path, '/'), *dot = strrchr(name ? name : path, '.');
  size_t length;
  for (size_t i = 0; dot && dot[1 + i] && i + 1 < sizeof format; i++) {
    format[i] = lowerOf(dot[1 + i]);
    format[i + 1] = 0;
  }
  if (strcmp(format, "obj") != 0 && strcmp(format, "stl") != 0) {
    return dj_fail(err, DJ_INVALID, "%s: not a mesh that can be read (.obj, .stl)", path);
  }
  djStatus status = dj_readBytes(&text, &length, path, err);
  if (status == DJ_OK) {
    status = dj_parseTriangles(mesh, format, text, length, err);
    free(text);
  }
  return status < 0 ? dj_prefix(err, status, path) : status;
}
