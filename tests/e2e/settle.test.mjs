// Settlement by the command line, as people use it: `weft chain` against the real virtual machine, which chain/tests/rpc.mjs serves as a
// node on loopback. One network lives through its whole life; the sums of money are looked at after every command. No public cluster.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { before, test } from 'node:test';
import { compile } from '../../chain/build.mjs';
import { link } from '../../chain/linker/link.mjs';
import * as wire from '../../chain/tests/wire.mjs';
import { hashJob, writeJob } from './jobs.mjs';
import { Program, getJson, pause, root, run, scratch, serve, signed, until, weft, work } from './lib.mjs';
import { buildChain, chain, credit, day, found, keyOf, rowsText, tokensOf, twoResults, u64 } from './settlement.mjs';

before(buildChain);

// The upgrade key can replace the program, and with it every rule of settlement; `deploy --final` leaves none.
test('the wallet that deploys a program can replace it, and with --final no wallet can', { timeout: 300_000 }, async (t) => {
  const c = await chain(t);
  await c.wallet('operator');
  const operator = keyOf(c.file('operator.json'));
  const loader = wire.fromBase58('BPFLoaderUpgradeab1e11111111111111111111111');
  const [rent, clock] = ['SysvarRent111111111111111111111111111111111', 'SysvarC1ock11111111111111111111111111111111'].map((one) => wire.fromBase58(one));
  const other = link(compile(path.join(root, 'chain/tests/noop.cpp'))).program;
  const u32 = (number) => { const out = Buffer.alloc(4); out.writeUInt32LE(number); return out; };
  const send = async (instructions, signers = []) => {
    const { value } = await c.rpc('getLatestBlockhash');
    const raw = wire.transaction(instructions, operator, [operator, ...signers], wire.fromBase58(value.blockhash));
    const params = [raw.toString('base64'), { encoding: 'base64', preflightCommitment: 'processed' }];
    return (await fetch(c.url, { method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'sendTransaction', params }) })).json();
  };
  const dataOf = (program) => wire.programAddress([wire.fromBase58(program)], loader).key;
  // The program's bytes, and the key that may replace them: a kind, a slot, then a key or none.
  const held = async (program) => {
    const data = Buffer.from((await c.rpc('getAccountInfo', wire.toBase58(dataOf(program)), { encoding: 'base64' })).value.data[0], 'base64');
    return { authority: data[12] === 1 ? wire.toBase58(data.subarray(13, 45)) : null, code: data.subarray(45) };
  };
  const use = (key, signer, writable) => ({ key, signer, writable });
  const replace = async (program) => {
    const buffer = wire.keyOf(`a buffer for ${program}`), bytes = 37 + other.length;
    const lamports = await c.rpc('getMinimumBalanceForRentExemption', bytes);
    const filled = await send([
      { program: wire.systemProgram, accounts: [use(operator.key, true, true), use(buffer.key, true, true)], data: Buffer.concat([u32(0), u64(lamports), u64(bytes), loader]) },
      { program: loader, accounts: [use(buffer.key, false, true), use(operator.key)], data: u32(0) },
      { program: loader, accounts: [use(buffer.key, false, true), use(operator.key, true)], data: Buffer.concat([u32(1), u32(0), u64(other.length), other]) },
    ], [buffer]);
    assert.equal(filled.error, undefined, JSON.stringify(filled.error));
    await c.rpc('litesvm_advance', 2);  // Not in the slot of its deployment.
    return send([{
      program: loader,
      accounts: [use(dataOf(program), false, true), use(wire.fromBase58(program), false, true), use(buffer.key, false, true), use(operator.key, false, true), use(rent), use(clock), use(operator.key, true)],
      data: u32(3),
    }]);
  };
  const deploy = async (key, ...more) => {
    const { code, stdout, stderr } = await run(['chain', 'deploy', '--elf', path.join(root, 'build/chain/weft.so'), '--program-key', c.file(key), '--rpc', c.url, '--wallet', c.file('operator.json'), '--json', '--yes', ...more]);
    assert.equal(code, 0, stderr);
    return { program: JSON.parse(stdout).program, said: stderr };
  };
  const elf = fs.readFileSync(path.join(root, 'build/chain/weft.so'));

  const open = await deploy('open.json');
  assert.match(open.said, /the wallet may replace it later \(--final: no key may\)/);
  assert.equal((await held(open.program)).authority, operator.text);
  const replaced = await replace(open.program);
  assert.equal(replaced.error, undefined, JSON.stringify(replaced.error));
  assert.deepEqual((await held(open.program)).code.subarray(0, other.length), other, 'the key replaces the program');

  const final = await deploy('final.json', '--final');
  assert.match(final.said, /which no key can change after that/);
  assert.equal((await held(final.program)).authority, null);
  const refused = await replace(final.program);
  assert.match(JSON.stringify(refused.error), /Immutable/);
  // Nor can the wallet make itself the key again.
  const taken = await send([{ program: loader, accounts: [use(dataOf(final.program), false, true), use(operator.key, true), use(operator.key)], data: u32(4) }]);
  assert.match(JSON.stringify(taken.error), /Immutable/);
  assert.deepEqual((await held(final.program)).code.subarray(0, elf.length), elf);
});

