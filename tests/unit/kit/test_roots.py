from __future__ import annotations

import os
from pathlib import Path

import pytest

from handrail.api.system import workdir
from handrail.api.system.errors import ForbiddenDirectory
from handrail.kit import openat2
from handrail.kit.errors import RootChanged
from handrail.kit.roots import Root


@pytest.mark.req("RT-1")
def test_the_identity_is_device_inode_and_mount(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "r").mkdir()
    root = Root(str(tmp_path / "r"))
    info = (tmp_path / "r").stat()
    shown = openat2.identity(os.fsencode(tmp_path / "r"))
    assert (shown.dev, shown.ino) == (info.st_dev, info.st_ino)
    fdinfo = Path(f"/proc/self/fdinfo/{root.fd}").read_text()
    assert f"mnt_id:\t{shown.mount}\n" in fdinfo
    assert root.state() == "active"
    # the same directory by way of another mount
    monkeypatch.setattr(openat2, "identity", lambda _path: shown._replace(mount=shown.mount + 1))
    assert root.state() == "changed"
    with pytest.raises(RootChanged):
        root.check()


@pytest.mark.req("RT-1")
def test_a_root_that_is_gone_is_missing_and_one_made_anew_is_another(tmp_path: Path) -> None:
    path = tmp_path / "r"
    path.mkdir()
    root = Root(str(path))
    path.rmdir()
    assert root.state() == "missing"
    path.mkdir()
    assert root.state() == "changed"


@pytest.mark.req("RT-3")
def test_no_persons_home_becomes_a_root_but_what_is_below_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workdir, "homes", lambda: ("/home/ann", "/srv/people/bob"))
    for path in ("/home/ann", "/srv/people", "/srv/people/bob"):
        with pytest.raises(ForbiddenDirectory):
            workdir.check_allowed(path, home="/data", data_dir="/data")
    workdir.check_allowed("/home/ann/project", home="/data", data_dir="/data")
