// Shells of meshes whose solids are apart, touch, or overlap, as hulls, turned at random.

#include "common/message.h"
#include "common/near.h"
#include "common/random.h"
#include "common/solid_mesh.h"
#include "common/test.h"
#include "shape/shells.h"

#include <dijoco/decompose.h>

enum { MOST_PARTS = 30 };

typedef struct Parts {
  int n;
  SolidMesh mesh[MOST_PARTS];
} Parts;

static void addPart(Parts* p, SolidMesh m, const double at[3]) {
  for (int k = 0; k < 3 * m.nvert; k++) m.vert[k] += at[k % 3];
  assert_true(p->n < MOST_PARTS);
  p->mesh[p->n++] = m;
}

// A box between two corners.
static void addBox(Parts* p, const double low[3], const double high[3]) {
  double at[3], half[3];
  for (int k = 0; k < 3; k++) {
    at[k] = 0.5 * (low[k] + high[k]);
    half[k] = 0.5 * (high[k] - low[k]);
  }
  addPart(p, makeBoxSolid(half[0], half[1], half[2]), at);
}

static void freeParts(Parts* p) {
  for (int i = 0; i < p->n; i++) freeSolid(&p->mesh[i]);
  *p = (Parts){0};
}

// The parts as a file has them, equal points become one vertex.
static djTriangles joinParts(const Parts* p) {
  char* text;
  size_t size;
  djTriangles mesh;
  djError err = {""};
  int before = 1;
  FILE* file = open_memstream(&text, &size);
  for (int i = 0; i < p->n; i++) {
    const SolidMesh* m = &p->mesh[i];
    for (int v = 0; v < m->nvert; v++) {
      const double* x = m->vert + 3 * v;
      fprintf(file, "v %.17g %.17g %.17g\n", x[0], x[1], x[2]);
    }
    for (int t = 0; t < m->ntri; t++) {
      const int* v = m->tri + 3 * t;
      fprintf(file, "f %d %d %d\n", v[0] + before, v[1] + before, v[2] + before);
    }
    before += m->nvert;
  }
  fclose(file);
  if (dj_parseTriangles(&mesh, "obj", text, size, &err) != DJ_OK) fail_msg("%s", err.text);
  free(text);
  return mesh;
}

static void swapTriangles(djTriangles* mesh, int a, int b) {
  for (int k = 0; k < 3; k++) {
    int keep = mesh->tri[3 * a + k];
    mesh->tri[3 * a + k] = mesh->tri[3 * b + k];
    mesh->tri[3 * b + k] = keep;
  }
}

// Turned, at random or by next to nothing, moved, with triangles in another order; from[t]: which
// it was.
static void disturb(djTriangles* mesh, int* from, bool next, djRng* rng) {
  double quat[4], at[3];
  djt_unitQuat(quat, rng);
  for (int k = 1; k < 4 && next; k++) quat[k] *= 1e-13 / quat[0];
  if (next) quat[0] = 1;
  djt_uniforms(at, 3, rng, -3, 3);
  djMat3 R = dju_quatToMat((djQuat){quat[0], quat[1], quat[2], quat[3]});
  djVec3 p = dju_load3(at);
  for (int v = 0; v < mesh->nvert; v++) {
    dju_store3(mesh->vert + 3 * v, dju_add3(p, dju_mulMV(R, dju_load3(mesh->vert + 3 * v))));
  }
  for (int t = 0; t < mesh->ntri; t++) from[t] = t;
  for (int t = mesh->ntri - 1; t > 0; t--) {
    int other = djt_integer(rng, t + 1), keep = from[t];
    swapTriangles(mesh, t, other);
    from[t] = from[other];
    from[other] = keep;
  }
}

// ---- what is of which part ---------------------------------------------------------------------

typedef void Maker(Parts* p);

#define BOX(a, b, c, d, e, f) addBox(p, (const double[3]){a, b, c}, (const double[3]){d, e, f})

static void apart(Parts* p) {
  BOX(0, 0, 0, 1, 1, 1);
  BOX(1.5, 0, 0, 2, 1, 1);
}

static void shareFace(Parts* p) {
  BOX(0, 0, 0, 1, 1, 1);
  BOX(1, 0, 0, 3, 1, 1);
}

