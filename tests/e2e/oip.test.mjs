// ONNX models as a service: the Open Inference Protocol in JSON and bytes, TensorFlow Serving's
// predict, the wallet that pays, and refused requests.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { getJson, run, scratch, serve, until, work } from './lib.mjs';
import { npy } from './numpy.mjs';

const model = path.join(import.meta.dirname, '../data/models/mnist.onnx');
const [input, output] = ['Input3', 'Plus214_Output_0'];

async function ok(args) {
  const { code, stdout, stderr } = await run(args);
  assert.equal(code, 0, stderr);
  return stdout;
}

/** Starts a coordinator with the model: { url, wallet, secret }. */
async function withModel(t, ...args) {
  const { url } = await serve(t, { args });
  const wallet = path.join(scratch(t), 'wallet.json');
  await ok(['model', 'add', model, '--coordinator', url, '--wallet', wallet, '--json']);
  const { secret } = JSON.parse(await ok(['key', 'add', 'laptop', '--coordinator', url, '--wallet', wallet, '--json']));
  return { url, wallet, secret };
}

/** Sends a request; resolves to { status, headers, body, bytes }. */
async function ask(url, { body, headers = {} } = {}) {
  const answer = await fetch(url, body === undefined ? { headers } : {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: Buffer.isBuffer(body) ? body : JSON.stringify(body),
  });
  const bytes = Buffer.from(await answer.arrayBuffer());
  const json = bytes.subarray(0, Number(answer.headers.get('inference-header-content-length') ?? bytes.length));
  return { status: answer.status, headers: answer.headers, body: JSON.parse(json.toString()), bytes: bytes.subarray(json.length) };
}

const picture = (shade) => Array.from({ length: 784 }, (_, i) => ((i * 37 + shade * 11) % 256));
const floats = (bytes) => [...new Float32Array(new Uint8Array(bytes).buffer)];
const near = (a, b) => {
  assert.equal(a.length, b.length);
  a.forEach((value, i) => assert.ok(Math.abs(value - b[i]) <= 1e-3 * (1 + Math.abs(b[i])), `${i}: ${value} is not ${b[i]}`));
};

/** Checks an inference response against the published OpenAPI description (kserve/open-inference-protocol, open_inference_rest.yaml). */
function isInferenceResponse(body) {
  assert.equal(typeof body.model_name, 'string');
  assert.ok(Array.isArray(body.outputs));
  for (const tensor of body.outputs) {
    assert.equal(typeof tensor.name, 'string');
    assert.equal(typeof tensor.datatype, 'string');
    assert.ok(tensor.shape.every(Number.isInteger));
    assert.ok(Array.isArray(tensor.data) || Number.isInteger(tensor.parameters.binary_data_size));
  }
}

