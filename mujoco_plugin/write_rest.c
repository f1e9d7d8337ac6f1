// Rest shapes of flexes. MuJoCo takes them from where bodies are at qpos0. A body on three slides
// that stands for a vertex goes there: with axes A in its frame, R its rotation in its parent's, a
// frame moved by d (in its own axes) and references by A^-1 d leave
//   pos + R (d + A (q - ref - A^-1 d)) = pos + R A (q - ref),
// so that coordinates mean what they did. What is at qpos0 is another place then: the former one
// becomes a keyframe. Vertices of other bodies stay; where that is another shape the check tells.

#include "import.h"
#include "write.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ------------------------------ bodies on slides ------------------------------------------------

// Inverse of the axes of a body whose joints are three slides; false: they are not.
static bool slidesOf(mjtNum inverse[9], int type_slide, int njnt, const int* type,
                     const mjtNum* axis) {
  mjtNum turned[9], length = 0;
  for (int k = 0; k < njnt; k++) {
    if (type[k] != type_slide) return false;
  }
  if (njnt != 3) return false;
  // rows: cross products of columns, over the determinant
  for (int k = 0; k < 3; k++)
    mju_cross(turned + 3 * k, axis + 3 * ((k + 1) % 3), axis + 3 * ((k + 2) % 3));
  length = mju_dot3(axis, turned);
  if (fabs(length) < 1e-6) return false;
  mju_scl(inverse, turned, 1 / length, 9);
  return true;
}

static bool isVertex(const djModel* m, int body) {
  for (int v = 0; v < m->nflexvert; v++) {
    if (m->flexvert_body[v] == body) return true;
  }
  return false;
}

// A body's place with its slides at 0, in its parent's frame; false: it has none that count.
static bool placeAtZero(mjtNum out[3], const djModel* m, int body) {
  mjtNum shift[3] = {0}, turned[3], inverse[9];
  const int first = m->body_jntadr[body];
  if (!isVertex(m, body) || first < 0) return false;
  if (!slidesOf(inverse, DJ_SLIDE, m->body_jntnum[body], m->jnt_type + first,
                m->jnt_axis + 3 * first)) {
    return false;
  }
  for (int k = 0; k < 3; k++) {
    mju_addToScl3(shift, m->jnt_axis + 3 * (first + k), -m->qpos0[m->jnt_qposadr[first + k]]);
  }
  mju_rotVecQuat(turned, shift, m->body_quat + 4 * body);
  mju_add3(out, m->body_pos + 3 * body, turned);
  return true;
}

bool djm_placedByRest(const djModel* m, int body) {
  mjtNum unused[3];
  return placeAtZero(unused, m, body);
}

bool djm_checkRestPlaces(const djModel* got, const djModel* wanted, double tolerance, int* body) {
  for (int b = 0; b < wanted->nbody; b++) {
    mjtNum x[3], y[3];
    if (!placeAtZero(y, wanted, b)) continue;
    *body = b;
    if (!placeAtZero(x, got, b)) return false;
    if (!(mju_dist3(x, y) <= tolerance * fmax(1, mju_norm3(y)))) return false;
  }
  return true;
}

// ------------------------------ moves -----------------------------------------------------------

// Whether two shapes of n places are one: by distances to three of them and along edges.
static bool congruent(const mjtNum* x, const mjtNum* y, int n, int nedge, const int* edge,
                      int first) {
  mjtNum size = 0;
  for (int v = 1; v < n; v++) size = fmax(size, mju_dist3(y, y + 3 * v));
  for (int v = 0; v < 3 * n + nedge; v++) {
    const int a = v < 3 * n ? v / 3 : edge[2 * (v - 3 * n)] - first;
    const int b = v < 3 * n ? (v % 3) * (n - 1) / 2 : edge[2 * (v - 3 * n) + 1] - first;
    const mjtNum apart = mju_dist3(x + 3 * a, x + 3 * b) - mju_dist3(y + 3 * a, y + 3 * b);
    if (!(fabs(apart) <= 1e-12 * size)) return false;
  }
  return true;
}

// Vertex v of MuJoCo's to the place `to` of the world; mat: of its body at qpos0.
static bool moveVertex(mjModel* m, int v, const mjtNum mat[9], const mjtNum from[3],
                       const mjtNum to[3]) {
  const int body = m->flex_vertbodyid[v], first = m->body_jntadr[body];
  mjtNum inverse[9], apart[3], own[3], turned[3], ref[3];
  if (body <= 0 || first < 0) return false;
  if (!slidesOf(inverse, mjJNT_SLIDE, m->body_jntnum[body], m->jnt_type + first,
                m->jnt_axis + 3 * first)) {
    return false;
  }
  mju_sub3(apart, to, from);
  mju_mulMatTVec3(own, mat, apart);
  mju_rotVecQuat(turned, own, m->body_quat + 4 * body);
  mju_addTo3(m->body_pos + 3 * body, turned);
  mju_mulMatVec3(ref, inverse, own);
  for (int k = 0; k < 3; k++) m->qpos0[m->jnt_qposadr[first + k]] += ref[k];
  return true;
}

static bool moveFlex(djmWrite* w, int flex, int i, const mjData* d) {
  const djModel* a = w->wanted;
  mjModel* m = w->m;
  const int n = a->flex_vertnum[i], adr = m->flex_vertadr[flex];
  const mjtNum* rest = a->flexvert_rest + 3 * a->flex_vertadr[i];
  mjtNum* now = malloc(3 * sizeof *now * (size_t)n);
  if (!now) return djm_writeFail(w, DJ_NO_MEMORY, "out of memory");
  for (int v = 0; v < n; v++) {
    const int body = m->flex_vertbodyid[adr + v];
    mju_mulMatVec3(now + 3 * v, d->xmat + 9 * body, m->flex_vert + 3 * (adr + v));
    mju_addTo3(now + 3 * v, d->xpos + 3 * body);
  }
  const bool same = congruent(now, rest, n, a->flex_edgenum[i],
                              a->flexedge_vert + 2 * a->flex_edgeadr[i], a->flex_vertadr[i]);
  for (int v = 0; v < n && !same; v++) {
    const mjtNum* mat = d->xmat + 9 * m->flex_vertbodyid[adr + v];
    if (moveVertex(m, adr + v, mat, now + 3 * v, rest + 3 * v)) w->rest_moved = true;
  }
  free(now);
  return true;
}

bool djm_writeRest(djmWrite* w) {
  const mjModel* m = w->m;
  if (m->nflex == 0) return true;
  mjData* d = mj_makeData(m);
  if (!d) return djm_writeFail(w, DJ_NO_MEMORY, "out of memory");
  mj_kinematics(m, d);
  bool good = true;
  for (int flex = 0, i = 0; flex < m->nflex && good; flex++) {
    if (djm_flexProblem(m, flex)) continue;
    if (i < w->wanted->nflex) good = moveFlex(w, flex, i, d);
    i++;
  }
  mj_deleteData(d);
  return good;
}
