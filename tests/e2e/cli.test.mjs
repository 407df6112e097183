// The command line if a coordinator cannot be reached, is another program, or is silent: it prints
// one sentence and ends with the exit code of docs/cli.md, and Ctrl-C ends it. The tests use real
// programs and real sockets. If a program hangs, the test ends it and fails.
import assert from 'node:assert/strict';
import http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import { test } from 'node:test';
import { getJson, pause, Program, root, run, scratch, serve, until, weft, work } from './lib.mjs';

const mandelbrot = path.join(root, 'examples/mandelbrot.json');

/** Listens on loopback for as long as the test runs; returns the port. */
function listen(t, server) {
  const sockets = new Set();
  server.on('connection', (socket) => {
    sockets.add(socket.on('error', () => {}));
    socket.on('close', () => sockets.delete(socket));
  });
  t.after(() => { server.close(); for (const socket of sockets) socket.destroy(); });
  return new Promise((resolve) => { server.listen(0, '127.0.0.1', () => resolve(server.address().port)); });
}

/** A port on which no process listens. */
async function closedPort() {
  const server = net.createServer();
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  const { port } = server.address();
  await new Promise((resolve) => { server.close(resolve); });
  return port;
}

/** Every command that asks a coordinator, with a wallet that exists. */
async function clients(t, url) {
  const wallet = path.join(scratch(t), 'wallet.json');
  assert.equal((await run(['wallet', 'new', '--file', wallet])).code, 0);
  const at = ['--coordinator', url];
  const job = '0'.repeat(32);
  return {
    submit: ['submit', mandelbrot, ...at, '--wallet', wallet],
    'submit --follow': ['submit', '--follow', job, ...at],
    'submit --cancel': ['submit', '--cancel', job, ...at, '--wallet', wallet],
    'wallet show': ['wallet', 'show', '--file', wallet, ...at],
    ledger: ['ledger', ...at],
    'key add': ['key', 'add', 'laptop', ...at, '--wallet', wallet],
    'key list': ['key', 'list', ...at, '--wallet', wallet],
    'stake show': ['stake', 'show', ...at, '--wallet', wallet],
    'model list': ['model', 'list', ...at],
    'model add': ['model', 'add', path.join(root, 'tests/data/tiny/tiny-llama-chat-q8_0.gguf'), ...at, '--wallet', wallet],
    'model remove': ['model', 'remove', 'tiny', ...at, '--wallet', wallet],
  };
}

test('every client command says at once that nothing listens at its coordinator', { timeout: 120_000 }, async (t) => {
  const url = `http://127.0.0.1:${await closedPort()}`;
  for (const [name, args] of Object.entries(await clients(t, url))) {
    // A command that repeated its attempts would take thirty seconds.
    const { code, stdout, stderr } = await run(args, { seconds: 10 });

    assert.equal(code, 3, `${name}: ${stderr}`);
    assert.equal(stdout, '', name);
    const sentence = `Nothing listens at ${url}: start a coordinator there (weft serve), or give the address of another.`;
    assert.ok(stderr.startsWith('weft ') && stderr.includes(`: ${sentence}`) && stderr.trim().split('\n').length === 1, `${name}: ${stderr}`);
  }
});

