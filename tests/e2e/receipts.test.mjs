// Receipts as evidence, against the real virtual machine. A modified worker that signs two results
// of one task loses its owner's stake through the evidence that the coordinator has kept. An honest
// worker loses nothing, whatever a coordinator leases to it. No public cluster is used.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import * as wire from '../../chain/tests/wire.mjs';
import { hashJob, writeJob } from './jobs.mjs';
import { Program, getJson, run, scratch, serve, until, work } from './lib.mjs';
import { lyingCoordinator, sideOf } from './receipts.mjs';
import { buildChain, chain, credit, found, keyOf } from './settlement.mjs';

before(buildChain);

const modified = fileURLToPath(new URL('modified-worker.mjs', import.meta.url));

/** A chain whose network has the key of a coordinator's folder, and owners with a stake of 50 credits whose device is their own key. */
async function network(t, owners) {
  const c = await chain(t);
  const operator = await c.wallet('operator'), bob = await c.wallet('bob');
  const data = scratch(t);
  const coordinator = path.join(data, 'coordinator.json');
  assert.equal((await run(['wallet', 'new', '--file', coordinator])).code, 0);
  const keys = [];
  for (const owner of owners) keys.push(await c.wallet(owner));
  await found(c, operator, [bob, ...keys], ['--coordinator', keyOf(coordinator).text]);
  for (const [i, owner] of owners.entries()) {
    await c.ok(owner, 'stake', '50');
    await c.ok(owner, 'device', keys[i]);
  }
  const { program, genesis } = JSON.parse(fs.readFileSync(c.network, 'utf8'));
  const slash = (evidence) => { fs.writeFileSync(c.file('two.json'), JSON.stringify(evidence)); return ['slash', c.file('two.json')]; };
  const stakeOf = async (owner) => (await c.status(owner)).owner.stake.amount;
  return { c, bob, data, key: keyOf(coordinator), keys, program: wire.fromBase58(program), genesis: Buffer.from(genesis, 'hex'), slash, stakeOf };
}

const submit = async (t, url, wallet) => {
  const made = await run(['submit', writeJob(scratch(t), hashJob({ tasks: 2, budget: 20 })), '--coordinator', url, '--wallet', wallet]);
  assert.equal(made.code, 0, made.stderr);
};
const lie = async (t, url, wallet) => {
  const worker = new Program(t, process.execPath, [modified, url, wallet]);
  await worker.says(/signed two results/);
  return until(async () => (await getJson(`${url}/v1/evidence`)).evidence[0], 'the coordinator keeps the evidence');
};

test('a worker that signs two results of one task loses its stake by what the coordinator has kept', { timeout: 300_000 }, async (t) => {
  const { c, bob, data, keys: [mallory], slash, stakeOf } = await network(t, ['mallory']);
  const { url, program } = await serve(t, { data, args: ['--settlement', c.network] });
  await submit(t, url, c.file('bob.json'));
  const evidence = await lie(t, url, c.file('mallory.json'));
  assert.equal(evidence.owner, mallory);
  assert.equal(evidence.device, mallory);

  // The evidence exists after a restart, and neither of its sides can be replaced.
  await program.kill();
  const again = await serve(t, { data, args: ['--settlement', c.network] });
  assert.deepEqual((await getJson(`${again.url}/v1/evidence`)).evidence, [evidence]);
  for (const changed of [{ attempt: evidence.attempt + 1 }, { task: evidence.task + 1 }, { first: { ...evidence.first, worker: evidence.first.session } }])
    await c.refused('bob', slash({ ...evidence, ...changed }), 2, /is not signed by the device/);
  const before = (await c.status(bob)).owner.tokens;
  await c.ok('bob', ...slash(evidence));
  assert.equal(await stakeOf(mallory), 0);
  assert.equal((await c.status(bob)).owner.tokens - before, 5 * credit);
});