test('a model is added, described, and asked by the Open Inference Protocol and as TensorFlow Serving is', { timeout: 180_000 }, async (t) => {
  const { url, wallet, secret } = await withModel(t);
  const headers = { authorization: `Bearer ${secret}` };
  const of = `${url}/v2/models/mnist`;

  assert.deepEqual((await ask(`${url}/v2/health/live`)).body, { live: true });
  assert.deepEqual((await ask(`${url}/v2/health/ready`)).body, { ready: true });
  const server = (await ask(`${url}/v2/`)).body;
  assert.equal(server.name, 'weft');
  assert.equal(typeof server.version, 'string');
  assert.deepEqual(server.extensions, ['binary_tensor_data']);
  assert.deepEqual((await ask(of)).body, {
    name: 'mnist', versions: ['1'], platform: 'onnx',
    inputs: [{ name: input, datatype: 'FP32', shape: [1, 1, 28, 28] }],
    outputs: [{ name: output, datatype: 'FP32', shape: [1, 10] }],
  });
  const idle = await ask(`${of}/ready`);
  assert.deepEqual([idle.status, idle.body], [400, { name: 'mnist', ready: false }]);
  await work(t, url);
  await until(async () => (await ask(`${of}/ready`)).status === 200, 'the model is ready');

  // `weft onnx run` computes the expected values from the same picture.
  const folder = scratch(t);
  const values = Float32Array.from(picture(1));
  fs.mkdirSync(path.join(folder, 'in'));
  fs.writeFileSync(path.join(folder, 'in', `${input}.npy`), npy([1, 1, 28, 28], values));
  await ok(['onnx', 'run', model, '--inputs', path.join(folder, 'in'), '--outputs', path.join(folder, 'out'), '--device', 'cpu']);
  const expected = floats(fs.readFileSync(path.join(folder, 'out', 'output_0.npy')).subarray(-40));

  const tensor = (...shades) => ({ name: input, datatype: 'FP32', shape: [shades.length, 1, 28, 28], data: shades.flatMap(picture) });
  const json = await ask(`${of}/infer`, { headers, body: { id: '42', inputs: [tensor(1)] } });
  assert.equal(json.status, 200, JSON.stringify(json.body));
  isInferenceResponse(json.body);
  assert.equal(json.body.id, '42');
  assert.deepEqual(json.body.outputs[0].shape, [1, 10]);
  near(json.body.outputs[0].data, expected);

  // The request was a job of the key's owner, verified and paid like every job.
  const job = await getJson(`${url}/v1/jobs/${json.body.parameters.job}`);
  assert.equal(job.kind, 'onnx');
  assert.equal(job.state, 'done');
  assert.match(job.decided, /^The result has the word of/);
  assert.ok(json.body.parameters.price > 0 && json.body.parameters.price < 1, 'what was not spent went back');

  // Three pictures in one request are three items, and each has the result that it has alone.
  const three = await ask(`${of}/versions/1/infer`, { headers, body: { inputs: [tensor(5, 1, 9)] } });
  assert.equal(three.status, 200, JSON.stringify(three.body));
  assert.deepEqual(three.body.outputs[0].shape, [3, 10]);
  assert.deepEqual(three.body.outputs[0].data.slice(10, 20), json.body.outputs[0].data);

  // A request and an answer with tensors as bytes.
  const head = Buffer.from(JSON.stringify({
    inputs: [{ name: input, datatype: 'FP32', shape: [1, 1, 28, 28], parameters: { binary_data_size: 3136 } }],
    outputs: [{ name: output, parameters: { binary_data: true } }],
  }));
  const bytes = await ask(`${of}/infer`, {
    headers: { ...headers, 'content-type': 'application/octet-stream', 'inference-header-content-length': String(head.length) },
    body: Buffer.concat([head, Buffer.from(values.buffer)]),
  });
  assert.equal(bytes.status, 200, JSON.stringify(bytes.body));
  isInferenceResponse(bytes.body);
  assert.deepEqual(floats(bytes.bytes), json.body.outputs[0].data.map(Math.fround));

  // The routes of TensorFlow Serving.
  const rows = (shade) => [Array.from({ length: 28 }, (_, y) => picture(shade).slice(28 * y, 28 * y + 28))];
  const predicted = await ask(`${url}/v1/models/mnist:predict`, { headers, body: { instances: [rows(1), rows(5)] } });
  assert.equal(predicted.status, 200, JSON.stringify(predicted.body));
  assert.deepEqual(predicted.body.predictions, [json.body.outputs[0].data, three.body.outputs[0].data.slice(0, 10)]);
  const columns = await ask(`${url}/v1/models/mnist/versions/1:predict`, { headers, body: { inputs: [rows(1)] } });
  assert.deepEqual(columns.body, { outputs: [json.body.outputs[0].data] });
  const metadata = (await ask(`${url}/v1/models/mnist/metadata`)).body;
  assert.equal(metadata.model_spec.name, 'mnist');
  assert.equal(metadata.metadata.signature_def.signature_def.serving_default.inputs[input].dtype, 'DT_FLOAT');
  assert.equal((await ask(`${url}/v1/models/mnist`)).body.model_version_status[0].state, 'AVAILABLE');

  // If a request from this machine has no key, the operator pays for it.
  const free = await ask(`${of}/infer`, { body: { inputs: [tensor(1)] } });
  assert.equal(free.status, 200, JSON.stringify(free.body));
  assert.deepEqual(free.body.outputs, json.body.outputs);

  assert.match(await ok(['model', 'list', '--coordinator', url]), /mnist +as jobs/);
  await ok(['model', 'remove', 'mnist', '--coordinator', url, '--wallet', wallet]);
  const gone = await ask(`${of}/infer`, { headers, body: { inputs: [tensor(1)] } });
  assert.deepEqual([gone.status, gone.body], [404, { error: "The model 'mnist' does not exist here." }]);
});