// The diagonals of the common face are others.
static void shareCrossedFace(Parts* p) {
  shareFace(p);
  SolidMesh* m = &p->mesh[1];
  for (int v = 0; v < m->nvert; v++) m->vert[3 * v + 1] = 1 - m->vert[3 * v + 1];
  turnInsideOut(m, 0);
}

// An edge, and beside it faces in one plane.
static void shareFlush(Parts* p) {
  BOX(0, 0, 0, 1, 1, 1);
  BOX(1, 0, 0, 2, 1, 2);
  BOX(-1, 0, 1, 1, 1, 2);
}

static void shareEdge(Parts* p) {
  BOX(0, 0, 0, 1, 1, 1);
  BOX(1, 1, 0, 2, 2, 1);
}

static void shareVertex(Parts* p) {
  BOX(0, 0, 0, 1, 1, 1);
  BOX(1, 1, 1, 2, 2, 2);
}

static void cross(Parts* p) {
  BOX(0, 0, 0, 1, 1, 1);
  BOX(.5, .25, .25, 2, 1.5, .75);
}

// With an edge in common.
static void crossAtEdge(Parts* p) {
  BOX(0, 0, 0, 1, 1, 1);
  BOX(0, 0, 0, 2, .5, 1);
}

static void within(Parts* p) {
  BOX(0, 0, 0, 1, 1, 1);
  BOX(.25, .25, .25, .5, .5, .75);
}

// A prism inside of a box, whose edge it shares: it begins later and ends sooner.
static void withinAtEdge(Parts* p) {
  static const double xy[3][2] = {{0, 0}, {.9, .3}, {.3, .9}};
  static const int flat[1][3] = {{0, 1, 2}};
  BOX(0, 0, 0, 1, 1, 1);
  addPart(p, makePrism(3, xy, 1, flat, 0.5), (const double[3]){0, 0, .5});
}

static void same(Parts* p) {
  BOX(0, 0, 0, 1, 1, 1);
  BOX(0, 0, 0, 1, 1, 1);
}

// No box has an edge of its own alone, but for those outside.
static void lattice(Parts* p) {
  for (int i = 0; i < 27; i++) {
    const int x = i % 3, y = i / 3 % 3, z = i / 9;
    BOX(x, y, z, x + 1, y + 1, z + 1);
  }
}

// About the z axis, between angles from the y axis, in half turns.
static void addWedge(Parts* p, double from, double to) {
  static const int flat[1][3] = {{0, 1, 2}};
  double xy[3][2] = {{0, 0}}, angle[2] = {from, to};
  for (int k = 0; k < 2; k++) {
    xy[1 + k][0] = -sin(3.14159265358979323846 * angle[k]);
    xy[1 + k][1] = cos(3.14159265358979323846 * angle[k]);
  }
  addPart(p, makePrism(3, xy, 1, flat, 0.5), (const double[3]){0, 0, 0});
}

// With and without gaps.
static void fan(Parts* p) {
  static const double at[6][2] = {{0, .3}, {.3, .4}, {.4, .7}, {.8, 1}, {1, 1.5}, {1.7, 1.8}};
  for (int i = 0; i < 6; i++) addWedge(p, at[i][0], at[i][1]);
}

// All twice, so that no edge is simple; they overlap, but for a touch at the angle where the range
// of atan2 ends, up to rounding.
static void doubleFan(Parts* p) {
  static const double at[3][2] = {{1 - 1e-12, 1.66}, {1.6, 2.4}, {2.3, 3 + 1e-12}};
  for (int i = 0; i < 6; i++) addWedge(p, at[i / 2][0], at[i / 2][1]);
}

static void concave(Parts* p) {
  addPart(p, makeL(), (const double[3]){0, 0, 0});
  BOX(.4, .4, -.25, 1, 1, .25); // fits in
  addPart(p, makeTorus(1, .3, 12, 8), (const double[3]){0, 0, 2});
}

// ordered: equal triangles go by their order.
static const struct {
  const char* name;
  Maker* make;
  bool ordered;
} makers[] = {{"apart", apart, false},
              {"face", shareFace, false},
              {"crossed face", shareCrossedFace, false},
              {"flush", shareFlush, false},
              {"edge", shareEdge, false},
              {"vertex", shareVertex, false},
              {"cross", cross, false},
              {"cross at edge", crossAtEdge, false},
              {"within", within, false},
              {"within at edge", withinAtEdge, false},
              {"same", same, true},
              {"lattice", lattice, false},
              {"fan", fan, false},
              {"double fan", doubleFan, true},
              {"concave", concave, false}};

