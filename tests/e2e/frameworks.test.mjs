// The table of docs/openai.md, tested with two frameworks: Vercel's `ai` with an OpenAI-compatible
// provider, and LangChain. A row that a framework does not support says so.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import path from 'node:path';
import { test } from 'node:test';
import { root } from './lib.mjs';
import { aNetwork, cosine, documented, embedded } from './openai-table.mjs';

const require = createRequire(path.join(root, 'web/package.json'));
const Ajv = require('ajv/dist/2020').default;

const question = 'What is the capital of Japan?';
const answer = 'The capital of Japan is Tokyo.';
const city = {
  type: 'object',
  properties: { city: { type: 'string', minLength: 1, maxLength: 12 }, people: { type: 'integer', minimum: 1, maximum: 99 } },
  required: ['city', 'people'],
  additionalProperties: false,
};
const now = { type: 'object', properties: { now: { type: 'boolean' } }, required: ['now'], additionalProperties: false };
const grammar = 'root ::= "It is " ("Kyoto" | "Osaka") "."';
const valid = (value, by) => assert.ok(new Ajv({ strict: false }).validate(by, value), JSON.stringify(value));
const failure = (promise) => promise.then(() => assert.fail('It was answered.'), (error) => error);
const texts = embedded.map(({ text }) => text);
const near = (vectors) => vectors.forEach((vector, i) => assert.ok(cosine(vector, embedded[i].embedding) >= 0.9999, texts[i]));

/** Runs `rows`, each a test or the reason why there is none. They must be all rows of the documentation. */
async function hold(t, rows) {
  assert.deepEqual(documented(), Object.keys(rows), 'each row of docs/openai.md is a test here or says why not');
  for (const [name, check] of Object.entries(rows)) await t.test(name, typeof check === 'string' ? { skip: `not applicable: ${check}` } : {}, typeof check === 'string' ? () => {} : check);
}

