// report.html: numbers with units, and a page that is well formed and says what happened.

#include "common/test.h"
#include "common/tool_case.h"
#include "report.h"

static void testQuantity(void) {
  static const struct {
    double value;
    const char *unit, *text;
  } row[] = {{0, "m", "0&#8239;m"},
             {1.234, "m", "1.23&#8239;m"},
             {-0.00083, "m", "-830&#8239;&#181;m"},
             {0.0083, "m", "8.3&#8239;mm"},
             {2.5e-6, "N", "2.5&#8239;&#181;N"},
             {4e-10, "rad", "0.4&#8239;nrad"},
             {1e-13, "s", "less than 10<sup>&#8722;12</sup>&#8239;s"},
             {0.002, "m/s", "0.002&#8239;m/s"},   // such units take no prefix
             {12345.6, "J", "12346&#8239;J"},
             {2.5e7, "J", "2.5e+07&#8239;J"},
             {NAN, "m", "undefined"},
             {INFINITY, "m", "infinite"},
             {-INFINITY, "m", "-infinite"}};
  for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
    Buffer out = {0};
    report_quantity(&out, row[i].value, row[i].unit);
    assert_string_equal(out.text, row[i].text);
    buf_free(&out);
  }
}

typedef struct Page {
  djModel* model;
  djData* data[ENGINES];
  Record record;
  Engine engine[ENGINES];
  djContactForce contact;
} Page;

static void openPage(Page* p) {
  *p = (Page){0};
  assert_int_equal(dj_loadModel(&p->model, "scene.json", NULL), DJ_OK);
  for (int k = 0; k < ENGINES; k++) {
    assert_int_equal(dj_makeData(&p->data[k], p->model, NULL), DJ_OK);
    const djData* d = p->data[k];
    assert_int_equal(dj_forward(p->model, p->data[k]), DJ_OK);
    p->engine[k] = (Engine){.model = p->model, .xpos = d->xpos, .xquat = d->xquat, .qvel = d->qvel};
  }
  p->engine[0].own = p->data[0];
  record_open(&p->record, p->model, 10);
}

static void closePage(Page* p) {
  record_close(&p->record);
  for (int k = 0; k < ENGINES; k++) dj_deleteData(p->data[k]);
  dj_deleteModel(p->model);
}

static char* writePage(Page* p, const char* path) {
  Buffer out = {0};
  Scene scene = {.path = path, .model = p->model};
  Report report = {
      .scene = &scene,
      .record = &p->record,
      .engine = p->engine,
      .json = {"{\"scene\":\"s\",\"engine\":\"dijoco\",\"steps\":10,\"worst_residual\":"
               "0.5,\"stopped\":true,\"note\":\"<&\",\"spin\":[1,2.5],"
               "\"settings\":{\"contact\":\"separating_plane\"}}",
               "{\"steps\":12,\"settings\":{\"cone\":\"ell<iptic\"}}"}};
  report_write(&out, &report);
  djt_wellFormed(out.text);
  return out.text;
}

static void testSame(void) {
  Page p;
  openPage(&p);
  for (long k = 0; k <= 10; k++) {
    p.engine[0].time = p.engine[1].time = 0.1 * (double)k;
    record_add(&p.record, p.engine, k);
  }
  char* page = writePage(&p, "a/<b>&\".json");
  assert_int_equal(strncmp(page, "<!DOCTYPE html>\n<html lang=\"en\">", 31), 0);
  assert_non_null(strstr(page, "<title>DiJoCo and MuJoCo: &lt;b&gt;&amp;&quot;.json</title>"));
  assert_non_null(strstr(page, "<code>a/&lt;b&gt;&amp;&quot;.json</code> simulated for 1 s"));
  assert_non_null(strstr(page, "the bodies coincide."));
  assert_null(strstr(page, " apart.</figcaption>"));
  assert_non_null(strstr(page, "No bodies touched."));
  assert_non_null(strstr(page, "<h3>What a step takes</h3>"));
  assert_null(strstr(page, "<strong>"));
  assert_null(strstr(page, "It moves with the bodies"));
  assert_null(strstr(page, "http"));   // nothing from the network
  assert_null(strstr(page, "<script"));
  assert_non_null(strstr(page, report_style));
  // What both runs tell, side by side; names of keys without underscores.
  assert_non_null(strstr(page, "<tr><th>steps</th><td>10</td><td>12</td></tr>"));
  assert_non_null(strstr(page, "<tr><th>worst residual</th><td>0.5</td><td></td></tr>"));
  assert_non_null(strstr(page, "<tr><th>stopped</th><td>yes</td>"));
  assert_non_null(strstr(page, "<tr><th>note</th><td>&lt;&amp;</td>"));
  assert_non_null(strstr(page, "<tr><th>spin</th><td>1, 2.5</td>"));
  assert_non_null(strstr(page, "<tr><th>cone</th><td>ell&lt;iptic</td></tr>"));
  assert_null(strstr(page, "<tr><th>engine</th>"));
  free(page);
  closePage(&p);
}

