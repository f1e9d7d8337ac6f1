"""Mutants of C text: small plausible mistakes, each one change of a few tokens.

The operators are the usual ones (DeMillo, Lipton and Sayward 1978; Offutt et al. 1996: relations,
arithmetic, logic, constants, deleted statements and conditions), and those that numerical code
calls for: dropped terms and factors, x for y, a for b, min for max, exchanged arguments. They work
on tokens, so that comments, texts, includes and declarations stay as they are.
"""
import re

TOKEN = re.compile(r"""
    (?P<skip>\s+|//[^\n]*|/\*.*?\*/|^[ \t]*\#(?:[^\n\\]|\\.|\\\n)*)
  | (?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
  | (?P<number>(?:0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)[uUlLfF]*)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<sign>->|\+\+|--|<<=|>>=|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\.\.\.
            |[-+*/%&|^!~<>=?:;,.(){}\[\]])
""", re.X | re.S | re.M)

RELATIONS = {"<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="], ">=": [">", "<"],
             "==": ["!="], "!=": ["=="]}
ARITHMETIC = {"+": "-", "-": "+", "*": "/", "/": "*", "%": "*", "&": "|", "|": "&"}
ASSIGNMENTS = {"+=": ["-=", "="], "-=": ["+=", "="], "*=": ["/=", "="], "/=": ["*="],
               "|=": ["&=", "="], "&=": ["|=", "="]}
NAMES = {"fmin": "fmax", "fmax": "fmin", "sin": "cos", "cos": "sin", "true": "false",
         "false": "true", "break": "continue", "continue": "break", "lower": "upper",
         "upper": "lower", "min": "max", "max": "min", "low": "high", "high": "low",
         "first": "second", "second": "first", "left": "right", "right": "left",
         "fabs": "", "sqrt": "", "start": "end", "end": "start", "from": "to", "to": "from"}
MEMBERS = {"x": "yz", "y": "zx", "z": "xy", "a": "b", "b": "a", "lin": ["ang"], "ang": ["lin"]}
SUFFIXES = [("_a", "_b"), ("_x", "_y"), ("_lo", "_hi"), ("min", "max"), ("first", "second"),
            ("1", "2"), ("dof", "qpos"), ("pos", "vel"), ("ctrl", "act"), ("gain", "bias"),
            ("stiffness", "damping"), ("margin", "gap")]
KEYWORDS = set("if for while switch return sizeof else do case default goto static const struct "
               "typedef enum extern inline".split())
OPENING, CLOSING = "([{", ")]}"


class Token:
    def __init__(self, kind, text, start):
        self.kind, self.text, self.start, self.end = kind, text, start, start + len(text)


class Mutant:
    """source[start:end] becomes `new`; `rule` says what kind of mistake it is."""

    def __init__(self, source, start, end, new, rule):
        self.start, self.end, self.new, self.rule = start, end, new, rule
        self.line = source.count("\n", 0, start) + 1
        self.last_line = source.count("\n", 0, end) + 1

    def apply(self, source):
        return source[:self.start] + self.new + source[self.end:]


def tokens_of(source):
    tokens = []
    for match in TOKEN.finditer(source):
        if match.lastgroup != "skip":
            tokens.append(Token(match.lastgroup, match.group(), match.start()))
    return tokens


