// A network of native processes: jobs of every kind give the bytes of `weft run`, and neither
// strangers' shaders nor dying workers harm any other job or worker.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { Program, getJson, root, run, scratch, serve, until, weft, work } from './lib.mjs';

const examples = ['mandelbrot', 'matmul', 'nbody', 'sha256_search'];

/** Submits a job and waits: { code, job, stderr }. */
async function submit(url, manifest, { out, wallet, seconds = 120 } = {}) {
  const args = ['submit', manifest, '--coordinator', url, '--wallet', wallet, '--wait', '--json'];
  if (out) args.push('--out', out);
  const { code, stdout, stderr } = await run(args, { seconds });
  return { code, job: stdout.trim() ? JSON.parse(stdout) : null, stderr };
}

function writeManifest(folder, shader, changes = {}) {
  const file = path.join(folder, 'job.json');
  fs.writeFileSync(file, JSON.stringify({
    weft: 1, kind: 'wgsl', name: 'stranger', shader: { inline: shader }, entry: 'main',
    bindings: [{ binding: 0, role: 'output', type: 'u32', shape: [64], split_dim: 0 }],
    dispatch: [4, 1, 1], split: { axis: 'x', tasks: 2 }, verify: { compare: 'exact', replicas: 1 }, budget: 100, ...changes,
  }));
  return file;
}
const harmless = '@group(0) @binding(0) var<storage, read_write> y: array<u32>;\n@compute @workgroup_size(16) fn main(@builtin(global_invocation_id) id: vec3u) { y[id.x] = id.x; }';

test('every example through two native workers gives the bytes of weft run', { timeout: 300_000 }, async (t) => {
  const { url } = await serve(t, { args: ['--grant', '100000'] });
  await Promise.all([work(t, url), work(t, url)]);
  const folder = scratch(t);
  const wallet = path.join(folder, 'client.json');

  for (const name of examples) {
    const manifest = path.join(root, 'examples', `${name}.json`);
    const here = path.join(folder, name, 'here');
    const there = path.join(folder, name, 'there');
    const local = await run(['run', manifest, '--out', here, '--json']);
    assert.equal(local.code, 0, local.stderr);
    const { code, job, stderr } = await submit(url, manifest, { out: there, wallet });
    assert.equal(code, 0, `${name}: ${stderr} ${job?.reason}`);

    assert.equal(job.state, 'done');
    assert.equal(job.accepted, job.tasks);
    assert.equal(job.root, JSON.parse(local.stdout).root, `${name}: root`);
    const files = fs.readdirSync(there);
    assert.ok(files.length > 0);
    for (const file of files) assert.deepEqual(fs.readFileSync(path.join(there, file)), fs.readFileSync(path.join(here, file)), `${name}/${file}`);
  }
  const ledger = await getJson(`${url}/v1/ledger`);
  assert.equal(ledger.sum, 0);
  assert.ok((await getJson(`${url}/v1/workers`)).workers.some(({ balance }) => balance > 0), 'a worker was paid');
  assert.ok(ledger.balances.every(({ account, amount }) => !account.startsWith('escrow') || amount === 0), 'nothing is left in escrow');
});

test('a worker that is killed in the middle of a job costs nothing but time', { timeout: 120_000 }, async (t) => {
  const { url } = await serve(t);
  const [, victim] = await Promise.all([work(t, url), work(t, url), work(t, url)]);
  const folder = scratch(t);
  const submitted = submit(url, path.join(root, 'examples/mandelbrot.json'), { wallet: path.join(folder, 'client.json') });
  await until(async () => (await getJson(`${url}/v1/jobs`)).jobs[0]?.accepted >= 8, 'eight tasks are accepted');

  victim.signal('SIGKILL');
  const { code, job, stderr } = await submitted;

  assert.equal(code, 0, stderr);
  assert.equal(job.accepted, 64);
  assert.equal((await getJson(`${url}/v1/ledger`)).sum, 0);
});

test('a worker that is asked to stop gives back what it holds and the job goes on without it', { timeout: 120_000 }, async (t) => {
  const { url } = await serve(t);
  const [, leaver] = await Promise.all([work(t, url), work(t, url), work(t, url)]);
  const submitted = submit(url, path.join(root, 'examples/mandelbrot.json'), { wallet: path.join(scratch(t), 'client.json') });
  await until(async () => (await getJson(`${url}/v1/jobs`)).jobs[0]?.accepted >= 8, 'eight tasks are accepted');

  const { code } = await leaver.stop();

  assert.equal(code, 0, leaver.output());
  assert.equal((await submitted).job?.state, 'done');
});