test('a network lives from its deployment to a vote, by commands alone', { timeout: 600_000 }, async (t) => {
  const c = await chain(t);
  const [operator, alice, bob, guard] = await Promise.all(['operator', 'alice', 'bob', 'guard'].map(c.wallet));
  const guard2 = await c.wallet('guard2');
  const rows = (name, list, sorted) => { fs.writeFileSync(c.file(name), rowsText(list, sorted)); return c.file(name); };

  // Deployment: nothing is signed without a yes; a second run finds it done.
  const place = ['--rpc', c.url, '--wallet', c.file('operator.json'), '--json'];
  const deployment = ['chain', 'deploy', '--elf', path.join(root, 'build/chain/weft.so'), '--program-key', c.file('program.json'), ...place];
  const dry = await run([...deployment, '--dry-run']);
  assert.equal(dry.code, 0, dry.stderr);
  const costs = JSON.parse(dry.stdout);
  assert.ok(costs.rent_lamports > 400_000_000 && costs.transactions > 60);
  const unasked = await run(deployment);
  assert.equal(unasked.code, 2);
  assert.match(unasked.stderr, /Nothing was signed: there is no terminal to ask at; --yes agrees/);
  assert.equal((await c.rpc('getBalance', operator)).value, 20_000_000_000);
  const deployed = await run([...deployment, '--yes']);
  assert.equal(deployed.code, 0, deployed.stderr);
  const { program } = JSON.parse(deployed.stdout);
  const paid = 20_000_000_000 - (await c.rpc('getBalance', operator)).value;
  assert.ok(paid <= costs.fee_lamports + costs.rent_lamports && paid > costs.rent_lamports, `${paid} of ${costs.fee_lamports + costs.rent_lamports}`);
  assert.equal(JSON.parse((await run([...deployment, '--yes'])).stdout).sent, false);

  // The network.
  const found = ['chain', 'init', '--program', program, '--mint-key', c.file('mint.json'), '--out', c.network, '--founders-amount', '60000', '--guardian-quorum', '2', ...place, '--yes'];
  const guardians = ['--guardian', guard, '--guardian', guard2];
  const wrong = await run([...found, ...guardians, '--set', 'post_bps=501']);
  assert.equal(wrong.code, 2);
  assert.match(wrong.stderr, /post_bps is from 1 to 500, not 501\./);
  const made = await run([...found, ...guardians]);
  assert.equal(made.code, 0, made.stderr);
  const { mint } = JSON.parse(made.stdout);
  const again = await run([...found, ...guardians]);
  assert.equal(again.code, 2);
  assert.match(again.stderr, /has its network already/);
  assert.equal((await c.status(operator)).owner.tokens, 60_000 * credit);
  await c.give('operator', alice, 10_000 * credit, mint);
  await c.give('operator', bob, 10_000 * credit, mint);

  // Deposits, vouchers and stakes; what the program refuses, and what is no amount.
  await c.ok('alice', 'deposit', '3000');
  await c.refused('alice', ['deposit', '8000'], 1, /would fail/);
  await c.refused('alice', ['deposit', '0.0000001'], 2, /is not an amount of credits/);
  await c.ok('bob', 'stake', '300');
  const voucher = await c.as('alice', ['voucher', '100']);
  fs.writeFileSync(c.file('voucher.json'), voucher.stdout);
  await c.ok('operator', 'charge', c.file('voucher.json'));
  await c.refused('operator', ['charge', c.file('voucher.json')], 1, /charge_forward: a voucher charged twice/);
  fs.writeFileSync(c.file('forged.json'), JSON.stringify({ ...JSON.parse(voucher.stdout), cumulative: 200 * credit }));
  await c.refused('operator', ['charge', c.file('forged.json')], 2, /not signed by/);
  assert.equal((await c.status(alice)).owner.escrow.charged, 100 * credit);

  // An epoch: rows, root, verification, claims.
  const first = [{ owner: bob, index: 0, amount: 90 * credit, units: 900 }, { owner: guard, index: 1, amount: 5 * credit, units: 50 }];
  const epoch1 = rows('epoch-1.csv', first);
  await c.refused('operator', ['post', '1', '--rows', epoch1], 1, /post_due: an epoch before its time/);
  await c.rpc('litesvm_warp', day);
  await c.refused('bob', ['post', '1', '--rows', epoch1], 1, /The poster of this network is/);
  await c.ok('operator', 'post', '1', '--rows', epoch1);
  const verify = async (args) => c.as(null, ['verify', '1', ...args]);
  assert.equal(JSON.parse((await verify(['--rows', epoch1])).stdout).same, true);
  const less = rows('less.csv', [{ ...first[0], amount: 80 * credit }, first[1]]);
  const differs = await verify(['--rows', less]);
  assert.equal(differs.code, 1);
  assert.match(JSON.parse(differs.stdout).difference, /^The sum of amounts is 85000000 by these rows and 95000000 on the chain$/);
  const named = await verify(['--rows', less, '--against', epoch1]);
  assert.equal(JSON.parse(named.stdout).difference, `${bob} has index 0, 80000000 micro-credits, 900 units here and index 0, 90000000 micro-credits, 900 units there`);
  const swapped = rows('swapped.csv', [{ ...first[0], index: 1 }, { ...first[1], index: 0 }]);
  assert.match(JSON.parse((await verify(['--rows', swapped])).stdout).difference, /^The root is [0-9a-f]{64} by these rows and [0-9a-f]{64} on the chain$/);
  assert.equal((await c.as(null, ['verify', '7', '--rows', epoch1])).code, 2);
  await c.refused('operator', ['finalise'], 1, /finalise_window/);
  await c.refused('bob', ['claim', '--rows', epoch1], 2, /that of no final epoch/);
  await c.rpc('litesvm_warp', day / 2);
  await c.ok('operator', 'finalise');
  const claimed = await c.ok('operator', 'claim', bob, '--rows', epoch1);
  assert.equal(claimed.claimed, 90 * credit);
  assert.equal((await c.status(bob)).owner.tokens, (10_000 - 300 + 90) * credit);
  await c.refused('bob', ['claim', '--rows', epoch1], 2, /has claimed its 90\.000000 credits of epoch 1 already/);

  // A node that loses, swallows, doubles and delays: one deposit is one deposit.
  await c.rpc('litesvm_faults', [{ method: 'sendTransaction', lose: 1 }, { method: 'getSignatureStatuses', swallow: 1, double: 1, delay: 2 }, { method: 'getBlockHeight', lose: 1, delay: 1 }]);
  await c.ok('alice', 'deposit', '7');
  assert.equal((await c.status(alice)).owner.escrow.deposited, 3_007 * credit);

  // Evidence: a demanded path is answered; an unanswered one, owners out of order and a broken promise void the root.
  const second = [{ ...first[0], amount: 200 * credit, units: 2_000 }, { ...first[1], amount: 6 * credit, units: 60 }];
  const epoch2 = rows('epoch-2.csv', second);
  await c.rpc('litesvm_warp', day);
  await c.refused('operator', ['post', '2', '--rows', epoch2], 1, /post_bound/);
  await c.ok('operator', 'post', '2', '--rows', epoch2, '--emission', '111');
  assert.equal((await verify(['--rows', epoch1, '--previous', epoch2])).code, 1, 'an epoch that takes from owners');
  await c.ok('alice', 'challenge', 'demand', bob);
  await c.ok('operator', 'challenge', 'answer', bob, '--rows', epoch2);
  await c.ok('alice', 'challenge', 'demand', alice);
  await c.ok('operator', 'challenge', 'answer', alice, '--rows', epoch2);
  await c.ok('alice', 'challenge', 'demand', guard);
  await c.refused('alice', ['challenge', 'void', guard], 1, /void_unanswered_time/);
  await c.refused('alice', ['challenge', 'order', '--rows', epoch2], 2, /are in order/);
  await c.rpc('litesvm_warp', day / 2);
  await c.ok('alice', 'challenge', 'void', guard);
  assert.equal((await c.status()).last_epoch, 1);
  const disorder = rows('disorder.csv', [...second].sort((a, b) => Buffer.compare(wire.fromBase58(b.owner), wire.fromBase58(a.owner))), false);
  const doubled = rows('doubled.csv', second.map((one) => ({ ...one, index: 0 })));
  await c.refused('operator', ['post', '2', '--rows', doubled], 2, /Two owners have the index 0/);
  // A dishonest operator posts a root of its own making.
  await postRaw(c, program, mint, 2, disorder);
  const bounty = (await c.status(alice)).owner.tokens;
  await c.ok('alice', 'challenge', 'order', '--rows', disorder);
  assert.ok((await c.status(alice)).owner.tokens > bounty, 'the evidence is paid');
  // Another one, whose rows are in order and have less in all than its root says.
  await postRaw(c, program, mint, 2, epoch2, { inflate: { level: 1, position: 0, by: BigInt(credit) } });
  await c.refused('alice', ['challenge', 'sum', '--rows', epoch1], 2, /No single wrong sum makes the root that waits, that of epoch 2/);
  await c.ok('alice', 'challenge', 'sum', '--rows', epoch2);
  assert.equal((await c.status()).last_epoch, 1);
  await c.ok('operator', 'post', '2', '--rows', epoch2, '--emission', '111');
  const genesis = Buffer.alloc(32, 5);
  const config = wire.programAddress(['config', wire.fromBase58(mint)], wire.fromBase58(program)).key;
  const promise = (owner, epoch, amount, units) => {
    const digest = wire.sha256('weft-statement-1', genesis, wire.fromBase58(program), config, wire.fromBase58(owner), u64(epoch), u64(amount), u64(units));
    const name = c.file('statement.json');
    fs.writeFileSync(name, JSON.stringify({ owner, epoch, amount, units, signature: wire.toBase58(keyOf(c.file('operator.json')).sign(digest)) }));
    return name;
  };
  await c.refused('alice', ['challenge', 'statement', promise(bob, 2, 200 * credit, 2_000), '--rows', epoch2], 2, /gives .* what was promised, or more/);
  await c.refused('alice', ['challenge', 'sum', '--rows', epoch2], 2, /its sums are right/);
  await c.ok('alice', 'challenge', 'statement', promise(bob, 2, 201 * credit, 2_000), '--rows', epoch2);
  await c.ok('operator', 'post', '2', '--rows', epoch2, '--emission', '111');
  await c.ok('alice', 'challenge', 'statement', promise(alice, 2, credit, 1), '--rows', epoch2);
  assert.equal((await c.status()).last_epoch, 1);

  // Guardians: one freezes, both decide.
  await c.refused('bob', ['freeze'], 1, /another account as guardian/);
  await c.ok('guard', 'freeze');
  await c.refused('operator', ['post', '2', '--rows', epoch2, '--emission', '111'], 1, /post_frozen/);
  await c.refused('operator', ['decide', '--thaw', '--guardian-wallet', c.file('guard.json')], 1, /decide_quorum/);
  await c.ok('operator', 'decide', '--thaw', '--guardian-wallet', c.file('guard.json'), '--guardian-wallet', c.file('guard2.json'));
  await c.ok('operator', 'post', '2', '--rows', epoch2, '--emission', '111');

  // A device, a receipt, a vote.
  const device = keyOf(c.file('guard2.json'));
  await c.ok('bob', 'device', device.text);
  const [session, worker, claims] = ['session', 'worker', 'claims'].map((word) => wire.sha256(word));
  const digest = wire.sha256('weft-receipt-2', genesis, wire.fromBase58(program), wire.fromBase58(operator), session, worker, claims);
  const recorded = await c.ok('alice', 'receipt', 'record', bob, device.text, wire.toBase58(device.sign(digest)), '--session', session.toString('hex'), '--worker', worker.toString('hex'), '--root', claims.toString('hex'));
  await c.refused('alice', ['receipt', 'close', recorded.receipt], 1, /close_receipt_time/);
  const listed = async (...args) => { const { code, stdout, stderr } = await run(['chain', 'receipt', 'list', '--network', c.network, ...args]); assert.equal(code, 0, stderr); return stdout; };
  const { receipts } = JSON.parse(await listed('--owner', bob, '--json'));
  assert.equal(receipts.length, 1);
  const { recorded_at, closable_at, ...row } = receipts[0];
  assert.deepEqual(row, { receipt: recorded.receipt, device: device.text, digest: digest.toString('hex'), root: claims.toString('hex'), payer: alice, device_ends_at: 0 });
  assert.ok(recorded_at > 1_800_000_000 && closable_at > recorded_at);
  const table = (await listed('--wallet', c.file('bob.json'))).split('\n');
  assert.match(table[0], /^receipt +device +recorded, UTC +its rent$/);
  assert.match(table[1], new RegExp(`^${recorded.receipt} +${device.text} +20\\d\\d-\\d\\d-\\d\\d \\d\\d:\\d\\d +held to 20`));
  // Another owner that names the same device does not have its receipts, and a device without one has none.
  await c.ok('alice', 'device', device.text);
  assert.equal(await listed('--owner', alice), `No receipt of a device of ${alice} is recorded.\n`);

  // A device that signs two results of one task: its owner's stake is gone, a tenth of it to the wallet that shows it.
  await c.ok('alice', 'stake', '50');
  const liar = keyOf(c.file('guard.json'));
  await c.ok('alice', 'device', liar.text);
  const job = '00112233445566778899aabbccddeeff';
  const { signedResult, evidence } = twoResults(c, { program, operator, owner: alice, device: liar, job });
  await c.refused('bob', ['slash', evidence({ second: signedResult('a', []) })], 2, /Both are the same result/);
  await c.refused('bob', ['slash', evidence({ attempt: 3 })], 2, /is not signed by the device .* for this network, task and attempt/);
  const held = (await c.status(bob)).owner.tokens;
  const priced = await c.as('bob', ['slash', evidence(), '--dry-run']);
  assert.match(priced.stderr, /Takes the stake of .*: 50\.000000 credits\.\nThis costs /);
  await c.ok('bob', 'slash', evidence());
  assert.equal((await c.status(bob)).owner.tokens - held, 5 * credit);
  assert.equal((await c.status(alice)).owner.stake.amount, 0);
  await c.refused('bob', ['slash', evidence()], 1, /slash_some/);
  await c.refused('alice', ['propose', 'set', 'fee_bps', '200'], 1, /would fail/);
  await c.refused('bob', ['propose', 'set', 'cap', '200'], 2, /is no parameter/);
  const { proposal } = await c.ok('bob', 'propose', 'set', 'fee_bps', '200');
  await c.ok('bob', 'vote', String(proposal), 'yes');
  await c.refused('bob', ['vote', String(proposal), 'yes'], 1, /vote_exists/);
  await c.refused('bob', ['unstake', '100'], 1, /unstake_locked/);
  await c.refused('bob', ['execute', String(proposal)], 1, /execute_ready/);
  await c.rpc('litesvm_warp', 18 * day);
  await c.ok('bob', 'execute', String(proposal));
  assert.equal((await c.status()).parameters.fee_bps, 200);
  assert.match(await listed('--owner', bob), /can be taken back/);
  await c.ok('alice', 'receipt', 'close', recorded.receipt);
  assert.deepEqual(JSON.parse(await listed('--owner', bob, '--json')).receipts, []);
  await c.ok('bob', 'rewards');

  // Ways out: with the coordinator at once, without it after the time-out, and the stake after unbonding.
  await c.ok('alice', 'withdraw', '7', '--coordinator-wallet', c.file('operator.json'));
  await c.ok('alice', 'withdraw', '1000');
  await c.refused('alice', ['withdraw', '--finish'], 1, /finish_withdrawal_timeout/);
  await c.ok('bob', 'unstake', '100');
  await c.refused('bob', ['unstake', '--finish'], 1, /withdraw_stake_time/);
  await c.rpc('litesvm_warp', 15 * day);
  const alone = (await c.status(alice)).owner.tokens;
  await c.ok('alice', 'withdraw', '--finish');
  assert.equal((await c.status(alice)).owner.tokens - alone, 1_000 * credit);
  await c.ok('bob', 'unstake', '--finish');
  assert.equal((await c.status(bob)).owner.stake.amount, 200 * credit);
});

