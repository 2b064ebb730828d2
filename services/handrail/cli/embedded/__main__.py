"""The supervisor in the background: `python -m handrail.cli.embedded <JSON of the start>`; started by `handrail start -b`."""

from __future__ import annotations

import os
import sys

from handrail.cli import say
from handrail.cli.errors import CliError
from handrail.cli.options import undump
from handrail.cli.starting import foreground
from handrail.contract.errors import HandrailError


def main() -> int:
    """The exit code of `handrail start`."""
    given, options = undump(sys.argv[1])
    os.environ["HANDRAIL_LANG"] = options.lang
    try:
        return foreground(given, options, terminal=False)
    except HandrailError as exc:
        say.failure(exc, as_json=False)
        return exc.exit_code if isinstance(exc, CliError) else 1


if __name__ == "__main__":
    sys.exit(main())
