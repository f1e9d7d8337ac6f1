// Runs a target on files and on all files of folders, without libFuzzer: TARGET PATH...

#include "fuzz.h"

#include <dirent.h>

static int nrun;

static int runFile(const char* path) {
  FILE* file = fopen(path, "rb");
  uint8_t* data = NULL;
  size_t size = 0;
  for (size_t got = 1; file && got > 0; size += got) {
    data = realloc(data, size + 4096);
    FUZZ_CHECK(data);
    got = fread(data + size, 1, 4096, file);
  }
  if (!file || ferror(file)) {
    fprintf(stderr, "%s: cannot be read\n", path);
    if (file) fclose(file);
    free(data);
    return 1;
  }
  fclose(file);
  fprintf(stderr, "%s\n", path);   // the last one printed is the one that crashed
  uint8_t* exact = malloc(size ? size : 1);   // so that reading past its end is seen
  FUZZ_CHECK(exact);
  memcpy(exact, data, size);
  free(data);
  LLVMFuzzerTestOneInput(exact, size);
  free(exact);
  nrun++;
  return 0;
}

static int runFolder(DIR* folder, const char* path) {
  int failed = 0;
  for (struct dirent* entry = readdir(folder); entry; entry = readdir(folder)) {
    if (entry->d_name[0] == '.') continue;
    char file[4096];
    snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
    failed |= runFile(file);
  }
  closedir(folder);
  return failed;
}

int main(int argc, char** argv) {
  int failed = 0;
  for (int i = 1; i < argc; i++) {
    DIR* folder = opendir(argv[i]);
    failed |= folder ? runFolder(folder, argv[i]) : runFile(argv[i]);
  }
  printf("%d inputs\n", nrun);
  if (nrun == 0) fprintf(stderr, "no inputs\n");
  return failed || nrun == 0;
}