test('what is charged becomes credits once, whatever is killed and whatever a fork takes back', { timeout: 600_000 }, async (t) => {
  const c = await chain(t);
  const [operator, alice, bob] = await Promise.all(['operator', 'alice', 'bob'].map(c.wallet));
  await found(c, operator, [alice, bob]);
  let coordinator = await serve(t);
  const { data } = coordinator;
  const args = () => ['chain', 'credit', '--coordinator', coordinator.url, '--data', data, '--network', c.network, '--json'];
  const credited = async () => { const { code, stdout, stderr } = await run(args()); assert.equal(code, 0, stderr); return JSON.parse(stdout); };
  const free = async (owner) => (await getJson(`${coordinator.url}/v1/ledger?account=owner:${owner}`)).amount ?? 0;

  // Only what is charged and final; again gives nothing; what a fork takes back was never credited.
  await c.ok('alice', 'deposit', '6');
  await c.ok('bob', 'deposit', '10');
  await c.rpc('litesvm_advance', 40);
  assert.deepEqual(await credited(), { credited: 0, owners: 0 }, 'a deposit that no voucher charges is its owner\'s alone');
  await c.charge('alice', 5 * credit);
  assert.deepEqual(await credited(), { credited: 0, owners: 0 });
  await c.rpc('litesvm_advance', 40);
  assert.deepEqual(await credited(), { credited: 5 * credit, owners: 1 });
  assert.deepEqual(await credited(), { credited: 0, owners: 0 });
  assert.equal(await free(alice), 5 * credit);
  await c.charge('bob', 9 * credit);
  assert.equal((await credited()).credited, 0);
  assert.equal(await c.rpc('litesvm_fork', 1), 1);
  await c.rpc('litesvm_advance', 40);
  assert.equal((await credited()).credited, 0);
  assert.equal(await free(bob), 0);
  await c.ok('operator', 'charge', c.file('voucher-bob.json'));

  // 20 ends at random moments, some of them of the coordinator too. Each fourth ends while the node keeps it waiting for an answer, so
  // that some are at work on a machine of any speed.
  let random = 7, killed = 0, followed = 0;
  const below = (n) => { random = (random * 1103515245 + 12345) % 2 ** 31; return random % n; };
  const killedDuring = async (args, { ms, waits }) => {
    const held = await c.rpc('litesvm_held');
    if (waits) await c.rpc('litesvm_faults', [{ method: waits, hold: 1 }]);
    const process = new Program(t, weft, args);
    if (waits) await until(async () => await c.rpc('litesvm_held') > held, `the command asks for ${waits}`);
    else await pause(below(ms));
    process.signal('SIGKILL');
    const { signal } = await process.ended;
    return { killed: signal === 'SIGKILL', stdout: process.stdout };
  };
  for (let i = 1; i <= 20; ++i) {
    await c.charge(i % 2 ? 'alice' : 'bob', 1 + (i % 9));
    await c.rpc('litesvm_advance', 40);
    if ((await killedDuring(args(), { ms: 200, waits: i % 4 === 0 && 'getProgramAccounts' })).killed) ++killed;
    if (i % 5 === 0) {
      await coordinator.program.kill();
      coordinator = await serve(t, { data });
    }
  }
  assert.ok(killed >= 5, `${killed} of 20 were still at work`);
  await credited();
  for (const owner of [alice, bob]) assert.equal(await free(owner), (await c.status(owner)).owner.escrow.charged);
  assert.equal((await getJson(`${coordinator.url}/v1/ledger`)).sum, 0);

  // A command that is killed and run again deposits once; so does one whose transaction a fork takes back.
  for (let i = 1; i <= 20; ++i) {
    const amount = 1 + (i % 9), before = (await c.status(alice)).owner.escrow.deposited;
    const deposit = ['deposit', `0.00000${amount}`];
    const command = ['chain', ...deposit, '--network', c.network, '--wallet', c.file('alice.json'), '--json', '--yes'];
    const { stdout } = await killedDuring(command, { ms: 1_000, waits: i % 4 === 0 && 'getSignatureStatuses' });
    if (stdout === '') {
      const rerun = await c.as('alice', [...deposit, '--yes']);
      assert.equal(rerun.code, 0, rerun.stderr);
      if (/cut short/.test(rerun.stderr)) ++followed;
    }
    assert.equal((await c.status(alice)).owner.escrow.deposited, before + amount);
  }
  assert.ok(followed > 0, 'some were on their way');
  const before = (await c.status(alice)).owner.escrow.deposited;
  const settled = c.ok('alice', 'deposit', '0.000003', '--level', 'finalized');
  await until(async () => (await c.status(alice)).owner.escrow.deposited === before + 3, 'the deposit is in a block');
  assert.equal(await c.rpc('litesvm_fork', 1), 1);
  assert.equal((await settled).landed[0].level, 'finalized');
  assert.equal((await c.status(alice)).owner.escrow.deposited, before + 3);

  // The journal is what knows: another network's is refused, and no second process writes into it.
  fs.appendFileSync(path.join(data, 'chain-credits.txt'), 'open x 0 5\n');
  const broken = await run(args());
  assert.equal(broken.code, 1);
  assert.match(broken.stderr, /Line \d+ of .*chain-credits\.txt is no row\./);
});

