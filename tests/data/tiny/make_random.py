"""Write a GGUF model of one architecture with random weights: a few hundred KB, and every tensor of the architecture is used. It
says nonsense, but the same nonsense as llama.cpp.

usage: make_random.py ARCHITECTURE OUT.gguf           qwen3, qwen3moe, qwen3moe-wide, gemma3, mistral, mistral3, bert, nomic-bert;
                                                   bert-256 and nomic-bert-256 to be quantized;
                                                   bert-wide and nomic-bert-wide for measurements (shapes of all-MiniLM-L6 and half of nomic-embed)
       make_random.py quantized FORMAT IN.gguf OUT.gguf   by llama-quantize, such as Q4_K_M
       make_random.py expected OUT.gguf OUT.json      what llama-server (Debian llama.cpp-tools) answers with it, in f32 on a CPU
       make_random.py embeddings OUT.gguf OUT.json    the same for models that embed
"""
import array
import json
import os
import random
import socket
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request

TEXT = ("The quality of mercy is not strained; it droppeth as the gentle rain from heaven upon the place beneath. "
        "It is twice blest; it blesseth him that gives and him that takes. The capital of Japan is Tokyo, and the sea is blue. "
        "What is the answer to the question? There are 12 months and 365 days in the year.")
PROMPTS = ["The capital of Japan is", "It is twice blest; it", "def f(x):\n    return x + 1\n", "Grün ist die Heide, 12 + 30 = 42. ", TEXT]
ALIGNMENT = 32


def text(x):
    data = x.encode()
    return struct.pack("<Q", len(data)) + data


def pair(key, value):
    head = text(key)
    if isinstance(value, str):
        return head + struct.pack("<I", 8) + text(value)
    if isinstance(value, bool):
        return head + struct.pack("<I?", 7, value)
    if isinstance(value, int):
        return head + struct.pack("<II", 4, value)
    if isinstance(value, float):
        return head + struct.pack("<If", 6, value)
    if isinstance(value[0], str):
        return head + struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(text, value))
    if isinstance(value[0], float):
        return head + struct.pack("<IIQ", 9, 6, len(value)) + struct.pack(f"<{len(value)}f", *value)
    return head + struct.pack("<IIQ", 9, 5, len(value)) + struct.pack(f"<{len(value)}i", *value)


F16, Q8_0 = 1, 8  # Formats, as GGUF numbers them.


def q8_0(values):
    """Blocks of 32: a scale as f16, and int8."""
    out = []
    for i in range(0, len(values), 32):
        block = values[i:i + 32]
        scale = max(map(abs, block)) / 127
        out.append(struct.pack("<e32b", scale, *(round(x / scale) if scale else 0 for x in block)))
    return b"".join(out)


