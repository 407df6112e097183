// `weft onnx` as a user runs it: the program reads the files that it has written, and other programs read them, too.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { run, scratch } from './lib.mjs';
import { floats, npy } from './numpy.mjs';

const model = path.join(import.meta.dirname, '../data/models/mnist.onnx');

const ok = async (...args) => {
  const { code, stdout, stderr } = await run(args);
  assert.equal(code, 0, stderr);
  return stdout;
};

test('a model is compiled to modules, a descriptor and slices of one blob', { timeout: 60_000 }, async (t) => {
  const folder = path.join(scratch(t), 'program');

  const told = JSON.parse(await ok('onnx', 'compile', model, '--out', folder, '--json'));
  const again = await run(['onnx', 'compile', model, '--out', folder]);

  const program = JSON.parse(fs.readFileSync(path.join(folder, 'program.json'), 'utf8'));
  assert.equal(program.format, 'weft-onnx-program');
  assert.equal(told.steps, program.steps.length);
  assert.equal(told.weights_bytes, fs.statSync(path.join(folder, program.weights)).size);
  for (const step of program.steps) {
    const wgsl = fs.readFileSync(path.join(folder, program.modules[step.module]), 'utf8');
    const bindings = [...wgsl.matchAll(/@binding\((\d+)\) var<storage, (read|read_write)>/g)].map(([, place, access]) => [Number(place), access]);
    assert.deepEqual(bindings, [...step.reads.map((_, i) => [i, 'read']), ...step.writes.map((_, i) => [step.reads.length + i, 'read_write'])]);
  }
  for (const { bytes, weights } of program.buffers) {
    if (!weights) continue;
    assert.equal(weights.bytes, bytes);
    assert.equal(weights.offset % 256, 0);
    assert.ok(weights.offset + weights.bytes <= told.weights_bytes);
  }
  // The command does not overwrite files that it wrote.
  assert.notEqual(again.code, 0);
  assert.match(again.stderr, /is not empty; name a new one\./);
});

test('parts of a model give together what the whole gives', { timeout: 60_000 }, async (t) => {
  const folder = scratch(t);
  const { inputs: [input] } = JSON.parse(await ok('onnx', 'inspect', model, '--json'));
  const at = (...names) => path.join(folder, ...names);
  const shape = JSON.parse(input.shape);
  const count = shape.reduce((a, b) => a * b, 1);
  fs.mkdirSync(at('values'));
  fs.writeFileSync(at('values', `${input.name}.npy`), npy(shape, Array.from({ length: count }, (_, i) => (i * 37) % 101)));

  await ok('onnx', 'split', model, '--parts', '3', '--out', at('parts'));
  await ok('onnx', 'run', model, '--inputs', at('values'), '--outputs', at('whole'), '--device', 'cpu');
  const { parts } = JSON.parse(fs.readFileSync(at('parts', 'parts.json'), 'utf8'));
  assert.equal(parts.length, 3);
  let last;
  for (const [k, part] of parts.entries()) {
    const { outputs } = JSON.parse(await ok('onnx', 'run', at('parts', part.file), '--inputs', at('values'), '--outputs', at(`out_${k}`), '--device', 'cpu', '--json'));
    for (const output of outputs) {
      last = output.file.replace(/pb$/, 'npy');
      fs.copyFileSync(last, at('values', `${output.name}.npy`));
    }
  }

  assert.deepEqual(floats(last), floats(at('whole', 'output_0.npy')));
  assert.ok(Math.abs(parts.reduce((sum, { work }) => sum + work, 0) - 1) < 1e-9);
  const refused = await run(['onnx', 'split', model, '--parts', '1000', '--out', at('many')]);
  assert.notEqual(refused.code, 0);
  assert.match(refused.stderr, /--parts 1000 is more than the \d+ nodes that the model has after constants are folded; ask for fewer\./);
});

test('what cannot take another size is named, and nothing is written', async (t) => {
  const out = path.join(scratch(t), 'larger.onnx');

  const larger = await run(['onnx', 'reshape', model, '--shape', '1x1x32x32', '--out', out]);
  const nonsense = await run(['onnx', 'reshape', model, '--shape', '1x1x', '--out', out]);
  await ok('onnx', 'reshape', model, '--shape', '1x1x28x28', '--out', out);

  assert.notEqual(larger.code, 0);
  assert.match(larger.stderr, /MatMul|Reshape/);
  assert.match(nonsense.stderr, /--shape '1x1x' is not sizes with an x between them, such as 1x3x320x320\./);
  assert.ok(fs.statSync(out).size > 10_000);
  const old = await run(['onnx', 'quantize', model, '--out', out]);
  assert.notEqual(old.code, 0);
  assert.match(old.stderr, /The model is of opset \d+; scales for each channel need opset 13 or later\./);
});

test('a benchmark has the fused model beside the unfused one, and each kernel', { timeout: 120_000 }, async () => {
  const { fused, unfused, device, multiply_adds } = JSON.parse(await ok('onnx', 'bench', model, '--json'));

  assert.ok(device !== '' && multiply_adds > 0);
  for (const variant of [fused, unfused]) {
    assert.equal(variant.kernels.length, variant.dispatches);
    assert.equal(variant.bytes, variant.kernels.reduce((sum, { bytes }) => sum + bytes, 0));
    assert.deepEqual(variant.nodes_on_processor, []);
  }
  assert.ok(fused.dispatches < unfused.dispatches && fused.bytes < unfused.bytes);
});