test('a stake on the chain counts at its coordinator while it is final, and no more when it unbonds or is slashed', { timeout: 300_000 }, async (t) => {
  const c = await chain(t);
  const [operator, bob, carol] = await Promise.all(['operator', 'bob', 'carol'].map(c.wallet));
  const { program } = await found(c, operator, [bob, carol]);
  const data = scratch(t);
  fs.copyFileSync(c.file('operator.json'), path.join(data, 'coordinator.json'));
  const { url } = await serve(t, { data, args: ['--settlement', c.network] });
  const reading = (folder = data) => run(['chain', 'stakes', '--coordinator', url, '--data', folder, '--network', c.network, '--json']);
  const read = async () => { const { code, stdout, stderr } = await reading(); assert.equal(code, 0, stderr); const { owners, staked } = JSON.parse(stdout); return { owners, staked }; };
  const shown = async (name) => JSON.parse((await run(['stake', 'show', '--coordinator', url, '--wallet', c.file(`${name}.json`), '--json'])).stdout);

  // What a fork takes back never counted; what is final does, beside the ledger's.
  await c.ok('bob', 'stake', '300');
  assert.deepEqual(await read(), { owners: 0, staked: 0 });
  assert.equal(await c.rpc('litesvm_fork', 1), 1);
  await c.rpc('litesvm_advance', 40);
  assert.deepEqual(await read(), { owners: 0, staked: 0 });
  await c.ok('bob', 'stake', '300');
  await c.ok('carol', 'stake', '50');
  await c.rpc('litesvm_advance', 40);
  assert.deepEqual(await read(), { owners: 2, staked: 350 * credit });
  const { staked, on_chain } = await shown('bob');
  assert.deepEqual({ staked, on_chain }, { staked: 0, on_chain: 300 * credit });

  await c.ok('bob', 'stake', '20');
  assert.deepEqual(await read(), { owners: 2, staked: 350 * credit }, 'what is added counts when it is final');
  assert.equal(await c.rpc('litesvm_fork', 1), 1);

  // What begins to unbond counts no more at once, before it is final.
  await c.ok('bob', 'unstake', '100');
  assert.deepEqual(await read(), { owners: 2, staked: 250 * credit });
  await c.rpc('litesvm_advance', 40);
  assert.deepEqual(await read(), { owners: 2, staked: 250 * credit });

  // Nor does a slashed stake.
  const liar = keyOf(c.file('operator.json'));
  await c.ok('carol', 'device', liar.text);
  const { evidence } = twoResults(c, { program, operator, owner: carol, device: liar, job: '00112233445566778899aabbccddeeff' });
  await c.ok('bob', 'slash', evidence());
  assert.deepEqual(await read(), { owners: 1, staked: 200 * credit });
  assert.equal((await shown('carol')).on_chain, 0);

  // An answer that is lost changes nothing; another wallet is refused by the command and by the coordinator.
  await c.rpc('litesvm_faults', [{ method: 'getProgramAccounts', lose: 1 }]);
  assert.notEqual((await reading()).code, 0);
  assert.equal((await shown('bob')).on_chain, 200 * credit);
  const other = scratch(t);
  fs.copyFileSync(c.file('bob.json'), path.join(other, 'coordinator.json'));
  const foreign = await reading(other);
  assert.equal(foreign.code, 1);
  assert.match(foreign.stderr, /The coordinator of this network is/);
  const target = `${url}/v1/settlement/stakes`;
  const body = JSON.stringify({ ...JSON.parse(fs.readFileSync(c.network, 'utf8')), rpc: undefined, slot: 10 ** 9, stakes: [{ owner: bob, amount: 10 ** 12 }] });
  const forged = await fetch(target, { method: 'POST', body, headers: { ...signed(target, { wallet: c.file('bob.json'), coordinator: c.file('operator.json'), method: 'POST', body }), 'content-type': 'application/json' } });
  assert.equal(forged.status, 403);
  assert.match(await forged.text(), /Only the operator/);
  assert.equal((await shown('bob')).on_chain, 200 * credit);
});

