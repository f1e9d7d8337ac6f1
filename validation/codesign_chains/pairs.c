#include "codesign_chains/pairs.h"

#include "codesign_chains/ipc.h"
#include "codesign_chains/project.h"
#include "codesign_chains/seconds.h"
#include "common/scene.h"
#include "common/vec3.h"

#include <stdlib.h>
#include <string.h>

enum { NSIZE = 6, NRANGE = 3, POSES = 200, CHUNK = 20, REPEATS = 1 };
static const int sizes[NSIZE] = {8, 16, 32, 64, 96, 192};
// Of the hulls' mean size, 0.2 m: the library's default for them at 2 ms, and wider ones.
static const double ranges[NRANGE] = {6e-3, 2e-2, 1e-1};
#define SIZE 0.2

typedef struct Pose {
  double pos[3], quat[4];
} Pose;

// Two hulls, the first of which stays where it is.
typedef struct Pair {
  int n;
  double range;
  double vert[2][3 * IPC_MAX_VERT], placed[3 * IPC_MAX_VERT];
  IpcHull hull[2];
  djcPair* plane;
  Pose pose[POSES], before[POSES];
} Pair;

// Random points on two ellipsoids: all are vertices of their hulls.
static void makeHulls(Pair* p, djvRandom* random) {
  static const double half[2][3] = {{0.1, 0.15, 0.2}, {0.12, 0.08, 0.1}};
  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < p->n; i++) {
      const double z = djv_uniform(random, -1, 1), turn = djv_uniform(random, 0, 2 * M_PI);
      const double x[3] = {sqrt(1 - z * z) * cos(turn), sqrt(1 - z * z) * sin(turn), z};
      for (int c = 0; c < 3; c++) p->vert[k][3 * i + c] = half[k][c] * x[c];
    }
    ipc_makeHull(&p->hull[k], p->n, p->vert[k]);
  }
}

static void makePlane(Pair* p) {
  djcShape shape[2] = {{.nvert = p->n, .vert = p->vert[0], .quat = {1, 0, 0, 0}},
                       {.nvert = p->n, .vert = p->vert[1], .quat = {1, 0, 0, 0}}};
  djcOption option = djc_defaultOption();
  option.support = p->range / (2 + p->range);
  djError err = {""};
  if (djc_makePair(&p->plane, &shape[0], &shape[1], &option, &err)) djv_fail("%s", err.text);
}

static const double* place(Pair* p, const Pose* at) {
  double R[9];
  djv_quatToMat(R, at->quat);
  for (int i = 0; i < p->n; i++) {
    djv_transform(p->placed + 3 * i, at->pos, R, p->vert[1] + 3 * i);
  }
  return p->placed;
}

static double gapOf(Pair* p, const Pose* at, double normal[3]) {
  const djcShape a = {.nvert = p->n, .vert = p->vert[0]}, b = {.nvert = p->n, .vert = place(p, at)};
  double gap, points[6];
  if (djc_distance(&gap, normal, points, points + 3, &a, &b)) djv_fail("no distance");
  return gap;
}

// Any rotation, anywhere around the first hull, at a random part of the range; and a pose before it
// that is a tenth of the range away.
static void makePoses(Pair* p, djvRandom* random) {
  for (int i = 0; i < POSES; i++) {
    Pose* at = &p->pose[i];
    double normal[3], gap, wanted = djv_uniform(random, 0.2, 0.9) * p->range;
    djv_randomQuat(random, at->quat);
    djv_uniforms(at->pos, 3, random, -1, 1);
    const double far = 0.6 / (djv_norm(at->pos) + 1e-9);
    for (int k = 0; k < 3; k++) at->pos[k] *= far;
    for (int k = 0; k < 60 && fabs((gap = gapOf(p, at, normal)) - wanted) > 1e-3 * p->range; k++) {
      for (int c = 0; c < 3; c++) at->pos[c] -= (gap - wanted) * normal[c];
    }
    p->before[i] = *at;
    for (int c = 0; c < 3; c++) {
      p->before[i].pos[c] += 0.1 * p->range * (normal[c] + djv_uniform(random, -0.5, 0.5));
      p->before[i].quat[1 + c] += 0.1 * p->range / SIZE * djv_uniform(random, -1, 1);
    }
  }
}

