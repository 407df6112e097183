// An invitation to a camera: a secret that the coordinator never learns, and the fingerprint of the camera's key. It is in the fragment of
// an address, which browsers do not send to a server.

const secretBytes = 16;
const printBytes = 16;
const prefix = '#camera=';

export type Invitation = {
  readonly secret: Uint8Array<ArrayBuffer>;
  /** The first bytes of the SHA-256 of the camera's public key, so that a guest who has the link cannot pretend to be the camera. */
  readonly print: Uint8Array<ArrayBuffer>;
};

/** The values that both sides derive from the secret. */
export type Meeting = {
  /** The id with which the coordinator connects the two; the secret cannot be derived from it. */
  readonly id: string;
  /** The key that seals their messages over the coordinator. */
  readonly key: CryptoKey;
};

const text = (value: string) => new TextEncoder().encode(value);

export function toBase64Url(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '');
}

/** Returns null if the text is not base64url. */
export function fromBase64Url(value: string): Uint8Array<ArrayBuffer> | null {
  if (!/^[A-Za-z0-9_-]*$/.test(value) || value.length % 4 === 1) return null;
  const letters = atob(value.replaceAll('-', '+').replaceAll('_', '/'));
  const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
  return toBase64Url(bytes) === value ? bytes : null;
}

export async function printOf(publicKey: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', publicKey)).slice(0, printBytes);
}

export async function invite(publicKey: Uint8Array<ArrayBuffer>): Promise<Invitation> {
  return { secret: crypto.getRandomValues(new Uint8Array(secretBytes)), print: await printOf(publicKey) };
}

/** `page` is the address of the page Vision. */
export function linkOf({ secret, print }: Invitation, page: string): string {
  const url = new URL(page);
  url.hash = `${prefix.slice(1)}${toBase64Url(new Uint8Array([...secret, ...print]))}`;
  return url.href;
}

/** Returns null if the fragment is not an invitation to a camera. */
export function invitationOf(fragment: string): Invitation | null {
  if (!fragment.startsWith(prefix)) return null;
  const bytes = fromBase64Url(fragment.slice(prefix.length));
  if (bytes?.length !== secretBytes + printBytes) return null;
  return { secret: bytes.slice(0, secretBytes), print: bytes.slice(secretBytes) };
}

export async function meetingOf({ secret }: Invitation): Promise<Meeting> {
  const from = await crypto.subtle.importKey('raw', secret, 'HKDF', false, ['deriveBits', 'deriveKey']);
  const derive = (info: string) => ({ name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(0), info: text(info) });
  const id = new Uint8Array(await crypto.subtle.deriveBits(derive('weft-camera-meeting-1'), from, 128));
  const key = await crypto.subtle.deriveKey(derive('weft-camera-signals-1'), from, { name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt']);
  return { id: Array.from(id, (byte) => byte.toString(16).padStart(2, '0')).join(''), key };
}
