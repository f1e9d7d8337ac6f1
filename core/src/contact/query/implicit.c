// Contact kinematics of implicit surfaces (dijoco/implicit.h).

#include "contact/query/implicit_query.h"

#include "base/status.h"
#include "math/blas.h"
#include "model/check.h"
#include "model/surface.h"

#include <lapacke.h>

#include <stdlib.h>
#include <string.h>

#define COINCIDE 1e-12 // of the shapes' size
#define PLANE "plane"  // a family that has no numbers and is not in the table
#define MOST_FACETS 100000

const char* djc_implicitFamily(int family) {
  for (int i = 0; i <= family && dj_implicitTable[i]; i++) {
    if (i == family) return dj_implicitTable[i]->name;
  }
  return "";
}

int djc_implicitNamed(const char* name) { return name ? dj_familyNamed(name) : -1; }

const char* djc_implicitNumber(int family, int number) {
  static const char* const facets[] = {"A", "b", "L", NULL};
  if (!*djc_implicitFamily(family) || number < 0) return "";
  const djImplicitRow* row = dj_implicitTable[family];
  const char* const* name = row->size ? row->size : facets;
  for (int i = 0; i <= number; i++) {
    if (!name[i]) return i == number ? row->sharp : "";
  }
  return name[number];
}

const char* djc_implicitList(int family) {
  const char* list = *djc_implicitFamily(family) ? dj_implicitTable[family]->list : NULL;
  return list ? list : "";
}

double djc_energyAngle(const djcImplicit* touch) {
  if (!touch) return 0;
  const djVec3 n = dju_load3(touch->normal), g = dju_load3(touch->dgap + 9);
  return atan2(dju_norm3(dju_cross3(n, g)), dju_dot3(n, g));
}

// ------------------------------------------ making ---------------------------------------------

static djStatus makeShape(djImplicit* shape, double** room, const djcImplicitShape* from, char name,
                          djError* err) {
  const djImplicitRow* row = from && from->family ? dj_implicitRow(from->family) : NULL;
  if (!row) {
    return dj_fail(err, DJ_INVALID, "%c: unknown family '%.60s'", name,
                   from && from->family ? from->family : "");
  }
  if (from->nface < 0 || (row->size && from->nface > 0) || from->nface > MOST_FACETS) {
    return dj_fail(err, DJ_INVALID, "%c: %s: nface = %d", name, row->name, from->nface);
  }
  if (from->nsize != dj_implicitSize(row, from->nface) || !from->size) {
    return dj_fail(err, DJ_INVALID, "%c: %s has %d numbers, not %d", name, row->name,
                   dj_implicitSize(row, from->nface), from->nsize);
  }
  for (int i = 0; i < from->nsize; i++) {
    const double size = fabs(from->size[i]);
    if (!(size <= DJ_LARGEST)) {
      return dj_fail(err, DJ_INVALID, "%c: %s: number %d is not finite or larger than 1e20", name,
                     row->name, i);
    }
  }
  *room = malloc((size_t)dj_implicitRoom(row, from->nface) * sizeof **room);
  if (!*room) return dj_failMemory(err);
  djError why = {""};
  const djStatus status = dj_makeImplicit(shape, *room, row, from->nface, from->size, &why);
  return status ? dj_fail(err, status, "%c: %s", name, why.text) : DJ_OK;
}

static bool isPlane(const djcImplicitShape* from) {
  return from && from->family && strcmp(from->family, PLANE) == 0;
}

// A half space below the plane z = 0 of its frame.
static djStatus makePlane(djcImplicitPair* p, const djcImplicitShape* from, char name,
                          djError* err) {
  if (from->nface || from->nsize) {
    return dj_fail(err, DJ_INVALID, "%c: a plane has no numbers, not %d", name, from->nsize);
  }
  p->plane = true;
  dj_implicitHalfSpace(&p->shape[1], dju_vec3(0, 0, -1), p->shape[0].outer);
  return DJ_OK;
}

