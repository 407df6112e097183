"""Tests each row of the table of docs/openai.md with OpenAI's Python client.

usage: openai_python.py URL VECTORS.json      prints "ok ROW" for each row of the table that holds; VECTORS: texts with their vectors
"""
import base64
import json
import math
import re
import struct
import sys
import urllib.request

import openai

url, vectors = sys.argv[1:]
with open(vectors, encoding="utf8") as file:
    embedded = json.load(file)
client = openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)
messages = [{"role": "user", "content": "What is the capital of Japan?"}]
answer = "The capital of Japan is Tokyo."
schema = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1, "maximum": 9}}, "required": ["n"], "additionalProperties": False}
format = {"type": "json_schema", "json_schema": {"name": "n", "schema": schema}}
tools = [{"type": "function", "function": {"name": "stop", "parameters": {"type": "object", "properties": {"now": {"type": "boolean"}}, "required": ["now"]}}}]
stop = {"type": "function", "function": {"name": "stop"}}
rows = {}


def row(name):
    return lambda check: rows.setdefault(name, check)


def chat(model="tiny", **more):
    return client.chat.completions.create(**{"model": model, "messages": messages, "temperature": 0, **more})


def content(**more):
    return chat(**more).choices[0].message.content


def beyond(**more):
    """Keys that are not of OpenAI's interface."""
    return {"extra_body": more}


def refused(status, param, ask):
    try:
        ask()
    except openai.APIStatusError as error:
        assert (error.status_code, error.param) == (status, param), error
    else:
        raise AssertionError("It was answered.")


def post(route, **body):
    request = urllib.request.Request(url + route, json.dumps({"model": "tiny", **body}).encode(), {"content-type": "application/json"})
    with urllib.request.urlopen(request) as reply:
        return json.load(reply)


def cosine(a, b):
    return sum(x * y for x, y in zip(a, b)) / math.hypot(*a) / math.hypot(*b)


@row("messages")
def _():
    assert content() == answer
    assert content(messages=[{"role": "user", "content": [{"type": "text", "text": messages[0]["content"]}]}]) == answer


@row("`stream`, `stream_options.include_usage`")
def _():
    chunks = list(chat(stream=True, stream_options={"include_usage": True}))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == answer
    assert chunks[-1].usage.total_tokens == 31


@row("`n`, `seed`, `temperature`")
def _():
    one, two = ([choice.message.content for choice in chat(temperature=1.5, n=3, seed=4).choices] for _ in range(2))
    assert len(one) == 3 and one == two


@row("`stop`")
def _():
    assert content(stop=[" Tok"]) == "The capital of Japan is"


@row("`max_completion_tokens`, `max_tokens`")
def _():
    for key in ["max_completion_tokens", "max_tokens"]:
        said = chat(**{key: 3})
        assert (said.usage.completion_tokens, said.choices[0].finish_reason) == (3, "length")


@row("`logprobs`, `top_logprobs`")
def _():
    tokens = chat(logprobs=True, top_logprobs=2).choices[0].logprobs.content
    assert "".join(one.token for one in tokens) == answer
    assert all(len(one.top_logprobs) == 2 and one.logprob <= 0 for one in tokens)


@row("`logit_bias`")
def _():
    tokens = post("/tokenize", content=answer)["tokens"]
    assert not content(logit_bias={str(token): -100 for token in tokens}, max_tokens=8).startswith("The capital")


@row("`response_format` `json_schema`")
def _():
    assert 1 <= json.loads(content(response_format=format))["n"] <= 9


@row("`response_format` `json_object`")
def _():
    assert content(response_format={"type": "json_object"}, max_tokens=300).startswith("{")


@row("`grammar` (GBNF)")
def _():
    assert re.fullmatch(r"It is (Kyoto|Osaka)\.", content(**beyond(grammar='root ::= "It is " ("Kyoto" | "Osaka") "."')))
    done = client.completions.create(model="tiny", prompt="One and one is", max_tokens=12, temperature=0, **beyond(grammar='root ::= " " [0-9]+ "!"'))
    assert re.fullmatch(r" \d+!?", done.choices[0].text)


@row("formats over chains of workers")
def _():
    assert content(model="apart", response_format=format) == content(response_format=format)


@row("`tools`, `tool_choice` `auto`, `none`")
def _():
    for choice in ["auto", "none"]:
        assert content(tools=tools, tool_choice=choice) == answer


@row("`tool_choice` `required`, a function")
def _():
    for choice in ["required", stop]:
        said = chat(tools=tools, tool_choice=choice, parallel_tool_calls=False).choices[0]
        assert said.finish_reason == "tool_calls"
        (call,) = said.message.tool_calls
        assert call.function.name == "stop" and isinstance(json.loads(call.function.arguments)["now"], bool)


@row("`tool_calls`, streamed")
def _():
    calls = [call for chunk in chat(tools=tools, tool_choice=stop, stream=True) if chunk.choices for call in chunk.choices[0].delta.tool_calls or []]
    assert [call.function.name for call in calls] == ["stop"]
    json.loads(calls[0].function.arguments)


