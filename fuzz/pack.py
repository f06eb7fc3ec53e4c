#!/usr/bin/env python3
"""Packs what fuzzers found into fuzz/found/FORMAT.bin: `pack.py FORMAT CORPUS_FOLDER`.

The smallest inputs first, up to 24 KiB in all; each with its length before it, four bytes, low byte first.
Only corpora grown from fuzz/seeds belong here: those of other files are not ours to publish.
"""
import os, struct, sys

form, folder = sys.argv[1:3]
files = sorted((os.path.join(folder, name) for name in os.listdir(folder)), key=lambda f: (os.path.getsize(f), f))
packed = b""
for file in files:
    with open(file, "rb") as f:
        data = f.read()
    if len(packed) + len(data) > 24 * 1024:
        break
    packed += struct.pack("<I", len(data)) + data
out = os.path.join(os.path.dirname(os.path.abspath(__file__)), "found")
os.makedirs(out, exist_ok=True)
with open(os.path.join(out, form + ".bin"), "wb") as f:
    f.write(packed)
