// Commands of `weft chain` are killed before each of their steps (kill_at.cpp) and run again:
// nothing is paid, staked or posted twice, and nothing is lost. The node is that of
// settle.test.mjs.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import * as wire from '../../chain/tests/wire.mjs';
import { Program, getJson, root, run, serve, weft } from './lib.mjs';
import { buildChain, chain, credit, day, found, rowsText, tokensOf } from './settlement.mjs';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'weft-test-')), shim = path.join(folder, 'kill_at.so');
before(() => {
  buildChain();
  execFileSync('c++', ['-std=c++23', '-shared', '-fPIC', '-O1', '-o', shim, path.join(root, 'tests/e2e/kill_at.cpp'), '-ldl']);
});
after(() => fs.rmSync(folder, { recursive: true, force: true }));

describe('commands that are killed', { concurrency: 4 }, () => {
  test('a charge is credited once and a deposit made once, at whichever of its steps the command is killed', { timeout: 600_000 }, async (t) => {
    const c = await chain(t);
    const [operator, alice, bob] = await Promise.all(['operator', 'alice', 'bob'].map(c.wallet));
    await found(c, operator, [alice, bob]);
    const { url, data } = await serve(t);
    const killedAt = killer(t);
    const credited = async () => { const { code, stderr } = await run(['chain', 'credit', '--coordinator', url, '--data', data, '--network', c.network, '--json']); assert.equal(code, 0, stderr); };
    const free = async (owner) => (await getJson(`${url}/v1/ledger?account=owner:${owner}`)).amount ?? 0;
    const equal = async (step) => { for (const owner of [alice, bob]) assert.equal(await free(owner), (await c.status(owner)).owner.escrow.charged, `killed at step ${step}`); };

    // The steps of a crediting of two owners: its requests, each row of its journal, and the calls
    // that make the journal durable.
    await c.ok('alice', 'deposit', '6');
    await c.ok('bob', 'deposit', '6');
    let step = 1;
    for (let killed = true; killed; ++step) {
      await c.charge('alice', 1 + (step % 7));
      await c.charge('bob', 1 + (step % 9));
      await c.rpc('litesvm_advance', 40);
      ({ killed } = await killedAt(step, ['chain', 'credit', '--coordinator', url, '--data', data, '--network', c.network, '--json']));
      await credited();
      await equal(step);
    }
    assert.ok(step > 12, `a crediting of two owners has ${step - 2} steps`);

    let followed = 0;
    step = 1;
    for (let killed = true; killed; ++step) {
      const before = (await c.status(alice)).owner.escrow.deposited, amount = 1 + (step % 9);
      const deposit = ['deposit', `0.00000${amount}`];
      const first = await killedAt(step, ['chain', ...deposit, '--network', c.network, '--wallet', c.file('alice.json'), '--json', '--yes']);
      ({ killed } = first);
      if (first.stdout === '') {
        const again = await c.as('alice', [...deposit, '--yes']);
        assert.equal(again.code, 0, again.stderr);
        if (/cut short/.test(again.stderr)) ++followed;
      }
      assert.equal((await c.status(alice)).owner.escrow.deposited, before + amount, `killed at step ${step}`);
    }
    assert.ok(step > 8, `a deposit has ${step - 2} steps`);
    assert.ok(followed > 0, 'some had been signed');

    await c.ok('bob', 'deposit', '50');
    await c.charge('bob', 40 * credit);
    await c.rpc('litesvm_advance', 40);
    await credited();
    const settled = async () => (await getJson(`${url}/v1/settlement`)).owners.find(({ owner }) => owner === bob)?.settled ?? 0;
    const settle = ['chain', 'settle', '1', '--coordinator', url, '--wallet', c.file('bob.json'), '--json'];
    let begun = 0;
    step = 1;
    for (let killed = true; killed; ++step) {
      const before = await settled();
      const first = await killedAt(step, settle);
      ({ killed } = first);
      if (first.stdout === '' || fs.existsSync(`${c.file('bob.json')}.settling`)) {
        const again = await run(settle);
        assert.equal(again.code, 0, again.stderr);
        if (/was begun before/.test(again.stderr)) ++begun;
      }
      assert.equal(await settled(), before + credit, `killed at step ${step}`);
    }
    assert.ok(step > 6, `a settling has ${step - 2} steps`);
    assert.ok(begun > 0, 'some had been written down');
  });

  test('an epoch is posted and claimed once, at whichever of its steps the command is killed', { timeout: 900_000 }, async (t) => {
    const c = await chain(t);
    const [operator, bob] = await Promise.all(['operator', 'bob'].map(c.wallet));
    await found(c, operator, [bob]);
    const { of, stepwise, withoutRecord } = steps(t, c);
    let before;

    // Makes epochs that each give bob 10 credits more.
    let number = (await c.status()).last_epoch;
    const nextRows = async () => {
      number += 1;
      fs.writeFileSync(c.file('rows.csv'), rowsText([{ owner: bob, index: 0, amount: 10 * number * credit, units: number }]));
      await c.rpc('litesvm_warp', day);
      return ['post', String(number), '--rows', c.file('rows.csv'), '--emission', '10'];
    };
    const finalise = async () => { await c.rpc('litesvm_warp', day / 2); await c.ok('operator', 'finalise'); };
    const post = async () => {
      const words = await nextRows();
      before = await of(operator);
      return {
        name: 'operator', words,
        check: async (when) => {
          const [posted, ...more] = (await c.status()).epochs.filter(({ epoch }) => epoch === number);
          assert.equal(posted?.state, 'pending', when);
          assert.deepEqual(more, [], when);
          assert.equal((await of(operator)).tokens, before.tokens - posted.bond, `${when}: one bond`);
          await finalise();
          assert.equal((await of(operator)).tokens, before.tokens, `${when}: which came back`);
          assert.equal((await c.status()).emitted, 10 * number * credit, when);
        },
      };
    };
    const claim = async () => {
      await c.ok('operator', ...await nextRows());
      await finalise();
      before = await of(bob);
      return { name: 'bob', words: ['claim', '--rows', c.file('rows.csv')], check: async (when) => assert.deepEqual(await of(bob), { ...before, tokens: before.tokens + 10 * credit }, when) };
    };
    await stepwise('a post', post);
    const unclaimed = await of(bob);
    await c.ok('bob', 'claim', '--rows', c.file('rows.csv'));
    assert.equal((await of(bob)).tokens, unclaimed.tokens + 10 * number * credit);
    await stepwise('a claim', claim);
    await withoutRecord('a claim', claim, ({ code, stderr }) => code !== 0 && /has claimed its .* already/.test(stderr));
    await withoutRecord('a post', async (step) => {
      if (step > 1) await finalise();
      return post();
    }, ({ code, stderr }) => code !== 0 && /would fail/.test(stderr));
  });

  test('a stake is made, begun to unbond and paid out once, at whichever of its steps the command is killed', { timeout: 900_000 }, async (t) => {
    const c = await chain(t);
    const [operator, alice] = await Promise.all(['operator', 'alice'].map(c.wallet));
    await found(c, operator, [alice]);
    const { of, stepwise, withoutRecord } = steps(t, c);
    let before;

    await c.ok('alice', 'stake', '100');
    const micro = (step) => 1 + (step % 9);
    const stake = (verb) => async (step) => {
      before = await of(alice);
      const amount = micro(step);
      return {
        name: 'alice', words: [verb, `0.00000${amount}`],
        check: async (when) => assert.deepEqual(await of(alice), verb === 'stake' ? { ...before, tokens: before.tokens - amount, staked: before.staked + amount } : { ...before, staked: before.staked - amount, unbonding: before.unbonding + amount }, when),
      };
    };
    await stepwise('a stake', stake('stake'));
    await stepwise('an unbonding', stake('unstake'));
    await stepwise('a payment of what has unbonded', async (step) => {
      await c.ok('alice', 'unstake', `0.00000${micro(step)}`);
      await c.rpc('litesvm_warp', 15 * day);
      before = await of(alice);
      return { name: 'alice', words: ['unstake', '--finish'], check: async (when) => assert.deepEqual(await of(alice), { ...before, tokens: before.tokens + before.unbonding, unbonding: 0 }, when) };
    });
    await withoutRecord('a stake', stake('stake'), async (_, step) => (await of(alice)).staked - before.staked > micro(step));
    await withoutRecord('an unbonding', stake('unstake'), async (_, step) => (await of(alice)).unbonding - before.unbonding > micro(step));
  });

  test('a claim that opens a page of its own, not the first, opens it once and is paid once, at whichever of its steps the command is killed', { timeout: 600_000 }, async (t) => {
    const c = await chain(t);
    const operator = await c.wallet('operator');
    const { program, mint } = await found(c, operator, []);
    // Each of these owners is the first of a page. The ledger has one owner for each page, and
    // enough pages for the number of steps.
    const page_owners = 1280, pages = 150, amount = 2 * credit;
    const owners = Array.from({ length: pages }, (_, page) => ({ owner: wire.toBase58(wire.sha256(`the first owner of page ${page}`)), index: page * page_owners, amount, units: 1 }));
    fs.writeFileSync(c.file('rows.csv'), rowsText(owners));
    await c.rpc('litesvm_warp', day);
    await c.ok('operator', 'post', '1', '--rows', c.file('rows.csv'), '--emission', String(pages * 2));
    await c.rpc('litesvm_warp', day / 2);
    await c.ok('operator', 'finalise');
    const killedAt = killer(t);
    const config = wire.programAddress(['config', wire.fromBase58(mint)], wire.fromBase58(program)).key;
    const addressOf = (page) => { const number = Buffer.alloc(4); number.writeUInt32LE(page); return wire.toBase58(wire.programAddress(['page', config, number], wire.fromBase58(program)).key); };
    const accountOf = async (key) => (await c.rpc('getAccountInfo', key, { encoding: 'base64' })).value;
    const claimOf = (page) => ['claim', owners[page].owner, '--rows', c.file('rows.csv')];
    const rent = await c.rpc('getMinimumBalanceForRentExemption', 8 * page_owners);

    let page = 1, opened = 0, followed = 0;
    const first = async (step) => {
      const { killed, stdout } = await killedAt(step, ['chain', ...claimOf(page), '--network', c.network, '--wallet', c.file('operator.json'), '--json', '--yes']);
      if (stdout === '' && await accountOf(addressOf(page)) !== null) ++opened;
      return { killed, done: stdout !== '' };
    };
    const check = async (when) => {
      assert.equal((await accountOf(addressOf(page))).lamports, rent, `${when}: its rent is paid once`);
      const tokens = wire.toBase58(tokensOf(wire.fromBase58(owners[page].owner), wire.fromBase58(mint)));
      assert.equal(Buffer.from((await accountOf(tokens)).data[0], 'base64').readBigUInt64LE(64), BigInt(amount), `${when}: the owner is paid once`);
      const landed = await c.rpc('getSignaturesForAddress', addressOf(page));
      assert.deepEqual(landed.map(({ err }) => err), [null, null], `${when}: one transaction opens the page, one claims, and none fails`);
    };
    let step = 1;
    for (let killed = true; killed; ++step, ++page) {
      const begun = await first(step);
      ({ killed } = begun);
      if (!begun.done) {
        const again = await c.as('operator', [...claimOf(page), '--yes']);
        assert.equal(again.code, 0, `killed at step ${step}: ${again.stderr}`);
        assert.equal(JSON.parse(again.stdout).claimed, amount);
        if (/cut short/.test(again.stderr)) ++followed;
      }
      await check(`killed at step ${step}`);
    }
    assert.ok(step > 20, `a claim that opens a page has ${step - 2} steps`);
    assert.ok(opened > 5 && followed > 5, `${opened} were killed with the page open and the claim not done, ${followed} with something signed`);

    // If the record of signed transactions is deleted, the second run fails at some step, although
    // the page is open and the owner paid.
    for (step = 1; ; ++step, ++page) {
      const { killed, done } = await first(step);
      assert.ok(killed, 'nothing goes wrong without the record');
      fs.rmSync(`${c.file('operator.json')}.sent`, { force: true });
      if (done) continue;
      const { code, stderr } = await c.as('operator', [...claimOf(page), '--yes']);
      if (code !== 0) { assert.match(stderr, /has claimed its .* already/); break; }
    }
  });
});

