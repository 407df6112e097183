// A page's Worker with ONNX models, which runs the orders of the tests of weft_onnx.mjs.
import createOnnx from '/weft_onnx.mjs';

const onnx = await createOnnx();
const get = async (url) => new Uint8Array(await (await fetch(url)).arrayBuffer());

function half(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? (1 + fraction / 1024) * 2 ** (exponent - 15) : (fraction / 1024) * 2 ** -14);
}

/** The first difference beyond the tolerance of ONNX's own runner; null if there is none. */
function difference(got, wanted) {
  if (got.type !== wanted.type || `${got.shape}` !== `${wanted.shape}`) return `is ${got.type} [${got.shape}], not ${wanted.type} [${wanted.shape}]`;
  const isHalf = got.type === 'f16';
  const bound = isHalf ? 1e-2 : 1e-4;
  for (let i = 0; i < wanted.data.length; ++i) {
    const [a, b] = [got.data[i], wanted.data[i]].map((value) => (isHalf ? half(value) : value));
    if (a === b || (a !== a && b !== b)) continue;
    const close = (isHalf || got.type === 'f32') && Number.isFinite(b) && Math.abs(a - b) <= bound + (isHalf ? 1e-2 : 1e-3) * Math.abs(b);
    if (!close) return `element ${i} is ${a}, not ${b}`;
  }
  return null;
}

async function runCase(device, { name, inputs, outputs }) {
  const tensors = (kind, count) => Promise.all(Array.from({ length: count }, async (_, i) => onnx.readTensor(await get(`/cases/${name}/test_data_set_0/${kind}_${i}.pb`))));
  const model = await onnx.open(await get(`/cases/${name}/model.onnx`), { device });
  const given = await tensors('input', inputs);
  const ran = await model.run(Object.fromEntries(model.info.inputs.map((input, i) => [input.name, given[i]])));
  const wanted = await tensors('output', outputs);
  model.close();
  const differences = wanted.map((tensor, i) => difference(ran.outputs[i], tensor)).filter((found) => found !== null);
  return { name, device: model.info.device.kind, difference: differences[0] ?? null, dispatches: ran.dispatches };
}

// Puts a picture as an external image on the GPU, from its texture to the model's input.
const fill = `
@group(0) @binding(0) var picture: texture_2d<f32>;
@group(0) @binding(1) var<storage, read_write> planes: array<f32>;
@compute @workgroup_size(8, 8) fn main(@builtin(global_invocation_id) at: vec3u) {
  let size = textureDimensions(picture);
  if (at.x >= size.x || at.y >= size.y) { return; }
  let pixel = textureLoad(picture, at.xy, 0);
  let place = at.y * size.x + at.x;
  let plane = size.x * size.y;
  planes[place] = pixel.b;
  planes[plane + place] = pixel.g;
  planes[2 * plane + place] = pixel.r;
}`;
function fillFromTexture({ buffer, device }, bitmap) {
  const texture = device.createTexture({ size: [bitmap.width, bitmap.height], format: 'rgba8unorm',
    usage: GPUTextureUsage.COPY_DST | GPUTextureUsage.RENDER_ATTACHMENT | GPUTextureUsage.TEXTURE_BINDING });
  device.queue.copyExternalImageToTexture({ source: bitmap }, { texture }, [bitmap.width, bitmap.height]);
  const pipeline = device.createComputePipeline({ layout: 'auto', compute: { module: device.createShaderModule({ code: fill }) } });
  const group = device.createBindGroup({ layout: pipeline.getBindGroupLayout(0),
    entries: [{ binding: 0, resource: texture.createView() }, { binding: 1, resource: { buffer } }] });
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  pass.setPipeline(pipeline);
  pass.setBindGroup(0, group);
  pass.dispatchWorkgroups(Math.ceil(bitmap.width / 8), Math.ceil(bitmap.height / 8));
  pass.end();
  device.queue.submit([encoder.finish()]);
}
function planesOf(bitmap) {
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
  const context = canvas.getContext('2d');
  context.drawImage(bitmap, 0, 0);
  const { data } = context.getImageData(0, 0, bitmap.width, bitmap.height);
  const plane = bitmap.width * bitmap.height;
  const values = new Float32Array(3 * plane);
  for (let i = 0; i < plane; ++i) for (let c = 0; c < 3; ++c) values[c * plane + i] = data[4 * i + 2 - c] / 255;
  return values;
}

