// Sockets, requests and timers of the browser for the worker: an Emscripten --js-library; imports.h
// lists the functions. Views of the heap are taken again after every await. A trap in C++ is
// reported instead of being lost in a promise.
addToLibrary({
  // Handles are not reused, so that a late close cannot reach another socket.
  $weftSockets: { next: 1, open: new Map() },

  $weftInto__deps: ['malloc', 'free'],
  // Calls `use` with a copy of `bytes` on the heap.
  $weftInto: (bytes, use) => {
    const pointer = bytes.length ? _malloc(bytes.length) : 0;
    try {
      if (bytes.length && pointer === 0) throw new Error(`out of memory: the worker has no room for ${bytes.length} bytes that have come.`);
      if (pointer) HEAPU8.set(bytes, pointer);
      use(pointer, bytes.length);
    } catch (error) {
      if (error !== 'unwind' && error?.name !== 'ExitStatus') queueMicrotask(() => { throw error; });
    } finally {
      if (pointer) _free(pointer);
    }
  },
  $weftUtf8: (text) => new TextEncoder().encode(text),

  weft_socket_open__deps: ['$weftSockets', '$weftInto', '$weftUtf8', '$UTF8ToString', 'weft_socket_news'],
  weft_socket_open__sig: 'ippi',
  weft_socket_open: (callback, url, urlSize) => {
    const news = (kind, bytes) => weftInto(bytes, (data, size) => _weft_socket_news(callback, kind, data, size));
    const handle = weftSockets.next++;
    let socket;
    try {
      socket = new WebSocket(UTF8ToString(url, urlSize));
    // An invalid address, or one that the page's Content-Security-Policy forbids.
    } catch (error) {
      setTimeout(() => news(3, weftUtf8(String(error?.message || error))));
      return handle;
    }
    let open = false;
    socket.binaryType = 'arraybuffer';
    socket.onopen = () => { open = true; news(0, weftUtf8('')); };
    socket.onmessage = ({ data }) => typeof data === 'string' ? news(1, weftUtf8(data)) : news(2, new Uint8Array(data));
    socket.onclose = ({ reason }) => {
      weftSockets.open.delete(handle);
      news(3, weftUtf8(reason || (open ? 'The connection to the coordinator broke.' : 'The coordinator cannot be reached.')));
    };
    weftSockets.open.set(handle, socket);
    return handle;
  },
  weft_socket_send_text__deps: ['$weftSockets', '$UTF8ToString'],
  weft_socket_send_text__sig: 'vipi',
  weft_socket_send_text: (handle, text, size) => {
    const socket = weftSockets.open.get(handle);
    if (socket?.readyState === WebSocket.OPEN) socket.send(UTF8ToString(text, size));
  },
  weft_socket_send_bytes__deps: ['$weftSockets'],
  weft_socket_send_bytes__sig: 'vipi',
  weft_socket_send_bytes: (handle, bytes, size) => {
    const socket = weftSockets.open.get(handle);
    if (socket?.readyState === WebSocket.OPEN) socket.send(HEAPU8.slice(bytes, bytes + size));
  },
  weft_socket_close__deps: ['$weftSockets'],
  weft_socket_close: (handle) => { weftSockets.open.get(handle)?.close(1000); },

  // Runs `work`, which returns bytes or throws an error, possibly with a weftCode.
  $weftRequest__deps: ['$weftInto', '$weftUtf8', '$stringToNewUTF8', 'free', 'weft_blob_done'],
  $weftRequest: (callback, work) => {
    const done = (code, bytes) => {
      const word = code ? stringToNewUTF8(code) : 0;
      try {
        weftInto(bytes, (data, size) => _weft_blob_done(callback, word, data, size));
      } finally {
        if (word) _free(word);
      }
    };
    work().then((bytes) => done('', bytes), (error) => done(error.weftCode ?? 'unavailable', weftUtf8(String(error?.message || error))));
  },
  $weftRefusal: (code, message) => Object.assign(new Error(message), { weftCode: code }),
  // Converts an unsuccessful answer to an error: that of its problem document, if it has one.
  $weftAnswerError__deps: ['$weftRefusal'],
  $weftAnswerError: async (response) => {
    const problem = await response.json().catch(() => ({}));
    if (response.status === 429 || response.status === 503) {
      // A refusal for now is reported after its Retry-After, so that a caller that tries again is
      // not too early.
      const wait = Math.min(Number(response.headers.get('retry-after') ?? 1) || 0, 60);
      await new Promise((over) => setTimeout(over, 1000 * wait));
      return weftRefusal('unavailable', problem.detail ?? `The coordinator answered ${response.status}.`);
    }
    const byStatus = { 401: 'unauthenticated', 403: 'permission_denied', 404: 'not_found', 413: 'resource_exhausted' };
    const code = problem.code ?? byStatus[response.status] ?? (response.status < 500 ? 'invalid_argument' : 'unavailable');
    return weftRefusal(code, problem.detail ?? `The coordinator answered ${response.status}.`);
  },
  $weftAllBytes__deps: ['$weftRefusal'],
  $weftAllBytes: async (response, most) => {
    const tooLarge = () => weftRefusal('resource_exhausted', `A blob is larger than the ${most} bytes that are taken.`);
    if (Number(response.headers.get('content-length') ?? 0) > most) throw tooLarge();
    const chunks = [];
    let size = 0;
    for (const reader = response.body.getReader(); ;) {
      const { done, value } = await reader.read();
      if (done) break;
      size += value.length;
      if (size > most) {
        await reader.cancel();
        throw tooLarge();
      }
      chunks.push(value);
    }
    const bytes = new Uint8Array(size);
    let at = 0;
    for (const chunk of chunks) {
      bytes.set(chunk, at);
      at += chunk.length;
    }
    return bytes;
  },

  weft_blob_get__deps: ['$weftRequest', '$weftAnswerError', '$weftAllBytes', '$UTF8ToString'],
  weft_blob_get__sig: 'vppipid',
  weft_blob_get: (callback, url, urlSize, token, tokenSize, most) => {
    const address = UTF8ToString(url, urlSize);
    const headers = { authorization: 'Bearer ' + UTF8ToString(token, tokenSize) };
    weftRequest(callback, async () => {
      const response = await fetch(address, { headers, signal: AbortSignal.timeout(300000) });
      if (!response.ok) throw await weftAnswerError(response);
      return weftAllBytes(response, most);
    });
  },
  weft_blob_put__deps: ['$weftRequest', '$weftAnswerError', '$UTF8ToString'],
  weft_blob_put__sig: 'vppipipd',
  weft_blob_put: (callback, url, urlSize, token, tokenSize, bytes, size) => {
    const address = UTF8ToString(url, urlSize);
    const headers = { authorization: 'Bearer ' + UTF8ToString(token, tokenSize), 'content-type': 'application/octet-stream' };
    const body = HEAPU8.slice(bytes, bytes + size);
    weftRequest(callback, async () => {
      const response = await fetch(address, { method: 'PUT', headers, body, signal: AbortSignal.timeout(300000) });
      if (!response.ok) throw await weftAnswerError(response);
      return new Uint8Array();
    });
  },

  weft_timer__deps: ['weft_timer_done'],
  weft_timer__sig: 'vpd',
  weft_timer: (callback, milliseconds) => { setTimeout(() => _weft_timer_done(callback), milliseconds); },
  weft_random_share: () => Math.random(),

  weft_emit__deps: ['$UTF8ToString'],
  weft_emit__sig: 'vpi',
  weft_emit: (json, size) => { Module['onEvent']?.(JSON.parse(UTF8ToString(json, size))); },

  // Calls of the page that wait for their answers, by number.
  $weftCalls: { next: 1, waiting: new Map() },
  $weftCall__deps: ['$weftCalls'],
  $weftCall: (ask) => new Promise((resolve, reject) => {
    const call = weftCalls.next++;
    weftCalls.waiting.set(call, { resolve, reject });
    ask(call);
  }),
  weft_answer_bytes__deps: ['$weftCalls'],
  weft_answer_bytes__sig: 'vipd',
  weft_answer_bytes: (call, bytes, size) => { (weftCalls.waiting.get(call).parts ??= []).push(HEAPU8.slice(bytes, bytes + size)); },
  weft_answer__deps: ['$weftCalls', '$UTF8ToString'],
  weft_answer__sig: 'viipi',
  weft_answer: (call, ok, text, size) => {
    const { resolve, reject, parts } = weftCalls.waiting.get(call);
    weftCalls.waiting.delete(call);
    const words = UTF8ToString(text, size);
    if (ok) resolve(parts ? { text: words, parts } : words);
    else reject(new Error(words));
  },
});
