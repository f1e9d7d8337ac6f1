#include "contact/implicit/implicit_touch.h"

#include "base/status.h"
#include "contact/implicit/implicit_fit.h"
#include "contact/implicit/implicit_surface.h"
#include "contact/wrench.h"

#define COINCIDE 1e-12 // of the shapes' size

static djPose placed(const djPose* body, const djPose* frame) {
  return (djPose){dju_transform(body, frame->p), dju_mulMM(body->R, frame->R)};
}

static bool isFinite(const djPose* T) {
  double sum = T->p.x + T->p.y + T->p.z;
  for (int i = 0; i < 9; i++) sum += T->R.m[i];
  return isfinite(sum);
}

static void openHalfSpace(djSurfacePair* out, const djPairInput* in) {
  const djVec3 N = dju_mulMV(in->pose_b->R, in->b->normal);
  const double offset = dju_dot3(N, in->pose_b->p) + in->b->offset;
  out->half_space = true;
  out->d = dju_neg3(N);
  out->D = dju_dot3(N, out->frame_a.p) - offset;
  out->frame_b = (djPose){dju_madd3(out->frame_a.p, out->D, out->d), out->frame_a.R};
  out->place.R = dju_eye3();
  out->place.d = dju_mulMtV(out->frame_a.R, out->d);
  dj_implicitHalfSpace(&out->b, out->place.d, out->a.outer);
}

djStatus dj_openSurfacePair(djSurfacePair* out, djVec3* last, const djPairInput* in) {
  if (!in || !in->a || !in->b || !in->pose_a || !in->pose_b) return DJ_INVALID;
  const bool plane = in->b->type == DJ_PLANE;
  if (in->a->nvert < 1 || in->a->npad < in->a->nvert || !in->a->fit) return DJ_INVALID;
  if (!plane && (in->b->nvert < 1 || in->b->npad < in->b->nvert || !in->b->fit)) return DJ_INVALID;
  if (!isFinite(in->pose_a) || !isFinite(in->pose_b) || !isfinite(in->inflate)) return DJ_INVALID;
  djPose frame;
  dj_openFit(&out->a, &frame, in->a);
  out->frame_a = placed(in->pose_a, &frame);
  out->ref[0] = in->ref_a;
  out->ref[1] = in->ref_b;
  out->inflate = in->inflate + dj_fitInflation(in->a) + dj_fitInflation(in->b);
  out->half_space = out->degenerate = false;
  out->at_point = in->setting && dj_isLaw(in->setting, DJ_LAW_PAPER);
  if (plane) {
    openHalfSpace(out, in);
    return DJ_OK;
  }
  dj_openFit(&out->b, &frame, in->b);
  out->frame_b = placed(in->pose_b, &frame);
  const djVec3 apart = dju_sub3(out->frame_b.p, out->frame_a.p);
  out->D = dju_norm3(apart);
  out->degenerate = !(out->D > COINCIDE * (out->a.outer + out->b.outer));
  if (!out->degenerate)
    *last = dju_scale3(1 / out->D, apart);
  else if (!(dju_norm3(*last) > 0))
    *last = dju_column(&out->frame_a.R, 0);
  out->d = *last;
  out->place.R = dju_mulMtM(out->frame_a.R, out->frame_b.R);
  out->place.d = dju_mulMtV(out->frame_a.R, out->d);
  return DJ_OK;
}

double dj_surfaceBound(const djSurfacePair* p) {
  return p->D - p->a.outer - p->b.outer - p->inflate;
}

djStatus dj_findSurfaceTouch(djSurfaceTouch* out, djImplicitWarm* warm, const djSurfacePair* p) {
  djImplicitTouch touch;
  const djStatus status = dj_touchImplicit(&touch, warm, &p->a, &p->b, &p->place);
  if (status < 0) return status;
  dj_frameImplicit(&out->f, &touch, &p->place, p->frame_a.R);
  const djImplicitFrame* f = &out->f;
  const djVec3 y[2] = {f->y, f->y_b}, origin[2] = {p->frame_a.p, p->frame_b.p};
  out->depth = f->T - p->D + p->inflate;
  out->ratio = p->degenerate ? 0 : f->T / p->D;
  out->q = dju_madd3(dju_scale3(1 - out->ratio, p->d), f->nu * out->ratio, f->n);
  out->alpha = p->D / f->T;
  out->x = dju_madd3(p->frame_a.p, out->alpha, f->y);
  out->at_point = p->at_point;
  for (int k = 0; k < 2; k++) {
    out->arm[k] = dju_sub3(origin[k], p->ref[k]);
    out->reach[k] = dju_madd3(out->arm[k], out->alpha, y[k]);
    out->moment[k] =
        dju_add3(dju_scale3(f->nu, dju_cross3(y[k], f->n)), dju_cross3(out->arm[k], out->q));
  }
  return status;
}

void dj_surfaceGradient(double g[12], const djSurfaceTouch* t, double f) {
  for (int k = 0; k < 2; k++) {
    const double sign = k ? -f : f;
    const djVec3 n = t->f.n;
    const djVec3 w = t->at_point ? dju_cross3(t->reach[k], n) : t->moment[k];
    dju_store3(g + 6 * k, dju_scale3(sign, w));
    dju_store3(g + 6 * k + 3, dju_scale3(sign, t->at_point ? n : t->q));
  }
}

double dj_dotChanges(const djSurfaceChange* a, const djSurfaceChange* b) {
  const double directions = dju_dot3(a->y, b->y) + dju_dot3(a->n, b->n) + dju_dot3(a->d, b->d);
  const double places = dju_dot3(a->pa, b->pa) + dju_dot3(a->pb, b->pb);
  return directions + places + a->T * b->T + a->D * b->D + a->inflate * b->inflate +
         a->force * b->force;
}