/** Kills commands before their step 1, 2, ... and runs them again, and reads what owners then have. */
function steps(t, c) {
  const killedAt = killer(t);
  const killed = (step, name, words) => killedAt(step, ['chain', ...words, '--network', c.network, '--wallet', c.file(`${name}.json`), '--json', '--yes']);
  const of = async (owner) => { const { tokens, stake } = (await c.status(owner)).owner; return { tokens, staked: stake?.amount ?? 0, unbonding: stake?.unbonding ?? 0 }; };

  // Kills a command before its step 1, 2, ... and runs it again, until it has no further step.
  const stepwise = async (what, prepare) => {
    let followed = 0, step = 1;
    for (let goesOn = true; goesOn; ++step) {
      const { name, words, check } = await prepare(step);
      const first = await killed(step, name, words);
      goesOn = first.killed;
      if (first.stdout === '') {
        const again = await c.as(name, [...words, '--yes']);
        assert.equal(again.code, 0, `${what}, killed at step ${step}: ${again.stderr}`);
        if (/cut short/.test(again.stderr)) ++followed;
      }
      await check(`${what}, killed at step ${step}`);
    }
    assert.ok(step > 8, `${what} has ${step - 2} steps`);
    assert.ok(followed > 0, `${what}: some had been signed`);
  };
  // Kills and repeats a command without the record of signed transactions: at some step the second
  // run acts again, or is refused.
  const withoutRecord = async (what, prepare, wrong) => {
    for (let step = 1; ; ++step) {
      const { name, words } = await prepare(step);
      const first = await killed(step, name, words);
      assert.ok(first.killed, `${what}: nothing goes wrong without the record`);
      fs.rmSync(`${c.file(`${name}.json`)}.sent`, { force: true });
      if (first.stdout === '' && await wrong(await c.as(name, [...words, '--yes']), step)) return;
    }
  };
  return { of, stepwise, withoutRecord };
}

/** Kills a command before its step with this number, if it has that many steps. The test fails if the command ends neither in this way nor with success. */
function killer(t) {
  return async (step, args) => {
    const process = new Program(t, weft, args, { env: { LD_PRELOAD: shim, WEFT_KILL_AT: String(step) } });
    const { code, signal } = await process.ended;
    assert.ok(signal === 'SIGKILL' || code === 0, `step ${step}: ${process.stderr}`);
    return { killed: signal === 'SIGKILL', stdout: process.stdout };
  };
}
