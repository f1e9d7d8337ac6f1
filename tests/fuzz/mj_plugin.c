// Keys of the plugins dijoco.contact and dijoco.gap, and <custom> settings dijoco_*, under MuJoCo's
// own step. A line of the input is "contact KEY VALUE", "gap KEY VALUE" or "custom NAME VALUE".

#include "mjcf.h"

#include <ctype.h>
#include <math.h>

typedef struct Text {
  char* at;
  size_t size;
} Text;

static void add(Text* t, const char* piece, size_t n) {
  t->at = realloc(t->at, t->size + n + 1);
  FUZZ_CHECK(t->at);
  memcpy(t->at + t->size, piece, n);
  t->size += n;
  t->at[t->size] = '\0';
}

static void addText(Text* t, const char* piece) { add(t, piece, strlen(piece)); }

// As the value of an attribute.
static void addQuoted(Text* t, const char* piece, size_t n) {
  for (size_t i = 0; i < n; i++) {
    char code[8];
    snprintf(code, sizeof code, "&#%d;", (unsigned char)piece[i]);
    if (isalnum((unsigned char)piece[i])) add(t, piece + i, 1);
    else if ((unsigned char)piece[i] >= ' ') addText(t, code);
  }
}

// One element for every line whose first word is `kind`, with two attributes.
static void addLines(Text* t, const char* text, const char* kind, const char* element,
                     const char* first, const char* second) {
  size_t nkind = strlen(kind);
  for (const char* line = text; *line;) {
    size_t n = strcspn(line, "\n");
    if (n > nkind && strncmp(line, kind, nkind) == 0 && line[nkind] == ' ') {
      const char* key = line + nkind + 1;
      size_t nkey = strcspn(key, " \n");
      const char* value = key + nkey + (key[nkey] == ' ');
      addText(t, element);
      addText(t, first);
      addQuoted(t, key, nkey);
      addText(t, second);
      addQuoted(t, value, strcspn(value, "\n"));
      addText(t, "'/>");
    }
    line += n + (line[n] == '\n');
  }
}

static bool hasLine(const char* text, const char* start) {
  const size_t n = strlen(start);
  for (const char* line = text; *line;) {
    if (strncmp(line, start, n) == 0) return true;
    line += strcspn(line, "\n");
    line += *line == '\n';
  }
  return false;
}

static char* compose(const char* text) {
  Text t = {0};
  addText(&t, "<mujoco><option><flag contact='disable'/></option><custom>");
  addLines(&t, text, "custom", "<numeric", " name='dijoco_", "' data='");
  addText(&t, "</custom><extension><plugin plugin='dijoco.contact'><instance name='dj'>");
  addLines(&t, text, "contact", "<config", " key='", "' value='");
  addText(&t, "</instance></plugin>");
  const bool gap = hasLine(text, "gap ");   // which it must name
  if (gap) addText(&t, "<plugin plugin='dijoco.gap'><instance name='gap'>");
  addLines(&t, text, "gap", "<config", " key='", "' value='");
  if (gap) addText(&t, "</instance></plugin>");
  addText(&t,
          "</extension><worldbody><geom name='floor' type='plane' "
          "size='1 1 1'/><body name='box' pos='0 0 .049'><freejoint/><geom name='cube' type='box' "
          "size='.05 .05 .05'/></body><body name='arm' pos='0 0 .12'><joint name='hinge' "
          "axis='0 1 0' range='-10 10' limited='true' frictionloss='.1'/><geom name='rod' "
          "type='capsule' size='.02 .1' euler='0 80 0'/></body></worldbody><actuator><motor "
          "joint='hinge'/></actuator>");
  if (gap) addText(&t, "<sensor><plugin name='s' instance='gap'/></sensor>");
  addText(&t, "</mujoco>");
  return t.at;
}

typedef struct Run {
  const mjModel* m;
  mjData* d;
} Run;

static void run(void* user) {
  Run* r = user;
  r->d = mj_makeData(r->m);
  if (!r->d) return;
  for (int k = 0; k < 3; k++) mj_step(r->m, r->d);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  char* text = fuzz_text(data, size);
  char* scene = compose(text);
  mjModel* m = fuzz_wantsMuch(text) ? NULL : fuzz_compile(scene);
  djError err;
  if (m) {
    Run r = {.m = m};
    djStatus status = djm_guard(run, &r, &err);
    FUZZ_CHECK(status == DJ_OK || err.text[0]);
    for (int i = 0; r.d && i < m->nv; i++) FUZZ_CHECK(isfinite(r.d->qvel[i]));
    mj_deleteData(r.d);
    mj_deleteModel(m);
  }
  free(scene);
  free(text);
  return 0;
}
