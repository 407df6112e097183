// A worker that computes jobs of steps and leaves groups of steps out. `node steps-worker.mjs URL
// WALLET STEP...` joins a coordinator with the wallet, leaves out the named steps of each task that
// it is leased, hands in the roots of the states that it got that way, and sends these states when
// a check asks for them. It prints what it was asked, and the verdict.
import crypto from 'node:crypto';
import * as wire from '../../chain/tests/wire.mjs';
import { rootOfClaims } from './receipts.mjs';
import { keyOf } from './settlement.mjs';
import { join } from './sockets.mjs';
import { after, bytesOf, steps } from './steps-job.mjs';

const [, , url, wallet, ...left] = process.argv;
const leftOut = new Set(left.map(Number));
const own = keyOf(wallet);
const nonce = crypto.randomBytes(32);
const zeros = Buffer.alloc(32);
const hex = (bytes) => bytes.toString('hex');
const u32 = (number) => { const bytes = Buffer.alloc(4); bytes.writeUInt32LE(number); return bytes; };
const u64 = (number) => { const bytes = Buffer.alloc(8); bytes.writeBigUInt64LE(BigInt(number)); return bytes; };
const leaf = (bytes) => wire.sha256(Buffer.concat([Buffer.from([0]), bytes]));
/** The root of a task with one output of one chunk (src/common/proof/merkle.h). */
const rootOf = (words) => leaf(leaf(bytesOf(words)));

// The states before each step and after the last: a step that is left out changes nothing.
const states = [Array(64).fill(0)];
for (let step = 0; step < steps; ++step) states.push(leftOut.has(step) ? states.at(-1) : after(states.at(-1), step));

let place, token, line;
const heard = {
  challenge(message) {
    place = {
      genesis: message.genesis ? Buffer.from(message.genesis, 'hex') : zeros, program: message.program ? wire.fromBase58(message.program) : zeros,
      coordinator: wire.fromBase58(message.coordinator), session: Buffer.from(message.nonce, 'hex'),
    };
    line.say({ type: 'prove', v: 8, signature: wire.toBase58(own.sign(wire.sha256('weft-hello-1', place.coordinator, place.session, own.key))) });
  },
  welcome(message) {
    token = message.blob_token;
    console.log('joined');
  },
  lease(message) {
    const [{ index, attempt, step_roots: asked }] = message.tasks;
    const task = `${message.job}/${index}`;
    const output = bytesOf(states.at(-1)), root = hex(rootOf(states.at(-1)));
    console.log(`leased ${task}, roots ${asked ? 'asked' : 'not asked'}`);
    const head = Buffer.from(JSON.stringify({
      type: 'result', v: 8, task, attempt, root, outputs: [{ hash: hex(wire.sha256(output)), bytes: output.length, in_frame: true }], gpu_seconds: 0.1, wall_seconds: 0.1,
      ...(asked ? { step_roots: states.slice(1, -1).map((words) => hex(rootOf(words))) } : {}),
    }));
    line.send(Buffer.concat([u32(head.length), head, output]));
    const item = { task, attempt, root };
    const digest = wire.sha256('weft-receipt-2', place.genesis, place.program, place.coordinator, place.session, nonce, rootOfClaims([item]));
    line.say({ type: 'receipt', v: 8, items: [item], signature: wire.toBase58(own.sign(digest)) });
  },
  async open_states({ task, attempt, groups }) {
    console.log(`asked for the states before ${groups.join(', ')}`);
    const [job, index] = task.split('/');
    const sent = [];
    for (const group of groups) {
      const output = bytesOf(states[group]);
      const blob = Buffer.concat([Buffer.from('weftckp1'), Buffer.from(job, 'hex'), u32(Number(index)), zeros, u32(0), u32(1), u32(1), u32(group), u32(steps), u32(1), u64(output.length), output]);
      const hash = hex(wire.sha256(blob));
      const answer = await fetch(`${url}/v1/blobs/${hash}`, { method: 'PUT', headers: { authorization: `Bearer ${token}` }, body: blob });
      if (!answer.ok) console.log(`not stored: ${answer.status} ${await answer.text()}`);
      sent.push({ group, blob: hash, bytes: blob.length });
    }
    line.say({ type: 'states', v: 8, task, attempt, states: sent });
  },
  verdict({ accepted, reason }) {
    console.log(`verdict: ${accepted ? 'accepted' : 'refused'}: ${reason ?? ''}`);
  },
  error({ message }) {
    console.log(`error: ${message}`);
  },
};
line = await join(`${url}/v1/worker`, { hear: (message) => heard[message.type]?.(message) });
line.say({
  type: 'hello', v: 7, versions: [7, 8], key: own.text, nonce: nonce.toString('hex'), kind: 'native', software: 'modified', slots: 1,
  capabilities: { device: 'gpu', vendor: 'mesa', architecture: '', description: 'none', backend: 'vulkan', features: [], limits: { maxStorageBufferBindingSize: 2 ** 30, maxBufferSize: 2 ** 30 }, memory_bytes: 2 ** 30, copy_gb_per_s: 5, f32_gflop_per_s: 50 },
});