// ---- both barriers ------------------------------------------------------------------------------

static double evaluatePlane(double gradient[12], double hessian[144], Pair* p, const Pose* at) {
  static const double origin[3] = {0, 0, 0}, none[4] = {1, 0, 0, 0};
  double value;
  if (djc_evalPair(&value, gradient, hessian, p->plane, origin, none, at->pos, at->quat)) {
    djv_fail("no separating plane");
  }
  return value;
}

static double evaluateIpc(Ipc* out, Pair* p, const Pose* at) {
  return ipc_evaluate(out, &p->hull[0], p->vert[0], &p->hull[1], place(p, at), p->range);
}

// As they are, with Hessians that are made positive semi-definite, and IPC's brought to the poses'
// 12 numbers, by which ours are.
enum { EXACT, PROJECTED, BY_POSES, NKIND };

typedef struct Times {
  double plane[NKIND], ipc[NKIND]; // medians, seconds
  double pairs, near;              // of primitives, means
} Times;

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static double median(double* v, int n) {
  qsort(v, (size_t)n, sizeof *v, compare);
  return v[n / 2];
}

// The plane starts warm, from the pose before; IPC's barrier has no state.
static double timePlane(double* sum, Pair* p, int pose, bool project) {
  double gradient[12], hessian[144], spent = 0;
  for (int c = 0; c < CHUNK; c++) {
    *sum += evaluatePlane(gradient, hessian, p, &p->before[pose]);
    const double start = cpuSeconds();
    *sum += evaluatePlane(gradient, hessian, p, &p->pose[pose]);
    if (project) *sum += fabs(project_semidefinite(hessian, 12));
    spent += cpuSeconds() - start;
  }
  return spent / CHUNK;
}

static void toPoses(double gradient[12], double hessian[144], const Pair* p, const Ipc* ipc,
                    const Pose* at) {
  const double origin[6] = {0, 0, 0, at->pos[0], at->pos[1], at->pos[2]};
  ipc_byPoses(gradient, hessian, ipc, origin, &p->hull[0], p->vert[0], &p->hull[1], p->placed);
}

static double timeIpc(double* sum, Pair* p, Ipc* ipc, int pose, int kind) {
  double gradient[12], hessian[144];
  ipc->project = kind == PROJECTED;
  const double start = cpuSeconds();
  for (int c = 0; c < CHUNK; c++) {
    *sum += evaluateIpc(ipc, p, &p->pose[pose]);
    if (kind != BY_POSES) continue;
    toPoses(gradient, hessian, p, ipc, &p->pose[pose]);
    *sum += fabs(hessian[0]);
  }
  const double spent = (cpuSeconds() - start) / CHUNK;
  ipc->project = false;
  return spent;
}

static Times timeBoth(Pair* p, Ipc* ipc) {
  static double plane[NKIND][REPEATS * POSES], other[NKIND][REPEATS * POSES];
  double sum = 0;
  Times t = {.pairs = 0};
  const int n = REPEATS * POSES;
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < NKIND; k++) {
      plane[k][i] = timePlane(&sum, p, i % POSES, k == PROJECTED);
      other[k][i] = timeIpc(&sum, p, ipc, i % POSES, k);
    }
    t.pairs += (double)ipc->npair / n;
    t.near += (double)ipc->nblock / n;
  }
  if (!(sum > 0)) djv_fail("no barrier acts");
  for (int k = 0; k < NKIND; k++) {
    t.plane[k] = median(plane[k], n);
    t.ipc[k] = median(other[k], n);
  }
  return t;
}

// ---- IPC's own correctness ----------------------------------------------------------------------

static double valueMoved(Ipc* out, Pair* p, double* vb, const double* va) {
  return ipc_evaluate(out, &p->hull[0], va, &p->hull[1], vb, p->range);
}

