// OBJ and STL files, and what is made of the meshes in them: refused, or cut into hulls that hold,
// also as several solids.
// The format is that which the bytes seem to be; "solid" or binary STL, else OBJ.

#include "fuzz.h"

#include <dijoco/decompose.h>

#include <math.h>

enum { MOST = 200 }; // triangles of meshes that are cut

static void checkMesh(const djTriangles* mesh) {
  FUZZ_CHECK(mesh->nvert > 0 && mesh->ntri > 0);
  for (int i = 0; i < 3 * mesh->nvert; i++) FUZZ_CHECK(isfinite(mesh->vert[i]));
  for (int t = 0; t < mesh->ntri; t++) {
    const int* v = mesh->tri + 3 * t;
    for (int k = 0; k < 3; k++) FUZZ_CHECK(v[k] >= 0 && v[k] < mesh->nvert);
    FUZZ_CHECK(v[0] != v[1] && v[1] != v[2] && v[2] != v[0]);
  }
}

// compare: how well they stand for the mesh, which takes long.
static void cut(const djTriangles* mesh, double volume, int compare) {
  static const int grids[2][3] = {{1, 1, 1}, {2, 3, 2}};
  for (int g = 0; g < 2; g++) {
    djPieces pieces;
    djPieceReport report;
    djError err = {""};
    if (dj_cutBlocks(&pieces, mesh, grids[g], 12, NULL, &err) < 0) {
      FUZZ_CHECK(err.text[0] && pieces.n == 0);
      continue;
    }
    for (int i = 0; i < pieces.n; i++) {
      FUZZ_CHECK(pieces.hull[i].nvert >= 4 && pieces.hull[i].nvert <= 12);
      FUZZ_CHECK(pieces.volume[i] > 0);
      checkMesh(&pieces.hull[i]);
    }
    if (compare) {
      FUZZ_CHECK(dj_comparePieces(&report, &pieces, mesh, &err) == DJ_OK);
      FUZZ_CHECK(report.volume_ratio > 0 && report.hausdorff >= 0 && report.overlap >= 0);
      FUZZ_CHECK(isfinite(report.volume_ratio * volume) && isfinite(report.hausdorff));
    }
    dj_freePieces(&pieces);
  }
}

// Whether or not the whole bounds a solid.
static void cutShells(const djTriangles* mesh, bool solid, int compare) {
  djPieces pieces;
  djPieceReport report;
  djError err = {""};
  double volume;
  if (dj_cutShells(&pieces, mesh, 12, &err) < 0) {
    FUZZ_CHECK(err.text[0] && pieces.n == 0);
    return;
  }
  FUZZ_CHECK(pieces.n > 0 && 4 * pieces.n <= mesh->ntri);
  for (int i = 0; i < pieces.n; i++) {
    FUZZ_CHECK(pieces.hull[i].nvert >= 4 && pieces.hull[i].nvert <= 12 && pieces.volume[i] > 0);
    checkMesh(&pieces.hull[i]);
  }
  if (compare) {
    FUZZ_CHECK(dj_compareShells(&report, &volume, &pieces, mesh, &err) == DJ_OK);
    FUZZ_CHECK(!solid || volume > 0);
    FUZZ_CHECK(isnan(volume) == isnan(report.volume_ratio));
    FUZZ_CHECK(isfinite(report.hausdorff) && report.hausdorff >= 0 && report.overlap >= 0);
  }
  dj_freePieces(&pieces);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const char* format = size > 4 && (memcmp(data, "solid", 5) == 0 || data[4] == 0) ? "stl" : "obj";
  djTriangles mesh;
  djError err = {""};
  if (dj_parseTriangles(&mesh, format, data, size, &err) < 0) {
    FUZZ_CHECK(!mesh.vert && !mesh.tri && err.text[0]);
    return 0;
  }
  double volume = 0;
  checkMesh(&mesh);
  bool solid = dj_checkSolid(&volume, &mesh, &err) == DJ_OK;
  if (mesh.ntri <= MOST) cutShells(&mesh, solid, size % 8 == 0);
  if (solid) {
    FUZZ_CHECK(volume > 0);
    if (mesh.ntri <= MOST) cut(&mesh, volume, size % 8 == 0);
  } else {
    FUZZ_CHECK(err.text[0]);
  }
  dj_freeTriangles(&mesh);
  return 0;
}
