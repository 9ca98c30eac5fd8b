"""The key store over keyrings that misbehave."""

import threading
import time
from collections.abc import Callable

import pytest

from support.suite.patience import patient
from svc.errors import AuthError, ExitCode, KeyStoreError, UsageError
from svc.keys.keyrings.backend import (
    Absent,
    Denied,
    Dismissed,
    KeyringTrouble,
    Locked,
)
from svc.keys.places import KeyPlace
from svc.keys.store import KeyStore, SigningSecrets
from unit.keys.fake_keyring import FakeKeyring

pytestmark = pytest.mark.smoke


PLACE = KeyPlace("https://api.example.com", "shop", "test")
USER = "https://api.example.com|shop|test"
OLD, NEW = "sk_test_old", "sk_test_new"


def test_items_are_named_by_origin_profile_and_mode() -> None:
    """R22, R37: another origin, profile or mode is another item."""
    assert PLACE.user == USER
    assert KeyPlace("https://api.example.com", "shop", "live").user == USER[:-4] + "live"
    publishable = KeyPlace("https://api.example.com", "shop", "test", "publishable")
    assert publishable.user == f"{USER}|publishable"
    assert PLACE.user_of_endpoint("we_1") == f"{USER}|we_1"


def test_a_secret_comes_back_with_the_name_of_its_keyring(
    store: KeyStore, fake: "FakeKeyring"
) -> None:
    """What was put in is given out, and where it lies is known."""
    assert store.put(USER, OLD) == "fake.Keyring"
    found = store.get(USER)
    assert found is not None
    assert (found.secret, found.backend) == (OLD, "fake.Keyring")
    assert OLD not in repr(found)
    assert fake.items == {USER: OLD}
    store.put(USER, OLD)
    assert f"write {USER}|new" not in fake.calls  # nothing was replaced


def test_a_read_touches_one_item(store: KeyStore, fake: FakeKeyring) -> None:
    """R38: some systems ask the person for each item."""
    fake.items = {USER: OLD, f"{USER}|new": "x", "https://api.example.com|shop|live": "y"}
    store.get(USER)
    assert fake.calls == [f"read {USER}"]


def test_a_keyring_that_keeps_nothing_is_found_out(store: KeyStore, fake: FakeKeyring) -> None:
    """R36: the null keyring takes a secret without a word and forgets it."""
    fake.loses = True
    with pytest.raises(KeyStoreError, match="does not give it back") as caught:
        store.put(USER, OLD)
    assert caught.value.code == "keyring_lost"


def test_a_keyring_that_alters_a_secret_is_found_out(store: KeyStore, fake: FakeKeyring) -> None:
    """R36: what is read back is compared."""
    fake.items = {USER: OLD}
    fake.alters = True
    with pytest.raises(KeyStoreError, match="does not give it back"):
        store.put(USER, NEW)
    assert fake.items[USER] == OLD


def test_replacing_leaves_one_item(store: KeyStore, fake: FakeKeyring) -> None:
    """The second copy is there only while it is needed."""
    store.put(USER, OLD)
    store.put(USER, NEW)
    assert fake.items == {USER: NEW}


@pytest.mark.parametrize("at", [USER, f"{USER}|new"])
def test_a_kill_while_replacing_leaves_a_key(
    store: KeyStore, fake: FakeKeyring, killed: type[BaseException], at: str
) -> None:
    """R36: even where replacing is removing and adding, old or new is there afterwards."""
    store.put(USER, OLD)
    fake.gap = at
    with pytest.raises(killed):
        store.put(USER, NEW)
    fake.gap = None
    found = store.get(USER)
    assert found is not None
    assert found.secret == (NEW if at == USER else OLD)
    store.put(USER, NEW)
    assert fake.items == {USER: NEW}


