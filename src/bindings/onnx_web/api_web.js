// The methods of the module, which README.md lists. The linker adds this file after Emscripten's
// own code in the factory (--post-js).
const weftAsk = (texts, use) => weftCall((call) => weftInto(texts, (...places) => use(call, ...places))).answer;
const weftBytes = (data) => ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : new Uint8Array(data);
const weftArrays = { f32: Float32Array, f16: Uint16Array, u8: Uint8Array, i8: Int8Array, u16: Uint16Array, i16: Int16Array, i32: Int32Array,
  u32: Uint32Array, i64: BigInt64Array, bool: Uint8Array };
const weftTensor = (about, bytes) => ({ ...about, data: new weftArrays[about.type](bytes.buffer) });
let weftModels = 0;

// Converts the inputs of a run to the arguments of the module: a JSON list with one entry for each
// input, and the bytes of all inputs.
const weftInputs = (inputs) => {
  const list = [];
  const pieces = [];
  let offset = 0;
  for (const [name, input] of Object.entries(inputs)) {
    const shape = input.shape ? { shape: [...input.shape].map(Number) } : {};
    if (input.gpu) {
      list.push({ name, gpu: true, ...shape });
      continue;
    }
    const bytes = weftBytes(input.data ?? input);
    list.push({ name, offset, bytes: bytes.length, ...shape });
    pieces.push([bytes, offset]);
    offset += bytes.length;
  }
  const data = new Uint8Array(offset);
  for (const [bytes, at] of pieces) data.set(bytes, at);
  return [JSON.stringify(list), data];
};

class WeftModel {
  constructor(number, info) {
    this.number = number;
    this.info = info;
  }
  async run(inputs) {
    const { text, parts } = await weftAsk(weftInputs(inputs),
      (call, json, jsonSize, from, size) => _weft_onnx_run(call, this.number, json, jsonSize, from, size));
    const ran = JSON.parse(text);
    return { ...ran, outputs: ran.outputs.map((output, i) => weftTensor(output, parts[i])) };
  }
  async detect(inputs, options = {}) {
    return JSON.parse((await weftAsk([...weftInputs(inputs), JSON.stringify(options)], (call, ...places) => _weft_onnx_detect(call, this.number, ...places))).text);
  }
  async inputBuffer(name) {
    const { parts: [buffer] } = await weftAsk([String(name)], (call, text, size) => _weft_onnx_input_buffer(call, this.number, text, size));
    return { buffer, device: buffer.weftDevice };
  }
  async boxes(options = {}) {
    return JSON.parse((await weftAsk([JSON.stringify(options)], (call, json, size) => _weft_onnx_boxes(call, this.number, json, size))).text);
  }
  close() { _weft_onnx_close(this.number); }
}

Module['open'] = async (bytes, options = {}) => {
  const number = ++weftModels;
  const { text } = await weftAsk([JSON.stringify(options), weftBytes(bytes)],
    (call, json, size, from, length) => _weft_onnx_open(call, number, json, size, from, length));
  return new WeftModel(number, JSON.parse(text));
};
Module['readTensor'] = async (bytes) => {
  const { text, parts } = await weftAsk([weftBytes(bytes)], (call, from, size) => _weft_onnx_read_tensor(call, from, size));
  return weftTensor(JSON.parse(text), parts[0]);
};
