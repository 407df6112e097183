// The wallet file in Solana's id.json form: a JSON array of 64 numbers, 32 of the seed and 32 of the public key. The engine checks whether
// the two belong together.

export function parseWallet(text: string): readonly number[] | string {
  const refusal = 'This is not a wallet file: it should be a JSON array of 64 numbers from 0 to 255.';
  if (text.length > 4096) return refusal;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return refusal;
  }
  if (!Array.isArray(value) || value.length !== 64) return refusal;
  const numbers: number[] = [];
  for (const number of value as unknown[]) {
    if (typeof number !== 'number' || !Number.isInteger(number) || number < 0 || number > 255) return refusal;
    numbers.push(number);
  }
  return numbers;
}

const bytes = (base64Url: string): number[] => Array.from(atob(base64Url.replace(/-/g, '+').replace(/_/g, '/')), (c) => c.charCodeAt(0));

/** Makes a new key as the numbers of a wallet file. Rejects if the browser cannot make Ed25519 keys. */
export async function newWallet(): Promise<readonly number[]> {
  const pair = (await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify'])) as CryptoKeyPair;
  const { d, x } = await crypto.subtle.exportKey('jwk', pair.privateKey);
  if (d === undefined || x === undefined) throw new Error('The browser gives no Ed25519 key.');
  return [...bytes(d), ...bytes(x)];
}

/** Saves the numbers as a file. */
export function saveWallet(numbers: readonly number[], address: string): void {
  const url = URL.createObjectURL(new Blob([JSON.stringify(numbers)], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = `weft-wallet-${address.slice(0, 6)}.json`;
  link.click();
  URL.revokeObjectURL(url);
}