// Gradient and Hessian along random directions of all vertices against differences, and the least
// distance against GJK's.
static void checkIpc(double worst[3], Pair* p, djvRandom* random, Ipc* ipc, Ipc* moved) {
  const int n = 3 * p->n;
  static double va[2][3 * IPC_MAX_VERT], vb[2][3 * IPC_MAX_VERT], dir[6 * IPC_MAX_VERT];
  for (int i = 0; i < 20; i++) {
    double normal[3], gap = gapOf(p, &p->pose[i], normal);
    const double h = 1e-5 * p->range;
    double slope = 0, size = 0, curve = 0, big = 0, scale = 0;
    evaluateIpc(ipc, p, &p->pose[i]);
    worst[0] = djv_worst(worst[0], fabs(sqrt(ipc->least) - gap) / p->range);
    djv_uniforms(dir, 2 * n, random, -1, 1);
    double value[2];
    static double gradient[2][6 * IPC_MAX_VERT], product[6 * IPC_MAX_VERT];
    for (int s = 0; s < 2; s++) {
      const double step = s ? -h : h;
      for (int k = 0; k < n; k++) {
        va[s][k] = p->vert[0][k] + step * dir[k];
        vb[s][k] = p->placed[k] + step * dir[n + k];
      }
      value[s] = valueMoved(moved, p, vb[s], va[s]);
      memcpy(gradient[s], moved->gradient, (size_t)(2 * n) * sizeof(double));
    }
    memset(product, 0, sizeof product);
    for (int k = 0; k < ipc->nblock; k++) {
      const IpcBlock* b = &ipc->block[k];
      for (int r = 0; r < 144; r++) {
        product[3 * b->vert[r / 12 / 3] + r / 12 % 3] +=
            b->hessian[r] * dir[3 * b->vert[r % 12 / 3] + r % 12 % 3];
      }
    }
    for (int k = 0; k < 2 * n; k++) {
      slope += ipc->gradient[k] * dir[k];
      size += fabs(ipc->gradient[k] * dir[k]);
      const double difference = (gradient[0][k] - gradient[1][k]) / (2 * h);
      curve = fmax(curve, fabs(product[k] - difference));
      big = fmax(big, fabs(difference));
      scale = fmax(scale, fabs(product[k]));
    }
    worst[1] = djv_worst(worst[1], fabs(slope - (value[0] - value[1]) / (2 * h)) / size);
    worst[2] = djv_worst(worst[2], curve / fmax(big, scale));
  }
}

// Slope and curvature along random motions of both hulls, of the barrier by poses, against
// differences of values and slopes.
static void checkPoses(double worst[2], Pair* p, djvRandom* random, Ipc* ipc, Ipc* moved) {
  static double va[3 * IPC_MAX_VERT], vb[3 * IPC_MAX_VERT];
  for (int i = 0; i < 20; i++) {
    const Pose* at = &p->pose[i];
    const double h = 1e-5 * p->range;
    double g[12], H[144], dir[12], value[3], along[3] = {0, 0, 0}, slope = 0, curve = 0;
    djv_uniforms(dir, 12, random, -1, 1);
    for (int s = 0; s < 3; s++) {
      double R[2][9], to[2][3], quat[4];
      for (int k = 0; k < 2; k++) {
        const double* w = dir + 6 * k + 3;
        const double angle = (s - 1) * h * djv_norm(w);
        quat[0] = cos(angle / 2);
        for (int c = 0; c < 3; c++) {
          quat[1 + c] = sin(angle / 2) * w[c] / djv_norm(w);
          to[k][c] = (k ? at->pos[c] : 0) + (s - 1) * h * dir[6 * k + c];
        }
        djv_quatToMat(R[k], quat);
      }
      place(p, at);
      for (int v = 0; v < p->n; v++) {
        double r[3];
        for (int c = 0; c < 3; c++) r[c] = p->placed[3 * v + c] - at->pos[c];
        djv_transform(va + 3 * v, to[0], R[0], p->vert[0] + 3 * v);
        djv_transform(vb + 3 * v, to[1], R[1], r);
      }
      value[s] = valueMoved(moved, p, vb, va);
      ipc_byPoses(g, H, moved, (const double*)to, &p->hull[0], va, &p->hull[1], vb);
      for (int k = 0; k < 12; k++) along[s] += g[k] * dir[k];
    }
    evaluateIpc(ipc, p, at);
    toPoses(g, H, p, ipc, at);
    for (int k = 0; k < 12; k++) slope += g[k] * dir[k];
    for (int k = 0; k < 144; k++) curve += dir[k / 12] * H[k] * dir[k % 12];
    const double first = (value[2] - value[0]) / (2 * h);
    const double second = (along[2] - along[0]) / (2 * h);
    worst[0] = djv_worst(worst[0], fabs(slope - first) / (fabs(slope) + p->range * fabs(curve)));
    worst[1] = djv_worst(worst[1], fabs(curve - second) / (fabs(curve) + fabs(slope) / p->range));
  }
}

