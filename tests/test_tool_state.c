// States of the command as files: what is read, what is refused, what is written.

#include "common/test.h"
#include "common/tool_case.h"
#include "output.h"
#include "state_file.h"

// Inputs of the scene's start, with room for what a file gives.
static Inputs inputsOf(const Scene* s) {
  Inputs in = {.model = s->model};
  in.qpos = calloc((size_t)s->model->nq, sizeof(double));
  in.qvel = calloc((size_t)s->model->nv, sizeof(double));
  return in;
}

#define STATE(qpos, qvel, rest) "{\"qpos\":[" qpos "],\"qvel\":[" qvel "]" rest "}"
#define EIGHT "0,0,2,1,0,0,0,0.3"
#define SEVEN "1,2,3,4,5,6,7"

static void testRead(void) {
  Options o = djt_options("scene.json");
  Scene s;
  djt_says(scene_open(&s, &o, "scene.json"), 0, "");
  static const char* const good[] = {STATE(EIGHT, SEVEN, ",\"act\":[],\"history\":null"),
                                     STATE(EIGHT, SEVEN, ""),
                                     STATE(EIGHT, SEVEN, ",\"history\":" STATE(EIGHT, SEVEN, ""))};
  o.state = "state.json";
  for (int k = 0; k < 3; k++) {
    Inputs in = inputsOf(&s);
    djt_writeText("state.json", good[k]);
    djt_says(state_read(&in, &o), 0, "");
    assert_true(in.qpos[7] == 0.3 && in.qvel[6] == 7);
    if (k < 2)
      assert_true(!in.history_qpos && !in.history_qvel);
    else
      assert_true(in.history_qpos[7] == 0.3 && in.history_qvel[6] == 7);
    inputs_free(&in);
  }
  static const char* const bad[][2] = {
      {"[]", "expected an object"},
      {STATE(EIGHT, "1", ""), "qvel: expected 7 numbers, not 1"},
      {STATE(EIGHT, SEVEN, ",\"act\":[1]"), "act: expected 0 numbers, not 1"},
      {STATE(EIGHT, SEVEN, ",\"history\":[]"), "history: "},
      {STATE(EIGHT, SEVEN, ",\"history\":" STATE("1", SEVEN, "")),
       "history.qpos: expected 8 numbers, not 1"},
      {STATE(EIGHT, SEVEN, ",\"history\":" STATE(EIGHT, "NaN,2,3,4,5,6,7", "")),
       "history.qvel[0]: "},
      {STATE(EIGHT, SEVEN, ",\"history\":{\"qpos\":[" EIGHT "]}"), "history.qvel: "},
      {STATE("0,0,2,0,0,0,0,0.3", SEVEN, ""), "qpos[3]: the quaternion of joint '"},
      {STATE(EIGHT, SEVEN, ",\"history\":" STATE("0,0,2,0,-0,0,0,0.3", SEVEN, "")),
       "history.qpos[3]: the quaternion of joint '"},
      {STATE("0,2e20,2,1,0,0,0,0.3", SEVEN, ""), "qpos[1]: is larger than 1e20"},
      {STATE(EIGHT, "1,2,3,4,5,6,-1e300", ""), "qvel[6]: is larger than 1e20"},
      {STATE(EIGHT, SEVEN, ",\"time\":1"), "time: "}};
  for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
    Inputs in = inputsOf(&s);
    djt_writeText("state.json", bad[k][0]);
    djt_listen(2);
    assert_int_equal(state_read(&in, &o), EXIT_BAD_INPUT);
    const char* heard = djt_heard(2);
    assert_non_null(strstr(heard, "dijoco test: state.json: "));
    if (!strstr(heard, bad[k][1])) fail_msg("%s, not %s", heard, bad[k][1]);
    inputs_free(&in);
  }
  scene_close(&s);
}

// What is written is read as it was.
static void testWrite(void) {
  Options o = djt_options("scene.json");
  Scene s;
  djt_says(scene_open(&s, &o, "scene.json"), 0, "");
  djOption option = s.model->opt;
  option.integrator = DJ_BDF2;
  assert_int_equal(dj_setOption(s.model, &option, NULL), DJ_OK);
  Inputs in = inputsOf(&s), back = inputsOf(&s);
  memcpy(in.qpos, s.model->qpos0, (size_t)s.model->nq * sizeof(double));
  in.qvel[4] = 1.0 / 3;
  in.ctrl0 = calloc((size_t)s.model->nu, sizeof(double));
  in.seed = in.key = -1;
  Engine e;
  assert_true(engine_open(&e, false, &s, &in));
  assert_true(engine_step(&e, &in, 0));
  djFile* file = out_open("test", "written.json");
  assert_non_null(file);
  state_write(file, &e);
  assert_int_equal(out_commit("test"), 0);
  o.state = "written.json";
  djt_says(state_read(&back, &o), 0, "");
  size_t nq = (size_t)s.model->nq * sizeof(double), nv = (size_t)s.model->nv * sizeof(double);
  assert_memory_equal(back.qpos, e.qpos, nq);
  assert_memory_equal(back.qvel, e.qvel, nv);
  assert_memory_equal(back.history_qpos, in.qpos, nq);
  assert_memory_equal(back.history_qvel, in.qvel, nv);
  engine_close(&e);
  inputs_free(&in);
  inputs_free(&back);
  scene_close(&s);
}

DJT_MAIN_IN(djt_enterFolder, djt_leaveFolder, testRead, testWrite)
