#include "rrt.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool isFree(Scene* s, const double p[3], const double q[3]) {
  return leastOfAll(s, p, q) >= 1 + s->margin;
}

typedef struct Node {
  double p[3];
  int parent;
} Node;

// 0 to 1, by splitmix64.
static double uniform(uint64_t* state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static int nearest(const Node* node, int n, const double p[3]) {
  int best = 0;
  for (int i = 1; i < n; i++) {
    if (distance(node[i].p, p) < distance(node[best].p, p)) best = i;
  }
  return best;
}

// The tree up to a node at the goal; returns how many nodes there are, 0: the goal was not reached.
static int grow(Node* node, Scene* s, uint64_t seed) {
  const double began = seconds();
  int n = 1;
  memcpy(node[0].p, s->start, sizeof node[0].p);
  node[0].parent = -1;
  for (int i = 0; i < s->rrt_samples; i++) {
    double aim[3];
    showProgress("growing the tree", began, "sample", i);
    const bool home = uniform(&seed) < s->rrt_goal_bias;
    for (int k = 0; k < 3; k++) {
      const double u = uniform(&seed);
      aim[k] = home ? s->goal[k] : s->low[k] + u * (s->high[k] - s->low[k]);
    }
    Node* new = &node[n];
    new->parent = nearest(node, n, aim);
    const double* from = node[new->parent].p;
    const double far = distance(from, aim), part = far > s->rrt_step ? s->rrt_step / far : 1;
    for (int k = 0; k < 3; k++) {
      new->p[k] = part < 1 ? from[k] + part*(aim[k] - from[k]) : aim[k];
    }
    if (!(far > 0) || !isFree(s, from, new->p)) continue;
    n++;
    if (home && part == 1) return n;
  }
  return 0;
}

// Takes corners out, where the way without them is free, until `most` are left.
static int straighten(double (*corner)[3], int n, int most, Scene* s) {
  for (int i = 1; n > most && i < n - 1;) {
    if (isFree(s, corner[i - 1], corner[i + 1])) {
      memmove(corner[i], corner[i + 1], (size_t)(n - 1 - i) * sizeof *corner);
      n--;
    } else {
      i++;
    }
  }
  return n;
}

// Pieces go one by one to the edge whose pieces are longest.
static void spread(double* path, int knots, double (*corner)[3], int n, int* pieces) {
  for (int e = 0; e < n - 1; e++) pieces[e] = 1;
  for (int left = knots - n; left > 0; left--) {
    int longest = 0;
    for (int e = 1; e < n - 1; e++) {
      if (distance(corner[e], corner[e + 1]) / pieces[e] >
          distance(corner[longest], corner[longest + 1]) / pieces[longest])
        longest = e;
    }
    pieces[longest]++;
  }
  for (int e = 0; e < n - 1; e++) {
    for (int i = 0; i < pieces[e]; i++, path += 3) {
      const double t = (double)i / pieces[e];
      for (int k = 0; k < 3; k++) {
        path[k] = corner[e][k] + t * (corner[e + 1][k] - corner[e][k]);
      }
    }
  }
  memcpy(path, corner[n - 1], sizeof *corner);
}

bool firstPath(double* path, Scene* s, uint64_t seed) {
  Node* node = calloc((size_t)s->rrt_samples + 1, sizeof *node);
  double(*corner)[3] = calloc((size_t)s->rrt_samples + 1, sizeof *corner);
  int* pieces = calloc((size_t)s->knots, sizeof *pieces);
  bool done = false;
  if (node && corner && pieces) {
    int n = 0;
    const int nodes = grow(node, s, seed);
    endProgress();
    for (int i = nodes - 1; i >= 0; i = node[i].parent) n++;
    for (int i = nodes - 1, c = n; i >= 0; i = node[i].parent) {
      memcpy(corner[--c], node[i].p, sizeof *corner);
    }
    n = straighten(corner, n, s->knots, s);
    done = n >= 2 && n <= s->knots;
    if (done) spread(path, s->knots, corner, n, pieces);
  }
  free(node);
  free(corner);
  free(pieces);
  return done;
}