test('the rows of docs/openai.md hold for `ai` with an OpenAI-compatible provider', { timeout: 600_000 }, async (t) => {
  const ai = require('ai');
  const { createOpenAICompatible } = require('@ai-sdk/openai-compatible');
  const { url } = await aNetwork(t);
  const weft = createOpenAICompatible({ name: 'weft', baseURL: `${url}/v1`, apiKey: 'none', includeUsage: true, supportsStructuredOutputs: true });
  const ask = ({ model = 'tiny', extra, ...more } = {}) => ai.generateText({ model: weft(model), prompt: question, temperature: 0, maxRetries: 0, ...(extra ? { providerOptions: { weft: extra } } : {}), ...more });
  const held = (model) => ai.generateText({ model: weft(model), prompt: question, temperature: 1, seed: 2, maxRetries: 0, output: ai.Output.object({ schema: ai.jsonSchema(city) }) });
  const tools = { look_up: ai.tool({ description: 'Looks a city up.', inputSchema: ai.jsonSchema(city) }), stop: ai.tool({ description: 'Stops.', inputSchema: ai.jsonSchema(now) }) };

  await hold(t, {
    'messages': async () => {
      const said = await ask({ prompt: undefined, messages: [{ role: 'system', content: 'Be brief.' }, { role: 'user', content: [{ type: 'text', text: question }] }] });
      assert.equal(said.finishReason, 'stop');
      assert.equal((await ask()).text, answer);
    },
    '`stream`, `stream_options.include_usage`': async () => {
      const stream = ai.streamText({ model: weft('tiny'), prompt: question, temperature: 0, maxRetries: 0 });
      let heard = '';
      for await (const bit of stream.textStream) heard += bit;
      assert.equal(heard, answer);
      assert.equal(await stream.finishReason, 'stop');
      assert.equal((await stream.usage).totalTokens, 31);
    },
    '`n`, `seed`, `temperature`': async () => {
      const [one, two] = [await ask({ temperature: 1.5, seed: 4 }), await ask({ temperature: 1.5, seed: 4 })];
      assert.equal(one.text, two.text);
    },
    '`stop`': async () => assert.equal((await ask({ stopSequences: [' Tok'] })).text, 'The capital of Japan is'),
    '`max_completion_tokens`, `max_tokens`': async () => {
      const said = await ask({ maxOutputTokens: 3 });
      assert.deepEqual([said.usage.outputTokens, said.finishReason], [3, 'length']);
    },
    '`logprobs`, `top_logprobs`': async () => {
      const { response } = await ask({ extra: { logprobs: true, top_logprobs: 2 } });
      const { content } = response.body.choices[0].logprobs;
      assert.equal(content.map(({ token }) => token).join(''), answer);
      for (const { top_logprobs } of content) assert.equal(top_logprobs.length, 2);
    },
    '`logit_bias`': async () => {
      const { tokens } = await (await fetch(`${url}/tokenize`, { method: 'POST', body: JSON.stringify({ model: 'tiny', content: answer }), headers: { 'content-type': 'application/json' } })).json();
      const said = await ask({ extra: { logit_bias: Object.fromEntries(tokens.map((token) => [token, -100])) }, maxOutputTokens: 8 });
      assert.ok(!said.text.startsWith('The capital'), said.text);
    },
    '`response_format` `json_schema`': async () => valid((await held('tiny')).output, city),
    '`response_format` `json_object`': async () => {
      const said = await ask({ extra: { response_format: { type: 'json_object' } }, maxOutputTokens: 300 });
      assert.ok(said.text.startsWith('{'), said.text);
    },
    '`grammar` (GBNF)': async () => assert.match((await ask({ extra: { grammar } })).text, /^It is (Kyoto|Osaka)\.$/),
    'formats over chains of workers': async () => assert.deepEqual((await held('apart')).output, (await held('tiny')).output),
    '`tools`, `tool_choice` `auto`, `none`': async () => {
      for (const toolChoice of ['auto', 'none']) assert.equal((await ask({ tools, toolChoice })).text, answer);
    },
    '`tool_choice` `required`, a function': async () => {
      const { toolCalls, finishReason } = await ask({ tools, toolChoice: 'required', temperature: 1, seed: 2 });
      assert.equal(finishReason, 'tool-calls');
      assert.ok(toolCalls.length > 0);
      for (const { toolName, input } of toolCalls) valid(input, toolName === 'stop' ? now : city);
      const named = await ask({ tools, toolChoice: { type: 'tool', toolName: 'stop' } });
      assert.deepEqual(named.toolCalls.map(({ toolName }) => toolName), ['stop']);
    },
    '`tool_calls`, streamed': async () => {
      const stream = ai.streamText({ model: weft('tiny'), prompt: question, temperature: 0, maxRetries: 0, tools, toolChoice: { type: 'tool', toolName: 'stop' } });
      await stream.consumeStream();
      const [call] = await stream.toolCalls;
      assert.equal(call.toolName, 'stop');
      valid(call.input, now);
      assert.equal(await stream.finishReason, 'tool-calls');
    },
    'messages with `tool_calls` and `tool` results': async () => {
      const first = await ask({ tools, toolChoice: { type: 'tool', toolName: 'stop' } });
      const [{ toolCallId, toolName }] = first.toolCalls;
      const result = { role: 'tool', content: [{ type: 'tool-result', toolCallId, toolName, output: { type: 'text', value: 'Done.' } }] };
      const next = await ask({ prompt: undefined, messages: [{ role: 'user', content: question }, ...first.response.messages, result], tools, maxOutputTokens: 8 });
      assert.ok(next.usage.inputTokens > first.usage.inputTokens);
    },
    '`max_price`': async () => {
      assert.equal((await ask({ extra: { max_price: 7 } })).text, answer);
      const error = await failure(ask({ extra: { max_price: 6 } }));
      assert.deepEqual([error.statusCode, error.data.error.param], [400, 'max_price']);
    },
    '`deadline_ms`': async () => {
      assert.equal((await ask({ extra: { deadline_ms: 60_000 } })).text, answer);
      assert.equal((await failure(ask({ extra: { deadline_ms: 1, logit_bias: { 4: -100, 1: -100 } }, maxOutputTokens: 400 }))).statusCode, 504);
    },
    '`fallback`': async () => assert.equal((await ask({ extra: { fallback: 'allow' } })).text, answer),
    'header `x-weft-trust`': async () => {
      const { text, response } = await ask({ headers: { 'x-weft-trust': 'established' } });
      assert.deepEqual([text, response.body.weft.trust], [answer, 'pending']);
      const error = await failure(ask({ headers: { 'x-weft-trust': 'sure' } }));
      assert.deepEqual([error.statusCode, error.data.error.param], [400, 'x-weft-trust']);
    },
    'errors name the field': async () => {
      const error = await failure(ask({ extra: { grammar: 'root ::= word' } }));
      assert.deepEqual([error.statusCode, error.data.error.param, error.message], [400, 'grammar', "Line 1, column 10 of the grammar: the rule 'word' is not defined."]);
    },
    '`usage` with cached tokens': async () => {
      const long = { prompt: 'Tell me of the sea and of the ships that cross it.', maxOutputTokens: 1 };
      await ask(long);
      assert.ok((await ask(long)).usage.inputTokenDetails.cacheReadTokens > 0);
    },
    '`/v1/models`': 'a provider is told the models by name',
    '`/v1/embeddings`': async () => {
      const { embeddings, usage } = await ai.embedMany({ model: weft.embeddingModel('vectors'), values: texts, maxRetries: 0 });
      near(embeddings);
      assert.equal(usage.tokens, embedded.reduce((sum, { tokens }) => sum + tokens.length, 0));
      near([(await ai.embed({ model: weft.embeddingModel('vectors'), value: texts[0], maxRetries: 0 })).embedding]);
    },
    '`encoding_format`, `dimensions`': async () => {
      const { embedding } = await ai.embed({ model: weft.embeddingModel('vectors'), value: texts[0], maxRetries: 0, providerOptions: { weft: { dimensions: 8 } } });
      assert.equal(embedding.length, 8);
      assert.ok(cosine(embedding, embedded[0].embedding.slice(0, 8)) >= 0.9999);
    },
    '`/tokenize`, `/detokenize`, `/apply-template`': 'it has no words for them',
    '`/v1/responses`': 'an OpenAI-compatible provider asks chat completions',
    '`/v1/responses`, streamed': 'an OpenAI-compatible provider asks chat completions',
    '`/v1/responses` with tools': 'an OpenAI-compatible provider asks chat completions',
    '`store`, `previous_response_id`': 'an OpenAI-compatible provider asks chat completions',
  });
});

