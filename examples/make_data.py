#!/usr/bin/env python3
"""Makes the data that the examples name by path. The same bytes every time; the files are in the repository.

matmul_a.bin, matmul_b.bin   512 x 512 int8 each, from a 64-bit xorshift
nbody_positions.bin          2048 bodies as f32 x, y, z, mass: a Plummer sphere of total mass 1
nbody_velocities.bin         2048 x f32 vx, vy, vz, 0: slow turning about z
"""
import math
import pathlib
import struct

here = pathlib.Path(__file__).parent


class Random:
    def __init__(self, seed):
        self.state = seed

    def word(self):
        x = self.state
        x ^= (x << 13) & 0xFFFFFFFFFFFFFFFF
        x ^= x >> 7
        x ^= (x << 17) & 0xFFFFFFFFFFFFFFFF
        self.state = x
        return x

    def unit(self):
        return (self.word() >> 11) / 2.0**53


def matrix(seed):
    random = Random(seed)
    return bytes((random.word() >> 32) & 0xFF for _ in range(512 * 512))


def bodies(count):
    random = Random(20260101)
    positions, velocities = bytearray(), bytearray()
    for _ in range(count):
        # Plummer's model: the radius follows from the mass within it. The sphere ends at five scale lengths.
        radius = 10.0
        while radius > 5.0:
            radius = (random.unit() ** (-2.0 / 3.0) - 1.0) ** -0.5
        z = 2.0 * random.unit() - 1.0
        angle = 2.0 * math.pi * random.unit()
        ring = math.sqrt(1.0 - z * z)
        x, y, z = radius * ring * math.cos(angle), radius * ring * math.sin(angle), radius * z
        positions += struct.pack("<4f", x, y, z, 1.0 / count)
        velocities += struct.pack("<4f", -0.3 * y, 0.3 * x, 0.0, 0.0)
    return bytes(positions), bytes(velocities)


positions, velocities = bodies(2048)
for name, data in {
    "matmul_a.bin": matrix(1),
    "matmul_b.bin": matrix(2),
    "nbody_positions.bin": positions,
    "nbody_velocities.bin": velocities,
}.items():
    (here / name).write_bytes(data)
