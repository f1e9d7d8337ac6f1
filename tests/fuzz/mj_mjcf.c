// MJCF that MuJoCo accepts: it is imported, stepped and written, or refused with a reason.

#include "fuzz.h"
#include "mjcf.h"

static void step(const mjModel* m, djModel* model) {
  djData* d;
  djError err;
  if (dj_makeData(&d, model, &err) >= 0) {
    for (int k = 0; k < 3; k++) dj_step(model, d);
    dj_deleteData(d);
  } else {
    FUZZ_CHECK(err.text[0]);
  }
  djmContext* context;
  if (djm_makeContext(&context, NULL, m, &err) >= 0) {
    mjData* stock = mj_makeData(m);
    if (stock) djm_step(m, stock, context);
    mj_deleteData(stock);
    djm_deleteContext(context);
  }
  char* text;
  if (djm_makeMJCF(&text, NULL, model, NULL, &err) >= 0) free(text);
  else FUZZ_CHECK(err.text[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  char* text = fuzz_text(data, size);
  mjModel* m = fuzz_wantsMuch(text) ? NULL : fuzz_compile(text);
  djModel* model;
  djReport* report;
  djError err;
  if (m && dj_importMuJoCo(&model, &report, m, &err) >= 0) {
    FUZZ_CHECK(model->nq == m->nq && model->nv == m->nv && model->nbody == m->nbody);
    if (m->nv < 60 && m->nmeshvert < 500) step(m, model);
    dj_deleteReport(report);
    dj_deleteModel(model);
  } else if (m) {
    FUZZ_CHECK(!model && !report && err.text[0]);
  }
  mj_deleteModel(m);
  free(text);
  return 0;
}