test('wallets that have nothing to lose do not keep out the evidence against one that has', { timeout: 300_000 }, async (t) => {
  const { c, bob, data, keys: [mallory], slash, stakeOf } = await network(t, ['mallory']);
  const { url } = await serve(t, { data, args: ['--settlement', c.network, '--rate-limit', '1000000'] });
  await submit(t, url, c.file('bob.json'));
  const kept = async () => (await getJson(`${url}/v1/evidence?count=1000`)).evidence;
  const flood = new Program(t, process.execPath, [modified, url, '--fresh', '300']);
  assert.equal((await flood.ended).code, 0, flood.output());
  assert.equal((await kept()).length, 256, 'they have so many rows a day together');

  await c.rpc('litesvm_advance', 40);  // Lets slots pass, so that the stake is final.
  const read = await run(['chain', 'stakes', '--coordinator', url, '--data', data, '--network', c.network, '--json']);
  assert.equal(read.code, 0, read.stderr);
  assert.equal(JSON.parse(read.stdout).owners, 1);
  const liar = new Program(t, process.execPath, [modified, url, c.file('mallory.json')]);
  assert.equal((await liar.ended).code, 0, liar.output());
  assert.match(liar.stdout, /refused: This device has signed two results of one attempt/);
  const evidence = await until(async () => (await kept()).find(({ device }) => device === mallory), 'the coordinator keeps the evidence');
  const before = (await c.status(bob)).owner.tokens;
  await c.ok('bob', ...slash(evidence));
  assert.equal(await stakeOf(mallory), 0);
  assert.equal((await c.status(bob)).owner.tokens - before, 5 * credit);
});

test('what is signed while no chain is named is no evidence on one', { timeout: 300_000 }, async (t) => {
  const { c, data, keys: [mallory], slash, stakeOf } = await network(t, ['mallory']);
  const { url } = await serve(t, { data });
  await submit(t, url, c.file('bob.json'));
  const evidence = await lie(t, url, c.file('mallory.json'));
  await c.refused('bob', slash(evidence), 2, /is not signed by the device .* for this network/);
  assert.equal(await stakeOf(mallory), 50 * credit);
});

test('an honest worker cannot be slashed, whatever is leased to it, unless its record is taken from it', { timeout: 300_000 }, async (t) => {
  const { c, key, genesis, program, keys: [alice], slash, stakeOf } = await network(t, ['alice']);
  const info = await getJson(`${(await serve(t)).url}/v1/info`);
  const liar = await lyingCoordinator(t, { key, genesis, program, info });
  const job = '0192aaaabbbb00112233445566778899';
  const [right, other] = [hashJob({ rounds: 64 }), hashJob({ rounds: 65 })];
  const whole = { index: 3, attempt: 1, first: 6, count: 2 };
  const signed = () => liar.receipts.flatMap((receipt) => receipt.items.map((item, at) => ({ item, side: sideOf(receipt, at) })));
  const answers = () => signed().length + liar.failed.length;
  const lease = async (manifest, task) => { const before = answers(); liar.lease(job, manifest, task); await until(() => answers() > before, 'the worker answers'); };

  let worker = await work(t, liar.url, { wallet: c.file('alice.json') });
  await until(() => liar.joined === 1, 'it has joined');
  await lease(right, whole);
  await lease(right, { ...whole, count: 1 });  // An audit of a part.
  await lease(right, { ...whole, first: 7, count: 1 });  // An audit or a poll of another part.
  await lease(other, { ...whole, count: 1 });  // An audit of other data.
  assert.deepEqual(signed().map(({ item }) => [item.first ?? 0, item.count ?? 0]), [[0, 0], [6, 1], [7, 1], [6, 1]]);
  assert.equal(new Set(signed().map(({ item }) => item.root)).size, 4, 'four results under one attempt');
  await lease(other, whole);
  assert.equal(liar.failed.at(-1)?.code, 'already_exists');
  assert.match(liar.failed.at(-1).message, /has signed another result of attempt 1 of task/);
  await worker.kill();
  worker = await work(t, liar.url, { wallet: c.file('alice.json') });
  await until(() => liar.joined === 2, 'it has joined again');
  await lease(other, whole);
  assert.equal(liar.failed.length, 2, 'a restart forgets nothing');
  await lease(right, whole);
  assert.equal(liar.failed.length, 2, 'the same result is signed again');

  // Tries evidence of every two of the worker's receipts.
  const all = signed();
  const file = (first, second) => ({ owner: alice, device: alice, job, task: 3, attempt: 1, first: first.side, second: second.side });
  for (const [i, first] of all.entries()) {
    for (const second of all.slice(i + 1)) {
      const same = first.item.root === second.item.root;
      await c.refused('bob', slash(file(first, second)), 2, same ? /Both results of the evidence are the same/ : /is not signed by the device/);
    }
  }
  assert.equal(await stakeOf(alice), 50 * credit);

  // The control: without its record of signed results the worker is not protected.
  await worker.stop();
  fs.rmSync(`${c.file('alice.json')}.signed`, { recursive: true });
  await work(t, liar.url, { wallet: c.file('alice.json') });
  await until(() => liar.joined === 3, 'it has joined without its record');
  await lease(other, whole);
  await c.ok('bob', ...slash(file(all[0], signed().at(-1))));
  assert.equal(await stakeOf(alice), 0);
});
