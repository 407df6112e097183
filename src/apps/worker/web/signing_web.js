// The roots that this browser's device has signed, in IndexedDB, for web_signing.cpp: an Emscripten
// --js-library. The database "weft-signed" is deleted with the site's data, as the key is. Its
// transactions run one after the other across all tabs.
addToLibrary({
  $weftSigned: { database: null, kept: new Map(), told: new Map() },

  // Converts the data of version 1, which had for each coordinator the number of roots and the key
  // up to which they were forgotten.
  $weftSignedUpgrade: (transaction) => {
    const [roots, marks, jobs] = ['roots', 'marks', 'jobs'].map((name) => transaction.objectStore(name));
    const found = new Map();  // Jobs, keyed by the text of their names.
    const jobOf = (key) => {
      const name = new Uint8Array(key).slice(0, 48), text = name.join();
      if (!found.has(text)) found.set(text, { name, count: 0 });
      return found.get(text);
    };
    const names = roots.getAllKeys();
    names.onsuccess = () => {
      for (const key of names.result) jobOf(key).count += 1;
      const walk = marks.openCursor();
      walk.onsuccess = () => {
        const at = walk.result;
        if (at) {
          const { count, mark } = at.value, coordinator = new Uint8Array(at.key);
          if (mark) jobOf(mark).mark = new Uint8Array(mark).slice(48);
          const its = [...found.values()].filter(({ name }) => indexedDB.cmp(name.slice(0, 32), coordinator) === 0);
          at.update({ count, jobs: its.length, last: 0, version: mark ? 1 : 0, dropped: mark ? new Uint8Array(mark).slice(32, 48) : undefined });
          return at.continue();
        }
        for (const { name, count, mark } of found.values()) jobs.add({ count, last: 0, mark }, name);
      };
    };
  },

  $weftSignedOpen__deps: ['$weftSigned', '$weftSignedUpgrade'],
  $weftSignedOpen: () => weftSigned.database ??= new Promise((resolve, reject) => {
    const forget = () => { weftSigned.database = null; };
    const opening = indexedDB.open('weft-signed', 2);
    opening.onupgradeneeded = ({ oldVersion }) => {
      if (oldVersion < 1) {
        // Roots, keyed by coordinator, job, index and attempt.
        opening.result.createObjectStore('roots');
        // Keyed by coordinator: number of roots and jobs, and the last job that was dropped.
        opening.result.createObjectStore('marks');
      }
      // Keyed by coordinator and job: number of roots, rank of the last signature, and the mark up
      // to which roots are forgotten.
      opening.result.createObjectStore('jobs');
      if (oldVersion === 1) weftSignedUpgrade(opening.transaction);
    };
    opening.onerror = () => { forget(); reject(opening.error); };
    opening.onsuccess = () => {
      opening.result.onclose = forget;
      opening.result.onversionchange = () => { opening.result.close(); forget(); };
      resolve(opening.result);
    };
  }),

  // The range of all keys that begin with the bytes `begin` and have `more` further bytes.
  $weftSignedUnder: (begin, more) => {
    const edge = (byte) => new Uint8Array([...begin, ...new Uint8Array(more).fill(byte)]);
    return IDBKeyRange.bound(edge(0), edge(255));
  },

  // The memory of a browser without IndexedDB, in which the key too lives only as long as the
  // Worker.
  $weftSignedHere__deps: ['$weftSigned'],
  $weftSignedHere: (key, root, most) => {
    const name = key.join(), text = root.join(), before = weftSigned.kept.get(name);
    if (before !== undefined) return before === text ? 0 : 1;
    if (weftSigned.kept.size >= most) return 2;
    weftSigned.kept.set(name, text);
    return 0;
  },

  // Forgets roots if there are more than `most` roots or `most` / 4 jobs, by the rules of
  // signed_roots.h. Stores `row`, the coordinator's entry.
  $weftSignedShrink__deps: ['$weftSignedUnder'],
  $weftSignedShrink: (transaction, coordinator, row, most) => {
    const [roots, marks, jobs] = ['roots', 'marks', 'jobs'].map((name) => transaction.objectStore(name));
    const jobsMost = Math.max(Math.floor(most / 4), 1);
    const rows = jobs.getAll(weftSignedUnder(coordinator, 16)), names = jobs.getAllKeys(weftSignedUnder(coordinator, 16));
    names.onsuccess = () => {
      const list = names.result.map((name, at) => ({ ...rows.result[at], name: new Uint8Array(name), gone: 0 })).sort((a, b) => a.last - b.last);
      if (list.length > jobsMost) {
        for (const { name, count } of list.splice(0, list.length - (jobsMost - Math.floor(jobsMost / 4)))) {
          roots.delete(weftSignedUnder(name, 8));
          jobs.delete(name);
          row.count -= count;
          const id = name.slice(32);
          if (!row.dropped || indexedDB.cmp(id, row.dropped) > 0) row.dropped = id;
        }
      }
      for (let over = row.count > most; over; over = row.count > most / 2) {
        const largest = Math.max(...list.map(({ count }) => count));
        for (const job of list.filter(({ count }) => count * 2 > largest)) {
          const half = Math.ceil(job.count / 2);
          job.gone += half;
          job.count -= half;
          row.count -= half;
        }
      }
      for (const { name, count, last, gone } of list.filter((job) => job.gone > 0)) {
        const walk = roots.openKeyCursor(weftSignedUnder(name, 8));
        let skipped = gone === 1;
        walk.onsuccess = () => {
          const at = walk.result;
          if (!skipped) {
            skipped = true;
            return at.advance(gone - 1);
          }
          const key = new Uint8Array(at.key);
          roots.delete(IDBKeyRange.bound(weftSignedUnder(name, 8).lower, key));
          jobs.put({ count, last, mark: key.slice(48) }, name);
        };
      }
      marks.put({ ...row, jobs: list.length, version: row.version + 1 }, coordinator);
    };
  },

  // Returns 1 and the last dropped job, or zeros; then each stored job with its mark.
  $weftSignedMarks__deps: ['$weftSignedUnder'],
  $weftSignedMarks: (database, coordinator) => new Promise((resolve, reject) => {
    const transaction = database.transaction(['marks', 'jobs'], 'readonly');
    const [marks, jobs] = ['marks', 'jobs'].map((name) => transaction.objectStore(name));
    const row = marks.get(coordinator), rows = jobs.getAll(weftSignedUnder(coordinator, 16)), names = jobs.getAllKeys(weftSignedUnder(coordinator, 16));
    transaction.onabort = transaction.onerror = () => reject(transaction.error);
    transaction.oncomplete = () => {
      const dropped = row.result.dropped;
      const out = new Uint8Array(17 + 24 * names.result.length);
      if (dropped) out.set([1, ...dropped]);
      names.result.forEach((name, at) => {
        out.set(new Uint8Array(name).slice(32), 17 + 24 * at);
        out.set(rows.result[at].mark ?? [], 33 + 24 * at);
      });
      resolve(out);
    };
  }),

  // Answers with a byte: 0 the root may be signed, 1 another root was signed, 2 the signed root is
  // forgotten (rules: signed_roots.h). The marks follow if they have changed since they were last
  // returned.
  $weftSignedAdmit__deps: ['$weftSigned', '$weftSignedOpen', '$weftSignedHere', '$weftSignedShrink', '$weftSignedMarks'],
  $weftSignedAdmit: async (key, root, most) => {
    if (!globalThis.indexedDB) return Uint8Array.of(weftSignedHere(key, root, most));
    const database = await weftSignedOpen();
    const coordinator = key.slice(0, 32), name = key.slice(0, 48), place = key.slice(48);
    const { answer, version } = await new Promise((resolve, reject) => {
      const done = { answer: 0, version: 0 };
      const transaction = database.transaction(['roots', 'marks', 'jobs'], 'readwrite', { durability: 'strict' });
      transaction.oncomplete = () => resolve(done);
      transaction.onabort = transaction.onerror = () => reject(transaction.error);
      const [roots, marks, jobs] = ['roots', 'marks', 'jobs'].map((store) => transaction.objectStore(store));
      const signed = roots.get(key), marked = marks.get(coordinator), kept = jobs.get(name);
      kept.onsuccess = () => {
        const row = marked.result ?? { count: 0, jobs: 0, last: 0, version: 0 }, job = kept.result;
        done.version = row.version;
        const forgotten = job ? job.mark && indexedDB.cmp(place, job.mark) <= 0 : row.dropped && indexedDB.cmp(key.slice(32, 48), row.dropped) <= 0;
        if (signed.result) done.answer = indexedDB.cmp(signed.result, root) === 0 ? 0 : 1;
        else if (forgotten) done.answer = 2;
        else {
          roots.add(root, key);
          const now = { ...row, count: row.count + 1, jobs: row.jobs + (job ? 0 : 1), last: row.last + 1 };
          jobs.put({ count: (job?.count ?? 0) + 1, last: now.last, mark: job?.mark }, name);
          if (now.count <= most && now.jobs <= Math.max(Math.floor(most / 4), 1)) return void marks.put(now, coordinator);
          done.version = row.version + 1;
          weftSignedShrink(transaction, coordinator, now, most);
        }
      };
    });
    const who = coordinator.join();
    if ((weftSigned.told.get(who) ?? 0) === version) return Uint8Array.of(answer);
    const marks = await weftSignedMarks(database, coordinator);
    weftSigned.told.set(who, version);
    return Uint8Array.of(answer, ...marks);
  },

  weft_signed_admit__deps: ['$weftSignedAdmit', '$weftRequest'],
  weft_signed_admit__sig: 'vpppi',
  weft_signed_admit: (callback, key, root, most) => {
    const of = HEAPU8.slice(key, key + 56), bytes = HEAPU8.slice(root, root + 32);
    weftRequest(callback, () => weftSignedAdmit(of, bytes, most));
  },
});
