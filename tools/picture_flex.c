// Flexes in pictures: triangles and edges from back to front, between the geoms.

#include "picture_flex.h"

#include "flex_faces.h"
#include "picture_geom.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

void flex_vertex(double out[3], const djModel* m, int vertex, const Poses* poses) {
  int b = m->flexvert_body[vertex];
  picture_place(out, poses->xpos + 3 * b, poses->xquat + 4 * b, m->flexvert_pos + 3 * vertex);
}

static int compare_depth(const void* a, const void* b) {
  const FlexPart *p = a, *q = b;
  return p->depth > q->depth ? -1 : p->depth < q->depth;
}

FlexParts flex_parts(const djModel* m, const Poses* poses, const Camera* c) {
  FlexParts out = {0};
  for (int f = 0; f < m->nflex; f++) out.n += 4 * m->flex_elemnum[f];
  out.part = tool_alloc((size_t)out.n, sizeof *out.part);
  out.n = 0;
  for (int f = 0; f < m->nflex; f++) {
    FlexFaces faces = flex_faces(m, f);
    for (int i = 0; i < faces.n; i++) {
      FlexPart* p = &out.part[out.n++];
      *p = (FlexPart){.flex = f, .corners = faces.corners};
      for (int k = 0; k < p->corners; k++) {
        flex_vertex(p->point[k], m, m->flex_vertadr[f] + faces.vert[p->corners * i + k], poses);
        p->depth += dot(p->point[k], c->forward) / p->corners;
      }
    }
    free(faces.vert);
  }
  qsort(out.part, (size_t)out.n, sizeof *out.part, compare_depth);
  return out;
}

// Part of the light on a triangle, whichever side is seen.
static double brightness(const FlexPart* p, const Camera* c) {
  double u[3], v[3], n[3];
  for (int k = 0; k < 3; k++) {
    u[k] = p->point[1][k] - p->point[0][k];
    v[k] = p->point[2][k] - p->point[0][k];
  }
  for (int k = 0; k < 3; k++) {
    n[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
  }
  double size = sqrt(dot(n, n)), along = dot(n, c->light) / fmax(size, 1e-300);
  return dot(n, c->forward) > 0 ? -along : along;
}

// "#rrggbb" as bright as that.
static void shade(char out[8], const char* color, double bright) {
  unsigned rgb[3] = {0};
  double f = 0.6 + 0.5 * fmax(bright, -0.2);
  sscanf(color, "#%2x%2x%2x", &rgb[0], &rgb[1], &rgb[2]);
  for (int k = 0; k < 3; k++) {
    double x = f > 1 ? 255 - (255 - rgb[k]) * (2 - f) : rgb[k] * f;
    snprintf(out + 1 + 2 * k, 3, "%02x", (unsigned)lround(fmin(fmax(x, 0), 255)));
  }
  out[0] = '#';
}

void flex_draw(Buffer* out, FlexParts* parts, double depth, const djModel* m, const Camera* c) {
  for (; parts->drawn < parts->n && parts->part[parts->drawn].depth >= depth; parts->drawn++) {
    const FlexPart* p = &parts->part[parts->drawn];
    char color[8];
    double bright = p->corners == 3 ? brightness(p, c) : 0.7;
    shade(color, flex_color(m, p->flex), bright);
    buf_add(out, "<path d=\"");
    for (int k = 0; k < p->corners; k++) {
      Point2 at = project(c, p->point[k]);
      buf_addf(out, "%c%.1f %.1f", k ? 'L' : 'M', at.x, at.y);
    }
    double wide = fmax(2 * m->flex_radius[p->flex] * c->scale, 1);
    if (p->corners == 3)
      buf_addf(out, "Z\" fill=\"%s\" stroke=\"%s\" stroke-width=\".5\"/>", color, color);
    else
      buf_addf(out, "\" stroke=\"%s\" stroke-width=\"%.2f\" stroke-linecap=\"round\"/>", color,
               wide);
  }
}

void flex_freeParts(FlexParts* parts) { free(parts->part); }
