// Differences of one pair: geom[1] moves while geom[0] is held, by each component of its twist
// about its own position o; the collision function of that pair alone is called, and contacts are
// matched by nearness. Fourth order: f' = (8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / (12 h). With u
// the velocity at pos, that at o is u - w x (pos - o).
//
// The search for contacts of general convex shapes ends by a tolerance of the distance, which makes
// stairs of curved surfaces: it is asked for with the least tolerance with which MuJoCo's search of
// shapes with penetration still ends. Where the model's own search ends by its number of
// iterations, it is far from that, and what it finds is a smooth function of the poses, which is
// differenced.

#include "contact_part.h"

#include <math.h>

typedef struct Pair {
  const mjModel* m;
  mjData* d;
  int g[2];
  mjtNum margin, size;
  mjtNum pos[3], mat[9]; // of geom[1], as it is
  mjtNum twist[6], about[3];  // of it, and about which point
  mjtNum* sizes;         // (ngeom x 3) of the view, the pair's alone; or NULL
  mjtNum old[2][3];      // as they are
  bool unfinished;       // the search ends by its number of iterations
  mjPreContact found[mjMAXCONPAIR];
  int n;
} Pair;

mjtNum djm_pairMargin(const mjModel* m, const mjContact* con) {
  int a = con->geom[0], b = con->geom[1];
  mjtNum gap = m->geom_gap[a] + m->geom_gap[b];
  for (int i = 0; i < m->npair; i++) {
    int p = m->pair_geom1[i], q = m->pair_geom2[i];
    if ((p == a && q == b) || (p == b && q == a)) gap = m->pair_gap[i];
  }
  return con->includemargin + gap;
}

static void collide(Pair* p) {
  int type[2] = {p->m->geom_type[p->g[0]], p->m->geom_type[p->g[1]]};
  mjfCollision function = mjCOLLISIONFUNC[type[0]][type[1]];
  p->n = function ? function(p->m, p->d, p->found, p->g[0], p->g[1], p->margin) : 0;
}

static void put(Pair* p, const mjtNum pos[3], const mjtNum mat[9]) {
  mju_copy3(p->d->geom_xpos + 3 * p->g[1], pos);
  mju_copy(p->d->geom_xmat + 9 * p->g[1], mat, 9);
}

enum { BY_TWIST = 12 };

// Along the screw of the twist: about its axis, which goes through about + w x u / |w|^2, and by the
// part of u along it. A contact that follows a turn about one point may not follow a path that is
// off by h^2.
static void moveByTwist(Pair* p, mjtNum h) {
  const mjtNum* u = p->twist + 3;
  mjtNum axis[3], centre[3], arm[3], pos[3], mat[9], quat[4], turn[9], rate;
  mju_copy3(axis, p->twist);
  rate = mju_norm3(axis);
  if (rate < 1e-12) {
    mju_addScl3(pos, p->pos, u, h);
    put(p, pos, p->mat);
    return;
  }
  mju_scl3(axis, axis, 1 / rate);
  mju_cross(centre, axis, u);
  mju_addScl3(centre, p->about, centre, 1 / rate);
  mju_axisAngle2Quat(quat, axis, h * rate);
  mju_quat2Mat(turn, quat);
  mju_mulMatMat(mat, turn, p->mat, 3, 3, 3);
  mju_sub3(arm, p->pos, centre);
  mju_mulMatVec3(pos, turn, arm);
  mju_addTo3(pos, centre);
  mju_addToScl3(pos, axis, h * mju_dot3(axis, u));
  put(p, pos, mat);
}

// By h times the component k of the twist about its position; 6 to 8, 9 to 11: a size of one geom;
// 12: the pair's twist.
static void move(Pair* p, int k, mjtNum h) {
  if (k == BY_TWIST) {
    moveByTwist(p, h);
    return;
  }
  if (k >= 6) {
    int s = (k - 6) / 3, e = (k - 6) % 3;
    p->sizes[3 * p->g[s] + e] = p->old[s][e] + h * p->size;
    return;
  }
  mjtNum pos[3], mat[9], quat[4], turn[9], axis[3] = {k == 0, k == 1, k == 2};
  mju_copy3(pos, p->pos);
  mju_copy(mat, p->mat, 9);
  if (k < 3) {
    mju_axisAngle2Quat(quat, axis, h);
    mju_quat2Mat(turn, quat);
    mju_mulMatMat(mat, turn, p->mat, 3, 3, 3);
  } else {
    pos[k - 3] += h * p->size;
  }
  put(p, pos, mat);
}

