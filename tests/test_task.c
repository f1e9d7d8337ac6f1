// Tasks: what is read, how names are looked up, and what is refused.

#include "common/file.h"
#include "common/json.h"
#include "common/make_model.h"
#include "common/message.h"
#include "common/random_model.h"
#include "common/refused_text.h"
#include "common/sample_model.h"
#include "common/test.h"

static djTask* parse(const char* text) {
  djTask* task = NULL;
  djError err = {""};
  if (dj_loadTaskText(&task, djt_json(text), "folder", &err) != DJ_OK) fail_msg("%s", err.text);
  return task;
}

static djProblem* resolve(const djTask* task, const djModel* model) {
  djProblem* problem = NULL;
  djError err = {""};
  if (dj_resolveTask(&problem, task, model, &err) != DJ_OK) fail_msg("%s", err.text);
  return problem;
}

static const char full[] =
    "{'scene':'scene.json',\n"
    " 'contact':{'model':'separating_plane','support':0.003,'stiffness':1e-3,'length_scale':2,"
    "'skin':0,'friction_eps':1e-8,'overlap':'error','friction':'implicit','load':3,"
    "'inner_radius':0.1,'guide':0.2,'guide_length':0.3,'guide_radius':0.4,'guide_part':0.5,"
    "'guide_backward_only':true,'guide_decay':0.25,'recovery_stiffness':0.1,'support_scale':2,"
    "'stiffness_scale':3,'friction_eps_scale':4,'preset':'smooth'},\n"
    " 'integrator':'position','timestep':0.01,'tolerance':1e-5,'horizon':3,\n"
    " 'initial':{'keyframe':'away','qvel':[1,2,3,4,5,6,7,8,9,10,11]},\n"
    " 'ctrl':[[1,2,3],[4,5,6],[7,8,9]],\n"
    " 'set':{'geom/foot/size':[0.3,0.4,0],'joint/slide/damping':0.5},\n"
    " 'inertia_from_geom':false,\n"
    " 'loss':[\n"
    "  {'type':'position','body':'box','target':[1,2,3],'weight':2,'when':'running'},"
    "  {'type':'position','site':'tip','target':[1,2,3],'tolerance':0.1},"
    "  {'type':'position','geom':'#3','target':[1,2,3],'when':{'step':2}},"
    "  {'type':'orientation','body':'box','target':[0,0,0,5]},"
    "  {'type':'velocity','body':'robot/pole','target':[0,0,1]},"
    "  {'type':'com','target':[0,0,1]},"
    "  {'type':'com','body':'cart','target':[0,0,1]},"
    "  {'type':'distance','body':'box','body2':'cart','target':0.5},"
    "  {'type':'qpos','joint':'slide','target':0.5},"
    "  {'type':'qvel','joint':'robot/hinge','target':0.25},"
    "  {'type':'effort','weight':1e-3}],\n"
    " 'variables':[{'name':'ctrl'},{'name':'qpos0[joint/free]','index':[0,2]},"
    "  {'name':'qpos0[joint/slide]','min':-1,'max':1},{'name':'qvel0'},"
    "  {'name':'act0','index':[1]},{'name':'geom/foot/size','index':[0],'min':0.1,"
    "'max':[0.5]},{'name':'body/box/quat'},{'name':'contact/stiffness'},"
    "  {'name':'geom/foot/size','index':[1]}],\n"
    " 'optimizer':{'type':'adam','rate':0.1,'iterations':7}}";

static void test_parse(void) {
  djTask* t = parse(full);
  assert_string_equal(t->scene, "folder/scene.json");
  assert_int_equal(t->horizon, 3);
  const djSetting* row;
  for (int i = 0; (row = dj_setting(i)); i++) {
    static const char* const others[] = {"max_iterations", "frictionloss_eps", "friction_arms",
                                         "friction_cap", "barrier", "impact_steps", "restitution",
                                         "guide_factor", "law", "exponent", "damping",
                                         "kn", "kt", "kd", "scale", "vertices", "implicit",
                                         "spin", "wrap_onset", "equality", "softness",
                                         "recovery_load", "triangles", "theta", "sigma", "damping_time",
                                         "alpha", "friction_law", "sigma_t", "detect", "cut",
                                         "invariant", "coordinate_derivative", "normal"};
    bool given = (row->ways & DJ_BY_TASK) != 0;
    for (size_t k = 0; k < sizeof others / sizeof others[0]; k++) {
      given = given && strcmp(row->name, others[k]) != 0;
    }
    if (dj_isGiven(&t->settings, row) != given) fail_msg("%s", row->name);
  }
  djOption o = dj_defaultOption();
  dj_applySettings(&o, &t->settings);
  assert_true(o.support == 0.003 && o.stiffness == 1e-3 && o.length_scale == 2 && o.skin == 0);
  assert_true(o.friction_eps == 1e-8 && o.overlap == DJ_OVERLAP_ERROR && o.timestep == 0.01);
  assert_true(o.tolerance == 1e-5 && o.gravity[2] == -9.81);
  assert_string_equal(t->keyframe, "away");
  assert_int_equal(t->nset, 2);
  assert_int_equal(t->nloss, 11);
  assert_true(t->loss[3].term.target[3] == 1);
  assert_true(t->loss[10].term.when == DJ_WHEN_RUNNING && t->loss[9].term.when == DJ_WHEN_FINAL);
  assert_true(t->optimizer.given && t->optimizer.rate == 0.1 && t->optimizer.beta1 == 0.9);
  assert_int_equal(t->optimizer.iterations, 7);
  dj_deleteTask(t);
  dj_deleteTask(NULL);
}

