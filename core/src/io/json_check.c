// Whether a text is JSON, to the letter of RFC 8259: the library that makes a tree of it takes more
// (01, 1., control characters, NUL as the end of a name) and does not say where it stops.

#include <dijoco/io.h>

#include "base/status.h"

#include <stdio.h>
#include <string.h>

#define DJ_JSON_DEPTH 256    // lists and objects within each other
#define DJ_JSON_NUMBER 63    // characters of a number: the tree's library reads no more

// A list or object that is open: where its present key is, or the index of the present entry.
typedef struct djLevel {
  const char* key;   // in the text, without quotes; NULL in a list and before an object's first key
  size_t nkey;
  size_t index;
  bool object;
} djLevel;

typedef struct djScan {
  const char *text, *p, *end;
  bool names;
  int depth;
  djLevel level[DJ_JSON_DEPTH];
  djError* err;
} djScan;

// ---- messages ---------------------------------------------------------------------------------

// "geoms[2].size", of the value that is being read; long keys and deep paths are cut.
static void pathOf(char* path, size_t size, const djScan* s) {
  size_t used = 0;
  path[0] = 0;
  for (int k = 0; k < s->depth && used + 72 < size; k++) {
    const djLevel* l = &s->level[k];
    int n = 0;
    if (l->key) {
      n = snprintf(path + used, size - used, "%s%.*s", used ? "." : "",
                   l->nkey < 40 ? (int)l->nkey : 40, l->key);
    } else if (!l->object) {
      n = snprintf(path + used, size - used, "[%zu]", l->index);
    }
    used += n > 0 ? (size_t)n : 0;
  }
}

// At the place where reading stopped. Columns count characters, from 1.
static djStatus fail(const djScan* s, const char* what) {
  size_t line = 1, column = 1;
  for (const char* c = s->text; c < s->p; c++) {
    if (*c == '\n') {
      line++;
      column = 1;
    } else if (((unsigned char)*c & 0xc0) != 0x80) {
      column++;
    }
  }
  char path[240];
  pathOf(path, sizeof path, s);
  return dj_fail(s->err, DJ_INVALID, "line %zu, column %zu: %s%s%s", line, column, path,
                 path[0] ? ": " : "", what);
}

static djStatus unexpected(const djScan* s, const char* expected) {
  char what[96];
  if (s->p >= s->end) {
    snprintf(what, sizeof what, "the text ends, %s expected", expected);
  } else if (*s->p > ' ' && *s->p < 127) {
    snprintf(what, sizeof what, "%s expected, not '%c'", expected, *s->p);
  } else {
    snprintf(what, sizeof what, "%s expected, not byte 0x%02x", expected, (unsigned char)*s->p);
  }
  return fail(s, what);
}

// ---- strings ----------------------------------------------------------------------------------

// Four hexadecimal digits, or -1.
static int scanHex(const djScan* s, const char* at) {
  if (s->end - at < 4) return -1;
  int value = 0;
  for (int k = 0; k < 4; k++) {
    char c = at[k];
    int digit = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;
    if (digit < 0) return -1;
    value = 16 * value + digit;
  }
  return value;
}

// After a backslash.
static djStatus scanEscape(djScan* s) {
  if (s->p + 1 >= s->end) return fail(s, "a string does not end");
  if (s->p[1] != 'u') {
    if (!s->p[1] || !strchr("\"\\/bfnrt", s->p[1])) return fail(s, "unknown escape in a string");
    s->p += 2;
    return DJ_OK;
  }
  int unit = scanHex(s, s->p + 2);
  if (unit < 0) return fail(s, "\\u needs four hexadecimal digits");
  if (unit == 0) return fail(s, "a string holds NUL (\\u0000)");
  bool high = unit >= 0xd800 && unit < 0xdc00;
  if (unit >= 0xdc00 && unit < 0xe000) return fail(s, "half of a surrogate pair");
  if (high) {
    bool more = s->end - s->p >= 12 && s->p[6] == '\\' && s->p[7] == 'u';
    int low = more ? scanHex(s, s->p + 8) : -1;
    if (low < 0xdc00 || low >= 0xe000) return fail(s, "half of a surrogate pair");
  }
  s->p += high ? 12 : 6;
  return DJ_OK;
}

// Bytes of the UTF-8 character at p (RFC 3629), 0 where there is none.
static int utf8Length(const djScan* s) {
  const unsigned char* c = (const unsigned char*)s->p;
  int n = c[0] < 0x80   ? 1
          : c[0] < 0xc2 ? 0
          : c[0] < 0xe0 ? 2
          : c[0] < 0xf0 ? 3
          : c[0] < 0xf5 ? 4
                        : 0;
  if (n == 0 || s->end - s->p < n) return 0;
  for (int k = 1; k < n; k++) {
    if ((c[k] & 0xc0) != 0x80) return 0;
  }
  bool longer = (c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xf0 && c[1] < 0x90);
  bool surrogate = c[0] == 0xed && c[1] >= 0xa0;
  bool beyond = c[0] == 0xf4 && c[1] >= 0x90;
  return longer || surrogate || beyond ? 0 : n;
}

