// A worker serves strangers' models in a separate confined process, which has no rights, no network
// and no new programs. If that process ends, the worker does not.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { getJson, pause, root, run, scratch, serve, until, work } from './lib.mjs';

const model = path.join(root, 'tests/data/tiny/tiny-llama-chat-q8_0.gguf');
const prompt = 'KING RICHARD III:\nNow is the winter of';

const statusOf = (pid) => Object.fromEntries(fs.readFileSync(`/proc/${pid}/status`, 'utf8').split('\n').map((line) => line.split(/:\s+/)));
/** The child of `pid` that was started with `word`. */
function childOf(pid, word) {
  const children = [];
  const threads = fs.readdirSync(`/proc/${pid}/task`);
  for (const thread of threads) {
    try {
      children.push(...fs.readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').trim().split(' '));
    } catch {
      // The thread has ended.
    }
  }
  return children.filter(Boolean).map(Number).find((child) => {
    try {
      return fs.readFileSync(`/proc/${child}/cmdline`, 'utf8').split('\0')[1] === word;
    } catch {
      return false; // The process has ended.
    }
  });
}

async function answers(url) {
  const answer = await fetch(`${url}/v1/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'small', prompt, max_tokens: 12, temperature: 0 }),
  });
  const body = await answer.json();
  assert.equal(answer.status, 200, JSON.stringify(body));
  return body.choices[0].text;
}

for (const device of ['cpu', 'gpu']) {
  test(`on the ${device} a model is served by a confined process, and its end ends no worker`, { timeout: 300_000 }, async (t) => {
    const { url } = await serve(t);
    process.env.XDG_CACHE_HOME = scratch(t);
    const worker = await work(t, url, { args: ['--device', device] });
    const wallet = path.join(scratch(t), 'client.json');
    const added = await run(['model', 'add', model, '--name', 'small', '--coordinator', url, '--wallet', wallet, '--wait']);
    assert.equal(added.code, 0, added.stderr);
    const expected = await answers(url);

    const child = childOf(worker.child.pid, 'serving-child');
    assert.ok(child, 'the worker has a process for models');
    const status = statusOf(child);
    assert.equal(status.NoNewPrivs, '1');
    assert.equal(status.Seccomp, '2', 'an allow-list of system calls');
    assert.equal(status.CapEff, '0000000000000000');
    if (process.getuid() === 0) assert.match(status.Uid, /^65534\s+65534/, 'not root');
    const files = fs.readdirSync(`/proc/${child}/fd`).map((name) => fs.readlinkSync(`/proc/${child}/fd/${name}`));
    assert.ok(!files.some((file) => file.includes('.json') || file.includes('.db')), files.join(' '));
    assert.equal(files.filter((file) => file.startsWith('socket:')).length, 1, 'the one to its parent');

    process.kill(child, 'SIGKILL');
    await worker.says(/process that serves models was ended by signal 9/);
    await until(async () => {
      const next = childOf(worker.child.pid, 'serving-child');
      return next !== undefined && next !== child;
    }, 'another process serves');
    await until(async () => (await getJson(`${url}/v1/serving`)).workers.length === 1, 'it joins again');
    for (let tries = 0; ; ++tries) {
      try {
        assert.equal(await answers(url), expected);
        break;
      } catch (error) {
        if (tries === 60) throw error;
        await pause(500); // Waits while the worker loads the model again.
      }
    }
  });
}