@pytest.mark.parametrize("second", [None, NEW])
def test_a_replacement_goes_on_after_a_kill_that_came_late(
    store: KeyStore, fake: FakeKeyring, second: str | None
) -> None:
    """R36: the new key was in its place already; the same command again only tidies up."""
    fake.items = {USER: NEW} | ({f"{USER}|new": second} if second else {})
    assert store.put(USER, NEW, instead_of=OLD) == "fake.Keyring"
    assert fake.items == {USER: NEW}
    fake.items = {f"{USER}|new": NEW}  # killed while the old one was out and the new one not in
    assert store.put(USER, NEW, instead_of=OLD) == "fake.Keyring"
    assert fake.items == {USER: NEW}


def test_what_a_kill_left_of_a_replacement_can_be_read(store: KeyStore, fake: FakeKeyring) -> None:
    """R36: the new key is the service's only one by then; who replaced it goes on with it."""
    assert store.load_left_over(USER) is None
    fake.items = {USER: OLD, f"{USER}|new": NEW}
    assert store.load_left_over(USER) == NEW


def test_a_replacement_does_not_overwrite_a_third_key(store: KeyStore, fake: FakeKeyring) -> None:
    """Somebody else was quicker: nothing is stored, and the error says so."""
    fake.items = {USER: "sk_test_third"}
    with pytest.raises(AuthError, match="another key has taken the old one's place") as caught:
        store.put(USER, NEW, instead_of=OLD)
    assert (caught.value.code, caught.value.outcome) == ("key_changed", "not_sent")
    assert fake.items == {USER: "sk_test_third"}


