"""News about accounts between all api processes: what was revoked or changed, by Redis pub/sub.

A publisher waits (at most a second) until every subscriber has said that it acted, so that a revocation holds at the next
request on every replica. A subscriber that loses the channel says so at once: its cache keeps nothing until it is back.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, cast

import orjson
import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError

from handrail.kit.canonical import StrictJsonError, loads
from handrail.kit.clock import SYSTEM

log = structlog.get_logger("handrail.accounts")
CHANNEL = "handrail:accounts"
ACK = "handrail:accounts:ack:"
ACK_WAIT_S = 1.0
POLL_S = 1.0
PING_S = 2.0
DEAD_S = 5.0  # without a pong for this long the channel is down
RETRY_S = 0.5

Kind = Literal["device", "user", "workspace", "member"]


@dataclass(frozen=True, slots=True)
class News:
    """What changed. `ids` are the user, workspace or device ids that it is about."""

    kind: Kind
    ids: tuple[str, ...]
    ended: bool = True  # False: changed, so look it up again, but nothing was taken away


class Channel:
    """Publishes and receives. `on_news` and `on_state` are called in the event loop and must not block."""

    def __init__(self, redis: Redis, *, on_news: Callable[[News], None], on_state: Callable[[bool], None]) -> None:
        self._redis = cast("Any", redis)  # redis-py types its commands in part only
        self._on_news = on_news
        self._on_state = on_state
        self._me = secrets.token_hex(6)
        self._task: asyncio.Task[None] | None = None
        self._up = asyncio.Event()

    async def start(self, *, wait_s: float = 2.0) -> None:
        """Subscribe; returns when the channel is up or after `wait_s` (it goes on trying)."""
        self._task = asyncio.create_task(self._run(), name="accounts-news")
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(wait_s):
                await self._up.wait()

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def publish(self, news: News) -> bool:
        """Act on the news here, tell the others and wait until they have acted. False when that could not be confirmed."""
        self._on_news(news)
        ack = ACK + secrets.token_hex(8)
        message = orjson.dumps({"kind": news.kind, "ids": news.ids, "ended": news.ended, "ack": ack, "from": self._me})
        try:
            expected = int(await self._redis.publish(CHANNEL, message))
            return await self._confirmed(ack, expected)
        except (RedisError, OSError) as exc:
            # the channel is down for the others too, so that they cache nothing
            log.warning("account news could not be published", error=str(exc)[:200])
            return False

    async def _confirmed(self, ack: str, expected: int) -> bool:
        deadline = SYSTEM.monotonic() + ACK_WAIT_S
        for _ in range(expected):
            left = deadline - SYSTEM.monotonic()
            if left <= 0 or await self._redis.blpop([ack], timeout=max(0.05, left)) is None:
                log.warning("a process did not confirm account news in time", expected=expected)
                return False
        return True

    async def _run(self) -> None:
        while True:
            try:
                await self._listen()
            except (RedisError, OSError, TimeoutError) as exc:
                log.warning("the channel for account news is down: nothing is cached", error=str(exc)[:200])
            finally:
                self._up.clear()
                self._on_state(False)
            await asyncio.sleep(RETRY_S)

    async def _listen(self) -> None:
        pubsub = self._redis.pubsub()
        async with pubsub:
            await pubsub.subscribe(CHANNEL)
            heard = pinged = SYSTEM.monotonic()
            while True:
                message = cast("dict[str, Any] | None", await pubsub.get_message(timeout=POLL_S))
                now = SYSTEM.monotonic()
                if message is not None:
                    heard = now
                    await self._take(message)
                if now - heard > DEAD_S:
                    raise TimeoutError("no answer")
                if now - pinged > PING_S:
                    pinged = now
                    await pubsub.ping()

    async def _take(self, message: dict[str, Any]) -> None:
        if message["type"] == "subscribe":
            self._on_state(True)
            self._up.set()
            return
        if message["type"] != "message":
            return
        try:
            value = loads(cast("bytes", message["data"]))
            if value["from"] != self._me:
                self._on_news(News(value["kind"], tuple(value["ids"]), bool(value["ended"])))
            ack = str(value["ack"])
        except (StrictJsonError, KeyError, TypeError):
            log.warning("unreadable account news")
            return
        async with self._redis.pipeline(transaction=False) as pipe:
            pipe.rpush(ack, self._me)
            pipe.expire(ack, 10)
            await pipe.execute()
