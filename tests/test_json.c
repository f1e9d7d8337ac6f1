// Model files: bitwise round trips, and refusals that name the element.

#include "common/file.h"
#include "common/json.h"
#include "common/make_model.h"
#include "common/message.h"
#include "common/random_model.h"
#include "common/refused_text.h"
#include "common/sample_model.h"
#include "common/test.h"
#include "io/model_exact.h"
#include "io/record_row.h"

static const char* const path = "test_json.tmp.json";

static void checkRoundTrip(const djModel* m) {
  djError err = {""};
  if (dj_saveModel(m, path, &err) != DJ_OK) fail_msg("%s", err.text);
  djModel* again = djt_load(path);
  const char* difference = djt_difference(m, again);
  if (difference) fail_msg("%s differs", difference);
  dj_deleteModel(again);
  remove(path);
}

static void test_roundTrip(void) {
  djSample sample;
  djModel* m = djt_sampleModel(&sample);
  const djPairDef* pair = &sample.def.pair[0];
  assert_true(m->pair_gap[0] == pair->gap && m->pair_margin[0] == pair->margin && pair->gap > 0);
  checkRoundTrip(m);
  dj_deleteModel(m);
  // All ways to say "auto" are one, so that the file can be without it.
  double* automatic[] = {&sample.def.option.support, &sample.def.option.stiffness,
                         &sample.def.option.skin, &sample.def.option.friction_eps};
  for (int k = 0; k < 4; k++) *automatic[k] = -3;
  assert_int_equal(dj_makeModel(&m, &sample.def, NULL), DJ_OK);
  checkRoundTrip(m);
  djOption option = m->opt;
  option.skin = -0.5;
  assert_int_equal(dj_setOption(m, &option, NULL), DJ_OK);
  checkRoundTrip(m);
  dj_deleteModel(m);
  for (int k = 0; k < 4; k++) *automatic[k] = 0.01 * (k + 1);   // and given values stay
  assert_int_equal(dj_makeModel(&m, &sample.def, NULL), DJ_OK);
  assert_true(m->opt.support == 0.01 && m->opt.friction_eps == 0.04);
  checkRoundTrip(m);
  dj_deleteModel(m);
  djRng rng = {11};
  for (int k = 0; k < 100; k++) {
    m = djt_randomModel(&rng, 1 + djt_integer(&rng, 12), DJT_ALL | (k % 2 ? DJT_TENDONS : 0) |
                                                              (k % 4 == 3 ? DJT_WRAPS : 0));
    checkRoundTrip(m);
    dj_deleteModel(m);
  }
}

// Parameters that are set leave numbers as they were that would follow from them.
static int setSome(djModel* m, djRng* rng) {
  djParam param[2000];
  djError err;
  int n = dj_matchParams(param, 2000, m, "*/*", &err), set = 0;
  assert_true(n > 0 && n <= 2000);
  for (int k = 0; k < n; k++) {
    double* value = malloc(((size_t)param[k].nvalue + 1) * sizeof *value);
    assert_int_equal(dj_getParam(value, m, &param[k]), DJ_OK);
    for (int i = 0; i < param[k].nvalue; i++) value[i] *= 1 + 0.02 * djt_uniform(rng, 0, 1);
    set += dj_setParam(m, &param[k], value, &err) == DJ_OK;
    free(value);
  }
  return set;
}

static void checkSteps(const djModel* m, const djModel* again) {
  djData* d = djt_data(m);
  djData* e = djt_data(again);
  for (int k = 0; k < 5; k++) assert_int_equal(dj_step(m, d), dj_step(again, e));
  assert_memory_equal(d->qpos, e->qpos, (size_t)m->nq * sizeof(double));
  assert_memory_equal(d->qvel, e->qvel, (size_t)m->nv * sizeof(double));
  dj_deleteData(d);
  dj_deleteData(e);
}