test('what is wrong is one sentence, and costs nothing', { timeout: 120_000 }, async (t) => {
  const { url, secret, wallet } = await withModel(t, '--require-keys');
  const headers = { authorization: `Bearer ${secret}` };
  const infer = `${url}/v2/models/mnist/infer`;
  const good = { name: input, datatype: 'FP32', shape: [1, 1, 28, 28], data: picture(1) };
  const refused = async (status, pattern, body, more = {}, at = infer) => {
    const answer = await ask(at, { body, headers: { ...headers, ...more } });
    assert.equal(answer.status, status, JSON.stringify(answer.body));
    assert.match(typeof answer.body.error === 'string' ? answer.body.error : answer.body.detail, pattern);
  };
  await refused(401, /API key/, { inputs: [good] }, { authorization: '' });
  await refused(401, /not known here/, { inputs: [good] }, { authorization: `Bearer weft-${'2'.repeat(44)}` });
  // The body of a request with an unknown key is not read.
  await refused(401, /not known here/, Buffer.from('{'), { authorization: `Bearer weft-${'2'.repeat(44)}` });
  await refused(404, /does not exist here/, { inputs: [good] }, {}, `${url}/v2/models/none/infer`);
  await refused(404, /only the version 1/, { inputs: [good] }, {}, `${url}/v2/models/mnist/versions/2/infer`);
  await refused(400, /the model takes \[1,1,28,28\], or several/, { inputs: [{ ...good, shape: [1, 28, 28] }] });
  await refused(400, /is "INT8"; the model's input 'Input3' is FP32/, { inputs: [{ ...good, datatype: 'INT8' }] });
  await refused(400, /inputs\[0\]\.data: has 3 elements/, { inputs: [{ ...good, data: [1, 2, 3] }] });
  await refused(400, /not an output of the model, which has 'Plus214_Output_0'/, { inputs: [good], outputs: [{ name: 'y' }] });
  await refused(400, /line 1/, Buffer.from('{"inputs":'));
  await refused(400, /Weft-Budget must be a number/, { inputs: [good] }, { 'weft-budget': '-1' });
  await refused(400, /Inference-Header-Content-Length must be a number/, { inputs: [good] }, { 'inference-header-content-length': 'x' });
  await refused(402, /holds .* credits; the job's budget is/, { inputs: [good] }, { 'weft-budget': '999999' });
  await refused(415, /Content-Type: application\/json/, { inputs: [good] }, { 'content-type': 'text/plain' });
  await refused(400, /either "instances" or "inputs"/, {}, {}, `${url}/v1/models/mnist:predict`);

  // A key's own budget holds for these requests as for others, although no job was made.
  const limited = JSON.parse(await ok(['key', 'add', 'small', '--credits', '0.5', '--coordinator', url, '--wallet', wallet, '--json'])).secret;
  await refused(402, /may not spend the 1\.000000 credits/, { inputs: [good] }, { authorization: `Bearer ${limited}` });

  const wrong = await run(['model', 'add', model, '--price', '1', '--coordinator', url, '--wallet', wallet]);
  assert.equal(wrong.code, 2, wrong.stderr);
  assert.match(wrong.stderr, /a request to an ONNX model is a job/);
  assert.deepEqual((await getJson(`${url}/v1/jobs`)).jobs, [], 'no job was made');
});
