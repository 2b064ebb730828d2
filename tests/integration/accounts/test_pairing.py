from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncGenerator
from dataclasses import dataclass

import pytest

from handrail.api.accounts import budget
from handrail.api.accounts.errors import DisplayPaused, MissingCode, NoWorkspace, PairingUnavailable, TooManyTries, UnknownUser, WrongCode
from handrail.api.accounts.pairing import Paired, PairRequest
from handrail.api.accounts.service import Accounts
from handrail.contract.errors import AuditUnavailable
from handrail.kit.clock import FakeClock
from handrail.store.pool import Pool
from tests.support.database import Prepared
from tests.support.parts import ListedAudit, accounts_of, pool_of
from tests.support.servers import Valkey

TTL = 30
HOUR = 3600


@dataclass
class Bench:
    accounts: Accounts
    audit: ListedAudit
    clock: FakeClock
    pool: Pool

    async def pair(self, code: str, *, peer: str = "192.0.2.1", origin: str = "", extension: str = "x") -> Paired:
        return await self.accounts.pair(PairRequest(code, extension, origin, "test/1", peer, "r"))

    async def wrong(self, times: int, *, spread: bool = True) -> None:
        """So many wrong tries, each from another peer unless not `spread`."""
        for number in range(times):
            with pytest.raises(WrongCode):
                await self.pair("WRONGX", peer=f"198.51.{number // 250}.{number % 250}" if spread else "192.0.2.1")

    async def code(self, *, display: bool = False) -> str:
        return (await self.accounts.pairing.issue(display=display)).text


@pytest.fixture
async def bench(prepared: Prepared, valkey: Valkey) -> AsyncGenerator[Bench]:
    valkey.flush()
    prepared.query(b"delete from pairings")
    clock, audit = FakeClock(), ListedAudit()
    async with accounts_of(prepared, audit=audit, clock=clock, ttl_s=TTL) as accounts, pool_of(prepared) as pool:
        yield Bench(accounts, audit, clock, pool)


@pytest.mark.req("B1", "B3")
async def test_a_code_becomes_a_token_that_is_kept_only_as_a_hash(bench: Bench, prepared: Prepared) -> None:
    paired = await bench.pair(await bench.code())
    assert len(paired.token) == 64
    identity = await bench.accounts.authenticate(paired.token)
    assert identity is not None
    assert (identity.user_name, identity.device_id, identity.role) == ("owner", paired.device_id, "owner")
    everything = str(prepared.query(b"select * from devices")) + str(prepared.query(b"select * from pairings"))
    assert paired.token not in everything
    assert bench.audit.actions() == ["pair"]


@pytest.mark.req("B1", "ATK-49")
async def test_a_code_works_once_even_when_used_ten_times_at_once(bench: Bench) -> None:
    code = await bench.code()
    tries = await asyncio.gather(*(bench.pair(code, peer=f"192.0.2.{n}") for n in range(10)), return_exceptions=True)
    assert sum(isinstance(one, Paired) for one in tries) == 1
    assert sum(isinstance(one, WrongCode) for one in tries) == 9


@pytest.mark.req("B2")
async def test_a_code_lives_for_its_time_and_one_step_of_grace(bench: Bench) -> None:
    first, second = await bench.code(), await bench.code()
    bench.clock.advance(2 * TTL - 0.1)
    await bench.pair(first)
    bench.clock.advance(0.2)
    with pytest.raises(WrongCode):
        await bench.pair(second)


@pytest.mark.req("PF-B18")
async def test_a_second_browser_pairs_while_the_first_is_active_and_both_have_tokens_of_their_own(bench: Bench) -> None:
    first = await bench.pair(await bench.code(), extension="same-in-every-browser")
    assert await bench.accounts.authenticate(first.token)
    second = await bench.pair(await bench.code(), extension="same-in-every-browser")
    assert first.token != second.token
    assert await bench.accounts.authenticate(first.token)
    assert await bench.accounts.authenticate(second.token)


@pytest.mark.parametrize("code", ["", "   "])
async def test_a_missing_code_is_said_and_costs_no_try(bench: Bench, code: str) -> None:
    for _ in range(10):
        with pytest.raises(MissingCode):
            await bench.pair(code)
    await bench.pair(await bench.code())


@pytest.mark.req("B1", "PF-A2")
async def test_five_wrong_tries_slow_that_peer_down_and_nobody_else(bench: Bench) -> None:
    await bench.wrong(5, spread=False)
    code = await bench.code()
    with pytest.raises(TooManyTries) as caught:
        await bench.pair(code)
    assert caught.value.headers == {"Retry-After": "2"}
    # another address and another Origin at the same address are not slowed down
    await bench.pair(code, peer="192.0.2.2")
    await bench.pair(await bench.code(), origin="chrome-extension://" + "a" * 32)
    bench.clock.advance(2.1)
    await bench.pair(await bench.code())


@pytest.mark.req("B1")
async def test_the_wait_doubles_and_a_right_code_ends_it(bench: Bench) -> None:
    await bench.wrong(5, spread=False)
    for expected in (2, 4, 8, 16):
        with pytest.raises(TooManyTries) as caught:
            await bench.pair("000000")
        assert caught.value.headers["Retry-After"] == str(expected)
        bench.clock.advance(expected + 0.01)
        await bench.wrong(1, spread=False)
    bench.clock.advance(33)
    await bench.pair(await bench.code())
    await bench.wrong(4, spread=False)
    await bench.pair(await bench.code())


