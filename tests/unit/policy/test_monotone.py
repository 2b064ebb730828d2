"""Putting a command into another one never makes the verdict milder; no input makes the policy fail."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from handrail.policy import Context, check
from handrail.policy.verdict import SEVERITY
from tests.support.wrappings import SIMPLE, Wrap, attacks, cases, outer_prefixes, prefixes, wraps

CONTEXT = Context(cwd="/work/p", home="/home/u", work_root="/work/p", data_dir="/home/u/.handrail")
EXAMPLES = 500
QUICK = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=(HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large),
)


def understood(command: str) -> bool:
    """Complete commands only: what is cut off may become something else in another place."""
    verdict = check(command, CONTEXT)
    return bool(command.strip()) and not any(reason.rule in ("text.grammar", "text.joined") for reason in verdict.reasons)


WHOLE = sorted({command for command in [*attacks(), *cases()] if understood(command) and len(command) < 2000})


def never_milder(command: str, layers: list[Wrap]) -> None:
    """The assertion, with everything that is needed to understand a failure."""
    base = check(command, CONTEXT)
    wrapped = command
    for layer in layers:
        wrapped = layer(wrapped)
    verdict = check(wrapped, CONTEXT)
    assert SEVERITY[verdict.level] >= SEVERITY[base.level], (command, wrapped, base.reasons, verdict.reasons)


@pytest.mark.req("D22", "D23", "D25", "D27")
@QUICK
@given(st.sampled_from(WHOLE), st.lists(wraps(), min_size=1, max_size=3))
def test_no_wrapping_makes_a_verdict_milder(command: str, layers: list[Wrap]) -> None:
    never_milder(command, layers)


@pytest.mark.req("D22", "D23", "D27")
@QUICK
@given(
    st.sampled_from(SIMPLE),
    st.builds(lambda first, more: [first, *more], prefixes(), st.lists(outer_prefixes(), max_size=2)),
    st.lists(wraps(), max_size=2),
)
def test_no_prefix_makes_a_verdict_milder(command: str, before: list[Wrap], layers: list[Wrap]) -> None:
    never_milder(command, [*before, *layers])


@pytest.mark.req("D22")
@QUICK
@given(st.sampled_from(WHOLE), st.sampled_from(WHOLE), st.sampled_from(["\n", "\n: ;\n", "\n: &\n"]))
def test_a_second_command_never_makes_a_verdict_milder(first: str, second: str, joint: str) -> None:
    both = check(first + joint + second, CONTEXT)
    least = max(SEVERITY[check(command, CONTEXT).level] for command in (first, second))
    assert SEVERITY[both.level] >= least, (first, second, both.reasons)


@pytest.mark.req("PF-A12")
@QUICK
@given(st.one_of(st.text(max_size=300), st.binary(max_size=300).map(lambda data: data.decode("utf-8", "surrogateescape"))))
def test_no_text_makes_the_policy_fail(command: str) -> None:
    assert check(command, CONTEXT).level in SEVERITY


SHELLISH = st.lists(
    st.sampled_from(
        "rm -rf / ls echo $ ( ) { } [ ] [[ ]] ' \" ` \\ \n \t ; & | && || < > << <<- <<< EOF $( ${ $(( )) # ! = += x y a[ * ? ~ if then fi for in do done case esac"
        " while function coproc time eval bash -c sh sudo find -exec \\; {} + python3 awk sed e w git -c alias.x=! curl wget \u200b \u3000 é 项目".split(
            " "
        )
    ),
    max_size=40,
).map(" ".join)


@pytest.mark.req("PF-A12")
@QUICK
@given(SHELLISH)
def test_no_mixture_of_shell_words_makes_the_policy_fail(command: str) -> None:
    verdict = check(command, CONTEXT)
    for reason in verdict.reasons:
        assert 0 <= reason.start <= reason.end <= len(command), reason
        assert reason.en
        assert reason.zh
