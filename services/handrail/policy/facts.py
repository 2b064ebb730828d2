"""Parse one command string into facts: simple commands with their words, redirects, pipes and here-documents.

One walk over the tree, no recursion, so that depth and length cost nothing but their own size. A node of a kind that is
not listed makes the whole command a question.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from handrail.policy.words import Names, Word, resolve

PARSER = Parser(Language(tree_sitter_bash.language()))
MAX_SEGMENTS = 200
PLAIN_NODES = frozenset({
    "program", "list", "pipeline", "command", "command_name", "word", "number", "string", "string_content", "raw_string", "ansi_c_string",
    "translated_string", "concatenation", "simple_expansion", "expansion", "arithmetic_expansion", "variable_name", "special_variable_name",
    "variable_assignment", "variable_assignments", "array", "subscript", "redirected_statement", "file_redirect", "file_descriptor",
    "heredoc_redirect", "heredoc_start", "heredoc_body", "heredoc_content", "heredoc_end", "herestring_redirect", "comment",
    "if_statement", "elif_clause", "else_clause", "while_statement", "for_statement", "c_style_for_statement", "do_group", "case_statement",
    "case_item", "subshell", "compound_statement", "negated_command", "function_definition", "declaration_command", "unset_command",
    "test_command", "unary_expression", "binary_expression", "postfix_expression", "ternary_expression", "parenthesized_expression",
    "test_operator", "regex", "extglob_pattern", "brace_expression", "command_substitution", "process_substitution",
})  # fmt: skip
WRITES = frozenset({">", ">>", ">|", "&>", "&>>", "<>"})
TAINTING = frozenset({"read", "mapfile", "readarray", "getopts", "select", "printf"})


@dataclass(slots=True)
class Redirect:
    """`>` and its kin. `target` is the word it names."""

    operator: str
    target: Word


@dataclass(slots=True)
class Simple:
    """A simple command as it stands in the text."""

    words: list[Word]
    assignments: list[tuple[str, Word | None]]
    start: int
    end: int
    redirects: list[Redirect] = field(default_factory=list[Redirect])
    here: list[str] = field(default_factory=list[str])  # literal text that is its standard input
    feeders: list[Simple] = field(default_factory=list["Simple"])  # what its standard input comes from, nearest last
    declared: str = ""  # "export", "declare", ... when the words are declarations


@dataclass(slots=True)
class Facts:
    """Everything that was found in one string."""

    commands: list[Simple] = field(default_factory=list[Simple])
    loose: list[Redirect] = field(default_factory=list[Redirect])  # redirects of groups and loops
    texts: list[tuple[str, int, int]] = field(default_factory=list[tuple[str, int, int]])  # substitutions found in here-documents
    substitutions: int = 0
    process_substitution: tuple[int, int] | None = None
    loose_substitutions: tuple[int, int] | None = None  # one that stands in no simple command: a loop's list, a case, a redirect
    unknown: tuple[str, int, int] | None = None  # a node kind that is not listed
    failed: bool = False  # the grammar did not understand everything
    recursion: tuple[int, int] | None = None  # a function that starts itself twice


def parse(text: str, names: Names, fixed: Mapping[str, str]) -> Facts:
    """Facts of one string. `names` collects assignments and functions and is used to resolve words."""
    tree = PARSER.parse(text.encode("utf-8", "replace"))
    facts = Facts(failed=tree.root_node.has_error)
    nodes = _nodes(tree.root_node, facts)
    _collect_names(nodes, names, fixed)
    built: dict[int, Simple] = {}
    for node in nodes:
        if node.type in ("command", "declaration_command", "unset_command"):
            simple = _simple(node, names, fixed)
            built[node.id] = simple
            facts.commands.append(simple)
        elif node.type == "variable_assignment" and (node.parent is None or node.parent.type not in ("command", "declaration_command")):
            facts.commands.append(Simple([], [_assignment(node, names, fixed)], node.start_byte, node.end_byte))
    for node in nodes:
        _connect(node, built, facts, names, fixed)
    return facts


def _nodes(root: Node, facts: Facts) -> list[Node]:
    """Every named node in document order; notes what is unknown."""
    nodes: list[Node] = []
    stack = [root]
    while stack:
        node = stack.pop()
        kind = node.type
        if node.is_named:
            nodes.append(node)
            if kind not in PLAIN_NODES and facts.unknown is None and kind != "ERROR":
                facts.unknown = (kind, node.start_byte, node.end_byte)
            if kind in ("command_substitution", "process_substitution"):
                facts.substitutions += 1
                if facts.loose_substitutions is None and _holder(node) in (
                    "for_statement",
                    "case_statement",
                    "file_redirect",
                    "arithmetic_expansion",
                ):
                    facts.loose_substitutions = (node.start_byte, node.end_byte)
                if kind == "process_substitution" and facts.process_substitution is None:
                    facts.process_substitution = (node.start_byte, node.end_byte)
        if node.child_count:
            stack.extend(reversed(node.children))
    return nodes


HOLDERS = frozenset({
    "command", "variable_assignment", "declaration_command", "for_statement", "case_statement", "test_command", "file_redirect", "heredoc_body",
    "herestring_redirect", "arithmetic_expansion", "program",
})  # fmt: skip


def _holder(node: Node) -> str:
    """The kind of the nearest node around a substitution that gives its result a meaning."""
    parent = node.parent
    while parent is not None and parent.type not in HOLDERS:
        parent = parent.parent
    return parent.type if parent is not None else "program"


def _collect_names(nodes: list[Node], names: Names, fixed: Mapping[str, str]) -> None:
    for node in nodes:
        kind = node.type
        if kind == "variable_assignment":
            name, value = _assignment(node, names, fixed)
            names.assign(name, value)
        elif kind in ("for_statement", "c_style_for_statement"):
            _loop_variable(node, names, fixed)
        elif kind == "function_definition":
            name = node.child_by_field_name("name")
            if name is not None:
                names.functions.add(_text(name))
        elif kind == "command":
            head = node.child_by_field_name("name")
            if head is not None and _text(head) in TAINTING:
                for child in node.children_by_field_name("argument"):
                    names.assign(_text(child), None)


def _loop_variable(node: Node, names: Names, fixed: Mapping[str, str]) -> None:
    variable = node.child_by_field_name("variable")
    if variable is None:
        return
    for value in node.children_by_field_name("value"):
        word = resolve(value, names, fixed)
        names.assign(_text(variable), None if word.globs and not word.values else word)
    if not node.children_by_field_name("value"):
        names.assign(_text(variable), None)


def _assignment(node: Node, names: Names, fixed: Mapping[str, str]) -> tuple[str, Word | None]:
    name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    text = re.split(r"\[", _text(name), maxsplit=1)[0] if name is not None else ""
    if value is None:
        return text, Word("", ("",), known=True, start=node.start_byte, end=node.end_byte)
    if value.type == "array":
        return text, None
    return text, resolve(value, names, fixed)


def _simple(node: Node, names: Names, fixed: Mapping[str, str]) -> Simple:
    words: list[Word] = []
    assignments: list[tuple[str, Word | None]] = []
    declared = ""
    for child in node.children:
        kind = child.type
        if kind == "variable_assignment":
            assignments.append(_assignment(child, names, fixed))
        elif kind in ("herestring_redirect", "file_redirect", "heredoc_redirect", "comment"):
            continue
        elif not child.is_named and node.type != "command":
            declared = _text(child)
            words.append(Word(declared, (declared,), known=True, start=child.start_byte, end=child.end_byte))
        else:
            words.extend(_split(resolve(child, names, fixed)))
    return Simple(words, assignments, node.start_byte, node.end_byte, declared=declared)


def _split(word: Word) -> list[Word]:
    """An unquoted variable with blanks in it becomes several words."""
    if not word.splits or len(word.values) != 1:
        return [word]
    parts = word.values[0].split()
    return [Word(word.text, (part,), word.known, word.start, word.end, word.globs) for part in parts] or [word]


def _connect(node: Node, built: dict[int, Simple], facts: Facts, names: Names, fixed: Mapping[str, str]) -> None:
    """Redirects, here-documents and pipes of what was built."""
    kind = node.type
    if kind == "file_redirect":
        _file_redirect(node, built, facts, names, fixed)
    elif kind == "herestring_redirect":
        value = next((child for child in node.children if child.is_named), None)
        if value is not None:
            for owner in _owners(node, built):
                owner.here.extend(resolve(value, names, fixed).values)
    elif kind == "heredoc_redirect":
        _here_document(node, built, facts)
    elif kind == "pipeline":
        _pipe(node, built)
    elif kind == "function_definition":
        _self_start(node, facts)


def _file_redirect(node: Node, built: dict[int, Simple], facts: Facts, names: Names, fixed: Mapping[str, str]) -> None:
    operator = next((_text(child) for child in node.children if not child.is_named), "")
    target = node.child_by_field_name("destination")
    if target is None:
        return
    redirect = Redirect(operator, resolve(target, names, fixed))
    parent = node.parent
    owner = parent.child_by_field_name("body") if parent is not None and parent.type == "redirected_statement" else parent
    simple = built.get(owner.id) if owner is not None else None
    (simple.redirects if simple is not None else facts.loose).append(redirect)


def _here_document(node: Node, built: dict[int, Simple], facts: Facts) -> None:
    start, body = None, None
    for child in node.children:
        if child.type == "heredoc_start":
            start = child
        elif child.type == "heredoc_body":
            body = child
    if start is None or body is None:
        return
    text = _text(body)
    for owner in _owners(node, built):
        owner.here.append(text)
    quoted = any(char in _text(start) for char in "'\"\\")
    if not quoted:
        # the grammar misses substitutions in some bodies: they are looked for in the text as well
        facts.texts.extend((inner, body.start_byte, body.end_byte) for inner in substitutions(text))


def substitutions(text: str) -> list[str]:
    """The insides of `$(...)` and back-quotes in the body of an unquoted here-document."""
    found = [match[1] for match in re.finditer(r"(?<!\\)`((?:[^`\\]|\\.)*)`", text, re.DOTALL)]
    position = 0
    while (position := text.find("$(", position)) >= 0:
        depth, end = 0, position + 1
        while end < len(text):
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            if depth == 0:
                break
            end += 1
        escaped = position > 0 and text[position - 1] == "\\"
        if not escaped and not text.startswith("$((", position):
            found.append(text[position + 2 : end])
        position += 2
        if len(found) > MAX_SEGMENTS:
            break
    return found


def _owners(node: Node, built: dict[int, Simple]) -> list[Simple]:
    """The commands whose standard input a here-document or here-string is."""
    parent = node.parent
    if parent is None:
        return []
    if parent.id in built:
        return [built[parent.id]]
    body = parent.child_by_field_name("body")
    return _last_commands(body, built) if body is not None else []


def _pipe(node: Node, built: dict[int, Simple]) -> None:
    feeders: list[Simple] = []
    parent = node.parent
    if parent is not None and parent.type == "heredoc_redirect" and parent.parent is not None:
        body = parent.parent.child_by_field_name("body")
        feeders.extend(_last_commands(body, built) if body is not None else [])
    for child in node.children:
        if not child.is_named:
            continue
        inside = _last_commands(child, built)
        if feeders:
            for simple in inside:
                simple.feeders.extend(feeders)
        feeders.extend(inside)


def _last_commands(node: Node, built: dict[int, Simple]) -> list[Simple]:
    """Every simple command below a node: whose output or input it may be."""
    found: list[Simple] = []
    stack = [node]
    while stack:
        current = stack.pop()
        if current.id in built:
            found.append(built[current.id])
            continue
        stack.extend(
            reversed([c for c in current.children if c.type not in ("command_substitution", "process_substitution", "heredoc_redirect")])
        )
    return found


def _self_start(node: Node, facts: Facts) -> None:
    """A function that pipes into itself or starts itself in the background."""
    name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    if name is None or body is None:
        return
    own = re.escape(_text(name))
    if re.search(rf"(?<![\w./-]){own}\s*\|&?\s*{own}(?![\w./-])|(?<![\w./-]){own}\s*&\s*{own}(?![\w./-])", _text(body)):
        facts.recursion = (node.start_byte, node.end_byte)


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
