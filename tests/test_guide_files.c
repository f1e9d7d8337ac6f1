// Guides in model files: what is written is read, and bad input names what is wrong.

#include <dijoco/dijoco.h>

#include "common/json.h"
#include "common/make_model.h"
#include "common/scene.h"
#include "common/test.h"

enum { BALL = 1, BOX, ROD };

// The settings of contact, and lists at the end.
static const char head[] = "{'dijoco_model':1,'option':{'contact':{%s}},'bodies':[{'name':'world'},"
                           "{'name':'ball','mass':1,'inertia':[1,1,1]},"
                           "{'name':'box','mass':1,'inertia':[1,1,1]},"
                           "{'name':'rod','mass':1,'inertia':[1,1,1]}],"
                           "'joints':[{'type':'free','body':'ball'},{'type':'free','body':'rod'}],"
                           "'geoms':[{'type':'sphere','body':'ball','size':[0.1,0,0]},"
                           "{'type':'sphere','body':'rod','size':[0.1,0,0],'pos':[1,0,0]}]%s}";

static djStatus load(djModel** m, const char* contact, const char* rest, djError* err) {
  char text[2000];
  snprintf(text, sizeof text, head, contact, rest);
  return dj_loadModelText(m, djt_json(text), err);
}

// Lists and settings go to files and come back.
static void testFiles(void) {
  static const char* const path = DIJOCO_BUILD_DIR "/tests/guide_model.json";
  static const char* const contact[] = {
      "'guide':0.25,'guide_length':0.3,'guide_backward_only':true,'guide_decay':0.25",
      "'guide':'auto','guide_part':0.5"};
  for (int k = 0; k < 2; k++) {
    djModel* m;
    djError err = {""};
    djStatus status = load(&m, contact[k],
                           ",'guides':[{'body1':'rod','body2':'box'},"
                           "{'body1':'ball','body2':'rod'}]",
                           &err);
    if (status != DJ_OK) fail_msg("%s", err.text);
    assert_int_equal(m->nguide, 2);
    assert_int_equal(dj_saveModel(m, path, &err), DJ_OK);
    djModel* again = djt_load(path);
    djModel* copy = djt_copy(m);
    djModel* const other[] = {again, copy};
    for (int i = 0; i < 2; i++) {
      const djModel* o = other[i];
      assert_int_equal(o->nguide, 2);
      assert_true(o->guide_body1[0] == BALL && o->guide_body2[0] == ROD);
      assert_true(o->guide_body1[1] == BOX && o->guide_body2[1] == ROD);
      assert_true(o->contact.guide == m->contact.guide && o->contact.guide > 0);
      assert_true(o->contact.guide_length == m->contact.guide_length);
      assert_int_equal(o->opt.guide_backward_only, k == 0);
      assert_true(o->opt.guide_decay == (k == 0 ? 0.25 : 1.5));
      assert_memory_equal(o->geom_part, m->geom_part, 2 * sizeof(double));
    }
    if (k == 0) assert_true(m->contact.guide == 0.25 && m->contact.guide_length == 0.3);
    if (k == 1) assert_true(m->contact.guide_factor == 1 && m->geom_part[0] == 0.5);
    dj_deleteModel(again);
    dj_deleteModel(copy);
    dj_deleteModel(m);
  }
  remove(path);
}

static void testBadFiles(void) {
  static const char* const list[][3] = {
      {"", ",'guides':[{'body1':'rod','body2':'bix'}]", "bix"},
      {"", ",'guides':{}", "guides"},
      {"'guide':-1", "", "guide"},
      {"'guide':'much'", "", "guide"},
      {"'guide_length':0", "", "guide_length"},
      {"'guide_length':'auto'", "", "guide_length"},
      {"'guide_part':2", "", "guide_part"},
      {"'guide_backward_only':2", "", "guide_backward_only"},
      {"'guide_decay':0.25", "", "guide_backward_only"},
      {"'guide_decay':1,'guide_backward_only':true", "", "guide_decay"},
      {"'guide_decay':1.6,'guide_backward_only':true", "", "or 1.5"},
      {"'guide_decay':0,'guide_backward_only':true", "", "guide_decay"},
      {"'guide_factor':-1", "", "guide_factor"}};
  for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
    djModel* m;
    djError err = {""};
    if (load(&m, list[i][0], list[i][1], &err) >= 0) fail_msg("%s%s", list[i][0], list[i][1]);
    if (!strstr(err.text, list[i][2]) || strchr(err.text, '\n')) fail_msg("%s", err.text);
  }
  djExcludeDef wrong = {1, 9};
  Scene* s = newScene(1);
  s->def.guide = &wrong;
  s->def.nguide = 1;
  djModel* m;
  djError err = {""};
  assert_int_equal(dj_makeModel(&m, &s->def, &err), DJ_INVALID);
  if (!strstr(err.text, "guide")) fail_msg("%s", err.text);
  freeScene(s);
}

DJT_MAIN(testFiles, testBadFiles)
