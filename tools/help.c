// dijoco help TOPIC: the tables of what users name, as text, Markdown or JSON.

#include "help_table.h"
#include "verbs.h"

#include <stdio.h>
#include <string.h>

typedef struct Topic {
  const char* name;
  void (*fill)(HelpTable* table);
} Topic;

static const Topic topics[] = {
    {"settings", help_settings}, {"presets", help_presets}, {"losses", help_losses},
    {"parameters", help_parameters}, {"maps", help_maps}, {"optimizers", help_optimizers}};
enum { NTOPICS = sizeof topics / sizeof topics[0] };

static const Topic* find_topic(const char* name) {
  for (int i = 0; i < NTOPICS; i++) {
    if (strcmp(topics[i].name, name) == 0) return &topics[i];
  }
  return NULL;
}

int verb_help(const Options* o) {
  const Topic* topic = find_topic(o->argument[0]);
  if (!topic) {
    char known[200] = "";
    for (int i = 0; i < NTOPICS; i++) {
      size_t n = strlen(known);
      snprintf(known + n, sizeof known - n, "%s%s", i > 0 ? ", " : "", topics[i].name);
    }
    return tool_fail(o->verb, NULL, o->argument[0], "unknown topic, expected one of %s", known);
  }
  HelpTable table = {0};
  Buffer text = {0};
  topic->fill(&table);
  if (o->json) help_json(&text, &table);
  else if (o->markdown) help_markdown(&text, &table);
  else help_text(&text, &table);
  help_free(&table);
  opt_print(&text);
  return EXIT_DONE;
}
