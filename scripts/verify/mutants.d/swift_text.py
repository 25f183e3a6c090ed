"""Reads Swift well enough to find its declarations: comments, strings, brackets, and the members of types."""

import bisect
import re
from dataclasses import dataclass
from functools import lru_cache

# A comment up to its line's end, a literal without interpolation, or the beginning of any other.
OPENING = re.compile(r'//[^\n]*|"(?:[^"\\\n]|\\[^(\n])*"(?!")|/\*|(#*)("""|")')
COMMENT_EDGE = re.compile(r"/\*|\*/")
BRACKET = re.compile(r"[(\[{)\]}]")
WORD = r"`?\w+`?"
HEAD = re.compile(
    rf"\b(?:(?P<type>struct|class|enum|actor|protocol|extension)\s+(?!(?:func|var|let|subscript)\b)(?P<path>{WORD}(?:\.{WORD})*)"
    rf"|func\s+(?P<func>{WORD}|[-+*/<>=!&|^~%]+)|(?P<other>init|subscript|deinit)\b(?!\s*\.)|(?:var|let)\s+(?P<var>{WORD}))"
    r"|[{}()\[\]]"
)
# What may stand between the beginning of a declaration and its keyword.
MODIFIERS = re.compile(r"(?:\s|@[\w.]+(?:\([^()]*\))?|\b[a-z]\w*(?:\([\w:]+\))?(?=\s))*")


@dataclass(frozen=True)
class Member:
    """A function, initialiser, property or subscript, with everything up to the next declaration of its type."""

    path: tuple  # the names of the types around it, and its own
    labels: str  # as in `send(_:to:)`, the part with the parentheses; empty for a property
    modifiers: tuple  # the words before its keyword
    start: int
    body: int  # the place behind the brace that opens the body; the end, if there is none
    end: int

    @property
    def name(self):
        return ".".join(self.path)


@lru_cache(None)
def blanked(text, strings=True):
    """The text with comments, and string literals too, as blanks, so that places stay where they are."""
    parts, at = [], 0
    while opening := OPENING.search(text, at):
        start = opening.start()
        end = end_of_token(text, opening)
        token = text[start:end]
        if not strings and not token.startswith(("//", "/*")):
            blank = token
        else:
            blank = re.sub(r"[^\n]", " ", token) if "\n" in token else " " * len(token)
        parts += [text[at:start], blank]
        at = end
    return "".join(parts) + text[at:]


def end_of_token(text, opening):
    """The end of the comment or of the string literal that begins here."""
    if opening.group() == "/*":
        return end_of_comment(text, opening.end())
    return end_of_string(text, opening) if opening.group(2) else opening.end()


def end_of_comment(text, at):
    depth = 1
    while depth and (edge := COMMENT_EDGE.search(text, at)):
        depth += 1 if edge.group() == "/*" else -1
        at = edge.end()
    return len(text) if depth else at


def end_of_string(text, opening):
    hashes, quotes = opening.groups()
    edges = re.compile(rf"\\{hashes}(\(|.)|{quotes}{hashes}" + ("" if len(quotes) == 3 else r"|\n"), re.S)
    at = opening.end()
    while edge := edges.search(text, at):
        if not edge.group().startswith("\\"):
            return edge.end()
        at = end_of_interpolation(text, edge.end()) if edge.group(1) == "(" else edge.end()
    return len(text)


def end_of_interpolation(text, at):
    depth = 1
    while depth and at < len(text):
        if opening := OPENING.match(text, at):
            at = end_of_token(text, opening)
            continue
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
    return at


def end_of_brackets(code, start):
    """The place behind the bracket that closes the one at `start`, in code without comments and strings."""
    depth = 0
    for bracket in BRACKET.finditer(code, start):
        depth += 1 if bracket.group() in "([{" else -1
        if depth == 0:
            return bracket.end()
    return len(code)


def split(text):
    """The parts between the commas of the outermost level, such as the parameters between a function's parentheses."""
    parts, depth, start = [], 0, 0
    for at, character in enumerate(text):
        # Array<Int> is a pair of brackets; 1 << 20 and -> are not.
        if character in "([{" or character == "<" and re.match(r"\w", text[at - 1:at]):
            depth += 1
        elif character in ")]}" or character == ">" and re.match(r"[\w?>)\]]", text[at - 1:at]):
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(text[start:at])
            start = at + 1
    return [part.strip() for part in parts + [text[start:]] if part.strip()]


def label(parameter):
    return re.sub(r"^\s*(?:@\w+(?:\([^)]*\))?\s+)*", "", parameter).split(":")[0].split()[0]


@lru_cache(None)
def members(text):
    """The members of all types of a file, in their order, and its own functions and variables."""
    code, found = blanked(text), []
    # Around each place: the names of the types, and the depth of brackets at which their members stand.
    scopes, depth, level, awaited, opened = [((), 0)], 0, 0, None, None

    def close(end):
        if opened:
            found.append(finished(*opened, code, end))

    for token in HEAD.finditer(code):
        kind = token.group()
        if kind in "([{":
            depth += 1
            if kind == "{" and awaited and depth == level + 1:
                scopes.append((awaited, depth))
                awaited, level = None, depth
        elif kind in ")]}":
            if kind == "}" and depth == level and len(scopes) > 1:
                close(token.start())
                opened = None
                scopes.pop()
                level = scopes[-1][1]
            depth -= 1
        elif depth == level and (modifiers := modifiers_before(code, token.start())) is not None:
            close(token.start())
            around, opened = scopes[-1][0], None
            if token.group("type"):
                awaited = around + tuple(token.group("path").replace("`", "").split("."))
            else:
                name = token.group("func") or token.group("other") or token.group("var")
                opened = around + (name.strip("`"),), tuple(modifiers), token
    close(len(code))
    return found


def modifiers_before(code, at):
    """The words before a keyword; None if it stands in the middle of something else."""
    begin = max(code.rfind(character, 0, at) for character in "\n{};") + 1
    return code[begin:at].split() if MODIFIERS.fullmatch(code, begin, at) else None


def finished(path, modifiers, token, code, end):
    labels, at = "", token.end()
    if not token.group("var"):
        opening = re.compile(rf"(?:func\s+)?[^\s(<{{]+\s*(?:<[^(]*>\s*)?\(").match(code, token.start())
        inside = code[opening.end():end_of_brackets(code, opening.end() - 1) - 1] if opening else ""
        labels = "(" + "".join(f"{label(part)}:" for part in split(inside)) + ")"
        parenthesis = code.find("(", token.end(), end)
        at = end_of_brackets(code, parenthesis) if parenthesis >= 0 else at
    brace = code.find("{", at, end)
    return Member(path, labels, modifiers, token.start(), brace + 1 if brace >= 0 else end, end)


class Lines:
    """The numbers of the lines of a text."""

    def __init__(self, text):
        self.starts = [0] + [match.end() for match in re.finditer("\n", text)]

    def number(self, at):
        return bisect.bisect_right(self.starts, at)