static void test_resolve(void) {
  djModel* m = djt_sampleModel(NULL);
  djTask* t = parse(full);
  djError err = {""};
  if (dj_applySet(m, t, &err) != DJ_OK) fail_msg("%s", err.text);
  assert_true(m->geom_size[6] == 0.3 && m->jnt_damping[0] == 0.5);
  djProblem* p = resolve(t, m);
  assert_int_equal(p->key, 1);
  assert_true(p->qpos0[1] == m->key_qpos[13 + 1] && p->qvel0[10] == 11 && p->act0[1] == 0.9);
  double norm = 0;
  for (int k = 5; k < 9; k++) norm += p->qpos0[k] * p->qpos0[k];
  assert_true(fabs(norm - 1) < 1e-14);
  for (int k = 0; k < 9; k++) assert_true(p->ctrl[k] == k + 1);
  static const int ids[11] = {3, 0, 3, 3, 2, -1, 1, 3, 0, 1, -1};
  for (int k = 0; k < 11; k++) assert_int_equal(p->loss[k].id, ids[k]);
  assert_int_equal(p->loss[1].object, DJ_OBJ_SITE);
  assert_int_equal(p->loss[7].id2, 1);
  assert_int_equal(p->loss[2].step, 2);
  assert_int_equal(p->nvariable, 9);
  assert_int_equal(p->nparam, 3);
  assert_int_equal(p->nparamtangent, 3 + 3 + 1);
  const djVariable* v = p->variable;
  assert_true(v[0].kind == DJ_VAR_CTRL && v[0].n == 9 && !v[0].picked && v[0].index[8] == 8);
  assert_true(v[1].kind == DJ_VAR_QPOS0_JOINT && v[1].adr == 2 && v[1].valueadr == 2);
  assert_true(v[1].nvalue == 7 && v[1].ntangent == 6 && v[1].n == 2 && v[1].index[1] == 2);
  assert_true(v[1].min[0] == -INFINITY && v[1].max[1] == INFINITY);
  assert_true(v[2].min[0] == -1 && v[2].max[0] == 1 && v[2].joint == 0);
  assert_true(v[3].kind == DJ_VAR_QVEL0 && v[3].n == 11);
  assert_true(v[4].kind == DJ_VAR_ACT0 && v[4].index[0] == 1 && v[4].ntangent == 2);
  assert_true(v[5].kind == DJ_VAR_PARAM && v[5].param == 0 && v[5].adr == 0);
  assert_true(v[5].min[0] == 0.1 && v[5].max[0] == 0.5);
  assert_true(v[6].param == 1 && v[6].adr == 3 && v[6].nvalue == 4 && v[6].ntangent == 3);
  assert_true(v[7].param == 2 && v[7].adr == 6 && v[8].param == 0 && v[8].adr == 0);
  assert_int_equal(p->rollout.horizon, 3);
  assert_int_equal(p->rollout.nloss, 11);
  assert_ptr_equal(p->rollout.ctrl, p->ctrl);
  dj_deleteProblem(p);
  dj_deleteProblem(NULL);
  dj_deleteTask(t);
  dj_deleteModel(m);
}

#define START "{'scene':'s.xml','horizon':4,'loss':[]"

