// Queries of djc_penalty: what is refused has a reason, what is not has finite results that
// balance. Input: ways (bits: 1 no points wanted, 2 no derivatives by them, 4 no error, 8 no query,
// 16 no result, 32 no points), numbers of the query in the order of its fields, then its points.

#include "numbers.h"

#include <dijoco/dijoco.h>
#include <dijoco/penalty.h>

enum { MOST = 40 };

static bool areFinite(const double* x, int n) {
  for (int i = 0; i < n; i++) {
    if (!isfinite(x[i])) return false;
  }
  return true;
}

// Forces are opposite, and moments about the world's origin: to rounding of what they are made of.
static void checkBalance(const djcPenalty* p, const djcPenaltyQuery* q) {
  const double *a = p->wrench_a, *b = p->wrench_b;
  double size = 0, arm = 0;
  for (int k = 0; k < 3; k++) size += fabs(a[3 + k]);
  for (int k = 0; k < 3; k++) arm += fabs(q->origin[k]) + fabs(q->pos[k]);
  for (int i = 0; i < 3 * q->npoint; i++) arm += fabs(q->point[i]);
  for (int k = 0; k < 3; k++) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    FUZZ_CHECK(fabs(a[3 + k] + b[3 + k]) <= 1e-12 * q->npoint * size + 1e-300);
    const double moment = a[k] + b[k] + q->origin[i] * a[3 + j] - q->origin[j] * a[3 + i] +
                          q->pos[i] * b[3 + j] - q->pos[j] * b[3 + i];
    double force = 0;
    for (int c = 0; c < 6; c++) force += fabs(a[c]) + fabs(b[c]);
    FUZZ_CHECK(fabs(moment) <= 1e-9 * force * (1 + arm) + 1e-300);
  }
}

static void checkPoints(const djcPenaltyPoint* point, int n) {
  for (int i = 0; i < n; i++) {
    const djcPenaltyPoint* p = &point[i];
    const double* v = p->normal;
    FUZZ_CHECK(isfinite(p->distance) && areFinite(p->force, 3));
    FUZZ_CHECK(fabs(v[0] * v[0] + v[1] * v[1] + v[2] * v[2] - 1) < 1e-9);
    FUZZ_CHECK(p->state == DJC_FREE || p->state == DJC_STICK || p->state == DJC_SLIP);
    if (p->distance >= 0) FUZZ_CHECK(p->force[0] == 0 && p->force[1] == 0 && p->force[2] == 0);
    double pull = 0;
    for (int k = 0; k < 3; k++) pull += p->force[k] * v[k];
    double size = fabs(p->force[0]) + fabs(p->force[1]) + fabs(p->force[2]);
    FUZZ_CHECK(pull >= -1e-9 * size);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  char* text = fuzz_text(data, size);
  FuzzNumbers from = {text};
  const int ways = fuzz_range(&from, 0, 63);
  double place[3 * MOST], by_point[3 * MOST];
  djcPenaltyPoint point[MOST];
  djcPenaltyQuery q = {.npoint = fuzz_int(&from)};
  const int n = q.npoint < 0 ? 0 : q.npoint > MOST ? MOST : q.npoint;
  if (q.npoint > MOST && q.npoint < 1000000000) q.npoint = MOST; // more are not there
  q.geom = (djGeomType)fuzz_int(&from);
  double* const field[] = {q.size, q.pos, q.quat, q.origin, q.twist_a, q.twist_b};
  static const int length[] = {3, 3, 4, 3, 6, 6};
  for (int k = 0; k < 6; k++) fuzz_fill(field[k], length[k], &from);
  double* const law[] = {&q.kn, &q.kt, &q.kd, &q.mu, &q.scale};
  for (int k = 0; k < 5; k++) *law[k] = fuzz_number(&from);
  fuzz_fill(q.lambda, 12, &from);
  fuzz_fill(place, 3 * n, &from);
  if (!(ways & 32)) q.point = place;
  djcPenalty out;
  djError err = {""};
  djcPenalty* result = ways & 16 ? NULL : &out;
  const djStatus status = djc_penalty(result, ways & 1 ? NULL : point, ways & 2 ? NULL : by_point,
                                      ways & 8 ? NULL : &q, ways & 4 ? NULL : &err);
  FUZZ_CHECK(status == DJ_OK || ways & 4 || err.text[0]);
  if (status == DJ_OK) {
    FUZZ_CHECK(result && !(ways & 8) && q.npoint == n && n > 0);
    FUZZ_CHECK(areFinite(out.wrench_a, 12 + 288 + 5));
    if (!(ways & 2)) FUZZ_CHECK(areFinite(by_point, 3 * n));
    if (!(ways & 1)) checkPoints(point, n);
    checkBalance(&out, &q);
  }
  free(text);
  return 0;
}
