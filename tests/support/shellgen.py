"""Random shell texts in which every word that could be a program has a name of its own: c1, c2 ..., in code and in data alike."""

from __future__ import annotations

import random

NAMES = 60
TRICKS = (
    "'{}'", '"{}"', "\\{}", "a#{}", "# {}\n", "$'\\'{}'", '"`#"{}', "'\"'{}'\"'", "${{x:-{}}}", "${{x#'{}'}}", "\"${{x%'}}\"{}", "$(({}+1))", "{{{},b}}", "[{}]", "*{}",
    "~{}", "x={}", '"\\"{}"', "'\\'{}", '$"{}"', "\\\n{}", "a\\\n{}", "-{}", "--x={}", "@{}", "%{}", "${{x/{}/b}}", '"${{x:-"{}"}}"', "a{}'b c'", "!{}", "^{}",
)  # fmt: skip
FORMS = (
    "{c}", "{c} {a}", "{c} {a} {a}", "{c} && {c}", "{c} || {c}", "{c}; {c}", "{c}\n{c}", "{c} | {c}", "{c} |& {c}", "{c} & {c}", "! {c}", "time {c}", "( {s} )", "{{ {s}; }}",
    "if {c}; then {s}; fi", "if {c}; then {s}; else {s}; fi", "for i in {a} {a}; do {s}; done", "for ((i=0;i<1;i++)); do {s}; done", "while {c}; do {s}; break; done",
    "until {c}; do {s}; break; done", "case {a} in {p}) {s};; *) {s};; esac", "case x in (a|x) {s} ;& y) {c};; esac", "f() {{ {s}; }}; f", "function g {{ {s}; }}; g {a}",
    "[[ {a} == {a} ]] && {c}", "[ -n {a} ] && {c}", "[[ a =~ ^(a|{p})$ ]] && {c}", "((1)) && {c}", "((0)) || {c}", "A={a} {c}", "A={a}; {c}", "A=({a} {a}); {c}",
    "echo $( {s} )", 'echo "$( {s} )"', "echo `{c}`", 'echo "`{c} {p}`"', "echo $(( $( {c} ) + 1 ))", "echo ${{y:-$( {c} )}}", "cat <<E\n{p} $( {c} )\nE", "cat <<'E'\n$( {c} ) {p}\nE",
    "cat <<-E\n\t$( {c} )\n\tE", "cat <<E; {c}\n{p} '{p}\nE", "cat <<\\E | {c}\n`{c}`\nE", "cat <<E <<F\n{p}\nE\n`{c}`\nF", "cat <<< {a}; {c}", "{c} > out{p}", "{c} 2>&1 >/dev/null",
    "{c} &> out", "{{ {c}; }} >| out", "{c} # {p}\n{c}", "{c} {a} # '\n{c}", '# "\n{c}', "bash -c '{s}'", 'bash -c "{c} {p}"', "sh -c '{c} $0' {p}", "eval '{s}'", "eval {c} {p}",
    "env {c} {a}", "env -i A=1 {c}", "env -S '{c} {p}'", "timeout 5 {c} {a}", "nice -n 1 {c}", "nohup {c}", "stdbuf -o0 {c}", "setsid {c}", "xargs {c} < /dev/null", "echo {p} | xargs {c}",
    "xargs -I% {c} % < /dev/null", "find . -maxdepth 0 -exec {c} {{}} \\;", "trap '{c}' EXIT", "command {c}", "exec {c}", "builtin eval '{c}'", "echo '{c}' | bash", "printf '{c}\\n' | sh",
    "bash <<< '{c} {p}'", "bash <<'E'\n{s}\nE", "coproc {c}", "x={p}; $x", "x='{p} a'; $x", "{{{c},a}}", "alias k={p}; {c}", "let 'z=1'; {c}", "declare q={a}; {c}", "export q={a} && {c}",
    "while read l; do {c} $l; done <<< {a}", "{c} {a} \\\n  {a}", "{c}\t{a}", "[[ -n {a} || -n {a} ]] || {c}", "echo {a} > >(cat); {c}", "select z in a; do {c}; break; done < /dev/null",
    'echo "${{x:-"$( {c} )"}}"', "echo ${{x:-`{c}`}}", "B[$( {c} )]=1; {c}", "echo $[ 1 + $( {c} ) ]", 'test -n "$( {c} )" && {c}', "f() ( {s} ); f | {c}", "{c} <(:)", "echo $'\\''; {c} #'",
    "echo ${{#x}}; {c}", "echo $#; {c}", "echo ${{x#a}} # {p}\n{c}", "echo a;#{p}\n{c}", "if true; then :; elif {c}; then {c}; fi", "case a in a) ;; esac; {c}", "{{ :; }} && {c}", "(:) ; {c}",
)  # fmt: skip
NOISE = (
    "'",
    '"',
    "`",
    "\\",
    "#",
    "$",
    "(",
    ")",
    "{",
    "}",
    ";",
    "&",
    "|",
    "\n",
    "<",
    ">",
    " ",
    "=",
    "[",
    "]",
    "!",
    "$(",
    "${",
    "<<",
    "\\\n",
    "&&",
    "in",
    "esac",
    "do",
)


class Generator:
    """One text. `mutations`: that many characters are put in or taken out at random."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._used = 0

    def text(self) -> str:
        """The text."""
        made = self._script(2)
        for _ in range(self._chance.choice((0, 0, 0, 1, 1, 2))):
            at = self._chance.randint(0, len(made))
            made = made[:at] + self._chance.choice(NOISE) + made[at:] if self._chance.random() < 0.7 else made[:at] + made[at + 1 :]
        return made

    def _script(self, depth: int) -> str:
        return self._chance.choice(("; ", "\n", " && ")).join(self._form(depth) for _ in range(self._chance.randint(1, 2)))

    def _form(self, depth: int) -> str:
        form = self._chance.choice(FORMS if depth else FORMS[:12])
        out, position = "", 0
        while position < len(form):
            piece = form[position : position + 3]
            if piece in ("{c}", "{p}"):
                out += self._name()
            elif piece == "{a}":
                out += self._chance.choice(TRICKS).format(self._name())
            elif piece == "{s}":
                out += self._script(depth - 1) if depth else self._name()
            elif form[position : position + 2] in ("{{", "}}"):
                out += form[position]
                position += 2
                continue
            else:
                out += form[position]
                position += 1
                continue
            position += 3
        return out

    def _name(self) -> str:
        self._used = self._used % NAMES + 1
        return f"c{self._used}"
