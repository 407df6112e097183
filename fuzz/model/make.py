"""Writes the files beside it: encoders and a mixture of experts of a few kilobytes, without tokenizers, which model_fuzz starts from."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../tests/data/tiny"))
import make_random  # noqa: E402


def few_tokens(*_):
    return ["<|im_end|>"] * 9


make_random.byte_pairs = make_random.word_pieces = few_tokens


class Small(make_random.File):
    def set(self, key, value):
        if not key.startswith("tokenizer."):
            super().set(key, value)


make_random.File = Small
TINY = {"width": 8, "layers": 1, "heads": 2, "feed": 8, "context": 16}
make_random.encoder("bert", os.path.join(HERE, "bert.gguf"), make_random.FIRST, **TINY)
make_random.encoder("nomic-bert", os.path.join(HERE, "nomic-bert.gguf"), make_random.MEAN, **TINY)
make_random.qwen3(os.path.join(HERE, "qwen3.gguf"), width=8, feed=8, layers=1, head=4)
make_random.qwen3(os.path.join(HERE, "qwen3moe.gguf"), experts=3, used=2, width=8, feed=8, layers=1, head=4)