double dj_depthChange(const djSurfaceChange* e) { return e->T - e->D + e->inflate; }

// dr, dnu: of T/D and of 1/(n.d).
static double ratioChange(const djSurfacePair* p, const djSurfaceTouch* t,
                          const djSurfaceChange* e) {
  return p->degenerate ? 0 : (e->T - t->ratio * e->D) / p->D;
}

static double nuChange(const djSurfacePair* p, const djSurfaceTouch* t, const djSurfaceChange* e) {
  return -t->f.nu * t->f.nu * (dju_dot3(e->n, p->d) + dju_dot3(t->f.n, e->d));
}

djVec3 dj_forceChange(const djSurfacePair* p, const djSurfaceTouch* t, const djSurfaceChange* e) {
  const djImplicitFrame* f = &t->f;
  const double r = t->ratio, dr = ratioChange(p, t, e), dnu = nuChange(p, t, e);
  const djVec3 dq = dju_madd3(dju_scale3(1 - r, e->d), -dr, p->d);
  return dju_madd3(dju_madd3(dq, dnu * r + f->nu * dr, f->n), f->nu * r, e->n);
}

djVec3 dj_pointChange(const djSurfaceTouch* t, const djSurfaceChange* e) {
  const double dalpha = (e->D - t->alpha * e->T) / t->f.T;
  return dju_madd3(dju_madd3(e->pa, t->alpha, e->y), dalpha, t->f.y);
}

static void addRow(double* g, int stride, int side, djVec3 w, djVec3 v) {
  const double row[6] = {w.x, w.y, w.z, v.x, v.y, v.z};
  for (int i = 0; i < 6; i++) g[(6 * side + i) * stride] += side ? -row[i] : row[i];
}

void dj_addSurfaceChange(double* g, int stride, const djSurfacePair* p, const djSurfaceTouch* t,
                         double force, double slope, const djSurfaceChange* e) {
  const djImplicitFrame* f = &t->f;
  const double df = e->force + slope * dj_depthChange(e);
  if (t->at_point) {
    const djVec3 dx = dj_pointChange(t, e), dv = dju_madd3(dju_scale3(df, f->n), force, e->n);
    const djVec3 turn = dju_scale3(force, dju_cross3(dx, f->n));
    for (int k = 0; k < 2; k++) {
      addRow(g, stride, k, dju_add3(turn, dju_cross3(t->reach[k], dv)), dv);
    }
    return;
  }
  const double dnu = nuChange(p, t, e);
  const djVec3 dq = dj_forceChange(p, t, e);
  const djVec3 dy_b = dju_madd3(dju_madd3(e->y, -e->T, p->d), -f->T, e->d);
  const djVec3 y[2] = {f->y, f->y_b}, dy[2] = {e->y, dy_b}, dp[2] = {e->pa, e->pb};
  for (int k = 0; k < 2; k++) {
    djVec3 dm = dju_add3(dju_cross3(dy[k], f->n), dju_cross3(y[k], e->n));
    dm = dju_madd3(dju_scale3(f->nu, dm), dnu, dju_cross3(y[k], f->n));
    djVec3 dw = dju_add3(dm, dju_add3(dju_cross3(dp[k], t->q), dju_cross3(t->arm[k], dq)));
    dw = dju_madd3(dju_scale3(force, dw), df, t->moment[k]);
    addRow(g, stride, k, dw, dju_madd3(dju_scale3(force, dq), df, t->q));
  }
}

static djVec3 rateOf(const double rates[27], const double by[9]) {
  double out[3] = {0, 0, 0};
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 9; k++) out[i] += rates[9 * i + k] * by[k];
  }
  return dju_load3(out);
}

void dj_touchChange(djSurfaceChange* out, const djImplicitRates* rates, const double by[9]) {
  out->y = rateOf(rates->y, by);
  out->n = rateOf(rates->n, by);
  out->T = 0;
  for (int k = 0; k < 9; k++) out->T += rates->T[k] * by[k];
}

void dj_twistChange(djSurfaceChange* out, const djSurfacePair* p, const djImplicitRates* rates,
                    int j) {
  double twist[6] = {0}, by[9] = {0};
  const int side = j / 6, turns = j % 6 < 3;
  twist[j % 6] = 1;
  if (turns) by[3 * side + j % 6] = 1;
  const djVec3 none = {0, 0, 0}, w = dju_load3(twist);
  djVec3 e;
  *out = (djSurfaceChange){.pa = none, .pb = none};
  if (p->half_space) { // it moves with b; the foot with both
    const djVec3 at = dj_twistField(twist, dju_sub3(p->frame_a.p, p->ref[side]));
    e = side ? dju_cross3(w, p->d) : none;
    if (!side) out->pa = at;
    out->D = dju_dot3(p->d, at) * (side ? 1 : -1);
    out->pb = dju_madd3(dju_madd3(out->pa, out->D, p->d), p->D, e);
  } else {
    const djVec3 origin = side ? p->frame_b.p : p->frame_a.p;
    const djVec3 at = dj_twistField(twist, dju_sub3(origin, p->ref[side]));
    const djVec3 apart = side ? at : dju_neg3(at);
    *(side ? &out->pb : &out->pa) = at;
    out->D = dju_dot3(p->d, apart);
    e = p->degenerate ? none : dju_scale3(1 / p->D, dju_madd3(apart, -out->D, p->d));
  }
  dju_store3(by + 6, e);
  out->d = e;
  dj_touchChange(out, rates, by);
}