test("strangers' shaders are refused or ended with a reason, and the worker lives on", { timeout: 240_000 }, async (t) => {
  const { url } = await serve(t, { args: ['--task-wall-ms', '2000'] });
  const worker = await work(t, url);
  const wallet = path.join(scratch(t), 'client.json');
  const attempt = (shader, changes) => submit(url, writeManifest(scratch(t), shader, changes), { wallet });

  await t.test('one that does not compile is refused at submit with line and column', async () => {
    const { code, stderr } = await attempt('@compute @workgroup_size(1)\nfn main() {\n  let q: i32 = 1.5;\n}');
    assert.equal(code, 2);
    assert.match(stderr, /3:\d+/);
  });
  await t.test('one that does not fit its job is refused at submit with one sentence and its place', async () => {
    const behind = ' - while compiling the shader\'s entry point "main"\n';
    const unbound = await attempt(harmless.replace('@binding(0)', '@binding(7)'));
    assert.equal(unbound.stderr, `weft submit: shader:1:1: The shader uses @group(0) @binding(7), which is not a binding of the job.${behind}`);
    const unnamed = await attempt(harmless.replace('fn main', 'fn other'));
    assert.equal(unnamed.stderr, `weft submit: shader: The shader has no entry point "main": it has "other".${behind}`);
    assert.deepEqual([unbound.code, unnamed.code], [2, 2]);
  });
  await t.test('one that loops without end ends its job with the reason', async () => {
    const endless = harmless.replace('y[id.x] = id.x;', 'var i = 0u; loop { i = i * 1664525u + y[id.x] + 1u; y[id.x] = i; if (i == 0u && id.x > 1000u) { break; } }');
    const { code, job } = await attempt(endless);
    assert.equal(code, 1);
    assert.equal(job.state, 'failed');
    assert.match(job.reason, /time|longer/i);
  });
  await t.test('one that asks for too much memory is refused with the bound', async () => {
    const { code, stderr, job } = await attempt(harmless, { bindings: [{ binding: 0, role: 'output', type: 'u32', shape: [536870912], split_dim: 0 }] });
    assert.notEqual(code, 0);
    assert.match(stderr + (job?.reason ?? ''), /bytes/);
  });
  await t.test('one that writes out of bounds touches nothing but its own output', async () => {
    const wild = harmless.replace('y[id.x] = id.x;', 'y[id.x * 1000003u] = 7u; y[id.x] = id.x;');
    const { code, job, stderr } = await attempt(wild);
    assert.equal(code, 0, `${stderr} ${job?.reason}`);
    assert.equal(job.state, 'done');
  });
  await t.test('after all of them the same worker still computes', async () => {
    const { code, job, stderr } = await attempt(harmless);
    assert.equal(code, 0, stderr);
    assert.equal(job.state, 'done');
    assert.ok(worker.child.exitCode === null, 'the worker is the one that was started');
  });
  assert.equal((await getJson(`${url}/v1/ledger`)).sum, 0);
});

// Finding M-6: the data of a job passed the worker's bound; a blob of 249 MiB took 1 GiB of a
// worker with 16 MiB.
test('data that are more than a worker takes are not fetched', { timeout: 240_000 }, async (t) => {
  const { url } = await serve(t, { args: ['--grant', '100000'] });
  const worker = await work(t, url, { args: ['--memory-mb', '16'] });
  const peak = () => Number(/VmHWM:\s+(\d+) kB/.exec(fs.readFileSync(`/proc/${worker.child.pid}/status`, 'utf8'))[1]) / 1024;
  const folder = scratch(t);
  const wallet = path.join(folder, 'client.json');
  const words = 24 << 18;  // 24 MiB, which is less than the growth that the test allows below.
  fs.writeFileSync(path.join(folder, 'large.bin'), new Uint8Array(4 * words));
  const output = { binding: 0, role: 'output', type: 'u32', shape: [64], split_dim: 0 };
  const input = (binding) => ({ binding, role: 'input', type: 'u32', shape: [words], path: 'large.bin' });
  const before = peak();
  const { code, job } = await submit(url, writeManifest(folder, harmless, { bindings: [output, input(1), input(2), input(3)] }), { wallet });

  assert.equal(code, 1);
  assert.equal(job.state, 'failed');
  assert.match(job.reason, /data have more than 16777216 bytes, the most that this worker takes/);
  assert.ok(peak() < before + 20, `the worker's process grew from ${before} to ${peak()} MiB`);
  const small = await submit(url, writeManifest(scratch(t), harmless), { wallet });
  assert.equal(small.job.state, 'done', small.stderr);
});

