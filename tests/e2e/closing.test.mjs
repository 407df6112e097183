// A client may ask for the end of its connection with the answer, and may use HTTP/1.0. It still
// gets streamed answers whole, and the connection ends after them. The tests use raw sockets,
// because no library sends exactly these requests.
import assert from 'node:assert/strict';
import net from 'node:net';
import path from 'node:path';
import { test } from 'node:test';
import { root, run, scratch, serve, work } from './lib.mjs';

const file = path.join(root, 'tests/data/tiny/tiny-llama-chat-q8_0.gguf');

/** All bytes that arrive until the other side ends the connection. */
function said(url, text) {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = net.connect(Number(port), hostname, () => socket.write(text));
    let all = '';
    socket.on('data', (bytes) => (all += bytes));
    socket.on('end', () => resolve(all));
    socket.on('error', reject);
  });
}

test('an answer that is streamed comes whole where the connection ends with it', { timeout: 180_000 }, async (t) => {
  process.env.XDG_CACHE_HOME = scratch(t);
  const { url } = await serve(t);
  await work(t, url, { args: ['--device', 'cpu'] });
  const added = await run(['model', 'add', file, '--name', 'tiny', '--coordinator', url, '--wallet', path.join(scratch(t), 'client.json'), '--wait']);
  assert.equal(added.code, 0, added.stderr);
  const messages = [{ role: 'user', content: 'What is the capital of Japan?' }];
  const ask = (version, headers, to, more) => {
    const body = JSON.stringify({ model: 'tiny', temperature: 0, stream: true, ...more });
    return said(url, `POST ${to} HTTP/${version}\r\nHost: ${new URL(url).host}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n${headers}\r\n${body}`);
  };
  const text = (answer) => [...answer.matchAll(/"delta":\{[^}]*"content":"([^"]*)"/g)].map(([, bit]) => bit).join('');

  await t.test('HTTP/1.1 with Connection: close', async () => {
    for (const word of ['close', 'Close']) {
      const answer = await ask('1.1', `Connection: ${word}\r\n`, '/v1/chat/completions', { messages });
      assert.match(answer, /^HTTP\/1\.1 200 /);
      assert.match(answer, /\r\nconnection: close\r\n/i);
      assert.match(answer, /\r\ntransfer-encoding: chunked\r\n/i);
      assert.match(answer, /data: \[DONE\]\n\n\r\n0\r\n\r\n$/);
      assert.equal(text(answer), 'The capital of Japan is Tokyo.');
    }
    const response = await ask('1.1', 'Connection: close\r\n', '/v1/responses', { input: messages[0].content });
    assert.match(response, /event: response\.completed\n/);
  });

  await t.test('HTTP/1.0', async () => {
    const answer = await ask('1.0', '', '/v1/chat/completions', { messages });
    assert.match(answer, /^HTTP\/1\.0 200 /);
    assert.doesNotMatch(answer, /chunked/i);
    assert.match(answer, /data: \[DONE\]\n\n$/);
    assert.equal(text(answer), 'The capital of Japan is Tokyo.');
  });
});