static double hullVolume(const SolidMesh* m) {
  djPieces one = {0};
  assert_int_equal(dj_addPiece(&one, m->nvert, m->vert, NULL, 1000, NULL), DJ_OK);
  double volume = one.volume[0];
  dj_freePieces(&one);
  return volume;
}

static int partOf(const Parts* p, int triangle) {
  int i = 0;
  while (triangle >= p->mesh[i].ntri) triangle -= p->mesh[i++].ntri;
  return i;
}

// Every shell has the triangles of one part, and its hull; in the order of first triangles.
static void checkParts(const char* name, const Parts* p, const djTriangles* mesh, const int* from) {
  djShells shells;
  djPieces pieces;
  djError err = {""};
  assert_int_equal(dj_findShells(&shells, mesh), DJ_OK);
  if (shells.n != p->n) fail_msg("%s: %d shells, not %d", name, shells.n, p->n);
  if (dj_cutShells(&pieces, mesh, 1000, &err) != DJ_OK) fail_msg("%s: %s", name, err.text);
  assert_int_equal(pieces.n, p->n);
  for (int k = 0, last = -1; k < shells.n; k++) {
    const int* tri = shells.tri + shells.start[k];
    int n = shells.start[k + 1] - shells.start[k], part = partOf(p, from[tri[0]]);
    assert_true(tri[0] > last);
    last = tri[0];
    assert_int_equal(n, p->mesh[part].ntri);
    for (int i = 0; i < n; i++) {
      if (partOf(p, from[tri[i]]) != part) fail_msg("%s: shell %d is of two parts", name, k);
      assert_true(i == 0 || tri[i] > tri[i - 1]);
    }
    djt_near(pieces.volume[k], hullVolume(&p->mesh[part]), 1e-9);
  }
  dj_freePieces(&pieces);
  dj_freeShells(&shells);
}

static void testParts(void) {
  djRng rng = {17};
  for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
    Parts p = {0};
    makers[i].make(&p);
    for (int trial = 0; trial < (makers[i].ordered ? 1 : 20); trial++) {
      djTriangles mesh = joinParts(&p);
      int* from = malloc((size_t)mesh.ntri * sizeof *from);
      if (trial > 0) {
        disturb(&mesh, from, trial % 2 == 0, &rng);
      } else {
        for (int t = 0; t < mesh.ntri; t++) from[t] = t;
      }
      checkParts(makers[i].name, &p, &mesh, from);
      free(from);
      dj_freeTriangles(&mesh);
    }
    freeParts(&p);
  }
}

// ---- cavities, and what is no shell of a solid -------------------------------------------------

static void expectBad(const Parts* p, int drop, const char* const* words) {
  djTriangles mesh = joinParts(p);
  djPieces pieces;
  djError err = {""};
  mesh.ntri -= drop;
  assert_int_equal(dj_cutShells(&pieces, &mesh, 64, &err), DJ_INVALID);
  for (; *words; words++) {
    if (!strstr(err.text, *words)) fail_msg("no '%s' in '%s'", *words, err.text);
  }
  assert_int_equal(pieces.n, 0);
  dj_freeTriangles(&mesh);
}

#define WORDS(...) ((const char* const[]){__VA_ARGS__, NULL})

// A cavity has no hull; what is in it has.
static void testCavity(void) {
  Parts parts = {0}, *p = &parts;
  djPieces pieces;
  djError err = {""};
  BOX(.2, .2, .2, .8, .8, .8);
  turnInsideOut(&p->mesh[0], 0);
  BOX(0, 0, 0, 1, 1, 1);
  BOX(.4, .4, .4, .6, .6, .6);
  djTriangles mesh = joinParts(p);
  if (dj_cutShells(&pieces, &mesh, 64, &err) != DJ_OK) fail_msg("%s", err.text);
  assert_int_equal(pieces.n, 2);
  djt_near(pieces.volume[0], 1, 1e-12);
  djt_near(pieces.volume[1], 0.008, 1e-12);
  djPieceReport r;
  double volume;
  assert_int_equal(dj_compareShells(&r, &volume, &pieces, &mesh, &err), DJ_OK);
  djt_near(volume, 0.792, 1e-12);
  djt_near(r.volume_ratio, 1 / 0.792, 1e-7);
  dj_freePieces(&pieces);
  dj_freeTriangles(&mesh);
  // Beside a solid that crosses others there is none.
  BOX(.9, .2, .2, 2, .8, .8);
  expectBad(p, 0, WORDS("shell 0 (triangle 0 first)", "inward", "intersects itself"));
  freeParts(p);
  BOX(0, 0, 0, 1, 1, 1);
  BOX(2, 0, 0, 2.5, 1, 1);
  turnInsideOut(&p->mesh[1], 0);
  expectBad(p, 0,
            WORDS("shell 1 (triangle 12 first)", "inward", "triangle 12 faces the wrong way"));
  freeParts(p);
}