djStatus djc_makeImplicitPair(djcImplicitPair** pair, const djcImplicitShape* a,
                              const djcImplicitShape* b, djError* err) {
  if (!pair) return DJ_INVALID;
  *pair = NULL;
  const bool swapped = isPlane(a);
  if (swapped && isPlane(b)) return dj_fail(err, DJ_INVALID, "a and b: both are planes");
  djcImplicitPair* p = calloc(1, sizeof *p);
  if (!p) return dj_failMemory(err);
  p->swapped = swapped;
  const djcImplicitShape *first = swapped ? b : a, *second = swapped ? a : b;
  const char name[2] = {swapped ? 'b' : 'a', swapped ? 'a' : 'b'};
  djStatus status = makeShape(&p->shape[0], &p->room[0], first, name[0], err);
  if (!status && isPlane(second))
    status = makePlane(p, second, name[1], err);
  else if (!status)
    status = makeShape(&p->shape[1], &p->room[1], second, name[1], err);
  if (status) {
    djc_deleteImplicitPair(p);
    return status;
  }
  *pair = p;
  return DJ_OK;
}

void djc_deleteImplicitPair(djcImplicitPair* pair) {
  if (!pair) return;
  free(pair->room[0]);
  free(pair->room[1]);
  free(pair);
}

void djc_forgetImplicitPair(djcImplicitPair* pair) {
  if (!pair) return;
  memset(&pair->warm, 0, sizeof pair->warm);
  pair->has_near = false;
}

// ------------------------------------------ evaluation ------------------------------------------

void dj_swapTwists(double* by, int rows, double sign) {
  for (int i = 0; i < rows; i++) {
    for (int k = 0; k < 6; k++) {
      const double first = by[12 * i + k];
      by[12 * i + k] = sign * by[12 * i + 6 + k];
      by[12 * i + 6 + k] = sign * first;
    }
  }
}

// Derivatives by twists of what the results are made of: D, T and, by three rows, d, y, n and the
// origin of the second's frame.
typedef struct Rows {
  double D[12], T[12], d[36], y[36], n[36], origin[36];
} Rows;

// Row i of psi x v.
static void addCross(double* row, int i, djVec3 v) {
  const double x[3] = {v.x, v.y, v.z};
  row[(i + 1) % 3] += x[(i + 2) % 3];
  row[(i + 2) % 3] -= x[(i + 1) % 3];
}

