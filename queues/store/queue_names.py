"""Queue names and their numbers, remembered: a row carries the number."""

from __future__ import annotations

import sqlite3
from typing import Final

from queues.store.statements import ADD_QUEUE, FIND_QUEUE, NAME_QUEUE

# A service that makes queues without end must not fill the memory with their names.
_MOST: Final = 100_000


class QueueNames:
    def __init__(self, cursor: sqlite3.Cursor) -> None:
        self._cursor = cursor
        self._numbers: dict[str, int] = {}
        self._names: dict[int, str] = {}

    def find(self, name: str) -> int | None:
        number = self._numbers.get(name)
        if number is None:
            row = self._cursor.execute(FIND_QUEUE, (name,)).fetchone()
            if row is not None:
                number = self._remember(row[0], name)
        return number

    def find_or_add(self, name: str, now_ms: int) -> int:
        number = self.find(name)
        if number is None:
            (number,) = self._cursor.execute(ADD_QUEUE, (name, now_ms)).fetchall()[0]
            self._remember(number, name)
        return number

    def name(self, number: int) -> str:
        name = self._names.get(number)
        if name is None:
            (name,) = self._cursor.execute(NAME_QUEUE, (number,)).fetchone()
            self._remember(number, name)
        return name

    def forget(self) -> None:
        """A transaction that added a queue was rolled back."""
        self._numbers.clear()
        self._names.clear()

    def _remember(self, number: int, name: str) -> int:
        if len(self._numbers) >= _MOST:
            self.forget()
        self._numbers[name] = number
        self._names[number] = name
        return number