static void test_changed(void) {
  djRng rng = {5};
  int set = 0, kept = 0;
  for (int k = 0; k < 40; k++) {
    djModel* m = djt_randomModel(&rng, 1 + djt_integer(&rng, 8), DJT_ALL | (k % 2 ? DJT_TENDONS : 0));
    char *text = NULL, *once_more = NULL;
    djError err = {""};
    assert_int_equal(m->changed, 0);
    set += setSome(m, &rng);
    if (dj_saveModelText(&text, m, &err) < 0) fail_msg("%s", err.text);
    djModel* again = djt_modelOf(text);
    const char* name;
    for (int i = 0; (name = dj_modelArrayName(i)); i++) {
      djArray a, b;
      uint64_t hash = 0, other = 0;
      if (!dj_isExactArray(name)) continue;
      assert_int_equal(dj_modelArray(&a, m, name), DJ_OK);
      assert_int_equal(dj_modelArray(&b, again, name), DJ_OK);
      dj_mixArray(&hash, &a);
      dj_mixArray(&other, &b);
      if (hash != other) fail_msg("%s differs", name);
    }
    checkSteps(m, again);
    kept += strstr(text, "\"exact\": {") != NULL;
    assert_int_equal(dj_saveModelText(&once_more, again, &err), DJ_OK);
    assert_string_equal(once_more, text);
    dj_deleteText(text);
    dj_deleteText(once_more);
    dj_deleteModel(m);
    dj_deleteModel(again);
  }
  assert_true(set > 1000 && kept > 30);
}

// What is not the number of a model is refused, with the array's name.
static void test_exact(void) {
  static const char* const list[][2] = {
      {"3", "^exact: must be an object"},
      {"{'colour': [1]}", "^exact: colour: is no array of numbers"},
      {"{'njnt': [1]}", "^exact: njnt: is no array of numbers"},
      {"{'jnt_effinertia': [1, 2]}", "^exact: jnt_effinertia: "},
      {"{'jnt_effinertia': ['inf']}", "^exact: jnt_effinertia: must be finite"},
      {"{'jnt_effinertia': 'x'}", "^exact: jnt_effinertia: "},
  };
  djt_refuseModels(DJ_INVALID,
                   "{'dijoco_model':1,'bodies':[{'name':'world'},{'name':'b','mass':1,'inertia':"
                   "[1,1,1],'parent':'world'}],'joints':[{'body':1,'type':'hinge'}],'exact':%s}",
                   list);
}

// A name that JSON cannot hold is refused, and what stood in the file stays.
static void test_names(void) {
  djSample sample;
  djModel* m = djt_sampleModel(&sample);
  djError err = {""};
  assert_int_equal(dj_saveModel(m, path, &err), DJ_OK);
  djSiteDef site = {.name = "caf\xe9", .quat = {1}};
  sample.def.site = &site;
  sample.def.nsite = 1;
  sample.def.ntendon = 0;
  djModel* latin = djt_makeModel(&sample.def);
  djt_refusedWith(DJ_INVALID, dj_saveModel(latin, path, &err), err,
                  ": sites[0].name: a string is not UTF-8");
  djModel* again = djt_load(path);
  assert_null(djt_difference(m, again));
  dj_deleteModel(again);
  dj_deleteModel(latin);
  site.name = "caf\xc3\xa9";
  assert_int_equal(dj_makeModel(&latin, &sample.def, &err), DJ_OK);
  checkRoundTrip(latin);
  dj_deleteModel(latin);
  dj_deleteModel(m);
}

// Numbers of every size keep their bits.
static void test_numbers(void) {
  djRng rng = {5};
  int made = 0;
  for (int k = 0; k < 300; k++) {
    djSample sample;
    djt_fillSample(&sample);
    double* fields[] = {sample.body[2].pos,   sample.body[2].ipos,        sample.joint[0].pos,
                        sample.geom[2].pos,   sample.actuator[0].gainprm, sample.actuator[0].gear,
                        sample.site[0].pos,   sample.vert[1][0],          sample.def.option.gravity,
                        &sample.pair[0].gap};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
      double scale = pow(10, djt_uniform(&rng, -320, 20));
      fields[i][0] = djt_uniform(&rng, -1, 1) * scale;
    }
    djModel* m = NULL;
    // Build from extreme numbers; collision data may refuse them, the file must not.
    if (dj_makeModel(&m, &sample.def, NULL) != DJ_OK) continue;
    checkRoundTrip(m);
    dj_deleteModel(m);
    made++;
  }
  assert_true(made > 100);
}

