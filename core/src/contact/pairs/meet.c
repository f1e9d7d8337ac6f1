// What a refused trial of Newton's method tells of pairs. A pair's energy grows by a power of how
// far it is pressed: where the Jacobian does not know of a contact, or of a softer one, the trial
// is so far beyond it that a line search would cut the step of all bodies, though a few pairs are
// met. These pairs' blocks at the present point are replaced: U by the quadratic that it is near a
// place on the way to the trial, where it rises by little above what was foreseen,
//   U(x) = U(x_f) + g . (x - x_f) + (x - x_f) . K (x - x_f)/2,
// x twists from the present poses, g and K (made positive semi-definite) those at x_f, a part f of
// the way. Values at points stay the pairs' own: the blocks only serve to find a step.

#include "contact/contact.h"
#include "contact/pairs/near.h"
#include "math/so3.h"

#include <math.h>
#include <string.h>

enum { MOST_TRIES = 12, SECANTS = 3 };
// A place's energy, over the excess allowed.
static const double LOW = 0.3, HIGH = 3, AIM = 1;

// ---- blocks of the present point ----------------------------------------------------------------

void dj_keepBlocks(djContacts* c) {
  if (c->marked && c->evaluated) {
    djContactBlock* swap = c->block;
    c->block = c->kept;
    c->kept = swap;
    c->nkept = c->nblock;
    memcpy(c->kept_pose, c->eval_pose, (size_t)c->nbody * sizeof(djPose));
    c->keeps = true;
    c->evaluated = false; // its blocks have gone
    c->nblock = 0;
  }
  c->marked = false;
}

bool dj_replayContacts(djContacts* c, const djPose* pose) {
  if (!c) return false;
  c->replays = false;
  if (!pose) return false;
  dj_keepBlocks(c);
  const size_t size = (size_t)c->nbody * sizeof *pose;
  c->replays = c->keeps && memcmp(c->kept_pose, pose, size) == 0;
  return c->replays;
}

double dj_replayBlocks(djContacts* c) {
  double value = 0;
  memcpy(c->block, c->kept, (size_t)c->nkept * sizeof *c->block);
  for (int k = 0; k < c->nkept; k++) {
    c->active[k] = &c->block[k];
    value += c->block[k].out.value;
  }
  c->nblock = c->nkept;
  c->evaluated = false;
  return value;
}

// Order of the list of pairs.
static int compare(const djContactBlock* p, const djContactBlock* q) {
  const int p0 = p->geom_a < p->geom_b ? p->geom_a : p->geom_b, p1 = p->geom_a + p->geom_b - p0;
  const int q0 = q->geom_a < q->geom_b ? q->geom_a : q->geom_b, q1 = q->geom_a + q->geom_b - q0;
  return p0 != q0 ? p0 - q0 : p1 - q1;
}

