#include "mj_menagerie/robots.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool endsWith(const char* text, const char* end) {
  size_t n = strlen(text), k = strlen(end);
  return n >= k && !strcmp(text + n - k, end);
}

static bool isScene(const char* name) {
  return !strncmp(name, "scene", 5) && endsWith(name, ".xml");
}

static void add(Paths* p, const char* path) {
  p->path = realloc(p->path, ((size_t)p->n + 1) * sizeof *p->path);
  char* copy = p->path ? malloc(strlen(path) + 1) : NULL;
  if (!copy) djv_fail("out of memory");
  p->path[p->n++] = strcpy(copy, path);
}

static void search(Paths* p, const char* folder, int depth) {
  enum { DEEPEST = 8 };
  struct dirent** entry;
  int n = scandir(folder, &entry, NULL, alphasort), scenes = 0;
  for (int i = 0; i < n; i++) scenes += isScene(entry[i]->d_name);
  for (int i = 0; i < n; i++) {
    char path[1000];
    struct stat s;
    const char* name = entry[i]->d_name;
    bool fits = snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path;
    if (fits && name[0] != '.' && stat(path, &s) == 0) {
      if (S_ISDIR(s.st_mode) && depth < DEEPEST) search(p, path, depth + 1);
      else if (scenes ? isScene(name) : endsWith(name, ".xml")) add(p, path);
    }
    free(entry[i]);
  }
  if (n >= 0) free(entry);
}

Paths robots_find(const char* folder) {
  Paths p = {0, NULL};
  search(&p, folder, 0);
  return p;
}

void robots_free(Paths* p) {
  for (int i = 0; i < p->n; i++) free(p->path[i]);
  free(p->path);
}
