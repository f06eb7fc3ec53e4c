#!/usr/bin/env python3
"""Makes docs/example_capture.csv and docs/example_capture.log: the capture of a board that does not exist.

A current at 1 kHz as a Power Profiler Kit exports it, a pin that falls for 2 ms at the start and at the
stop of each of three windows of 20 inferences, and the log of a host whose clock runs 120 ppm slow and
whose stop lines come 20 ms late. Layers are those of kws_ds_cnn, each with a duration and a current of its
own; between two layers the runtime draws less for 0.6 ms.
"""
import random

random.seed(7)
LAYERS = [  # ms, mA
    (9.6, 14.2), (6.4, 12.9), (8.3, 13.6), (6.4, 12.9), (8.3, 13.6), (6.4, 12.9), (8.3, 13.6), (6.4, 12.9), (9.3, 13.4),
]
BETWEEN = (0.6, 11.6)
INFERENCES, WINDOWS, RATE = 20, 3, 1000.0
IDLE, WAIT = 4.1, 9.5  # mA
GAP = 0.4  # s between windows

steps = []  # s, mA
def hold(seconds, milliampere):
    steps.append((seconds, milliampere))

edges = []
def now():
    return sum(step[0] for step in steps)

hold(0.15, IDLE)
for window in range(WINDOWS):
    edges.append(now())
    for _ in range(INFERENCES):
        for duration, current in LAYERS:
            hold(BETWEEN[0] * 1e-3, BETWEEN[1])
            hold(duration * 1e-3, current)
    edges.append(now())
    hold(GAP * 0.75, WAIT)
    hold(GAP * 0.25, IDLE)

# The meter integrates over each sample.
samples, at, carry, charge = [], 0.0, 0.0, 0.0
for seconds, current in steps:
    while carry + seconds >= 1 / RATE - 1e-12:
        part = 1 / RATE - carry
        samples.append((charge + part * current) * RATE)
        seconds, carry, charge = seconds - part, 0.0, 0.0
    carry, charge = carry + seconds, charge + seconds * current
low = set()
for edge in edges:
    low.update((round(edge * RATE), round(edge * RATE) + 1))
with open("docs/example_capture.csv", "w", newline="\n") as out:
    out.write("Timestamp(ms),Current(uA),D0\n")
    for k, milliampere in enumerate(samples):
        out.write(f"{k},{milliampere * 1000 + random.gauss(0, 60):.3f},{int(k not in low)}\n")
with open("docs/example_capture.log", "w", newline="\n") as out:
    for k, edge in enumerate(edges):
        host = 300 + (edge + (0.020 if k % 2 else 0.0)) / (1 + 120e-6)
        text = "m-infer-done" if k % 2 else f"m-infer-start-{INFERENCES}"
        out.write(f"{host:09.3f} io: [dut]: {text}\n")
