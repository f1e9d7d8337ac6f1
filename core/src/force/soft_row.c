#include "force/soft_row.h"

#include <math.h>

// ---- the start --------------------------------------------------------------------------------

// The impedance d at a depth, and its derivative.
static double impedanceAt(double* slope, const double p[5], double depth) {
  double low = p[0], high = p[1], width = p[2], mid = p[3], power = p[4];
  *slope = 0;
  if (low == high || width <= 1e-15) return 0.5 * (low + high);
  double x = depth / width;
  if (x >= 1) return high;
  double t = x <= mid ? x : 1 - x, scale = pow(x <= mid ? mid : 1 - mid, 1 - power);
  double y = scale * pow(t, power);
  *slope = (high - low) * power * scale * pow(t, power - 1) / width;
  return low + (high - low) * (x <= mid ? y : 1 - y);
}

static bool setSide(djRowSide* s, const djLimitDef* l, int k, double x, double v) {
  double out = k ? 1 : -1, depth = l->margin - out * (l->bound[k] - x);
  *s = (djRowSide){.out = out};
  if (!(depth > 0)) return false;
  double top = l->impedance[1], slope, d = impedanceAt(&slope, l->impedance, depth);
  double stiffness = (1 - top) / (top * top) * l->stiffness, damping = (1 - top) / top * l->damping;
  s->acts = true;
  s->D = l->inertia * d / (1 - d);
  s->D_x = out * l->inertia * slope / ((1 - d) * (1 - d));
  s->aref = damping * out * v + stiffness * d * depth;
  s->aref_x = out * stiffness * (d + slope * depth);
  s->aref_v = out * damping;
  return true;
}

bool dj_setRowLimit(djSoftRow* row, const djLimitDef* l, double x, double v) {
  bool low = setSide(&row->side[0], l, 0, x, v), high = setSide(&row->side[1], l, 1, x, v);
  return low || high;
}

bool dj_setRowLoss(djSoftRow* row, double loss, double damping, double impedance, double inertia,
                   double v) {
  row->loss = loss;
  row->D = inertia * impedance / (1 - impedance);
  row->aref = -damping * v;
  row->aref_v = -damping;
  return loss > 0;
}

static const double STIFFEST = 1e15;   // D, as in MuJoCo

void dj_setRowHold(djSoftRow* row, const djLimitDef* l, double x, double v, double size,
                   double bias) {
  double top = l->impedance[1], slope, d = impedanceAt(&slope, l->impedance, size);
  double k = (1 - top) / (top * top) * l->stiffness, b = (1 - top) / top * l->damping;
  djRowHold* h = &row->hold;
  *h = (djRowHold){.acts = true, .D = l->inertia * d / (1 - d)};
  if (h->D < STIFFEST) h->D_size = l->inertia * slope / ((1 - d) * (1 - d));
  else h->D = STIFFEST;
  h->aref = -b * v - k * d * x - bias;
  h->aref_x = -k * d;
  h->aref_size = -k * slope * x;
  h->aref_v = -b;
}

// ---- the cost ---------------------------------------------------------------------------------

typedef struct Corner {
  double f, d, dd;
} Corner;

// min(y, 0)^2/2, its second derivative going from 1 to 0 within e of 0.
static Corner oneSided(double y, double e) {
  if (y >= e) return (Corner){0, 0, 0};
  if (y <= -e) return (Corner){0.5 * y * y + e * e / 6, y, 1};
  double t = e - y;
  return (Corner){t * t * t / (12 * e), -t * t / (4 * e), t / (2 * e)};
}

// y^2/2 up to Y, then its tangent, the second derivative going from 1 to 0 within e of Y;
// *by_Y: derivative of the slope by Y, e = min(most, Y/2).
static Corner bounded(double* by_Y, double y, double Y, double most) {
  double e = fmin(most, 0.5 * Y), e_Y = e < most ? 0.5 : 0, side = y < 0 ? -1 : 1;
  double low = Y - e, t = fabs(y) - low;
  *by_Y = 0;
  if (t <= 0) return (Corner){0.5 * y * y, y, 1};
  if (t >= 2 * e) {
    *by_Y = side;
    return (Corner){0.5 * low * low + 2 * e * low + 4 * e * e / 3 + Y * (t - 2 * e), side * Y, 0};
  }
  *by_Y = side * (1 - e_Y + (e_Y - 1) * (1 - t / (2 * e)) + t * t * e_Y / (4 * e * e));
  return (Corner){0.5 * low * low + low * t + t * t / 2 - t * t * t / (12 * e),
                  side * (low + t - t * t / (4 * e)), 1 - t / (2 * e)};
}

static void addSide(djRowSlope* sum, const djRowSide* s, int k, double z, double corner) {
  Corner c = oneSided(-s->out * z - s->aref, corner);
  double by_x = -s->out * (s->D_x * c.d - s->D * c.dd * s->aref_x);
  sum->f += s->D * c.f;
  sum->d -= s->out * s->D * c.d;
  sum->dd += s->D * c.dd;
  sum->by_x += by_x;
  sum->by_v += s->out * s->D * c.dd * s->aref_v;
  sum->by_range[k] -= by_x;
}

static void addHold(djRowSlope* sum, const djRowHold* h, double z) {
  double y = z - h->aref;
  sum->f += 0.5 * h->D * y * y;
  sum->d += h->D * y;
  sum->dd += h->D;
  sum->by_x -= h->D * h->aref_x;
  sum->by_v -= h->D * h->aref_v;
  sum->by_size += h->D_size * y - h->D * h->aref_size;
  sum->by_bias += h->D;
}

djRowSlope dj_rowSlope(const djSoftRow* row, double z) {
  djRowSlope sum = {0};
  if (row->hold.acts) {
    addHold(&sum, &row->hold, z);
    return sum;
  }
  for (int k = 0; k < 2; k++) {
    if (row->side[k].acts) addSide(&sum, &row->side[k], k, z, row->corner);
  }
  sum.limit = sum.d;
  if (!(row->loss > 0)) return sum;
  Corner c = bounded(&sum.by_loss, z - row->aref, row->loss / row->D, row->corner);
  sum.f += row->D * c.f;
  sum.d += row->D * c.d;
  sum.dd += row->D * c.dd;
  sum.by_v -= row->D * c.dd * row->aref_v;
  return sum;
}
