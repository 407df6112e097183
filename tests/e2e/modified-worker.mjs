// Workers that lie. `node modified-worker.mjs URL WALLET` joins a coordinator with the wallet,
// signs two results of the first task that it is leased, and hands none in. `node
// modified-worker.mjs URL --fresh N` does so with N new wallets, one after the other.
import crypto from 'node:crypto';
import fs from 'node:fs';
import * as wire from '../../chain/tests/wire.mjs';
import { rootOfClaims } from './receipts.mjs';
import { keyOf } from './settlement.mjs';
import { join } from './sockets.mjs';

const [, , url, wallet, count] = process.argv;
const zeros = Buffer.alloc(32);

function freshKey() {
  const { publicKey, privateKey } = crypto.generateKeyPairSync('ed25519');
  const key = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32);
  return { key, text: wire.toBase58(key), sign: (message) => crypto.sign(null, message, privateKey) };
}

/** Resolves to the task once two results of it are signed and the coordinator has ended the session. */
async function lie(own) {
  const nonce = crypto.randomBytes(32);
  // `place` has the network and the coordinator for which receipts are signed.
  let place, task, end;
  const ended = new Promise((resolve) => { end = resolve; });
  const receipt = (item) => {
    const digest = wire.sha256('weft-receipt-2', place.genesis, place.program, place.coordinator, place.session, nonce, rootOfClaims([item]));
    return { type: 'receipt', v: 8, items: [item], signature: wire.toBase58(own.sign(digest)) };
  };
  const line = await join(`${url}/v1/worker`, {
    hear: (message) => {
      if (message.type === 'challenge') {
        place = {
          genesis: message.genesis ? Buffer.from(message.genesis, 'hex') : zeros, program: message.program ? wire.fromBase58(message.program) : zeros,
          coordinator: wire.fromBase58(message.coordinator), session: Buffer.from(message.nonce, 'hex'),
        };
        const signature = wire.toBase58(own.sign(wire.sha256('weft-hello-1', place.coordinator, place.session, own.key)));
        line.say({ type: 'prove', v: 8, signature, ...(message.invite_file ? { invite: fs.readFileSync(message.invite_file, 'utf8').trim() } : {}) });
      } else if (message.type === 'lease' && !task) {
        task = `${message.job}/${message.tasks[0].index}`;
        const { attempt } = message.tasks[0];
        for (const word of ['one result', 'another result']) line.say(receipt({ task, attempt, root: wire.sha256(word).toString('hex') }));
      } else if (message.type === 'error') {
        console.log(`refused: ${message.message}`);
        end();
      }
    },
  });
  line.say({
    type: 'hello', v: 8, versions: [8], key: own.text, nonce: nonce.toString('hex'), kind: 'native', software: 'modified', slots: 1,
    capabilities: { device: 'gpu', vendor: 'mesa', architecture: '', description: 'none', backend: 'vulkan', features: [], limits: { maxStorageBufferBindingSize: 2 ** 30, maxBufferSize: 2 ** 30 }, memory_bytes: 2 ** 30, copy_gb_per_s: 5, f32_gflop_per_s: 50 },
  });
  await ended;
  if (!task) process.exit(1);
  console.log(`signed two results of ${task}`);
}

if (wallet === '--fresh') for (let i = 0; i < Number(count); ++i) await lie(freshKey());
else await lie(keyOf(wallet));
process.exit(0);
