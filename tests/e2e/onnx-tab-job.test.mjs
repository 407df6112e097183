// A network whose only worker is a tab computes jobs of the kind `onnx`. The verifier agrees, and
// the numbers are those of this machine.
// Runs alone: the coordinator's verifier has five seconds for a part, in which it also compiles the model.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { browse, byId, contribute } from './browser.mjs';
import { getJson, root, run, scratch, serve } from './lib.mjs';
import { npy } from './numpy.mjs';

const mnist = path.join(root, 'tests/data/models/mnist.onnx');
const models = path.join(process.env.WEFT_DATA ?? path.resolve(root, '../shared'), 'data/models');

async function answered(args) {
  const { code, stdout, stderr } = await run(args, { seconds: 240 });
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
}

/** Starts a network with one contributing tab, and returns the arguments for a command that uses it. */
async function networkOfATab(t) {
  const { url } = await serve(t);
  const { page } = await browse(t);
  await contribute(page, url);
  const address = await byId(page, 'address').getAttribute('data-address');
  const tab = async () => {
    const { workers } = await getJson(`${url}/v1/workers`);
    assert.deepEqual(workers.map(({ kind }) => kind), ['browser'], 'the only worker');
    return workers.find((worker) => worker.key === address);
  };
  return { tab, network: ['--coordinator', url, '--wallet', path.join(scratch(t), 'client.json')] };
}

test('weft onnx run gives a data set to a tab, item by item, and the verifier agrees', { timeout: 300_000 }, async (t) => {
  const { tab, network } = await networkOfATab(t);
  const folder = scratch(t);
  const { inputs: [input] } = await answered(['onnx', 'inspect', mnist, '--json']);
  for (const [i, name] of ['a', 'b', 'c'].entries()) {
    fs.mkdirSync(path.join(folder, 'set', name), { recursive: true });
    fs.writeFileSync(path.join(folder, 'set', name, `${input.name}.npy`), npy([1, 1, 28, 28], Float32Array.from({ length: 784 }, (_, k) => (i + 1) * ((k * 37) % 101) * 0.25)));
  }
  const go = (out, ...more) => answered(['onnx', 'run', mnist, '--inputs', path.join(folder, 'set'), '--outputs', path.join(folder, out), '--json', ...more]);

  await go('here', '--device', 'cpu');
  const { job, device } = await go('there', ...network);

  assert.equal(device, 'network');
  assert.match(job.decided, /verifier, which agrees|verifier agrees/);
  for (const name of ['a', 'b', 'c']) {
    const numbers = (out) => {
      const bytes = new Uint8Array(fs.readFileSync(path.join(folder, out, name, 'output_0.npy')));
      return [...new Float32Array(bytes.buffer, bytes.length - 40, 10)];
    };
    const [here, there] = [numbers('here'), numbers('there')];
    for (const [i, value] of here.entries()) assert.ok(Math.abs(there[i] - value) <= 0.002 + 0.002 * Math.abs(value), `${name}: ${there} is not ${here}`);
  }
  assert.ok((await tab()).accepted > 0);
});

test('weft detect finds with a tab what it finds here', { timeout: 300_000, skip: !fs.existsSync(models) && `${models} is missing` }, async (t) => {
  const { tab, network } = await networkOfATab(t);
  const detect = (...more) => answered(['detect', path.join(models, 'fastestdet.onnx'), path.join(models, 'images/bus.jpg'), '--json', ...more]);

  const here = await detect('--device', 'cpu');
  const answer = await run(['detect', path.join(models, 'fastestdet.onnx'), path.join(models, 'images/bus.jpg'), '--json', ...network], { seconds: 240 });
  if (answer.code !== 0 && /verifier has not finished the measurement/.test(answer.stderr))
    return t.skip('the verifier of this machine takes longer than five seconds for a part of the model');
  assert.equal(answer.code, 0, answer.stderr);
  const there = JSON.parse(answer.stdout);

  assert.equal(there.device, 'network');
  const [[mine], [theirs]] = [here.images, there.images];
  assert.ok(mine.detections.length > 0);
  assert.deepEqual(theirs.detections.map(({ label }) => label), mine.detections.map(({ label }) => label));
  for (const [i, { score, box_in_image: box }] of mine.detections.entries()) {
    assert.ok(Math.abs(theirs.detections[i].score - score) < 0.01);
    for (const [side, place] of box.entries()) assert.ok(Math.abs(theirs.detections[i].box_in_image[side] - place) < 1, 'within a pixel');
  }
  assert.ok((await tab()).accepted > 0);
});
