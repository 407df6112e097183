// WebCrypto and IndexedDB for keys_web.cpp, as an Emscripten --js-library. Pointers come as Numbers
// (sig 'p'). Views of the heap are made again after every await, because growth of the heap
// replaces them.
addToLibrary({
  $weftKeys: { table: [null], free: [], kept: null },

  // Runs `work`, whose answer is a number, and resumes C++. A rejected promise becomes the message.
  $weftCryptoDo__deps: ['weft_crypto_done', '$stringToNewUTF8', 'free'],
  $weftCryptoDo: (token, work) => {
    const answer = (value, message) => {
      const text = message === undefined ? 0 : stringToNewUTF8(message);
      try {
        _weft_crypto_done(token, value, text);
      } catch (error) {
        // An error in C++ is thrown instead of vanishing in the promise. The program's own end is not
        // an error.
        if (error !== 'unwind' && error?.name !== 'ExitStatus') queueMicrotask(() => { throw error; });
      } finally {
        if (text) _free(text);
      }
    };
    (async () => {
      if (!globalThis.crypto?.subtle) throw new Error('WebCrypto is missing; a page needs https or localhost');
      return work();
    })().then((value) => answer(Number(value)), (error) => answer(0, String(error?.message || error)));
  },

  $weftKeyPut__deps: ['$weftKeys'],
  $weftKeyPut: (key) => {
    const handle = weftKeys.free.pop() ?? weftKeys.table.length;
    weftKeys.table[handle] = key;
    return handle;
  },

  // Uses the one record "worker" in the object store "keys" of the database "weft". Resolves to
  // undefined if no key is stored or there is no IndexedDB.
  $weftKeyStore: (mode, use) => new Promise((resolve, reject) => {
    if (!globalThis.indexedDB) { resolve(undefined); return; }
    const opening = indexedDB.open('weft', 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore('keys');
    opening.onerror = () => reject(opening.error);
    opening.onsuccess = () => {
      const database = opening.result;
      const transaction = database.transaction('keys', mode);
      const request = use(transaction.objectStore('keys'));
      transaction.oncomplete = () => { database.close(); resolve(request.result); };
      transaction.onerror = transaction.onabort = () => { database.close(); reject(transaction.error); };
    };
  }),

  // Makes a key from an Ed25519 seed, which RFC 8410 puts after a fixed PKCS #8 header. The public
  // key is read from a copy that can be exported; the key itself cannot.
  $weftKeyFromSeed: async (seed) => {
    const header = [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];
    const pkcs8 = new Uint8Array([...header, ...seed]);
    try {
      const copy = await crypto.subtle.importKey('pkcs8', pkcs8, 'Ed25519', true, ['sign']);
      const { x } = await crypto.subtle.exportKey('jwk', copy);
      const text = atob(x.replace(/-/g, '+').replace(/_/g, '/'));
      const privateKey = await crypto.subtle.importKey('pkcs8', pkcs8, 'Ed25519', false, ['sign']);
      return { privateKey, publicKey: Uint8Array.from(text, (c) => c.charCodeAt(0)) };
    } finally {
      pkcs8.fill(0);
    }
  },

  weft_key_load__deps: ['$weftCryptoDo', '$weftKeyStore', '$weftKeyPut'],
  weft_key_load__sig: 'vpp',
  weft_key_load: (token, out) => weftCryptoDo(token, async () => {
    let key = await weftKeyStore('readonly', (store) => store.get('worker'));
    if (!key) {
      const pair = await crypto.subtle.generateKey('Ed25519', false, ['sign', 'verify']);
      const made = { privateKey: pair.privateKey, publicKey: new Uint8Array(await crypto.subtle.exportKey('raw', pair.publicKey)) };
      // Two tabs may start at once: add() fails for the second one, which then takes the first one's key.
      await weftKeyStore('readwrite', (store) => store.add(made, 'worker')).catch(() => undefined);
      key = (await weftKeyStore('readonly', (store) => store.get('worker'))) ?? made;
    }
    HEAPU8.set(key.publicKey, out);
    return weftKeyPut(key);
  }),

  weft_key_import__deps: ['$weftCryptoDo', '$weftKeyFromSeed', '$weftKeyPut'],
  weft_key_import__sig: 'vppp',
  weft_key_import: (token, seed, out) => {
    const bytes = HEAPU8.slice(seed, seed + 32);
    HEAPU8.fill(0, seed, seed + 32);
    weftCryptoDo(token, async () => {
      const key = await weftKeyFromSeed(bytes).finally(() => bytes.fill(0));
      HEAPU8.set(key.publicKey, out);
      return weftKeyPut(key);
    });
  },

  weft_key_keep__deps: ['$weftCryptoDo', '$weftKeyStore', '$weftKeys'],
  weft_key_keep__sig: 'vpi',
  weft_key_keep: (token, key) => weftCryptoDo(token, async () => {
    await weftKeyStore('readwrite', (store) => store.put(weftKeys.table[key], 'worker'));
    return 1;
  }),

  // Answers 0 if the key cannot be exported. Earlier versions of the page stored keys that can be:
  // such a key is exported once, and is stored in a form that is not exportable from then on.
  weft_key_export__deps: ['$weftCryptoDo', '$weftKeyFromSeed', '$weftKeyStore', '$weftKeys'],
  weft_key_export__sig: 'vpip',
  weft_key_export: (token, key, out) => weftCryptoDo(token, async () => {
    const { privateKey } = weftKeys.table[key];
    if (!privateKey.extractable) return 0;
    const pkcs8 = new Uint8Array(await crypto.subtle.exportKey('pkcs8', privateKey));
    const seed = pkcs8.slice(16, 48);  // The seed follows the header of weftKeyFromSeed.
    pkcs8.fill(0);
    const sealed = await weftKeyFromSeed(seed);
    await weftKeyStore('readwrite', (store) => store.put(sealed, 'worker'));
    weftKeys.table[key] = sealed;
    HEAPU8.set(seed, out);
    seed.fill(0);
    return 1;
  }),

  weft_key_sign__deps: ['$weftCryptoDo', '$weftKeys'],
  weft_key_sign__sig: 'vpipip',
  weft_key_sign: (token, key, message, size, out) => {
    const bytes = HEAPU8.slice(message, message + size);
    weftCryptoDo(token, async () => {
      const signature = await crypto.subtle.sign('Ed25519', weftKeys.table[key].privateKey, bytes);
      HEAPU8.set(new Uint8Array(signature), out);
      return 1;
    });
  },

  weft_key_verify__deps: ['$weftCryptoDo'],
  weft_key_verify__sig: 'vpppip',
  weft_key_verify: (token, key, message, size, signature) => {
    const keyBytes = HEAPU8.slice(key, key + 32);
    const messageBytes = HEAPU8.slice(message, message + size);
    const signatureBytes = HEAPU8.slice(signature, signature + 64);
    weftCryptoDo(token, async () => {
      // A key that is not a point of the curve is refused by some browsers at import, and by others
      // at the check.
      const publicKey = await crypto.subtle.importKey('raw', keyBytes, 'Ed25519', false, ['verify']).catch((error) => {
        if (error?.name === 'DataError') return null;
        throw error;
      });
      return publicKey ? crypto.subtle.verify('Ed25519', publicKey, signatureBytes, messageBytes) : false;
    });
  },

  weft_key_release__deps: ['$weftKeys'],
  weft_key_release__sig: 'vi',
  weft_key_release: (key) => {
    weftKeys.table[key] = null;
    weftKeys.free.push(key);
  },

  weft_random__sig: 'vpi',
  weft_random: (out, size) => {
    for (let at = 0; at < size; at += 65536) crypto.getRandomValues(HEAPU8.subarray(out + at, out + Math.min(size, at + 65536)));
  },
});
