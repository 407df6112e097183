// How the page's calls cross into the modules of src/bindings and are answered: an Emscripten --js-library.
addToLibrary({
  // Calls `use` with copies of texts and of bytes (Uint8Array) on the heap: pointer and length of each in turn.
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

  // Calls that are answered later, by number.
  $weftCalls: { next: 1, waiting: new Map() },
  $weftCall__deps: ['$weftCalls'],
  $weftCall: (ask, onPiece) => {
    const call = weftCalls.next++;
    const answer = new Promise((resolve, reject) => weftCalls.waiting.set(call, { resolve, reject, onPiece }));
    try {
      ask(call);
    } catch (error) {
      weftCalls.waiting.delete(call); // Nothing was asked, so that no answer comes.
      throw error;
    }
    return { call, answer };
  },
});
