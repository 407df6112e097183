// Long tasks on native processes. A worker is killed in the middle of its task, and another one
// continues from the stored state, to the same bytes. A task makes way for an urgent one. Several
// clients share one device.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { getJson, run, scratch, serve, until, work } from './lib.mjs';
import { hashJob, outputs, writeJob } from './jobs.mjs';

// The software device uses only one thread, because the tasks must take seconds, and because other
// tests need the other cores.
process.env.LP_NUM_THREADS = '1';

const patient = ['--task-wall-ms', '300000', '--checkpoint-ms', '100', '--grant', '100000'];
const talkative = { args: ['--verbose', '--wall-ms-max', '300000', '--model-memory-mb', '0'] };

const multiplier = 1664525;
const increment = 1013904223;
const chain = `for (var round = 0u; round < rounds; round += 1u) { word = word * ${multiplier}u + ${increment}u; }`;

/** The effect of `count` rounds of `chain` on a word: [a, b] for word * a + b, by squaring. */
function power(count) {
  let [a, b, baseA, baseB] = [1, 0, multiplier, increment];
  for (let left = count; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) [a, b] = [Math.imul(a, baseA), (Math.imul(b, baseA) + baseB) | 0];
    [baseA, baseB] = [Math.imul(baseA, baseA), (Math.imul(baseB, baseA) + baseB) | 0];
  }
  return (word) => (Math.imul(word, a) + b) >>> 0;
}
const bytesOf = (words) => Buffer.from(Uint32Array.from(words).buffer);

/** A job of 128 bands of words in one task; `rounds` determines how long it takes. */
const longJob = (rounds, changes = {}) => hashJob({
  shader: { inline: `
struct Weft { origin: vec3u, extent: vec3u }
@group(0) @binding(0) var<storage, read_write> result: array<u32>;
@group(1) @binding(0) var<uniform> weft: Weft;
override rounds: u32 = 64;
@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3u) {
  var word = (weft.origin.y + id.y) * 64u + id.x + 1u;
  ${chain}
  result[id.y * 64u + id.x] = word;
}` },
  tasks: 1, rounds, name: 'long', budget: 100000, priority: 0, deadline_s: 600, dispatch: [8, 128, 1],
  bindings: [{ binding: 0, role: 'output', type: 'u32', shape: [1024, 64], split_dim: 0 }], ...changes,
});
longJob.bytes = (rounds) => bytesOf(Array.from({ length: 1024 * 64 }, (_, i) => i + 1).map(power(rounds)));

/** A job of steps that each need the step before, so that it cannot be cut. */
const steps = 40;
const steppedJob = (rounds, changes = {}) => ({
  weft: 1, kind: 'wgsl', name: 'stepped', budget: 100000,
  shader: { inline: `
@group(0) @binding(0) var<storage, read_write> state: array<u32>;
override rounds: u32 = 64;
@compute @workgroup_size(64)
fn mix(@builtin(global_invocation_id) id: vec3u) {
  var word = state[id.x] + id.x + 1u;
  ${chain}
  state[id.x] = word;
}` },
  constants: { rounds },
  bindings: [{ binding: 0, role: 'inout', type: 'u32', shape: [1024] }],
  steps: Array.from({ length: steps }, () => ({ entry: 'mix', dispatch: [16, 1, 1] })),
  ...changes,
});
steppedJob.bytes = (rounds) => {
  const rest = power(rounds);
  return bytesOf(Array.from({ length: 1024 }, (_, i) => Array.from({ length: steps }).reduce((word) => rest((word + i + 1) >>> 0), 0)));
};

/** The number of rounds with which the whole of `make(rounds)` takes about `seconds` on this machine. */
async function rounds(make, seconds, t) {
  let count = 20000;
  for (;;) {
    const { code, stdout, stderr } = await run(['run', writeJob(scratch(t), make(count)), '--json']);
    assert.equal(code, 0, stderr);
    const took = JSON.parse(stdout).gpu_s;
    if (took > seconds / 16) return Math.round((count * seconds) / took);
    count *= 4;
  }
}
const parts = (worker) => [...worker.stderr.matchAll(/did (\d+) parts: (\d+) of (\d+)/g)].map((match) => match.slice(1).map(Number));
const computed = (worker) => parts(worker).reduce((sum, [count]) => sum + count, 0);
/** Submits a job and waits: the output of the command, and the bytes of the only output. */
async function submit(t, url, job, wallet) {
  const folder = scratch(t);
  const out = path.join(folder, 'out');
  const said = await run(['submit', writeJob(folder, job), '--coordinator', url, '--wallet', wallet, '--out', out, '--json'], { seconds: 240 });
  return { ...said, bytes: said.code === 0 ? Object.values(outputs(out))[0] : null };
}