static void testDifferent(void) {
  Page p;
  openPage(&p);
  p.contact = (djContactForce){0, 1, {0, 0, 4}, {0}};
  for (long k = 0; k <= 10; k++) {
    p.engine[0].time = p.engine[1].time = 0.1 * (double)k;
    for (int e = 0; e < ENGINES; e++) p.data[e]->xpos[3] = 4 * (double)k;   // far away
    p.data[1]->xpos[5] += 0.025;
    p.engine[0].contact = &p.contact;
    p.engine[0].ncontact = k > 0;
    record_add(&p.record, p.engine, k);
  }
  p.engine[0].tally = (Tally){.steps = 10, .unconverged_steps = 3};
  p.engine[1].tally = (Tally){.stopped = true, .time = 0.7, .note = "a < b"};
  char* page = writePage(&p, "s.json");
  assert_non_null(strstr(page, "Bodies are at most 275&#8239;mm apart (ball, at 1 s)"));
  assert_non_null(strstr(page, "<strong>MuJoCo stopped at 0.7 s</strong>: a &lt; b."));
  assert_non_null(strstr(page, "<strong>3 of DiJoCo&#8217;s 10 steps did not converge</strong>"));
  assert_non_null(strstr(page, "t = 1 s: the bodies are at most 275&#8239;mm apart."));
  assert_non_null(strstr(page, "It moves with the bodies, which travel far."));
  assert_non_null(strstr(page, "<td>4&#8239;N</td><td>0.1 s</td><td>world on ball</td>"));
  assert_non_null(strstr(page, "world on ball</text>"));   // of the chart
  assert_null(strstr(page, "No bodies touched."));
  // A picture of each engine at 6 times, and the charts.
  int pictures = 0, charts = 0, balls = 0;
  for (char* c = page; (c = strstr(c, "aria-label=\"The scene in ")); c++) pictures++;
  for (char* c = strstr(page, "<h2>Over time"); (c = strstr(c, "<svg")); c++) charts++;
  for (char* c = page; (c = strstr(c, "<ellipse rx=")); c++, balls++) {
    assert_true(atof(c + 13) > 30);   // pixels; from one place it were less than 1
  }
  assert_int_equal(pictures, 12);
  assert_int_equal(balls, 12);   // which are all inside
  assert_int_equal(charts, 9);
  free(page);
  closePage(&p);
}

// Among what stands around the camera stays where it is, as long as it can.
static void testStanding(void) {
  for (int k = 0; k < 4; k++) {
    Page p;
    openPage(&p);
    const bool stands = k & 1, far = k & 2;
    for (int g = 0; g < p.model->ngeom && stands; g++) {
      if (p.model->geom_type[g] != DJ_PLANE) continue;
      p.model->geom_type[g] = DJ_BOX;
      for (int i = 0; i < 3; i++) p.model->geom_size[3 * g + i] = 0.1;
    }
    for (long step = 0; step <= 10; step++) {
      p.engine[0].time = p.engine[1].time = 0.1 * (double)step;
      for (int e = 0; e < ENGINES; e++) p.data[e]->xpos[3] = (far ? 10 : 0.2) * (double)step;
      record_add(&p.record, p.engine, step);
    }
    char* page = writePage(&p, "s.json");
    assert_int_equal(strstr(page, "It moves with the bodies") != NULL, far || !stands);
    free(page);
    closePage(&p);
  }
}

DJT_MAIN_IN(djt_enterFolder, djt_leaveFolder, testQuantity, testSame, testDifferent, testStanding)
