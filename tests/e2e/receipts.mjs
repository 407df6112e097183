// Receipts for the end-to-end tests, written independently of src/common/proof: the tree of claims,
// and a coordinator that leases any task to a real worker.
import crypto from 'node:crypto';
import http from 'node:http';
import * as wire from '../../chain/tests/wire.mjs';
import { accept } from './sockets.mjs';

const u32 = (number) => { const bytes = Buffer.alloc(4); bytes.writeUInt32LE(number); return bytes; };
const hex = (bytes) => bytes.toString('hex');

/** A claim's leaf. With `whole` it is a claim of a whole task, as the on-chain program reads it, whatever the item says. */
export function leafOf({ task, attempt, root, first = 0, count = 0 }, whole = count === 0) {
  const [job, index] = task.split('/');
  const name = [Buffer.from(job, 'hex'), u32(Number(index)), u32(attempt)];
  const claim = whole ? wire.sha256('weft-claim-2', ...name, Buffer.from(root, 'hex')) : wire.sha256('weft-part-2', ...name, u32(first), u32(count), Buffer.from(root, 'hex'));
  return wire.sha256(Buffer.from([0]), claim);
}
const node = (left, right) => wire.sha256(Buffer.from([1]), left, right);

export function rootOfClaims(items) {
  let level = items.map((item) => leafOf(item));
  while (level.length > 1) level = Array.from({ length: Math.ceil(level.length / 2) }, (_, i) => (2 * i + 1 < level.length ? node(level[2 * i], level[2 * i + 1]) : level[2 * i]));
  return level[0];
}

/** A receipt's item as one side of the evidence file that `weft chain slash` reads. */
export function sideOf(receipt, at) {
  const siblings = [];
  let level = receipt.items.map((item) => leafOf(item)), place = at, sides = 0;
  while (level.length > 1) {
    const sibling = level[place ^ 1];
    if (sibling) {
      if (place & 1) sides |= 1 << siblings.length;
      siblings.push(hex(sibling));
    }
    level = Array.from({ length: Math.ceil(level.length / 2) }, (_, i) => (2 * i + 1 < level.length ? node(level[2 * i], level[2 * i + 1]) : level[2 * i]));
    place >>= 1;
  }
  return { result: receipt.items[at].root, session: receipt.session, worker: receipt.worker, siblings, sides, signature: receipt.signature };
}

/**
 * A coordinator with the key of a wallet. It leases the tasks that the test names, whatever it has leased before. Its workers sign for `genesis` and
 * `program`. `receipts` and `failed` grow as workers answer; each result is accepted.
 */
export async function lyingCoordinator(t, { key, genesis, program, info }) {
  const out = { url: '', receipts: [], failed: [], joined: 0, line: null };
  const blobs = new Map();
  const keep = (text) => { const name = hex(wire.sha256(text)); blobs.set(name, text); return name; };
  const sockets = new Set();
  const server = http.createServer((request, response) => {
    const blob = blobs.get(request.url.replace('/v1/blobs/', ''));
    if (request.url === '/v1/info') response.setHeader('content-type', 'application/json').end(JSON.stringify(info));
    else if (blob !== undefined) response.setHeader('content-type', 'application/octet-stream').end(blob);
    else response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
  });
  server.on('upgrade', (request, socket, first) => {
    if (request.url !== '/v1/worker') return socket.destroy();
    sockets.add(socket);
    let hello;
    const session = crypto.randomBytes(32);
    const line = accept(request, socket, first, {
      hear: (message) => {
        if (message.type === 'hello') {
          hello = message;
          const digest = wire.sha256('weft-challenge-2', key.key, Buffer.from(hello.nonce, 'hex'), wire.fromBase58(hello.key), session, genesis, program, request.headers.host);
          line.say({ type: 'challenge', v: 8, version: 8, nonce: hex(session), coordinator: key.text, signature: wire.toBase58(key.sign(digest)), genesis: hex(genesis), program: wire.toBase58(program) });
        } else if (message.type === 'prove') {
          line.say({ type: 'welcome', v: 8, session: 's', beat_ms: 1000, blob_token: 'token', balance: 0 });
          out.line = line;
          ++out.joined;
        } else if (message.type === 'receipt') {
          out.receipts.push({ ...message, session: hex(session), worker: hello.nonce });
          for (const { task, attempt } of message.items) line.say({ type: 'verdict', v: 8, task, attempt, accepted: true, paid: 1, balance: 1, reason: '' });
        } else if (message.type === 'failed') {
          out.failed.push(message);
        }
      },
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  out.url = `http://127.0.0.1:${server.address().port}`;
  out.lease = (job, manifest, task) => out.line.say({ type: 'lease', v: 8, job, manifest: keep(JSON.stringify(manifest)), piece_workgroups_max: 0, wall_ms_max: 30000, tasks: [task] });
  return out;
}
