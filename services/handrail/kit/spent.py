"""Single use: the executor's own store of consumed token ids (`jti`). SQLite, so that it survives a restart.

A token is consumed *before* its effect. A crash in between loses the effect, never doubles it.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

MARGIN_S = 60  # kept this long after expiry: covers clock skew between services
PURGE_EVERY = 512  # consumed tokens between two purges

SCHEMA = """
create table if not exists spent (jti text primary key, exp integer not null) without rowid;
create index if not exists spent_exp on spent (exp);
create table if not exists epoch (id integer primary key check (id = 1), started integer not null);
"""


class SpentTokens:
    """Consumed token ids. One instance a process; `consume` is atomic across processes too."""

    def __init__(self, path: Path, *, now: float) -> None:
        """Open or create the database at `path`, in a directory of our own. Raises sqlite3.Error or OSError when it cannot be written."""
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._db = sqlite3.connect(path, isolation_level=None, timeout=5.0, check_same_thread=False)
        # WAL without fsync per commit: the write(2) survives SIGKILL of this process. A power cut may lose the tail,
        # which is why tokens issued before the store's epoch are refused: the epoch moves when the file is new.
        self._db.execute("pragma journal_mode = wal")
        self._db.execute("pragma synchronous = normal")
        self._db.executescript(SCHEMA)
        self._db.execute("insert or ignore into epoch (id, started) values (1, ?)", (int(now),))
        row = self._db.execute("select started from epoch").fetchone()
        self._epoch = int(row[0])
        self._since_purge = 0

    @property
    def epoch(self) -> int:
        """Seconds since the epoch at which this store began. A token with an earlier `iat` is refused."""
        return self._epoch

    def consume(self, jti: str, exp: int, *, iat: int, now: float) -> bool:
        """True exactly once for each `jti`; False when it was used before or is older than the store."""
        if iat < self._epoch:
            return False
        cursor = self._db.execute("insert or ignore into spent (jti, exp) values (?, ?)", (jti, exp))
        if cursor.rowcount != 1:
            return False
        self._since_purge += 1
        if self._since_purge >= PURGE_EVERY:
            self._since_purge = 0
            self.purge(now=now)
        return True

    def purge(self, *, now: float) -> int:
        """Forget tokens that have been expired for MARGIN_S; returns how many."""
        return self._db.execute("delete from spent where exp < ?", (int(now) - MARGIN_S,)).rowcount

    def close(self) -> None:
        self._db.close()