test('what a worker has earned becomes its tokens, and no epoch gives more than was charged', { timeout: 600_000 }, async (t) => {
  const c = await chain(t);
  const [operator, alice, bob] = await Promise.all(['operator', 'alice', 'bob'].map(c.wallet));
  await found(c, operator, [alice, bob]);
  const { url, data } = await serve(t, { args: ['--grant', '0'] });
  const at = ['--coordinator', url];
  const done = async (args) => { const { code, stdout, stderr } = await run(args); assert.equal(code, 0, `${args.join(' ')}: ${stderr}`); return stdout; };
  const settle = async (name, credits) => JSON.parse(await done(['chain', 'settle', String(credits), ...at, '--wallet', c.file(`${name}.json`), '--json']));
  const rows = async (epoch, more = []) => JSON.parse(await done(['chain', 'rows', ...at, '--network', c.network, '--out', c.file(`epoch-${epoch}.csv`), ...more, '--json']));
  const epoch = async (number, more) => {
    const made = await rows(number, more);
    await c.rpc('litesvm_warp', day);
    await c.ok('operator', 'post', String(number), '--rows', c.file(`epoch-${number}.csv`));
    await c.rpc('litesvm_warp', day / 2);
    await c.ok('operator', 'finalise');
    return made;
  };
  const tokens = async (owner) => (await c.status(owner)).owner.tokens;
  const credits = async (name) => JSON.parse(await done(['device', 'list', ...at, '--wallet', c.file(`${name}.json`), '--json']));

  // A client's deposit, as far as its voucher allows, pays a worker for a job.
  await c.ok('alice', 'deposit', '900');
  await c.charge('alice', 400 * credit);
  await c.rpc('litesvm_advance', 40);
  await done(['chain', 'credit', ...at, '--data', data, '--network', c.network]);
  await work(t, url, { wallet: c.file('bob.json') });
  await done(['submit', writeJob(scratch(t), hashJob({ rounds: 4096, budget: 300 })), ...at, '--wallet', c.file('alice.json'), '--wait']);
  assert.ok((await credits('bob')).free > 0, 'the job paid its worker');
  await done(['pay', bob, '80', ...at, '--wallet', c.file('alice.json')]);
  const earned = (await credits('bob')).free;

  // The worker settles; what it lacks, what is granted and less than one credit are refused.
  const most = Math.floor(earned / credit);
  const refused = async (amount, message) => { const { code, stderr } = await run(['chain', 'settle', amount, ...at, '--wallet', c.file('bob.json')]); assert.notEqual(code, 0); assert.match(stderr, message); };
  await refused(String(most + 1), /The balance is/);
  await refused('0.5', /0\.500000 credits cannot be settled: the least at a time is 1\.000000/);
  await refused('a few', /is not an amount of credits/);
  assert.deepEqual(await settle('bob', most), { owner: bob, settled: most * credit, free: earned - most * credit });
  assert.equal((await getJson(`${url}/v1/ledger`)).sum, 0);
  const published = await getJson(`${url}/v1/settlement`);
  const { units } = published.owners[0];
  assert.ok(units > 0, 'the job was work');
  assert.deepEqual(published, { owners: [{ owner: bob, settled: most * credit, units }], next: '' });

  const before = await tokens(bob);
  const first = await epoch(1);
  assert.equal(first.given + first.waiting, most * credit);
  assert.ok(first.given > 0 && first.given <= first.charged);
  assert.equal((await c.ok('bob', 'claim', '--rows', c.file('epoch-1.csv'))).claimed, first.given);
  assert.equal(await tokens(bob) - before, first.given);

  // Work from an owner's first row on has its part in the emission of the next epoch: all of it, of the only one that worked.
  await done(['submit', writeJob(scratch(t), hashJob({ rounds: 4096, budget: 100 })), ...at, '--wallet', c.file('alice.json'), '--wait']);
  assert.ok((await getJson(`${url}/v1/settlement`)).owners[0].units > units);

  // Alice takes back what it did not spend, partly out of the ledger; the vault's bound of one epoch leaves some for the next.
  const left = Math.floor((await credits('alice')).free / credit);
  await settle('alice', left);
  const lost = await run(['chain', 'rows', ...at, '--network', c.network, '--out', c.file('lost.csv')]);
  assert.equal(lost.code, 2);
  assert.match(lost.stderr, /Epoch 1 was posted here: name its rows with --previous FILE\./);
  const second = await epoch(2, ['--epoch', '2', '--previous', c.file('epoch-1.csv')]);
  assert.equal(second.emitted, 1_000 * credit);
  assert.ok(second.waiting > 0, 'one epoch gives at most a twentieth of the vault');
  assert.ok(second.given <= second.charged);
  const wrong = await run(['chain', 'rows', ...at, '--network', c.network, '--previous', c.file('epoch-1.csv'), '--out', c.file('lost.csv')]);
  assert.match(wrong.stderr, /The rows in .*epoch-1\.csv give in all .*; those of epoch 2, the last one, give /);
  const swapped = fs.readFileSync(c.file('epoch-2.csv'), 'utf8').split('\n').map((line, i) => (i === 0 ? line : line.replace(/,(\d+),/, (_, index) => `,${1 - Number(index)},`))).join('\n');
  fs.writeFileSync(c.file('swapped.csv'), swapped);
  const other = await run(['chain', 'rows', ...at, '--network', c.network, '--previous', c.file('swapped.csv'), '--out', c.file('lost.csv')]);
  assert.match(other.stderr, /The rows in .*swapped\.csv give the root [0-9a-f]{64}; those of epoch 2, the last one, give [0-9a-f]{64}\./);
  const same = await run(['chain', 'verify', '2', '--network', c.network, '--rows', c.file('epoch-2.csv'), '--previous', c.file('epoch-1.csv'), '--json']);
  assert.equal(JSON.parse(same.stdout).same, true, same.stdout);
  const shifted = fs.readFileSync(c.file('epoch-2.csv'), 'utf8').replace(/,(\d+)$/m, (_, emission) => `,${Number(emission) === 0 ? 5 : Number(emission) - 5}`);
  fs.writeFileSync(c.file('shifted.csv'), shifted);
  const unfair = await run(['chain', 'verify', '2', '--network', c.network, '--rows', c.file('shifted.csv'), '--previous', c.file('epoch-1.csv'), '--json']);
  assert.match(JSON.parse(unfair.stdout).difference, /emission/);
  const third = await epoch(3, ['--previous', c.file('epoch-2.csv')]);
  assert.equal(first.given + second.given + third.given + third.waiting, (most + left) * credit);
  const claimed = (await c.ok('alice', 'claim', '--rows', c.file('epoch-3.csv'))).claimed;
  assert.ok(claimed > 0);
  // What no voucher has charged never was credits, and comes back without the ledger.
  await c.ok('alice', 'withdraw', '450', '--coordinator-wallet', c.file('operator.json'));
  const s = await c.status();
  assert.equal(s.final_emission, 1_000 * credit);
  const paid = await tokens(bob);
  const work_of = async (name, more) => { const made = await run(['chain', 'rows', ...at, '--network', c.network, '--previous', c.file('epoch-3.csv'), '--out', c.file(name), ...more]); assert.equal(made.code, 0, made.stderr); return Number(fs.readFileSync(c.file(name), 'utf8').split('\n').find((line) => line.startsWith(bob)).split(',')[3]); };
  await c.charge('alice', 50 * credit);
  await c.rpc('litesvm_advance', 40);
  await done(['chain', 'credit', ...at, '--data', data, '--network', c.network]);
  await done(['submit', writeJob(scratch(t), hashJob({ rounds: 4096, budget: 50 })), ...at, '--wallet', c.file('alice.json'), '--wait']);
  const whole = await work_of('whole.csv', []);
  // The operator pays for bob's claim: its cost is taken off bob's units, and off no credits.
  const costly = JSON.parse(await done(['chain', 'relay', '--rows', c.file('epoch-3.csv'), '--data', data, '--units-per-sol', '1', '--owner', bob, '--network', c.network, '--wallet', c.file('operator.json'), '--yes', '--json']));
  assert.equal(costly.claims, 1);
  const relays = ['--relays', path.join(data, 'chain-relays.txt')];
  const old = fs.readFileSync(c.file('epoch-3.csv'), 'utf8').split('\n').find((line) => line.startsWith(bob)).split(',');
  const cost = Math.ceil(costly.fee_lamports / 1000);  // Millionths of a unit.
  assert.ok(cost > 0 && whole - cost > Number(old[3]), `there was more work than that: ${old[3]}, then ${whole}, and ${cost} to pay`);
  assert.equal(await work_of('less.csv', relays), whole - cost);
  assert.equal(await work_of('again.csv', []), whole);
  assert.deepEqual(fs.readFileSync(c.file('less.csv'), 'utf8').split('\n').map((line) => line.split(',')[2]), fs.readFileSync(c.file('again.csv'), 'utf8').split('\n').map((line) => line.split(',')[2]));
  assert.ok(await tokens(bob) - paid >= 1_000 * credit, 'the emission is paid');
});

