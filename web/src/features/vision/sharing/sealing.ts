// Authenticates the two ends of a line. Signals over the coordinator are sealed with a key from the link's secret. Each line has its own
// keys, from a key exchange that includes both signals, so that its records are authenticated by the link even if the coordinator, a TURN
// server or another guest interferes. Helpers that are no tabs have the same code in C++ (src/worker/camera/sealing.h).
import { fromBase64Url, printOf, toBase64Url, type Invitation } from './invitation';

export type Role = 'camera' | 'helper';
/** How records travel: between the two devices, or over the coordinator's relay. Each way of an attempt has keys of its own. */
export type Path = 'direct' | 'relay';
/** Helpers send offers, and the camera sends answers. */
export type SignalKind = 'offer' | 'answer';
export type Signal = {
  /** A random id of one attempt to join. */
  readonly attempt: string;
  /** The sender's public key in base64url. */
  readonly publicKey: string;
  /** Empty if the sender makes no direct connection. */
  readonly sdp: string;
};

/** The most characters of a sealed signal, as in the coordinator (src/apps/coordinator/http/meetings.h). */
export const signalCharactersMax = 12 << 10;
const nonceBytes = 12;
const publicKeyBytes = 65;
const curve = { name: 'ECDH', namedCurve: 'P-256' } as const;

const utf8 = (value: string) => new TextEncoder().encode(value);

export async function sealSignal(key: CryptoKey, kind: SignalKind, signal: Signal): Promise<string> {
  const nonce = crypto.getRandomValues(new Uint8Array(nonceBytes));
  const sealed = new Uint8Array(await crypto.subtle.encrypt({ name: 'AES-GCM', iv: nonce, additionalData: utf8(kind) }, key, utf8(JSON.stringify(signal))));
  return toBase64Url(new Uint8Array([...nonce, ...sealed]));
}

/** Returns null if the text was not sealed with this key for this use, or has other contents. */
export async function openSignal(key: CryptoKey, kind: SignalKind, text: string): Promise<Signal | null> {
  if (text.length > signalCharactersMax) return null;
  const bytes = fromBase64Url(text);
  if (bytes === null || bytes.length <= nonceBytes) return null;
  try {
    const open = await crypto.subtle.decrypt({ name: 'AES-GCM', iv: bytes.slice(0, nonceBytes), additionalData: utf8(kind) }, key, bytes.slice(nonceBytes));
    const { attempt, publicKey, sdp } = JSON.parse(new TextDecoder().decode(open)) as Record<string, unknown>;
    if (typeof attempt !== 'string' || !/^[A-Za-z0-9_-]{22}$/.test(attempt) || typeof publicKey !== 'string' || typeof sdp !== 'string') return null;
    return { attempt, publicKey, sdp };
  } catch {
    return null;
  }
}

export const newAttempt = (): string => toBase64Url(crypto.getRandomValues(new Uint8Array(16)));

export type OwnKey = { readonly pair: CryptoKeyPair; readonly publicKey: Uint8Array<ArrayBuffer> };

export async function newKey(): Promise<OwnKey> {
  const pair = await crypto.subtle.generateKey(curve, false, ['deriveBits']);
  return { pair, publicKey: new Uint8Array(await crypto.subtle.exportKey('raw', pair.publicKey)) };
}

export type LineKeys = { readonly send: CryptoKey; readonly receive: CryptoKey };

const labels: Record<Path, string> = { direct: 'weft-camera-line-1', relay: 'weft-camera-relay-1' };

/** Returns the keys of one line for one of its sides. Throws if the other side's key is not a point of the curve. */
export async function lineKeys(role: Role, own: OwnKey, invitation: Invitation, offer: Signal, answer: Signal, path: Path = 'direct'): Promise<LineKeys> {
  const theirs = fromBase64Url(role === 'camera' ? offer.publicKey : answer.publicKey);
  if (theirs?.length !== publicKeyBytes) throw new Error('The other tab sent no key.');
  const point = await crypto.subtle.importKey('raw', theirs, curve, false, []);
  const shared = await crypto.subtle.deriveBits({ name: 'ECDH', public: point }, own.pair.privateKey, 256);
  const from = await crypto.subtle.importKey('raw', shared, 'HKDF', false, ['deriveKey']);
  // The hash covers both signals, with the fingerprints of both certificates of a direct connection, so that the keys differ if anything was
  // replaced on the way.
  const both = new Uint8Array(await crypto.subtle.digest('SHA-256', utf8(JSON.stringify([offer, answer].map(({ attempt, publicKey, sdp }) => [attempt, publicKey, sdp])))));
  const derive = (sender: Role) =>
    crypto.subtle.deriveKey(
      { name: 'HKDF', hash: 'SHA-256', salt: invitation.secret, info: new Uint8Array([...utf8(`${labels[path]} ${sender}`), ...both]) },
      from,
      { name: 'AES-GCM', length: 256 },
      false,
      [sender === role ? 'encrypt' : 'decrypt'],
    );
  const other: Role = role === 'camera' ? 'helper' : 'camera';
  const [send, receive] = await Promise.all([derive(role), derive(other)]);
  return { send, receive };
}

/** True if the key in an answer is the key that the link names. */
export async function isOfCamera(publicKey: string, { print }: Invitation): Promise<boolean> {
  const bytes = fromBase64Url(publicKey);
  if (bytes?.length !== publicKeyBytes) return false;
  const found = await printOf(bytes);
  return found.length === print.length && found.every((byte, i) => byte === print[i]);
}

/**
 * Seals records one after the other. The number of a record is its nonce, so that a record that is lost, doubled or out of order cannot be
 * opened.
 */
export class Sealer {
  readonly #keys: LineKeys;
  #sent = 0;
  #received = 0;

  constructor(keys: LineKeys) {
    this.#keys = keys;
  }

  seal(record: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer> {
    return crypto.subtle.encrypt({ name: 'AES-GCM', iv: nonceOf(this.#sent++) }, this.#keys.send, record);
  }

  /** Opens a record. Rejects if it is not the next record of the other side. */
  async open(sealed: ArrayBuffer): Promise<Uint8Array<ArrayBuffer>> {
    return new Uint8Array(await crypto.subtle.decrypt({ name: 'AES-GCM', iv: nonceOf(this.#received++) }, this.#keys.receive, sealed));
  }
}

function nonceOf(number: number): Uint8Array<ArrayBuffer> {
  const nonce = new Uint8Array(nonceBytes);
  new DataView(nonce.buffer).setBigUint64(nonceBytes - 8, BigInt(number));
  return nonce;
}
