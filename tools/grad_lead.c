#include "grad_lead.h"

#include <math.h>
#include <stdio.h>

// A step by the scale, as it is written: 1e-2.
static void step_text(char* text, size_t size, double step) {
  int power = (int)floor(log10(step) + 1e-9);
  snprintf(text, size, "%.3ge%d", step / pow(10, power), power);
}

// The first step at which it does not lead (or, `missing`, that has no run); DJD_NSECANT: none.
static int first_step(const djdCertificate* c, bool missing) {
  for (int k = 0; k < DJD_NSECANT; k++) {
    bool none = c->secant_sides[k] == 0;
    if (missing ? none : !none && !djd_leadsAt(c, k)) return k;
  }
  return DJD_NSECANT;
}

static bool is_flat(const djdCertificate* c) {
  for (int k = 0; k < DJD_NSECANT; k++) {
    if (fabs(c->secant[k]) > c->secant_flat[k]) return false;
    if (fabs(c->secant_analytic[k]) > c->secant_flat[k]) return false;
  }
  return true;
}

void lead_verdict(char* text, size_t size, const djdCertificate* c) {
  char step[32];
  int k = first_step(c, c->leads == DJD_LEAD_UNKNOWN);
  if (c->leads == DJD_LEADS) {
    snprintf(text, size, is_flat(c) ? "leads (flat: slopes and gradient are 0)" : "leads");
  } else if (c->scale == 0 || k == DJD_NSECANT) {
    snprintf(text, size, "no verdict: no slopes were taken");
  } else {
    step_text(step, sizeof step, c->secant_step[k]);
    if (c->leads == DJD_LEAD_UNKNOWN) {
      snprintf(text, size, "no verdict: no run at %s to either side", step);
    } else {
      snprintf(text, size, "does not lead at %s: slope %.2g, gradient %.2g", step, c->secant[k],
               c->secant_analytic[k]);
    }
  }
}

static void write_number(Json* out, const char* key, double value) {
  if (isfinite(value)) json_number(out, key, value);
  else json_null(out, key);
}

void lead_write(Json* out, const djdCertificate* c) {
  const int n = c->scale > 0 ? DJD_NSECANT : 0;
  if (c->leads == DJD_LEAD_UNKNOWN) json_null(out, "leads");
  else json_bool(out, "leads", c->leads == DJD_LEADS);
  json_list(out, "secants");
  for (int k = 0; k < n; k++) {
    json_list(out, NULL);
    json_number(out, NULL, c->secant_step[k]);
    write_number(out, NULL, c->secant[k]);
    json_end(out);
  }
  json_end(out);
  json_list(out, "secant_gradients");
  for (int k = 0; k < n; k++) write_number(out, NULL, c->secant_analytic[k]);
  json_end(out);
  json_list(out, "secant_sides");
  for (int k = 0; k < n; k++) json_integer(out, NULL, c->secant_sides[k]);
  json_end(out);
  if (n > 0) json_number(out, "scale", c->scale);
  else json_null(out, "scale");
}

static void print_row(const char* name, const djdCertificate* c) {
  char scale[24] = "-", gradient[24] = "-";
  if (c->scale > 0) {
    snprintf(scale, sizeof scale, "%.4g", c->scale);
    snprintf(gradient, sizeof gradient, "%.4g", c->analytic);
  }
  printf("%-34.34s %10s %12s", name, scale, gradient);
  for (int k = 0; k < DJD_NSECANT; k++) {
    char slope[24] = "-";
    if (c->secant_sides[k] > 0) {
      snprintf(slope, sizeof slope, "%.4g%s", c->secant[k], c->secant_sides[k] < 2 ? "*" : "");
    }
    printf(" %12s", slope);
  }
  printf("\n");
}

static bool has_marks(int n, const djdCertificate* c) {
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < DJD_NSECANT; k++) {
      if (c[i].scale > 0 && c[i].secant_sides[k] < 2) return true;
    }
  }
  return false;
}

void lead_print(int n, const char* const* name, const djdCertificate* c, bool surrogate) {
  printf("\n%-34s %10s %12s %12s %12s %12s\n", "slopes of runs over steps", "scale", "gradient",
         "1e-3", "1e-2", "5e-2");
  for (int i = 0; i < n; i++) print_row(name[i], &c[i]);
  printf("steps: to both sides along the same direction, by the variable's scale. A gradient\n"
         "  leads where each slope is between half of it and twice.\n");
  if (surrogate) {
    printf("surrogate: these slopes are of runs, the gradients of other steps along them.\n");
  }
  if (has_marks(n, c)) {
    printf("*: of one side, as there is no run to the other; -: of none.\n");
  }
  for (int i = 0; i < n; i++) {
    char text[LEAD_TEXT];
    lead_verdict(text, sizeof text, &c[i]);
    printf("%.34s: %s\n", name[i], text);
  }
}
