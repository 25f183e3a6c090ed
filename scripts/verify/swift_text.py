"""Reads Swift well enough to find its declarations: comments, strings, brackets, and the members of types."""

import bisect
import re
from dataclasses import dataclass

OPENING = re.compile(r'//|/\*|(#*)("""|")')
COMMENT_EDGE = re.compile(r"/\*|\*/")
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
    start: int
    body: int  # the place behind the brace that opens the body; the end, if there is none
    end: int

    @property
    def name(self):
        return ".".join(self.path)


def blanked(text, strings=True):
    """The text with comments, and string literals too, as blanks, so that places stay where they are."""
    parts, at = [], 0
    while opening := OPENING.search(text, at):
        end = end_of_token(text, opening)
        token = text[opening.start():end]
        is_kept = opening.group(2) and not strings
        parts += [text[at:opening.start()], token if is_kept else re.sub(r"[^\n]", " ", token)]
        at = end
    return "".join(parts) + text[at:]


def end_of_token(text, opening):
    """The end of the comment or of the string literal that begins here."""
    if opening.group() == "//":
        end = text.find("\n", opening.start())
        return len(text) if end < 0 else end
    if opening.group() == "/*":
        return end_of_comment(text, opening.end())
    return end_of_string(text, opening)


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


def end_of_parentheses(code, start):
    """The place of the parenthesis that closes the one at `start`, in code without comments and strings."""
    depth = 0
    for at in range(start, len(code)):
        depth += {"(": 1, ")": -1}.get(code[at], 0)
        if depth == 0:
            return at
    return len(code)


def parameters(inside):
    """The parameters between the parentheses of a function, split at the commas of the outermost level."""
    parts, depth, start = [], 0, 0
    for at, character in enumerate(inside):
        if character in "([{<":
            depth += 1
        elif character in ")]}" or character == ">" and inside[at - 1] != "-":
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(inside[start:at])
            start = at + 1
    return [part for part in parts + [inside[start:]] if part.strip()]


def parameter_list(code, start):
    """The parameters of the function whose keyword is at `start`."""
    opening = re.compile(rf"(?:func\s+)?[^\s(<{{]+\s*(?:<[^(]*>\s*)?\(").match(code, start)
    return parameters(code[opening.end():end_of_parentheses(code, opening.end() - 1)]) if opening else []


def label(parameter):
    return re.sub(r"^\s*(?:@\w+(?:\([^)]*\))?\s+)*", "", parameter).split(":")[0].split()[0]


def members(text):
    """The members of all types of a file, in their order, and its own functions and variables."""
    code = blanked(text)
    found = []
    # Around each place: the names of the types, and the depth of brackets at which their members stand.
    scopes, depth, awaited, open_member = [((), 0)], 0, None, None

    def close(end):
        nonlocal open_member
        if open_member:
            found.append(finished(open_member, code, end))
        open_member = None

    for token in HEAD.finditer(code):
        kind = token.group()
        if kind in "([{":
            depth += 1
            if kind == "{" and awaited and depth == scopes[-1][1] + 1:
                scopes.append((awaited, depth))
                awaited = None
        elif kind in ")]}":
            if kind == "}" and depth == scopes[-1][1] and len(scopes) > 1:
                close(token.start())
                scopes.pop()
            depth -= 1
        elif depth == scopes[-1][1] and is_declared(code, token.start()):
            close(token.start())
            around = scopes[-1][0]
            if token.group("type"):
                awaited = around + tuple(token.group("path").replace("`", "").split("."))
            else:
                name = token.group("func") or token.group("other") or token.group("var")
                open_member = (around + (name.strip("`"),), token)
    close(len(code))
    return found


def is_declared(code, at):
    """Whether only attributes and modifiers are between the last brace, or the line's beginning, and this place."""
    begin = max(code.rfind(character, 0, at) for character in "\n{};") + 1
    return MODIFIERS.fullmatch(code, begin, at) is not None


def finished(opened, code, end):
    path, token = opened
    labels, at = "", token.end()
    if not token.group("var"):
        parts = parameter_list(code, token.start())
        labels = "(" + "".join(f"{label(part)}:" for part in parts) + ")"
        opening = code.find("(", token.end(), end)
        at = end_of_parentheses(code, opening) if opening >= 0 else at
    brace = code.find("{", at, end)
    return Member(path, labels, token.start(), brace + 1 if brace >= 0 else end, end)


class Lines:
    """The numbers of the lines of a text."""

    def __init__(self, text):
        self.starts = [0] + [match.end() for match in re.finditer("\n", text)]

    def number(self, at):
        return bisect.bisect_right(self.starts, at)