// Where controls come from.
static void test_ctrl(void) {
  djModel* m = djt_sampleModel(NULL);
  djTask* t = parse(START ",'ctrl':[1,2,3]}");
  djProblem* p = resolve(t, m);
  for (int k = 0; k < 12; k++) assert_true(p->ctrl[k] == k % 3 + 1);
  dj_deleteProblem(p);
  dj_deleteTask(t);
  t = parse(START "}");
  p = resolve(t, m);
  for (int k = 0; k < 12; k++) assert_true(p->ctrl[k] == 0);
  assert_memory_equal(p->qpos0, m->qpos0, 13 * sizeof(double));
  assert_int_equal(p->key, -1);
  dj_deleteProblem(p);
  dj_deleteTask(t);
  t = parse(START ",'initial':{'keyframe':1}}");
  p = resolve(t, m);
  assert_int_equal(p->key, 1);
  for (int k = 0; k < 4; k++) assert_true(p->ctrl[3 * k + 2] == -0.4);
  dj_deleteProblem(p);
  dj_deleteTask(t);

  static const char* const path = "test_task.tmp.csv";
  static const char* const taskpath = "./test_task.tmp.json";
  djt_writeText(path, "ctrl[0],ctrl[1],ctrl[2]\n1,2,3\n4,5,6\n");
  djt_writeText(taskpath, djt_json(START ",'ctrl':'test_task.tmp.csv','set':{'geom/foo/size':1}}"));
  djError err = {""};
  assert_int_equal(dj_loadTask(&t, taskpath, &err), DJ_OK);
  assert_string_equal(t->scene, "./s.xml");
  assert_string_equal(t->ctrl_file, "./test_task.tmp.csv");
  p = resolve(t, m);
  for (int k = 0; k < 3; k++) assert_true(p->ctrl[k] == k + 1 && p->ctrl[9 + k] == k + 4);
  dj_deleteProblem(p);
  // Errors of either stage begin with the task's path.
  assert_int_equal(dj_applySet(m, t, &err), DJ_INVALID);
  assert_string_equal(err.text,
                      "./test_task.tmp.json: set: 'geom/foo/size': there is no such geom");
  remove(path);
  assert_int_equal(dj_resolveTask(&p, t, m, &err), DJ_FILE);
  assert_string_equal(
      err.text, "./test_task.tmp.json: ctrl: ./test_task.tmp.csv: cannot be opened");
  djProblem* none = NULL;
  assert_int_equal(dj_resolveTask(&none, NULL, m, &err), DJ_INVALID);
  assert_int_equal(dj_resolveTask(&none, t, NULL, &err), DJ_INVALID);
  assert_null(none);
  assert_string_equal(err.text, "task or model: NULL");
  assert_int_equal(dj_applySet(NULL, t, &err), DJ_INVALID);
  djt_refused(DJ_INVALID, dj_applySet(m, NULL, &err), err, "model or task: NULL");
  dj_deleteTask(t);
  remove(taskpath);
  djt_refused(DJ_FILE, dj_loadTask(&t, "no/task.json", &err), err,
              "no/task.json: cannot be opened");
  dj_deleteModel(m);
}

// Free vectors with bounds of their own, maps, and the keys of optimizers.
static void test_designKeys(void) {
  djModel* m = djt_sampleModel(NULL);
  djTask* t = parse(START ",'free':{'z':{'value':[[1,2],[3,4]],'min':[0,0,-1,-1],'max':9},"
                          "'y':{'value':5}},"
                          "'maps':[{'type':'affine','from':'z','to':'body/box/quat','offset':"
                          "[1,0,0,0]},{'type':'spline','from':'y','to':'ctrl','actuator':1}],"
                          "'variables':[{'name':'z','index':[3,0],'min':[-5,0.5],'max':[3,20]},"
                          "{'name':'body/box/pos'},{'name':'y'}],'inertia_from_geom':false,"
                          "'connect':[{'a':{'site':'tip'},'b':{'geom':'foot'}}],"
                          "'optimizer':{'type':'trust_region','radius':0.5,'control_radius':2,"
                          "'beta1':0.5,'gradient_tolerance':1e-3,'step_tolerance':1e-4}}");
  assert_int_equal(t->nfree, 2);
  assert_true(t->free[0].n == 4 && t->free[0].nmin == 4 && t->free[0].nmax == 1);
  assert_int_equal(t->nmap, 2);
  assert_true(t->map[0].arg[1].given && !t->map[0].arg[0].given && t->map[0].nto == 1);
  assert_string_equal(t->map[1].arg[0].text, "#1");
  const djOptimizer* o = &t->optimizer;
  assert_string_equal(o->type, "trust_region");
  assert_true(o->radius == 0.5 && o->control_radius == 2 && o->beta1 == 0.5);
  assert_true(o->gradient_tolerance == 1e-3 && o->step_tolerance == 1e-4 && o->rate == 0.01);
  djProblem* p = resolve(t, m);
  assert_true(p->nfree == 2 && p->nmap == 2 && p->nconnect == 1 && p->connect[0].npart == 2);
  // The map's target is listed before the variable.
  assert_true(p->nparam == 2 && p->param[0].nvalue == 4 && p->nparamtangent == 6);
  const djVariable* v = p->variable;
  assert_true(v[0].kind == DJ_VAR_FREE && v[0].free == 0 && v[0].n == 2 && v[0].nvalue == 4);
  assert_true(v[0].min[0] == -1 && v[0].max[0] == 3 && v[0].min[1] == 0.5 && v[0].max[1] == 9);
  assert_true(v[1].kind == DJ_VAR_PARAM && v[1].param == 1 && v[1].adr == 3);
  assert_true(v[2].free == 1 && isinf(v[2].min[0]) && isinf(v[2].max[0]));
  dj_deleteProblem(p);
  dj_deleteTask(t);
  dj_deleteModel(m);
}

