// The command line keeps a coordinator's key as ssh keeps a host's. It refuses another key, accepts
// one that the old key announces, and detects a coordinator that passes requests on to another one
// before anything is signed.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import crypto from 'node:crypto';
import http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import { test } from 'node:test';
import { matrixJob, writeJob } from './jobs.mjs';
import { Program, getJson, read, run, scratch, serve, until, weft, work } from './lib.mjs';

async function user(t) {
  const folder = scratch(t);
  const file = path.join(folder, 'known-coordinators');
  const wallet = path.join(folder, 'wallet.json');
  await run(['wallet', 'new', '--file', wallet]);
  const list = (url) => run(['key', 'list', '--wallet', wallet, '--coordinator', url], { env: { WEFT_KNOWN_COORDINATORS: file } });
  return { file, wallet, list };
}

test('a key is kept when it is first seen, another one is refused, and one that the old key announces is followed', { timeout: 120_000 }, async (t) => {
  const { file, list } = await user(t);
  const first = await serve(t);
  const listen = new URL(first.url).host;
  const { coordinator } = await getJson(`${first.url}/v1/info`);

  const seen = await list(first.url);
  assert.equal(seen.code, 0, seen.stderr);
  assert.match(seen.stderr, new RegExp(`has the key ${coordinator}, which is known from now on`));
  assert.equal(fs.readFileSync(file, 'utf8'), `${listen} ${coordinator}\n`);
  assert.equal((await list(first.url)).stderr, '');

  await first.program.stop();
  const rotated = await run(['rotate-key', '--data', first.data]);
  assert.equal(rotated.code, 0, rotated.stderr);
  const next = rotated.stdout.trim();
  const second = await serve(t, { data: first.data, listen });
  const followed = await list(second.url);
  assert.equal(followed.code, 0, followed.stderr);
  assert.match(followed.stderr, new RegExp(`has the new key ${next}, announced by its old one`));
  assert.equal(fs.readFileSync(file, 'utf8'), `${listen} ${next}\n`);

  const running = await run(['rotate-key', '--data', first.data]);
  assert.match(running.stderr, /Another coordinator is running/);
  await second.program.stop();
  const stranger = await serve(t, { listen });
  const { coordinator: other } = await getJson(`${stranger.url}/v1/info`);
  const refused = await list(stranger.url);
  assert.equal(refused.code, 1);
  assert.equal(
    refused.stderr,
    `weft key list: The coordinator at ${listen} shows the key ${other}, and not ${next} as before (${file}). Nothing was signed: another coordinator may be answering in its place. If its operator says that the key was replaced, remove its line from that file.\n`,
  );
});