static void test_format(void) {
  char text[32];
  assert_string_equal(dj_formatNumber(text, 0.1), "0.1");
  assert_string_equal(dj_formatNumber(text, -0.0), "-0");
  assert_string_equal(dj_formatNumber(text, 1e300), "1e+300");
  assert_string_equal(dj_formatNumber(text, 0.1 + 0.2), "0.30000000000000004");
  assert_string_equal(dj_formatNumber(text, 5e-324), "4.94065645841247e-324");
  assert_string_equal(dj_formatNumber(text, INFINITY), "inf");
  assert_string_equal(dj_formatNumber(text, -INFINITY), "-inf");
  assert_string_equal(dj_formatNumber(text, NAN), "nan");
  djRng rng = {9};
  for (int k = 0; k < 100000; k++) {
    double value = djt_uniform(&rng, -1, 1);
    value *= pow(10, djt_uniform(&rng, -320, 300));
    double back = strtod(dj_formatNumber(text, value), NULL);
    assert_memory_equal(&back, &value, sizeof value);
  }
}

#define HEAD "{'dijoco_model':1,'bodies':[{},{'name':'b','mass':1,'inertia':[1,1,1]}]"

static void test_good(void) {
  static const char text[] = HEAD ",'joints':[{'name':'j','type':'hinge','body':'b','qpos0':0.5}],"
                                  "'geoms':[{'type':'sphere','body':1,'size':[0.1,0,0]}],"
                                  "'actuators':[{'joint':'j'}],"
                                  "'keys':[{'name':'k','qpos':[1]}]}\n";
  djModel* m = djt_modelOf(text);
  assert_int_equal(m->nq, 1);
  assert_true(m->qpos0[0] == 0.5 && m->key_qpos[0] == 1);
  assert_int_equal(m->geom_body[0], 1);
  dj_deleteModel(m);
}

#define TENDON(members)                                                                            \
  HEAD ",'joints':[{'name':'j','body':1}],'sites':[{'name':"                                       \
       "'a'},{'name':'s','body':1}],'tendons':[{'name':'t'" members "}]"

// Both kinds of tendons, and actuators on everything.
static void test_tendons(void) {
  static const char text[] =
      TENDON(",'path':['a','s',{'pulley':2},1,0],'springlength':[0.1,0.3]},{'joints':['j'],"
             "'coef':[-2],'damping':3") ",'actuators':[{'tendon':'t'},{'tendon':1},{'site':'s','"
                                        "refsite':'a'},"
                                        "{'cranksite':'a','slidersite':'s','cranklength':2}]}";
  djModel* m = djt_modelOf(text);
  static const int type[6] = {DJ_WRAP_SITE, DJ_WRAP_SITE, DJ_WRAP_PULLEY, DJ_WRAP_SITE,
                              DJ_WRAP_SITE, DJ_WRAP_JOINT};
  static const int id[6] = {0, 1, -1, 1, 0, 0};
  assert_int_equal(m->ntendon, 2);
  assert_int_equal(m->nwrap, 6);
  assert_memory_equal(m->wrap_type, type, sizeof type);
  assert_memory_equal(m->wrap_objid, id, sizeof id);
  assert_true(m->wrap_prm[2] == 2 && m->wrap_prm[5] == -2 && m->tendon_damping[1] == 3);
  assert_true(m->tendon_lengthspring[0] == 0.1 && m->tendon_lengthspring[1] == 0.3);
  assert_int_equal(dj_name2id(m, DJ_OBJ_TENDON, "t"), 0);
  assert_int_equal(m->actuator_tendon[1], 1);
  assert_int_equal(m->actuator_site[2 * 2 + 1], 0);
  assert_int_equal(m->actuator_crank[2 * 3 + 1], 1);
  assert_true(m->actuator_cranklength[3] == 2);
  checkRoundTrip(m);
  dj_deleteModel(m);
}