class File:
    """Tokens of a file with the partner of each bracket."""

    def __init__(self, source):
        self.source, self.t = source, tokens_of(source)
        self.partner, stack = {}, []
        for i, token in enumerate(self.t):
            if token.kind == "sign" and token.text in OPENING:
                stack.append(i)
            elif token.kind == "sign" and token.text in CLOSING and stack:
                j = stack.pop()
                self.partner[i], self.partner[j] = j, i
        self.inside = self.find_bodies()

    def text(self, i):
        return self.t[i].text if 0 <= i < len(self.t) else ""

    def kind(self, i):
        return self.t[i].kind if 0 <= i < len(self.t) else ""

    def find_bodies(self):
        """Which tokens are in the body of a function or in an initialiser."""
        inside, i = [False] * len(self.t), 0
        while i < len(self.t):
            if self.text(i) == "{" and self.text(i - 1) in (")", "=") and i in self.partner:
                for k in range(i, self.partner[i]):
                    inside[k] = True
                i = self.partner[i]
            i += 1
        return inside

    def spaced(self, i):
        """A binary operator is written with blanks on both sides, a pointer's star is not."""
        s, t = self.source, self.t[i]
        return s[t.start - 1:t.start].isspace() and s[t.end:t.end + 1].isspace()

    def operand_end(self, i, stop):
        """Index of the token behind the operand that starts at i: at a sign of `stop`, or where the
        enclosing bracket closes."""
        while i < len(self.t):
            text = self.text(i)
            if self.kind(i) == "sign":
                if text in CLOSING or text in (";", ",", ":", "?"):
                    return i
                if text in stop and (text not in "+-*/&|" or self.spaced(i)):
                    return i
                if text in OPENING:
                    if i not in self.partner:
                        return None
                    i = self.partner[i]
            i += 1
        return None

    def arguments(self, i):
        """Spans (first, last token) of the arguments in the bracket at i."""
        spans, k, close = [], i + 1, self.partner.get(i)
        if close is None:
            return []
        begin = k
        while k <= close:
            if k == close or self.text(k) == ",":
                if k > begin:
                    spans.append((begin, k - 1))
                begin = k + 1
            elif self.text(k) in OPENING and k in self.partner:
                k = self.partner[k]
            k += 1
        return spans


LOOSER = {"||": 1, "&&": 2, "|": 3, "^": 3, "&": 3, "==": 4, "!=": 4, "<": 5, ">": 5, "<=": 5,
          ">=": 5, "+": 6, "-": 6, "*": 7, "/": 7, "%": 7, "=": 0, "+=": 0, "-=": 0, "*=": 0,
          "/=": 0}


def dropped(f, i):
    """Left op right -> left, for a binary operator at i."""
    rank = LOOSER[f.text(i)]
    stop = [sign for sign, other in LOOSER.items() if other <= rank]
    end = f.operand_end(i + 1, stop)
    if end is None or end <= i + 1:
        return None
    return f.t[i - 1].end, f.t[end - 1].end, "", "drop " + f.text(i)


