// The methods of the module, as listed in README.md. Emscripten's --post-js appends this file
// inside the factory.
const weftWithText = (text, use) => weftInto(weftUtf8(text), use);

Module['start'] = ({ coordinator, device = 'gpu', slots = 2, memoryBytes = 0, slices = 0, priceMin = 0, known = null }) => {
  const name = known ? [known.vendor, known.architecture, known.description].join('\n') : '';
  weftWithText(String(coordinator), (url, size) =>
    weftWithText(name, (at, length) =>
      _weft_engine_start(url, size, device === 'cpu' ? 1 : 0, slots, memoryBytes, slices, priceMin, at, length, known?.copyGbPerS ?? 0, known?.f32GflopPerS ?? 0)));
};
Module['stop'] = () => _weft_engine_stop();
Module['pause'] = () => _weft_engine_pause();
Module['resume'] = () => _weft_engine_resume();
Module['throttle'] = (share) => _weft_engine_throttle(share);
Module['wake'] = () => _weft_engine_wake();
Module['stats'] = () => ({ ...JSON.parse(UTF8ToString(_weft_engine_stats())), heapBytes: HEAPU8.length });
Module['wallet'] = () => weftCall((call) => _weft_engine_wallet(call));
Module['exportWallet'] = async () => JSON.parse(await weftCall((call) => _weft_engine_export_wallet(call)));
Module['importWallet'] = (numbers) =>
  weftCall((call) => weftWithText(JSON.stringify(numbers), (text, size) => _weft_engine_import_wallet(call, text, size)));
Module['signRequest'] = async (request) =>
  JSON.parse(await weftCall((call) => weftWithText(request, (text, size) => _weft_engine_sign_request(call, text, size))));
Module['lab'] = {
  open: async () => JSON.parse(await weftCall((call) => _weft_lab_open(call))),
  measure: async () => JSON.parse(await weftCall((call) => _weft_lab_measure(call))),
  compile: async (wgsl) => JSON.parse(await weftCall((call) => weftWithText(wgsl, (text, size) => _weft_lab_compile(call, text, size)))),
  check: async (manifest) => JSON.parse(await weftCall((call) => weftWithText(manifest, (text, size) => _weft_lab_check(call, text, size)))),
  run: async (manifest, { cpu = false } = {}) => {
    const { text, parts } = await weftCall((call) => weftWithText(manifest, (at, size) => _weft_lab_run(call, at, size, +cpu)));
    const ran = JSON.parse(text);
    return { ...ran, outputs: ran.outputs.map((output, i) => ({ ...output, bytes: parts[i] })) };
  },
};

// Takes the page's news about links to other tabs: { type: 'signal', chain, epoch, member, text }
// to pass on, or { type: 'channel', ... }.
Module['lines'] = (news) => weftLinesTake(news);