static void test_errors(void) {
  static const char* const list[][2] = {
      {"", "line 1, column 1: the text ends, a value expected"},
      {"{", "line 1, column 2: the text ends, a key in quotes expected"},
      {"{\n\n]", "line 3, column 1: a key in quotes expected, not ']'"},
      {"{} x", "line 1, column 4: the end of the text expected, not 'x'"},
      {"[]", "must be a JSON object"},
      {"{}", "not a DiJoCo model: 'dijoco_model' is missing"},
      {"{'scene':'s.json','loss':[]}", "a task, where a model is expected"},
      {"{'dijoco_model':2}", "dijoco_model: unknown version of the format"},
      {"{'dijoco_model':1}", "model: body 0, the world, is missing"},
      {HEAD ",'body':[]}", "unknown key 'body'"},
      {HEAD ",'geoms':{}}", "geoms: must be a list"},
      {HEAD ",'geoms':[7]}", "geom #0: must be an object"},
      {HEAD ",'name':7}", "name: must be a string"},
      {HEAD ",'bodies':[]}", "bodies: is given twice"},
      {HEAD ",'option':{'long_range':{},'long_range':{}}}", // one of more than 64 keys
       "option: long_range: is given twice"},
      {HEAD ",'option':{'timestep':'x'}}", "option: timestep: must be a number"},
      {HEAD ",'option':{'timestep':0}}", "option: timestep must be positive"},
      {HEAD ",'option':{'timestep':01}}",
       "line 1, column 94: option.timestep: '01' is not a number of JSON"},
      {HEAD ",'option':{'timestep':\n 1.}}",
       "line 2, column 2: option.timestep: '1.' is not a number of JSON"},
      {HEAD ",'joints':[{'name':'j\\u0000k','body':1}]}",
       "line 1, column 93: joints[0].name: a string holds NUL (\\u0000)"},
      {HEAD ",'option':{'support':-1}}", "option: support: must not be negative"},
      {HEAD ",'option':{'stiffness':-1}}", "option: stiffness: must not be negative"},
      {HEAD ",'option':{'skin':-0.001}}", "option: skin: must not be negative"},
      {HEAD ",'option':{'friction_eps':-1e-9}}", "option: friction_eps: must not be negative"},
      {HEAD ",'option':{'skin':'auto'}}", "option: skin: must be a number"},
      {HEAD ",'option':{'skin':[1]}}", "option: skin: must be a number"},
      {HEAD ",'option':{'gravity':[0,0,1e999]}}", "option: gravity: is not finite"},
      {HEAD ",'option':{'gravity':[0,0,1e300]}}", "option: gravity is larger than 1e20"},
      {HEAD ",'geoms':[{'name':'g','body':1,'size':[1e30,0,0]}]}",
       "geom 'g': size is larger than 1e20"},
      {HEAD ",'geoms':[{'name':'g','body':1,'size':1}]}", "geom 'g': size: must be 3 numbers"},
      {HEAD ",'joints':[{'name':'j','body':1,'stiffness':[1,2]}]}",
       "joint 'j': stiffness: must be 1 number"},
      {HEAD ",'option':{'timestep':1e999}}", "option: timestep: is not finite"},
      {TENDON("") "}", "tendon 't': has neither joints nor a path"},
      {TENDON(",'path':'a'") "}", "tendon 't': path: must be a list"},
      {TENDON(",'path':['a','x']") "}", "tendon 't': path: there is no 'x'"},
      {TENDON(",'path':['a',true]") "}", "tendon 't': path: must be a name or an index"},
      {TENDON(",'path':['a','s'],'coef':[1]") "}", "tendon 't': path: excludes joints and coef"},
      {TENDON(",'path':[{'pulley':1,'a':2}]") "}", "tendon 't': unknown key 'a'"},
      {TENDON(",'joints':['j']") "}", "tendon 't': coef: is missing"},
      {TENDON(",'joints':['j'],'coef':[1,2]") "}", "tendon 't': coef: must be 1 number"},
      {TENDON(",'joints':['s'],'coef':[1]") "}", "tendon 't': joints: there is no 's'"},
      {TENDON(",'joints':7,'coef':[1]") "}", "tendon 't': joints: must be a list"},
      {TENDON(",'wraps':7") "}", "tendon 't': unknown key 'wraps'"},
      {HEAD ",'option':{'disable':'limit'}}", "option: disable: must be a list"},
      {HEAD ",'option':{'disable':['x']}}", "option: unknown value 'x'"},
      {HEAD ",'option':{'contact':'soft'}}", "option: contact: unknown value 'soft'"},
      {HEAD ",'option':{'max_iterations':1.5}}", "option: max_iterations: must be an integer"},
      {HEAD ",'option':{'max_iterations':3e9}}", "option: max_iterations: must be an integer"},
      {HEAD ",'joints':[{'name':'j','body':'c'}]}", "joint 'j': body: there is no 'c'"},
      {HEAD ",'joints':[{'name':'j','body':[]}]}", "joint 'j': body: must be a name or an index"},
      {HEAD ",'joints':[{'name':'j','body':5}]}", "joint 'j': its body does not exist"},
      {HEAD ",'joints':[{'name':'j','body':1,'axis':[0,0]}]}",
       "joint 'j': axis: must be 3 numbers"},
      {HEAD ",'joints':[{'name':'j','body':1,'axis':[0,0,'x']}]}",
       "joint 'j': axis: must be 3 numbers"},
      {HEAD ",'joints':[{'name':'j','body':1,'type':'ball','qpos0':[0]}]}",
       "joint 'j': qpos0: must be 4 numbers"},
      {HEAD ",'joints':[{'name':'j','body':1,'limited':1}]}",
       "joint 'j': limited: must be true or false"},
      {HEAD ",'joints':[{'name':'j','body':1,'limited':true,'range':[1,0]}]}",
       "joint 'j': range is reversed"},
      {HEAD ",'joints':[{'name':'j','body':1,'limited':true,'range':[1,'inf']}]}",
       "joint 'j': range is not finite"},
      {HEAD ",'joints':[{'body':1,'colour':[1,0]}]}", "joint #0: unknown key 'colour'"},
      {HEAD ",'meshes':[{}]}", "mesh #0: vert: is missing"},
      {HEAD ",'meshes':[{'vert':[[0,0,0],[1,1]]}]}", "mesh #0: vert: must be 3 numbers"},
      {HEAD ",'meshes':[{'vert':[[0,0,0]],'face':[[0,1,2]]}]}",
       "mesh #0: face: names a vertex that does not exist"},
      {HEAD ",'keys':[{'name':'k','qpos':[1]}]}", "key 'k': qpos: must be 0 numbers"},
      {HEAD ",'sites':[{'name':'s'},{'name':'s'}]}", "site 's': the name is used twice"},
  };
  djt_refuseModels(DJ_INVALID, "%s", list);
}

