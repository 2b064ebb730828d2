"""A bill: items with a price in cents and the people who share each."""

from dataclasses import dataclass, field

from fairshare.split import split_evenly


@dataclass(frozen=True)
class Item:
    name: str
    cents: int
    people: tuple


@dataclass
class Bill:
    items: list = field(default_factory=list)

    def add(self, name, cents, people):
        if cents < 0:
            raise ValueError("a price is not negative")
        if not people:
            raise ValueError("somebody has to pay")
        self.items.append(Item(name, cents, tuple(people)))

    def total(self):
        return sum(item.cents for item in self.items)

    def shares(self):
        """Cents by person."""
        out = {}
        for item in self.items:
            for person, cents in zip(item.people, split_evenly(item.cents, len(item.people))):
                out[person] = out.get(person, 0) + cents
        return out
