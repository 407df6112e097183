// Passes the page's calls to the modules of src/bindings and their answers back: an Emscripten
// --js-library.
addToLibrary({
  // Copies texts and bytes (Uint8Array) to the heap and calls `use` with the pointer and the length
  // of each in turn. The copies are freed when `use` returns.
  $weftInto__deps: ['malloc', 'free'],
  $weftInto: (texts, use) => {
    const places = [];
    try {
      for (const text of texts) {
        const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text;
        const pointer = _malloc(bytes.length + 1);
        if (pointer === 0) throw new Error(`out of memory: the module has no room for ${bytes.length} bytes. Release what it holds, or give it less at once.`);
        HEAPU8.set(bytes, pointer);
        places.push(pointer, bytes.length);
      }
      use(...places);
    } finally {
      for (let i = 0; i < places.length; i += 2) _free(places[i]);
    }
  },

  // The calls that are still unanswered, by number.
  $weftCalls: { next: 1, waiting: new Map() },
  $weftCall__deps: ['$weftCalls'],
  $weftCall: (ask, onPiece) => {
    const call = weftCalls.next++;
    const answer = new Promise((resolve, reject) => weftCalls.waiting.set(call, { resolve, reject, onPiece }));
    try {
      ask(call);
    } catch (error) {
      weftCalls.waiting.delete(call); // The module got no call, so no answer comes.
      throw error;
    }
    return { call, answer };
  },
});