static void test_files(void) {
  djModel* m = NULL;
  djError err = {""};
  djt_refused(DJ_FILE, dj_loadModel(&m, "no/such/file.json", &err), err,
              "no/such/file.json: cannot be opened");
  djt_refused(DJ_FILE, dj_loadModel(&m, "/", &err), err, "/: cannot be read");
  djSample sample;
  m = djt_sampleModel(&sample);
  djt_refused(DJ_FILE, dj_saveModel(m, "no/such/file.json", &err), err,
              "no/such/file.json: cannot be written: No such file or directory");
  dj_deleteModel(m);
  djt_writeText(path, djt_json(HEAD ",'joints':[{'name':'knee','body':1,'damping':-1}]}"));
  assert_int_equal(dj_loadModel(&m, path, &err), DJ_INVALID);
  assert_string_equal(err.text,
                      "test_json.tmp.json: joint 'knee': damping is negative or not finite");
  remove(path);
}

// Nesting and sizes that a hostile file may have.
static void test_hostile(void) {
  size_t n = 200000;
  char* text = malloc(n + 1);
  assert_non_null(text);
  djModel* m = NULL;
  memset(text, '[', n);
  text[n] = 0;
  assert_int_equal(dj_loadModelText(&m, djt_json(text), NULL), DJ_INVALID);
  for (size_t i = 0; i + 5 <= n; i += 5) memcpy(text + i, "{'a':", 5);
  assert_int_equal(dj_loadModelText(&m, djt_json(text), NULL), DJ_INVALID);
  // A long list of bodies, each the child of the one before, without mass.
  static const char start[] = "{'dijoco_model':1,'bodies':[{}";
  strcpy(text, start);
  size_t used = sizeof start - 1;
  for (int body = 1; used + 40 < n; body++) {
    used += (size_t)snprintf(text + used, n - used, ",{'parent':%d}", body - 1);
  }
  strcpy(text + used, "]}");
  assert_int_equal(dj_loadModelText(&m, djt_json(text), NULL), DJ_OK);
  dj_deleteModel(m);
  free(text);
}

DJT_MAIN(test_roundTrip, test_names, test_changed, test_exact, test_numbers, test_format, test_good,
         test_tendons, test_errors, test_files, test_hostile)