test('claims that the operator relays cost their owners units once, whatever is killed', { timeout: 600_000 }, async (t) => {
  const c = await chain(t);
  const [operator, bob, carol] = await Promise.all(['operator', 'bob', 'carol'].map(c.wallet));
  const dora = await c.wallet('dora');
  const { mint } = await found(c, operator, [bob, carol]);
  const data = scratch(t), journal = path.join(data, 'chain-relays.txt');
  const tokens = async (owner) => (await c.status(owner)).owner.tokens;
  const relayed = (file, more = []) => ['chain', 'relay', '--rows', file, '--data', data, '--units-per-sol', '5000', '--network', c.network, '--wallet', c.file('operator.json'), '--json', '--yes', ...more];
  // The chain goes on meanwhile, so that what landed is final soon.
  const passing = async (work) => {
    const timer = setInterval(() => void c.rpc('litesvm_advance', 4), 300);
    try { return await work(); } finally { clearInterval(timer); }
  };
  const relay = async (file, more) => {
    const { code, stdout, stderr } = await passing(() => run(relayed(file, more), { seconds: 120 }));
    assert.equal(code, 0, stderr);
    return { ...JSON.parse(stdout), stderr };
  };
  const rows = () => fs.readFileSync(journal, 'utf8').trim().split('\n').slice(1).map((line) => line.split(' '));
  const paid = (owner) => rows().reduce((sum, [state, whose, , lamports]) => sum + (state === 'done' && whose === owner ? Number(lamports) : 0), 0);
  let number = 0;
  const epoch = async (amount) => {
    number += 1;
    const list = [bob, carol, dora].map((owner, index) => ({ owner, index, amount: (amount + index) * credit, units: amount }));
    fs.writeFileSync(c.file(`epoch-${number}.csv`), rowsText(list));
    await c.rpc('litesvm_warp', day);
    const more = number === 1 ? 3 * amount + 3 : 3 * 10;
    await c.ok('operator', 'post', String(number), '--rows', c.file(`epoch-${number}.csv`), '--emission', String(more));
    await c.rpc('litesvm_warp', day / 2);
    await c.ok('operator', 'finalise');
    return c.file(`epoch-${number}.csv`);
  };

  // The page is open after the first claim of all; an owner without a token account is left to claim for itself.
  const first = await epoch(50);
  assert.deepEqual(await relay(first).then(({ claims }) => claims), 0, 'no page is open yet');
  await c.ok('carol', 'claim', '--rows', first);
  const before = { bob: await tokens(bob), lamports: (await c.rpc('getBalance', operator)).value };
  const one = await relay(first);
  assert.match(one.stderr, new RegExp(`Claims 50\\.000000 credits for ${bob}\\.\nThis costs 0\\.0`));
  assert.equal(await tokens(bob) - before.bob, 50 * credit);
  assert.equal(one.claims, 1);
  assert.equal(before.lamports - (await c.rpc('getBalance', operator)).value, one.fee_lamports);
  assert.ok(one.fee_lamports >= 5_000);
  assert.equal(paid(bob), one.fee_lamports);
  assert.equal((await relay(first)).claims, 0);
  assert.equal(await c.rpc('getAccountInfo', wire.toBase58(tokensOf(wire.fromBase58(dora), wire.fromBase58(mint)))).then(({ value }) => value), null);

  // Killed at random moments, or while the node keeps it waiting; a fork takes what is not final back.
  let killed = 0, random = 3;
  const below = (n) => { random = (random * 1103515245 + 12345) % 2 ** 31; return random % n; };
  for (let i = 1; i <= 8; ++i) {
    const file = await epoch(50 + 10 * i);
    const start = { bob: await tokens(bob), lamports: (await c.rpc('getBalance', operator)).value, bobs: paid(bob), carols: paid(carol) };
    const waits = ['sendTransaction', 'getTransaction', null, 'getSignatureStatuses'][i % 4];
    if (waits) await c.rpc('litesvm_faults', [{ method: waits, hold: 1 }]);
    const held = await c.rpc('litesvm_held');
    const process = new Program(t, weft, relayed(file));
    if (waits) await passing(() => until(async () => await c.rpc('litesvm_held') > held, `the command asks for ${waits}`, 60));
    else await pause(below(1_500));
    process.signal('SIGKILL');
    if ((await process.ended).signal === 'SIGKILL') ++killed;
    if (waits === 'getSignatureStatuses') await c.rpc('litesvm_fork', 1);  // A claim that was sent and is not final.
    if (i % 4 === 0) await c.rpc('litesvm_faults', [{ method: 'sendTransaction', lose: 1 }, { method: 'getSignatureStatuses', lose: 1, delay: 1 }]);
    await relay(file);
    assert.equal(await tokens(bob) - start.bob, 10 * credit, `epoch ${number}: paid once`);
    const spent = start.lamports - (await c.rpc('getBalance', operator)).value;
    assert.equal(paid(bob) - start.bobs + paid(carol) - start.carols, spent, `epoch ${number}: the fees that were paid are written down once`);
    assert.deepEqual(rows().filter(([state]) => state === 'sent').length, rows().filter(([state]) => state !== 'sent').length, 'nothing is left open');
  }
  assert.ok(killed >= 4, `${killed} of 8 were still at work`);

  // A node that names a fee that the claim cannot have cost is not believed: nothing is written down until one answers that can be true.
  const costly = await epoch(140);
  const believed = { bob: paid(bob), lamports: (await c.rpc('getBalance', operator)).value };
  await c.rpc('litesvm_faults', [{ method: 'getTransaction', overcharge: 1 }]);
  const lied = await passing(() => run(relayed(costly, ['--owner', bob]), { seconds: 120 }));
  assert.notEqual(lied.code, 0);
  assert.match(lied.stderr, /The node says that the transaction \w+ paid 1000000000000000000 lamports, which can have paid \d+ at most/);
  assert.equal(paid(bob), believed.bob);
  await relay(costly, ['--owner', bob]);
  assert.equal(paid(bob) - believed.bob, believed.lamports - (await c.rpc('getBalance', operator)).value);

  // The same journal counts at one rate, and rows lack the cost: bob's units, not its credits.
  const other = await run(relayed(first).map((word) => (word === '5000' ? '6000' : word)));
  assert.equal(other.code, 2);
  assert.match(other.stderr, /is the journal of another network or coordinator/);
});

