"""What docs/openai.md promises, asked by OpenAI's Python client.

usage: openai_python.py URL MODEL      prints "ok NAME" for each feature that holds
"""
import json
import sys

import openai

url, model = sys.argv[1:]
client = openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)
messages = [{"role": "user", "content": "What is the capital of Japan?"}]
answer = "The capital of Japan is Tokyo."
tool = {"type": "function", "function": {"name": "stop", "parameters": {"type": "object", "properties": {"now": {"type": "boolean"}}, "required": ["now"]}}}


def chat(**more):
    return client.chat.completions.create(model=model, messages=messages, temperature=0, **more)


def messages_are_answered():
    assert chat().choices[0].message.content == answer


def answers_are_streamed():
    chunks = list(chat(stream=True, stream_options={"include_usage": True}))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == answer
    assert chunks[-1].usage.total_tokens == 31


def tokens_have_probabilities():
    content = chat(logprobs=True, top_logprobs=2).choices[0].logprobs.content
    assert "".join(one.token for one in content) == answer
    assert all(len(one.top_logprobs) == 2 and one.logprob <= 0 for one in content)


def answers_are_held_to_schemas():
    schema = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1, "maximum": 9}}, "required": ["n"], "additionalProperties": False}
    text = chat(response_format={"type": "json_schema", "json_schema": {"name": "n", "schema": schema}}).choices[0].message.content
    assert 1 <= json.loads(text)["n"] <= 9


def tools_are_called():
    call = chat(tools=[tool], tool_choice="required", parallel_tool_calls=False).choices[0].message.tool_calls[0]
    assert call.function.name == "stop" and isinstance(json.loads(call.function.arguments)["now"], bool)


def texts_are_completed():
    done = client.completions.create(model=model, prompt="One and one is", max_tokens=4, temperature=0)
    assert done.usage.completion_tokens == 4


def responses_are_made_streamed_and_gone_on_with():
    first = client.responses.create(model=model, input=messages, temperature=0, store=True)
    assert first.output_text == answer
    with client.responses.stream(model=model, input=messages, temperature=0) as stream:
        heard = "".join(event.delta for event in stream if event.type == "response.output_text.delta")
        assert heard == stream.get_final_response().output_text == answer
    second = client.responses.create(model=model, input="And of France?", previous_response_id=first.id, max_output_tokens=4)
    assert second.usage.input_tokens > first.usage.total_tokens
    client.responses.delete(first.id)


def models_are_listed():
    assert [one.id for one in client.models.list().data] == [model]


def errors_name_the_field():
    try:
        chat(max_tokens=0)
        raise AssertionError("It was answered.")
    except openai.BadRequestError as error:
        assert error.param == "max_tokens", error


for feature in [messages_are_answered, answers_are_streamed, tokens_have_probabilities, answers_are_held_to_schemas, tools_are_called,
                texts_are_completed, responses_are_made_streamed_and_gone_on_with, models_are_listed, errors_name_the_field]:
    feature()
    print("ok", feature.__name__, flush=True)