// Which of the found ones are the wanted, each another one: index (n); far: at most so far from
// them.
static bool match(int* index, const Pair* p, const mjPreContact* want, int n, mjtNum far) {
  for (int c = 0; c < n; c++) {
    mjtNum least = far;
    index[c] = -1;
    for (int i = 0; i < p->n; i++) {
      mjtNum r = mju_dist3(p->found[i].pos, want[c].pos) +
                 p->size * mju_dist3(p->found[i].normal, want[c].normal);
      bool taken = false;
      for (int k = 0; k < c; k++) taken |= index[k] == i;
      if (r >= least || taken) continue;
      least = r;
      index[c] = i;
    }
    if (index[c] < 0) return false;
  }
  return true;
}

static const mjtNum WEIGHT[4] = {1.0 / 12, -8.0 / 12, 8.0 / 12, -1.0 / 12};
static const int STEP[4] = {-2, -1, 1, 2};

// Numbers of a contact: dist, pos, normal, as multiples of the size.
static void numbers(mjtNum out[7], const mjPreContact* c, const mjPreContact* from, mjtNum size) {
  out[0] = (c->dist - from->dist) / size;
  for (int r = 0; r < 3; r++) {
    out[1 + r] = (c->pos[r] - from->pos[r]) / size;
    out[4 + r] = c->normal[r] - from->normal[r];
  }
}

// Derivatives of the numbers of contacts `at` (n) while there are `total` (-1: any number); false:
// others are found, or a kink lies between: f(h) + f(-h) - 2 f(0) is not of second order.
static bool differenceNumbers(mjtNum slope[][7], Pair* p, const mjPreContact* at, int n, int total,
                              int k, mjtNum h) {
  int index[mjMAXCONPAIR];
  mjtNum bend[mjMAXCONPAIR][7] = {{0}}, v[7];
  for (int c = 0; c < n; c++) mju_zero(slope[c], 7);
  for (int i = 0; i < 4; i++) {
    move(p, k, h * STEP[i]);
    collide(p);
    if ((total >= 0 && p->n != total) || !match(index, p, at, n, 100 * h * p->size)) return false;
    for (int c = 0; c < n; c++) {
      numbers(v, &p->found[index[c]], &at[c], p->size);
      for (int r = 0; r < 7; r++) slope[c][r] += WEIGHT[i] * v[r] / h;
      for (int r = 0; r < 7 && i % 3; r++) bend[c][r] += v[r] / h;
    }
  }
  for (int c = 0; c < n; c++) {
    for (int r = 0; r < 7; r++) {
      if (fabs(bend[c][r]) > 0.02 * (1 + fabs(slope[c][r]))) return false;
    }
  }
  return true;
}

static bool differenceColumn(djmContactMotion* x, Pair* p, const mjPreContact* at, int n, int total,
                             int k, mjtNum h) {
  mjtNum slope[mjMAXCONPAIR][7], length = k < 3 ? p->size : 1;
  if (!differenceNumbers(slope, p, at, n, total, k, h)) return false;
  for (int c = 0; c < n; c++) {
    x[c].dist[k] = slope[c][0] * length;
    for (int r = 0; r < 3; r++) {
      x[c].pos[r][k] = slope[c][1 + r] * length;
      x[c].normal[r][k] = slope[c][4 + r] * length / p->size;
    }
  }
  return true;
}

static bool difference(djmContactMotion* x, Pair* p, const mjPreContact* at, int n, int total,
                       mjtNum h) {
  for (int k = 0; k < 6; k++) {
    if (!differenceColumn(x, p, at, n, total, k, h)) return false;
  }
  return true;
}

// From the twist about o to that about pos: sign 1; back: -1.
static void shift(djmContactMotion* x, const mjtNum pos[3], const mjtNum o[3], mjtNum sign) {
  mjtNum r[3] = {pos[0] - o[0], pos[1] - o[1], pos[2] - o[2]};
  mjtNum* rows[7] = {x->dist,      x->pos[0],    x->pos[1],   x->pos[2],
                     x->normal[0], x->normal[1], x->normal[2]};
  for (int i = 0; i < 7; i++) { // -u . (w x r) = -w . (r x u)
    mjtNum c[3];
    mju_cross(c, r, rows[i] + 3);
    mju_addToScl3(rows[i], c, -sign);
  }
}

// at (n) = what is found next to con (n); false: not all of it.
static bool findNext(mjPreContact* at, Pair* p, const mjContact* con, int n) {
  int index[mjMAXCONPAIR];
  collide(p);
  for (int c = 0; c < n; c++) {
    mju_copy3(at[c].pos, con[c].pos);
    mju_copy3(at[c].normal, con[c].frame);
  }
  if (!match(index, p, at, n, 0.02 * p->size)) return false;
  for (int c = 0; c < n; c++) at[c] = p->found[index[c]];
  return true;
}

mjtNum djm_searchError(const mjModel* m, mjtNum size) {
  return 2 * m->opt.ccd_tolerance + 1e-9 * size;
}

