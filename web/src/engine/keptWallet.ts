// Reads the wallet that the engine keeps in IndexedDB (database weft, store keys, record worker) for display, without loading the engine.
// The result is null if no wallet was made yet. Only the engine makes and changes wallets.

export type KeptWallet = {
  readonly address: string;
  /** True if an earlier version of the page stored the key, so that it can be exported; keys of the current version cannot. */
  readonly savable: boolean;
};

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

export function base58(bytes: Uint8Array): string {
  let zeros = 0;
  while (zeros < bytes.length && bytes[zeros] === 0) zeros += 1;
  let value = 0n;
  for (const byte of bytes) value = value * 256n + BigInt(byte);
  let text = '';
  for (; value > 0n; value /= 58n) text = (alphabet[Number(value % 58n)] ?? '') + text;
  return '1'.repeat(zeros) + text;
}

export async function keptWallet(): Promise<KeptWallet | null> {
  // Checks that the database exists, because opening it would create it, and an empty database would keep the engine from making its store.
  const databases = await indexedDB.databases();
  if (!databases.some(({ name }) => name === 'weft')) return null;
  const record = await new Promise<unknown>((resolve, reject) => {
    const opening = indexedDB.open('weft');
    opening.onerror = () => reject(opening.error ?? new Error('The database of the browser (IndexedDB) does not open.'));
    opening.onsuccess = () => {
      const database = opening.result;
      if (!database.objectStoreNames.contains('keys')) {
        database.close();
        resolve(null);
        return;
      }
      const asking = database.transaction('keys', 'readonly').objectStore('keys').get('worker');
      asking.onsuccess = () => {
        database.close();
        resolve(asking.result);
      };
      asking.onerror = () => {
        database.close();
        reject(asking.error ?? new Error('The database of the browser (IndexedDB) does not answer.'));
      };
    };
  });
  const { publicKey, privateKey } = (record ?? {}) as { publicKey?: unknown; privateKey?: unknown };
  if (!(publicKey instanceof Uint8Array) || publicKey.length !== 32) return null;
  return { address: base58(publicKey), savable: privateKey instanceof CryptoKey && privateKey.extractable };
}
