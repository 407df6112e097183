// A job that runs a model over a data set: it gives the same numbers on this machine and on a network, whose results are checked in parts.
// A file that is no model is refused at once.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { getJson, run, scratch, serve, work } from './lib.mjs';
import { npy } from './numpy.mjs';

const model = path.join(import.meta.dirname, '../data/models/mnist.onnx');
const items = 8;

/** Writes a job of `items` noise pictures to `folder`, with the files that it names. */
async function writePictures(folder, change = {}) {
  const inspected = await run(['onnx', 'inspect', model, '--json']);
  assert.equal(inspected.code, 0, inspected.stderr);
  const { inputs: [input], outputs: [output] } = JSON.parse(inspected.stdout);
  let seed = 7;
  const noise = Float32Array.from({ length: items * 28 * 28 }, () => (seed = (seed * 16807) % 2147483647) / 2147483647);
  fs.copyFileSync(model, path.join(folder, 'mnist.onnx'));
  fs.writeFileSync(path.join(folder, 'pictures.bin'), Buffer.from(noise.buffer));
  const file = path.join(folder, 'job.json');
  fs.writeFileSync(file, JSON.stringify({
    weft: 1,
    kind: 'onnx',
    name: 'digits',
    items,
    model: { path: 'mnist.onnx', bytes: fs.statSync(model).size },
    inputs: [{ name: input.name, type: 'f32', shape: [items, 1, 28, 28], path: 'pictures.bin' }],
    outputs: [{ name: output.name, type: 'f32', shape: [items, 10] }],
    split: { tasks: 2 },
    verify: { compare: { absolute: 0.002, relative: 0.002 } },
    budget: 10,
    ...change,
  }));
  return file;
}

test('a stranger\'s results of a model are checked item by item, and are those of this machine', { timeout: 180_000 }, async (t) => {
  const { url, data } = await serve(t);
  const folder = scratch(t);
  const manifest = await writePictures(folder);
  // The worker shows no invitation: it ignores the one in the coordinator's folder, because others
  // may read the file.
  fs.chmodSync(path.join(data, 'invite'), 0o644);
  await work(t, url);
  fs.chmodSync(path.join(data, 'invite'), 0o600);

  const here = await run(['run', manifest, '--out', path.join(folder, 'here'), '--json']);
  assert.equal(here.code, 0, here.stderr);
  const there = await run(['submit', manifest, '--coordinator', url, '--wallet', path.join(folder, 'client.json'), '--out', path.join(folder, 'there'), '--json']);
  assert.equal(there.code, 0, there.stderr);
  assert.match(there.stderr, /note: A task cuts into 4 parts, .* tasks of 32 items or more are checked best/);

  const job = JSON.parse(there.stdout);
  assert.equal(job.kind, 'onnx');
  assert.equal(job.decided, 'All 2 results were computed again in part by the coordinator\'s verifier, which agrees.');
  const [mine] = fs.readdirSync(path.join(folder, 'here')).filter((name) => name.endsWith('.bin'));
  const [theirs] = fs.readdirSync(path.join(folder, 'there')).filter((name) => name.endsWith('.bin'));
  const numbers = (...names) => [...new Float32Array(new Uint8Array(fs.readFileSync(path.join(folder, ...names))).buffer)];
  assert.equal(fs.statSync(path.join(folder, 'there', theirs)).size, items * 10 * 4);
  assert.deepEqual(numbers('there', theirs), numbers('here', mine), 'one device gives one result');
  assert.ok(new Set(numbers('there', theirs)).size > items, 'and it differs from item to item');
  const [worker] = (await getJson(`${url}/v1/workers`)).workers;
  assert.ok(worker, 'the worker is still there');
});

test('weft onnx run gives a data set to a network, and a folder of results for each item', { timeout: 120_000 }, async (t) => {
  const { url } = await serve(t);
  await work(t, url);
  const folder = scratch(t);
  const { inputs: [input] } = JSON.parse((await run(['onnx', 'inspect', model, '--json'])).stdout);
  for (const [name, shade] of [['a', 0.25], ['b', 0.75], ['c', 0]]) {
    fs.mkdirSync(path.join(folder, 'set', name), { recursive: true });
    const pixels = Float32Array.from({ length: 28 * 28 }, (_, i) => shade * ((i * 37) % 101));
    fs.writeFileSync(path.join(folder, 'set', name, `${input.name}.npy`), npy([1, 1, 28, 28], pixels));
  }
  const go = (out, ...more) => run(['onnx', 'run', model, '--inputs', path.join(folder, 'set'), '--outputs', path.join(folder, out), '--json', ...more]);

  const here = await go('here');
  assert.equal(here.code, 0, here.stderr);
  const there = await go('there', '--coordinator', url, '--wallet', path.join(folder, 'client.json'));
  assert.equal(there.code, 0, there.stderr);

  const { job, outputs, device } = JSON.parse(there.stdout);
  assert.equal(device, 'network');
  assert.equal(job.decided, 'The result has the word of a worker that the operator invited.');
  assert.equal(outputs.length, 3);
  const bytes = (...names) => fs.readFileSync(path.join(folder, ...names, 'output_0.npy'));
  for (const name of ['a', 'b', 'c']) assert.deepEqual(bytes('there', name), bytes('here', name), name);
  assert.notDeepEqual(bytes('there', 'a'), bytes('there', 'b'));
});

test('what is no model, or not the job\'s, is refused when it is submitted', { timeout: 60_000 }, async (t) => {
  const { url } = await serve(t);
  const folder = scratch(t);
  const submit = (manifest) => run(['submit', manifest, '--coordinator', url, '--wallet', path.join(folder, 'client.json')]);

  const other = await submit(await writePictures(folder, { outputs: [{ name: 'none', type: 'f32', shape: [items, 10] }] }));
  assert.equal(other.code, 2, other.stderr);
  assert.match(other.stderr, /model: The model has no output 'none'\./);

  const broken = await writePictures(folder);
  fs.writeFileSync(path.join(folder, 'mnist.onnx'), Buffer.alloc(fs.statSync(model).size, 0xff));
  const refused = await submit(broken);
  assert.equal(refused.code, 2, refused.stderr);
  assert.match(refused.stderr, /model: The bytes are not a model in ONNX's format: /);
});
