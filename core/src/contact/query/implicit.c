// Contact kinematics of implicit surfaces (dijoco/implicit.h).

#include <dijoco/implicit.h>

#include "base/status.h"
#include "math/blas.h"
#include "model/check.h"
#include "shape/implicit_motion.h"

#include <lapacke.h>

#include <stdlib.h>
#include <string.h>

#define COINCIDE 1e-12 // of the shapes' size
#define MOST_FACETS 100000

struct djcImplicitPair {
  djImplicit shape[2];
  double* room[2]; // of the shape, and 4 for each of its numbers
  djImplicitWarm warm;
  djVec3 last; // direction from a to b, world; zero: none yet
  bool evaluated;
  djImplicitTouch touch; // of the last evaluation, and where
  djImplicitPlace place;
  djMat3 R[2];
  double D;
};

const char* djc_implicitFamily(int family) {
  for (int i = 0; i <= family && dj_implicitTable[i]; i++) {
    if (i == family) return dj_implicitTable[i]->name;
  }
  return "";
}

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
  *room = malloc((size_t)(dj_implicitRoom(row, from->nface) + 4 * from->nsize) * sizeof **room);
  if (!*room) return dj_failMemory(err);
  djError why = {""};
  const djStatus status = dj_makeImplicit(shape, *room, row, from->nface, from->size, &why);
  return status ? dj_fail(err, status, "%c: %s", name, why.text) : DJ_OK;
}

djStatus djc_makeImplicitPair(djcImplicitPair** pair, const djcImplicitShape* a,
                              const djcImplicitShape* b, djError* err) {
  if (!pair) return DJ_INVALID;
  *pair = NULL;
  djcImplicitPair* p = calloc(1, sizeof *p);
  if (!p) return dj_failMemory(err);
  djStatus status = makeShape(&p->shape[0], &p->room[0], a, 'a', err);
  if (!status) status = makeShape(&p->shape[1], &p->room[1], b, 'b', err);
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
  if (pair) memset(&pair->warm, 0, sizeof pair->warm);
}

// ------------------------------------------ evaluation ------------------------------------------

// Row of derivatives by twists: by psi_a and psi_b what `rate` (9) says times `scale`; by the
// bodies' places that of e, d e = P (v_b - v_a)/D, times over_d, plus `along` on d.(v_b - v_a).
static void row(double out[12], const double* rate, double scale, double over_d, double along,
                djVec3 d) {
  const djVec3 e = dju_load3(rate + 6);
  double v[3];
  dju_store3(v,
             dju_add3(dju_scale3(over_d, dju_madd3(e, -dju_dot3(e, d), d)), dju_scale3(along, d)));
  for (int k = 0; k < 3; k++) {
    out[k] = scale * rate[k];
    out[6 + k] = scale * rate[3 + k];
    out[3 + k] = -v[k];
    out[9 + k] = v[k];
  }
}

static void addRow(double* out, double f, const double* x) {
  for (int k = 0; k < 12; k++) out[k] += f * x[k];
}

