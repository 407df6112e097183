// Chunks of models in OPFS and links to other tabs, as an Emscripten --js-library;
// serving_imports.h lists the functions.
addToLibrary({
  weft_range_get__deps: ['$weftRequest', '$weftAnswerError', '$weftAllBytes', '$weftRefusal', '$UTF8ToString'],
  weft_range_get__sig: 'vppipidd',
  weft_range_get: (callback, url, urlSize, token, tokenSize, first, count) => {
    const address = UTF8ToString(url, urlSize);
    const headers = { authorization: 'Bearer ' + UTF8ToString(token, tokenSize), range: `bytes=${first}-${first + count - 1}` };
    weftRequest(callback, async () => {
      const response = await fetch(address, { headers, signal: AbortSignal.timeout(300000) });
      if (!response.ok) throw await weftAnswerError(response);
      const bytes = await weftAllBytes(response, count);
      if (bytes.length !== count) throw weftRefusal('data_loss', `${bytes.length} bytes of a blob come where ${count} were asked for.`);
      return bytes;
    });
  },

  // Chunks by model and number: files in OPFS, or bytes in memory if the browser has no OPFS. Both
  // can be read synchronously.
  $weftChunks: { kept: new Map(), reader: null },
  $weftChunkFolder: async (model) => {
    const root = await navigator.storage.getDirectory();
    const models = await root.getDirectoryHandle('serving', { create: true });
    return models.getDirectoryHandle(model, { create: true });
  },
  weft_chunk_read__deps: ['$weftRequest', '$weftChunks', '$weftChunkFolder', '$weftRefusal', '$UTF8ToString'],
  weft_chunk_read__sig: 'vppii',
  weft_chunk_read: (callback, model, size, chunk) => {
    const name = UTF8ToString(model, size);
    weftRequest(callback, async () => {
      let file;
      try {
        file = weftChunks.kept.get(`${name}/${chunk}`) ?? (await (await weftChunkFolder(name)).getFileHandle(String(chunk)).then((handle) => handle.getFile()));
      } catch {
        throw weftRefusal('not_found', 'The chunk is not kept.');
      }
      weftChunks.kept.set(`${name}/${chunk}`, file);
      return new Uint8Array(await file.arrayBuffer());
    });
  },
  weft_chunk_write__deps: ['$weftRequest', '$weftChunks', '$weftChunkFolder', '$UTF8ToString'],
  weft_chunk_write__sig: 'vppiipi',
  weft_chunk_write: (callback, model, modelSize, chunk, bytes, size) => {
    const name = UTF8ToString(model, modelSize);
    const copy = HEAPU8.slice(bytes, bytes + size);
    weftRequest(callback, async () => {
      weftChunks.kept.set(`${name}/${chunk}`, new Blob([copy]));
      try {
        const handle = await (await weftChunkFolder(name)).getFileHandle(String(chunk), { create: true });
        const writable = await handle.createWritable();
        await writable.write(copy);
        await writable.close();
        weftChunks.kept.set(`${name}/${chunk}`, await handle.getFile());
      } catch { /* No room, or no OPFS: memory has it. */ }
      return new Uint8Array();
    });
  },
  weft_chunk_view__deps: ['$weftChunks', '$UTF8ToString'],
  weft_chunk_view__sig: 'ipiiipi',
  weft_chunk_view: (model, modelSize, chunk, first, out, size) => {
    const file = weftChunks.kept.get(`${UTF8ToString(model, modelSize)}/${chunk}`);
    if (!file) return 0;
    try {
      weftChunks.reader ??= new FileReaderSync();
      const bytes = weftChunks.reader.readAsArrayBuffer(file.slice(first, first + size));
      if (bytes.byteLength !== size) return 0;
      HEAPU8.set(new Uint8Array(bytes), out);
      return 1;
    } catch {
      return 0;
    }
  },

  // A message to this Worker arrives after those that wait already; a promise would run before
  // them, and a timer waits 4 ms.
  $weftTurns: { channel: null, waiting: [] },
  weft_turn__deps: ['$weftTurns', 'weft_timer_done'],
  weft_turn__sig: 'vp',
  weft_turn: (callback) => {
    if (weftTurns.channel === null) {
      weftTurns.channel = new MessageChannel();
      weftTurns.channel.port1.onmessage = () => _weft_timer_done(weftTurns.waiting.shift());
    }
    weftTurns.waiting.push(callback);
    weftTurns.channel.port2.postMessage(null);
  },

  // Links by chain and member. Module.onLines gets { type: 'open' | 'signal' | 'close', ... };
  // Module.lines() takes the answers. `epochs` has the epoch of each chain with links; events of an
  // earlier epoch are discarded.
  $weftLines: { open: new Map(), epochs: new Map() },
  $weftLineNews__deps: ['$weftInto', 'weft_line_news'],
  // `kind`: 0 signal, 1 frame, 2 open, 3 closed.
  $weftLineNews: (kind, chain, epoch, member, bytes) => weftInto(bytes, (data, size) => _weft_line_news(kind, chain, epoch, member, data, size)),
  $weftLinesTake__deps: ['$weftLines', '$weftLineNews', '$weftUtf8'],
  // The parameter is not destructured, because Emscripten would lose the function's name.
  $weftLinesTake: (news) => {
    const { type, chain, epoch, member, text, channel } = news;
    const nothing = new Uint8Array();
    if (type === 'signal') return weftLineNews(0, chain, epoch, member, weftUtf8(text));
    if (type !== 'channel') return undefined;
    const name = `${chain}/${member}`;
    const opened = () => {
      if (weftLines.epochs.get(chain) !== epoch) return channel.close();
      if (weftLines.open.get(name)?.channel === channel) return;
      weftLines.open.set(name, { channel, epoch });
      return weftLineNews(2, chain, epoch, member, nothing);
    };
    const closed = () => {
      if (weftLines.open.get(name)?.channel !== channel) return;
      weftLines.open.delete(name);
      weftLineNews(3, chain, epoch, member, nothing);
    };
    channel.binaryType = 'arraybuffer';
    channel.onopen = opened;
    channel.onclose = closed;
    channel.onmessage = ({ data }) => {
      // A transferred channel may deliver a message before its open event.
      opened();
      if (weftLines.epochs.get(chain) !== epoch) return;
      if (data instanceof ArrayBuffer) weftLineNews(1, chain, epoch, member, new Uint8Array(data));
    };
    if (channel.readyState === 'open') opened();
    return undefined;
  },
  weft_lines_there: () => (Module['onLines'] ? 1 : 0),
  weft_lines_open__deps: ['$weftLines', '$UTF8ToString'],
  weft_lines_open__sig: 'viiipipi',
  weft_lines_open: (chain, epoch, index, members, size, ice, iceSize) => {
    weftLines.epochs.set(chain, epoch);
    Module['onLines']?.({
      type: 'open',
      chain,
      epoch,
      index,
      members: UTF8ToString(members, size).split(',').filter(Boolean).map(Number),
      iceServers: JSON.parse(UTF8ToString(ice, iceSize)),
    });
  },
  weft_lines_signal__deps: ['$UTF8ToString'],
  weft_lines_signal__sig: 'viiipi',
  weft_lines_signal: (chain, epoch, from, text, size) => { Module['onLines']?.({ type: 'signal', chain, epoch, from, text: UTF8ToString(text, size) }); },
  weft_lines_send__deps: ['$weftLines'],
  weft_lines_send__sig: 'iiipi',
  weft_lines_send: (chain, member, bytes, size) => {
    const line = weftLines.open.get(`${chain}/${member}`);
    if (!line || line.channel.readyState !== 'open') return 0;
    try {
      line.channel.send(HEAPU8.slice(bytes, bytes + size));
      return 1;
    } catch {
      return 0;
    }
  },
  weft_lines_close__deps: ['$weftLines'],
  weft_lines_close: (chain) => {
    weftLines.epochs.delete(chain);
    for (const [name, { channel }] of weftLines.open) {
      if (!name.startsWith(`${chain}/`)) continue;
      weftLines.open.delete(name);
      channel.close();
    }
    Module['onLines']?.({ type: 'close', chain });
  },
});