class File:
    def __init__(self, architecture, seed=11):
        self.random = random.Random(seed)
        self.architecture = architecture
        self.meta = [pair("general.architecture", architecture), pair("general.name", f"random-{architecture}"),
                     pair("general.license", "apache-2.0")]
        self.tensors = []

    def set(self, key, value):
        self.meta.append(pair(key, value))

    def own(self, key, value):
        self.set(f"{self.architecture}.{key}", value)

    def matrix(self, name, rows, columns, scale=1.0, kind=F16, zero=(), experts=0):
        """`zero`: rows that are 0. With experts: so many of them, one below the other."""
        deviation = scale / columns ** 0.5
        values = [self.random.gauss(0, deviation) * (i // columns not in zero) for i in range(rows * columns * max(1, experts))]
        self.tensors.append((name, (columns, rows, experts) if experts else (columns, rows), kind, q8_0(values) if kind == Q8_0 else
                             struct.pack(f"<{len(values)}{'e' if kind else 'f'}", *values)))

    def vector(self, name, size, middle=1.0, deviation=0.1):
        values = array.array("f", [self.random.gauss(middle, deviation) for _ in range(size)])
        self.tensors.append((name, (size,), 0, values.tobytes()))

    def write(self, path):
        infos, offset, blobs = b"", 0, []
        for name, shape, kind, data in self.tensors:
            infos += text(name) + struct.pack("<I", len(shape)) + b"".join(struct.pack("<Q", size) for size in shape)
            infos += struct.pack("<IQ", kind, offset)
            blobs.append(data + b"\0" * (-len(data) % ALIGNMENT))
            offset += len(blobs[-1])
        head = b"GGUF" + struct.pack("<IQQ", 3, len(self.tensors), len(self.meta)) + b"".join(self.meta) + infos
        with open(path, "wb") as out:
            out.write(head + b"\0" * (-len(head) % ALIGNMENT) + b"".join(blobs))


def byte_alphabet():
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    other = [b for b in range(256) if b not in plain]
    return {**{b: chr(b) for b in plain}, **{b: chr(256 + i) for i, b in enumerate(other)}}


def mistral(path, architecture="llama"):
    """As Mistral Nemo's files: heads that are not the width's share, the tokenizer Tekken, the rest as llama. mistral3 stretches its
    rotation by YaRN."""
    file, width, layers, heads, kv, head, feed = File(architecture), 64, 2, 4, 2, 48, 96
    for key, value in {"block_count": layers, "context_length": 16384 if architecture == "mistral3" else 1024, "embedding_length": width, "feed_forward_length": feed,
                       "attention.head_count": heads, "attention.head_count_kv": kv, "attention.key_length": head,
                       "attention.value_length": head, "attention.layer_norm_rms_epsilon": 1e-5, "rope.dimension_count": head,
                       "rope.freq_base": 1e6}.items():
        file.own(key, value)
    if architecture == "mistral3":
        for key, value in {"rope.scaling.type": "yarn", "rope.scaling.factor": 16.0, "rope.scaling.original_context_length": 1024,
                           "rope.scaling.yarn_beta_fast": 32.0, "rope.scaling.yarn_beta_slow": 1.0, "rope.scaling.yarn_log_multiplier": 0.5,
                           "attention.temperature_scale": 0.1}.items():
            file.own(key, value)
    tokens = byte_pairs(file, "tekken", ["<unk>", "<s>", "</s>", "[INST]", "[/INST]"])
    for key, token in {"bos": "<s>", "eos": "</s>", "unknown": "<unk>"}.items():
        file.set(f"tokenizer.ggml.{key}_token_id", tokens.index(token))
    file.matrix("token_embd.weight", len(tokens), width, scale=8)
    file.vector("output_norm.weight", width)
    file.matrix("output.weight", len(tokens), width, scale=5, zero=range(128, 256))  # The zeros have the same reason as in qwen3.
    for i in range(layers):
        block = f"blk.{i}."
        file.vector(block + "attn_norm.weight", width)
        file.matrix(block + "attn_q.weight", heads * head, width, scale=2)
        file.matrix(block + "attn_k.weight", kv * head, width, scale=2)
        file.matrix(block + "attn_v.weight", kv * head, width)
        file.matrix(block + "attn_output.weight", width, heads * head, scale=2)
        file.vector(block + "ffn_norm.weight", width)
        file.matrix(block + "ffn_gate.weight", feed, width, scale=2)
        file.matrix(block + "ffn_up.weight", feed, width)
        file.matrix(block + "ffn_down.weight", width, feed, scale=2)
    file.write(path)


def most_merged(words, merges_max):
    """The pairs of neighbours that occur most in `words` (lists of parts), each merged before the next is looked for."""
    merges = []
    while len(merges) < merges_max:
        counts = {}
        for word in words:
            for both in zip(word, word[1:]):
                counts[both] = counts.get(both, 0) + 1
        best = max(counts, key=lambda both: (counts[both], both))
        merges.append(best)
        for word in words:
            i = 0
            while i + 1 < len(word):
                if (word[i], word[i + 1]) == best:
                    word[i:i + 2] = ["".join(best)]
                i += 1
    return merges


def byte_pairs(file, pre, special, merges_max=120):
    """A byte-level vocabulary, and the merges that occur most in TEXT, word by word."""
    alphabet = byte_alphabet()
    words = [["".join(alphabet[b] for b in character.encode()) for character in (" " + word if i else word)]
             for i, word in enumerate(TEXT.split(" "))]
    merges = most_merged(words, merges_max)
    tokens = [*(alphabet[b] for b in range(256)), *map("".join, merges), *special]
    file.set("tokenizer.ggml.model", "gpt2")
    file.set("tokenizer.ggml.pre", pre)
    file.set("tokenizer.ggml.tokens", tokens)
    file.set("tokenizer.ggml.token_type", [3 if token in special else 1 for token in tokens])
    file.set("tokenizer.ggml.merges", [" ".join(both) for both in merges])
    return tokens


def qwen3(path, experts=0, used=0, width=64, feed=96, layers=3, head=64):
    """With experts: qwen3moe."""
    file, heads, kv = File("qwen3moe" if experts else "qwen3"), 4, 2
    if experts:
        for key, value in {"expert_count": experts, "expert_used_count": used, "expert_feed_forward_length": feed}.items():
            file.own(key, value)
    for key, value in {"block_count": layers, "context_length": 1024, "embedding_length": width, "feed_forward_length": feed,
                       "attention.head_count": heads, "attention.head_count_kv": kv, "attention.key_length": head,
                       "attention.value_length": head, "attention.layer_norm_rms_epsilon": 1e-6, "rope.freq_base": 1e6}.items():
        file.own(key, value)
    tokens = byte_pairs(file, "qwen2", ["<|endoftext|>", "<|im_start|>", "<|im_end|>"])
    file.set("tokenizer.ggml.eos_token_id", tokens.index("<|im_end|>"))
    file.set("tokenizer.ggml.add_bos_token", False)
    file.matrix("token_embd.weight", len(tokens), width, scale=8)
    file.vector("output_norm.weight", width)
    # For tokens that end within a character, llama-server does not return the bytes, so the model never draws tokens of
    # such bytes.
    file.matrix("output.weight", len(tokens), width, scale=5, zero=range(128, 256))
    for i in range(layers):
        block = f"blk.{i}."
        file.vector(block + "attn_norm.weight", width)
        file.matrix(block + "attn_q.weight", heads * head, width)
        file.matrix(block + "attn_k.weight", kv * head, width)
        file.matrix(block + "attn_v.weight", kv * head, width)
        file.vector(block + "attn_q_norm.weight", head, middle=1.5)
        file.vector(block + "attn_k_norm.weight", head, middle=1.5)
        file.matrix(block + "attn_output.weight", width, heads * head, scale=2)
        file.vector(block + "ffn_norm.weight", width)
        if experts:
            file.matrix(block + "ffn_gate_inp.weight", experts, width, scale=2, kind=0)
        end = "_exps" if experts else ""
        file.matrix(block + f"ffn_gate{end}.weight", feed, width, scale=2, experts=experts)
        file.matrix(block + f"ffn_up{end}.weight", feed, width, experts=experts)
        file.matrix(block + f"ffn_down{end}.weight", width, feed, scale=2, experts=experts)
    file.write(path)


def quantized(kind, model, out):
    subprocess.run(["llama-quantize", "--allow-requantize", model, out, kind], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def sentence_pieces(file, merges_max=120):
    """A vocabulary as Gemma's: control tokens, bytes, runs of spaces and lines that are tokens by definition, and pieces with scores."""
    control, runs = ["<pad>", "<eos>", "<bos>", "<unk>", "<start_of_turn>", "<end_of_turn>"], ["\n", "\n\n", "  ", "   ", "<table>"]
    words = [["\u2581", *word] for word in TEXT.split(" ")]
    letters = sorted({letter for word in words for letter in word} | set("äö()+-=:\"'xyzXYZ"))
    pieces = [*map("".join, most_merged(words, merges_max)), *letters]
    bytes_ = [f"<0x{b:02X}>" for b in range(256)]
    tokens = [*control, *bytes_, *runs, *pieces]
    file.set("tokenizer.ggml.model", "llama")
    file.set("tokenizer.ggml.pre", "default")
    file.set("tokenizer.ggml.tokens", tokens)
    file.set("tokenizer.ggml.scores", [0.0] * (len(tokens) - len(pieces)) + [-float(i) for i in range(len(pieces))])
    file.set("tokenizer.ggml.token_type", [3] * len(control) + [6] * 256 + [4] * len(runs) + [1] * len(pieces))
    for key, token in {"bos": "<bos>", "eos": "<eos>", "unknown": "<unk>", "padding": "<pad>"}.items():
        file.set(f"tokenizer.ggml.{key}_token_id", tokens.index(token))
    file.set("tokenizer.ggml.add_bos_token", True)
    file.set("tokenizer.ggml.add_eos_token", False)
    file.set("tokenizer.ggml.add_space_prefix", False)
    return tokens


def gemma3(path):
    file, width, layers, heads, kv, head, feed = File("gemma3"), 128, 3, 4, 2, 32, 192
    for key, value in {"block_count": layers, "context_length": 1024, "embedding_length": width, "feed_forward_length": feed,
                       "attention.head_count": heads, "attention.head_count_kv": kv, "attention.key_length": head,
                       "attention.value_length": head, "attention.layer_norm_rms_epsilon": 1e-6, "rope.freq_base": 1e6,
                       "rope.scaling.type": "linear", "rope.scaling.factor": 8.0, "attention.sliding_window": 20,
                       "attention.sliding_window_pattern": 2}.items():
        file.own(key, value)
    tokens = sentence_pieces(file)
    # The embeddings are also the output weights. Tokens of parts of characters are never drawn, for the reason given in
    # qwen3.
    file.matrix("token_embd.weight", len(tokens), width, scale=2, zero=range(6 + 128, 6 + 256), kind=Q8_0)
    file.vector("output_norm.weight", width)
    for i in range(layers):
        block = f"blk.{i}."
        file.vector(block + "attn_norm.weight", width)
        file.matrix(block + "attn_q.weight", heads * head, width, kind=Q8_0)
        file.matrix(block + "attn_k.weight", kv * head, width, kind=Q8_0)
        file.matrix(block + "attn_v.weight", kv * head, width, kind=Q8_0)
        file.vector(block + "attn_q_norm.weight", head, middle=1.5)
        file.vector(block + "attn_k_norm.weight", head, middle=1.5)
        file.matrix(block + "attn_output.weight", width, heads * head, scale=2, kind=Q8_0)
        file.vector(block + "post_attention_norm.weight", width, middle=4)
        file.vector(block + "ffn_norm.weight", width)
        file.matrix(block + "ffn_gate.weight", feed, width, scale=2, kind=Q8_0)
        file.matrix(block + "ffn_up.weight", feed, width, kind=Q8_0)
        file.matrix(block + "ffn_down.weight", width, feed, scale=2, kind=Q8_0)
        file.vector(block + "post_ffw_norm.weight", width, middle=4)
    file.write(path)


EMBEDDED = [*PROMPTS, "", "Ünïcödé CAFÉ naïve Ångström", "don't stop -- it's 3.14, (a+b)=c; e-mail: x@y.z", "中文字 and 日本語 と 한국어",
            "tabs\tand\nlines\r\n  spaces\u3000wide\u00a0no-break", "zero\u200bwidth soft\u00adhyphen \u0007bell \ufffd", "qqqq zzzz xyzzy",
            "e\u0301 combining", "हि न् a\u20dd", "İstanbul ǅ ß ﬁ", "[CLS] special [MASK] [SEP]", "$5 <b>^`|~ § © ± “quoted” – — …", "ΑΒΓ абв ЙЁ", "a" * 300,
            "the the the " * 20]


def word_pieces(file):
    """A vocabulary of words, letters and endings, as BERT's files write it: U+2581 before what begins a word."""
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    words = sorted({word.strip(".,;:?").lower() for word in TEXT.split(" ")} | {"istanbul", "cafe", "naive", "combining", "e", "and"})
    letters = "abcdefghijklmnopqrsuvwxyz0123456789üßабвαβγ中字日한हन"
    marks = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~–—…“”§©"
    begins = list(dict.fromkeys(["\u2581" + one for one in [*words, *letters, *marks, "本", "語", "文"]]))
    inner = list(dict.fromkeys([*letters, "ing", "ed", "er", "th", "on", "\u0301", "\u093f", "\u094d", "\u20dd"]))
    tokens = [*special, *begins, *inner]
    file.set("tokenizer.ggml.model", "bert")
    file.set("tokenizer.ggml.tokens", tokens)
    file.set("tokenizer.ggml.token_type", [3] * len(special) + [1] * (len(tokens) - len(special)))
    file.set("tokenizer.ggml.token_type_count", 2)
    for key, token in {"bos": "[CLS]", "eos": "[SEP]", "seperator": "[SEP]", "unknown": "[UNK]", "padding": "[PAD]", "mask": "[MASK]"}.items():
        file.set(f"tokenizer.ggml.{key}_token_id", tokens.index(token))
    return tokens


def encoder(architecture, path, pooling, width=96, layers=3, heads=6, feed=160, context=512):
    file = File(architecture)
    nomic = architecture == "nomic-bert"
    for key, value in {"block_count": layers, "context_length": context, "embedding_length": width, "feed_forward_length": feed,
                       "attention.head_count": heads, "attention.layer_norm_epsilon": 1e-12, "attention.causal": False,
                       "pooling_type": pooling}.items():
        file.own(key, value)
    if nomic:
        file.own("rope.freq_base", 1000.0)
    tokens = word_pieces(file)
    file.matrix("token_embd.weight", len(tokens), width, scale=4)
    file.matrix("token_types.weight", 2, width, scale=2, kind=0)
    if not nomic:
        file.matrix("position_embd.weight", context, width, scale=2, kind=0)

    def norm(name):
        file.vector(name + ".weight", width)
        file.vector(name + ".bias", width, middle=0)

    norm("token_embd_norm")
    for i in range(layers):
        block = f"blk.{i}."
        if nomic:
            file.matrix(block + "attn_qkv.weight", 3 * width, width, scale=2)
        else:
            for name in "qkv":
                file.matrix(block + f"attn_{name}.weight", width, width, scale=2)
                file.vector(block + f"attn_{name}.bias", width, middle=0)
        file.matrix(block + "attn_output.weight", width, width, scale=2)
        norm(block + "attn_output_norm")
        file.matrix(block + "ffn_up.weight", feed, width, scale=2)
        file.matrix(block + "ffn_down.weight", width, feed, scale=2)
        if nomic:
            file.matrix(block + "ffn_gate.weight", feed, width, scale=2)
        else:
            file.vector(block + "attn_output.bias", width, middle=0)
            file.vector(block + "ffn_up.bias", feed, middle=0)
            file.vector(block + "ffn_down.bias", width, middle=0)
        norm(block + "layer_output_norm")
    file.write(path)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Server:
    """llama-server on a file that is dequantized to f32 first."""

    def __init__(self, model, *options):
        self.folder = tempfile.TemporaryDirectory()
        exact = os.path.join(self.folder.name, "exact.gguf")
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run(["llama-quantize", "--allow-requantize", model, exact, "F32"], check=True, **quiet)
        self.url = f"http://127.0.0.1:{(port := free_port())}"
        self.process = subprocess.Popen(["llama-server", "-m", exact, "--port", str(port), "-c", "1024", "-t", "1", "-np", "1", "--no-webui",
                                         "-ctk", "f32", "-ctv", "f32", "-fa", "off", "--device", "none", *options], **quiet)
        while True:
            try:
                urllib.request.urlopen(self.url + "/health", timeout=1)
                return
            except OSError:
                if self.process.poll() is not None:
                    raise SystemExit("llama-server ended.")
                time.sleep(0.1)

    def post(self, route, body):
        request = urllib.request.Request(self.url + route, json.dumps(body).encode(), {"Content-Type": "application/json"})
        return json.load(urllib.request.urlopen(request, timeout=120))

    def end(self):
        self.process.terminate()
        self.process.wait()
        self.folder.cleanup()


def expected(model, out):
    server, cases = Server(model), []
    try:
        for prompt in PROMPTS:
            ids = server.post("/tokenize", {"content": prompt, "add_special": True, "parse_special": True})["tokens"]
            answer = server.post("/completion", {"prompt": prompt, "n_predict": 40, "temperature": 0, "n_probs": 5, "cache_prompt": False,
                                                 "return_tokens": True, "post_sampling_probs": False})
            if [one["id"] for one in answer["completion_probabilities"]] != answer["tokens"]:
                raise SystemExit(f"llama-server does not tell of all tokens behind {prompt!r}.")
            cases.append({"messages": None, "prompt": prompt, "prompt_tokens": ids, "text": answer["content"], "stop": answer.get("stop_type"),
                          "tokens": [{"id": one["id"], "logprob": round(one["logprob"], 5),
                                      "top": [[other["id"], round(other["logprob"], 5)] for other in one["top_logprobs"]]}
                                     for one in answer["completion_probabilities"]]})
        for one in EMBEDDED[len(PROMPTS):] + ["a  b   c    d\n\n\ne <table><end_of_turn> f", " x",
                                             "HelloWorld HTTPServer isOK éAB ÉtéÀ aÉb/x//\n", "[INST] 2024 [/INST]"]:  # These are tested only as tokens.
            ids = server.post("/tokenize", {"content": one, "add_special": True, "parse_special": True})["tokens"]
            cases.append({"messages": None, "prompt": one, "prompt_tokens": ids, "text": "", "stop": None, "tokens": []})
    finally:
        server.end()
    oracle = "llama.cpp 0.7.0 (Debian) on the file dequantized to F32, CPU, F32 KV cache, no flash attention, greedy"
    with open(out, "w") as file:
        json.dump({"model": os.path.basename(model), "oracle": oracle, "cases": cases}, file, indent=0)


def embeddings(model, out):
    server, cases = Server(model, "--embeddings", "--no-warmup", "-c", "512", "-b", "512", "-ub", "512"), []
    try:
        for one in EMBEDDED:
            ids = server.post("/tokenize", {"content": one, "add_special": True, "parse_special": True})["tokens"]
            joined = server.post("/detokenize", {"tokens": ids})["content"]
            vector = server.post("/v1/embeddings", {"input": one})["data"][0]["embedding"]
            cases.append({"text": one, "tokens": ids, "joined": joined, "embedding": [round(x, 7) for x in vector]})
    finally:
        server.end()
    oracle = "llama.cpp 0.7.0 (Debian) on the file dequantized to F32, CPU, no flash attention"
    with open(out, "w") as file:
        json.dump({"model": os.path.basename(model), "oracle": oracle, "cases": cases}, file, indent=0)


MEAN, FIRST = 1, 2  # llama.cpp's numbers for the ways in which the vectors of positions become one vector.

if __name__ == "__main__":
    if sys.argv[1] == "expected":
        expected(sys.argv[2], sys.argv[3])
    elif sys.argv[1] == "embeddings":
        embeddings(sys.argv[2], sys.argv[3])
    elif sys.argv[1] == "quantized":
        quantized(sys.argv[2], sys.argv[3], sys.argv[4])
    else:
        {"qwen3": qwen3, "qwen3moe": lambda path: qwen3(path, experts=7, used=3, feed=32),
         "qwen3moe-wide": lambda path: qwen3(path, experts=4, used=2, width=256, feed=256, layers=2),
         "gemma3": gemma3, "mistral": mistral,
         "mistral3": lambda path: mistral(path, "mistral3"), "bert": lambda path: encoder("bert", path, FIRST),
         "nomic-bert": lambda path: encoder("nomic-bert", path, MEAN),
         "bert-256": lambda path: encoder("bert", path, FIRST, width=256, layers=1, heads=4, feed=512, context=320),
         "nomic-bert-256": lambda path: encoder("nomic-bert", path, MEAN, width=256, layers=1, heads=4, feed=512, context=320),
         "bert-wide": lambda path: encoder("bert", path, MEAN, width=384, layers=6, heads=12, feed=1536),
         "nomic-bert-wide": lambda path: encoder("nomic-bert", path, MEAN, width=768, layers=6, heads=12, feed=3072, context=2048)}[sys.argv[1]](sys.argv[2])
