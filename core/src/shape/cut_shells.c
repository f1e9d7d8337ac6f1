// Meshes of several solids: a hull for each shell.

#include "base/status.h"
#include "shape/shells.h"

#include <stdio.h>

// Names the shell.
static djStatus failShell(djError* err, djStatus status, int k, const djShell* shell) {
  char name[60];
  if (status == DJ_NO_MEMORY) return dj_failMemory(err);
  snprintf(name, sizeof name, "shell %d (triangle %d first)", k, shell->triangle[0]);
  return dj_prefix(err, status, name);
}

djStatus dj_checkShell(double* volume, int k, const djShell* shell, djError* err) {
  const djMeshNumbers own = {shell->triangle, shell->vertex};
  djStatus status = dj_checkPart(volume, &shell->mesh, &own, err);
  return status < 0 ? failShell(err, status, k, shell) : status;
}

// The hull of a shell that faces outward; of one that faces inward there is none if it is a cavity
// of the mesh, which *whole then tells: that has been checked.
static djStatus addShell(djPieces* pieces, bool* whole, int k, const djShell* shell,
                         const djTriangles* mesh, int most, djError* err) {
  djStatus status = DJ_OK;
  if (dj_boundedVolume(&shell->mesh) < 0) {
    if (!*whole) status = dj_checkSolid(NULL, mesh, err);
    *whole = status == DJ_OK;
    if (status == DJ_INVALID) {
      dj_prefix(err, status, "it faces inward, as cavities do of meshes that bound a solid");
    }
  } else {
    status = dj_checkShell(NULL, k, shell, err);
    if (status < 0) return status;
    status = dj_addPiece(pieces, shell->mesh.nvert, shell->mesh.vert, NULL, most, err);
  }
  return status < 0 ? failShell(err, status, k, shell) : status;
}

djStatus dj_cutShells(djPieces* pieces, const djTriangles* mesh, int most_vertices, djError* err) {
  double box[6];
  bool whole = false;
  djShells shells;
  if (!pieces) return dj_fail(err, DJ_INVALID, "pieces: NULL");
  *pieces = (djPieces){0};
  djStatus status = dj_checkTriangles(mesh, err);
  if (status == DJ_OK) {
    status = dj_checkVertices(box, mesh->nvert, mesh->vert, mesh->ntri, mesh->tri, err);
  }
  if (status < 0) return status;
  status = dj_findShells(&shells, mesh);
  if (status < 0) dj_failMemory(err);
  for (int k = 0; k < shells.n && status == DJ_OK; k++) {
    djShell shell;
    status = dj_makeShell(&shell, &shells, k, mesh);
    if (status < 0) {
      dj_failMemory(err);
      break;
    }
    status = addShell(pieces, &whole, k, &shell, mesh, most_vertices, err);
    dj_freeShell(&shell);
  }
  dj_freeShells(&shells);
  if (status < 0) dj_freePieces(pieces);
  return status;
}
