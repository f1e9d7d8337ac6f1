// What the command says of certificates: whether a gradient leads.

#include "common/test.h"
#include "common/tool_case.h"
#include "grad_lead.h"

#include <dijoco/check.h>

// One whose gradient is g, with these slopes; NAN: no run.
static djdCertificate made(double g, double a, double b, double c) {
  djdCertificate r = {.scale = 2, .leads = DJD_LEADS, .analytic = g,
                      .secant_step = {1e-3, 1e-2, 5e-2}, .secant = {a, b, c}};
  for (int k = 0; k < DJD_NSECANT; k++) {
    r.secant_analytic[k] = g;
    r.secant_flat[k] = 1e-9;
    r.secant_sides[k] = isnan(r.secant[k]) ? 0 : 2;
    if (isnan(r.secant[k]) && r.leads == DJD_LEADS) r.leads = DJD_LEAD_UNKNOWN;
    if (!isnan(r.secant[k]) && !djd_leadsAt(&r, k)) r.leads = DJD_LEADS_NOT;
  }
  return r;
}

static void says(djdCertificate c, const char* expected) {
  char text[LEAD_TEXT];
  lead_verdict(text, sizeof text, &c);
  assert_string_equal(text, expected);
}

static void testVerdicts(void) {
  says(made(-0.57, -0.57, -0.5, -0.3), "leads");
  says(made(0, 0, 1e-12, -1e-10), "leads (flat: slopes and gradient are 0)");
  says(made(-0.57, -0.56, 0.065, -0.5), "does not lead at 1e-2: slope 0.065, gradient -0.57");
  says(made(-0.57, 3, 0.065, -0.5), "does not lead at 1e-3: slope 3, gradient -0.57");
  says(made(0, 0, 0, 12), "does not lead at 5e-2: slope 12, gradient 0");
  says(made(1, NAN, 1, 3), "does not lead at 5e-2: slope 3, gradient 1");
  says(made(1, 1, 1, NAN), "no verdict: no run at 5e-2 to either side");
  says((djdCertificate){.scale = 0}, "no verdict: no slopes were taken");
}

static void testPrint(void) {
  djdCertificate list[] = {made(-0.57, -0.56, 0.065, -0.5), made(1, 1, 1, NAN), {.scale = 0}};
  static const char* const name[] = {"qpos0", "geom/a_name_that_is_far_too_long_for_this/friction",
                                     "ctrl"};
  list[0].secant_sides[0] = 1;
  djt_listen(STDOUT_FILENO);
  lead_print(3, name, list, true);
  fflush(stdout);
  const char* text = djt_heard(STDOUT_FILENO);
  assert_non_null(strstr(text, "      -0.56*        0.065         -0.5\n"));
  assert_non_null(strstr(text, "\nqpos0: does not lead at 1e-2: slope 0.065, gradient -0.57\n"));
  assert_non_null(strstr(text, "\nctrl: no verdict: no slopes were taken\n"));
  assert_non_null(strstr(text, "\nsurrogate: "));
  assert_non_null(strstr(text, "\n*: "));
}

DJT_MAIN_IN(djt_enterFolder, djt_leaveFolder, testVerdicts, testPrint)