const tasks = {
  cases: async ({ device, cases }) => {
    const results = [];
    for (const one of cases) results.push(await runCase(device, one).catch((error) => ({ name: one.name, difference: String(error.message) })));
    return results;
  },
  detect: async ({ device, model: url, picture, expected }) => {
    const model = await onnx.open(await get(url), { device });
    const bitmap = await createImageBitmap(new Blob([await get(picture)]), { colorSpaceConversion: 'none', premultiplyAlpha: 'none' });
    const [input] = model.info.inputs;
    const given = async () => {
      if (device === 'cpu') return { [input.name]: planesOf(bitmap) };
      fillFromTexture(await model.inputBuffer(input.name), bitmap);
      return { [input.name]: { gpu: true } };
    };
    const run = async () => model.run(await given());
    const first = await run();
    const again = await run();
    const wanted = new Float32Array((await get(expected)).buffer);
    const largest = wanted.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    const [output] = first.outputs;
    let worst = output.data.length === wanted.length ? 0 : Infinity;
    for (let i = 0; i < wanted.length; ++i) worst = Math.max(worst, Math.abs(output.data[i] - wanted[i]) / largest);
    const same = output.data.every((value, i) => value === again.outputs[0].data[i]);
    const boxes = await model.boxes({ scoreMin: 0.3 });
    const all = await model.boxes({ scoreMin: 0 });
    const seen = await model.detect(await given(), { scoreMin: 0.3 });
    const seenAll = await model.detect(await given(), { scoreMin: 0 });
    const detects = { same: JSON.stringify([seen.boxes, seenAll.boxes]) === JSON.stringify([boxes, all]), submits: seen.submits, bytesDown: seen.bytesDown };
    model.close();
    return { info: model.info, worst, same, boxes, detects, dispatches: first.dispatches, submits: first.submits, processorNodes: first.processorNodes };
  },
  // Collects the error sentences of calls that fail.
  failures: async ({ model: url }) => {
    const bytes = await get(url);
    const said = (promise) => promise.then(() => null, ({ message, code }) => ({ message, code }));
    const out = { rubbish: await said(onnx.open(new Uint8Array(64).fill(255))), cut: [] };
    for (let length = 0; length < bytes.length; length += Math.ceil(bytes.length / 97)) {
      const failed = await said(onnx.open(bytes.subarray(0, length), { device: 'cpu' }));
      if (failed !== null) out.cut.push(failed.code);
    }
    const model = await onnx.open(bytes, { device: 'gpu' });
    const [{ name }] = model.info.inputs;
    out.missing = await said(model.run({}));
    out.unknown = await said(model.run({ other: new Float32Array(4) }));
    out.short = await said(model.run({ [name]: new Float32Array(4) }));
    out.option = await said(onnx.open(bytes, { speed: 1 }));
    const zeros = new Float32Array(model.info.inputs[0].shape.reduce((a, b) => a * b));
    const running = model.run({ [name]: zeros });
    out.busy = await said(model.run({ [name]: zeros }));
    out.outputs = (await running).outputs.map(({ name: output, shape, data }) => ({ name: output, shape, kind: data.constructor.name }));
    model.close();
    out.closed = await said(model.run({ [name]: zeros }));
    return out;
  },
};

self.onmessage = async ({ data: { id, task, ...options } }) => {
  try {
    self.postMessage({ id, result: await tasks[task](options) });
  } catch (error) {
    self.postMessage({ id, error: String(error?.stack ?? error) });
  }
};
self.postMessage({ id: 0 });