test('a coordinator that passes requests on to another is found out before anything is signed', { timeout: 120_000 }, async (t) => {
  const { list } = await user(t);
  const { url } = await serve(t);
  const asked = [];
  const relay = http.createServer((request, response) => {
    asked.push(request.url);
    const { hostname, port, host } = new URL(url);
    const onward = http.request({ hostname, port, method: request.method, path: request.url, headers: { ...request.headers, host } }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    request.pipe(onward);
  });
  await new Promise((resolve) => relay.listen(0, '127.0.0.1', resolve));
  t.after(() => relay.close());

  const { code, stderr } = await list(`http://127.0.0.1:${relay.address().port}`);

  assert.equal(code, 1);
  assert.match(stderr, /does not prove that it is the coordinator .* Nothing was signed/);
  assert.ok(asked.every((target) => target.startsWith('/v1/identity/')), asked.join('\n'));
});

test('a worker joins the coordinator that it knows, follows an announced key, and leaves a stranger in its place', { timeout: 120_000 }, async (t) => {
  const { file } = await user(t);
  const worker = (url) => new Program(t, weft, ['work', '--coordinator', url, '--device', 'cpu', '--model-memory-mb', '0', '--wallet', path.join(scratch(t), 'worker.json')], { env: { WEFT_KNOWN_COORDINATORS: file } });
  const first = await serve(t);
  const listen = new URL(first.url).host;
  const { coordinator } = await getJson(`${first.url}/v1/info`);
  const joined = worker(first.url);
  await joined.says(/joined/, 60);
  assert.equal(fs.readFileSync(file, 'utf8'), `${listen} ${coordinator}\n`);
  await joined.stop();

  await first.program.stop();
  const next = (await run(['rotate-key', '--data', first.data])).stdout.trim();
  const second = await serve(t, { data: first.data, listen });
  const followed = worker(second.url);
  await followed.says(/joined/, 60);
  assert.equal(fs.readFileSync(file, 'utf8'), `${listen} ${next}\n`);
  await followed.stop();

  await second.program.stop();
  await serve(t, { listen });
  const refused = worker(first.url);
  assert.notEqual((await refused.ended).code, 0);
  assert.match(refused.stderr, new RegExp(`shows the key .*, and not ${next} as before`));
});

test('a key that is named in advance is the only one that is accepted, by the command line and by a worker', { timeout: 120_000 }, async (t) => {
  const { wallet } = await user(t);
  const server = await serve(t);
  const { coordinator } = await getJson(`${server.url}/v1/info`);
  assert.match(server.program.stdout, new RegExp(`Its key is ${coordinator} `));
  const stranger = await serve(t);
  const list = (url, key) => run(['key', 'list', '--wallet', wallet, '--coordinator', url, '--coordinator-key', key]);

  assert.equal((await list(server.url, coordinator)).code, 0);
  const refused = await list(stranger.url, coordinator);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, new RegExp(`and not ${coordinator}, which was named in advance`));

  const work = (url) => new Program(t, weft, ['work', '--coordinator', url, '--coordinator-key', coordinator, '--device', 'cpu', '--model-memory-mb', '0', '--wallet', path.join(scratch(t), 'worker.json')]);
  const joined = work(server.url);
  await joined.says(/joined/, 60);
  await joined.stop();
  const turned = work(stranger.url);
  assert.notEqual((await turned.ended).code, 0);
  assert.match(turned.stderr, /which was named in advance/);
});

// A process that takes a port on the coordinator's machine and passes all bytes on can read the
// messages of a worker without TLS, and its token.
test('a relay on loopback stores and reads with a worker’s token only what the worker’s leases lead to, and nothing after its session', { timeout: 120_000 }, async (t) => {
  const { url } = await serve(t, { args: ['--grant', '100000'] });
  const { hostname, port } = new URL(url);
  let heard = '';
  const relay = net.createServer((worker) => {
    const onward = net.connect(Number(port), hostname);
    worker.pipe(onward).pipe(worker);
    onward.on('data', (bytes) => { heard += bytes.toString('latin1'); });
    for (const end of [worker, onward]) end.on('error', () => { worker.destroy(); onward.destroy(); });
  });
  await new Promise((resolve) => relay.listen(0, '127.0.0.1', resolve));
  t.after(() => relay.close());
  const joined = await work(t, `http://127.0.0.1:${relay.address().port}`, { args: ['--device', 'cpu', '--model-memory-mb', '0'] });
  const [, token] = /"blob_token":"([^"]+)"/.exec(heard);

  // Stores the data of a client's job that no worker here can run, because it requires a feature
  // that they lack.
  const folder = scratch(t);
  const job = matrixJob({ requires: { features: ['shader-f16'] } });
  const submitted = await run(['submit', writeJob(folder, job), '--wallet', path.join(folder, 'client.json'), '--coordinator', url, '--json']);
  assert.equal(submitted.code, 0, submitted.stderr);
  assert.equal((await getJson(`${url}/v1/jobs/${JSON.parse(submitted.stdout).id}`)).leased, 0);
  const hashOf = (bytes) => crypto.createHash('sha256').update(bytes).digest('hex');
  const data = hashOf(Buffer.from(Int8Array.from(job.a.value).buffer));
  assert.equal((await read(`${url}/v1/blobs/${data}`)).status, 200, 'it is there');
  const own = Buffer.from('what no lease leads to');
  const ask = async (method, hash, body) => (await fetch(`${url}/v1/blobs/${hash}`, { method, headers: { authorization: `Bearer ${token}` }, ...(body ? { body } : {}) })).status;

  assert.equal(await ask('PUT', hashOf(own), own), 403);
  assert.equal(await ask('GET', data), 403);

  await joined.stop();
  await until(async () => (await getJson(`${url}/v1/workers`)).workers.every(({ connected }) => !connected), 'the worker has left');
  assert.equal(await ask('PUT', hashOf(own), own), 401);
  assert.equal(await ask('GET', data), 401);
});