// -------------------------------------------------------------------------------------------------

// A row of the table.
static void compareSize(double ratio[NKIND], Pair* p, Ipc* ipc) {
  const Times t = timeBoth(p, ipc);
  for (int k = 0; k < NKIND; k++) ratio[k] = t.ipc[k] / t.plane[k];
  djv_note("%8d %8.2g %6.2f %8.2f %6.2f %7.2f %8.2f %6.2f %8.2f %6.2f %7.0f %5.0f", p->n, p->range,
           1e6 * t.plane[EXACT], 1e6 * t.ipc[EXACT], ratio[EXACT], 1e6 * t.plane[PROJECTED],
           1e6 * t.ipc[PROJECTED], ratio[PROJECTED], 1e6 * t.ipc[BY_POSES], ratio[BY_POSES],
           t.pairs, t.near);
}

void pairs_check(djvReport* r, bool timed) {
  static Pair p;
  static Ipc ipc, moved;
  djvRandom random = djv_random(16);
  double worst[5] = {0, 0, 0, 0, 0}, ratio[NKIND], least = INFINITY, most = 0, many = INFINITY;
  double same[2] = {INFINITY, 0};
  djv_title(
      "Two hulls near contact: value, gradient and Hessian of the separating plane's barrier by "
      "12 numbers,\nand of IPC's by all vertices; microseconds, medians. First the exact "
      "Hessians, then positive\nsemi-definite ones as Newton's method needs them: IPC projects "
      "each pair of primitives, ours is one. Last "
      "IPC's exact ones brought to the same 12 numbers.");
  djv_note("%8s %8s %6s %8s %6s %7s %8s %6s %8s %6s %7s %5s", "vertices", "range, m", "ours",
           "IPC's", "ratio", "ours", "IPC's", "ratio", "by poses", "ratio", "tested", "near");
  for (int k = 0; k < NRANGE; k++) {
    for (int i = 0; i < NSIZE; i++) {
      p = (Pair){.n = sizes[i], .range = ranges[k] * SIZE};
      makeHulls(&p, &random);
      makePlane(&p);
      makePoses(&p, &random);
      checkIpc(worst, &p, &random, &ipc, &moved);
      checkPoses(worst + 3, &p, &random, &ipc, &moved);
      compareSize(ratio, &p, &ipc);
      same[0] = fmin(same[0], ratio[BY_POSES]);
      same[1] = fmax(same[1], ratio[BY_POSES]);
      least = fmin(least, fmin(ratio[0], ratio[1]));
      most = fmax(most, fmax(ratio[0], ratio[1]));
      if (k == NRANGE - 1 && p.n >= 96) many = fmin(many, fmin(ratio[0], ratio[1]));
      djc_deletePair(p.plane);
    }
  }
  djv_below(r, "IPC's distance beside GJK's, of the range", worst[0], 1e-9, "");
  djv_below(r, "IPC's gradient beside differences", worst[1], 1e-6, "");
  djv_below(r, "IPC's Hessian beside differences", worst[2], 1e-4, "");
  djv_below(r, "IPC's gradient by poses beside differences", worst[3], 1e-5, "");
  djv_below(r, "IPC's Hessian by poses beside differences", worst[4], 1e-4, "");
  djv_note("IPC's barrier takes %.2f to %.1f times ours (SDRS: 2.55 to 32)", least, most);
  djv_note("brought to the same 12 numbers, %.2f to %.1f times", same[0], same[1]);
  if (!timed) return;
  djv_above(r, "the same, at least", least, 2, "");
  djv_above(r, "from 96 vertices on at the widest range", many, 10, "");
}
