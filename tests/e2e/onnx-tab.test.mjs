// ONNX models in a tab (weft_onnx.mjs in a Worker of Chromium, WebGPU on SwiftShader): ONNX's own
// cases on the GPU and on the processor, a detector from a texture to boxes, and errors of one
// sentence.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import zlib from 'node:zlib';
import { serve as serveFiles } from '../web/serve.mjs';
import { browse } from './browser.mjs';
import { long, root, scratch } from './lib.mjs';

const data = process.env.WEFT_DATA ?? path.resolve(root, '../shared');
const archive = path.join(data, 'data/onnx-node/onnx-node.tar.gz');
const models = path.join(data, 'data/models');
const committed = path.join(root, 'src/engine/onnx/testdata/cases');

/** The files of a .tar.gz below `folder`, by name. */
function unpack(file, folder) {
  const tar = zlib.gunzipSync(fs.readFileSync(file));
  const text = (from, size) => tar.toString('latin1', from, from + size).replace(/\0.*$/s, '');
  for (let at = 0; at + 512 <= tar.length && tar[at] !== 0;) {
    const front = text(at + 345, 155);
    const name = path.normalize((front ? `${front}/` : '') + text(at, 100));
    const size = parseInt(text(at + 124, 11), 8);
    if (text(at + 156, 1) === '0') {
      assert.ok(!name.startsWith('..') && !path.isAbsolute(name), name);
      fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
      fs.writeFileSync(path.join(folder, name), tar.subarray(at + 512, at + 512 + size));
    }
    at += 512 + Math.ceil(size / 512) * 512;
  }
}

function listCases(folder) {
  return fs.readdirSync(folder).filter((name) => fs.existsSync(path.join(folder, name, 'model.onnx'))).sort().map((name) => {
    const files = fs.readdirSync(path.join(folder, name, 'test_data_set_0'));
    const count = (kind) => files.filter((file) => file.startsWith(`${kind}_`)).length;
    return { name, inputs: count('input'), outputs: count('output') };
  });
}

/** Opens a page with the Worker: `ask(task, options)`. `files`: the served files, by address. */
async function open(t, files) {
  const server = await serveFiles(path.join(root, 'build/web/engine'), {
    '/': path.join(root, 'tests/web/page.html'),
    '/onnx-tab-worker.mjs': path.join(root, 'tests/e2e/onnx-tab-worker.mjs'),
    ...files,
  });
  t.after(() => server.close());
  const { page } = await browse(t);
  await page.goto(server.url);
  await page.evaluate(() => new Promise((resolve, reject) => {
    const worker = new Worker('/onnx-tab-worker.mjs', { type: 'module' });
    worker.onerror = (event) => reject(new Error(event.message));
    worker.onmessage = resolve;
    let calls = 0;
    globalThis.ask = (task, options) => new Promise((answer, failed) => {
      const id = ++calls;
      worker.addEventListener('message', ({ data: reply }) => {
        if (reply.id === id) reply.error ? failed(new Error(reply.error)) : answer(reply.result);
      });
      worker.postMessage({ id, task, ...options });
    });
  }));
  return (task, options) => page.evaluate(([name, given]) => globalThis.ask(name, given), [task, options]);
}

function addresses(folder, cases) {
  const files = {};
  for (const { name, inputs, outputs } of cases) {
    const add = (file) => { files[`/cases/${name}/${file}`] = path.join(folder, name, file); };
    add('model.onnx');
    for (let i = 0; i < inputs; ++i) add(`test_data_set_0/input_${i}.pb`);
    for (let i = 0; i < outputs; ++i) add(`test_data_set_0/output_${i}.pb`);
  }
  return files;
}

async function checkCases(t, folder, cases, kernelsLeast) {
  const ask = await open(t, addresses(folder, cases));
  for (const device of ['gpu', 'cpu']) {
    const results = await ask('cases', { device, cases });
    assert.equal(results.length, cases.length);
    assert.deepEqual(results.filter(({ difference }) => difference !== null), []);
    assert.ok(results.every((result) => result.device === device), 'on the device that was asked for');
    const kernels = results.filter(({ dispatches }) => dispatches > 0).length;
    if (device === 'gpu') assert.ok(kernels >= kernelsLeast, `only ${kernels} of ${cases.length} cases ran kernels`);
    else assert.equal(kernels, 0);
    t.diagnostic(`${results.length} cases on the ${device}, ${kernels} by kernels`);
  }
}

