"""Counting wrong pairing tries in Redis, so that all replicas share the count. What cannot be counted is refused."""

from __future__ import annotations

import hashlib
import ipaddress
from dataclasses import dataclass
from typing import cast

from redis.asyncio import Redis
from redis.exceptions import RedisError

from handrail.api.accounts import budget
from handrail.api.accounts.codes import SPACE
from handrail.api.accounts.errors import PairingUnavailable, TooManyTries
from handrail.api.accounts.pacing_script import SCRIPT
from handrail.kit.clock import Clock

PREFIX = "handrail:pair:"
HOUR_S = 3600
IPV6_SUBSCRIBER = 64  # bits: one subscriber has that many addresses to guess from


@dataclass(frozen=True, slots=True)
class Try:
    """A try that was let through and already counted as wrong; `refund` takes that back."""

    peer: str
    digits: bool  # whether codes of digits are accepted
    hardened: bool
    digit_cost: int
    hardened_cost: int
    hour: int


def peer_key(origin: str, address: str) -> str:
    """Who tries: the Origin with the peer's address, IPv6 by its /64. A hash, so that no address is kept in clear."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        shown = address
    else:
        shown = str(ipaddress.ip_network((ip, IPV6_SUBSCRIBER), strict=False)) if ip.version == IPV6 else str(ip)
    return hashlib.sha256(f"{origin}\0{shown}".encode()).hexdigest()[:32]


IPV6 = 6


class Pacing:
    """The counters. Every method raises PairingUnavailable when Redis cannot be asked."""

    def __init__(self, redis: Redis, clock: Clock) -> None:
        self._redis = redis
        self._clock = clock
        self._begin = redis.register_script(SCRIPT)

    async def begin(self, peer: str) -> Try:
        """Count one try of `peer` as wrong. Raises TooManyTries while the peer has to wait."""
        now = self._clock.now()
        hour = int(now // HOUR_S)
        keys = [PREFIX + "peer:" + peer, *(PREFIX + name for name in ("live:digits", "live:hardened", "spent:digits", "spent:hardened"))]
        limits = (budget.FREE_TRIES, budget.FIRST_DELAY_S * 1000, budget.MAX_DELAY_S * 1000, budget.FORGET_S * 1000)
        budgets = (budget.DIGIT_BUDGET, budget.HARDENED_BUDGET, SPACE[False], SPACE[True], budget.HOURS, budget.TRIES_PER_CODE)
        try:
            answer = cast("list[int]", await self._begin(keys=keys, args=[int(now * 1000), hour, *limits, *budgets]))
        except (RedisError, OSError) as exc:
            raise PairingUnavailable from exc
        wait_ms, digits, hardened, digit_cost, hardened_cost = (int(value) for value in answer)
        if wait_ms > 0:
            seconds = -(-wait_ms // 1000)
            raise TooManyTries(seconds=seconds, headers={"Retry-After": str(seconds)})
        return Try(peer, bool(digits), bool(hardened), digit_cost, hardened_cost, hour)

    async def refund(self, attempt: Try) -> None:
        """The code was right: nothing was guessed, and the peer starts afresh."""
        try:
            async with self._redis.pipeline(transaction=True) as pipe:
                pipe.delete(PREFIX + "peer:" + attempt.peer)
                pipe.hincrby(PREFIX + "spent:digits", str(attempt.hour), -attempt.digit_cost)
                pipe.hincrby(PREFIX + "spent:hardened", str(attempt.hour), -attempt.hardened_cost)
                await pipe.execute()
        except (RedisError, OSError) as exc:
            raise PairingUnavailable from exc

    async def register(self, code_id: str, *, hardened: bool, expires_at: float) -> None:
        """Remember that a code is live: each try is charged for every code that it could hit."""
        key = PREFIX + ("live:hardened" if hardened else "live:digits")
        try:
            await self._redis.zadd(key, {code_id: int(expires_at * 1000)})
        except (RedisError, OSError) as exc:
            raise PairingUnavailable from exc

    async def used(self, code_id: str) -> None:
        """The code is no longer live."""
        try:
            await self._redis.zrem(PREFIX + "live:digits", code_id)
            await self._redis.zrem(PREFIX + "live:hardened", code_id)
        except (RedisError, OSError) as exc:
            raise PairingUnavailable from exc

    async def digits_spent(self) -> bool:
        """Whether the budget has no room for a try against one more digit code than are live now."""
        now = self._clock.now()
        hour = int(now // HOUR_S)
        try:
            fields = cast("dict[bytes, bytes]", await self._redis.hgetall(PREFIX + "spent:digits"))
            live = int(await self._redis.zcount(PREFIX + "live:digits", int(now * 1000), "+inf"))
        except (RedisError, OSError) as exc:
            raise PairingUnavailable from exc
        total = sum(int(value) for field, value in fields.items() if int(field) > hour - budget.HOURS)
        cost, _ = budget.charge(digit_codes=live + 1, hardened_codes=0)
        return total + cost > budget.DIGIT_BUDGET
