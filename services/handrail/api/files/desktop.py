"""`browser/open`: a file on the desktop of the person at whose machine Handrail runs. Only what a desktop shows and never runs."""

from __future__ import annotations

import mimetypes
import os
import shutil
import sys
from typing import cast

from handrail.api.files.arguments import PathArgs
from handrail.api.files.service import FileService
from handrail.api.files.transfer_errors import NoDesktop, NotForBrowser
from handrail.api.tools.registry import Invocation, Result
from handrail.jail import spawn

SHOWN = frozenset({"text/html", "text/plain", "text/markdown", "text/csv", "application/pdf", "application/json"})
IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp", "image/avif"})
PASSED = ("DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "HOME", "PATH", "LANG")
SECONDS = 15.0


async def open_file(files: FileService, call: Invocation) -> Result:
    """Hand the file to the desktop's own opener. Raises NotForBrowser (415), NoDesktop (409), FileMissing, NotAFile, ..."""
    scope = files.scope(call.actor)
    location = scope.locate(cast("PathArgs", call.args).path)

    def look() -> bool:
        fd, info = scope.open_file(location)
        os.close(fd)
        return bool(info.st_mode & 0o111)

    runs = await files.run(look)
    kind = mimetypes.guess_type(location.name)[0]
    if runs or kind not in SHOWN | IMAGES:
        raise NotForBrowser(path=location.path)
    opener = shutil.which("xdg-open")
    if opener is None or not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        raise NoDesktop
    env = {name: os.environ[name] for name in PASSED if name in os.environ}
    done = await spawn.run_async([opener, location.path], env=env, timeout_s=SECONDS)
    if done.code != 0:
        raise NoDesktop
    return {"success": True, "path": location.path, "platform": sys.platform}
