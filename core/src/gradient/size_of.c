// Sizes of public structs by name.

#include <dijoco/array.h>
#include <dijoco/check.h>
#include <dijoco/contact.h>
#include <dijoco/gradient.h>

#include <string.h>

size_t dj_sizeOf(const char* type) {
  static const struct {
    const char* name;
    size_t size;
  } table[] = {
#define X(type) {#type, sizeof(type)}
      X(djError),        X(djParam),       X(djArray),     X(djRollout), X(djRolloutResult),
      X(djdCertificate), X(djcShape),      X(djcFriction), X(djcOption), X(djcResult),
      X(djStats),        X(djContactPair), X(djOption),    X(djLossTerm),
#undef X
  };
  for (size_t i = 0; type && i < sizeof table / sizeof table[0]; i++) {
    if (strcmp(table[i].name, type) == 0) return table[i].size;
  }
  return 0;
}
