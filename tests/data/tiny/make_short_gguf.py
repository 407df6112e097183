"""Write a GGUF model with its first layers only: small enough for the repository, and real enough that every tensor of its
architecture is used. What llama.cpp makes of it is in expected/, as for the whole models.

usage: make_short_gguf.py MODEL.gguf LAYERS OUT.gguf
"""
import re
import struct
import sys

SCALAR_BYTES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
# The elements and bytes of a block, by the format's number in ggml.
BLOCKS = {0: (1, 4), 1: (1, 2), 2: (32, 18), 8: (32, 34), 12: (256, 144), 13: (256, 176), 14: (256, 210)}
ALIGNMENT = 32


def main():
    source, layers, out = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    data = open(source, "rb").read()
    at = 24

    def number(form):
        nonlocal at
        value, = struct.unpack_from(form, data, at)
        at += struct.calcsize(form)
        return value

    def text():
        nonlocal at
        size = number("<Q")
        at += size
        return data[at - size:at]

    def skip(kind):
        nonlocal at
        if kind == 8:
            text()
        elif kind == 9:
            inner, count = number("<I"), number("<Q")
            for _ in range(count):
                skip(inner)
        else:
            at += SCALAR_BYTES[kind]

    tensor_count, entry_count = struct.unpack_from("<QQ", data, 8)
    entries = []
    for _ in range(entry_count):
        begin = at
        key = text().decode()
        kind = number("<I")
        value = at
        skip(kind)
        entry = data[begin:at]
        if key.endswith(".block_count"):
            entry = data[begin:value] + struct.pack("<I", layers)
        elif key == "general.name":
            name = data[value + 8:at] + b" (first %d layers)" % layers
            entry = data[begin:value] + struct.pack("<Q", len(name)) + name
        entries.append(entry)

    tensors = []
    for _ in range(tensor_count):
        name = text()
        shape = [number("<Q") for _ in range(number("<I"))]
        kind, offset = number("<I"), number("<Q")
        elements = 1
        for extent in shape:
            elements *= extent
        per_block, block_bytes = BLOCKS[kind]
        tensors.append((name, shape, kind, offset, elements // per_block * block_bytes))
    begin_of_data = (at + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT

    def is_kept(name):
        block = re.match(rb"blk\.(\d+)\.", name)
        return block is None or int(block[1]) < layers

    kept = [tensor for tensor in tensors if is_kept(tensor[0])]
    head = data[:8] + struct.pack("<QQ", len(kept), len(entries)) + b"".join(entries)
    body = b""
    for name, shape, kind, offset, size in kept:
        body += b"\0" * (-len(body) % ALIGNMENT)
        head += struct.pack("<Q", len(name)) + name + struct.pack(f"<I{len(shape)}Q", len(shape), *shape)
        head += struct.pack("<IQ", kind, len(body))
        body += data[begin_of_data + offset:begin_of_data + offset + size]
    body += b"\0" * (-len(body) % ALIGNMENT)
    head += b"\0" * (-len(head) % ALIGNMENT)
    open(out, "wb").write(head + body)


if __name__ == "__main__":
    main()
