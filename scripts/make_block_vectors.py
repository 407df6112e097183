#!/usr/bin/env python3
"""Writes tests/data/blocks/blocks.json: random blocks of every weight format and what ggml's own reference makes of them.

usage: make_block_vectors.py LIBGGML_BASE.so > blocks.json      (Debian package libggml0)
"""
import ctypes, json, random, struct, sys

FORMATS = {  # name: (number in ggml.h, suffix of the function)
    "Q8_0": (8, "q8_0"), "Q4_0": (2, "q4_0"), "Q4_1": (3, "q4_1"), "Q5_0": (6, "q5_0"), "Q5_1": (7, "q5_1"), "Q2_K": (10, "q2_K"),
    "Q3_K": (11, "q3_K"), "Q4_K": (12, "q4_K"), "Q5_K": (13, "q5_K"), "Q6_K": (14, "q6_K"), "IQ4_NL": (20, "iq4_nl"), "MXFP4": (39, "mxfp4")}
HALVES = {"Q8_0": [0], "Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q2_K": [80, 82], "Q3_K": [108], "Q4_K": [0, 2],
          "Q5_K": [0, 2], "Q6_K": [208], "IQ4_NL": [0], "MXFP4": []}


def main():
    ggml = ctypes.CDLL(sys.argv[1])
    ggml.ggml_blck_size.restype, ggml.ggml_type_size.restype = ctypes.c_int64, ctypes.c_size_t
    random.seed(1)
    result = []
    for name, (number, suffix) in FORMATS.items():
        elements, size = ggml.ggml_blck_size(number), ggml.ggml_type_size(number)
        for case in range(3):
            block = bytearray(random.randbytes(size))
            for at in HALVES[name]:  # Random bits are often NaN, so that scales are replaced by small numbers; that of the last case is subnormal.
                block[at:at + 2] = struct.pack("<e", random.uniform(-1, 1) if case < 2 else random.uniform(-6e-5, 6e-5))
            if name == "MXFP4": block[0] = [127, 120, 1][case]
            out = (ctypes.c_float * elements)()
            getattr(ggml, "dequantize_row_" + suffix)(ctypes.c_char_p(bytes(block)), out, ctypes.c_int64(elements))
            result.append({"type": name, "block": block.hex(), "values": struct.pack(f"<{elements}f", *out).hex()})
    print(json.dumps(result, indent=0))


main()
