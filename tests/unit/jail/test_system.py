from __future__ import annotations

from pathlib import Path

import pytest

from handrail.jail import system


def make(path: Path) -> Path:
    path.mkdir(parents=True)
    return path


@pytest.mark.req("SBX-19", "SBX-11")
def test_tools_of_the_start_up_path_are_granted_and_what_lies_beside_them_is_not(tmp_path: Path) -> None:
    home = make(tmp_path / "home")
    for name in (".cargo/bin", ".rustup", ".cargo/registry", ".pyenv/shims", ".local/bin", ".local/share/keyrings", "bin", ".ssh"):
        make(home / name)
    venv = make(tmp_path / "venv" / "bin").parent
    (venv / "pyvenv.cfg").write_text(f"home = {make(tmp_path / 'base' / 'bin')}\n")
    data = make(home / ".handrail" / "bin")
    path = ":".join(
        [
            *(str(home / name) for name in (".cargo/bin", ".pyenv/shims", ".local/bin", "bin")),
            str(venv / "bin"),
            str(data),
            "/usr/bin",
            "relative",
            "",
            str(tmp_path / "missing"),
        ]
    )
    found = system.find_toolchains(path, str(home), [str(home / ".handrail"), str(home / ".ssh")])
    assert found.path == tuple(
        str(entry) for entry in (home / ".cargo/bin", home / ".pyenv/shims", home / ".local/bin", home / "bin", venv / "bin")
    )
    assert set(found.read_only) == {
        str(entry)
        for entry in (
            home / ".cargo/bin",
            home / ".rustup",
            home / ".pyenv",
            home / ".local/bin",
            home / "bin",
            venv,
            tmp_path / "base",
        )
    }
    assert dict(found.variables) == {"PYENV_ROOT": str(home / ".pyenv"), "RUSTUP_HOME": str(home / ".rustup")}


@pytest.mark.req("SBX-11")
def test_no_secret_of_etc_is_among_what_every_command_reads() -> None:
    names = set(system.system_paths())
    assert (
        not {
            "/etc",
            "/etc/shadow",
            "/etc/gshadow",
            "/etc/sudoers",
            "/etc/ssh",
            "/etc/ssl/private",
            "/",
            "/home",
            "/root",
            "/var",
            "/run",
            "/tmp",
        }
        & names
    )
    assert "/usr" in names
