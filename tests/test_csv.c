// Numbers in text files.

#include "common/make_model.h"
#include "common/random_model.h"
#include "common/sample_model.h"
#include "common/test.h"

static const char* const path = "test_csv.tmp";

static void writeBytes(const char* text, size_t n) {
  FILE* file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(text, 1, n, file), n);
  fclose(file);
}

static void writeText(const char* text) { writeBytes(text, strlen(text)); }

// Longer than any number of an honest file.
#define ZEROS "000000000000000000000000000000000000000"

static void test_numbers(void) {
  static const struct {
    const char* text;
    const char* error;   // NULL: reads 1, -2.5, 3e-5
  } list[] = {
      {"1,-2.5,3e-5", NULL},
      {"  1 -2.5\t3e-5\r\n", NULL},
      {"1,\n-2.5 , 3e-5", NULL},
      {"+1 -2.5 0.00003", NULL},
      {"1,-2.5", "3 numbers expected, 2 found"},
      {"1,-2.5,3,4", "3 numbers expected, 4 found"},
      {"", "3 numbers expected, 0 found"},
      {"1,-2.5,", "number 3 is missing"},
      {",1,2,3", "number 1 is missing"},
      {"1,,2,3", "number 2 is missing"},
      {"1 2 nan", "number 3: 'nan' is not a finite number"},
      {"1 2 inf", "number 3: 'inf' is not a finite number"},
      {"1 2 1e999", "number 3 is not finite"},
      {"1 2 3;", "number 3: '3;' is not a finite number"},
      {"1 2 0x10", "number 3: '0x10' is not a finite number"},
      {"1 2 3-4", "number 3: '3-4' is not a finite number"},
      {"1 2 --4", "number 3: '--4' is not a finite number"},
      {"1 2 .", "number 3: '.' is not a finite number"},
      {"1 2 3" ZEROS ZEROS ZEROS ZEROS,
       "number 3: '3" ZEROS "' is not a finite number"},
  };
  for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
    double v[3] = {0};
    djError err = {""};
    djStatus status = dj_parseNumbers(v, 3, list[i].text, &err);
    if (list[i].error) {
      djt_refused(DJ_INVALID, status, err, list[i].error);
      writeText(list[i].text);
      assert_int_equal(dj_readNumbers(v, 3, path, &err), DJ_INVALID);
      assert_memory_equal(err.text, "test_csv.tmp: ", 14);
      assert_string_equal(err.text + 14, list[i].error);
    } else {
      assert_int_equal(status, DJ_OK);
      assert_true(v[0] == 1 && v[1] == -2.5 && v[2] == 3e-5);
    }
  }
  double v[1];
  djError err;
  djt_refused(DJ_FILE, dj_readNumbers(v, 1, "no/file", &err), err, "no/file: cannot be opened");
  writeBytes("1\0002", 3);
  djt_refused(DJ_INVALID, dj_readNumbers(v, 1, path, &err), err,
              "test_csv.tmp: byte 2 is NUL: not a text");
  assert_int_equal(dj_parseNumbers(NULL, 0, " \n", &err), DJ_OK);
  remove(path);
}

static void test_state(void) {
  djSample sample;
  djt_fillSample(&sample);
  djModel* m = djt_makeModel(&sample.def);
  double qpos[13];
  djError err = {""};
  writeText("0 0  1 2 3  0 0 2 0  5 0 0 0");
  assert_int_equal(dj_readQpos(qpos, m, path, &err), DJ_OK);
  assert_true(qpos[7] == 1 && qpos[9] == 1);
  writeText("0 0  1 2 3  0 0 2 0  0 0 0 0");
  assert_int_equal(dj_readQpos(qpos, m, path, &err), DJ_INVALID);
  assert_string_equal(
      err.text,
      "test_csv.tmp: joint #3: coordinates are not finite or a quaternion is zero");
  djt_refused(DJ_INVALID, dj_readQvel(qpos, m, path, &err), err,
              "test_csv.tmp: 11 numbers expected, 13 found");
  writeText("0 0  1 2 -1e300  0 0 2 0  5 0 0 0");
  djt_refused(DJ_INVALID, dj_readQpos(qpos, m, path, &err), err,
              "test_csv.tmp: joint 'free': a coordinate is larger than 1e20");
  writeText("0 0 0 0 0 0 0 1e20 0 0 0");
  assert_int_equal(dj_readQvel(qpos, m, path, &err), DJ_OK);
  writeText("0 0 0 0 0 0 0 1.1e20 0 0 0");
  djt_refused(DJ_INVALID, dj_readQvel(qpos, m, path, &err), err,
              "test_csv.tmp: joint 'free': a velocity is larger than 1e20");
  dj_deleteModel(m);
  remove(path);
}

