// Settlement by the command line, as people use it: `weft chain` against the real virtual machine,
// which chain/tests/rpc.mjs serves as a node on loopback. One network goes through its whole life,
// and the sums of money are checked after every command. No public cluster is used.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { compile } from '../../chain/build.mjs';
import { link } from '../../chain/linker/link.mjs';
import * as wire from '../../chain/tests/wire.mjs';
import { root, run, scratch } from './lib.mjs';
import { buildChain, chain, credit, day, keyOf, rowsText, tokensOf, twoResults, u64 } from './settlement.mjs';

before(buildChain);

describe('settlement by commands', { concurrency: 3 }, () => {
  // The upgrade key can replace the program, and with it every rule of settlement. `deploy --final`
  // leaves no upgrade key.
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
    // Reads the program's bytes and its upgrade key: the account has a kind, a slot, then a key or
    // none.
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
      // A program cannot be replaced in the slot of its deployment.
      await c.rpc('litesvm_advance', 2);
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
    // The wallet cannot make itself the upgrade key again.
    const taken = await send([{ program: loader, accounts: [use(dataOf(final.program), false, true), use(operator.key, true), use(operator.key)], data: u32(4) }]);
    assert.match(JSON.stringify(taken.error), /Immutable/);
    assert.deepEqual((await held(final.program)).code.subarray(0, elf.length), elf);
  });

  test('a network lives from its deployment to a vote, by commands alone', { timeout: 600_000 }, async (t) => {
    const c = await chain(t);
    const [operator, alice, bob, guard] = await Promise.all(['operator', 'alice', 'bob', 'guard'].map(c.wallet));
    const guard2 = await c.wallet('guard2');
    const rows = (name, list, sorted) => { fs.writeFileSync(c.file(name), rowsText(list, sorted)); return c.file(name); };

    // Deployment: nothing is signed without a yes, and a second run finds the program deployed.
    const place = ['--rpc', c.url, '--wallet', c.file('operator.json'), '--json'];
    const deployment = ['chain', 'deploy', '--elf', path.join(root, 'build/chain/weft.so'), '--program-key', c.file('program.json'), ...place];
    const dry = await run([...deployment, '--dry-run']);
    assert.equal(dry.code, 0, dry.stderr);
    const costs = JSON.parse(dry.stdout);
    assert.ok(costs.rent_lamports > 400_000_000 && costs.transactions > 60);
    const unasked = await run(deployment);
    assert.equal(unasked.code, 2);
    assert.match(unasked.stderr, /Nothing was signed: standard input is not a terminal at which to ask; --yes agrees/);
    assert.equal((await c.rpc('getBalance', operator)).value, 20_000_000_000);
    const deployed = await run([...deployment, '--yes']);
    assert.equal(deployed.code, 0, deployed.stderr);
    const { program } = JSON.parse(deployed.stdout);
    const paid = 20_000_000_000 - (await c.rpc('getBalance', operator)).value;
    assert.ok(paid <= costs.fee_lamports + costs.rent_lamports && paid > costs.rent_lamports, `${paid} of ${costs.fee_lamports + costs.rent_lamports}`);
    assert.equal(JSON.parse((await run([...deployment, '--yes'])).stdout).sent, false);

    // `weft chain init` makes the network.
    const found = ['chain', 'init', '--program', program, '--mint-key', c.file('mint.json'), '--out', c.network, '--founders-amount', '60000', '--guardian-quorum', '2', ...place, '--yes'];
    const guardians = ['--guardian', guard, '--guardian', guard2];
    const wrong = await run([...found, ...guardians, '--set', 'post_bps=501']);
    assert.equal(wrong.code, 2);
    assert.match(wrong.stderr, /The parameter post_bps must be from 1 to 500, not 501\./);
    const made = await run([...found, ...guardians]);
    assert.equal(made.code, 0, made.stderr);
    const { mint } = JSON.parse(made.stdout);
    const again = await run([...found, ...guardians]);
    assert.equal(again.code, 2);
    assert.match(again.stderr, /already has a network/);
    assert.equal((await c.status(operator)).owner.tokens, 60_000 * credit);
    await c.give('operator', alice, 10_000 * credit, mint);
    await c.give('operator', bob, 10_000 * credit, mint);

    // Keys and programs have the same addresses on each cluster, so that the network's file names
    // the cluster.
    const file = JSON.parse(fs.readFileSync(c.network, 'utf8'));
    fs.writeFileSync(c.file('other.json'), JSON.stringify({ ...file, genesis: '11'.repeat(32) }));
    const elsewhere = await run(['chain', 'deposit', '1', '--network', c.file('other.json'), '--wallet', c.file('alice.json'), '--yes']);
    assert.equal(elsewhere.code, 2);
    assert.match(elsewhere.stderr, /The node at .* belongs to the cluster with the genesis hash (05){32}; the network in .*other\.json is on the cluster with the genesis hash (11){32}\./);

    // Deposits, vouchers and stakes; deposits that the program refuses, and texts that are no
    // amounts.
    await c.ok('alice', 'deposit', '3000');
    await c.refused('alice', ['deposit', '8000'], 1, /has 7000\.000000 credits in tokens, less than 8000\.000000 credits\./);
    await c.refused('alice', ['deposit', '0.0000001'], 2, /is not an amount of credits/);
    await c.ok('bob', 'stake', '300');
    const voucher = await c.as('alice', ['voucher', '100']);
    fs.writeFileSync(c.file('voucher.json'), voucher.stdout);
    await c.ok('operator', 'charge', c.file('voucher.json'));
    await c.refused('operator', ['charge', c.file('voucher.json')], 1, /charge_forward: a voucher charged twice/);
    fs.writeFileSync(c.file('forged.json'), JSON.stringify({ ...JSON.parse(voucher.stdout), cumulative: 200 * credit }));
    await c.refused('operator', ['charge', c.file('forged.json')], 2, /not signed by/);
    assert.equal((await c.status(alice)).owner.escrow.charged, 100 * credit);

    // One epoch from its rows and root to verification and claims.
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
    await c.refused('bob', ['claim', '--rows', epoch1], 2, /which no final epoch has/);
    await c.rpc('litesvm_warp', day / 2);
    await c.ok('operator', 'finalise');
    const claimed = await c.ok('operator', 'claim', bob, '--rows', epoch1);
    assert.equal(claimed.claimed, 90 * credit);
    assert.equal((await c.status(bob)).owner.tokens, (10_000 - 300 + 90) * credit);
    await c.refused('bob', ['claim', '--rows', epoch1], 2, /has claimed its 90\.000000 credits of epoch 1 already/);

    // The node loses, swallows, doubles and delays answers. One deposit command still makes one
    // deposit.
    await c.rpc('litesvm_faults', [{ method: 'sendTransaction', lose: 1 }, { method: 'getSignatureStatuses', swallow: 1, double: 1, delay: 2 }, { method: 'getBlockHeight', lose: 1, delay: 1 }]);
    await c.ok('alice', 'deposit', '7');
    assert.equal((await c.status(alice)).owner.escrow.deposited, 3_007 * credit);

    // Evidence: a demanded path is answered. An unanswered path, owners out of order and a broken
    // promise void the root.
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
    await c.refused('alice', ['challenge', 'fell', '--rows', epoch2, '--previous', epoch1], 2, /give each owner of .*epoch-1\.csv at least what it had/);
    await c.refused('alice', ['challenge', 'void', operator], 2, /No demand for the path of .* is open against post 2/);
    await c.rpc('litesvm_warp', day / 2);
    // Alice paid for the demand. Any account may void the root, and alice gets its lamports back.
    const alices = (await c.rpc('getBalance', alice)).value;
    await c.ok('bob', 'challenge', 'void', guard);
    assert.ok((await c.rpc('getBalance', alice)).value > alices + 10_000_000);
    assert.equal((await c.status()).last_epoch, 1);
    const disorder = rows('disorder.csv', [...second].sort((a, b) => Buffer.compare(wire.fromBase58(b.owner), wire.fromBase58(a.owner))), false);
    const doubled = rows('doubled.csv', second.map((one) => ({ ...one, index: 0 })));
    await c.refused('operator', ['post', '2', '--rows', doubled], 2, /Two owners have the index 0/);
    // A dishonest operator posts a root without the command.
    await postRaw(c, program, mint, 2, disorder);
    const bounty = (await c.status(alice)).owner.tokens;
    await c.ok('alice', 'challenge', 'order', '--rows', disorder);
    assert.ok((await c.status(alice)).owner.tokens > bounty, 'the evidence is paid');
    // Two wrong roots: one takes amounts of the final epoch 1 from an owner, and in the other root
    // an owner is missing.
    for (const [name, list] of [['taken.csv', [{ ...second[0], amount: 202 * credit }, { ...second[1], amount: 4 * credit }]], ['gone.csv', [{ ...second[0], amount: 206 * credit }]]]) {
      const taken = rows(name, list);
      await c.ok('operator', 'post', '2', '--rows', taken, '--emission', '111');
      await c.refused('alice', ['challenge', 'fell', '--rows', taken, '--previous', epoch2], 2, /which no final epoch has/);
      await c.ok('alice', 'challenge', 'fell', '--rows', taken, '--previous', epoch1);
      assert.equal((await c.status()).last_epoch, 1);
    }
    // The rows of another wrong root are in order, but their sum is less than the root says.
    await postRaw(c, program, mint, 2, epoch2, { inflate: { level: 1, position: 0, by: BigInt(credit) } });
    await c.refused('alice', ['challenge', 'sum', '--rows', epoch1], 2, /No single wrong sum explains how the pending root of epoch 2 differs/);
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
    await c.refused('alice', ['challenge', 'statement', promise(bob, 2, 200 * credit, 2_000), '--rows', epoch2], 2, /gives .* at least what was promised/);
    await c.refused('alice', ['challenge', 'sum', '--rows', epoch2], 2, /its sums are right/);
    const more = rows('more.csv', [{ ...second[0], amount: 201 * credit }, { ...second[1], amount: 5 * credit }]);
    await c.refused('bob', ['statement', bob, '2', '--rows', more], 1, /The coordinator of this network is/);
    const said = await c.as('operator', ['statement', bob, '2', '--rows', more]);
    assert.equal(said.stdout, `${fs.readFileSync(promise(bob, 2, 201 * credit, 2_000), 'utf8')}\n`);
    await c.ok('alice', 'challenge', 'statement', c.file('statement.json'), '--rows', epoch2);
    await c.ok('operator', 'post', '2', '--rows', epoch2, '--emission', '111');
    await c.refused('alice', ['challenge', 'statement', promise(bob, 3, 201 * credit, 2_000), '--rows', epoch2], 1, /prove_less_epoch/);
    await c.ok('alice', 'challenge', 'statement', promise(bob, 1, 201 * credit, 2_000), '--rows', epoch2);
    await c.ok('operator', 'post', '2', '--rows', epoch2, '--emission', '111');
    await c.ok('alice', 'challenge', 'statement', promise(alice, 2, credit, 1), '--rows', epoch2);
    assert.equal((await c.status()).last_epoch, 1);

    // One guardian can freeze; a decision needs both guardians.
    await c.refused('bob', ['freeze'], 1, /another account as guardian/);
    await c.ok('guard', 'freeze');
    await c.refused('operator', ['post', '2', '--rows', epoch2, '--emission', '111'], 1, /post_frozen/);
    await c.refused('operator', ['decide', '--thaw', '--guardian-wallet', c.file('guard.json')], 1, /decide_quorum/);
    await c.ok('operator', 'decide', '--thaw', '--guardian-wallet', c.file('guard.json'), '--guardian-wallet', c.file('guard2.json'));
    await c.ok('operator', 'post', '2', '--rows', epoch2, '--emission', '111');

    // An owner names a device, a receipt is recorded, and there is a vote.
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
    // Another owner that names the same device does not get the device's receipts: its list is
    // empty.
    await c.ok('alice', 'device', device.text);
    assert.equal(await listed('--owner', alice), `No receipt of a device of ${alice} is recorded.\n`);

    // A device signs two results of one task. Its owner loses its stake, and a tenth of it goes to
    // the wallet that shows the evidence.
    await c.ok('alice', 'stake', '50');
    const liar = keyOf(c.file('guard.json'));
    await c.ok('alice', 'device', liar.text);
    const job = '00112233445566778899aabbccddeeff';
    const { signedResult, evidence } = twoResults(c, { program, operator, owner: alice, device: liar, job });
    await c.refused('bob', ['slash', evidence({ second: signedResult('a', []) })], 2, /Both results of the evidence are the same/);
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

    // Withdrawals: of a deposit at once with the coordinator's signature and after the time-out
    // without it, and of the stake after unbonding.
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
});

/** Posts the root of rows in the order of the file, which `weft chain post` refuses to do. */
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