// A map may have many targets.
static void test_manyTargets(void) {
  enum { MANY = 3000 };
  char* text = malloc(20 * MANY + 200);
  assert_non_null(text);
  int n = sprintf(text, START ",'maps':[{'type':'shared','from':'z','to':[");
  for (int k = 0; k < MANY; k++) n += sprintf(text + n, "%s'mesh/m%d/vert'", k ? "," : "", k);
  sprintf(text + n, "]}]}");
  djTask* t = parse(text);
  assert_int_equal(t->nmap, 1);
  assert_int_equal(t->map[0].nto, MANY);
  for (int k = 0; k < MANY; k++) {
    char name[30];
    sprintf(name, "mesh/m%d/vert", k);
    assert_string_equal(t->map[0].to[k], name);
  }
  dj_deleteTask(t);
  free(text);
}

static void test_parseErrors(void) {
  static const char* const list[][2] = {
      {"{", "line 1, column 2: the text ends, a key in quotes expected"},
      {"{}", "scene: is missing"},
      {"{'scene':'s'}", "horizon: is missing"},
      {"{'scene':'s','horizon':1}", "loss: is missing"},
      {"{'scene':1,'horizon':1}", "scene: must be a string"},
      {"{'scene':'','horizon':1}", "scene: is empty"},
      {"{'scene':'s','horizon':0}", "horizon: must be between 1 and 10000000"},
      {"{'scene':'s','horizon':1.5}", "horizon: must be an integer"},
      {START ",'horizons':1}", "unknown key 'horizons'"},
      {START ",'horizon':1}", "horizon: is given twice"},
      {START ",'contact':'soft'}", "contact: unknown value 'soft'"},
      {START ",'contact':1}", "contact: must be a name or an object"},
      {START ",'contact':{'model':'soft'}}", "contact: model: unknown value 'soft'"},
      {START ",'contact':{'suport':1}}", "contact: unknown key 'suport'"},
      {START ",'contact':{'support':1}}", "contact: support: must be less than 1"},
      {START ",'contact':{'support':-1}}", "contact: support: must be positive"},
      {START ",'contact':{'skin':-1}}", "contact: skin: must not be negative"},
      {START ",'contact':{'overlap':'yes'}}", "contact: overlap: unknown value 'yes'"},
      {START ",'integrator':'rk4'}", "integrator: unknown value 'rk4'"},
      {START ",'timestep':0}", "timestep: must be positive"},
      {START ",'tolerance':'x'}", "tolerance: must be a number"},
      {START ",'inertia_from_geom':1}",
       "inertia_from_geom: must be true, false, exact, lumped or union"},
      {START ",'free':[]}", "free: must be an object"},
      {START ",'free':{'z':[1]}}", "free: z: must be an object"},
      {START ",'free':{'z':{}}}", "free: z: value: is missing"},
      {START ",'free':{'z':{'value':[]}}}", "free: z: value: has no numbers"},
      {START ",'free':{'z':{'value':'x'}}}", "free: z: value: must be a list of numbers"},
      {START ",'free':{'z':{'value':1,'size':1}}}", "free: z: unknown key 'size'"},
      {START ",'free':{'z':{'value':[1,2,3],'min':[1,2]}}}",
       "free: z: min: must be 1 or 3 numbers"},
      {START ",'free':{'z':{'value':[1,2],'min':1,'max':[2,0]}}}",
       "free: z: min is larger than max"},
      {START ",'free':{'z':{'value':[1,2],'min':[0,3],'max':[1,2]}}}",
       "free: z: min is larger than max"},
      {START ",'free':{'z':{'value':1},'z':{'value':1}}}", "free: z: is given twice"},
      {START ",'maps':{}}", "maps: must be a list"},
      {START ",'maps':[1]}", "maps[0]: must be an object"},
      {START ",'maps':[{}]}", "maps[0]: type: is missing"},
      {START ",'maps':[{'type':'magic'}]}", "maps[0]: type: unknown map 'magic'"},
      {START ",'maps':[{'type':'shared'}]}", "maps[0]: from: is missing"},
      {START ",'maps':[{'type':'shared','from':'z','to':[]}]}", "maps[0]: to: has no names"},
      {START ",'maps':[{'type':'shared','from':'z','to':1}]}",
       "maps[0]: to: must be a name or a list of names"},
      {START ",'maps':[{'type':'shared','from':'z','hold':1}]}", "maps[0]: unknown key 'hold'"},
      {START ",'maps':[{'type':'tanh','from':'z','hold':0.5}]}",
       "maps[0]: hold: must be an integer"},
      {START ",'maps':[{'type':'spline','from':'z'}]}", "maps[0]: actuator: is missing"},
      {START ",'maps':[{'type':'cage','from':'z','body':'b'}]}", "maps[0]: box: is missing"},
      {START ",'initial':[]}", "initial: must be an object"},
      {START ",'initial':{'key':1}}", "initial: unknown key 'key'"},
      {START ",'initial':{'keyframe':1.5}}", "initial: keyframe: must be a name or an index"},
      {START ",'initial':{'qpos':['x']}}", "initial: qpos: must be 1 number"},
      {START ",'initial':{'qpos':[1,1e999]}}", "initial: qpos: is not finite"},
      {START ",'ctrl':{}}", "ctrl: must be rows of numbers, one row, or the name of a file"},
      {START ",'ctrl':[[1],[2]]}", "ctrl: must have 4 rows, one for each step"},
      {START ",'ctrl':[[1],[2,3],[1],[1]]}", "ctrl: must be 1 number"},
      {START ",'ctrl':[[1],2,[1],[1]]}", "ctrl: must be 1 number"},
      {START ",'set':[]}", "set: must be an object"},
      {START ",'set':{'a':{}}}", "set: a: must be a list of numbers"},
      {START ",'set':{'a':1,'b':1,'a':2}}", "set: a: is given twice"},
      {START ",'variables':{}}", "variables: must be a list"},
      {START ",'variables':['ctrl']}", "variables[0]: must be an object"},
      {START ",'variables':[{}]}", "variables[0]: name: is missing"},
      {START ",'variables':[{'name':[]}]}", "variables[0]: name: has no names"},
      {START ",'variables':[{'name':['ctrl',3]}]}",
       "variables[0]: name: must be a name or a list of names"},
      {START ",'variables':[{'name':'ctrl','index':[0.5]}]}",
       "variables[0]: index: must be a list of integers"},
      {START ",'variables':[{'name':'ctrl','scale':1}]}",
       "variables[0]: unknown key 'scale', expected one of name, index, min, max"},
      {START ",'connect':{}}", "connect: must be a list or \"auto\""},
      {START ",'connect':[{'a':{'site':'x'}}]}", "connect[0]: b: is missing"},
      {START ",'connect':[{'a':{},'b':{}}]}", "connect[0]: a: must name one element"},
      {START ",'connect':[{'a':{'site':'x','vertex':0}}]}",
       "connect[0]: a: vertex: must be that of a geom's mesh"},
      {START ",'optimizer':{'type':'sgd'}}", "optimizer: type: unknown optimizer 'sgd'"},
      {START ",'optimizer':{'beta1':1}}", "optimizer: beta1: must be less than 1"},
      {START ",'optimizer':{'radius':0}}", "optimizer: radius: must be positive"},
      {START ",'optimizer':{'memory':0}}", "optimizer: memory: must be positive"},
      {START ",'optimizer':{'step_tolerance':-1}}",
       "optimizer: step_tolerance: must not be negative"},
      {START ",'optimizer':{'speed':1}}", "optimizer: unknown key 'speed'"},
      {"{'scene':'s','horizon':1,'loss':{}}", "loss: must be a list"},
  };
  djt_refuseTasks(DJ_INVALID, NULL, "%s", list);
}

