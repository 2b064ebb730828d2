from __future__ import annotations

import pytest

from handrail.api.accounts import budget, codes
from handrail.api.accounts.cache import Entry, IdentityCache
from handrail.api.accounts.labels import MAX, device_name
from handrail.api.accounts.pacing import peer_key
from handrail.api.context import Identity, Workspace

PEPPER = b"\x07" * 32


@pytest.mark.req("B1")
def test_a_code_is_six_digits_and_a_hardened_one_is_never_a_number() -> None:
    for _ in range(200):
        assert len(plain := codes.draw(hardened=False)) == 6
        assert plain.isdigit()
        assert len(hard := codes.draw(hardened=True)) == 6
        assert not hard.isdigit()
        assert not set(hard) & set("01IO")


@pytest.mark.parametrize(
    ("typed", "code"),
    [
        ("123456", "123456"),
        (" 123 456 ", "123456"),
        ("123-456", "123456"),
        ("".join(chr(0xFF10 + n) for n in (1, 2, 3, 4, 5, 6)), "123456"),
        ("abcdef", "ABCDEF"),
        ("12345", None),
        ("1234567", None),
        ("12345\u0661", None),
        ("12345\0", None),
        ("1" * 100_000, None),
        ("", None),
    ],
)
def test_what_people_type_becomes_a_code_or_nothing(typed: str, code: str | None) -> None:
    assert codes.normalise(typed) == code


@pytest.mark.req("B1")
def test_the_kept_hash_depends_on_the_pepper() -> None:
    first = codes.code_hash(PEPPER, "123456")
    assert len(first) == 32
    assert first != codes.code_hash(b"\x08" * 32, "123456")
    assert codes.same(first, codes.code_hash(PEPPER, "123456"))
    assert not codes.same(first, codes.code_hash(PEPPER, "123457"))


@pytest.mark.req("B1", "ATK-49")
def test_the_chance_of_guessing_within_a_day_stays_below_one_in_a_thousand() -> None:
    assert (budget.DIGIT_BUDGET + budget.HARDENED_BUDGET) / budget.NANO < 1 / 1000
    # a charge is never less than the chance it stands for
    for live in range(1, 50):
        digits, hardened = budget.charge(digit_codes=live, hardened_codes=live)
        assert digits / budget.NANO >= live / 10**6
        assert hardened / budget.NANO >= live / 32**6


@pytest.mark.req("B1")
def test_a_peer_has_five_free_tries_and_then_waits_twice_as_long_each_time() -> None:
    waits = [budget.delay_s(failures) for failures in range(1, 20)]
    assert waits[:4] == [0, 0, 0, 0]
    assert waits[4:12] == [2, 4, 8, 16, 32, 64, 128, 256]
    assert max(waits) == budget.MAX_DELAY_S


def test_a_peer_is_origin_and_address_and_a_whole_ipv6_network() -> None:
    assert peer_key("a", "192.0.2.1") != peer_key("b", "192.0.2.1")
    assert peer_key("a", "192.0.2.1") != peer_key("a", "192.0.2.2")
    assert peer_key("a", "2001:db8::1") == peer_key("a", "2001:db8::ffff")
    assert peer_key("a", "2001:db8::1") != peer_key("a", "2001:db8:0:1::1")
    assert "192.0.2.1" not in peer_key("a", "192.0.2.1")


@pytest.mark.parametrize(
    ("extension", "agent", "name"),
    [
        (
            "abcdefghijklmnopabcdefghijklmnop",
            "Mozilla/5.0 (X11; Linux x86_64) Chrome/156.0 Safari/537.36",
            "Chrome 156, Linux (extension abcdefgh)",
        ),
        ("my laptop", "Mozilla/5.0 (Macintosh; Intel Mac OS X 14) Firefox/140.0", "Firefox 140, macOS (my laptop)"),
        ("", "python-httpx/0.28", "python-httpx"),
        ("", "", "device"),
        ("a\x1b[31m\u202e\nb", "", "a [31m b"),
    ],
)
def test_a_device_gets_a_readable_harmless_name(extension: str, agent: str, name: str) -> None:
    assert device_name(extension, agent) == name
    assert len(device_name("x" * 10_000, "y" * 10_000)) <= MAX


def identity(number: int, user: str = "u") -> Identity:
    return Identity(user, user, False, f"d{number}", "d", "member", Workspace("w", "w", "/w"))


@pytest.mark.req("B3")
def test_nothing_is_cached_while_the_channel_is_down() -> None:
    cache = IdentityCache()
    cache.put(b"k", Entry(identity(1), 0), generation=cache.generation)
    assert cache.get(b"k") is None
    cache.enable()
    cache.put(b"k", Entry(identity(1), 0), generation=cache.generation)
    assert cache.get(b"k") is not None
    cache.disable()
    assert len(cache) == 0


@pytest.mark.req("B3")
def test_a_look_up_that_a_revocation_overtook_is_not_cached() -> None:
    cache = IdentityCache()
    cache.enable()
    generation = cache.generation
    cache.drop(lambda known: known.device_id == "d1")
    cache.put(b"k", Entry(identity(1), 0), generation=generation)
    assert cache.get(b"k") is None


def test_the_cache_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("handrail.api.accounts.cache.MAX_ENTRIES", 3)
    cache = IdentityCache()
    cache.enable()
    for number in range(10):
        cache.put(bytes([number]), Entry(identity(number), 0), generation=cache.generation)
    assert len(cache) == 3
    assert cache.get(b"\x09") is not None