/** Posts the root of rows in the order of the file, which `weft chain post` refuses to make. */
async function postRaw(c, program, mint, epoch, file, more = {}) {
  const { Tree } = await import('../../chain/tests/tree.mjs');
  const { call, instruction } = await import('../../chain/tests/program.mjs');
  const owners = fs.readFileSync(file, 'utf8').trim().split('\n').slice(1).map((line) => { const [owner, index, amount, units] = line.split(','); return { owner: wire.fromBase58(owner), index: Number(index), amount: BigInt(amount), units: BigInt(units) }; });
  const tree = new Tree(owners, { sorted: false, ...more }), poster = keyOf(c.file('operator.json')), id = wire.fromBase58(program), mintKey = wire.fromBase58(mint);
  const vault = (seed) => wire.sha256(mintKey, seed, wire.tokenProgram);
  const one = call('post', { poster: poster.key, config: wire.programAddress(['config', mintKey], id).key, bond_from: tokensOf(poster.key, mintKey), vault: vault('vault'), stake_vault: vault('stake_vault'), token_program: wire.tokenProgram },
    { epoch: BigInt(epoch), root: tree.root.hash, amount: tree.root.sum, units: tree.units, emission: 111_000_000n, depth: tree.depth });
  const { value: { blockhash } } = await c.rpc('getLatestBlockhash');
  await c.rpc('sendTransaction', wire.transaction([instruction(id, one)], poster, [poster], wire.fromBase58(blockhash)).toString('base64'), { encoding: 'base64' });
}