@pytest.mark.req("B1")
async def test_parallel_tries_of_one_peer_are_counted_before_they_are_looked_up(bench: Bench) -> None:
    await bench.code()
    tries = await asyncio.gather(*(bench.pair(f"{n:06d}"[::-1]) for n in range(50)), return_exceptions=True)
    assert sum(isinstance(one, WrongCode) for one in tries) == budget.FREE_TRIES
    assert sum(isinstance(one, TooManyTries) for one in tries) == 50 - budget.FREE_TRIES


@pytest.mark.req("B1", "ATK-49", "PF-A2")
async def test_blind_guessing_stops_the_display_and_not_the_explicit_code(bench: Bench) -> None:
    shown = await bench.code(display=True)
    allowed = budget.DIGIT_BUDGET // 1000
    await bench.wrong(allowed)
    with pytest.raises(WrongCode):
        await bench.pair(shown, peer="203.0.113.9")
    with pytest.raises(DisplayPaused):
        await bench.code(display=True)
    issued = await bench.accounts.pairing.issue()
    assert issued.hardened
    await bench.pair(issued.text.lower(), peer="203.0.113.9")


@pytest.mark.req("B1")
async def test_a_slowed_down_peer_can_use_the_hardened_code_that_its_user_asked_for(bench: Bench) -> None:
    await bench.code(display=True)
    await bench.wrong(budget.DIGIT_BUDGET // 1000)
    await bench.wrong(5, spread=False)
    issued = await bench.accounts.pairing.issue()
    for _ in range(budget.TRIES_PER_CODE - 1):
        with pytest.raises(WrongCode):
            await bench.pair("WRONGX")
    await bench.pair(issued.text)


@pytest.mark.req("B1")
async def test_a_hardened_code_gives_a_slowed_down_peer_three_tries_and_no_more(bench: Bench) -> None:
    await bench.code(display=True)
    await bench.wrong(budget.DIGIT_BUDGET // 1000)
    await bench.wrong(5, spread=False)
    issued = await bench.accounts.pairing.issue()
    for _ in range(budget.TRIES_PER_CODE):
        with pytest.raises(WrongCode):
            await bench.pair("WRONGX")
    with pytest.raises(TooManyTries):
        await bench.pair(issued.text)
    await bench.pair(issued.text, peer="192.0.2.77")


@pytest.mark.req("B1")
async def test_the_budget_comes_back_after_a_day_and_not_before(bench: Bench) -> None:
    await bench.code(display=True)
    await bench.wrong(budget.DIGIT_BUDGET // 1000)
    bench.clock.advance(23.9 * HOUR)
    with pytest.raises(DisplayPaused):
        await bench.code(display=True)
    bench.clock.advance(1.2 * HOUR)
    await bench.pair(await bench.code(display=True), peer="203.0.113.9")


@pytest.mark.req("B1")
async def test_a_try_is_charged_for_every_live_code(bench: Bench) -> None:
    for _ in range(4):
        await bench.code()
    await bench.wrong(budget.DIGIT_BUDGET // 4000)
    with pytest.raises(DisplayPaused):
        await bench.code(display=True)


async def test_wrong_tries_while_no_code_is_live_cost_nothing_of_the_budget(bench: Bench) -> None:
    await bench.wrong(100)
    for _ in itertools.repeat(None, 3):
        await bench.pair(await bench.code(display=True), peer="203.0.113.9")


@pytest.mark.req("B1")
async def test_without_the_counters_nobody_pairs(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    code = await bench.code()

    async def down(*_: object, **__: object) -> None:
        raise ConnectionError("gone")

    monkeypatch.setattr(bench.accounts.pairing._pacing, "_begin", down)
    with pytest.raises(PairingUnavailable) as caught:
        await bench.pair(code)
    assert caught.value.status == 503


@pytest.mark.req("B10")
async def test_without_the_audit_row_nobody_pairs_and_the_code_stays_good(bench: Bench, prepared: Prepared) -> None:
    code = await bench.code()
    before = len(prepared.query(b"select 1 from devices"))
    bench.audit.broken = AuditUnavailable()
    with pytest.raises(AuditUnavailable):
        await bench.pair(code)
    assert len(prepared.query(b"select 1 from devices")) == before
    bench.audit.broken = None
    await bench.pair(code)


@pytest.mark.req("B10")
async def test_wrong_and_right_tries_are_records_without_the_code(bench: Bench) -> None:
    code = await bench.code()
    await bench.wrong(1, spread=False)
    paired = await bench.pair(code)
    failed, done = bench.audit.events
    assert (failed.category, failed.action, failed.level, failed.peer) == ("auth", "pair_failed", "warn", "192.0.2.1")
    assert (done.action, done.device_id) == ("pair", paired.device_id)
    assert done.user_id
    assert code not in str(failed) + str(done)
    assert paired.token not in str(done)


async def test_a_code_is_for_a_user_with_a_workspace(bench: Bench) -> None:
    with pytest.raises(UnknownUser):
        await bench.accounts.pairing.issue("nobody")
    await bench.accounts.manage.add_user("homeless")
    with pytest.raises(NoWorkspace):
        await bench.accounts.pairing.issue("homeless")
