"""Holds `weft tokenize` to llama.cpp on random texts: compare_tokenizers.py MODEL.gguf [--count 500] [--seed 1]

MODEL is a file of make_random.py (bert: WordPiece, gemma3: SentencePiece) or any other. Texts are of words of make_random.py's TEXT, of marks, digits, spaces
and characters of other writings, of up to 40 parts. Prints each text that the two cut differently, and ends with 1 if there is one.
"""
import argparse
import os
import random
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from make_random import TEXT, Server  # noqa: E402

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
PARTS = [*TEXT.split(" "), *"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", *"0123456789", " ", "  ", "   ", "\n", "\n\n", "\t", "\r\n", "é", "Ü", "ß", "ﬁ", "İ", "ǅ", "中", "字", "日本",
         "한국", "हि", "न्", "Ω", "абв", "Й", "\u0301", "\u200b", "\u00ad", "\u3000", "\u00a0", "“", "”", "—", "…", "😀", "👩\u200d💻", "\U00020000", "\ufffd", "\u2581", "ing", "ed", "xyz", "QU", "<table>", "a" * 120]


def main():
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("model")
    reader.add_argument("--count", type=int, default=500)
    reader.add_argument("--seed", type=int, default=1)
    asked = reader.parse_args()
    choose = random.Random(asked.seed)
    weft = os.environ.get("WEFT", os.path.join(ROOT, "build/release/weft"))
    server, different = Server(asked.model, "--no-warmup"), 0
    try:
        for _ in range(asked.count):
            text = "".join(choose.choice(PARTS) + choose.choice(["", "", " "]) for _ in range(choose.randint(1, 40)))
            theirs = server.post("/tokenize", {"content": text, "add_special": True, "parse_special": False})["tokens"]
            said = subprocess.run([weft, "tokenize", "--model", asked.model, "--add-special", "--file", "-"], input=text.encode(), stdout=subprocess.PIPE, check=True)
            ours = [int(one) for one in said.stdout.split()]
            if ours != theirs:
                different += 1
                print(f"{text!r}\n  weft  {ours}\n  llama {theirs}")
    finally:
        server.end()
    print(f"{asked.count} texts, {different} cut differently")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