test('a worker without a GPU takes kernel jobs and only those', { timeout: 120_000 }, async (t) => {
  const { url } = await serve(t, { args: ['--grant', '100000'] });
  await Promise.all([work(t, url, { args: ['--device', 'cpu'] }), work(t, url, { args: ['--device', 'cpu'] })]);
  const wallet = path.join(scratch(t), 'client.json');

  const kernel = await submit(url, path.join(root, 'examples/matmul.json'), { wallet });
  assert.equal(kernel.code, 0, kernel.stderr);
  const shader = await run(['submit', writeManifest(scratch(t), harmless), '--coordinator', url, '--wallet', wallet, '--json']);
  assert.equal(shader.code, 0, shader.stderr);

  const { id } = JSON.parse(shader.stdout);
  assert.equal((await getJson(`${url}/v1/jobs/${id}`)).leased, 0);
  const cancelled = await run(['submit', '--cancel', id, '--coordinator', url, '--wallet', wallet, '--json']);
  assert.equal(JSON.parse(cancelled.stdout).state, 'cancelled');
});

/** Lists the software GPU twice, as drivers list two cards. */
function twoGpus() {
  const folder = '/usr/share/vulkan/icd.d';
  const driver = fs.readdirSync(folder).find((name) => name.startsWith('lvp_'));
  return { VK_DRIVER_FILES: `${folder}/${driver}:${folder}/../icd.d/${driver}` };
}

test('a machine with two GPUs has a worker on each, and one Ctrl-C ends both', { timeout: 120_000 }, async (t) => {
  const env = twoGpus();
  const { url } = await serve(t, { args: ['--grant', '100000'] });
  const folder = scratch(t);
  const workers = new Program(t, weft, ['work', '--adapter', '0,1', '--coordinator', url, '--wallet', path.join(folder, 'wallet.json')], { env });
  await until(async () => (await getJson(`${url}/v1/workers`)).workers.length === 2, 'two workers');

  const job = await submit(url, writeManifest(scratch(t), harmless.replace('= id.x', '= 7u'), { verify: { compare: 'exact', replicas: 2 } }), { wallet: path.join(folder, 'client.json') });
  assert.equal(job.code, 0, job.stderr);
  assert.match(workers.output(), /gpu 0: .*joined/);
  assert.match(workers.output(), /gpu 1: .*joined/);
  assert.deepEqual(fs.readdirSync(folder).sort(), ['client.json', 'wallet-2.json', 'wallet-2.json.signed', 'wallet.json', 'wallet.json.signed']);

  process.kill(workers.child.pid, 'SIGINT');
  assert.deepEqual(await workers.ended, { code: 0, signal: null });
  await until(async () => (await getJson(`${url}/v1/workers`)).workers.every(({ connected }) => !connected), 'no worker is connected');
  assert.match(workers.output(), /gpu 0: \d+ tasks done/);
  assert.match(workers.output(), /gpu 1: \d+ tasks done/);
});

test('a worker on one of two GPUs, and on none that there is', { timeout: 120_000 }, async (t) => {
  const env = twoGpus();
  const { url } = await serve(t);
  const folder = scratch(t);
  const second = new Program(t, weft, ['work', '--adapter', '1', '--coordinator', url, '--wallet', path.join(folder, 'wallet.json')], { env });
  await second.says(/joined/);

  const third = await run(['work', '--adapter', '2', '--coordinator', url, '--wallet', path.join(folder, 'other.json')], { env });
  assert.equal(third.code, 2);
  assert.match(third.stderr, /There is no GPU with number 2: this machine has 2/);
  const none = await run(['work', '--adapter', 'both', '--coordinator', url], { env });
  assert.equal(none.code, 2);
  assert.match(none.stderr, /--adapter "both" is not all, nor numbers/);
  const cpu = await run(['work', '--device', 'cpu', '--adapter', '0', '--coordinator', url], { env });
  assert.equal(cpu.code, 2);
  assert.match(cpu.stderr, /the processor has no number/);
});

test('serve says what is missing beyond loopback, and that its folder is taken', async (t) => {
  const open = await run(['serve', '--listen', '0.0.0.0:0', '--data', scratch(t)], { seconds: 10 });
  assert.equal(open.code, 2);
  assert.match(open.stderr, /--tls-self-signed/);

  const { data } = await serve(t);
  const second = await run(['serve', '--listen', '127.0.0.1:0', '--data', data], { seconds: 10 });
  assert.notEqual(second.code, 0);
  assert.match(second.stderr, /in use|another/i);
});