static djStatus scanString(djScan* s) {
  s->p++;
  while (s->p < s->end && *s->p != '"') {
    if (*s->p == '\\') {
      djStatus status = scanEscape(s);
      if (status < 0) return status;
      continue;
    }
    if ((unsigned char)*s->p < 32) {
      return fail(s, *s->p ? "a string holds a control character" : "a string holds NUL");
    }
    int n = utf8Length(s);
    if (n == 0) return fail(s, "a string is not UTF-8");
    s->p += n;
  }
  if (s->p >= s->end) return fail(s, "a string does not end");
  s->p++;
  return DJ_OK;
}

// ---- other values -----------------------------------------------------------------------------

static bool isDigit(char c) { return c >= '0' && c <= '9'; }

static const char* skipDigits(const char* p, const char* end) {
  while (p < end && isDigit(*p)) p++;
  return p;
}

// The end of the number at p, or NULL: -? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?
static const char* numberEnd(const char* p, const char* end) {
  if (p < end && *p == '-') p++;
  const char* start = p;
  p = skipDigits(p, end);
  if (p == start || (*start == '0' && p > start + 1)) return NULL;
  if (p < end && *p == '.') {
    start = p + 1;
    p = skipDigits(start, end);
    if (p == start) return NULL;
  }
  if (p < end && (*p == 'e' || *p == 'E')) {
    start = p + 1;
    if (start < end && (*start == '+' || *start == '-')) start++;
    p = skipDigits(start, end);
    if (p == start) return NULL;
  }
  return p;
}

static bool isWord(char c) {
  return isDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c && strchr("+-._", c));
}

// A number, or one of the words that stand for values.
static djStatus scanWord(djScan* s) {
  static const char* const words[] = {"true", "false", "null", "NaN", "Infinity", "-Infinity"};
  const char* stop = s->p;
  while (stop < s->end && isWord(*stop)) stop++;
  size_t n = (size_t)(stop - s->p);
  if (n == 0) return unexpected(s, "a value");
  bool known = numberEnd(s->p, stop) == stop;
  if (known && n > DJ_JSON_NUMBER) {
    return fail(s, "a number has more than 63 characters");
  }
  for (int k = 0; k < (s->names ? 6 : 3); k++) {
    known = known || (strlen(words[k]) == n && memcmp(words[k], s->p, n) == 0);
  }
  if (!known) {
    char what[96];
    bool number = *s->p == '-' || *s->p == '+' || *s->p == '.' || isDigit(*s->p);
    snprintf(what, sizeof what, "'%.*s' is not a %s of JSON", n < 40 ? (int)n : 40, s->p,
             number ? "number" : "value");
    return fail(s, what);
  }
  s->p = stop;
  return DJ_OK;
}

// ---- lists and objects ------------------------------------------------------------------------

static void skipBlanks(djScan* s) {
  while (s->p < s->end && (*s->p == ' ' || *s->p == '\t' || *s->p == '\r' || *s->p == '\n')) s->p++;
}

// A key of the innermost object, and its colon.
static djStatus scanKey(djScan* s) {
  djLevel* l = &s->level[s->depth - 1];
  l->key = NULL;
  skipBlanks(s);
  if (s->p >= s->end || *s->p != '"') return unexpected(s, "a key in quotes");
  const char* key = s->p + 1;
  djStatus status = scanString(s);
  if (status < 0) return status;
  l->key = key;
  l->nkey = (size_t)(s->p - 1 - key);
  skipBlanks(s);
  if (s->p >= s->end || *s->p != ':') return unexpected(s, "':'");
  s->p++;
  return DJ_OK;
}

// A list or object begins. *inside: it is not empty, its first value comes next.
static djStatus openLevel(bool* inside, djScan* s) {
  bool object = *s->p == '{';
  if (s->depth == DJ_JSON_DEPTH) return fail(s, "is nested too deep");
  s->level[s->depth++] = (djLevel){.object = object};
  s->p++;
  skipBlanks(s);
  *inside = !(s->p < s->end && *s->p == (object ? '}' : ']'));
  return *inside && object ? scanKey(s) : DJ_OK;
}

// After a value: closes what ends here. *more: another value comes.
static djStatus closeLevels(bool* more, djScan* s) {
  *more = false;
  while (s->depth > 0) {
    djLevel* l = &s->level[s->depth - 1];
    skipBlanks(s);
    if (s->p < s->end && *s->p == (l->object ? '}' : ']')) {
      s->p++;
      s->depth--;
      continue;
    }
    if (s->p >= s->end || *s->p != ',') {
      return unexpected(s, l->object ? "',' or '}'" : "',' or ']'");
    }
    s->p++;
    l->index++;
    *more = true;
    return l->object ? scanKey(s) : DJ_OK;
  }
  return DJ_OK;
}

djStatus dj_checkJson(const char* text, size_t length, bool names, djError* err) {
  if (!text) return dj_fail(err, DJ_INVALID, "text: NULL");
  djScan s = {.text = text, .p = text, .end = text + length, .names = names, .err = err};
  if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) s.p += 3;   // a byte order mark
  bool more = true;
  while (more) {
    djStatus status = DJ_OK;
    bool inside = false;
    skipBlanks(&s);
    if (s.p >= s.end) status = unexpected(&s, "a value");
    else if (*s.p == '{' || *s.p == '[') status = openLevel(&inside, &s);
    else if (*s.p == '"') status = scanString(&s);
    else status = scanWord(&s);
    if (status == DJ_OK && !inside) status = closeLevels(&more, &s);
    if (status < 0) return status;
  }
  skipBlanks(&s);
  return s.p == s.end ? DJ_OK : unexpected(&s, "the end of the text");
}