def scaled(number):
    """Other values for a constant."""
    if re.match(r"^\d+$", number):
        n = int(number)
        if n >= 20:
            return [str(n // 10), str(n * 10)]
        return [str(n + 1)] + ([str(n - 1)] if n > 0 else [])
    if re.match(r"^[\d.]+([eE][+-]?\d+)?$", number):
        value = float(number)
        if value == 0:
            return ["1.0"]
        small = abs(value) < 1e-4 or abs(value) > 1e4
        return ["(1e3 * %s)" % number, "(1e-3 * %s)" % number] if small else \
            ["(2 * %s)" % number, "(0.9 * %s)" % number]
    return []


def of_sign(f, i):
    text, token = f.text(i), f.t[i]
    in_for = loop_condition(f, i)
    if text in RELATIONS and f.spaced(i):
        for new in RELATIONS[text]:
            if not (in_for and new in ("<=", ">=")):  # past the end: the sanitizers' business
                yield token.start, token.end, new, "relation"
    if text in ARITHMETIC and f.spaced(i):
        yield token.start, token.end, ARITHMETIC[text], "arithmetic"
        cut = dropped(f, i)
        if cut:
            yield cut
    if text in ("&&", "||"):
        yield token.start, token.end, "||" if text == "&&" else "&&", "logic"
        cut = dropped(f, i)
        if cut:
            yield cut
    if text in ASSIGNMENTS:
        for new in ASSIGNMENTS[text]:
            yield token.start, token.end, new, "assignment"
    if text == "!" or (text == "-" and not f.spaced(i) and f.text(i - 1) not in (")", "]")):
        yield token.start, token.end, "", "drop " + text
    if text == "?":
        colon = f.operand_end(i + 1, [])
        end = colon and f.text(colon) == ":" and f.operand_end(colon + 1, [])
        if end and end > colon + 1 and colon > i + 1:
            a = f.source[f.t[i + 1].start:f.t[colon - 1].end]
            b = f.source[f.t[colon + 1].start:f.t[end - 1].end]
            yield f.t[i + 1].start, f.t[end - 1].end, "%s : %s" % (b, a), "exchange choice"
            yield f.t[i + 1].start, f.t[colon - 1].end, b, "no choice"


def loop_condition(f, i):
    """Is this token in the brackets of a `for`?"""
    k = i
    while k >= 0 and f.text(k) not in "{}":
        if f.text(k) == "(" and f.text(k - 1) == "for" and f.partner.get(k, -1) > i:
            return True
        k -= 1
    return False


def of_name(f, i):
    text, token = f.text(i), f.t[i]
    after_dot = f.text(i - 1) in (".", "->")
    if text in NAMES:
        new = NAMES[text]
        if new or f.text(i + 1) == "(":
            yield token.start, token.end, new, "name"
    if after_dot and text in MEMBERS:
        for new in MEMBERS[text]:
            yield token.start, token.end, new, "member"
    if text not in NAMES and f.text(i + 1) != "(":
        for one, two in SUFFIXES:
            for old, new in ((one, two), (two, one)):
                if text.endswith(old) and len(text) > len(old):
                    yield token.start, token.end, text[:-len(old)] + new, "name"
                elif text.startswith(old) and len(text) > len(old):
                    yield token.start, token.end, new + text[len(old):], "name"
    if f.text(i + 1) == "(" and text not in KEYWORDS:
        spans = f.arguments(i + 1)
        for k in range(min(len(spans), 4) - 1):
            (a0, a1), (b0, b1) = spans[k], spans[k + 1]
            a, b = (f.source[f.t[p].start:f.t[q].end] for p, q in ((a0, a1), (b0, b1)))
            if a != b:
                yield f.t[a0].start, f.t[b1].end, "%s, %s" % (b, a), "exchange arguments"
    if text in ("if", "while") and f.text(i + 1) == "(" and i + 1 in f.partner:
        start, end = f.t[i + 1].end, f.t[f.partner[i + 1]].start
        condition = f.source[start:end]
        if text == "if":
            yield start, end, "1 || (%s)" % condition, "condition true"
        yield start, end, "0 && (%s)" % condition, "condition false"


def of_number(f, i):
    token = f.t[i]
    if f.text(i - 1) == "[" and f.text(i + 1) == "]" and declares(f, i - 2):
        return
    for new in scaled(token.text):
        yield token.start, token.end, new, "constant"


def declares(f, i):
    """Is the name at i, before a bracket, being declared (a type stands before it)?"""
    while f.text(i) == "]" and i in f.partner:
        i = f.partner[i] - 1
    before = f.text(i - 1)
    if f.kind(i - 1) == "name":
        return before not in KEYWORDS
    if before == "*":
        return not f.spaced(i - 1)
    return before == "," and declaration_line(f, i)


def declaration_line(f, i):
    line = f.source[f.source.rfind("\n", 0, f.t[i].start) + 1:f.t[i].start]
    return re.match(r"\s*(const |static )*(double|int|bool|dj\w+|mj\w+|size_t|char)\b", line)


def of_statement(f, i):
    """An assignment or a call that starts at i is left out."""
    if f.text(i - 1) not in (";", "{", "}") or f.text(i) in KEYWORDS:
        return
    if f.kind(i) == "name":
        if f.kind(i + 1) == "name" or (f.text(i + 1) == "*" and not f.spaced(i + 1)):
            return  # a declaration
    elif f.text(i) not in ("*", "(", "++", "--"):
        return
    k = i
    while k < len(f.t) and f.text(k) not in (";", "{", "}"):
        k = f.partner.get(k, k) + 1 if f.text(k) in "([" else k + 1
    if f.text(k) == ";" and k > i + 1:
        yield f.t[i].start, f.t[k].end, ";", "drop statement"


def mutants(source):
    """Lists of mutants, one list per place in the text."""
    f, places = File(source), []
    rules = {"sign": of_sign, "name": of_name, "number": of_number}
    for i, token in enumerate(f.t):
        if not f.inside[i]:
            continue
        for found in (rules[token.kind](f, i) if token.kind in rules else [], of_statement(f, i)):
            place = [Mutant(source, *change) for change in found]
            if place:
                places.append(place)
    return places
