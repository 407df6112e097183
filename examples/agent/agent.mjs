// An agent that uses a model of a Weft network: it asks the model, runs the tools that the model
// calls, and asks again with their results, until the model answers without a call.
//
//   node examples/agent/agent.mjs --model NAME [--url http://127.0.0.1:7300] [--must-call N] [--turns N] [--max-tokens N] [--seed N] QUESTION
//
// Models that are trained to use tools call them without further options. With --must-call N the
// first N answers must be calls: a grammar of the tools' schemas allows nothing else, so that even
// a small model makes calls with valid arguments.
import { createRequire } from 'node:module';
import { parseArgs } from 'node:util';
import { offered, run } from './tools.mjs';

// The client of the web folder; elsewhere `npm install openai` and import it.
const { default: OpenAI } = createRequire(new URL('../../web/package.json', import.meta.url))('openai');

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    url: { type: 'string', default: 'http://127.0.0.1:7300' },
    model: { type: 'string' },
    'must-call': { type: 'string', default: '0' },
    turns: { type: 'string', default: '8' },
    seed: { type: 'string' },
    'max-tokens': { type: 'string', default: '1024' },
  },
});
if (!values.model || positionals.length === 0) {
  console.error('usage: agent.mjs --model NAME [--url URL] [--must-call N] [--turns N] [--max-tokens N] [--seed N] QUESTION');
  process.exit(2);
}

const openai = new OpenAI({ baseURL: `${values.url}/v1`, apiKey: process.env.WEFT_API_KEY ?? 'none' });
const messages = [{ role: 'user', content: positionals.join(' ') }];
const [mustCall, turns] = [Number(values['must-call']), Number(values.turns)];

for (let turn = 0; ; turn += 1) {
  const last = turn + 1 >= turns;
  const { choices: [{ message }] } = await openai.chat.completions.create({
    model: values.model,
    messages,
    tools: offered,
    tool_choice: turn < mustCall && !last ? 'required' : last ? 'none' : 'auto',
    parallel_tool_calls: false,
    max_completion_tokens: Number(values['max-tokens']),
    ...(values.seed === undefined ? {} : { seed: Number(values.seed) }),
  });
  messages.push(message);
  if (!message.tool_calls?.length) {
    console.log(`answer: ${message.content}`);
    break;
  }
  for (const { id, function: call } of message.tool_calls) {
    const result = run(call.name, call.arguments);
    console.log(`call: ${call.name}(${call.arguments}) -> ${result}`);
    messages.push({ role: 'tool', tool_call_id: id, content: result });
  }
}
