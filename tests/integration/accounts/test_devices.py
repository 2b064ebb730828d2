from __future__ import annotations

import time

import pytest

from handrail.api.accounts.errors import BadName, NotAMember, UnknownDevice, UnknownUser, UnknownWorkspace, UserExists, UserStays
from handrail.api.accounts.pairing import Paired, PairRequest
from handrail.api.accounts.service import TOUCH_S, Accounts
from handrail.contract.errors import AuditUnavailable
from handrail.kit.clock import FakeClock
from tests.support.database import Prepared
from tests.support.parts import ListedAudit, accounts_of, eventually


@pytest.fixture(autouse=True)
def _clean(prepared: Prepared) -> None:
    prepared.query(b"delete from devices")
    prepared.query(b"delete from workspaces where name <> 'main'")
    prepared.query(b"delete from users where name <> 'owner'")


async def paired(accounts: Accounts, user: str | None = None, *, origin: str = "") -> Paired:
    code = await accounts.pairing.issue(user)
    return await accounts.pair(PairRequest(code.text, "ext", origin, "test/1", "192.0.2.1", "r"))


@pytest.mark.req("B3", "PF-A7")
async def test_a_revoked_token_fails_at_the_next_request_on_every_replica(prepared: Prepared) -> None:
    async with accounts_of(prepared) as first, accounts_of(prepared) as second, accounts_of(prepared) as third:
        closed: list[str] = []
        second.on_revoked(closed.append)
        device = await paired(first)
        for replica in (first, second, third):
            assert await replica.authenticate(device.token)
            assert len(replica._cache) == 1
        await first.manage.revoke_any(device.device_id)
        for replica in (second, third, first):
            assert await replica.authenticate(device.token) is None
        assert closed == [device.device_id]


@pytest.mark.req("B3")
async def test_while_the_channel_is_down_a_revocation_still_holds_at_once(prepared: Prepared) -> None:
    async with accounts_of(prepared) as first, accounts_of(prepared) as second:
        device = await paired(first)
        assert await second.authenticate(device.token)
        await second._channel.stop()
        assert len(second._cache) == 0
        assert await second.authenticate(device.token)
        assert len(second._cache) == 0
        await first.manage.revoke_any(device.device_id)
        assert await second.authenticate(device.token) is None


async def test_a_lost_channel_comes_back_and_caching_with_it(prepared: Prepared) -> None:
    import redis

    async with accounts_of(prepared) as accounts:
        device = await paired(accounts)
        assert await accounts.authenticate(device.token)
        admin = redis.Redis.from_url(prepared.url("api", "broker_url"))
        admin.client_kill_filter(_type="pubsub")
        admin.close()
        await eventually(lambda: not accounts._cache.enabled, "the cache is off")
        await eventually(lambda: accounts._cache.enabled, "the cache is on again")
        assert await accounts.authenticate(device.token)


@pytest.mark.req("B3")
async def test_unknown_and_odd_tokens_are_nobody(prepared: Prepared) -> None:
    async with accounts_of(prepared) as accounts:
        for token in ("", "x", "0" * 64, "\udc80", "a" * 100_000, "' or 1=1 --"):
            assert await accounts.authenticate(token) is None


async def test_a_cached_token_costs_microseconds_and_no_query(prepared: Prepared) -> None:
    async with accounts_of(prepared) as accounts:
        device = await paired(accounts)
        assert await accounts.authenticate(device.token)
        queries = accounts._pool.get_stats().get("requests_num", 0)
        best = float("inf")
        for _ in range(20):
            started = time.perf_counter()
            for _ in range(500):
                await accounts.authenticate(device.token)
            best = min(best, (time.perf_counter() - started) / 500)
        assert accounts._pool.get_stats().get("requests_num", 0) - queries <= 1
        assert best < 20e-6  # 2 us on a quiet machine


async def test_last_seen_is_written_at_most_once_a_minute(prepared: Prepared) -> None:
    clock = FakeClock()

    def seen() -> object:
        return prepared.query(b"select extract(epoch from last_seen)::float8 as at from devices")[0]["at"]

    async with accounts_of(prepared, clock=clock) as accounts:
        device = await paired(accounts)
        await accounts.authenticate(device.token)
        await _settled(accounts)
        first = seen()
        assert first == clock.now()
        clock.advance(TOUCH_S - 1)
        await accounts.authenticate(device.token)
        await _settled(accounts)
        assert seen() == first
        clock.advance(2)
        await accounts.authenticate(device.token)
        await _settled(accounts)
        assert seen() == clock.now()


async def _settled(accounts: Accounts) -> None:
    import asyncio

    await asyncio.gather(*accounts._touches)


@pytest.mark.req("ATK-52", "B5")
async def test_a_user_lists_renames_and_revokes_only_own_devices(prepared: Prepared) -> None:
    async with accounts_of(prepared) as accounts:
        await accounts.manage.add_user("li")
        await accounts.manage.set_member("main", "li", "member")
        mine, other = await paired(accounts), await paired(accounts, "li")
        me, li = await accounts.authenticate(mine.token), await accounts.authenticate(other.token)
        assert me
        assert li
        assert [row["device_id"] for row in await accounts.devices(li.user_id)] == [other.device_id]
        with pytest.raises(UnknownDevice):
            await accounts.manage.rename_own(li.user_id, mine.device_id, "stolen")
        with pytest.raises(UnknownDevice):
            await accounts.manage.revoke_own(li.user_id, mine.device_id, peer="", request_id="", by_device=other.device_id)
        assert await accounts.authenticate(mine.token)
        assert await accounts.manage.rename_own(li.user_id, other.device_id, " my\x1b phone ") == "my phone"
        renamed = await accounts.authenticate(other.token)
        assert renamed
        assert renamed.device_name == "my phone"
        await accounts.manage.revoke_own(li.user_id, other.device_id, peer="", request_id="", by_device=other.device_id)
        assert await accounts.authenticate(other.token) is None