static void test_lossErrors(void) {
  static const char* const list[][2] = {
      {"1", "loss[0]: must be an object"},
      {"{}", "loss[0]: type: is missing"},
      {"{'type':'speed'}", "loss[0]: type: unknown value 'speed'"},
      {"{'type':'position','target':[0,0,0]}", "loss[0]: body: is missing"},
      {"{'type':'position','body':'b'}", "loss[0]: target: is missing"},
      {"{'type':'position','body':'b','site':'s','target':[0,0,0]}",
       "loss[0]: names more than one element"},
      {"{'type':'position','joint':'b','target':[0,0,0]}", "loss[0]: unknown key 'joint'"},
      {"{'type':'position','body':'b','target':[0,0]}", "loss[0]: target: must be 3 numbers"},
      {"{'type':'velocity','site':'b','target':[0,0,0]}", "loss[0]: unknown key 'site'"},
      {"{'type':'orientation','body':'b','target':[0,0,0,0]}",
       "loss[0]: target: is a zero quaternion"},
      {"{'type':'distance','body':'b','target':1}", "loss[0]: body2: is missing"},
      {"{'type':'qpos','joint':'b','target':[1,2]}", "loss[0]: target: must be 1 number"},
      {"{'type':'effort','target':1}", "loss[0]: unknown key 'target'"},
      {"{'type':'effort','when':'never'}",
       "loss[0]: when: unknown value 'never', expected one of final, running"},
      {"{'type':'effort','when':{}}", "loss[0]: step: is missing"},
      {"{'type':'effort','when':{'step':6}}",
       "loss[0]: step: must be between 1 and the horizon, 5"},
      {"{'type':'effort','when':{'time':6}}", "loss[0]: unknown key 'time'"},
      {"{'type':'effort','tolerance':-1}", "loss[0]: tolerance: must not be negative"},
      {"{'type':'effort','weight':'1'}", "loss[0]: weight: must be a number"},
  };
  djt_refuseTasks(DJ_INVALID, NULL, "{'scene':'s','horizon':5,'loss':[%s]}", list);
}