test('the rows of docs/openai.md hold for LangChain', { timeout: 600_000 }, async (t) => {
  const { ChatOpenAI, OpenAI, OpenAIEmbeddings } = require('@langchain/openai');
  const { HumanMessage, ToolMessage } = require('@langchain/core/messages');
  const { url } = await aNetwork(t);
  const common = { apiKey: 'none', maxRetries: 0, configuration: { baseURL: `${url}/v1` } };
  const chat = ({ extra, ...more } = {}) => new ChatOpenAI({ ...common, model: 'tiny', temperature: 0, ...(extra ? { modelKwargs: extra } : {}), ...more });
  const ask = (more) => chat(more).invoke(question);
  const held = (model) => chat({ model, temperature: 1, modelKwargs: { seed: 2 } }).withStructuredOutput(city, { name: 'city', method: 'jsonSchema', strict: true }).invoke(question);
  const tool = (name, parameters) => ({ type: 'function', function: { name, description: `Does ${name}.`, parameters } });
  const tools = [tool('look_up', city), tool('stop', now)];
  const stop = { type: 'function', function: { name: 'stop' } };

  await hold(t, {
    'messages': async () => {
      assert.equal((await ask()).content, answer);
      const said = await chat().invoke([['system', 'Be brief.'], ['human', question]]);
      assert.equal(said.response_metadata.finish_reason, 'stop');
    },
    '`stream`, `stream_options.include_usage`': async () => {
      let heard = null;
      for await (const chunk of await chat({ streamUsage: true }).stream(question)) heard = heard === null ? chunk : heard.concat(chunk);
      assert.equal(heard.content, answer);
      assert.equal(heard.usage_metadata.total_tokens, 31);
    },
    '`n`, `seed`, `temperature`': async () => {
      const several = async () => (await chat({ temperature: 1.5, n: 3, extra: { seed: 4 } }).generate([[new HumanMessage(question)]])).generations[0].map(({ text }) => text);
      const one = await several();
      assert.equal(one.length, 3);
      assert.deepEqual(one, await several());
    },
    '`stop`': async () => assert.equal((await ask({ stop: [' Tok'] })).content, 'The capital of Japan is'),
    '`max_completion_tokens`, `max_tokens`': async () => {
      const said = await ask({ maxTokens: 3 });
      assert.deepEqual([said.usage_metadata.output_tokens, said.response_metadata.finish_reason], [3, 'length']);
    },
    '`logprobs`, `top_logprobs`': async () => {
      const { content } = (await ask({ logprobs: true, topLogprobs: 2 })).response_metadata.logprobs;
      assert.equal(content.map(({ token }) => token).join(''), answer);
      for (const { top_logprobs } of content) assert.equal(top_logprobs.length, 2);
    },
    '`logit_bias`': async () => {
      const { tokens } = await (await fetch(`${url}/tokenize`, { method: 'POST', body: JSON.stringify({ model: 'tiny', content: answer }), headers: { 'content-type': 'application/json' } })).json();
      const said = await ask({ extra: { logit_bias: Object.fromEntries(tokens.map((token) => [token, -100])) }, maxTokens: 8 });
      assert.ok(!said.content.startsWith('The capital'), said.content);
    },
    '`response_format` `json_schema`': async () => valid(await held('tiny'), city),
    '`response_format` `json_object`': async () => {
      const said = await ask({ extra: { response_format: { type: 'json_object' } }, maxTokens: 300 });
      assert.ok(said.content.startsWith('{'), said.content);
    },
    '`grammar` (GBNF)': async () => {
      assert.match((await ask({ extra: { grammar } })).content, /^It is (Kyoto|Osaka)\.$/);
      const completion = new OpenAI({ ...common, model: 'tiny', temperature: 0, maxTokens: 12, modelKwargs: { grammar: 'root ::= " " [0-9]+ "!"' } });
      assert.match(await completion.invoke('One and one is'), /^ \d+!?$/);
    },
    'formats over chains of workers': async () => assert.deepEqual(await held('apart'), await held('tiny')),
    '`tools`, `tool_choice` `auto`, `none`': async () => {
      for (const tool_choice of ['auto', 'none']) assert.equal((await chat().bindTools(tools, { tool_choice }).invoke(question)).content, answer);
    },
    '`tool_choice` `required`, a function': async () => {
      const { tool_calls: calls } = await chat({ temperature: 1, extra: { seed: 2 } }).bindTools(tools, { tool_choice: 'required' }).invoke(question);
      assert.ok(calls.length > 0);
      for (const { name, args } of calls) valid(args, name === 'stop' ? now : city);
      const named = await chat().bindTools(tools, { tool_choice: stop }).invoke(question);
      assert.deepEqual(named.tool_calls.map(({ name }) => name), ['stop']);
    },
    '`tool_calls`, streamed': async () => {
      let heard = null;
      for await (const chunk of await chat().bindTools(tools, { tool_choice: stop }).stream(question)) heard = heard === null ? chunk : heard.concat(chunk);
      assert.deepEqual(heard.tool_calls.map(({ name }) => name), ['stop']);
      valid(heard.tool_calls[0].args, now);
    },
    'messages with `tool_calls` and `tool` results': async () => {
      const first = await chat().bindTools(tools, { tool_choice: stop }).invoke(question);
      const next = await chat({ maxTokens: 8 }).bindTools(tools).invoke([new HumanMessage(question), first, new ToolMessage({ content: 'Done.', tool_call_id: first.tool_calls[0].id })]);
      assert.ok(next.usage_metadata.input_tokens > first.usage_metadata.input_tokens);
    },
    '`max_price`': async () => {
      assert.equal((await ask({ extra: { max_price: 7 } })).content, answer);
      const error = await failure(ask({ extra: { max_price: 6 } }));
      assert.deepEqual([error.status, error.param], [400, 'max_price']);
    },
    '`deadline_ms`': async () => {
      assert.equal((await ask({ extra: { deadline_ms: 60_000 } })).content, answer);
      assert.equal((await failure(ask({ extra: { deadline_ms: 1, logit_bias: { 4: -100, 1: -100 } }, maxTokens: 400 }))).status, 504);
    },
    '`fallback`': async () => assert.equal((await ask({ extra: { fallback: 'allow' } })).content, answer),
    'header `x-weft-trust`': async () => {
      const as = (trust) => ({ configuration: { ...common.configuration, defaultHeaders: { 'x-weft-trust': trust } } });
      assert.equal((await ask(as('established'))).content, answer);
      const error = await failure(ask(as('sure')));
      assert.deepEqual([error.status, error.param], [400, 'x-weft-trust']);
    },
    'errors name the field': async () => {
      const error = await failure(ask({ extra: { grammar: 'root ::= word' } }));
      assert.deepEqual([error.status, error.param], [400, 'grammar']);
      assert.ok(error.message.includes("Line 1, column 10 of the grammar: the rule 'word' is not defined."), error.message);
    },
    '`usage` with cached tokens': async () => {
      const long = () => chat({ maxTokens: 1 }).invoke('Tell me of the sea and of the ships that cross it.');
      await long();
      assert.ok((await long()).usage_metadata.input_token_details.cache_read > 0);
    },
    '`/v1/models`': 'it is told the models by name',
    '`/v1/embeddings`': async () => {
      const embeddings = new OpenAIEmbeddings({ ...common, model: 'vectors', stripNewLines: false });
      near(await embeddings.embedDocuments(texts));
      near([await embeddings.embedQuery(texts[0])]);
    },
    '`encoding_format`, `dimensions`': async () => {
      for (const encodingFormat of ['float', 'base64']) {
        const said = await new OpenAIEmbeddings({ ...common, model: 'vectors', dimensions: 8, encodingFormat }).embedQuery(texts[0]);
        // If the encoding is base64, LangChain returns the bytes unchanged.
        const vector = encodingFormat === 'float' ? said : [...new Float32Array(new Uint8Array(Buffer.from(said, 'base64')).buffer)];
        assert.equal(vector.length, 8);
        assert.ok(cosine(vector, embedded[0].embedding.slice(0, 8)) >= 0.9999);
      }
    },
    '`/tokenize`, `/detokenize`, `/apply-template`': 'it has no words for them',
    '`/v1/responses`': async () => {
      const said = await ask({ useResponsesApi: true });
      assert.equal(said.text, answer);
      assert.equal(said.usage_metadata.total_tokens, 31);
    },
    '`/v1/responses`, streamed': async () => {
      let heard = '';
      for await (const chunk of await chat({ useResponsesApi: true }).stream(question)) heard += chunk.text;
      assert.equal(heard, answer);
    },
    '`/v1/responses` with tools': async () => {
      const first = await chat({ useResponsesApi: true }).bindTools(tools, { tool_choice: stop }).invoke(question);
      assert.deepEqual(first.tool_calls.map(({ name }) => name), ['stop']);
      valid(first.tool_calls[0].args, now);
      const next = await chat({ useResponsesApi: true, maxTokens: 8 }).bindTools(tools, { tool_choice: 'none' }).invoke([new HumanMessage(question), first, new ToolMessage({ content: 'Done.', tool_call_id: first.tool_calls[0].id })]);
      assert.equal(typeof next.text, 'string');
    },
    '`store`, `previous_response_id`': async () => {
      const first = await chat({ useResponsesApi: true, extra: { store: true } }).invoke(question);
      const gone = await chat({ useResponsesApi: true }).invoke('What is 12 + 30?', { previous_response_id: first.response_metadata.id ?? first.id });
      const same = await chat().invoke([new HumanMessage(question), ['assistant', answer], ['human', 'What is 12 + 30?']]);
      assert.equal(gone.text, same.content);
    },
  });
});
