// Meshes in OBJ and STL files, and what is wrong with them.

#include "common/message.h"
#include "common/near.h"
#include "common/solid_mesh.h"
#include "common/test.h"

#include <dijoco/decompose.h>

#include <ctype.h>

#define TETRAHEDRON "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"

static void parse(djTriangles* mesh, const char* format, const char* text) {
  djError err = {""};
  djStatus status = dj_parseTriangles(mesh, format, text, strlen(text), &err);
  if (status != DJ_OK) fail_msg("%s", err.text);
}

// Comments, other keywords, numbers of textures, negative ones, polygons, joined lines, -0.
static void testObj(void) {
  djTriangles mesh;
  double volume;
  parse(&mesh, "obj", TETRAHEDRON);
  assert_int_equal(mesh.nvert, 4);
  assert_int_equal(mesh.ntri, 4);
  assert_int_equal(dj_checkSolid(&volume, &mesh, NULL), DJ_OK);
  djt_near(volume, 1.0 / 6, 1e-15);
  dj_freeTriangles(&mesh);
  parse(&mesh, "obj",
        "# a cube\r\no cube\nmtllib x.mtl\nv -0.0 0 0\nv 2 0 0 1 0.5\nv 2 2 0\nv 0 2 0\n"
        "v 0 0 2\nv 2 0 \\\n 2\nv 2 2 2\nv 0 2 2\nv 0 0 0\nvt 0 0\nvn 0 0 1\ns off\n"
        "f 9/1/1 4 3 2 # with the doubled vertex\nf -5//1 -4//1 -3//1 -2//1\nf 1/1 2/1 6/1 5/1\n"
        "f 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8");
  assert_int_equal(mesh.nvert, 8);
  assert_int_equal(mesh.ntri, 12);
  assert_int_equal(dj_checkSolid(&volume, &mesh, NULL), DJ_OK);
  djt_near(volume, 8, 1e-14);
  dj_freeTriangles(&mesh);
}

static void addFloat(unsigned char** p, double x) {
  float f = (float)x;
  memcpy(*p, &f, 4);
  *p += 4;
}

// The same solid as text, also in capitals, and as bytes whose header says "solid".
static void testStl(void) {
  SolidMesh m = makeBoxSolid(0.5, 0.25, 0.125);
  unsigned char bytes[84 + 12 * 50] = "solid of bytes", *p = bytes + 84;
  char text[12000] = "solid box\n";
  bytes[80] = 12;
  for (int t = 0; t < 12; t++) {
    strcat(text, "facet normal 0 0 0\n outer loop\n");
    for (int k = 0; k < 3; k++) addFloat(&p, 0);
    for (int k = 0; k < 3; k++) {
      const double* v = m.vert + 3 * m.tri[3 * t + k];
      snprintf(text + strlen(text), 100, "  vertex %g %.3e %g\n", v[0], v[1], v[2]);
      for (int i = 0; i < 3; i++) addFloat(&p, v[i]);
    }
    strcat(text, " endloop\nendfacet\n");
    p += 2;
  }
  strcat(text, "endsolid box\n");
  for (int way = 0; way < 3; way++) {
    djTriangles mesh;
    double volume;
    djError err = {""};
    for (char* c = text; way == 2 && *c; c++) *c = (char)toupper((unsigned char)*c);
    djStatus status = way == 1 ? dj_parseTriangles(&mesh, "stl", bytes, sizeof bytes, &err)
                               : dj_parseTriangles(&mesh, "stl", text, strlen(text), &err);
    if (status != DJ_OK) fail_msg("%s", err.text);
    assert_int_equal(mesh.nvert, 8);
    assert_int_equal(mesh.ntri, 12);
    assert_int_equal(dj_checkSolid(&volume, &mesh, NULL), DJ_OK);
    djt_near(volume, 0.125, 1e-14);
    dj_freeTriangles(&mesh);
  }
  freeSolid(&m);
}

static void testBadFiles(void) {
  static const struct {
    const char *format, *text, *what;
  } bad[] = {
      {"ply", "", "'ply' is not a format"},
      {"obj", "", "no triangles"},
      {"obj", "v 0 0 0\n", "no triangles"},
      {"obj", "v 0 0 0\nv 1 0\n", "line 2: three coordinates"},
      {"obj", "v 0 zero 0\n", "line 1: not a finite number: 'zero'"},
      {"obj", "v 0 nan 0\n", "'nan'"},
      {"obj", "v 0 1e999 0\n", "'1e999'"},
      {"obj", "v 0 1x 0\n", "'1x'"},
      {"obj", "vertex 0 0 0\n", "line 1: not known in an OBJ file: 'vertex'"},
      {"obj", "v 0 0 0\nf 1 1\n", "line 2: a face needs three"},
      {"obj", "v 0 0 0\nf 1 2 3\n", "line 2: there is no vertex '2'"},
      {"obj", "v 0 0 0\nf 0 1 1\n", "there is no vertex '0'"},
      {"obj", "v 0 0 0\nf -2 1 1\n", "there is no vertex '-2'"},
      {"obj", "v 0 0 0\nf 1 1 99999999999999999999\n", "there is no vertex '9999"},
      {"obj", "v 0 0 0\nf 1 1 x\n", "not the number of a vertex: 'x'"},
      {"obj", "v 0 0 0\nf 1 1 1/a\n", "not the number of a vertex: '1/a'"},
      {"obj", "v 0 0 0\nf 1 1 1\n", "no triangles"},
      {"stl", "", "neither a text nor a binary"},
      {"stl", "facet\n", "neither a text nor a binary"},
      {"stl", "solid\n", "no triangles"},
      {"stl", "solid\nface\n", "line 2: not known in an STL file: 'face'"},
      {"stl", "solid\nvertex 0 0 a\n", "line 2: not a finite number: 'a'"},
      {"stl", "solid\nvertex 0 0 0\nendloop", "line 3: a facet has three"},
      {"stl", "solid\nvertex 0 0 0\n", "ends within a facet"},
      {"stl", "solid\nvertex 0 0 0\nvertex 0 0 1\nvertex 0 1 0\nvertex 0 1 1\n", "line 5: a facet"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    djTriangles mesh;
    djError err = {""};
    djStatus status =
        dj_parseTriangles(&mesh, bad[i].format, bad[i].text, strlen(bad[i].text), &err);
    djt_failIf(status != DJ_INVALID || !strstr(err.text, bad[i].what), "%s: status %d, '%s'",
               bad[i].what, status, err.text);
    assert_null(mesh.vert);
    assert_null(mesh.tri);
  }
  djTriangles mesh;
  djError err = {""};
  djt_refusedWith(DJ_INVALID, dj_readTriangles(&mesh, "a.b/mesh.dae", &err), err,
                  "a.b/mesh.dae: not a mesh");
  djt_refusedWith(DJ_FILE, dj_readTriangles(&mesh, "no/such.OBJ", &err), err, "no/such.OBJ: ");
}

DJT_MAIN(testObj, testStl, testBadFiles)