test('a host that does not exist is said to be one', { timeout: 60_000 }, async () => {
  const { code, stderr } = await run(['ledger', '--coordinator', 'http://nowhere.invalid:7300'], { seconds: 30 });

  assert.equal(code, 3);
  assert.match(stderr, /^weft ledger: The host of http:\/\/nowhere\.invalid:7300 is not found \(.+\): look at its spelling and at this machine's network\.\n$/);
});

test('a client command that speaks the wrong protocol is told which one to try', { timeout: 60_000 }, async (t) => {
  const secure = (await serve(t, { args: ['--tls-self-signed'] })).url;
  const plain = (await serve(t)).url;

  const http_ = await run(['ledger', '--coordinator', secure.replace('https:', 'http:')], { seconds: 10 });
  const https = await run(['ledger', '--coordinator', plain.replace('http:', 'https:')], { seconds: 10 });

  assert.deepEqual({ code: http_.code, stderr: http_.stderr }, { code: 3, stderr: `weft ledger: ${secure.replace('https:', 'http:')} closes the connection without an answer; if the server uses TLS, its address begins with https://.\n` });
  assert.deepEqual({ code: https.code, stderr: https.stderr }, { code: 3, stderr: `weft ledger: The TLS handshake with ${plain.replace('http:', 'https:')} failed; if the server does not use TLS, its address begins with http://.\n` });
});

test('a coordinator that says nothing is waited for aloud, and Ctrl-C ends that', { timeout: 60_000 }, async (t) => {
  const url = `http://127.0.0.1:${await listen(t, net.createServer())}`;
  for (const args of [['submit', mandelbrot, '--wallet', path.join(scratch(t), 'wallet.json')], ['submit', '--follow', '0'.repeat(32)]]) {
    const program = new Program(t, weft, [...args, '--coordinator', url]);
    await program.says(new RegExp(`^weft: ${url} does not answer yet; waiting 30 s for it \\(Ctrl-C ends that\\)\\.$`, 'm'), 20);

    program.child.kill('SIGINT');
    const ended = await Promise.race([program.ended, pause(10_000)]); // A third of the thirty seconds that the program would wait.

    assert.deepEqual(ended, { code: 130, signal: null }, program.output());
    assert.match(program.stderr, /^weft submit: Interrupted/m);
  }
});

test('a coordinator that says "later" is asked again aloud, and Ctrl-C ends that', { timeout: 60_000 }, async (t) => {
  const busy = http.createServer((request, response) => {
    response.writeHead(503, { 'content-type': 'application/problem+json' });
    response.end(JSON.stringify({ title: 'Service Unavailable', status: 503, detail: '10 jobs run already (--jobs-max).', code: 'unavailable' }));
  });
  const url = `http://127.0.0.1:${await listen(t, busy)}`;
  const program = new Program(t, weft, ['submit', mandelbrot, '--wallet', path.join(scratch(t), 'wallet.json'), '--coordinator', url]);
  await program.says(/^weft: 10 jobs run already \(--jobs-max\)\. Trying again for 30 s \(Ctrl-C ends that\)\.$/m, 20);

  program.child.kill('SIGINT');
  const ended = await Promise.race([program.ended, pause(10_000)]);

  assert.deepEqual(ended, { code: 130, signal: null }, program.output());
});

test('a client that waits for a job stays through a restart of the coordinator, says so, and is told how to follow it later', { timeout: 120_000 }, async (t) => {
  const { url, program: first, data } = await serve(t);
  const port = new URL(url).port;
  const waiting = new Program(t, weft, ['submit', mandelbrot, '--wallet', path.join(scratch(t), 'wallet.json'), '--coordinator', url, '--wait']);
  const job = await until(async () => (await getJson(`${url}/v1/jobs`)).jobs[0], 'the job is there');
  await pause(500); // Waits until the command follows the job.

  await first.kill();
  await waiting.says(/Trying again for 30 s \(Ctrl-C ends that\)\.$/m, 20);
  await serve(t, { data, listen: `127.0.0.1:${port}` });
  await pause(3000); // Longer than the longest pause between two attempts.
  assert.equal(waiting.child.exitCode, null, waiting.output());

  waiting.child.kill('SIGINT');
  const ended = await Promise.race([waiting.ended, pause(10_000)]);
  assert.deepEqual(ended, { code: 130, signal: null }, waiting.output());
  assert.ok(waiting.stderr.endsWith(`weft submit: Interrupted. The job continues: follow it with weft submit --follow ${job.id} --coordinator ${url}\n`), waiting.stderr);
});

test('a client that waits because there are too few workers is told how more join', { timeout: 120_000 }, async (t) => {
  const { url } = await serve(t);
  const wallet = path.join(scratch(t), 'client.json');
  const submitted = (file) => new Program(t, weft, ['submit', path.join(root, 'examples', file), '--wallet', wallet, '--coordinator', url, '--wait']);
  const model = new Program(t, weft, ['model', 'add', path.join(root, 'tests/data/tiny/tiny-llama-chat-q8_0.gguf'), '--wallet', wallet, '--coordinator', url, '--wait']);
  const job = submitted('mandelbrot.json');
  const kernel = submitted('matmul.json');

  await kernel.says(new RegExp(`^weft: No worker is connected\\. One joins with weft work --coordinator ${url}$`, 'm'), 30);
  await work(t, url, { args: ['--model-memory-mb', '0', '--device', 'cpu'] });
  await job.says(new RegExp(`^weft: None of 1 worker has all that the job requires: a GPU \\(1 has not\\)\\.$`, 'm'), 30);
  await model.says(new RegExp(`^weft: No worker has room for tiny-llama-chat-q8_0 yet: start one with weft work --coordinator ${url}, and with enough --model-memory-mb\\.$`, 'm'), 30);
  await work(t, url, { args: ['--model-memory-mb', '0'] });
  const second = submitted('mandelbrot.json');
  await second.says(new RegExp(`^weft: Each of the 2 replicas of a task needs a worker of another wallet: .* Another joins with weft work --coordinator ${url} --wallet FILE$`, 'm'), 30);
  await work(t, url, { args: ['--model-memory-mb', '0'] });

  for (const one of [job, kernel, second]) assert.equal((await one.ended).code, 0, one.output());
});

/** Runs `weft work` without a GPU, and returns how it ended. */
async function worker(t, url, args = []) {
  const program = new Program(t, weft, ['work', '--device', 'cpu', '--model-memory-mb', '0', '--wallet', path.join(scratch(t), 'wallet.json'), '--coordinator', url, ...args]);
  return { program, ended: () => Promise.race([program.ended, pause(20_000)]) };
}
const last = (text) => text.trimEnd().split('\n').at(-1);

test('a worker leaves what answers and is not a coordinator, with one sentence', { timeout: 120_000 }, async (t) => {
  const answers = (status, headers, body = 'Hello.') => http.createServer((request, response) => { response.writeHead(status, headers); response.end(body); });
  const secure = (await serve(t, { args: ['--tls-self-signed'] })).url;
  const cases = [
    [answers(404, {}), 'is not a Weft coordinator (it answers 404).'],
    [answers(200, { 'content-type': 'text/html' }), 'is not a Weft coordinator (its /v1/info does not describe one).'],
    [answers(200, { 'content-type': 'application/json' }, '{"software":"other"}'), 'is not a Weft coordinator (its /v1/info does not describe one).'],
    [answers(301, { location: 'https://elsewhere/' }), 'is not a Weft coordinator (it redirects the request: https://elsewhere/).'],
    [net.createServer((socket) => { socket.write('SSH-2.0-OpenSSH_9\r\n'); }), 'sends an answer that is not HTTP.'],
    [secure, `: The certificate of ${secure} is not trusted: give its authority with --ca-cert, or --tls-insecure to take any.`],
  ];
  for (const [server, sentence] of cases) {
    const url = typeof server === 'string' ? server : `http://127.0.0.1:${await listen(t, server)}`;
    const { program, ended } = await worker(t, url);

    assert.deepEqual(await ended(), { code: 2, signal: null }, program.output());
    assert.equal(last(program.stderr), sentence.startsWith(':') ? `weft work${sentence}` : `weft work: ${url} ${sentence}`);
    assert.equal(program.stdout, '');
  }
});

test('a worker waits for a coordinator that is not there yet or has trouble', { timeout: 120_000 }, async (t) => {
  const port = await closedPort();
  const { program } = await worker(t, `http://127.0.0.1:${port}`);
  await program.says(new RegExp(`warn +A connection to http://127\\.0\\.0\\.1:${port} cannot be opened; trying again in`), 20);
  const trouble = http.createServer((request, response) => { response.writeHead(503); response.end(); });
  await new Promise((resolve) => { trouble.listen(port, '127.0.0.1', resolve); });
  let asked = 0;
  trouble.on('request', () => { asked += 1; });
  await until(() => asked >= 2, 'it looks who is there');
  await new Promise((resolve) => { trouble.close(resolve); trouble.closeAllConnections(); });

  await serve(t, { listen: `127.0.0.1:${port}` });

  await program.says(/joined/, 60);
});

test('bench llm ends with what it has in the middle of a long prompt', { timeout: 120_000 }, async (t) => {
  const model = path.join(root, 'tests/data/tiny/tiny-llama-chat-q8_0.gguf');
  // Reading 500,000 tokens would take this model minutes.
  const program = new Program(t, weft, ['bench', 'llm', '--model', model, '--device', 'cpu', '--prompt', '500000', '--tokens', '0', '--json']);
  await pause(3000);
  assert.equal(program.child.exitCode, null, program.output());

  program.child.kill('SIGINT');
  const ended = await Promise.race([program.ended, pause(5000)]);

  assert.deepEqual(ended, { code: 130, signal: null }, program.output());
  const { interrupted, rows } = JSON.parse(program.stdout);
  assert.equal(interrupted, true);
  assert.deepEqual(rows.map(({ test: name }) => name), ['load']);
});

test('the demo ends while its network is still coming up, and leaves nothing behind', { timeout: 60_000 }, async (t) => {
  const program = new Program(t, weft, ['demo', '--no-browser', '--out', scratch(t)]);
  await program.says(/starting a coordinator/, 20);
  await pause(100); // Waits until the coordinator is starting.

  program.child.kill('SIGINT');
  // `ended` also waits for all processes that hold the program's output.
  const ended = await Promise.race([program.ended, pause(15_000)]);

  assert.deepEqual(ended, { code: 130, signal: null }, program.output());
  assert.equal(last(program.stderr), 'weft demo: Interrupted.');
  assert.doesNotMatch(program.stderr, /is up/);
});
