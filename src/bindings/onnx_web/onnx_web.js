// Passes answers from the models' Worker to the page: an Emscripten --js-library. imports.h
// describes the functions.
addToLibrary({
  $weftPart__deps: ['$weftCalls'],
  $weftPart: (call, part) => { (weftCalls.waiting.get(call).parts ??= []).push(part); },
  weft_onnx_part__deps: ['$weftPart'],
  weft_onnx_part__sig: 'vipd',
  weft_onnx_part: (call, bytes, size) => weftPart(call, HEAPU8.slice(bytes, bytes + size)),
  weft_onnx_buffer_part__deps: ['$weftPart', '$weftGpu'],
  weft_onnx_buffer_part: (call, buffer) => weftPart(call, weftGpu.table[buffer]),

  weft_onnx_answer__deps: ['$weftCalls', '$UTF8ToString'],
  weft_onnx_answer__sig: 'vipipi',
  weft_onnx_answer: (call, code, codeSize, text, size) => {
    const { resolve, reject, parts = [] } = weftCalls.waiting.get(call);
    weftCalls.waiting.delete(call);
    const words = size ? UTF8ToString(text, size, true) : '';
    if (codeSize) reject(Object.assign(new Error(words), { code: UTF8ToString(code, codeSize) }));
    else resolve({ text: words, parts });
  },
});
