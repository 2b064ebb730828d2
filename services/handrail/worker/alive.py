"""Signs of life: a key in the broker for worker and beat, with an expiry. `handrail status` and healthchecks read it.

python -m handrail.worker.alive worker|beat     exit code 0 when it gave a sign lately, else 1
"""

from __future__ import annotations

import sys
import threading
from typing import Any, cast

import structlog
from redis import Redis
from redis.exceptions import RedisError

from handrail.contract.alive import EXPIRY_S, PARTS, key
from handrail.kit.clock import SYSTEM
from handrail.worker.settings import WorkerSettings

log = structlog.get_logger("handrail.worker")
EVERY_S = 5.0


class Alive:
    """Gives the sign each EVERY_S from a thread of its own."""

    def __init__(self, broker_url: str, part: str) -> None:
        self._client = _connect(broker_url)
        self._part = part
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="alive", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End, and say at once that this part has gone."""
        self._over.set()
        self._thread.join(EVERY_S)
        try:
            self._client.delete(key(self._part))
        except (RedisError, OSError):
            log.info("sign of life not withdrawn", part=self._part)
        self._client.close()

    def _run(self) -> None:
        while True:
            try:
                self._client.set(key(self._part), f"{SYSTEM.now():.0f}", ex=EXPIRY_S)
            except (RedisError, OSError) as exc:
                log.warning("no sign of life", part=self._part, error=str(exc)[:200])
            if self._over.wait(EVERY_S):
                return


def is_alive(broker_url: str, part: str) -> bool:
    """Whether the part gave a sign within EXPIRY_S."""
    client = _connect(broker_url)
    try:
        return client.get(key(part)) is not None
    except (RedisError, OSError):
        return False
    finally:
        client.close()


def _connect(broker_url: str) -> Redis:
    redis = cast("Any", Redis)  # from_url is typed with unknown keywords
    return redis.from_url(broker_url, socket_timeout=3, socket_connect_timeout=3)


if __name__ == "__main__":
    sys.exit(0 if sys.argv[1:] and sys.argv[1] in PARTS and is_alive(WorkerSettings.load().secret("broker_url"), sys.argv[1]) else 1)