// d moves with the origins: de = P (v_b - v_a)/D. Where they coincide it is held.
static void rowsOfPair(Rows* out, const djcImplicitPair* p, const djImplicitFrame* f,
                       bool degenerate) {
  djImplicitRates r;
  dj_moveTouch(&r, f);
  const double over = degenerate ? 0 : 1 / p->D, d[3] = {f->d.x, f->d.y, f->d.z};
  double unit[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  const double* from[10] = {r.T,     r.y,      r.y + 9, r.y + 18, r.n,
                            r.n + 9, r.n + 18, unit,    unit + 3, unit + 6};
  double* to[10] = {out->T,      out->y,      out->y + 12, out->y + 24, out->n,
                    out->n + 12, out->n + 24, out->d,      out->d + 12, out->d + 24};
  for (int i = 0; i < 10; i++) {
    const double* e = i < 7 ? from[i] + 6 : from[i];
    const double along = e[0] * d[0] + e[1] * d[1] + e[2] * d[2];
    for (int k = 0; k < 3; k++) {
      const double v = over * (e[k] - along * d[k]);
      to[i][k] = i < 7 ? from[i][k] : 0;
      to[i][6 + k] = i < 7 ? from[i][3 + k] : 0;
      to[i][3 + k] = -v;
      to[i][9 + k] = v;
    }
  }
  for (int k = 0; k < 3; k++) {
    out->D[3 + k] = -d[k];
    out->D[9 + k] = d[k];
    out->origin[12 * k + 9 + k] = 1;
  }
}

// With N = -d and r from the plane's origin to the first's: dD = N.(v_a - v_b) + psi_b.(N x r), dd
// = psi_b x d. What turns with the plane leaves the first turning by psi_a - psi_b.
static void rowsOfPlane(Rows* out, const djcImplicitPair* p, const djImplicitFrame* f) {
  djImplicitRates rates;
  dj_moveTouch(&rates, f);
  const double d[3] = {f->d.x, f->d.y, f->d.z};
  double moment[3];
  dju_store3(moment, dju_cross3(dju_sub3(p->pos[0], p->pos[1]), f->d));
  for (int k = 0; k < 3; k++) {
    out->D[3 + k] = -d[k];
    out->D[6 + k] = moment[k];
    out->D[9 + k] = d[k];
    out->T[k] = rates.T[k];
    out->T[6 + k] = -rates.T[k];
    for (int i = 0; i < 3; i++) {
      out->y[12 * i + k] = rates.y[9 * i + k];
      out->y[12 * i + 6 + k] = -rates.y[9 * i + k];
    }
  }
  for (int i = 0; i < 3; i++) {
    addCross(out->y + 12 * i + 6, i, f->y);
    addCross(out->d + 12 * i + 6, i, f->d);
  }
  memcpy(out->n, out->d, sizeof out->n);
  for (int i = 0; i < 3; i++) {
    out->origin[12 * i + 3 + i] = 1;
    for (int k = 0; k < 12; k++) {
      out->origin[12 * i + k] += d[i] * out->D[k] + p->D * out->d[12 * i + k];
    }
  }
}

// alpha = D/T, x = p_a + alpha y, gap = D - T; points p_a + y and origin + y - T d.
static void derivatives(djcImplicit* out, const djcImplicitPair* p, const djImplicitFrame* f) {
  Rows r;
  memset(&r, 0, sizeof r);
  if (p->plane)
    rowsOfPlane(&r, p, f);
  else
    rowsOfPair(&r, p, f, out->degenerate);
  const double alpha = out->alpha, T = f->T, over = 1 / T;
  const double y[3] = {f->y.x, f->y.y, f->y.z}, d[3] = {f->d.x, f->d.y, f->d.z};
  for (int k = 0; k < 12; k++) {
    out->dalpha[k] = (r.D[k] - alpha * r.T[k]) * over;
    out->dgap[k] = r.D[k] - r.T[k];
  }
  for (int i = 0; i < 3; i++) {
    const int at = 12 * i;
    for (int k = 0; k < 12; k++) {
      out->dx[at + k] = alpha * r.y[at + k] + y[i] * out->dalpha[k];
      out->dpoint_a[at + k] = r.y[at + k];
      out->dpoint_b[at + k] = r.origin[at + k] + r.y[at + k] - T * r.d[at + k] - d[i] * r.T[k];
    }
    out->dx[at + 3 + i] += 1;
    out->dpoint_a[at + 3 + i] += 1;
  }
  memcpy(out->dnormal, r.n, sizeof r.n);
}

void dj_swapVectors(double* a, double* b, int n) {
  for (int k = 0; k < n; k++) {
    const double x = a[k];
    a[k] = b[k];
    b[k] = x;
  }
}

// What was found with b first.
static void turnRound(djcImplicit* out, int flags) {
  for (int k = 0; k < 3; k++) out->normal[k] = -out->normal[k];
  dj_swapVectors(out->point_a, out->point_b, 3);
  dj_swapVectors(out->multipliers, out->multipliers + 1, 1);
  if (!(flags & DJC_DERIVATIVES)) return;
  dj_swapVectors(out->dpoint_a, out->dpoint_b, 36);
  dj_swapTwists(out->dalpha, 1, 1);
  dj_swapTwists(out->dx, 3, 1);
  dj_swapTwists(out->dnormal, 3, -1);
  dj_swapTwists(out->dgap, 1, 1);
  dj_swapTwists(out->dpoint_a, 3, 1);
  dj_swapTwists(out->dpoint_b, 3, 1);
}

// Of (11) with lengths, and multipliers as in (1), over `size`: a symmetric matrix of y, T, la, lb.
static double condition(const djcImplicitPair* p) {
  const djImplicitTouch* t = &p->touch;
  const double size = fmax(p->shape[0].outer, p->shape[1].outer);
  double J[36] = {0}, w[6], work[64];
  djVec3 gb = dju_mulMV(p->place.R, t->b.g), d = p->place.d;
  double g[2][4] = {{t->a.g.x, t->a.g.y, t->a.g.z, 0}, {gb.x, gb.y, gb.z, -dju_dot3(gb, d)}};
  for (int j = 0; j < 4; j++) {
    const djVec3 e = dju_vec3(j == 0, j == 1, j == 2), eb = j < 3 ? e : dju_neg3(d);
    djVec3 h = dju_scale3(
        t->lb, dju_mulMV(p->place.R, dj_bendImplicit(t->b.H, dju_mulMtV(p->place.R, eb))));
    const double down = -dju_dot3(h, d);
    if (j < 3) h = dju_madd3(h, t->la, dj_bendImplicit(t->a.H, e));
    const double column[4] = {h.x, h.y, h.z, down};
    for (int i = 0; i < 4; i++) J[6 * i + j] = size * column[i];
    for (int k = 0; k < 2; k++) J[6 * (4 + k) + j] = J[6 * j + 4 + k] = size * g[k][j];
  }
  dj_beginLapack();
  const int failed = LAPACKE_dsyev_work(LAPACK_ROW_MAJOR, 'N', 'U', 6, J, 6, w, work, 64);
  dj_endLapack();
  if (failed) return INFINITY;
  double least = INFINITY, most = 0;
  for (int k = 0; k < 6; k++) {
    least = fmin(least, fabs(w[k]));
    most = fmax(most, fabs(w[k]));
  }
  return least > 0 ? most / least : INFINITY;
}

static void placePlane(djcImplicitPair* p) {
  p->last = dju_neg3(dju_column(&p->R[1], 2));
  p->D = dju_dot3(p->last, dju_sub3(p->pos[1], p->pos[0]));
}

static void placePair(djcImplicitPair* p) {
  const djVec3 apart = dju_sub3(p->pos[1], p->pos[0]);
  p->D = dju_norm3(apart);
  if (p->D > COINCIDE * (p->shape[0].outer + p->shape[1].outer))
    p->last = dju_scale3(1 / p->D, apart);
  else if (!(dju_norm3(p->last) > 0))
    p->last = dju_column(&p->R[0], 0);
}

static void place(djcImplicitPair* p, const double* const pos[2], const double* const quat[2]) {
  for (int k = 0; k < 2; k++) {
    p->pos[k] = dju_load3(pos[k ^ p->swapped]);
    p->R[k] = dju_quatToMat(dju_loadQuat(quat[k ^ p->swapped]));
  }
  if (p->plane)
    placePlane(p);
  else
    placePair(p);
  p->place.R = dju_mulMtM(p->R[0], p->R[1]);
  p->place.d = dju_mulMtV(p->R[0], p->last);
}

static djStatus checkPose(double unit[4], const double pos[3], const double quat[4]) {
  for (int k = 0; k < 3; k++) {
    if (!(fabs(pos[k]) <= DJ_LARGEST)) return DJ_INVALID;
  }
  return dj_makeUnit(unit, quat, 4) ? DJ_OK : DJ_INVALID;
}

djStatus djc_evalImplicitPair(djcImplicit* out, djcImplicitPair* p, const double pos_a[3],
                              const double quat_a[4], const double pos_b[3], const double quat_b[4],
                              int flags) {
  if (!out || !p || !pos_a || !quat_a || !pos_b || !quat_b) return DJ_INVALID;
  double unit[2][4];
  if (checkPose(unit[0], pos_a, quat_a) || checkPose(unit[1], pos_b, quat_b)) return DJ_INVALID;
  place(p, (const double* const[2]){pos_a, pos_b}, (const double* const[2]){unit[0], unit[1]});
  const djStatus status =
      dj_touchImplicit(&p->touch, &p->warm, &p->shape[0], &p->shape[1], &p->place);
  dj_frameImplicit(&p->frame, &p->touch, &p->place, p->R[0]);
  const djImplicitFrame f = p->frame;
  p->evaluated = status == DJ_OK;
  const djVec3 at = p->pos[0], bt = p->plane ? dju_madd3(at, p->D, f.d) : p->pos[1];
  out->degenerate = !p->plane && p->D <= COINCIDE * (p->shape[0].outer + p->shape[1].outer);
  out->alpha = p->D / f.T;
  out->gap = p->D - f.T;
  dju_store3(out->x, dju_madd3(at, out->alpha, f.y));
  dju_store3(out->normal, f.n);
  dju_store3(out->point_a, dju_add3(at, f.y));
  dju_store3(out->point_b, dju_add3(bt, f.y_b));
  out->multipliers[0] = out->alpha / f.T * f.la;
  out->multipliers[1] = out->alpha / f.T * f.lb;
  out->iterations = p->touch.iterations;
  out->condition = flags & DJC_CONDITION ? condition(p) : 0;
  if (flags & DJC_DERIVATIVES) derivatives(out, p, &f);
  if (p->swapped) turnRound(out, flags);
  return status;
}

// What dphi and the three of dgrad, in the shape's axes, make of alpha, x, normal and gap (rows):
// (2) of shape/implicit_motion.h.
static void sizeMap(double map[8][4], const djcImplicitPair* p, int s, double alpha) {
  const djImplicitFrame* f = &p->frame;
  const double l = s ? f->lb : f->la, by = alpha * l / f->T, over = p->plane ? 0 : 1 / f->nu;
  const double y[3] = {f->y.x, f->y.y, f->y.z}, d[3] = {f->d.x, f->d.y, f->d.z};
  double c[2][4], tau[2][4], turn[2][4], t[2][3];
  for (int k = 0; k < 2; k++) {
    c[k][0] = s ? l * f->hb_d[k] : -l * f->ha_d[k];
    const djVec3 own = s ? dju_mulMtV(p->place.R, p->touch.t[k]) : p->touch.t[k];
    dju_store3(c[k] + 1, dju_scale3(l, own));
    dju_store3(t[k], f->t[k]);
  }
  for (int j = 0; j < 4; j++) {
    tau[0][j] = -f->inv[0] * c[0][j] - f->inv[1] * c[1][j];
    tau[1][j] = -f->inv[1] * c[0][j] - f->inv[2] * c[1][j];
  }
  for (int k = 0; k < 2; k++) {
    for (int j = 0; j < 4; j++) {
      turn[k][j] = over * (f->A[k] * tau[0][j] + f->A[k + 1] * tau[1][j] + (s ? 0 : c[k][j]));
    }
  }
  for (int j = 0; j < 4; j++) {
    map[0][j] = j > 0 ? 0 : by;
    map[7][j] = j > 0 ? 0 : l;
    for (int i = 0; i < 3; i++) {
      map[1 + i][j] = alpha * (t[0][i] * tau[0][j] + t[1][i] * tau[1][j]);
      map[4 + i][j] = t[0][i] * turn[0][j] + t[1][i] * turn[1][j];
    }
  }
  for (int i = 0; i < 3; i++) map[1 + i][0] += by * y[i] - (s ? 0 : alpha * l * d[i]);
}

djStatus djc_implicitBySize(double* by, djcImplicitPair* p, int side) {
  if (!by || !p || side < 0 || side > 1 || !p->evaluated) return DJ_INVALID;
  const int s = side ^ p->swapped;
  const djImplicit* shape = &p->shape[s];
  if (shape->nsize == 0) return DJ_OK;
  double map[8][4];
  sizeMap(map, p, s, p->D / p->frame.T);
  dj_mapNumbers(by, 8, map[0], shape, s ? p->touch.y_b : p->touch.y);
  return DJ_OK;
}

djStatus djc_implicit(djcImplicit* out, double* by_a, double* by_b, const djcImplicitShape* a,
                      const double pos_a[3], const double quat_a[4], const djcImplicitShape* b,
                      const double pos_b[3], const double quat_b[4], int flags, djError* err) {
  djcImplicitPair* p;
  if (!out) return dj_fail(err, DJ_INVALID, "no result");
  memset(out, 0, sizeof *out);
  djStatus status = djc_makeImplicitPair(&p, a, b, err);
  if (status) return status;
  status = djc_evalImplicitPair(out, p, pos_a, quat_a, pos_b, quat_b, flags);
  if (status < 0) dj_fail(err, status, "a and b: poses are not finite, or a quaternion is zero");
  if (status == DJ_OK && by_a) djc_implicitBySize(by_a, p, 0);
  if (status == DJ_OK && by_b) djc_implicitBySize(by_b, p, 1);
  djc_deleteImplicitPair(p);
  return status;
}
