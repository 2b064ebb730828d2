"""The second opinion: tree-sitter-bash. Both parsers must find the same commands.

A node of a kind that is not listed, or a command that only this grammar sees, makes the whole text a question. Where this
grammar fails (it does on some valid bash) our own parser alone decides, and only if it understood everything.
"""

from __future__ import annotations

from dataclasses import dataclass

import tree_sitter_bash
from tree_sitter import Language, Parser, Query, QueryCursor

LANGUAGE = Language(tree_sitter_bash.language())
PARSER = Parser(LANGUAGE)
KINDS = frozenset(
    """
    program list pipeline command command_name word number string string_content raw_string ansi_c_string translated_string concatenation
    simple_expansion expansion arithmetic_expansion variable_name special_variable_name variable_assignment variable_assignments array
    subscript redirected_statement file_redirect file_descriptor heredoc_redirect heredoc_start heredoc_body heredoc_content heredoc_end
    herestring_redirect comment if_statement elif_clause else_clause while_statement for_statement c_style_for_statement do_group
    case_statement case_item subshell compound_statement negated_command function_definition declaration_command unset_command test_command
    unary_expression binary_expression postfix_expression ternary_expression parenthesized_expression test_operator regex extglob_pattern
    brace_expression command_substitution process_substitution ERROR
    """.split()
)
_EVERY = {LANGUAGE.node_kind_for_id(number) or "" for number in range(LANGUAGE.node_kind_count) if LANGUAGE.node_kind_is_named(number)}
_VISIBLE = {name for name in _EVERY if name and not name.startswith("_")}
# the walk is done by the library: command names, and every named kind that is not in the list
QUERY = Query(LANGUAGE, "(command_name) @name " + " ".join(f"({kind}) @strange" for kind in sorted(_VISIBLE - KINDS)))

LEAVES = frozenset(
    {"word", "number", "raw_string", "ansi_c_string", "string_content", "variable_name", "comment", "file_descriptor", "test_operator"}
)


@dataclass(frozen=True, slots=True)
class Tree:
    """`failed`: the grammar has an error node. `strange`: a kind that is not listed. `starts`: where command names begin."""

    failed: bool
    strange: str
    starts: tuple[int, ...]


def read(text: str) -> Tree:
    """The tree's facts; offsets are characters."""
    source = text.encode("utf-8", "replace")
    root = PARSER.parse(source).root_node
    found = QueryCursor(QUERY).captures(root)
    starts = [node.start_byte for node in found.get("name", ())]
    strange = found["strange"][0].type if "strange" in found else ""
    if not text.isascii():
        starts = _characters(source, starts)
    return Tree(root.has_error, strange, tuple(starts))


def _characters(source: bytes, starts: list[int]) -> list[int]:
    """Byte offsets as character offsets, in one pass."""
    found: list[int] = []
    done = count = 0
    for start in sorted(starts):
        count += len(source[done:start].decode("utf-8", "replace"))
        found.append(count)
        done = start
    return found