def test_a_refused_replacement_keeps_the_old_key_only(
    store: KeyStore, fake: FakeKeyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failure leaves no copy that nobody knows of."""
    store.put(USER, OLD)
    write = fake.write

    def refuse(service: str, user: str, secret: str) -> None:
        if user == USER:
            raise Denied("no")
        write(service, user, secret)

    monkeypatch.setattr(fake, "write", refuse)
    with pytest.raises(KeyStoreError, match="does not allow"):
        store.put(USER, NEW)
    assert fake.items == {USER: OLD}


def test_removing_takes_every_copy_from_every_keyring(
    make_fake: Callable[..., FakeKeyring],
) -> None:
    """R37: also from those that the key was not read from."""
    first, second, gone = make_fake("a.A"), make_fake("b.B"), make_fake("c.C")
    first.items = {USER: OLD, "other": "x"}
    second.items = {USER: OLD, f"{USER}|new": NEW}
    gone.trouble = Absent("not running")
    store = KeyStore([first, gone, second])
    assert store.remove(USER)
    assert (first.items, second.items) == ({"other": "x"}, {})
    assert first.calls.count(f"erase {USER}|new") == 1  # some systems ask the person each time
    assert not store.remove(USER)


def test_removing_is_proved_by_a_read(store: KeyStore, fake: FakeKeyring) -> None:
    """R37: a keyring that only says that it removed is found out."""
    fake.items = {USER: OLD}
    fake.keeps = True
    with pytest.raises(KeyStoreError, match="still holds") as caught:
        store.remove(USER)
    assert caught.value.code == "keyring_kept"


def test_a_keyring_that_goes_away_in_the_midst_is_no_success(
    store: KeyStore, fake: FakeKeyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R36: it was there for the first question, and what was to be stored may not be stored."""

    def gone(*_: str) -> None:
        raise Absent("its process ended")

    monkeypatch.setattr(fake, "write", gone)
    with pytest.raises(KeyStoreError, match="went away: its process ended") as caught:
        store.put(USER, OLD)
    assert (caught.value.code, caught.value.outcome) == ("keyring_absent", "not_sent")


def test_items_of_one_name_are_all_removed(
    store: KeyStore, fake: FakeKeyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R37: other programs may have made several; each erasure takes one."""
    copies = [OLD] * 8
    monkeypatch.setattr(
        fake, "erase", lambda _, user: user == USER and bool(copies and copies.pop())
    )
    monkeypatch.setattr(
        fake, "read", lambda _, user: copies[0] if user == USER and copies else None
    )
    assert store.remove(USER)
    assert copies == []


@pytest.mark.parametrize(
    ("trouble", "code", "words"),
    [
        (Locked("it is locked"), "keyring_locked", "is locked"),
        (Dismissed("its window was closed"), "keyring_dismissed", "window was closed"),
        (Denied("AccessDenied"), "keyring_denied", "does not allow svc"),
        (KeyringTrouble("SomeError"), "keyring_failed", "failed (SomeError)"),
        (Absent("no D-Bus"), "keyring_absent", "no usable keyring"),
    ],
)
def test_each_refusal_has_its_own_words(
    store: KeyStore, fake: FakeKeyring, trouble: KeyringTrouble, code: str, words: str
) -> None:
    """R34: exit 4, SVC_API_KEY named, and one attempt only."""
    fake.trouble = trouble
    for call in (lambda: store.get(USER), lambda: store.put(USER, OLD), lambda: store.remove(USER)):
        fake.calls.clear()
        with pytest.raises(KeyStoreError) as caught:
            call()
        assert caught.value.exit_code == ExitCode.AUTH
        assert caught.value.code == code
        assert words in caught.value.message
        opens = code in ("keyring_locked", "keyring_dismissed")
        first = "Unlock it and run the command again, or" if opens else "Without a keyring,"
        assert str(caught.value.hint).startswith(f"{first} set SVC_API_KEY, or profiles.NAME.key_")
        assert len(fake.calls) == 1


def test_a_keyring_that_hangs_is_left_behind(fake: FakeKeyring) -> None:
    """R35: the call is abandoned when its time is up, and nothing else is asked."""
    fake.hangs = threading.Event()
    store = KeyStore([fake], seconds=0.3)
    for call in (lambda: store.get(USER), lambda: store.put(USER, OLD), lambda: store.remove(USER)):
        fake.calls.clear()
        started = time.monotonic()
        with pytest.raises(KeyStoreError, match="did not answer within") as caught:
            call()
        assert time.monotonic() - started < patient(2)
        assert caught.value.code == "keyring_timeout"
        assert len(fake.calls) == 1
    fake.hangs.set()


@pytest.mark.parametrize(
    ("item", "calls"),
    [
        (f"{USER}|new", [f"read {USER}"]),
        (USER, [f"read {USER}", f"write {USER}|new", f"read {USER}|new"]),
    ],
    ids=["the copy", "the key"],
)
def test_a_hang_while_replacing_is_not_followed_by_another_call(
    fake: FakeKeyring, monkeypatch: pytest.MonkeyPatch, item: str, calls: list[str]
) -> None:
    """R35: the limit of the whole is not a multiple of the limit of one call."""
    fake.items = {USER: OLD}
    release, write = threading.Event(), fake.write

    def hang(service: str, user: str, secret: str) -> None:
        if user == item:
            release.wait(30)
        write(service, user, secret)

    monkeypatch.setattr(fake, "write", hang)
    with pytest.raises(KeyStoreError, match="did not answer"):
        KeyStore([fake], seconds=1).put(USER, NEW)
    assert fake.calls == calls
    release.set()


def test_the_limit_is_three_seconds() -> None:
    """R35, the number itself."""
    assert KeyStore([])._seconds == 3.0


@pytest.mark.parametrize("person", [True, False])
def test_a_person_gets_time_to_unlock(
    fake: FakeKeyring, monkeypatch: pytest.MonkeyPatch, person: bool
) -> None:
    """Only while the keyring's own window is open, and only where somebody can see it."""
    fake.items = {USER: OLD}
    unlocked = threading.Event()

    def read(service: str, user: str) -> str | None:
        fake.asking = True
        unlocked.wait(30)
        fake.asking = False
        return fake.items.get(user)

    monkeypatch.setattr(fake, "read", read)
    store = KeyStore([fake], seconds=0.3, person_seconds=60 if person else 0)
    threading.Timer(1, unlocked.set).start()
    if person:
        found = store.get(USER)
        assert found is not None
        assert found.secret == OLD
    else:
        with pytest.raises(KeyStoreError, match="its window was not answered") as caught:
            store.get(USER)
        assert caught.value.code == "keyring_locked"
    unlocked.wait(5)


def test_only_an_absent_keyring_is_passed_over(make_fake: Callable[..., FakeKeyring]) -> None:
    """A locked one may hold the key: asking the next would hide that."""
    absent, locked, other = make_fake("a.A"), make_fake("b.B"), make_fake("c.C")
    absent.trouble, locked.trouble = Absent("-"), Locked("it is locked")
    with pytest.raises(KeyStoreError, match=r"The keyring \(b\.B\) is locked"):
        KeyStore([absent, locked, other]).get(USER)
    assert other.calls == []


def test_the_keyring_that_holds_a_key_can_be_asked_first(
    make_fake: Callable[..., FakeKeyring],
) -> None:
    """What was put into another keyring earlier is still found."""
    first, second = make_fake("a.A"), make_fake("b.B")
    second.items = {USER: OLD}
    store = KeyStore([first, second])
    assert store.get(USER) is None
    found = store.get(USER, prefer="b.B")
    assert found is not None
    assert found.backend == "b.B"


def test_a_keyring_that_is_not_there_cannot_be_asked(
    make_fake: Callable[..., FakeKeyring],
) -> None:
    """The diagnosis tells one that answers from one that is gone and one that is not allowed."""
    first, second = make_fake("a.A"), make_fake("b.B")
    second.trouble = Absent("-")
    store = KeyStore([first, second])
    assert [store.is_there(name) for name in ("a.A", "b.B", "c.C")] == [True, False, None]


def test_no_keyring_at_all_names_what_was_refused(fake: FakeKeyring) -> None:
    """R33: an installed keyring that keeps plain text is named, so that nobody wonders."""
    fake.trouble = Absent("-")
    store = KeyStore([fake], refused=lambda: ["keyrings.alt.file"])
    with pytest.raises(KeyStoreError, match=r"not allowed: keyrings\.alt\.file"):
        store.get(USER)


def test_no_keyring_at_all_names_those_that_were_looked_for(
    make_fake: Callable[..., FakeKeyring],
) -> None:
    """R34: and of others nothing is said where none is installed."""
    first, second = make_fake("a.A"), make_fake("b.B")
    first.trouble = second.trouble = Absent("-")
    for call in (KeyStore([first, second]).get, KeyStore([first, second]).remove):
        with pytest.raises(KeyStoreError) as caught:
            call(USER)
        assert caught.value.message == "There is no usable keyring (looked for a.A, b.B)."
        assert caught.value.outcome == "not_sent"


@pytest.mark.parametrize(("person", "seconds"), [(True, 60.0), (False, 0.0)])
def test_only_a_person_is_waited_for(person: bool, seconds: float) -> None:
    """Nobody answers a window in a script, which would stand still for a minute."""
    store = KeyStore.of_system({}, allowed=(), platform="linux", person=person)
    assert store._person_seconds == seconds


def test_signing_secrets_lie_beside_the_key(store: KeyStore, fake: FakeKeyring) -> None:
    """One item for each endpoint; keys and signing secrets do not touch each other."""
    secrets = SigningSecrets(store, PLACE)
    store.put(PLACE.user, OLD)
    assert secrets.get("we_1") is None
    secrets.put("we_1", "whsec_abc")
    assert secrets.get("we_1") == "whsec_abc"
    assert secrets.get("we_2") is None
    assert fake.items == {USER: OLD, f"{USER}|we_1": "whsec_abc"}
    assert secrets.remove("we_1")
    assert fake.items == {USER: OLD}


def test_only_a_signing_secret_is_stored_as_one(store: KeyStore, fake: FakeKeyring) -> None:
    """R48: with another kind of key nothing would ever verify."""
    with pytest.raises(UsageError):
        SigningSecrets(store, PLACE).put("we_1", OLD)
    assert fake.items == {}
    assert SigningSecrets(store, PLACE).remove("we_1") is False
