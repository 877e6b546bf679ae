"""The session query as text: ``name contains 'lap' and vehicle.speed >= 80``."""

from __future__ import annotations

import json
import re
from typing import Any

Filter = dict[str, Any]

_TOKEN = re.compile(
    r"""\s*(?:(?P<mark>[()\[\],])|(?P<sign><=|>=|!=|=|<|>)|(?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
    r"""|(?P<word>[^\s()\[\],<>=!'"]+))"""
)
_SIGNS = {"=": "eq", "!=": "ne", "<": "lt", "<=": "lte", ">": "gt", ">=": "gte"}
_WORDS = {"contains": "contains", "startswith": "startsWith", "endswith": "endsWith", "in": "in"}


class QueryError(ValueError):
    """The text is not a query."""


def parse_query(text: str) -> Filter:
    """The filter that a text says.

    Conditions are ``path = value``, ``!=``, ``<``, ``<=``, ``>``, ``>=``, ``contains``, ``startsWith``, ``endsWith``,
    ``in [a, b]`` and ``exists``, joined by ``and``, ``or`` and brackets. Values are numbers, ``true``, ``false``,
    ``null``, and text, in quotes where it holds more than one word.
    """
    parser = _Parser(text)
    found = parser.alternatives()
    parser.expect_end()
    return found


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._tokens: list[tuple[str, str]] = []
        stripped = text.rstrip()
        while self._at < len(stripped):
            match = _TOKEN.match(stripped, self._at)
            if match is None or match.lastgroup is None:
                raise QueryError(f"Not readable from here on: {stripped[self._at:].strip()!r}")
            self._tokens.append((match.lastgroup, match[match.lastgroup]))
            self._at = match.end()
        self._at = 0

    def alternatives(self) -> Filter:
        """Conditions joined by `or`."""
        parts = [self._conjunction()]
        while self._takes_word("or"):
            parts.append(self._conjunction())
        return parts[0] if len(parts) == 1 else {"or": parts}

    def expect_end(self) -> None:
        """Raises QueryError when something is left."""
        if self._at < len(self._tokens):
            raise QueryError(f"{self._tokens[self._at][1]!r} is unexpected in: {self._text}")

    def _conjunction(self) -> Filter:
        parts = [self._condition()]
        while self._takes_word("and"):
            parts.append(self._condition())
        return parts[0] if len(parts) == 1 else {"and": parts}

    def _condition(self) -> Filter:
        if self._takes("mark", "("):
            found = self.alternatives()
            self._expect("mark", ")")
            return found
        path = self._next("word")
        if self._takes_word("exists"):
            return {"path": path, "op": "exists", "value": True}
        kind, sign = self._any()
        op = _SIGNS.get(sign) if kind == "sign" else _WORDS.get(sign.lower()) if kind == "word" else None
        if op is None:
            raise QueryError(f"After {path} comes a comparison, not {sign!r}.")
        return {"path": path, "op": op, "value": self._values() if op == "in" else self._value()}

    def _values(self) -> list[Any]:
        self._expect("mark", "[")
        values = [self._value()]
        while self._takes("mark", ","):
            values.append(self._value())
        self._expect("mark", "]")
        return values

    def _value(self) -> Any:
        kind, text = self._any()
        if kind == "text":
            return re.sub(r"\\(.)", r"\1", text[1:-1])
        if kind != "word":
            raise QueryError(f"A value is expected, not {text!r}.")
        try:
            value = json.loads(text)
        except ValueError:
            return text
        return value if not isinstance(value, float) or value == value else text

    def _any(self) -> tuple[str, str]:
        if self._at == len(self._tokens):
            raise QueryError(f"The query is incomplete: {self._text}")
        self._at += 1
        return self._tokens[self._at - 1]

    def _next(self, kind: str) -> str:
        found, text = self._any()
        if found != kind:
            raise QueryError(f"A name is expected, not {text!r}.")
        return text

    def _takes(self, kind: str, text: str) -> bool:
        if self._at < len(self._tokens) and self._tokens[self._at] == (kind, text):
            self._at += 1
            return True
        return False

    def _takes_word(self, word: str) -> bool:
        if self._at < len(self._tokens):
            kind, text = self._tokens[self._at]
            if kind == "word" and text.lower() == word:
                self._at += 1
                return True
        return False

    def _expect(self, kind: str, text: str) -> None:
        if not self._takes(kind, text):
            raise QueryError(f"{text!r} is missing in: {self._text}")
