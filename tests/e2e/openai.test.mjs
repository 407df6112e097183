// The table of docs/openai.md, row by row, with the official client (npm `openai`): each row is
// tested.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import path from 'node:path';
import { test } from 'node:test';
import { root, run } from './lib.mjs';
import { aNetwork, cosine, documented, embedded as expected } from './openai-table.mjs';

const require = createRequire(path.join(root, 'web/package.json'));
const { default: OpenAI } = require('openai');
const Ajv = require('ajv/dist/2020').default;

const file = path.join(root, 'tests/data/tiny/tiny-llama-chat-q8_0.gguf');
const messages = [{ role: 'user', content: 'What is the capital of Japan?' }];
const answer = 'The capital of Japan is Tokyo.';
const schema = {
  type: 'object',
  properties: {
    city: { type: 'string', minLength: 1, maxLength: 12 },
    people: { type: 'integer', minimum: 1, maximum: 99 },
    kinds: { type: 'array', items: { enum: ['big', 'small', null] }, minItems: 1, maxItems: 2 },
  },
  required: ['city', 'people', 'kinds'],
  additionalProperties: false,
};
const format = { type: 'json_schema', json_schema: { name: 'city', strict: true, schema } };
const tool = (name, parameters) => ({ type: 'function', function: { name, description: `Does ${name}.`, parameters } });
const tools = [tool('look_up', schema), tool('stop', { type: 'object', properties: { now: { type: 'boolean' } }, required: ['now'] })];
const valid = (value, by) => assert.ok(new Ajv({ strict: false }).validate(by, value), JSON.stringify(value));
const failure = (promise) => promise.then(() => assert.fail('It was answered.'), (error) => error);

/** Joins the pieces of a stream to one message. */
async function gather(stream) {
  const out = { content: '', reasoning: '', calls: [], finish: null, usage: null };
  for await (const chunk of stream) {
    const choice = chunk.choices[0];
    out.content += choice?.delta.content ?? '';
    out.reasoning += choice?.delta.reasoning_content ?? '';
    for (const { index, id, function: call } of choice?.delta.tool_calls ?? []) {
      out.calls[index] ??= { id, name: '', arguments: '' };
      out.calls[index].name += call.name ?? '';
      out.calls[index].arguments += call.arguments ?? '';
    }
    out.finish ??= choice?.finish_reason ?? null;
    out.usage ??= chunk.usage ?? null;
  }
  return out;
}

/** Makes an API key and returns its secret. */
async function aKey(url, wallet) {
  const { code, stdout, stderr } = await run(['key', 'add', 'stranger', '--coordinator', url, '--wallet', wallet, '--json']);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout).secret;
}

