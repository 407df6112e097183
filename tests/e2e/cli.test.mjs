// The command line when things are not as they should be: who is not reached, who is somebody else, who says nothing. One sentence, the exit
// code of docs/cli.md, and Ctrl-C ends it. Real programs, real sockets; a program that hangs is ended by the test and fails it.
import assert from 'node:assert/strict';
import http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import { test } from 'node:test';
import { getJson, pause, Program, root, run, scratch, serve, until, weft } from './lib.mjs';

const mandelbrot = path.join(root, 'examples/mandelbrot.json');

/** Listens on loopback for as long as the test runs: its port. */
function listen(t, server) {
  const sockets = new Set();
  server.on('connection', (socket) => {
    sockets.add(socket.on('error', () => {}));
    socket.on('close', () => sockets.delete(socket));
  });
  t.after(() => { server.close(); for (const socket of sockets) socket.destroy(); });
  return new Promise((resolve) => { server.listen(0, '127.0.0.1', () => resolve(server.address().port)); });
}

/** A port on which nobody listens. */
async function closedPort() {
  const server = net.createServer();
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  const { port } = server.address();
  await new Promise((resolve) => { server.close(resolve); });
  return port;
}

/** Every command that asks a coordinator, with a wallet that is there. */
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
    const { code, stdout, stderr } = await run(args, { seconds: 10 }); // Trying again would take thirty.

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

test('whoever says nothing is waited for aloud, and Ctrl-C ends that', { timeout: 60_000 }, async (t) => {
  const url = `http://127.0.0.1:${await listen(t, net.createServer())}`;
  for (const args of [['submit', mandelbrot, '--wallet', path.join(scratch(t), 'wallet.json')], ['submit', '--follow', '0'.repeat(32)]]) {
    const program = new Program(t, weft, [...args, '--coordinator', url]);
    await program.says(new RegExp(`^weft: ${url} does not answer yet; waiting 30 s for it \\(Ctrl-C ends that\\)\\.$`, 'm'), 20);

    program.child.kill('SIGINT');
    const ended = await Promise.race([program.ended, pause(10_000)]); // Of the thirty seconds.

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

test('whoever waits for a job stays through a restart of the coordinator, says so, and is told how to follow it later', { timeout: 120_000 }, async (t) => {
  const { url, program: first, data } = await serve(t);
  const port = new URL(url).port;
  const waiting = new Program(t, weft, ['submit', mandelbrot, '--wallet', path.join(scratch(t), 'wallet.json'), '--coordinator', url, '--wait']);
  const job = await until(async () => (await getJson(`${url}/v1/jobs`)).jobs[0], 'the job is there');
  await pause(500); // It is being followed.

  await first.kill();
  await waiting.says(/Trying again for 30 s \(Ctrl-C ends that\)\.$/m, 20);
  await serve(t, { data, listen: `127.0.0.1:${port}` });
  await pause(3000); // Longer than the longest pause between two attempts.
  assert.equal(waiting.child.exitCode, null, waiting.output());

  waiting.child.kill('SIGINT');
  const ended = await Promise.race([waiting.ended, pause(10_000)]);
  assert.deepEqual(ended, { code: 130, signal: null }, waiting.output());
  assert.ok(waiting.stderr.endsWith(`weft submit: Interrupted. The job goes on: follow it with weft submit --follow ${job.id} --coordinator ${url}\n`), waiting.stderr);
});
