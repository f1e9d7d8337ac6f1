// Implicit surfaces of geoms in <custom>:
//
//   text dijoco_shape/GEOM       a family and its numbers (dijoco/implicit.h): of a smooth_polytope
//                                A row by row, b, L, beta; or L, beta of a mesh's own hull. Then,
//                                where it is elsewhere than the geom, `pose` and seven numbers
//   numeric dijoco_sharpness/GEOM  beta or n of the surface that fits the geom
//
// The frame is the geom's as its author means it: of a mesh that in which its file is, not that of
// the compiled mesh, which has its principal axes.

#include "import.h"

#include <dijoco/implicit.h>

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The next word of a text, cut to size; false: there is none.
static bool nextWord(char* word, size_t size, const char** text) {
  const char* t = *text;
  size_t n = 0;
  while (isspace((unsigned char)*t)) t++;
  for (; *t && !isspace((unsigned char)*t); t++) {
    if (n + 1 < size) word[n++] = *t;
  }
  word[n] = '\0';
  *text = t;
  return n > 0;
}

// Numbers up to the end of the text or a word that is none, which follows. Returns how many.
static int readNumbers(double* number, const char** text) {
  char* end;
  int n = 0;
  for (;; n++) {
    const double value = strtod(*text, &end);
    if (end == *text || (*end && !isspace((unsigned char)*end))) return n;
    number[n] = value;
    *text = end;
  }
}

// From the geom's own frame to that of the compiled mesh, whose vertices are R(q)^T (x - p).
static void placeShape(djSurfaceDef* s, const mjModel* m, int mesh) {
  mjtNum inverse[4], quat[4], pos[3];
  mju_negQuat(inverse, m->mesh_quat + 4 * mesh);
  mju_sub3(pos, s->pos, m->mesh_pos + 3 * mesh);
  mju_rotVecQuat(s->pos, pos, inverse);
  mju_copy4(quat, s->quat);
  mju_mulQuat(s->quat, inverse, quat);
}

const char* djm_importShape(char why[200], djmImport* imp, djGeomDef* geom, const char* text) {
  const char* const from = text;
  char word[100];
  if (!nextWord(word, sizeof word, &text)) return "a family is expected";
  const int family = djc_implicitNamed(word);
  if (family < 0) {
    snprintf(why, 200, "unknown family '%.60s' of implicit surfaces", word);
    return why;
  }
  const size_t most = strlen(from) / 2 + 8;
  djSurfaceDef* s = djm_alloc(imp, 1, sizeof *s);
  double* number = djm_alloc(imp, most, sizeof *number);
  if (!s || !number) return "out of memory";
  *s = (djSurfaceDef){.family = djc_implicitFamily(family), .size = number, .quat = {1, 0, 0, 0}};
  s->nsize = readNumbers(number, &text);
  if (strcmp(djc_implicitNumber(family, 0), "A") == 0 && s->nsize > 2) {
    if (s->nsize % 4 != 2)
      return "A (three for each facet), b (one for each), L, beta are expected";
    s->nface = s->nsize / 4;
  }
  if (nextWord(word, sizeof word, &text)) {
    double* pose = number + s->nsize;
    if (strcmp(word, "pose") != 0) return "a number is expected";
    if (readNumbers(pose, &text) != 7 || nextWord(word, sizeof word, &text)) {
      return "pose: seven numbers are expected";
    }
    mju_copy3(s->pos, pose);
    mju_copy4(s->quat, pose + 3);
    if (mju_norm(s->quat, 4) == 0) return "pose: the quaternion is zero";
  }
  if (geom->type == DJ_MESH) placeShape(s, imp->m, geom->mesh);
  geom->surface = s;
  return NULL;
}