static void derivatives(djcImplicit* out, const djcImplicitPair* p, const djImplicitFrame* f) {
  djImplicitRates r;
  dj_moveTouch(&r, f);
  const double T = f->T, over = out->degenerate ? 0 : 1 / p->D,
               finite = out->degenerate ? 0 : 1 / T;
  const double alpha = out->alpha, y[3] = {f->y.x, f->y.y, f->y.z}, d[3] = {f->d.x, f->d.y, f->d.z};
  double dT[12];
  row(dT, r.T, 1, over, 0, f->d);
  row(out->dalpha, r.T, -alpha / T, -finite / T, 1 / T, f->d);
  row(out->dgap, r.T, -1, -over, 1, f->d);
  for (int i = 0; i < 3; i++) {
    double dy[12], *x = out->dx + 12 * i, *a = out->dpoint_a + 12 * i, *b = out->dpoint_b + 12 * i;
    row(x, r.y + 9 * i, alpha, finite, 0, f->d);
    addRow(x, y[i], out->dalpha);
    x[3 + i] += 1;
    row(out->dnormal + 12 * i, r.n + 9 * i, 1, over, 0, f->d);
    row(dy, r.y + 9 * i, 1, over, 0, f->d);
    double turn[9] = {0}, dd[12];
    turn[6 + i] = T; // T e
    row(dd, turn, 0, over, 0, f->d);
    memcpy(a, dy, sizeof dy);
    a[3 + i] += 1;
    memcpy(b, dy, sizeof dy);
    addRow(b, -d[i], dT);
    addRow(b, -1, dd);
    b[9 + i] += 1;
  }
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

static void place(djcImplicitPair* p, const double pos_a[3], const double quat_a[4],
                  const double pos_b[3], const double quat_b[4]) {
  p->R[0] = dju_quatToMat(dju_loadQuat(quat_a));
  p->R[1] = dju_quatToMat(dju_loadQuat(quat_b));
  p->place.R = dju_mulMtM(p->R[0], p->R[1]);
  const djVec3 apart = dju_sub3(dju_load3(pos_b), dju_load3(pos_a));
  const double size = p->shape[0].outer + p->shape[1].outer;
  p->D = dju_norm3(apart);
  if (p->D > COINCIDE * size)
    p->last = dju_scale3(1 / p->D, apart);
  else if (!(dju_norm3(p->last) > 0))
    p->last = dju_column(&p->R[0], 0);
  p->place.d = dju_mulMtV(p->R[0], p->last);
}

static djStatus checkPose(const double pos[3], const double quat[4]) {
  double norm = 0;
  for (int k = 0; k < 3; k++) {
    if (!(fabs(pos[k]) <= DJ_LARGEST)) return DJ_INVALID;
  }
  for (int k = 0; k < 4; k++) norm += quat[k] * quat[k];
  return fabs(norm - 1) <= 1e-6 ? DJ_OK : DJ_INVALID;
}

djStatus djc_evalImplicitPair(djcImplicit* out, djcImplicitPair* p, const double pos_a[3],
                              const double quat_a[4], const double pos_b[3], const double quat_b[4],
                              int flags) {
  if (!out || !p || !pos_a || !quat_a || !pos_b || !quat_b) return DJ_INVALID;
  if (checkPose(pos_a, quat_a) || checkPose(pos_b, quat_b)) return DJ_INVALID;
  place(p, pos_a, quat_a, pos_b, quat_b);
  const djStatus status =
      dj_touchImplicit(&p->touch, &p->warm, &p->shape[0], &p->shape[1], &p->place);
  djImplicitFrame f;
  dj_frameImplicit(&f, &p->touch, &p->place, p->R[0]);
  p->evaluated = status == DJ_OK;
  const djVec3 at = dju_load3(pos_a);
  out->degenerate = p->D <= COINCIDE * (p->shape[0].outer + p->shape[1].outer);
  out->alpha = p->D / f.T;
  out->gap = p->D - f.T;
  dju_store3(out->x, dju_madd3(at, out->alpha, f.y));
  dju_store3(out->normal, f.n);
  dju_store3(out->point_a, dju_add3(at, f.y));
  dju_store3(out->point_b, dju_add3(dju_load3(pos_b), f.y_b));
  out->multipliers[0] = out->alpha / f.T * f.la;
  out->multipliers[1] = out->alpha / f.T * f.lb;
  out->iterations = p->touch.iterations;
  out->condition = flags & DJC_CONDITION ? condition(p) : 0;
  if (flags & DJC_DERIVATIVES) derivatives(out, p, &f);
  return status;
}

djStatus djc_implicitBySize(double* by, djcImplicitPair* p, int side) {
  if (!by || !p || side < 0 || side > 1 || !p->evaluated) return DJ_INVALID;
  const djImplicit* shape = &p->shape[side];
  const int n = shape->nsize;
  djImplicitFrame f;
  dj_frameImplicit(&f, &p->touch, &p->place, p->R[0]);
  double* dphi = p->room[side] + dj_implicitRoom(shape->row, shape->nface);
  double* dgrad = dphi + n;
  const djVec3 y = side ? dju_mulMtV(p->R[1], f.y_b) : p->touch.y;
  shape->row->by(dphi, dgrad, shape, y);
  const double alpha = p->D / f.T;
  for (int k = 0; k < n; k++) {
    djVec3 dy, dn;
    double dT, v[8];
    dj_bendTouch(&dy, &dT, &dn, &f, side, dphi[k], dju_mulMV(p->R[side], dju_load3(dgrad + 3 * k)));
    v[0] = -alpha * dT / f.T;
    dju_store3(v + 1, dju_madd3(dju_scale3(alpha, dy), v[0], f.y));
    dju_store3(v + 4, dn);
    v[7] = -dT;
    for (int i = 0; i < 8; i++) by[i * n + k] = v[i];
  }
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
  if (status < 0) dj_fail(err, status, "a and b: poses are not finite, or quaternions not unit");
  if (status == DJ_OK && by_a) djc_implicitBySize(by_a, p, 0);
  if (status == DJ_OK && by_b) djc_implicitBySize(by_b, p, 1);
  djc_deleteImplicitPair(p);
  return status;
}