// Which terms may leave their target out, what it is then, and when they count.
static void test_lossDefaults(void) {
  static const struct {
    const char* term;
    bool whole;
    djWhen when;
  } list[] = {
      {"'type':'position','site':'tip'", false, DJ_WHEN_FINAL},
      {"'type':'orientation','body':'box'", false, DJ_WHEN_FINAL},
      {"'type':'com','body':'box'", false, DJ_WHEN_FINAL},
      {"'type':'com'", false, DJ_WHEN_FINAL},
      {"'type':'qpos','joint':'slide'", false, DJ_WHEN_FINAL},
      {"'type':'velocity','body':'box'", true, DJ_WHEN_FINAL},
      {"'type':'distance','body':'box','body2':'arm'", true, DJ_WHEN_FINAL},
      {"'type':'qvel','joint':'slide'", true, DJ_WHEN_FINAL},
      {"'type':'effort'", true, DJ_WHEN_RUNNING},
      {"'type':'effort','when':'final'", true, DJ_WHEN_FINAL},
      {"'type':'qvel','joint':'slide','when':'running'", true, DJ_WHEN_RUNNING},
      {"'type':'effort','when':{'step':5}", true, DJ_WHEN_STEP},
      {"'type':'effort','when':{'step':1}", true, DJ_WHEN_STEP},
  };
  for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
    char text[500];
    djTask* task = NULL;
    djError err = {""};
    snprintf(text, sizeof text, "{'scene':'s','horizon':5,'loss':[{%s}]}", list[i].term);
    djStatus status = dj_loadTaskText(&task, djt_json(text), NULL, &err);
    if (!list[i].whole) {
      assert_int_equal(status, DJ_INVALID);
      assertMessage(err.text, "loss[0]: target: is missing");
      continue;
    }
    assert_int_equal(status, DJ_OK);
    const djLossTerm* t = &task->loss[0].term;
    assert_int_equal(t->when, list[i].when);
    assert_true(t->weight == 1 && t->tolerance == 0);
    for (int k = 0; k < 3; k++) assert_true(t->target[k] == 0);
    dj_deleteTask(task);
  }
}