@row("messages with `tool_calls` and `tool` results")
def _():
    first = chat(tools=tools, tool_choice=stop).choices[0].message
    result = {"role": "tool", "tool_call_id": first.tool_calls[0].id, "content": "Done."}
    assert isinstance(content(messages=[*messages, first, result], tools=tools, max_tokens=8), str)


@row("`max_price`")
def _():
    assert content(**beyond(max_price=7)) == answer
    refused(400, "max_price", lambda: chat(**beyond(max_price=6)))


@row("`deadline_ms`")
def _():
    assert content(**beyond(deadline_ms=60_000)) == answer
    refused(504, "deadline_ms", lambda: chat(max_tokens=400, logit_bias={"1": -100, "4": -100}, **beyond(deadline_ms=1)))


@row("`fallback`")
def _():
    assert content(**beyond(fallback="allow")) == answer
    refused(400, "fallback", lambda: chat(**beyond(fallback="always")))


@row("header `x-weft-trust`")
def _():
    assert chat(extra_headers={"x-weft-trust": "established"}).weft["trust"] == "pending"
    refused(400, "x-weft-trust", lambda: chat(extra_headers={"x-weft-trust": "sure"}))


@row("errors name the field")
def _():
    refused(400, "max_tokens", lambda: chat(max_tokens=0))
    refused(400, "grammar", lambda: chat(**beyond(grammar="root ::= word")))


@row("`usage` with cached tokens")
def _():
    long = [{"role": "user", "content": "Tell me of the sea and of the ships that cross it."}]
    chat(messages=long, max_tokens=1)
    assert chat(messages=long, max_tokens=1).usage.prompt_tokens_details.cached_tokens > 0


@row("`/v1/models`")
def _():
    assert sorted(one.id for one in client.models.list().data) == ["apart", "tiny", "vectors"]
    assert client.models.retrieve("vectors").weft["modalities"] == {"input": ["text"], "output": ["embedding"]}


@row("`/v1/embeddings`")
def _():
    made = client.embeddings.create(model="vectors", input=[one["text"] for one in embedded])
    assert [one.index for one in made.data] == list(range(len(embedded)))
    assert all(cosine(one.embedding, embedded[one.index]["embedding"]) >= 0.9999 for one in made.data)
    assert made.usage.total_tokens == sum(len(one["tokens"]) for one in embedded)
    refused(400, "model", lambda: client.embeddings.create(model="tiny", input="x"))


@row("`encoding_format`, `dimensions`")
def _():
    ask = lambda **more: client.embeddings.create(model="vectors", input=embedded[0]["text"], **more).data[0].embedding
    packed = base64.b64decode(ask(encoding_format="base64"))
    assert list(struct.unpack(f"<{len(packed) // 4}f", packed)) == [struct.unpack("<f", struct.pack("<f", x))[0] for x in ask(encoding_format="float")]
    short = ask(dimensions=8)
    assert len(short) == 8 and cosine(short, embedded[0]["embedding"][:8]) >= 0.9999


@row("`/tokenize`, `/detokenize`, `/apply-template`")
def _():
    assert post("/detokenize", tokens=post("/tokenize", content=answer)["tokens"])["content"] == answer
    assert messages[0]["content"] in post("/apply-template", messages=messages)["prompt"]


@row("`/v1/responses`")
def _():
    said = client.responses.create(model="tiny", input=messages, temperature=0)
    assert (said.output_text, said.usage.total_tokens) == (answer, 31)


@row("`/v1/responses`, streamed")
def _():
    with client.responses.stream(model="tiny", input=messages, temperature=0) as stream:
        heard = "".join(event.delta for event in stream if event.type == "response.output_text.delta")
        assert heard == stream.get_final_response().output_text == answer


@row("`/v1/responses` with tools")
def _():
    flat = [{"type": "function", **tools[0]["function"]}]
    said = client.responses.create(model="tiny", input=messages, temperature=0, tools=flat, tool_choice={"type": "function", "name": "stop"})
    (call,) = [item for item in said.output if item.type == "function_call"]
    json.loads(call.arguments)
    items = [*messages, {"type": "function_call", "call_id": call.call_id, "name": call.name, "arguments": call.arguments},
             {"type": "function_call_output", "call_id": call.call_id, "output": "Done."}]
    client.responses.create(model="tiny", input=items, temperature=0, tools=flat, tool_choice="none", max_output_tokens=8)


@row("`store`, `previous_response_id`")
def _():
    first = client.responses.create(model="tiny", input=messages, temperature=0, store=True)
    assert client.responses.retrieve(first.id).output[0].content[0].text == answer
    second = client.responses.create(model="tiny", input="And of France?", previous_response_id=first.id, max_output_tokens=4)
    assert second.usage.input_tokens > first.usage.total_tokens
    client.responses.delete(first.id)
    refused(404, "id", lambda: client.responses.retrieve(first.id))


for name, check in rows.items():
    check()
    print("ok", name, flush=True)