test('the committed cases of ONNX\'s own give in a tab what they expect, on the GPU and on the processor', { timeout: 300_000 }, async (t) => {
  const cases = listCases(committed);
  assert.ok(cases.length >= 15, `${cases.length} cases`);
  await checkCases(t, committed, cases, 12);
});

test('a tenth of the 597 cases gives in a tab what it expects; all with WEFT_LONG', { timeout: 1_800_000, skip: !fs.existsSync(archive) && `${archive} is missing` }, async (t) => {
  const folder = scratch(t);
  unpack(archive, folder);
  const all = listCases(folder);
  assert.equal(all.length, 597);
  const cases = long ? all : all.filter((_, i) => i % 10 === 3);
  await checkCases(t, folder, cases, 30);
});

test('a detector goes from a texture to boxes on the GPU, and finds the same on the processor', { timeout: 300_000, skip: !fs.existsSync(models) && `${models} is missing` }, async (t) => {
  const expected = path.join(scratch(t), 'expected.bin');
  fs.writeFileSync(expected, zlib.gunzipSync(fs.readFileSync(path.join(models, 'fastestdet-bus.out.0.bin.gz'))));
  const ask = await open(t, { '/model.onnx': path.join(models, 'fastestdet.onnx'), '/picture.png': path.join(models, 'fastestdet-bus.png'), '/expected.bin': expected });
  const found = {};
  for (const device of ['gpu', 'cpu']) {
    const result = await ask('detect', { device, model: '/model.onnx', picture: '/picture.png', expected: '/expected.bin' });
    assert.ok(result.worst < 1e-3, `${device}: ${result.worst} of the largest value`);
    assert.ok(result.same, 'a second run gives the same bits');
    assert.ok(result.detects.same, 'detect() finds the boxes of run() and boxes()');
    found[device] = result;
  }
  assert.equal(found.gpu.submits, 1);
  assert.equal(found.gpu.detects.submits, 1);
  assert.equal(found.gpu.detects.bytesDown, 32 + 32 * 1024);
  assert.deepEqual(found.gpu.processorNodes, []);
  assert.ok(found.gpu.dispatches > 20);
  assert.ok(found.gpu.boxes.some(({ label }) => label === 'bus'));
  assert.deepEqual(found.gpu.boxes.map(({ label }) => label), found.cpu.boxes.map(({ label }) => label));
  for (const [i, { box }] of found.gpu.boxes.entries())
    for (const [side, place] of box.entries()) assert.ok(Math.abs(place - found.cpu.boxes[i].box[side]) < 1, 'within a pixel');
});

test('what is wrong with a model or a run is one sentence, and the Worker goes on', { timeout: 120_000 }, async (t) => {
  const ask = await open(t, { '/model.onnx': path.join(root, 'tests/data/models/mnist.onnx') });
  const said = await ask('failures', { model: '/model.onnx' });

  assert.match(said.rubbish.message, /^The bytes are not a model in ONNX's format: the protobuf is malformed/);
  assert.equal(said.rubbish.code, 'invalid_argument');
  assert.ok(said.cut.length > 60, `${said.cut.length} of the cut files were refused`);
  assert.ok(said.cut.every((code) => ['invalid_argument', 'unsupported'].includes(code)), `${said.cut}`);
  assert.match(said.missing.message, /^The input '.*' is missing\.$/);
  assert.match(said.unknown.message, /the model has no input 'other'/);
  assert.match(said.short.message, /while reading the input/);
  assert.match(said.option.message, /speed/);
  assert.deepEqual(said.busy, { message: 'The model is computing another run; wait for its answer.', code: 'unavailable' });
  assert.equal(said.outputs.length, 1);
  assert.deepEqual({ ...said.outputs[0], name: '' }, { name: '', shape: [1, 10], kind: 'Float32Array' });
  assert.deepEqual(said.closed, { message: 'The model was closed.', code: 'not_found' });
});
