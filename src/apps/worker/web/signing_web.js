// What this browser's device has signed, in IndexedDB, for web_signing.cpp: an Emscripten --js-library. The database
// "weft-signed" is deleted with the site's data, as the key is. Its transactions come one after the other over all tabs.
addToLibrary({
  $weftSigned: { database: null, kept: new Map() },

  $weftSignedOpen__deps: ['$weftSigned'],
  $weftSignedOpen: () => weftSigned.database ??= new Promise((resolve, reject) => {
    const forget = () => { weftSigned.database = null; };
    const opening = indexedDB.open('weft-signed', 1);
    opening.onupgradeneeded = () => {
      opening.result.createObjectStore('roots');  // A root, by coordinator, job, index and attempt.
      opening.result.createObjectStore('marks');  // By coordinator: how many roots there are, and up to where they are forgotten.
    };
    opening.onerror = () => { forget(); reject(opening.error); };
    opening.onsuccess = () => {
      opening.result.onclose = forget;
      opening.result.onversionchange = () => { opening.result.close(); forget(); };
      resolve(opening.result);
    };
  }),

  // Without IndexedDB the key lives as long as the Worker, and so does this.
  $weftSignedHere__deps: ['$weftSigned'],
  $weftSignedHere: (key, root, most) => {
    const name = key.join(), text = root.join(), before = weftSigned.kept.get(name);
    if (before !== undefined) return before === text ? 0 : 1;
    if (weftSigned.kept.size >= most) return 2;
    weftSigned.kept.set(name, text);
    return 0;
  },

  // 0: it may be signed; 1: another root was; 2: what was signed is forgotten. The rules are those of signed_roots.h.
  $weftSignedAdmit__deps: ['$weftSignedOpen', '$weftSignedHere'],
  $weftSignedAdmit: async (key, root, most) => {
    if (!globalThis.indexedDB) return weftSignedHere(key, root, most);
    const database = await weftSignedOpen();
    const coordinator = key.slice(0, 32);
    return new Promise((resolve, reject) => {
      let answer = 0;
      const transaction = database.transaction(['roots', 'marks'], 'readwrite', { durability: 'strict' });
      transaction.oncomplete = () => resolve(answer);
      transaction.onabort = transaction.onerror = () => reject(transaction.error);
      const roots = transaction.objectStore('roots'), marks = transaction.objectStore('marks');
      const signed = roots.get(key), marked = marks.get(coordinator);
      marked.onsuccess = () => {
        const { count = 0, mark } = marked.result ?? {};
        if (signed.result) answer = indexedDB.cmp(signed.result, root) === 0 ? 0 : 1;
        else if (mark && indexedDB.cmp(key, mark) <= 0) answer = 2;
        else {
          roots.add(root, key);
          if (count < most) return void marks.put({ count: count + 1, mark }, coordinator);
          const edge = (byte) => new Uint8Array([...coordinator, ...new Uint8Array(24).fill(byte)]);
          let gone = 0;
          const walk = roots.openKeyCursor(IDBKeyRange.bound(edge(0), edge(255)));
          walk.onsuccess = () => {
            const at = walk.result;
            if (++gone < (count + 1) / 2) return at.continue();
            roots.delete(IDBKeyRange.bound(edge(0), at.key));
            marks.put({ count: count + 1 - gone, mark: at.key }, coordinator);
          };
        }
      };
    });
  },

  weft_signed_admit__deps: ['$weftSignedAdmit', '$weftRequest'],
  weft_signed_admit__sig: 'vpppi',
  weft_signed_admit: (callback, key, root, most) => {
    const of = HEAPU8.slice(key, key + 56), bytes = HEAPU8.slice(root, root + 32);
    weftRequest(callback, async () => new Uint8Array([await weftSignedAdmit(of, bytes, most)]));
  },
});
