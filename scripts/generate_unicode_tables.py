#!/usr/bin/env python3
"""Writes src/engine/unicode/tables.cpp from Python's unicodedata: categories as ranges, case mappings as ranges with a
step. The Unicode version stands in the table. It is 15.1 (Python 3.13), as in llama.cpp, so that new letters are cut the same.

usage: generate_unicode_tables.py > src/engine/unicode/tables.cpp
"""
import unicodedata

LAST = 0x10FFFF
LETTER, MARK, NUMBER, DECIMAL, DIGIT, PUNCTUATION, SPACE, PRINTABLE, LOWER, UPPER = (1 << i for i in range(10))
# The characters with the property White_Space. Python's str.isspace() also accepts U+001C to U+001F, which lack the
# property.
WHITE_SPACE = {*range(0x09, 0x0E), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000}


def flags(code):
    c = chr(code)
    category = unicodedata.category(c)
    result = {"L": LETTER, "M": MARK, "N": NUMBER, "P": PUNCTUATION}.get(category[0], 0)
    if c.isdecimal(): result |= DECIMAL
    if c.isdigit(): result |= DIGIT
    if code in WHITE_SPACE: result |= SPACE
    if c.isprintable(): result |= PRINTABLE
    if c.islower(): result |= LOWER
    if c.isupper(): result |= UPPER
    return result


def class_rows():
    rows, before = [], None
    for code in range(LAST + 1):
        now = flags(code)
        if now != before:
            rows.append((code, now))
            before = now
    return rows


def case_rows(mapping):
    """Ranges [first, last, step, delta] of single mappings, and the code points that become several."""
    single, several = [], []
    for code in range(LAST + 1):
        if 0xD800 <= code <= 0xDFFF: continue
        to = mapping(chr(code))
        if to == chr(code): continue
        if len(to) == 1: single.append((code, ord(to) - code))
        else: several.append((code, to))
    ranges = []
    for code, delta in single:
        if ranges and ranges[-1][3] == delta:
            first, last, step, _ = ranges[-1]
            gap = code - last
            if gap <= 2 and (first == last or gap == step):
                ranges[-1] = [first, code, gap, delta]
                continue
        ranges.append([code, code, 1, delta])
    return ranges, several


def base_rows():
    """Ranges of code points that decompose canonically, with the first code point of what they become."""
    ranges = []
    for code in range(LAST + 1):
        if 0xD800 <= code <= 0xDFFF: continue
        base = ord(unicodedata.normalize("NFD", chr(code))[0])
        if base == code: continue
        if ranges and ranges[-1][1] == code - 1 and ranges[-1][2] == base: ranges[-1][1] = code
        else: ranges.append([code, code, base])
    return ranges


def write_list(items, width):
    for i in range(0, len(items), width): print("    " + " ".join(item + "," for item in items[i:i + width]))


def main():
    print(f"// Made by scripts/generate_unicode_tables.py from Unicode {unicodedata.unidata_version}. Do not edit.")
    print("// clang-format off")
    print('#include "engine/unicode/tables.h"\n')
    print("namespace weft::unicode::tables {\n")
    rows = class_rows()
    print(f"const std::array<std::uint32_t, {len(rows)}> class_rows_data = {{{{")
    write_list([f"0x{code << 10 | bits:x}" for code, bits in rows], 14)
    print("}};\nconst std::span<const std::uint32_t> class_rows = class_rows_data;\n")
    for name, mapping in (("lower", str.lower), ("upper", str.upper), ("title", str.title)):
        ranges, several = case_rows(mapping)
        print(f"const std::array<CaseRange, {len(ranges)}> {name}_ranges_data = {{{{")
        write_list(["{%d, %d, %d, %d}" % tuple(row) for row in ranges], 6)
        print(f"}}}};\nconst std::span<const CaseRange> {name}_ranges = {name}_ranges_data;\n")
        print(f"const std::array<CaseSequence, {len(several)}> {name}_sequences_data = {{{{")
        write_list([f"{{{code}, U\"" + "".join(f"\\U{ord(c):08x}" for c in to) + "\"}" for code, to in several], 4)
        print(f"}}}};\nconst std::span<const CaseSequence> {name}_sequences = {name}_sequences_data;\n")
    bases = base_rows()
    print(f"const std::array<BaseRange, {len(bases)}> base_ranges_data = {{{{")
    write_list(["{0x%x, 0x%x, 0x%x}" % tuple(row) for row in bases], 6)
    print("}};\nconst std::span<const BaseRange> base_ranges = base_ranges_data;\n")
    print("}  // namespace weft::unicode::tables")


main()
