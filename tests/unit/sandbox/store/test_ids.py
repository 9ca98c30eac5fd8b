"""Identifiers: the prescribed shape, one sequence a seed, and none that repeats."""

from collections import Counter

import pytest

from svc.sandbox.store.ids import IdSource
from unit.sandbox.lab import Lab, new_order


def zeros(count: int) -> bytes:
    return bytes(count)


def test_all_letters_are_equally_likely() -> None:
    """Every byte value once gives every letter equally often: an id loses no entropy."""
    source = IdSource(None, lambda _: bytes(range(256)))
    counts = Counter(source.new("", 248))
    assert len(counts) == 62
    assert set(counts.values()) == {4}


def test_seed_fixes_the_sequence() -> None:
    """Equal seeds give equal ids, other seeds others, and no id comes twice."""
    one, same, other = IdSource(5, zeros), IdSource(5, zeros), IdSource(6, zeros)
    drawn = [one.new("a_") for _ in range(1000)]
    assert drawn == [same.new("a_") for _ in range(1000)]
    assert len(set(drawn)) == 1000
    assert not set(drawn) & {other.new("a_") for _ in range(1000)}


GOLDEN = [
    "ord_P4lDsjdHJbVeIsY8kfzvS1Gr",
    "ord_ufVNCubDg2usnjhelKYRn18C",
    "whsec_vaoFOtdhTtA9buILToJOc2it3jTDQrk4",
    "req_ToDAs30cDRBNfCpyROJRkHT9",
    "dlv_5RUiGCp5Ufq5DwbrC0f76iuG",
]


def test_ids_of_a_seed_are_what_they_always_were() -> None:
    """People write them down in their tests: no other version of svc draws others."""
    source = IdSource(7, zeros)
    drawn = [source.new("ord_"), source.new("ord_"), source.new("whsec_", 32)]
    drawn += [source.request(), source.derive("dlv_", "evt_1", "we_1", 1)]
    assert drawn == GOLDEN
    again = source.load(source.dump())
    assert again.request() not in drawn
    assert again.new("ord_") == source.new("ord_")


@pytest.mark.parametrize(
    "wrong", [{"counter": -1}, {"boot": -1}, {"counter": 1.0}, {"boot": None}, {"seed": "7"}]
)
def test_saved_sequence_must_be_one(wrong: dict[str, object]) -> None:
    """A count goes up from nothing, and a seed is a whole number or none."""
    source = IdSource(7, zeros)
    source.load({**source.dump(), "counter": 0, "boot": 0})
    with pytest.raises(ValueError):
        source.load({**source.dump(), **wrong})


def test_without_a_seed_the_systems_randomness_is_used() -> None:
    """No byte serves twice: neither for two ids, nor for the key of derived ones."""
    taken: list[int] = []

    def random(count: int) -> bytes:
        taken.append(count)
        return bytes([len(taken)]) * count

    source = IdSource(None, random)
    letters = Counter("".join(source.new("") for _ in range(200)))
    assert len(letters) == len(taken) - 1  # one for the key of derived ids
    assert all(letters[each] <= size for each, size in zip(letters, taken[1:], strict=True))


def test_derived_ids_do_not_move_the_sequence() -> None:
    """Ids of deliveries depend on what they name, not on when they are drawn."""
    one, other = IdSource(5, zeros), IdSource(5, zeros)
    assert one.derive("dlv_", "evt_1", "we_1", 1) != one.derive("dlv_", "evt_1", "we_1", 2)
    assert one.new("a_") == other.new("a_")
    assert one.derive("dlv_", "evt_1", "we_1", 1) == other.derive("dlv_", "evt_1", "we_1", 1)


async def test_restart_continues_the_sequence(lab: Lab) -> None:
    """A sandbox that was stopped gives the ids that it would have given."""

    async def draw(path: str, runs: list[int]) -> list[str]:
        made: list[str] = []
        for count in runs:
            async with lab.running(path=path) as engine:
                made += [(await engine.run("test", new_order))["id"] for _ in range(count)]
        return made

    interrupted = await draw(lab.path, [3, 2, 1])
    assert interrupted == await draw(lab.path + ".2", [6])
    assert len(set(interrupted)) == 6


async def test_request_ids_stay_unique_over_restarts(lab: Lab) -> None:
    """Reads are not saved, yet no request id comes twice."""

    async def draw() -> list[str]:
        async with lab.running() as engine:
            return [engine.request_id() for _ in range(5)]

    drawn = [identity for _ in range(3) for identity in await draw()]
    assert len(set(drawn)) == 15


async def test_reset_begins_the_sequence_again(lab: Lab) -> None:
    """Reset replays the seed it has, or takes the one that it is given."""
    async with lab.running(seed=1) as engine:

        async def first() -> str:
            return str((await engine.run("test", new_order))["id"])

        before = await first()
        await engine.reset()
        assert await first() == before
        await engine.reset(seed=2)
        other = await first()
        assert other != before
        await engine.reset()
        assert await first() == other