// Where a pair's kept block is, or would be.
static int findKept(bool* there, const djContacts* c, const djContactBlock* block) {
  int low = 0, high = c->nkept;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (compare(&c->kept[middle], block) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  *there = low < c->nkept && compare(&c->kept[low], block) == 0;
  return low;
}

// A block's substitute; without a place where there is no room.
static void keepBlock(djContacts* c, const djContactBlock* block, const djPairOutput* out) {
  bool there;
  const int at = findKept(&there, c, block);
  if (!there) {
    if (c->nkept == c->nslot) return;
    memmove(c->kept + at + 1, c->kept + at, (size_t)(c->nkept - at) * sizeof *c->kept);
    c->kept[at] = *block;
    c->nkept++;
  }
  c->kept[at].out = *out;
}

// ---- places on the way --------------------------------------------------------------------------

// Twist about ref from one pose to another, by less than a quarter turn.
static void twistTo(double x[6], const djPose* from, const djPose* to, djVec3 ref) {
  const djVec3 arm = dju_mulMtV(from->R, dju_sub3(ref, from->p)); // of ref, in the body's frame
  djVec3 turn = {0, 0, 0};
  for (int k = 0; k < 3; k++) { // sum of e_from x e_to over axes = 2 sin(t) axis
    const djVec3 e0 = {from->R.m[k], from->R.m[3 + k], from->R.m[6 + k]};
    const djVec3 e1 = {to->R.m[k], to->R.m[3 + k], to->R.m[6 + k]};
    turn = dju_madd3(turn, 0.5, dju_cross3(e0, e1));
  }
  const double size = dju_norm3(turn), angle = asin(fmin(size, 1));
  dju_store3(x, dju_scale3(size > 0 ? angle / size : 1, turn));
  dju_store3(x + 3, dju_sub3(dju_madd3(to->p, 1, dju_mulMV(to->R, arm)), ref));
}

static djPose moveBy(const djPose* from, const double x[6], double f, djVec3 ref) {
  const djMat3 R = dju_quatToMat(dju_expQuat(dju_scale3(f, dju_load3(x))));
  const djVec3 p = dju_mulMV(R, dju_sub3(from->p, ref));
  return (djPose){dju_add3(dju_madd3(ref, f, dju_load3(x + 3)), p), dju_mulMM(R, from->R)};
}

// value + f x . (gradient + f hessian x/2)
static double quadratic(const djPairOutput* out, const double x[12], double f) {
  double sum = out->value;
  for (int i = 0; i < 12; i++) {
    double y = 0;
    for (int j = 0; j < 12; j++) y += out->hessian[12 * i + j] * x[j];
    sum += f * x[i] * (out->gradient[i] + 0.5 * f * y);
  }
  return sum;
}

// From a place f x back to x = 0.
static void carryBack(djPairOutput* out, const double x[12], double f) {
  out->value = quadratic(out, x, -f);
  for (int i = 0; i < 12; i++) {
    for (int j = 0; j < 12; j++) out->gradient[i] -= f * out->hessian[12 * i + j] * x[j];
  }
}

static djStatus evalAlong(djPairOutput* out, djContacts* c, const djModel* m, int k,
                          const double x[12], double f) {
  const djContactBlock* b = &c->block[k];
  const djNearPair* p = &c->pair[c->active_pair[k]];
  const djPose pose_a = moveBy(&c->kept_pose[b->body_a], x, f, c->ref[b->body_a]);
  const djPose pose_b = moveBy(&c->kept_pose[b->body_b], x + 6, f, c->ref[b->body_b]);
  djPairInput in = dj_pairInput(c, m, p, c->eval_pose);
  in.pose_a = &pose_a;
  in.pose_b = &pose_b;
  *out = b->out;
  return p->kernel->eval(out, dj_stateOf(c, p), &in, DJ_EVAL_HESSIAN | DJ_EVAL_MAJORIZER);
}

// The next place to look at, of the way from one that is too low to one that is `over` what was
// foreseen: beyond an onset energies grow by the fourth power.
static double nextPart(double over, double excess, int n) {
  if (isinf(over) || n > SECANTS) return 0.5;
  return fmax(0.1, fmin(sqrt(sqrt(AIM * excess / over)), 0.9));
}

// Block k of the trial, whose energy is `over` what was foreseen, gets a substitute.
static djStatus meet(int* found, djContacts* c, const djModel* m, int k, const double x[12],
                     const djPairOutput* present, double over, double excess) {
  djPairOutput out;
  double low = 0, high = 1, f = 1;
  for (int n = 0; n < MOST_TRIES; n++) {
    f = low + (high - low) * nextPart(over, excess, n);
    djStatus status = evalAlong(&out, c, m, k, x, f);
    if (status < 0) return status;
    const double rise = out.value - quadratic(present, x, f);
    if (rise >= LOW * excess && rise <= HIGH * excess) break;
    if (rise < LOW * excess)
      low = f;
    else
      high = f, over = rise;
  }
  if (!isfinite(out.value)) return DJ_OK;
  dj_convexHessian(out.hessian, 12, 1);
  carryBack(&out, x, f);
  keepBlock(c, &c->block[k], &out);
  ++*found;
  return DJ_OK;
}

djStatus dj_meetContacts(int* found, djContacts* c, const djModel* m, double excess) {
  *found = 0;
  if (!c || !c->keeps || !(c->evaluated || c->blocked) || !(excess > 0)) return DJ_OK;
  for (int k = 0; k < c->nblock; k++) {
    const djContactBlock* b = &c->block[k];
    const djPairOutput none = {0};
    double x[12];
    bool there;
    const int at = findKept(&there, c, b);
    const djPairOutput* present = there ? &c->kept[at].out : &none;
    twistTo(x, &c->kept_pose[b->body_a], &c->eval_pose[b->body_a], c->ref[b->body_a]);
    twistTo(x + 6, &c->kept_pose[b->body_b], &c->eval_pose[b->body_b], c->ref[b->body_b]);
    const double over = b->out.value - quadratic(present, x, 1);
    if (!(over > excess)) continue;
    djStatus status = meet(found, c, m, k, x, present, over, excess);
    if (status < 0) return status;
  }
  return DJ_OK;
}