static void test_resolveErrors(void) {
#define LOSS(text) "{'scene':'s','horizon':4,'loss':[{" text "}]}"
#define VARIABLE(text) START ",'variables':[{" text "}]}"
  static const char* const list[][2] = {
      {START ",'initial':{'keyframe':'x'}}", "initial: keyframe: there is no 'x'"},
      {START ",'initial':{'keyframe':2}}", "initial: keyframe: there is no '#2'"},
      {START ",'initial':{'qpos':[1]}}", "initial: qpos: must be 13 numbers"},
      {START ",'initial':{'act':[1]}}", "initial: act: must be 2 numbers"},
      {START ",'initial':{'qpos':[0,0,0,0,0,0,0,0,0,1,0,0,0]}}",
       "initial: qpos: joint 'free': coordinates are not finite or a quaternion is zero"},
      {START ",'ctrl':[1]}", "ctrl: must have 3 columns"},
      {START ",'ctrl':'no.csv'}", "ctrl: no.csv: cannot be opened"},
      {"{'scene':'s','horizon':9999999,'loss':[]}", "horizon: more than 20000000 controls in all"},
      {LOSS("'type':'velocity','body':'x'"), "loss[0]: there is no body 'x'"},
      {LOSS("'type':'position','site':'x','target':[0,0,0]"), "loss[0]: there is no site 'x'"},
      {LOSS("'type':'qvel','joint':'x'"), "loss[0]: there is no joint 'x'"},
      {LOSS("'type':'qvel','joint':'free'"), "loss[0]: joint 'free' is not a slide or hinge"},
      {LOSS("'type':'distance','body':'box','body2':'x'"), "loss[0]: there is no body 'x'"},
      {VARIABLE("'name':'control'"), "variables: there is no variable 'control'"},
      {VARIABLE("'name':'qpos0[joint/x]'"), "variables: 'qpos0[joint/x]': there is no such joint"},
      {VARIABLE("'name':'qpos0[body/x]'"), "variables: there is no parameter 'qpos0[body/x]'"},
      {VARIABLE("'name':'geom/x/size'"), "variables: 'geom/x/size': there is no such geom"},
      {VARIABLE("'name':'act0','index':[2]"), "variables: 'act0': index: there is no entry 2"},
      {VARIABLE("'name':'act0','index':[-1]"), "variables: 'act0': index: there is no entry -1"},
      {VARIABLE("'name':'act0','index':[1,1]"), "variables: an entry of 'act0' is listed twice"},
      {VARIABLE("'name':'act0','min':[1,2,3]"), "variables: 'act0': min: must be 1 or 2 numbers"},
      {VARIABLE("'name':'act0','min':2,'max':1"), "variables: 'act0': min is larger than max"},
      {VARIABLE("'name':'body/box/quat','max':1"),
       "variables: 'body/box/quat': entry 0 is a rotation and takes no bounds"},
      {VARIABLE("'name':'qpos0','max':1"),
       "variables: 'qpos0': entry 5 is a rotation and takes no bounds"},
      {VARIABLE("'name':'qvel0'},{'name':'qvel0'"), "variables: 'qvel0' is listed twice"},
      {VARIABLE("'name':'qvel0[joint/free]','index':[2]},"
                "{'name':'qvel0[joint/free]','index':[2]"),
       "variables: an entry of 'qvel0[joint/free]' is listed twice"},
      {VARIABLE("'name':'body/box/pos','index':[1]},"
                "{'name':'body/#3/pos','index':[0,1]"),
       "variables: 'body/box/pos' and 'body/#3/pos' have an entry in common"},
  };
  djModel* m = djt_sampleModel(NULL);
  djt_refuseTasks(0, m, "%s", list);
  djTask* task = parse(START ",'set':{'geom/foot/size':[1]}}");
  djError err = {""};
  djt_refused(DJ_INVALID, dj_applySet(m, task, &err), err,
              "set: 'geom/foot/size': must be 3 numbers");
  dj_deleteTask(task);
  task = parse(START ",'set':{'body/box/mass':-1}}");
  djt_refused(DJ_INVALID, dj_applySet(m, task, &err), err,
              "set: body 'box': mass must be positive");
  dj_deleteTask(task);
  dj_deleteModel(m);
}

static void test_settings(void) {
  djSettings s = {{0}, dj_defaultOption()};
  djError err = {""};
  assert_int_equal(dj_parseSetting(&s, "support", "1e-3", &err), DJ_OK);
  assert_int_equal(dj_parseSetting(&s, "contact", "none", &err), DJ_OK);
  assert_true(s.option.support == 1e-3 && s.option.contact == DJ_CONTACT_NONE);
  const djSetting* row;
  for (int i = 0; (row = dj_setting(i)); i++) {
    bool given = strcmp(row->name, "support") == 0 || strcmp(row->name, "contact") == 0;
    assert_int_equal(dj_isGiven(&s, row), given);
  }
  djOption o = dj_defaultOption();
  o.skin = 7;
  dj_applySettings(&o, &s);
  assert_true(o.support == 1e-3 && o.contact == DJ_CONTACT_NONE && o.skin == 7);
  static const char* const list[][3] = {
      {"support", "x", "support: 'x' is not a number"},
      {"support", "", "support: '' is not a number"},
      {"support", "0.1x", "support: '0.1x' is not a number"},
      {"support", "inf", "support: 'inf' is not a number"},
      {"support", "1e999", "support: is not finite"},
      {"support", "0", "support: must be positive"},
      {"overlap", "x", "overlap: unknown value 'x', expected one of recover, error"},
      {"colour", "x", "colour: unknown setting"},
  };
  for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
    assert_int_equal(dj_parseSetting(&s, list[i][0], list[i][1], &err), DJ_INVALID);
    assertMessage(err.text, list[i][2]);
  }
  assert_string_equal(dj_contactName(DJ_SEPARATING_PLANE), "separating_plane");
  assert_string_equal(dj_contactName((djContactModel)99), "");
  assert_string_equal(dj_integratorName(DJ_POSITION), "position");
  assert_string_equal(dj_overlapName(DJ_OVERLAP_ERROR), "error");
}

