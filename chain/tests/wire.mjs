// Keys, addresses and transactions of Solana for the tests: a second implementation, independent of
// src/common/solana.
import crypto from 'node:crypto';

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
export function toBase58(bytes) {
  let n = bytes.length ? BigInt('0x' + Buffer.from(bytes).toString('hex')) : 0n, text = '';
  for (; n > 0n; n /= 58n) text = alphabet[Number(n % 58n)] + text;
  for (const byte of bytes) { if (byte) break; text = '1' + text; }
  return text;
}
export function fromBase58(text, size = 32) {
  let n = 0n;
  for (const c of text) { const digit = alphabet.indexOf(c); if (digit < 0) throw new Error(`'${c}' is no base58 digit`); n = n * 58n + BigInt(digit); }
  return Buffer.from(n.toString(16).padStart(size * 2, '0'), 'hex');
}
export const sha256 = (...parts) => { const hash = crypto.createHash('sha256'); for (const part of parts) hash.update(part); return hash.digest(); };

// A key pair whose seed is the hash of a name, so that every run has the same keys.
const seedHead = Buffer.from('302e020100300506032b657004220420', 'hex');
const cached = new Map();
export function keyOf(name) {
  if (!cached.has(name)) {
    const secret = crypto.createPrivateKey({ key: Buffer.concat([seedHead, sha256(name)]), format: 'der', type: 'pkcs8' });
    const key = crypto.createPublicKey(secret).export({ format: 'der', type: 'spki' }).subarray(-32);
    cached.set(name, { name, key, sign: (message) => crypto.sign(null, message, secret) });
  }
  return cached.get(name);
}

const p = 2n ** 255n - 19n;
const d = 37095705934669439343138083508754565189542113879843219016388785533085940283555n;
function power(base, exponent) { let out = 1n; for (base %= p; exponent > 0n; exponent >>= 1n) { if (exponent & 1n) out = (out * base) % p; base = (base * base) % p; } return out; }
export function onCurve(key) {
  let y = 0n;
  for (let i = 31; i >= 0; --i) y = (y << 8n) | BigInt(i === 31 ? key[i] & 0x7f : key[i]);
  const y2 = ((y % p) * (y % p)) % p, t = (((y2 - 1n + p) % p) * ((d * y2 + 1n) % p)) % p;
  return t === 0n || power(t, (p - 1n) / 2n) === 1n;
}
export function programAddress(seeds, program) {
  for (let bump = 255; bump >= 0; --bump) {
    const key = sha256(...seeds, Buffer.from([bump]), program, 'ProgramDerivedAddress');
    if (!onCurve(key)) return { key, bump };
  }
  throw new Error('no bump');
}

export const systemProgram = Buffer.alloc(32);
export const tokenProgram = fromBase58('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA');
export const associatedProgram = fromBase58('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL');
export const ed25519Program = fromBase58('Ed25519SigVerify111111111111111111111111111');
export const instructionsSysvar = fromBase58('Sysvar1nstructions1111111111111111111111111');
export const budgetProgram = fromBase58('ComputeBudget111111111111111111111111111111');

export function compact(n) { const out = []; for (; n >= 0x80; n >>= 7) out.push(0x80 | (n & 0x7f)); out.push(n); return Buffer.from(out); }

// instructions: [{ program, accounts: [{ key, signer, writable }], data }]; the payer and all signers are key pairs.
export function transaction(instructions, payer, signers, blockhash = Buffer.alloc(32, 7)) {
  const metas = new Map();
  const add = (key, signer, writable) => { const id = key.toString('hex'), old = metas.get(id); if (old) { old.signer ||= signer; old.writable ||= writable; } else metas.set(id, { key, signer, writable }); };
  add(payer.key, true, true);
  for (const { accounts } of instructions) for (const { key, signer, writable } of accounts) add(key, !!signer, !!writable);
  for (const { program } of instructions) add(program, false, false);
  const rank = (meta) => (meta.signer ? 0 : 2) + (meta.writable ? 0 : 1);
  const [first, ...rest] = metas.values();
  const all = [first, ...rest.sort((a, b) => rank(a) - rank(b))];
  const place = new Map(all.map((meta, i) => [meta.key.toString('hex'), i]));
  const count = (r) => all.filter((meta) => rank(meta) === r).length;
  const body = Buffer.concat([Buffer.from([count(0) + count(1), count(1), count(3)]), compact(all.length), ...all.map(({ key }) => key), blockhash, compact(instructions.length),
    ...instructions.map(({ program, accounts, data }) => Buffer.concat([Buffer.from([place.get(program.toString('hex'))]), compact(accounts.length), Buffer.from(accounts.map(({ key }) => place.get(key.toString('hex')))), compact(data.length), data]))]);
  const needed = all.filter(({ signer }) => signer);
  const keys = new Map([payer, ...signers].map((one) => [one.key.toString('hex'), one]));
  const signatures = needed.map(({ key }) => { const one = keys.get(key.toString('hex')); if (!one) throw new Error(`no signature for ${toBase58(key)}`); return one.sign(body); });
  return Buffer.concat([compact(signatures.length), ...signatures, body]);
}

// An Ed25519 instruction over 32-byte messages, everything in its own data; `inside` is the instruction that the offsets name.
export function ed25519(signed, inside = 0xffff) {
  const head = Buffer.alloc(2 + 14 * signed.length);
  head[0] = signed.length;
  const parts = [];
  let at = head.length;
  signed.forEach(({ key, signature, message }, i) => {
    [at + 32, inside, at, inside, at + 96, message.length, inside].forEach((value, j) => head.writeUInt16LE(value, 2 + 14 * i + 2 * j));
    parts.push(key, signature, message);
    at += 96 + message.length;
  });
  return { program: ed25519Program, accounts: [], data: Buffer.concat([head, ...parts]) };
}
