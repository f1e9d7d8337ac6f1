// What velocities alone make of a span's second derivative by time. With twists V and spatial
// accelerations A of both bodies, W the gradient and N, K the nested second derivatives,
//   x'' = W . A + V^T [N K; K^T N] V.
// Of points p_k, at rho from the body's reference point, with gradients g_k:
//   x'' = sum g . (a + alpha x rho + w x u),   u = v + w x rho.
// Of rotations, with x = s c, c = e . Im(p a), and t the derivative by w = w_1 - w_2:
//   x'' = t . (alpha - w_2 x w_1) - |w|^2 x/4,   alpha = alpha_1 - alpha_2.

#include "model/span.h"

static void addPoint(djSpanBias* out, const djSpan* span, int k, const djVec3* ref,
                     const djSix V[2], const djSix A[2]) {
  int s = span->side[k];
  djVec3 g = span->g[k], w = V[s].w, rho = dju_sub3(span->point[k], ref[span->body[s]]);
  djVec3 u = dju_add3(V[s].v, dju_cross3(w, rho)), gw = dju_cross3(g, w);
  djVec3 a = dju_add3(dju_add3(A[s].v, dju_cross3(A[s].w, rho)), dju_cross3(w, u));
  djVec3 f = dju_add3(dju_cross3(g, A[s].w), dju_cross3(gw, w));
  out->value += dju_dot3(g, a);
  out->point[k] = f;
  out->V[s].v = dju_add3(out->V[s].v, gw);
  out->V[s].w = dju_add3(out->V[s].w, dju_add3(dju_cross3(u, g), dju_cross3(rho, gw)));
  out->pose[s].v = dju_add3(out->pose[s].v, f);
  out->pose[s].w = dju_add3(out->pose[s].w, dju_cross3(rho, f));
}

static void addTurns(djSpanBias* out, const djSpan* span, const djSix V[2], const djSix A[2]) {
  djVec3 t = span->turn, w = dju_sub3(V[0].w, V[1].w);
  djVec3 y = dju_sub3(dju_sub3(A[0].w, A[1].w), dju_cross3(V[1].w, V[0].w));
  double x = span->value, ww = dju_dot3(w, w);
  out->value += dju_dot3(t, y) - 0.25 * ww * x;
  djVec3 same = dju_scale3(0.5 * x, w);
  out->V[0].w = dju_sub3(out->V[0].w, dju_add3(same, dju_cross3(t, V[1].w)));
  out->V[1].w = dju_add3(out->V[1].w, dju_sub3(same, dju_cross3(V[0].w, t)));
  djVec3 turned = dju_madd3(dju_scale3(0.25 * x, y), 0.25 * ww, t);
  djVec3 cross = dju_scale3(0.5, dju_cross3(t, y));
  out->pose[0].w = dju_add3(out->pose[0].w, dju_sub3(cross, turned));
  out->pose[1].w = dju_add3(out->pose[1].w, dju_add3(cross, turned));
}

void dj_spanBias(djSpanBias* out, const djSpan* span, const djVec3* ref, const djSix V[2],
                 const djSix A[2]) {
  *out = (djSpanBias){0};
  for (int k = 0; k < span->n; k++) addPoint(out, span, k, ref, V, A);
  if (span->turns) addTurns(out, span, V, A);
}