@pytest.mark.parametrize("device_id", ["", "x", "'; drop table devices", "0" * 36, "\0"])
async def test_an_id_that_is_none_is_an_unknown_device(prepared: Prepared, device_id: str) -> None:
    async with accounts_of(prepared) as accounts:
        with pytest.raises(UnknownDevice):
            await accounts.manage.revoke_any(device_id)


@pytest.mark.req("B6")
async def test_a_changed_role_or_a_removed_member_holds_at_the_next_request(prepared: Prepared) -> None:
    async with accounts_of(prepared) as accounts, accounts_of(prepared) as replica:
        await accounts.manage.add_user("wei")
        await accounts.manage.set_member("main", "wei", "member")
        device = await paired(accounts, "wei")
        identity = await replica.authenticate(device.token)
        assert identity
        assert identity.role == "member"
        await accounts.manage.set_member("main", "wei", "viewer")
        identity = await replica.authenticate(device.token)
        assert identity
        assert identity.role == "viewer"
        closed: list[str] = []
        replica.on_revoked(closed.append)
        await accounts.manage.remove_member("main", "wei")
        assert await replica.authenticate(device.token) is None
        assert closed == [device.device_id]
        with pytest.raises(NotAMember):
            await accounts.manage.remove_member("main", "wei")


@pytest.mark.req("B5")
async def test_removing_a_user_ends_every_device_and_keeps_the_last_administrator(prepared: Prepared) -> None:
    async with accounts_of(prepared) as accounts, accounts_of(prepared) as replica:
        await accounts.manage.add_user("gone")
        await accounts.manage.set_member("main", "gone", "member")
        device = await paired(accounts, "gone")
        assert await replica.authenticate(device.token)
        await accounts.manage.remove_user("gone")
        assert await replica.authenticate(device.token) is None
        with pytest.raises(UserStays):
            await accounts.manage.remove_user("owner")
        with pytest.raises(UserStays):
            await accounts.manage.remove_user("nobody")


@pytest.mark.req("B6")
async def test_only_an_owner_moves_a_workspace_and_everybody_sees_it_at_once(prepared: Prepared) -> None:
    async with accounts_of(prepared) as accounts, accounts_of(prepared) as replica:
        await accounts.manage.add_user("member")
        await accounts.manage.set_member("main", "member", "member")
        owner, member = await paired(accounts), await paired(accounts, "member")
        me, other = await replica.authenticate(owner.token), await replica.authenticate(member.token)
        assert me
        assert other
        with pytest.raises(UnknownWorkspace):
            await accounts.update_workspace(me.workspace.id, by=other.user_id, root="/stolen", allowed_paths=())
        moved = await accounts.update_workspace(me.workspace.id, by=me.user_id, root="/srv/new", allowed_paths=("/srv/more",))
        assert (moved.root, moved.allowed_paths) == ("/srv/new", ("/srv/more",))
        for token in (owner.token, member.token):
            seen = await replica.authenticate(token)
            assert seen
            assert seen.workspace.root == "/srv/new"
        await accounts.update_workspace(me.workspace.id, by=me.user_id, root=me.workspace.root, allowed_paths=())


async def test_names_are_checked_and_unique(prepared: Prepared) -> None:
    async with accounts_of(prepared) as accounts:
        for name in ("", "A", "-x", "a b", "a/b", "x" * 64, "ü"):
            with pytest.raises(BadName):
                await accounts.manage.add_user(name)
        await accounts.manage.add_user("once")
        with pytest.raises(UserExists):
            await accounts.manage.add_user("once")
        with pytest.raises(UnknownUser):
            await accounts.manage.add_workspace("w", root="/w", owner="nobody")
        with pytest.raises(UnknownWorkspace):
            await accounts.manage.set_member("nowhere", "once", "member")


async def test_a_workspace_with_its_owner_and_a_device_that_works_there(prepared: Prepared) -> None:
    async with accounts_of(prepared) as accounts:
        await accounts.manage.add_user("zhang")
        await accounts.manage.add_workspace("lab", root="/srv/lab", owner="zhang")
        device = await paired(accounts, "zhang")
        identity = await accounts.authenticate(device.token)
        assert identity
        assert (identity.workspace.name, identity.workspace.root, identity.role) == ("lab", "/srv/lab", "owner")
        listed = {row["name"]: row["members"] for row in await accounts.manage.workspaces()}
        assert listed["lab"] == {"zhang": "owner"}


@pytest.mark.req("B10")
async def test_management_is_recorded_first_and_does_not_happen_without(prepared: Prepared) -> None:
    audit = ListedAudit()
    async with accounts_of(prepared, audit=audit) as accounts:
        await accounts.manage.add_user("recorded")
        assert audit.actions() == ["user_add"]
        audit.broken = AuditUnavailable()
        with pytest.raises(AuditUnavailable):
            await accounts.manage.add_user("unrecorded")
        with pytest.raises(AuditUnavailable):
            await accounts.manage.remove_user("recorded")
    names = {row["name"] for row in prepared.query(b"select name from users")}
    assert "recorded" in names
    assert "unrecorded" not in names


@pytest.mark.req("ATK-49")
async def test_the_origin_of_the_pairing_stays_with_the_device(prepared: Prepared) -> None:
    origin = "chrome-extension://" + "b" * 32
    async with accounts_of(prepared) as accounts:
        identity = await accounts.authenticate((await paired(accounts, origin=origin)).token)
        assert identity
        assert identity.origin == origin