static void test_ctrl(void) {
  double* ctrl = NULL;
  int n = 0;
  djError err = {""};
  writeText("ctrl[0],ctrl[1]\r\n1,2\r\n\r\n3,4\r\n5, 6");
  assert_int_equal(dj_readCtrl(&ctrl, &n, 2, path, &err), DJ_OK);
  assert_int_equal(n, 3);
  for (int k = 0; k < 6; k++) assert_true(ctrl[k] == k + 1);
  dj_freeNumbers(ctrl);
  static const char* const bad[][2] = {
      {"", "test_csv.tmp: line 1: 'ctrl[0]' expected"},
      {"1,2\n", "test_csv.tmp: line 1: 'ctrl[0]' expected"},
      {"control0,control1\n1,2\n", "test_csv.tmp: line 1: 'ctrl[0]' expected"},
      {"ctrl[0],ctrl[2]\n1,2\n", "test_csv.tmp: line 1: 'ctrl[1]' expected"},
      {"ctrl[0],ctrl[\n1,2\n", "test_csv.tmp: line 1: 'ctrl[1]' expected"},
      {"ctrl[0]\n1\n", "test_csv.tmp: line 1: 'ctrl[1]' expected"},
      {"ctrl[0],ctrl[1],ctrl[2]\n1,2,3\n", "test_csv.tmp: line 1: more than 2 columns"},
      {"ctrl[0],ctrl[1]\n", "test_csv.tmp: there are no rows"},
      {"ctrl[0],ctrl[1]\n1,2\n3\n", "test_csv.tmp: line 3: 2 numbers expected, 1 found"},
      {"ctrl[0],ctrl[1]\n1,x\n", "test_csv.tmp: line 2: number 2: 'x' is not a finite number"},
      {"ctrl[0],ctrl[1]\n1,nan\n", "test_csv.tmp: line 2: number 2: 'nan' is not a finite number"},
      {"ctrl[0],ctrl[1]\n1,2\n1,-1e21\n", "test_csv.tmp: line 3: ctrl[1] is larger than 1e20"},
      {"ctrl[0],ctrl[1]\n1e999,2\n", "test_csv.tmp: line 2: number 1 is not finite"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    writeText(bad[i][0]);
    djt_refused(DJ_INVALID, dj_readCtrl(&ctrl, &n, 2, path, &err), err, bad[i][1]);
    assert_null(ctrl);
  }
  writeText("\n");
  assert_int_equal(dj_readCtrl(&ctrl, &n, 0, path, &err), DJ_OK);
  dj_freeNumbers(ctrl);
  remove(path);
}

static void test_write(void) {
  djSample sample;
  djt_fillSample(&sample);
  djCsv* csv = NULL;
  djError err = {""};
  djModel* m = djt_makeModel(&sample.def);
  assert_int_equal(dj_openStateCsv(&csv, m, path, &err), DJ_OK);
  double numbers[34];
  djData* d = djt_data(m);
  assert_int_equal(dj_stateSize(m), 34);   // a mocap body: 7
  d->time = 0.1;
  memcpy(d->qpos, sample.qpos, sizeof sample.qpos);
  memcpy(d->qvel, sample.qvel, sizeof sample.qvel);
  memcpy(d->act, sample.act, sizeof sample.act);
  assert_int_equal(dj_getState(numbers, m, d), DJ_OK);
  dj_writeStateCsv(csv, m, numbers);
  dj_deleteData(d);
  assert_int_equal(dj_closeCsv(csv, &err), DJ_OK);
  FILE* file = fopen(path, "rb");
  assert_non_null(file);
  char line[2000];
  assert_non_null(fgets(line, sizeof line, file));
  assert_memory_equal(line, "time,qpos[0],qpos[1],", 21);
  assert_non_null(strstr(line, ",qpos[12],qvel[0],"));
  assert_non_null(strstr(line, ",qvel[10],act[0],act[1],mocap_last_pos[0],"));
  assert_non_null(fgets(line, sizeof line, file));
  assert_memory_equal(line, "0.10000000000000001,", 20);
  double v[34];
  assert_int_equal(dj_parseNumbers(v, 34, line, &err), DJ_OK);
  assert_memory_equal(v + 1, sample.qpos, sizeof sample.qpos);
  assert_memory_equal(v + 14, sample.qvel, sizeof sample.qvel);
  assert_memory_equal(v + 25, sample.act, sizeof sample.act);
  assert_null(fgets(line, sizeof line, file));
  fclose(file);
  dj_deleteModel(m);

  assert_int_equal(dj_openCsv(&csv, path, "time,engine,fx", &err), DJ_OK);
  dj_writeCsv(csv, "1,dijoco", (double[]){INFINITY}, 1);
  dj_writeCsv(csv, NULL, (double[]){NAN, -0.0}, 2);
  assert_int_equal(dj_closeCsv(csv, &err), DJ_OK);
  file = fopen(path, "rb");
  assert_non_null(file);
  size_t n = fread(line, 1, sizeof line - 1, file);
  line[n] = 0;
  fclose(file);
  assert_string_equal(line, "time,engine,fx\n1,dijoco,inf\nnan,-0\n");
  remove(path);

  djt_refused(DJ_FILE, dj_openCsv(&csv, "no/folder/x.csv", "a", &err), err,
              "no/folder/x.csv: cannot be written: No such file or directory");
  assert_null(csv);
  // A disk that is full: reported, and the device is still there.
  static const double row[1000] = {0};
  for (int k = 0; k < 2; k++) {
    if (dj_openCsv(&csv, "/dev/full", "a", &err) < 0) break;
    for (int i = 0; i < 100; i++) dj_writeCsv(csv, NULL, row, 1000);
    djt_refused(DJ_FILE, dj_closeCsv(csv, &err), err,
                "/dev/full: cannot be written: No space left on device");
  }
}

DJT_MAIN(test_numbers, test_state, test_ctrl, test_write)