// Opens the pair's contacts next to con (n), which are in `at` then.
static bool openPair(Pair* p, mjModel* view, mjPreContact* at, const mjModel* m, mjData* d,
                     const mjContact* con, int n) {
  *view = *m;
  p->m = view;
  p->d = d;
  p->g[0] = con->geom[0];
  p->g[1] = con->geom[1];
  p->margin = djm_pairMargin(m, con);
  mjtNum a = m->geom_rbound[p->g[0]], b = m->geom_rbound[p->g[1]];
  p->size = a > 0 && b > 0 ? fmin(a, b) : fmax(a, b);
  if (!(p->size > 0)) return false;
  mju_copy3(p->pos, d->geom_xpos + 3 * p->g[1]);
  mju_copy(p->mat, d->geom_xmat + 9 * p->g[1], 9);
  view->opt.ccd_tolerance = mjMINVAL;
  if (view->opt.ccd_iterations < 100) view->opt.ccd_iterations = 100;
  bool same = findNext(at, p, con, n);
  for (int c = 0; c < n && same; c++) {
    same = fabs(at[c].dist - con[c].dist) < djm_searchError(m, p->size);
  }
  if (same) return true;
  view->opt = m->opt;
  p->unfinished = true;
  return findNext(at, p, con, n);
}

enum { NWIDTH = 3 };

// The i-th width that is tried: wide ones first, but where a search ends early, which is a function
// without noise on short pieces.
static mjtNum widthOf(const Pair* p, int i) {
  static const mjtNum width[NWIDTH] = {1e-4, 1e-5, 1e-6};
  return width[p->unfinished ? NWIDTH - 1 - i : i];
}

void djm_partDifferences(djmContactMotion* x, const mjModel* m, mjData* d, const mjContact* con) {
  mjModel view;
  Pair p = {.sizes = NULL};
  mjPreContact at[1];
  if (!openPair(&p, &view, at, m, d, con, 1)) return;
  shift(x, con->pos, p.pos, -1);
  for (int k = 0; k < 6; k++) {
    bool found = false;
    for (int i = 1; i < NWIDTH && !found; i++) {
      found = differenceColumn(x, &p, at, 1, -1, k, widthOf(&p, i));
    }
  }
  shift(x, con->pos, p.pos, 1);
  put(&p, p.pos, p.mat);
}

bool djm_pairDifferences(djmContactMotion* x, const mjModel* m, mjData* d, const mjContact* con,
                         int n) {
  mjModel view;
  Pair p = {.sizes = NULL};
  mjPreContact at[mjMAXCONPAIR];
  if (!openPair(&p, &view, at, m, d, con, n)) return false;
  int total = n == 1 ? -1 : p.n;
  bool found = false;
  for (int i = 0; i < NWIDTH && !found; i++)
    found = difference(x, &p, at, n, total, widthOf(&p, i));
  put(&p, p.pos, p.mat);
  for (int c = 0; c < n && found; c++) shift(&x[c], con[c].pos, p.pos, 1);
  return found;
}

bool djm_twistDifferences(mjtNum slope[7], const mjModel* m, mjData* d, const mjContact* con,
                          const mjtNum twist[6]) {
  mjModel view;
  Pair p = {.sizes = NULL};
  mjPreContact at[1];
  mjtNum numbers[1][7];
  bool found = false;
  if (!openPair(&p, &view, at, m, d, con, 1)) return false;
  mjtNum reach = mju_norm3(twist) * p.size + mju_norm3(twist + 3);
  mju_zero(slope, 7);
  if (!(reach > 0)) return true;
  mju_scl(p.twist, twist, p.size / reach, 6);
  mju_copy3(p.about, con->pos);
  for (int i = 0; i < NWIDTH && !found; i++) {
    found = differenceNumbers(numbers, &p, at, 1, -1, BY_TWIST, widthOf(&p, i));
  }
  put(&p, p.pos, p.mat);
  for (int r = 0; r < 7 && found; r++) slope[r] = numbers[0][r] * reach / (r < 4 ? 1 : p.size);
  return found;
}

bool djm_sizeDifferences(mjtNum slope[7], const mjModel* m, mjData* d, const mjContact* con,
                         int side, int entry, mjtNum* sizes) {
  mjModel view;
  Pair p = {.sizes = sizes};
  mjPreContact at[1];
  mjtNum numbers[1][7];
  if (!openPair(&p, &view, at, m, d, con, 1)) return false;
  view.geom_size = sizes;
  for (int s = 0; s < 2; s++) {
    mju_copy3(p.old[s], m->geom_size + 3 * p.g[s]);
    mju_copy3(sizes + 3 * p.g[s], p.old[s]);
  }
  bool found = false;
  for (int i = 0; i < NWIDTH && !found; i++) {
    found = differenceNumbers(numbers, &p, at, 1, -1, 6 + 3 * side + entry, widthOf(&p, i));
  }
  // of lengths by a length, and of the normal
  mju_copy(slope, numbers[0], 7);
  for (int r = 4; r < 7; r++) slope[r] /= p.size;
  return found;
}