static void testBad(void) {
  Parts parts = {0}, *p = &parts;
  BOX(0, 0, 0, 1, 1, 1);
  BOX(2, 0, 0, 3, 1, 1);
  // Numbers are those of the mesh.
  expectBad(
      p, 1,
      WORDS("shell 1 (triangle 12 first)", "open", "vertices 11 and 12", "triangle 22 alone"));
  int* tri = p->mesh[1].tri + 3 * 5;
  int keep = tri[0];
  tri[0] = tri[1];
  tri[1] = keep;
  expectBad(p, 0, WORDS("shell 1 (triangle 12 first)", "opposite windings"));
  freeParts(p);
  // A face that two boxes share and only one of them has.
  BOX(0, 0, 0, 1, 1, 1);
  BOX(0, 0, 1, 1, 1, 2);
  SolidMesh* m = &p->mesh[1];
  m->ntri -= 4;
  expectBad(p, 0, WORDS("open"));
  m->ntri += 4;
  freeParts(p);
  // A torus through itself.
  addPart(p, makeTorus(1, .3, 24, 12), (const double[3]){0, 0, 0});
  BOX(4, 4, 4, 5, 5, 5);
  p->mesh[0].vert[0] = -1;
  expectBad(p, 0, WORDS("shell 0 (triangle 0 first)", "intersects itself"));
  freeParts(p);
  djPieces pieces;
  const djTriangles none = {0};
  assert_int_equal(dj_cutShells(&pieces, &none, 64, NULL), DJ_INVALID);
  assert_int_equal(dj_cutShells(&pieces, NULL, 64, NULL), DJ_INVALID);
  assert_int_equal(dj_cutShells(NULL, &none, 64, NULL), DJ_INVALID);
  BOX(0, 0, 0, 1, 1, 1);
  djTriangles mesh = joinParts(p);
  assert_int_equal(dj_cutShells(&pieces, &mesh, 3, NULL), DJ_INVALID);
  mesh.tri[4] = 8;
  assert_int_equal(dj_cutShells(&pieces, &mesh, 64, NULL), DJ_INVALID);
  dj_freeTriangles(&mesh);
  freeParts(p);
}

// ---- how well hulls stand for them --------------------------------------------------------------

// Fits into the hull of the L.
static void fillL(Parts* p) {
  addPart(p, makeL(), (const double[3]){0, 0, 0});
  BOX(.4, .4, -.25, 1, 1, .25);
}

// An L by itself, beside boxes that cross.
static void besideL(Parts* p) {
  addPart(p, makeL(), (const double[3]){-2, 0, 0});
  cross(p);
}

static void insideL(Parts* p) {
  addPart(p, makeL(), (const double[3]){0, 0, 0});
  BOX(.1, .1, -.1, .3, .3, .1);
}

// Apart by no more than rounding: the mesh bounds a solid as it is.
static void nearFace(Parts* p) {
  BOX(0, .5, -1, 1, 1, -1e-11);
  BOX(0, 0, 0, 1, 2, 1);
}