for (const [what, make] of [['a job that is cut', longJob], ['steps', steppedJob]]) {
  test(`another worker goes on where the first was killed: ${what}`, { timeout: 300_000 }, async (t) => {
    const count = await rounds(make, 6, t);
    const job = make(count);
    const { url } = await serve(t, { args: patient });
    const first = await work(t, url, talkative);
    const submitted = submit(t, url, job, path.join(scratch(t), 'client.json'));
    await until(() => (parts(first).at(-1)?.[1] ?? 0) >= (parts(first).at(-1)?.[2] ?? Infinity) * 0.5, 'half of it is done', 120);
    await first.says(/is kept at/, 30);
    first.signal('SIGKILL');
    const second = await work(t, url, talkative);
    const { code, bytes, stderr } = await submitted;

    assert.equal(code, 0, stderr);
    assert.ok(bytes.equals(make.bytes(count)), 'the bytes of an uninterrupted run');
    const [, done, of] = await second.says(/continues at (\d+) of (\d+)/);
    const repeated = computed(first) + computed(second) - Number(of);
    console.log(`  ${what}: killed after ${computed(first)} of ${of} parts, went on at ${done}: ${repeated} computed twice`);
    assert.ok(Number(done) >= of * 0.4, `it continues at ${done} of ${of}`);
    // At most a twentieth of the work is computed twice, and the work during one checkpoint
    // interval, if a twentieth takes less time than the interval.
    assert.ok(repeated <= Math.ceil(of * 0.05) + Math.ceil(of / 16), `${repeated} of ${of} parts were computed twice`);
    assert.equal((await getJson(`${url}/v1/ledger`)).sum, 0);
  });
}

test('a long task makes way for an urgent one and goes on from where it was', { timeout: 300_000 }, async (t) => {
  const count = await rounds(steppedJob, 20, t);
  const long = steppedJob(count, { priority: 0 });
  const { url } = await serve(t, { args: patient });
  const worker = await work(t, url, talkative);
  const submitted = submit(t, url, long, path.join(scratch(t), 'client.json'));
  const ofLong = () => parts(worker).filter(([, , of]) => of === steps).reduce((sum, [count]) => sum + count, 0);
  await worker.says(/starts/, 60);
  const began = Date.now();
  await until(() => Date.now() - began > 11_000 && ofLong() > 4, 'it has run for longer than what is left alone', 120);

  const urgent = await submit(t, url, hashJob({ priority: 100, tasks: 1, name: 'urgent', deadline_s: 30 }), path.join(scratch(t), 'urgent.json'));
  const before = ofLong();
  const { code, bytes, stderr } = await submitted;

  assert.equal(urgent.code, 0, urgent.stderr);
  assert.equal(code, 0, stderr);
  assert.ok(before < steps, `the urgent job was done after ${before} of 40 parts of the long one`);
  assert.ok(bytes.equals(steppedJob.bytes(count)), 'the bytes of an uninterrupted run');
  assert.match(worker.stderr, /makes way at|cancelled: The task makes way/);
  const repeated = ofLong() - steps;
  console.log(`  made way; the urgent job was done after ${before} parts; ${repeated} parts of 40 computed twice`);
  assert.ok(repeated <= 3, `${repeated} parts were computed twice`);
  assert.match(await (await fetch(`${url}/metrics`)).text(), /weft_preemptions_total [1-9]/);
});

test('two clients share one device: the short job of one is done beside the long one of the other', { timeout: 300_000 }, async (t) => {
  const count = await rounds(longJob, 10, t);
  const { url } = await serve(t, { args: patient });
  const worker = await work(t, url, { args: [...talkative.args, '--slots', '2', '--memory-mb', '512', '--slice-memory-mb', '256'] });
  const folder = scratch(t);
  const slow = submit(t, url, longJob(count), path.join(folder, 'one.json'));
  await until(() => parts(worker).length > 2, 'the long one runs', 60);

  const quick = await submit(t, url, longJob(Math.round(count / 20), { name: 'quick' }), path.join(folder, 'two.json'));
  const jobs = (await getJson(`${url}/v1/jobs`)).jobs;

  assert.equal(quick.code, 0, quick.stderr);
  assert.equal(jobs.find(({ name }) => name === 'long').state, 'running');
  assert.equal((await slow).code, 0);
});
