"""Which event a target dies of: a close is charged to one that was at the target alone."""


class Suspects:
    """Remembers who was under way when a target closed connections, until each was tried alone."""

    def __init__(self) -> None:
        self._under_way: dict[int, bool] = {}  # whether it has been alone all the time
        self._suspected: set[int] = set()
        self._charged: dict[int, int] = {}

    def __bool__(self) -> bool:
        """True while somebody is suspected: until then one goes at a time."""
        return bool(self._suspected)

    def sent(self, seq: int) -> None:
        """Notes that an event is on its way to the target."""
        alone = not self._under_way
        if not alone:
            self._under_way = dict.fromkeys(self._under_way, False)
        self._under_way[seq] = alone

    def heard(self, seq: int, *, closed: bool) -> int:
        """Notes how an attempt ended; gives how often the target has closed on this event alone."""
        alone = self._under_way.pop(seq, False)
        if closed:
            self._suspected.add(seq)
            if alone:
                self._charged[seq] = self._charged.get(seq, 0) + 1
        return self._charged.get(seq, 0)

    def forget(self, seq: int) -> None:
        """Suspects an event no more: it was answered, given up or closed."""
        self._suspected.discard(seq)
        self._charged.pop(seq, None)
