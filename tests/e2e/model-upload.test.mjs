// An interrupted upload of a model continues where it ended: over a connection that breaks
// repeatedly, and in another process after the first one was killed.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { test } from 'node:test';
import { Program, getJson, pause, root, run, scratch, serve, until, weft } from './lib.mjs';

const model = path.join(root, 'tests/data/tiny/tiny-llama-chat-q8_0.gguf');
const { size } = fs.statSync(model);

/** A proxy to the coordinator. It cuts every connection after a number of uploaded bytes, or passes nothing on from some byte on. */
async function line(t, url, { cutEvery = Infinity, stallAt = Infinity } = {}) {
  const { port } = new URL(url);
  const counts = { up: 0, connections: 0 };
  const server = net.createServer((near) => {
    ++counts.connections;
    const far = net.connect(Number(port), '127.0.0.1');
    let sent = 0;
    near.on('data', (data) => {
      sent += data.length;
      counts.up += data.length;
      if (counts.up > stallAt) return;
      far.write(data);
      if (sent > cutEvery) near.destroy(); // Data that was written to `far` still arrives.
    });
    far.on('data', (data) => near.write(data));
    near.on('close', () => far.end());
    far.on('close', () => near.destroy());
    for (const end of [near, far]) end.on('error', () => end.destroy());
  });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  t.after(() => server.close());
  return { url: `http://127.0.0.1:${server.address().port}`, counts };
}

function add(url, wallet) {
  return ['model', 'add', model, '--name', 'tiny', '--coordinator', url, '--wallet', wallet, '--json'];
}

test('an upload survives a line that breaks', { timeout: 120_000 }, async (t) => {
  const { url } = await serve(t);
  const bad = await line(t, url, { cutEvery: 3_000_000 });
  const { code, stdout, stderr } = await run(add(bad.url, path.join(scratch(t), 'wallet.json')));
  assert.equal(code, 0, stderr);
  assert.equal(JSON.parse(stdout).id, 'tiny');
  t.diagnostic(`${bad.counts.up} bytes went up for ${size} over ${bad.counts.connections} connections`);
  assert.ok(bad.counts.connections > 2, 'no connection carries more than half of it');
  assert.equal((await getJson(`${url}/v1/models`)).data[0].weft.bytes, size);
});

test('another process goes on with an upload that was killed', { timeout: 120_000 }, async (t) => {
  const { url } = await serve(t);
  const wallet = path.join(scratch(t), 'wallet.json');
  const first = await line(t, url, { stallAt: 0.8 * size });
  const program = new Program(t, weft, add(first.url, wallet));
  await until(() => first.counts.up > 0.8 * size, 'most of it went up');
  await program.kill();
  await pause(200);
  assert.equal((await getJson(`${url}/v1/models`)).data.length, 0);

  const second = await line(t, url);
  const { code, stderr } = await run(add(second.url, wallet));
  assert.equal(code, 0, stderr);
  assert.ok(second.counts.up < 0.5 * size, `${second.counts.up} bytes went up again of ${size}`);

  const third = await line(t, url);
  assert.equal((await run(add(third.url, wallet))).code, 0);
  assert.ok(third.counts.up < 0.05 * size, 'what is there is not sent again');
});
