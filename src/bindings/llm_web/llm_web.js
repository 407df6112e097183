// Gives the model's Worker access to its file, to the event loop and to the page's calls: an
// Emscripten --js-library. imports.h describes the functions. Module.source is
// { bytes, read(offset, into) }, and its read is synchronous. Callbacks run in a message handler, so
// a trap in C++ is an uncaught error of the Worker and not a rejected promise.
addToLibrary({
  weft_llm_answer__deps: ['$weftCalls', '$UTF8ToString'],
  weft_llm_answer__sig: 'vipipi',
  weft_llm_answer: (call, code, codeSize, text, size) => {
    const { resolve, reject } = weftCalls.waiting.get(call);
    weftCalls.waiting.delete(call);
    const words = size ? UTF8ToString(text, size, true) : '';  // `true` keeps the text after a NUL.
    if (codeSize) reject(Object.assign(new Error(words), { code: UTF8ToString(code, codeSize) }));
    else resolve(words);
  },
  weft_llm_piece__deps: ['$weftCalls', '$UTF8ToString'],
  weft_llm_piece__sig: 'vipi',
  weft_llm_piece: (call, json, size) => { weftCalls.waiting.get(call).onPiece(JSON.parse(UTF8ToString(json, size))); },

  weft_llm_source_bytes: () => Module['source'].bytes,
  weft_llm_source_read__deps: ['$stringToNewUTF8'],
  weft_llm_source_read__sig: 'pdpd',
  weft_llm_source_read: (offset, out, size) => {
    try {
      Module['source'].read(offset, HEAPU8.subarray(out, out + size));
      return 0;
    } catch (error) {
      return stringToNewUTF8(String(error?.message || error));
    }
  },

  // The callback waits for a message that the Worker sends to itself, because such a message comes
  // after the messages that already wait. A promise would be resolved before them.
  $weftTurns: { channel: null, waiting: [] },
  weft_llm_turn__deps: ['$weftTurns', 'weft_llm_turned'],
  weft_llm_turn__sig: 'vp',
  weft_llm_turn: (callback) => {
    if (weftTurns.channel === null) {
      weftTurns.channel = new MessageChannel();
      weftTurns.channel.port1.onmessage = () => _weft_llm_turned(weftTurns.waiting.shift());
    }
    weftTurns.waiting.push(callback);
    weftTurns.channel.port2.postMessage(null);
  },
});