test('every row of docs/openai.md holds for the official client', { timeout: 600_000 }, async (t) => {
  const { url, wallet } = await aNetwork(t);
  const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 });
  const chat = (more) => openai.chat.completions.create({ model: 'tiny', messages, temperature: 0, ...more });

  const rows = {
    'messages': async () => {
      const { choices: [choice] } = await chat({});
      assert.equal(choice.message.content, answer);
      assert.equal(choice.finish_reason, 'stop');
    },
    '`stream`, `stream_options.include_usage`': async () => {
      const heard = await gather(await chat({ stream: true, stream_options: { include_usage: true } }));
      assert.equal(heard.content, answer);
      assert.equal(heard.finish, 'stop');
      assert.equal(heard.usage.total_tokens, 31);
    },
    '`n`, `seed`, `temperature`': async () => {
      const ask = () => chat({ temperature: 1.5, n: 3, seed: 4 });
      const [one, two] = [await ask(), await ask()];
      assert.equal(one.choices.length, 3);
      assert.deepEqual(one.choices.map(({ message }) => message.content), two.choices.map(({ message }) => message.content));
    },
    '`stop`': async () => {
      const { choices: [choice] } = await chat({ stop: [' Tok'] });
      assert.equal(choice.message.content, 'The capital of Japan is');
      assert.equal(choice.finish_reason, 'stop');
    },
    '`max_completion_tokens`, `max_tokens`': async () => {
      for (const key of ['max_completion_tokens', 'max_tokens']) {
        const { choices: [choice], usage } = await chat({ [key]: 3 });
        assert.equal(usage.completion_tokens, 3);
        assert.equal(choice.finish_reason, 'length');
      }
    },
    '`logprobs`, `top_logprobs`': async () => {
      const { choices: [{ logprobs }] } = await chat({ logprobs: true, top_logprobs: 2 });
      assert.equal(logprobs.content.map(({ token }) => token).join(''), answer);
      for (const { top_logprobs } of logprobs.content) assert.equal(top_logprobs.length, 2);
      const held = await chat({ logprobs: true, grammar: 'root ::= "Yes, it is."' });
      assert.equal(held.choices[0].logprobs.content.map(({ token }) => token).join(''), 'Yes, it is.');
      for (const { logprob, top_logprobs } of held.choices[0].logprobs.content) {
        assert.ok(logprob < 0);
        assert.deepEqual(top_logprobs, []);
      }
    },
    '`logit_bias`': async () => {
      const { stdout } = await run(['generate', '--model', file, '--prompt', 'Tokyo', '-n', '1', '--device', 'cpu', '--json']);
      const { stdout: spaced } = await run(['generate', '--model', file, '--prompt', 'is Tokyo', '-n', '1', '--device', 'cpu', '--json']);
      const banned = new Set([...JSON.parse(stdout).prompt_tokens, ...JSON.parse(spaced).prompt_tokens].slice(1));
      const { choices: [choice] } = await chat({ logit_bias: Object.fromEntries([...banned].map((token) => [token, -100])), max_tokens: 20 });
      assert.ok(!choice.message.content.includes('Tokyo'), choice.message.content);
    },
    '`response_format` `json_schema`': async () => {
      for (const seed of [1, 2, 3]) {
        const { choices: [choice] } = await chat({ response_format: format, temperature: 1, seed });
        assert.equal(choice.finish_reason, 'stop');
        valid(JSON.parse(choice.message.content), schema);
        const heard = await gather(await chat({ response_format: format, temperature: 1, seed, stream: true }));
        assert.equal(heard.content, choice.message.content);
      }
    },
    '`response_format` `json_object`': async () => {
      const { choices: [choice] } = await chat({ response_format: { type: 'json_object' }, max_tokens: 300 });
      assert.ok(choice.message.content.startsWith('{'));
      if (choice.finish_reason === 'stop') assert.equal(typeof JSON.parse(choice.message.content), 'object');
    },
    '`grammar` (GBNF)': async () => {
      const { choices: [choice] } = await chat({ grammar: 'root ::= "It is " ("Kyoto" | "Osaka") "."' });
      assert.match(choice.message.content, /^It is (Kyoto|Osaka)\.$/);
      assert.equal(choice.finish_reason, 'stop');
      const completion = await openai.completions.create({ model: 'tiny', prompt: 'One and one is', temperature: 0, grammar: 'root ::= " " [0-9]+ "!"', max_tokens: 12 });
      assert.match(completion.choices[0].text, /^ \d+!?$/);
    },
    'formats over chains of workers': async () => {
      const ask = async (model) => (await chat({ model, response_format: format })).choices[0].message.content;
      assert.equal(await ask('apart'), await ask('tiny'));
    },
    '`tools`, `tool_choice` `auto`, `none`': async () => {
      for (const tool_choice of ['auto', 'none']) {
        const { choices: [choice] } = await chat({ tools, tool_choice });
        assert.equal(choice.message.content, answer);
        assert.equal(choice.message.tool_calls, undefined);
      }
    },
    '`tool_choice` `required`, a function': async () => {
      const { choices: [choice] } = await chat({ tools, tool_choice: 'required', temperature: 1, seed: 2 });
      assert.equal(choice.finish_reason, 'tool_calls');
      assert.equal(choice.message.content, null);
      for (const { id, type, function: call } of choice.message.tool_calls) {
        assert.match(id, /^[a-z0-9]{9}$/i);
        assert.equal(type, 'function');
        valid(JSON.parse(call.arguments), tools.find(({ function: { name } }) => name === call.name).function.parameters);
      }
      const named = await chat({ tools, tool_choice: { type: 'function', function: { name: 'stop' } } });
      assert.deepEqual(named.choices[0].message.tool_calls.map(({ function: { name } }) => name), ['stop']);
    },
    '`tool_calls`, streamed': async () => {
      const ask = { tools, tool_choice: 'required', temperature: 1, seed: 3 };
      const { choices: [choice] } = await chat(ask);
      const heard = await gather(await chat({ ...ask, stream: true }));
      assert.equal(heard.finish, 'tool_calls');
      assert.equal(heard.content, '');
      assert.deepEqual(heard.calls.map(({ name, arguments: text }) => [name, text]), choice.message.tool_calls.map(({ function: { name, arguments: text } }) => [name, text]));
    },
    'messages with `tool_calls` and `tool` results': async () => {
      const { choices: [choice] } = await chat({ tools, tool_choice: { type: 'function', function: { name: 'stop' } } });
      const { choices: [next] } = await chat({ messages: [...messages, choice.message, { role: 'tool', tool_call_id: choice.message.tool_calls[0].id, content: 'Done.' }], max_tokens: 8, tools });
      assert.equal(typeof next.message.content, 'string');
    },
    '`max_price`': async () => {
      assert.equal((await chat({ max_price: 7 })).choices[0].message.content, answer);
      const { status, error } = await failure(chat({ max_price: 6 }));
      assert.deepEqual([status, error.param, error.message], [400, 'max_price', "1,000 tokens of the model 'tiny' cost 7 micro-credits; max_price is 6."]);
      assert.equal((await failure(openai.responses.create({ model: 'tiny', input: 'x', max_price: 0 }))).param, 'max_price');
    },
    '`deadline_ms`': async () => {
      assert.equal((await chat({ deadline_ms: 60_000 })).choices[0].message.content, answer);
      const { status, param, code } = await failure(openai.completions.create({ model: 'tiny', prompt: 'Once', max_tokens: 400, logit_bias: { 4: -100, 1: -100 }, deadline_ms: 1 }));
      assert.deepEqual([status, param, code], [504, 'deadline_ms', 'deadline_exceeded']);
    },
    // tests/e2e/fallback.test.mjs tests `fallback` with another server.
    '`fallback`': async () => {
      const said = await chat({ fallback: 'allow' });
      assert.deepEqual([said.choices[0].message.content, said.weft_fallback], [answer, undefined]);
      const { status, param } = await failure(chat({ fallback: 'always' }));
      assert.deepEqual([status, param], [400, 'fallback']);
    },
    // tests/e2e/answer-trust.test.mjs tests answers that are refuted, and answers that no worker
    // could audit.
    'header `x-weft-trust`': async () => {
      const asked = { model: 'tiny', messages, temperature: 0, seed: 5 };
      const as = (trust) => ({ headers: { 'x-weft-trust': trust } });
      for (const [trust, said] of [['anyone', 'anyone'], ['established', 'pending'], ['verified', 'verified']]) {
        const { choices: [choice], weft } = await openai.chat.completions.create(asked, as(trust));
        assert.equal(choice.message.content, answer);
        assert.deepEqual([weft.trust, weft.seed], [said, 5]);
        let last = null;
        for await (const chunk of await openai.chat.completions.create({ ...asked, stream: true }, as(trust))) last = chunk;
        assert.equal(last.weft.trust, said);
      }
      const odd = await failure(openai.chat.completions.create(asked, as('sure')));
      assert.deepEqual([odd.status, odd.param], [400, 'x-weft-trust']);
    },
    'errors name the field': async () => {
      const refused = async (more) => {
        const { status, error } = await failure(chat(more));
        assert.equal(status, 400);
        assert.equal(error.type, 'invalid_request_error');
        return [error.param, error.message];
      };
      assert.deepEqual(await refused({ grammar: 'root ::= word' }), ['grammar', "Line 1, column 10 of the grammar: the rule 'word' is not defined."]);
      assert.deepEqual(await refused({ response_format: { type: 'json_schema', json_schema: { name: 'x', schema: { properties: { a: { not: {} } } } } } }),
        ['response_format', "The schema's keyword 'not' at #/properties/a is not supported."]);
      assert.equal((await refused({ temperature: 9 }))[0], 'temperature');
      assert.equal((await refused({ messages: [{ role: 'wizard', content: 'x' }] }))[0], 'messages[0].role');
      assert.equal((await refused({ functions: [{ name: 'f' }] }))[0], 'functions');
      const { status, param, code } = await failure(chat({ model: 'none' }));
      assert.deepEqual([status, param, code], [404, 'model', 'model_not_found']);
      assert.equal((await refused({ tools: [{ type: 'function', function: {} }] }))[0], 'tools[0].function.name');
      assert.equal((await refused({ logit_bias: { 1: 101 } }))[0], 'logit_bias.1');
      assert.equal((await refused({ logit_bias: { 999999: 1 } }))[1], "A bias is given for the token 999999, which is not one of the model's 3072 tokens.");
    },
    '`usage` with cached tokens': async () => {
      const long = [{ role: 'user', content: 'Tell me of the sea and of the ships that cross it.' }];
      await chat({ messages: long, max_tokens: 1 });
      const { usage } = await chat({ messages: long, max_tokens: 1 });
      assert.ok(usage.prompt_tokens_details.cached_tokens > 0);
      assert.ok(usage.prompt_tokens_details.cached_tokens < usage.prompt_tokens);
    },
    '`/v1/models`': async () => {
      const { data } = await openai.models.list();
      assert.deepEqual(data.map(({ id }) => id).sort(), ['apart', 'tiny', 'vectors']);
      assert.deepEqual(data.find(({ id }) => id === 'vectors').weft.modalities, { input: ['text'], output: ['embedding'] });
      for (const { weft } of data.filter(({ id }) => id !== 'vectors')) {
        assert.ok(weft.context >= weft.context_served && weft.context_served > 0 && weft.price_per_1k_tokens === 7);
        assert.deepEqual(weft.modalities, { input: ['text'], output: ['text'] });
        assert.deepEqual(weft.arithmetic, { activations: 'int8', wire: 'f32', exact: true });
        assert.ok(weft.trust.audited_share_min > 0 && weft.trust.audited_share_newcomers === 1);
        assert.equal(weft.trust.smaller_weights, 'not_promised');
      }
    },
    '`/v1/embeddings`': async () => {
      const input = expected.map(({ text }) => text);
      const { data, usage, model } = await openai.embeddings.create({ model: 'vectors', input });
      assert.equal(model, 'vectors');
      assert.deepEqual(data.map(({ index }) => index), [...input.keys()]);
      for (const { index, embedding } of data) assert.ok(cosine(embedding, expected[index].embedding) >= 0.9999, input[index]);
      assert.deepEqual([usage.prompt_tokens, usage.total_tokens], Array(2).fill(expected.reduce((sum, { tokens }) => sum + tokens.length, 0)));
      // A text has the same vector in a batch, alone, and as tokens.
      const { data: [alone] } = await openai.embeddings.create({ model: 'vectors', input: input[1] });
      assert.deepEqual(alone.embedding, data[1].embedding);
      const { data: read } = await openai.embeddings.create({ model: 'vectors', input: expected.map(({ tokens }) => tokens) });
      assert.deepEqual(read.map(({ embedding }) => embedding), data.map(({ embedding }) => embedding));
      const many = Array.from({ length: 300 }, (_, i) => input[i % input.length]);
      const { data: all } = await openai.embeddings.create({ model: 'vectors', input: many });
      assert.equal(all.length, 300);
      for (const { index, embedding } of all) assert.deepEqual(embedding, data[index % input.length].embedding);

      const refused = async (body) => {
        const { status, error: { param, message } } = await failure(openai.embeddings.create({ model: 'vectors', input: 'x', ...body }));
        assert.equal(status, 400);
        return [param, message];
      };
      assert.equal((await refused({ input: '' }))[0], 'input');
      assert.equal((await refused({ max_price: 0 }))[0], 'max_price');
      assert.deepEqual(await refused({ input: 'the '.repeat(511) }), [null, "A text has 513 tokens; at most 512 fit into the model's context: shorten it."]);
      assert.deepEqual(await refused({ input: [[999_999]] }), ['input', "The token 999999 is not one of the model's 200 tokens."]);
      assert.equal((await refused({ model: 'tiny' }))[0], 'model');
      assert.deepEqual((await failure(chat({ model: 'vectors' }))).param, 'model');
      assert.equal((await failure(openai.embeddings.create({ model: 'none', input: 'x' }))).status, 404);
    },
    '`encoding_format`, `dimensions`': async () => {
      const ask = (more) => openai.embeddings.create({ model: 'vectors', input: expected[0].text, ...more }).then(({ data: [{ embedding }] }) => embedding);
      const numbers = await ask({ encoding_format: 'float' });
      const bytes = Buffer.from(await ask({ encoding_format: 'base64' }), 'base64');
      assert.deepEqual([...new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length))], numbers.map(Math.fround));
      const short = await ask({ dimensions: 8 });
      assert.equal(short.length, 8);
      assert.ok(Math.abs(Math.hypot(...short) - 1) < 1e-5);
      assert.ok(cosine(short, expected[0].embedding.slice(0, 8)) >= 0.9999);
      const { status, param, error } = await failure(openai.embeddings.create({ model: 'vectors', input: 'x', dimensions: 97 }));
      assert.deepEqual([status, param, error.message], [400, 'dimensions', "dimensions: is 97; the vectors of 'vectors' have 96."]);
    },
    '`/tokenize`, `/detokenize`, `/apply-template`': async () => {
      const post = async (route, body) => {
        const answer = await fetch(`${url}${route}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ model: 'tiny', ...body }) });
        return [answer.status, await answer.json()];
      };
      const text = 'The capital of Japan<|eot_id|> \u00fc';
      const { stdout } = await run(['tokenize', '--model', file, '--add-special', '--parse-special', text]);
      for (const model of ['tiny', 'apart']) {
        const [status, { tokens }] = await post('/tokenize', { model, content: text, add_special: true });
        assert.equal(status, 200);
        assert.deepEqual(tokens, stdout.trim().split(/\s+/).map(Number));
        assert.deepEqual(await post('/detokenize', { model, tokens: tokens.slice(1) }), [200, { content: text }]);
      }
      const [, { prompt }] = await post('/apply-template', { messages });
      const [, read] = await post('/tokenize', { content: prompt });
      assert.equal(read.tokens.length, (await chat({ max_tokens: 1 })).usage.prompt_tokens);
      const [status, { error }] = await post('/detokenize', { tokens: [999999] });
      assert.deepEqual([status, error.param, error.message], [400, 'tokens', "The token 999999 is not one of the model's 3072 tokens."]);
      assert.equal((await post('/tokenize', { content: 'x', model: 'none' }))[0], 404);
    },
    '`/v1/responses`': async () => {
      const response = await openai.responses.create({ model: 'tiny', input: messages[0].content, temperature: 0 });
      assert.equal(response.output_text, answer);
      assert.equal(response.status, 'completed');
      assert.equal(response.usage.total_tokens, 31);
      assert.equal(response.store, false);
      const cut = await openai.responses.create({ model: 'tiny', input: messages, temperature: 0, max_output_tokens: 3 });
      assert.deepEqual([cut.status, cut.incomplete_details.reason, cut.usage.output_tokens], ['incomplete', 'max_output_tokens', 3]);
      const held = await openai.responses.create({ model: 'tiny', input: messages, text: { format: { type: 'json_schema', name: 'city', schema } }, seed: 1 });
      valid(JSON.parse(held.output_text), schema);
    },
    '`/v1/responses`, streamed': async () => {
      const types = [];
      const stream = openai.responses.stream({ model: 'tiny', input: messages, temperature: 0 });
      let heard = '';
      for await (const event of stream) {
        assert.equal(event.sequence_number, types.length);
        types.push(event.type);
        if (event.type === 'response.output_text.delta') heard += event.delta;
      }
      const last = await stream.finalResponse();
      assert.equal(heard, answer);
      assert.equal(last.output_text, answer);
      assert.deepEqual(types.filter((type) => !type.endsWith('.delta')), ['response.created', 'response.in_progress', 'response.output_item.added', 'response.content_part.added',
        'response.output_text.done', 'response.content_part.done', 'response.output_item.done', 'response.completed']);
    },
    '`/v1/responses` with tools': async () => {
      const flat = tools.map(({ type, function: rest }) => ({ type, ...rest }));
      const ask = { model: 'tiny', input: messages, tools: flat, tool_choice: { type: 'function', name: 'stop' }, temperature: 0 };
      const { output } = await openai.responses.create(ask);
      const call = output.find(({ type }) => type === 'function_call');
      assert.equal(call.name, 'stop');
      valid(JSON.parse(call.arguments), tools[1].function.parameters);
      const streamed = await openai.responses.stream(ask).finalResponse();
      assert.equal(streamed.output.find(({ type }) => type === 'function_call').arguments, call.arguments);
      const next = await openai.responses.create({ ...ask, tool_choice: 'none', input: [...messages, ...output, { type: 'function_call_output', call_id: call.call_id, output: 'Done.' }], max_output_tokens: 8 });
      assert.equal(typeof next.output_text, 'string');
    },
    '`store`, `previous_response_id`': async () => {
      const first = await openai.responses.create({ model: 'tiny', input: messages[0].content, temperature: 0, store: true });
      assert.equal(first.store, true);
      assert.equal((await openai.responses.retrieve(first.id)).output[0].content[0].text, answer);
      const second = 'What is 12 + 30?';
      const gone = await openai.responses.create({ model: 'tiny', input: second, previous_response_id: first.id, temperature: 0 });
      const same = await chat({ messages: [...messages, { role: 'assistant', content: answer }, { role: 'user', content: second }] });
      assert.equal(gone.output_text, same.choices[0].message.content);
      assert.equal(gone.usage.input_tokens, same.usage.prompt_tokens);
      const stranger = new OpenAI({ baseURL: `${url}/v1`, apiKey: await aKey(url, wallet), maxRetries: 0 });
      assert.equal((await failure(stranger.responses.retrieve(first.id))).status, 404);
      const refused = await failure(stranger.responses.create({ model: 'tiny', input: second, previous_response_id: first.id }));
      assert.deepEqual([refused.status, refused.param], [400, 'previous_response_id']);
      await openai.responses.delete(first.id);
      assert.equal((await failure(openai.responses.retrieve(first.id))).status, 404);
      const unkept = await openai.responses.create({ model: 'tiny', input: 'x', max_output_tokens: 1 });
      assert.equal((await failure(openai.responses.retrieve(unkept.id))).status, 404);
    },
  };

  for (const [name, check] of Object.entries(rows)) await t.test(name, check);
  assert.deepEqual(documented(), Object.keys(rows), 'docs/openai.md lists what is tested, in this order');
});
