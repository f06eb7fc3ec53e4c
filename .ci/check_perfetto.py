"""Decodes a Perfetto trace with the published protobufs and checks what joulecast promises of it.

Usage: python check_perfetto.py FILE.perfetto-trace

Needs the package `perfetto` from PyPI. Prints one line; exits with 1 and a reason on the first
thing that does not hold.
"""

import sys
from collections import defaultdict
from math import isfinite

from google.protobuf.message import DecodeError
from google.protobuf.unknown_fields import UnknownFieldSet
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as protos

GROUPS = {"activity", "power", "rails"}
OF_VALUES = {"power", "rails", "counters"}
OF_EVENTS = {"activity", "lines", "marks", "gaps"}
KINDS = {
    "activity": {"window", "inference", "layer", "phase", "idle", "transition"},
    "lines": {"line", "edge"},
    "marks": {"mark"},
    "gaps": {"gap"},
}
UNITS = {"voltage": "V", "current": "A", "power": "W"}


def packets(data):
    """Packet by packet, so that a long trace does not have to be decoded at once."""
    at = 0
    while at < len(data):
        assert data[at] == 0x0A, f"byte {at} does not start a packet"
        length, shift, at = 0, 0, at + 1
        while True:
            byte = data[at]
            at += 1
            length |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        assert at + length <= len(data), f"the last packet is cut off at byte {len(data)}"
        packet = protos.TracePacket()
        packet.ParseFromString(data[at : at + length])
        for message in (packet, packet.track_event, packet.track_descriptor):
            assert len(UnknownFieldSet(message)) == 0, f"a field Perfetto does not know: {packet}"
        yield packet
        at += length


class Check:
    def __init__(self):
        self.tracks = {}
        self.open = defaultdict(list)
        self.slices = defaultdict(int)
        self.last_time = 0
        self.instants = 0
        # Counters stay at their last value where it is unknown, and may begin and end there.
        self.gaps = False
        # Track to (time of the first value, time of the last, last value, integral in unit * ns).
        self.counters = {}

    def descriptor(self, track):
        assert track.uuid and track.uuid not in self.tracks, f"track {track.uuid} is there twice"
        assert track.name, f"track {track.uuid} has no name"
        if track.HasField("parent_uuid"):
            parent = self.tracks.get(track.parent_uuid)
            assert parent is not None, f"{track.name} has no group"
            is_counter = track.HasField("counter")
            groups = OF_VALUES if is_counter else OF_EVENTS
            assert parent.name in groups, f"{track.name} is in {parent.name}"
            if parent.name == "rails":
                unit = UNITS[track.name.rsplit(" ", 1)[1]]
                assert track.counter.unit_name == unit, f"{track.name} in {track.counter.unit_name}"
            elif parent.name == "power":
                assert track.counter.unit_name == "W", f"{track.name} in {track.counter.unit_name}"
        else:
            assert track.name in OF_VALUES | OF_EVENTS, f"{track.name} is under no group"
        self.tracks[track.uuid] = track

    def event(self, time, event):
        assert time >= self.last_time, f"time runs back from {self.last_time} to {time} ns"
        self.last_time = time
        track = self.tracks[event.track_uuid]
        stack = self.open[event.track_uuid]
        if event.type in (event.TYPE_SLICE_BEGIN, event.TYPE_INSTANT):
            group = self.tracks[track.parent_uuid].name
            assert len(event.categories) == 1 and event.categories[0] in KINDS[group]
        if event.type == event.TYPE_INSTANT:
            self.instants += 1
        elif event.type == event.TYPE_SLICE_BEGIN:
            assert event.name, f"a slice without a name on {track.name}"
            if event.categories[0] == "gap":
                self.gaps = True
            stack.append(event.categories[0])
            self.slices[event.categories[0]] += 1
        elif event.type == event.TYPE_SLICE_END:
            assert stack, f"an end without a begin on {track.name} at {time} ns"
            stack.pop()
        elif event.type == event.TYPE_COUNTER:
            self.value(time, event.track_uuid, event.double_counter_value)
        else:
            raise AssertionError(f"event of type {event.type}")

    def value(self, time, uuid, value):
        track = self.tracks[uuid]
        assert track.HasField("counter"), f"a value on {track.name}, which is no counter"
        if uuid not in self.counters:
            assert time == 0 or self.gaps, f"{track.name} starts at {time} ns"
            self.counters[uuid] = (time, value, 0.0)
            return
        since, held, integral = self.counters[uuid]
        assert isfinite(value), f"{track.name} is {value} at {time} ns"
        assert time > since, f"{track.name} has two values at {time} ns"
        self.counters[uuid] = (time, value, integral + held * (time - since))

    def finish(self):
        for uuid, stack in self.open.items():
            assert not stack, f"{self.tracks[uuid].name} ends with open slices: {stack}"
        ends = {since for since, _, _ in self.counters.values()}
        assert len(ends) <= 1 or self.gaps, f"counters end at different times: {sorted(ends)}"
        by_name = defaultdict(dict)
        for uuid, (_, _, integral) in self.counters.items():
            track = self.tracks[uuid]
            by_name[self.tracks[track.parent_uuid].name][track.name] = integral * 1e-9
        powers = by_name["power"]
        parts = sum(energy for name, energy in powers.items() if name != "total")
        # A line that is measured alone is its own total.
        total = powers.pop("total", parts)
        # Each counter keeps the last value of a nanosecond, so that sum and total agree.
        scale = sum(abs(energy) for energy in powers.values())
        assert self.gaps or abs(total - parts) <= 1e-9 * scale, f"the total is {total} J, its parts {parts} J"
        return total


def main():
    with open(sys.argv[1], "rb") as file:
        data = file.read()
    check, count = Check(), 0
    for packet in packets(data):
        count += 1
        assert packet.trusted_packet_sequence_id == 1
        which = packet.WhichOneof("data")
        if which == "track_descriptor":
            check.descriptor(packet.track_descriptor)
        else:
            assert which == "track_event", f"a packet with {which}"
            check.event(packet.timestamp, packet.track_event)
    energy = check.finish()
    assert {track.name for track in check.tracks.values()} >= GROUPS
    slices = ", ".join(f"{n} {kind}" for kind, n in sorted(check.slices.items()))
    print(
        f"{sys.argv[1]}: {count} packets, {len(check.tracks)} tracks, slices: {slices or 'none'}, "
        f"{check.instants} instants, "
        f"{len(check.counters)} counters, {energy:.6e} J in {check.last_time} ns"
    )


if __name__ == "__main__":
    try:
        main()
    except (AssertionError, DecodeError, IndexError, KeyError) as fault:
        sys.exit(f"{sys.argv[1]}: {type(fault).__name__}: {fault}")
