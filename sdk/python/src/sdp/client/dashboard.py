"""A dashboard of a session: its channels, and their points as frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from .._inputs.frames import library
from .api import Api

if TYPE_CHECKING:
    import pandas

_CHANNELS_A_CALL = 64


@dataclass(frozen=True)
class Channel:
    """A channel of a recording."""

    key: str
    name: str
    unit: str | None
    type: str
    group: str
    source: str
    """The recording that it is of."""
    is_relative: bool
    """Its times count from the beginning of the recording."""


class Dashboard:
    """A dashboard of a session."""

    def __init__(self, dashboard_id: int, name: str, api: Api) -> None:
        self.id = dashboard_id
        self.name = name
        self._api = api

    def __repr__(self) -> str:
        return f"Dashboard({self.name!r}, {self.id})"

    @cached_property
    def details(self) -> Mapping[str, Any]:
        """Sources, channels and layout, as the platform describes them. Read once."""
        return self._api.object("GET", f"/api/v2/dashboard/dimensions/{self.id}")

    @cached_property
    def channels(self) -> tuple[Channel, ...]:
        """All channels of all recordings."""
        return tuple(
            Channel(
                key=each["key"],
                name=each["name"],
                unit=each.get("unit"),
                type=each["type"],
                group=each["group"],
                source=source["name"],
                is_relative=source["time"]["kind"] == "relative",
            )
            for source in self.details["sources"]
            for each in source["channels"]
        )

    def series(
        self,
        *names: str,
        start: datetime | str | None = None,
        end: datetime | str | None = None,
        max_points: int = 2_000,
    ) -> pandas.DataFrame:
        """Points of channels, by name or key (none: all), as a frame with a column for each channel over their times.

        The points are chosen so that lows and highs stay: at most ``max_points`` for each channel. Several points of
        one time are several rows. Times of a recording without dates are durations since its beginning. The second
        channel of a name is called ``recording/name``, each further one by its key. Needs ``pip install pandas``.
        """
        reader = library("pandas", "series()")
        chosen = self._chosen(names)
        columns: dict[str, Any] = {}
        for wire, channel in zip(self._read("series", chosen, start, end, maxPoints=max_points), chosen):
            times = _times(reader, wire["times"], channel.is_relative)
            label = _label(channel, columns)
            points = reader.Series(wire["values"], index=times, name=label)
            # The second point of a time stands beside the second ones of other channels.
            columns[label] = points.set_axis([points.index, points.groupby(level=0).cumcount()])
        frame: pandas.DataFrame = reader.DataFrame(columns)
        if columns:
            frame.index = frame.index.droplevel([1])
        frame.index.name = "time"
        return frame

    def statistics(
        self, *names: str, start: datetime | str | None = None, end: datetime | str | None = None
    ) -> pandas.DataFrame:
        """Count, missing, minimum, maximum, mean and standard deviation of channels, a row each.

        All rows between ``start`` and ``end`` count. ``min_at`` and ``max_at`` are times as in ``series()``. Channels of
        texts and truth values have ``states``, the share of time of each value. Needs ``pip install pandas``.
        """
        reader = library("pandas", "statistics()")
        chosen = self._chosen(names)
        rows: dict[str, Any] = {}
        for wire, channel in zip(self._read("statistics", chosen, start, end), chosen):
            least, greatest = wire.get("min") or {}, wire.get("max") or {}
            rows[_label(channel, rows)] = {
                "unit": channel.unit,
                "count": wire.get("count"),
                "missing": wire.get("missing"),
                "min": least.get("value"),
                "min_at": _moment(reader, least.get("at"), channel.is_relative),
                "max": greatest.get("value"),
                "max_at": _moment(reader, greatest.get("at"), channel.is_relative),
                "mean": wire.get("mean"),
                "standard_deviation": wire.get("standardDeviation"),
                "states": _shares(wire.get("states")),
            }
        frame: pandas.DataFrame = reader.DataFrame.from_dict(rows, orient="index")
        frame.index.name = "channel"
        return frame

    def _chosen(self, names: Sequence[str]) -> list[Channel]:
        if not names:
            return list(self.channels)
        chosen: list[Channel] = []
        for name in names:
            matching = [channel for channel in self.channels if name in (channel.name, channel.key)]
            if not matching:
                known = ", ".join(channel.name for channel in self.channels)
                raise LookupError(f"{self.name} has no channel {name!r}; it has {known}.")
            chosen += [channel for channel in matching if channel not in chosen]
        return chosen

    def _read(
        self,
        what: str,
        chosen: Sequence[Channel],
        start: datetime | str | None,
        end: datetime | str | None,
        **more: Any,
    ) -> list[dict[str, Any]]:
        """The answers in the order of the channels."""
        answers: list[dict[str, Any]] = []
        for at in range(0, len(chosen), _CHANNELS_A_CALL):
            keys = [channel.key for channel in chosen[at : at + _CHANNELS_A_CALL]]
            query = {"channels": ",".join(keys), "from": _time(start), "to": _time(end), **more}
            _, body = self._api.call("GET", f"/api/v2/dashboard/dimensions/{self.id}/{what}", query=query)
            found = body if isinstance(body, list) else body.get(what) or body.get("channels") or []
            by_key = {each.get("channel") or each.get("key"): each for each in found}
            answers += [by_key[key] for key in keys]
        return answers


def _label(channel: Channel, taken: Mapping[str, Any]) -> str:
    names = (channel.name, f"{channel.source}/{channel.name}")
    return next((name for name in names if name not in taken), channel.key)


def _times(pandas: Any, times: Sequence[float], is_relative: bool) -> Any:
    if is_relative:
        return pandas.to_timedelta(times, unit="ms")
    # Recordings have microseconds; as a number of milliseconds since 1970 they are not exact.
    return pandas.to_datetime(times, unit="ms", utc=True).round("us")


def _moment(pandas: Any, at: str | None, is_relative: bool) -> Any:
    if at is None:
        return None
    time = pandas.Timestamp(at)
    return time - pandas.Timestamp(0, tz="UTC") if is_relative else time


def _shares(states: Sequence[Mapping[str, Any]] | None) -> dict[Any, float] | None:
    return None if states is None else {each["value"]: each["share"] for each in states}


def _time(value: datetime | str | None) -> str | None:
    return value.isoformat() if isinstance(value, datetime) else value
