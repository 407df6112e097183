// Settlement between the ledger and the chain. Charges become credits, credits become tokens,
// stakes on the chain count at a coordinator, and relayed claims are paid for. Each happens once,
// whatever is killed at random moments and whatever a fork takes back. The node is that of
// settle.test.mjs.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import * as wire from '../../chain/tests/wire.mjs';
import { hashJob, writeJob } from './jobs.mjs';
import { Program, getJson, pause, run, scratch, serve, signed, until, weft, work } from './lib.mjs';
import { buildChain, chain, credit, day, found, keyOf, rowsText, tokensOf, twoResults } from './settlement.mjs';

before(buildChain);

describe('the ledger and the chain', { concurrency: 4 }, () => {
  test('what is charged becomes credits once, whatever is killed and whatever a fork takes back', { timeout: 600_000 }, async (t) => {
    const c = await chain(t);
    const [operator, alice, bob] = await Promise.all(['operator', 'alice', 'bob'].map(c.wallet));
    await found(c, operator, [alice, bob]);
    let coordinator = await serve(t);
    const { data } = coordinator;
    const args = () => ['chain', 'credit', '--coordinator', coordinator.url, '--data', data, '--network', c.network, '--json'];
    const credited = async () => { const { code, stdout, stderr } = await run(args()); assert.equal(code, 0, stderr); return JSON.parse(stdout); };
    const free = async (owner) => (await getJson(`${coordinator.url}/v1/ledger?account=owner:${owner}`)).amount ?? 0;

    // Only final charges are credited. A second run credits nothing, and a charge that a fork takes
    // back was never credited.
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

    // The command is killed 20 times at random moments, sometimes with the coordinator. Each fourth
    // time the node delays its answer, so that some commands are at work when they are killed on a
    // machine of any speed.
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

    // A command that is killed and run again deposits once. So does one whose transaction a fork
    // takes back.
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

    // The journal is the record of what was credited: another network's journal is refused, and no
    // second process writes into it.
    fs.appendFileSync(path.join(data, 'chain-credits.txt'), 'open x 0 5\n');
    const broken = await run(args());
    assert.equal(broken.code, 1);
    assert.match(broken.stderr, /Line \d+ of the journal .*chain-credits\.txt is not a valid row\./);
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

    // A stake that a fork takes back never counted. A final stake counts beside the ledger's.
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

    // A stake that begins to unbond stops counting at once, before the unbonding is final.
    await c.ok('bob', 'unstake', '100');
    assert.deepEqual(await read(), { owners: 2, staked: 250 * credit });
    await c.rpc('litesvm_advance', 40);
    assert.deepEqual(await read(), { owners: 2, staked: 250 * credit });

    // A slashed stake does not count either.
    const liar = keyOf(c.file('operator.json'));
    await c.ok('carol', 'device', liar.text);
    const { evidence } = twoResults(c, { program, operator, owner: carol, device: liar, job: '00112233445566778899aabbccddeeff' });
    await c.ok('bob', 'slash', evidence());
    assert.deepEqual(await read(), { owners: 1, staked: 200 * credit });
    assert.equal((await shown('carol')).on_chain, 0);

    // A lost answer changes nothing. The command and the coordinator refuse another wallet.
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

    // A client's deposit pays a worker for a job, as far as the client's voucher allows.
    await c.ok('alice', 'deposit', '900');
    await c.charge('alice', 400 * credit);
    await c.rpc('litesvm_advance', 40);
    await done(['chain', 'credit', ...at, '--data', data, '--network', c.network]);
    await work(t, url, { wallet: c.file('bob.json') });
    await done(['submit', writeJob(scratch(t), hashJob({ rounds: 4096, budget: 300 })), ...at, '--wallet', c.file('alice.json'), '--wait']);
    assert.ok((await credits('bob')).free > 0, 'the job paid its worker');
    await done(['pay', bob, '80', ...at, '--wallet', c.file('alice.json')]);
    const earned = (await credits('bob')).free;

    // The worker settles. Amounts that it does not have, granted credits and less than one credit
    // are refused.
    const most = Math.floor(earned / credit);
    const refused = async (amount, message) => { const { code, stderr } = await run(['chain', 'settle', amount, ...at, '--wallet', c.file('bob.json')]); assert.notEqual(code, 0); assert.match(stderr, message); };
    await refused(String(most + 1), /The balance is/);
    await refused('0.5', /0\.500000 credits cannot be settled: the least amount is 1\.000000/);
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

    // Work after an owner's first row has a part in the emission of the next epoch. The only owner
    // that worked gets all of it.
    await done(['submit', writeJob(scratch(t), hashJob({ rounds: 4096, budget: 100 })), ...at, '--wallet', c.file('alice.json'), '--wait']);
    assert.ok((await getJson(`${url}/v1/settlement`)).owners[0].units > units);

    // Alice takes back what it did not spend, partly out of the ledger. The vault's bound for one
    // epoch leaves some for the next epoch.
    const left = Math.floor((await credits('alice')).free / credit);
    await settle('alice', left);
    const lost = await run(['chain', 'rows', ...at, '--network', c.network, '--out', c.file('lost.csv')]);
    assert.equal(lost.code, 2);
    assert.match(lost.stderr, /Epoch 1 was posted in this network: name its rows with --previous FILE\./);
    const second = await epoch(2, ['--epoch', '2', '--previous', c.file('epoch-1.csv')]);
    assert.equal(second.emitted, 1_000 * credit);
    assert.ok(second.waiting > 0, 'one epoch gives at most a twentieth of the vault');
    assert.ok(second.given <= second.charged);
    const wrong = await run(['chain', 'rows', ...at, '--network', c.network, '--previous', c.file('epoch-1.csv'), '--out', c.file('lost.csv')]);
    assert.match(wrong.stderr, /The rows in .*epoch-1\.csv give in all .*; the rows of the last epoch, 2, give /);
    const swapped = fs.readFileSync(c.file('epoch-2.csv'), 'utf8').split('\n').map((line, i) => (i === 0 ? line : line.replace(/,(\d+),/, (_, index) => `,${1 - Number(index)},`))).join('\n');
    fs.writeFileSync(c.file('swapped.csv'), swapped);
    const other = await run(['chain', 'rows', ...at, '--network', c.network, '--previous', c.file('swapped.csv'), '--out', c.file('lost.csv')]);
    assert.match(other.stderr, /The rows in .*swapped\.csv give the root [0-9a-f]{64}; the rows of the last epoch, 2, give [0-9a-f]{64}\./);
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
    // A part of a deposit that no voucher has charged never became credits, and returns without the
    // ledger.
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
    // The operator pays for bob's claim. The cost is taken off bob's units, and off no credits.
    const costly = JSON.parse(await done(['chain', 'relay', '--rows', c.file('epoch-3.csv'), '--data', data, '--units-per-sol', '1', '--owner', bob, '--network', c.network, '--wallet', c.file('operator.json'), '--yes', '--json']));
    assert.equal(costly.claims, 1);
    const relays = ['--relays', path.join(data, 'chain-relays.txt')];
    const old = fs.readFileSync(c.file('epoch-3.csv'), 'utf8').split('\n').find((line) => line.startsWith(bob)).split(',');
    const cost = Math.ceil(costly.fee_lamports / 1000);  // The cost in millionths of a unit.
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
    // Advances the chain while work runs, so that landed transactions become final soon.
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

    // The page is open after the first claim of all. An owner without a token account must claim by
    // itself.
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

    // The command is killed at random moments, or while the node delays its answer. A fork takes
    // back the transactions that are not final.
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
      // The fork takes back a claim that was sent and is not final.
      if (waits === 'getSignatureStatuses') await c.rpc('litesvm_fork', 1);
      if (i % 4 === 0) await c.rpc('litesvm_faults', [{ method: 'sendTransaction', lose: 1 }, { method: 'getSignatureStatuses', lose: 1, delay: 1 }]);
      await relay(file);
      assert.equal(await tokens(bob) - start.bob, 10 * credit, `epoch ${number}: paid once`);
      const spent = start.lamports - (await c.rpc('getBalance', operator)).value;
      assert.equal(paid(bob) - start.bobs + paid(carol) - start.carols, spent, `epoch ${number}: the fees that were paid are written down once`);
      assert.deepEqual(rows().filter(([state]) => state === 'sent').length, rows().filter(([state]) => state !== 'sent').length, 'nothing is left open');
    }
    assert.ok(killed >= 4, `${killed} of 8 were still at work`);

    // The command does not believe a fee that the claim cannot have cost: it records nothing until
    // a node answers with a possible fee.
    const costly = await epoch(140);
    const believed = { bob: paid(bob), lamports: (await c.rpc('getBalance', operator)).value };
    await c.rpc('litesvm_faults', [{ method: 'getTransaction', overcharge: 1 }]);
    const lied = await passing(() => run(relayed(costly, ['--owner', bob]), { seconds: 120 }));
    assert.notEqual(lied.code, 0);
    assert.match(lied.stderr, /The node says that the transaction \w+ paid 1000000000000000000 lamports, but it can have paid at most \d+/);
    assert.equal(paid(bob), believed.bob);
    await relay(costly, ['--owner', bob]);
    assert.equal(paid(bob) - believed.bob, believed.lamports - (await c.rpc('getBalance', operator)).value);

    // A journal counts at one rate. The cost is taken off bob's units in the rows, not off bob's
    // credits.
    const other = await run(relayed(first).map((word) => (word === '5000' ? '6000' : word)));
    assert.equal(other.code, 2);
    assert.match(other.stderr, /is the journal of another network or coordinator/);
  });
});