test('a command that lacks a network, a file or a node says so', { timeout: 60_000 }, async (t) => {
  const folder = scratch(t);
  const wallet = path.join(folder, 'wallet.json');
  assert.equal((await run(['wallet', 'new', '--file', wallet])).code, 0);
  const say = async (args, code, message) => { const found = await run(['chain', ...args]); assert.equal(found.code, code, found.stderr); assert.match(found.stderr, message); };
  await say(['status'], 2, /No node of Solana is named/);
  await say(['status', '--rpc', 'http://127.0.0.1:9'], 2, /No network is named/);
  await say(['status', '--rpc', 'http://127.0.0.1:9', '--program', 'x', '--mint', 'y'], 2, /"x" is not the key of a program/);
  const keys = ['--program', wire.toBase58(wire.sha256('p')), '--mint', wire.toBase58(wire.sha256('m'))];
  await say(['status', '--rpc', 'http://127.0.0.1:9', ...keys], 3, /127\.0\.0\.1:9/);
  fs.writeFileSync(path.join(folder, 'chain.json'), '{"rpc": 5}');
  await say(['deposit', '5', '--network', path.join(folder, 'chain.json'), '--wallet', wallet], 2, /rpc: .*while reading/);
  await say(['vote', '0', 'maybe', '--network', path.join(folder, 'chain.json')], 2, /yes and no|yes or no|one of/);
});
