"""Programs with a subcommand that starts another program: poetry run, npm exec, bundle exec and their like. One readable table."""

from __future__ import annotations

from dataclasses import dataclass

from handrail.policy.call import Bench, Call, behind_options
from handrail.policy.words import Word


@dataclass(frozen=True, slots=True)
class Runner:
    """`subcommands`: behind which the program stands ("" = at once). `values`: options with a value. `skip`: operands before it.

    `shell`: options whose value is a shell text.
    """

    subcommands: frozenset[str]
    values: frozenset[str] = frozenset()
    skip: int = 0
    shell: frozenset[str] = frozenset()


def _r(subcommands: str, values: str = "", skip: int = 0, script: str = "") -> Runner:
    return Runner(frozenset(subcommands.split()), frozenset(values.split()), skip, frozenset(script.split()))


AT_ONCE = "."
RUNNERS: dict[str, Runner] = {
    "poetry": _r("run", "-C -P --directory --project"),
    "pipenv": _r("run"),
    "pdm": _r("run", "-p --project"),
    "hatch": _r("run", "-e --env"),
    "rye": _r("run"),
    "uv": _r("run", "-p --python --with --extra --group --project --directory --env-file --package --with-requirements --index"),
    "uvx": _r(AT_ONCE, "-p --python --with --from"),
    "npx": _r(AT_ONCE, "-p --package -w --workspace", script="-c --call"),
    "npm": _r("exec x", "-p --package -w --workspace", script="-c --call"),
    "pnpm": _r("exec dlx", "--filter -F -C --dir", script="-c"),
    "pnpx": _r(AT_ONCE),
    "yarn": _r("exec dlx", "-p --package"),
    "bunx": _r(AT_ONCE),
    "bundle": _r("exec"),
    "direnv": _r("exec", skip=1),
    "conda": _r("run", "-n --name -p --prefix --cwd"),
    "mamba": _r("run", "-n --name -p --prefix --cwd"),
    "micromamba": _r("run", "-n --name -p --prefix --cwd"),
    "dotenv": _r("run", "-f --file"),
    "foreman": _r("run", "-e --env"),
    "mise": _r("exec x", "-C --cd -j", script="-c --command"),
    "asdf": _r("exec"),
    "rbenv": _r("exec"),
    "pyenv": _r("exec"),
    "nodenv": _r("exec"),
    "rustup": _r("run", skip=1),
    "perf": _r("stat record trace", "-e -o -F -C -p -t -r --event --output"),
    "nix": _r("shell develop", script="-c --command"),
    "nix-shell": _r("", "-p -A -I", script="--run --command"),
    "docker": _r("exec", "-e -u -w --env --user --workdir --env-file", skip=1),
    "podman": _r("exec", "-e -u -w --env --user --workdir --env-file", skip=1),
    "kubectl": _r("exec", "-c -n --container --namespace --context", skip=1),
    "tmux": _r("", script=""),
    "nix-run": _r(AT_ONCE),
    "go": _r("", script="-exec -toolexec"),
    "cargo-watch": _r("", script="-s --shell"),
    "nodemon": _r("", script="--exec -x"),
    "gcc": _r("", script="-wrapper"),
    "cc": _r("", script="-wrapper"),
    "g++": _r("", script="-wrapper"),
    "clang": _r("", script="-wrapper"),
    "start-stop-daemon": _r("", script="--exec --startas -x -a"),
    "concurrently": _r("", script=""),
}
EVERY_OPERAND_IS_SHELL = frozenset({"concurrently", "tmux", "screen", "zellij", "sg"})


def runner(bench: Bench, made: Call) -> None:
    """What the subcommand or the option starts is judged."""
    table = RUNNERS[made.name]
    words = list(made.args)
    _shell_options(bench, made, table, words)
    if made.name in EVERY_OPERAND_IS_SHELL:
        operands_as_shell(bench, made)
        return
    index = 0
    if AT_ONCE not in table.subcommands:
        index = behind_options(words, table.values)
        if index >= len(words) or words[index].value not in table.subcommands:
            return
        index += 1
    index = behind_options(words, table.values, index)
    for _ in range(table.skip):
        index = behind_options(words, table.values, index + 1)
    found = made.inner(words[index:])
    if found is not None:
        bench.call(found)


def operands_as_shell(bench: Bench, made: Call) -> None:
    """Every operand is a line for a shell (tmux new-session 'make', concurrently 'npm start' 'npm test')."""
    words = list(made.args)
    for index, word in enumerate(words):
        for value in word.values:
            if " " in value:
                bench.shell(value, made.span)
        if index and not (word.value or "-").startswith("-"):
            found = made.inner(words[index:])
            if found is not None:
                bench.call(found)
                return


def _shell_options(bench: Bench, made: Call, table: Runner, words: list[Word]) -> None:
    for index, word in enumerate(words):
        name, equals, text = (word.value or "").partition("=")
        if name not in table.shell or not name:
            continue
        values = (text,) if equals else words[index + 1].values if index + 1 < len(words) else ()
        for value in values:
            bench.shell(value.replace(",", " ") if name == "-wrapper" else value, made.span)
        if name not in ("-c", "--call", "--run", "--command"):
            bench.say("launch.option", "confirm", made.span, f"{name} starts a program", f"{name} 会启动程序")
