// Positive semi-definite substitutes of contact's Hessians.

#include "contact/contact.h"
#include "contact/pairs/near.h"
#include "math/semidefinite.h"

#include <string.h>

// Rows and columns of turns, of n/6 bodies, times a length of each, or divided by it.
static void scaleTurns(double* H, int n, const double length[2], bool divide) {
  for (int r = 0; r < n; r++) {
    for (int c = 0; c < n; c++) {
      double x = (r % 6 < 3 ? length[r / 6] : 1) * (c % 6 < 3 ? length[c / 6] : 1);
      H[n * r + c] = divide ? H[n * r + c] / x : H[n * r + c] * x;
    }
  }
}

// What is nearest depends on the unit of length. It follows from H itself, so that results do not
// depend on the user's, and is long, so that curvatures of moves stay what they are where those of
// turns can give way: with the arms' length itself crowds take a tenth more iterations.
#define TURN_LENGTH 32 // over that of the arms
void dj_convexHessian(double* H, int n, double share) {
  double length[2], exact[144];
  for (int k = 0; k < n / 6; k++) {
    double turn = 0, move = 0;
    for (int i = 6 * k; i < 6 * k + 3; i++) {
      turn += fabs(H[(n + 1) * i]);
      move += fabs(H[(n + 1) * (i + 3)]);
    }
    length[k] = turn > 0 && move > 0 ? TURN_LENGTH * sqrt(turn / move) : 1;
  }
  memcpy(exact, H, (size_t)(n * n) * sizeof(double));
  scaleTurns(H, n, length, true);
  dju_semidefinite(H, n);
  scaleTurns(H, n, length, false);
  for (int i = 0; i < n * n; i++) H[i] = share * H[i] + (1 - share) * exact[i];
}

// Block of body s alone.
static void convexOwn(double H[144], int s, double share) {
  double K[36];
  for (int r = 0; r < 6; r++) memcpy(K + 6 * r, H + 12 * (6 * s + r) + 6 * s, 6 * sizeof(double));
  dj_convexHessian(K, 6, share);
  for (int r = 0; r < 6; r++) memcpy(H + 12 * (6 * s + r) + 6 * s, K + 6 * r, 6 * sizeof(double));
}

void dj_convexContacts(djContacts* c, const djModel* m, double share) {
  for (int k = 0; k < c->nblock; k++) {
    djContactBlock* block = &c->block[k];
    bool moves_a = m->body_lastdof[block->body_a] >= 0;
    bool moves_b = m->body_lastdof[block->body_b] >= 0;
    if (!block->traits->symmetric) continue;
    if (moves_a && moves_b)
      dj_convexHessian(block->out.hessian, 12, share);
    else
      convexOwn(block->out.hessian, moves_a ? 0 : 1, share);
  }
}