static void testCompare(void) {
  static const struct {
    const char* name;
    Maker* make;
    int hulls; // at most
    double volume, ratio, overlap, hausdorff;
  } rows[] = {
      {"apart", apart, 9, 1.5, 1, 0, 0},
      {"face", shareFace, 9, 3, 1, 0, 0},
      {"face, joined", shareFace, 1, 3, 1, 0, 0},
      {"crossed face", shareCrossedFace, 9, 3, 1, 0, 0},
      {"flush", shareFlush, 9, 5, 1, 0, 0},
      // From the middle of the plane between the ends of the L that they make, to both.
      {"flush, joined", shareFlush, 1, 5, 5.5 / 5, 0, .5},
      {"edge", shareEdge, 9, 2, 1, 0, 0},
      {"vertex", shareVertex, 9, 2, 1, 0, 0},
      {"cross", cross, 9, 1.75, 1, .1875 / 1.9375, 0},
      {"cross at edge", crossAtEdge, 9, 1.5, 1, .25, 0},
      {"within", within, 9, 1, 1, .03125 / 1.03125, 0},
      {"same", same, 9, 1, 1, .5, 0},
      {"near face", nearFace, 9, 2.5, 1, 0, 0},
      {"lattice", lattice, 99, 27, 1, 0, 0},
      {"beside an L", besideL, 9, 2.07, 2.16 / 2.07, .1875 / 2.3475, .3},
      {"in an L", fillL, 9, NAN, NAN, .09 / .59, 0},
      {"inside an L", insideL, 9, NAN, NAN, .008 / .418, .3},
  };
  djRng rng = {5};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    Parts p = {0};
    rows[i].make(&p);
    for (int trial = 0; trial < 2; trial++) {
      djTriangles mesh = joinParts(&p);
      int* from = malloc((size_t)mesh.ntri * sizeof *from);
      if (trial > 0 && rows[i].make != same) disturb(&mesh, from, false, &rng);
      djPieces pieces;
      djPieceReport r;
      djError err = {""};
      double volume;
      if (dj_cutShells(&pieces, &mesh, 64, &err) != DJ_OK) fail_msg("%s", err.text);
      if (dj_mergePieces(&pieces, rows[i].hulls, 64, &err) != DJ_OK) fail_msg("%s", err.text);
      if (dj_compareShells(&r, &volume, &pieces, &mesh, &err) != DJ_OK) fail_msg("%s", err.text);
      print_message("%s: volume %.9g, ratio %.9g, overlap %.9g, %.3g +- %.2g apart\n", rows[i].name,
                    volume, r.volume_ratio, r.overlap, r.hausdorff, r.hausdorff_error);
      assert_int_equal(isnan(volume), isnan(rows[i].volume));
      assert_int_equal(isnan(r.volume_ratio), isnan(rows[i].volume));
      if (!isnan(volume)) {
        djt_near(volume, rows[i].volume, 1e-7);
        djt_near(r.volume_ratio, rows[i].ratio, 1e-7);
      }
      djt_near(r.overlap, rows[i].overlap, 1e-7);
      double missing = rows[i].hausdorff - r.hausdorff;
      assert_true(missing >= -1e-5 && missing <= r.hausdorff_error);
      dj_freePieces(&pieces);
      dj_freeTriangles(&mesh);
      free(from);
    }
    freeParts(&p);
  }
}

// What hulls lack of the union, and what they have beyond it.
static void testWrongHulls(void) {
  Parts p = {0};
  djPieces pieces;
  djPieceReport r;
  double volume;
  cross(&p);
  djTriangles mesh = joinParts(&p);
  assert_int_equal(dj_cutShells(&pieces, &mesh, 64, NULL), DJ_OK);
  pieces.n = 1;
  assert_int_equal(dj_compareShells(&r, &volume, &pieces, &mesh, NULL), DJ_OK);
  djt_near(r.volume_ratio, 1 / 1.75, 1e-7);
  djt_near(r.hausdorff, sqrt(1.25), 1e-5);
  pieces.n = 2;
  for (int v = 0; v < 8; v++) {
    double* x = pieces.hull[1].vert + 3 * v;
    if (x[1] > 1) x[1] = 1.75;
  }
  assert_int_equal(dj_compareShells(&r, &volume, &pieces, &mesh, NULL), DJ_OK);
  djt_near(r.volume_ratio, (1.75 + .25 * .5 * 1.5) / 1.75, 1e-7);
  djt_near(r.hausdorff, .25, 1e-5);
  mesh.ntri--;
  djError err = {""};
  djt_refusedWith(DJ_INVALID, dj_compareShells(&r, &volume, &pieces, &mesh, &err), err,
                  "shell 1 (triangle 12 first): the mesh is open");
  assert_int_equal(dj_compareShells(&r, NULL, &pieces, &mesh, &err), DJ_INVALID);
  assert_int_equal(dj_compareShells(NULL, &volume, &pieces, &mesh, &err), DJ_INVALID);
  dj_freePieces(&pieces);
  dj_freeTriangles(&mesh);
  freeParts(&p);
}

DJT_MAIN(testParts, testCavity, testBad, testCompare, testWrongHulls)