// How small and how large each may be. What is divided by may not be all but zero; what is a force
// may be larger than a length.
static void test_settingBounds(void) {
  static const struct {
    const char *name, *text, *problem;
  } list[] = {
      {"support", "1e-20", NULL},        {"support", "0.9e-20", "is smaller than 1e-20"},
      {"support", "0.999", NULL},        {"support", "1", "must be less than 1"},
      {"length_scale", "1e-20", NULL},   {"length_scale", "0.9e-20", "is smaller than 1e-20"},
      {"length_scale", "1e20", NULL},    {"length_scale", "1.1e20", "is larger than 1e20"},
      {"timestep", "1e-20", NULL},       {"timestep", "0.9e-20", "is smaller than 1e-20"},
      {"timestep", "1e20", NULL},        {"timestep", "1.1e20", "is larger than 1e20"},
      {"stiffness", "1e-300", NULL},     {"stiffness", "1e60", NULL},
      {"stiffness", "1.1e60", "is larger than 1e60"},
      {"friction_eps", "1e-300", NULL},  {"friction_eps", "1e60", NULL},
      {"friction_eps", "1.1e60", "is larger than 1e60"},
      {"skin", "0", NULL},               {"skin", "1e-300", NULL},
      {"skin", "1e300", NULL},           {"skin", "-1e-300", "must not be negative"},
      {"tolerance", "1e-300", NULL},     {"tolerance", "1e300", NULL},
      {"length_scale", "0", "must be positive"}, {"stiffness", "0", "must be positive"},
      {"friction_eps", "0", "must be positive"}, {"timestep", "0", "must be positive"},
      {"tolerance", "0", "must be positive"},
  };
  for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
    djSettings s = {{0}, dj_defaultOption()};
    djError err = {""};
    djStatus status = dj_parseSetting(&s, list[i].name, list[i].text, &err);
    if (!list[i].problem) {
      if (status != DJ_OK) fail_msg("%s %s: %s", list[i].name, list[i].text, err.text);
      assert_true(dj_isGiven(&s, NULL));
      continue;
    }
    char expected[100];
    snprintf(expected, sizeof expected, "%s: %s", list[i].name, list[i].problem);
    assert_int_equal(status, DJ_INVALID);
    assertMessage(err.text, expected);
    assert_false(dj_isGiven(&s, NULL));
  }
}

// Every joint has variables of its own, the first one too.
static void test_jointVariables(void) {
  djModel* m = djt_sampleModel(NULL);
  for (int j = 0; j < m->njnt; j++) {
    for (int k = 0; k < 2; k++) {
      char text[300];
      snprintf(text, sizeof text, START ",'variables':[{'name':'q%s0[joint/#%d]'}]}",
               k ? "vel" : "pos", j);
      djTask* task = parse(text);
      djProblem* p = resolve(task, m);
      const djVariable* v = &p->variable[0];
      int end = j + 1 < m->njnt ? m->jnt_dofadr[j + 1] : m->nv;
      assert_int_equal(v->kind, k ? DJ_VAR_QVEL0_JOINT : DJ_VAR_QPOS0_JOINT);
      assert_int_equal(v->joint, j);
      assert_int_equal(v->adr, m->jnt_dofadr[j]);
      assert_int_equal(v->n, end - m->jnt_dofadr[j]);
      dj_deleteProblem(p);
      dj_deleteTask(task);
    }
  }
  dj_deleteModel(m);
}

// A mask is a list of names, which may be patterns: a variable each, alike but for the name.
static void test_masks(void) {
  djTask* task = parse(START ",'variables':[{'name':['body/*/mass','joint/slide/pos'],"
                             "'min':0.01,'max':9},{'name':'ctrl'}]}");
  djModel* m = djt_sampleModel(NULL);
  djProblem* p = resolve(task, m);
  assert_int_equal(task->nvariable, 3);
  assert_int_equal(p->nvariable, m->nbody - 1 + 2);
  for (int i = 0; i < p->nvariable; i++) {
    const djVariable* v = &p->variable[i];
    bool last = i == p->nvariable - 1, joint = i == m->nbody - 1;
    assert_int_equal(v->kind, last ? DJ_VAR_CTRL : DJ_VAR_PARAM);
    if (last) continue;
    assert_true(v->min[0] == 0.01 && v->max[0] == 9 && v->n == (joint ? 3 : 1));
    if (joint) assert_string_equal(v->name, "joint/slide/pos");
    else assert_true(p->param[v->param].id == i + 1 && strstr(v->name, "/mass"));
  }
  assert_int_equal(p->nparam, m->nbody);   // what no mask asks for is not there
  dj_deleteProblem(p);
  dj_deleteTask(task);
  dj_deleteModel(m);
}

DJT_MAIN(test_masks, test_parse, test_resolve, test_ctrl, test_designKeys, test_parseErrors,
         test_manyTargets, test_lossErrors, test_resolveErrors, test_settings, test_settingBounds,
         test_lossDefaults, test_jointVariables)
