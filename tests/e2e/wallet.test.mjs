// The page Wallet in a real Chromium, with a wallet of the Wallet Standard that the test provides,
// against a real coordinator and the real virtual machine behind a node on loopback. No public
// cluster is used.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { before, test } from 'node:test';
import { browse, byId, picture } from './browser.mjs';
import * as wire from '../../chain/tests/wire.mjs';
import { run, scratch, serve, until } from './lib.mjs';
import { violations } from './pages.mjs';
import { buildChain, chain, credit, day, found, keyOf, rowsText } from './settlement.mjs';

before(buildChain);

/** Runs in the page: a wallet that announces itself like an extension, and signs through the test. */
function testWallet(address) {
  const account = { address, publicKey: new Uint8Array(32), chains: ['solana:mainnet'], features: ['solana:signTransaction'] };
  const wallet = {
    version: '1.0.0', name: 'Test wallet', icon: 'data:image/svg+xml,', chains: ['solana:mainnet'], accounts: [],
    features: {
      'standard:connect': { version: '1.0.0', connect: async () => ({ accounts: [account] }) },
      'solana:signTransaction': {
        version: '1.0.0', supportedTransactionVersions: ['legacy', 0],
        signTransaction: (...inputs) => Promise.all(inputs.map(async ({ transaction }) => ({ signedTransaction: Uint8Array.from(await window.weftSign([...transaction])) }))),
      },
    },
  };
  const introduce = (api) => api.register(wallet);
  window.dispatchEvent(new CustomEvent('wallet-standard:register-wallet', { detail: introduce }));
  window.addEventListener('wallet-standard:app-ready', ({ detail }) => introduce(detail));
}

test('an owner connects a wallet, claims, closes the tab on the way, stakes and leaves', { timeout: 600_000 }, async (t) => {
  const c = await chain(t);
  const [operator, bob] = await Promise.all(['operator', 'bob'].map(c.wallet));
  await found(c, operator, []);
  const data = scratch(t), epochs = path.join(data, 'epochs');
  fs.mkdirSync(epochs, { recursive: true });
  const epoch = async (number, amount) => {
    const file = path.join(epochs, `epoch-${number}.csv`);
    fs.writeFileSync(file, rowsText([{ owner: bob, index: 0, amount: amount * credit, units: amount }, { owner: operator, index: 1, amount: credit, units: 1 }]));
    await c.rpc('litesvm_warp', day);
    await c.ok('operator', 'post', String(number), '--rows', file, '--emission', String(number === 1 ? amount + 1 : amount - 90));
    await c.rpc('litesvm_warp', day / 2);
    await c.ok('operator', 'finalise');
    return file;
  };
  await epoch(1, 90);
  const { url } = await serve(t, { data, args: ['--settlement', c.network] });

  const { context, page, complaints } = await browse(t, { webgpu: false });
  const signer = keyOf(c.file('bob.json'));
  const signed = [];
  await context.exposeFunction('weftSign', (numbers) => {
    const bytes = Buffer.from(numbers), message = bytes.subarray(1 + 64 * bytes[0]);
    signed.push(message);
    signer.sign(message).copy(bytes, 1);
    return [...bytes];
  });
  await context.addInitScript(testWallet, bob);
  const open = async (at) => { await at.goto(`${url}/wallet`); return at; };
  const connect = async (at) => { await at.getByRole('button', { name: 'Test wallet' }).click(); await byId(at, 'tokens').waitFor(); };
  const shows = (at, id, value) => byId(at, id).getByText(value, { exact: true }).or(byId(at, id).filter({ hasText: value })).first().waitFor();
  const tokens = async () => (await c.status(bob)).owner.tokens;

  // Opens the page by its link and connects the wallet. The page says what will be signed before
  // the wallet signs it.
  await page.goto(url);
  await page.getByRole('link', { name: 'Wallet' }).click();
  await connect(page);
  await shows(page, 'due', '90.000000');
  await shows(page, 'staked', '0.000000');
  assert.deepEqual(await violations(page), []);
  await page.getByRole('button', { name: 'Claim', exact: true }).click();
  const confirm = byId(page, 'confirm');
  await confirm.getByText('Claims 90.000000 credits of epoch 1, into this wallet.').waitFor();
  await confirm.getByText(/^Opens the page of claimed amounts/).waitFor();
  assert.match(await byId(page, 'costs').textContent(), /^This costs 0\.0\d+ SOL: 0\.00001 SOL in fees, 0\.0\d+ SOL in rent of new accounts\.$/);
  assert.deepEqual(await violations(page), []);
  await picture(page, 'wallet-confirm');
  await confirm.getByRole('button', { name: 'Cancel' }).click();
  await confirm.waitFor({ state: 'detached' });
  assert.equal(signed.length, 0, 'nothing is signed without a yes');
  await page.getByRole('button', { name: 'Claim', exact: true }).click();
  await confirm.getByRole('button', { name: 'Sign and send' }).click();
  await byId(page, 'done').getByText('Claims 90.000000 credits of epoch 1').waitFor();
  await shows(page, 'tokens', '90.000000');
  await shows(page, 'due', '0.000000');
  assert.equal(await page.getByRole('button', { name: 'Claim', exact: true }).isDisabled(), true);
  assert.equal(await tokens(), 90 * credit);
  assert.equal(signed.length, 2, 'the page of claimed amounts, and the claim');

  // The tab is closed while the node accepts nothing. The next visit follows the same bytes to the
  // end, without the wallet.
  const second = await epoch(2, 150);
  await open(page);
  await connect(page);
  await shows(page, 'due', '60.000000');
  await c.rpc('litesvm_faults', [{ method: 'sendTransaction', swallow: 1000 }]);
  await page.getByRole('button', { name: 'Claim', exact: true }).click();
  await confirm.getByRole('button', { name: 'Sign and send' }).click();
  await byId(page, 'sending').getByText('Claims 60.000000 credits of epoch 2').waitFor();
  await page.close();
  assert.equal(await tokens(), 90 * credit);
  await c.rpc('litesvm_faults', []);
  const later = await open(await context.newPage());
  await byId(later, 'done').getByText('Claims 60.000000 credits of epoch 2').waitFor();
  assert.equal(await tokens(), 150 * credit);
  assert.equal(signed.length, 3, 'it was signed once');
  await later.reload();
  await later.getByRole('button', { name: 'Test wallet' }).waitFor();
  assert.equal(await byId(later, 'done').count() + await byId(later, 'sending').count(), 0, 'what is seen through is not followed again');

  // The wallet stakes, unbonds and withdraws.
  await connect(later);
  const act = async (label, amount, sentence) => {
    await later.getByLabel(`${label}, in credits`).fill(amount);
    await later.getByRole('button', { name: label, exact: true }).click();
    await byId(later, 'confirm').getByText(sentence).waitFor();
    await byId(later, 'confirm').getByRole('button', { name: 'Sign and send' }).click();
    await byId(later, 'done').getByText(sentence).waitFor();
  };
  await later.getByLabel('Stake, in credits').fill('a few');
  await later.getByRole('button', { name: 'Stake', exact: true }).click();
  await later.getByRole('alert').getByText('An amount of credits').waitFor();
  await later.getByLabel('Stake, in credits').fill('1000');
  await later.getByRole('button', { name: 'Stake', exact: true }).click();
  await later.getByRole('alert').getByText(/The transaction would fail/).waitFor();
  await act('Stake', '30', /^Stakes 30\.000000 credits\. Leaving takes 14 days;/);
  await shows(later, 'staked', '30.000000');
  // The wallet's owner makes a proposal and votes on it in the page with its stake.
  await c.rpc('litesvm_warp', 60);
  await c.ok('bob', 'propose', 'set', 'fee_bps', '200');
  await later.reload();
  await connect(later);
  const proposal = byId(later, 'proposal-0');
  await proposal.getByText('0. Set fee_bps to 200').waitFor();
  await proposal.getByText('The vote ends in 3 days.').waitFor();
  await proposal.getByRole('button', { name: 'Vote yes' }).click();
  await byId(later, 'confirm').getByText('Votes yes on proposal 0: "Set fee_bps to 200". The whole stake votes, and is locked to the end of the vote.').waitFor();
  await byId(later, 'confirm').getByRole('button', { name: 'Sign and send' }).click();
  await proposal.getByText('You voted yes.').waitFor();
  await proposal.getByText('30.000000 credits for it').waitFor();
  await later.getByText('The stake has voted and is locked for 3 days.').waitFor();
  await c.rpc('litesvm_warp', 4 * day);
  await later.reload();
  await connect(later);
  await proposal.getByText('Accepted; it can be carried out in').waitFor();
  await act('Unbond', '10.5', /^Begins to unbond 10\.500000 credits of the stake\. It is paid out after 14 days/);
  await shows(later, 'unbonding', '10.500000');
  await byId(later, 'unbond-at').getByText('in 14 days').waitFor();
  await picture(later, 'wallet');
  assert.deepEqual((({ amount, unbonding }) => ({ amount, unbonding }))((await c.status(bob)).owner.stake), { amount: 19.5 * credit, unbonding: 10.5 * credit });
  await c.rpc('litesvm_warp', 15 * day);
  await later.reload();
  await connect(later);
  await later.getByRole('button', { name: 'Pay out what has unbonded' }).click();
  await byId(later, 'confirm').getByRole('button', { name: 'Sign and send' }).click();
  await byId(later, 'done').getByText('Pays out the 10.500000 credits').waitFor();
  await until(async () => await tokens() === (150 - 30 + 10.5) * credit, 'the stake is back');

  // The page refuses rows that do not give the root on the chain, and says so.
  fs.writeFileSync(second, fs.readFileSync(second, 'utf8').replace(`,${150 * credit},`, `,${151 * credit},`));
  await later.reload();
  await connect(later);
  await byId(later, 'earnings-note').getByText('do not make the root on the chain').waitFor();
  assert.equal(await later.getByRole('button', { name: 'Claim', exact: true }).count(), 0);
  assert.deepEqual(complaints.filter((text) => !/ERR_EMPTY_RESPONSE|ERR_CONNECTION|Failed to load resource/.test(text)), []);
});

test('a receipt of a device is checked in the page, and one that was changed is refused', { timeout: 300_000 }, async (t) => {
  const c = await chain(t);
  const [operator, bob] = await Promise.all(['operator', 'bob', 'device'].map(c.wallet));
  await found(c, operator, []);
  const device = keyOf(c.file('device.json'));
  await c.ok('bob', 'device', device.text);
  const { program } = JSON.parse(fs.readFileSync(c.network, 'utf8'));
  const genesis = Buffer.alloc(32, 5), hex = (bytes) => bytes.toString('hex');
  const [session, worker] = ['session', 'worker'].map((word) => wire.sha256(word));
  const claims = ['one', 'two', 'three'].map((word, i) => ({ job: hex(wire.sha256(word).subarray(0, 16)), task: i, attempt: 1, result: hex(wire.sha256(word, 'result')) }));
  const u32 = (number) => { const out = Buffer.alloc(4); out.writeUInt32LE(number); return out; };
  const leaves = claims.map(({ job, task, attempt, result }) => wire.sha256(Buffer.from([0]), wire.sha256('weft-claim-2', Buffer.from(job, 'hex'), u32(task), u32(attempt), Buffer.from(result, 'hex'))));
  const node = (left, right) => wire.sha256(Buffer.from([1]), left, right);
  const root = node(node(leaves[0], leaves[1]), leaves[2]);
  const signature = wire.toBase58(device.sign(wire.sha256('weft-receipt-2', genesis, wire.fromBase58(program), wire.fromBase58(operator), session, worker, root)));
  const receipt = { owner: bob, device: device.text, session: hex(session), worker: hex(worker), root: hex(root), claims, signature };
  // The program on the chain accepts the receipt that the page checks below.
  await c.ok('operator', 'receipt', 'record', bob, device.text, signature, '--session', hex(session), '--worker', hex(worker), '--root', hex(root));

  const { url } = await serve(t, { args: ['--settlement', c.network] });
  const { context, page, complaints } = await browse(t, { webgpu: false });
  await context.addInitScript(testWallet, bob);
  await page.goto(`${url}/wallet`);
  // Reads the page's verdict on a file. Each file has a name of its own, so that a wrong verdict
  // fails at once instead of being waited for.
  let files = 0;
  const fileOf = (name, value) => ({ name, mimeType: 'application/json', buffer: Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)) });
  const said = async (name) => { const one = byId(page, 'receipt-checked').filter({ hasText: `${name}: this receipt` }); await one.waitFor(); return one.innerText(); };
  const check = async (value) => {
    const name = `receipt-${++files}.json`;
    await page.getByLabel('Receipts’ files').setInputFiles(fileOf(name, value));
    return said(name);
  };
  const holds = async (value, ...sentences) => {
    const found = await check(value);
    assert.match(found, /: this receipt holds\./);
    for (const sentence of sentences) assert.ok(found.includes(sentence), `${sentence} is missing in: ${found}`);
  };
  const refused = async (value, sentence) => {
    const found = await check(value);
    assert.match(found, /: this receipt is refused\./);
    assert.ok(found.includes(sentence), `${sentence} is missing in: ${found}`);
  };
  await holds(receipt, 'The receipt’s 3 claims give the signed root.', 'The device has signed the receipt for this network and its coordinator.',
    `The chain names ${device.text} as a device of its owner.`, 'The receipt has been recorded on the chain since 20');
  assert.deepEqual(await violations(page), []);
  await refused({ ...receipt, claims: claims.map((claim, i) => (i === 1 ? { ...claim, result: hex(wire.sha256('another')) } : claim)) }, 'The receipt’s claims do not give the signed root.');
  await refused({ ...receipt, worker: hex(wire.sha256('another')) }, 'The device has not signed the receipt for this network and its coordinator.');
  await refused({ ...receipt, owner: operator }, 'The chain does not name this device for this owner.');
  await refused('{', 'This file is not JSON.');
  await holds(receipt);

  // Several files at once make a list, and each is checked by itself. The page says of one that it
  // is not recorded.
  const nonce = wire.sha256('another worker');
  const unrecorded = { ...receipt, worker: hex(nonce), signature: wire.toBase58(device.sign(wire.sha256('weft-receipt-2', genesis, wire.fromBase58(program), wire.fromBase58(operator), session, nonce, root))) };
  await page.getByLabel('Receipts’ files').setInputFiles([fileOf('first.json', receipt), fileOf('second.json', unrecorded), fileOf('third.json', { ...receipt, session: hex(wire.sha256('x')) })]);
  assert.match(await said('first.json'), /this receipt holds\.[^]*The receipt has been recorded on the chain since/);
  assert.match(await said('second.json'), /this receipt holds\.[^]*The receipt is not recorded on the chain\./);
  assert.match(await said('third.json'), /this receipt is refused\./);
  // A changed file with a known name is checked again, and its row in the list is replaced.
  await page.getByLabel('Receipts’ files').setInputFiles(fileOf('first.json', unrecorded));
  await byId(page, 'receipt-checked').filter({ hasText: 'first.json' }).getByText('The receipt is not recorded on the chain.').waitFor();
  assert.equal(await byId(page, 'receipt-checked').filter({ hasText: 'first.json' }).count(), 1);
  assert.deepEqual(await violations(page), []);

  // The page lists the recorded receipts of the wallet's devices, each with the file that was
  // checked for it.
  await page.getByRole('button', { name: 'Test wallet' }).click();
  const recorded = byId(page, 'receipt-recorded');
  await recorded.waitFor();
  assert.equal(await recorded.count(), 1);
  assert.match(await recorded.innerText(), new RegExp(`Of ${device.text}, recorded 20[^]*The chain names ${device.text} as a device of its owner\\.[^]*Its claims were checked: receipt-`));
  assert.deepEqual(await violations(page), []);
  // The owner is liable for an ended device until the device's evidence window has passed.
  await c.ok('bob', 'device', device.text, '--end');
  await holds(receipt);
  await c.rpc('litesvm_warp', 60 * day);
  await refused(receipt, 'The owner has ended this device, and its stake no longer answers for it.');
  await recorded.getByText('The owner has ended this device, and its stake no longer answers for it.').waitFor();
  assert.deepEqual(complaints, []);
});

test('a coordinator without settlement says so, and one with a wrong file does not start', { timeout: 120_000 }, async (t) => {
  const { url } = await serve(t);
  assert.equal((await fetch(`${url}/v1/settlement/network`)).status, 404);
  assert.equal((await fetch(`${url}/v1/settlement/rows/1`)).status, 404);
  assert.match((await fetch(`${url}/wallet`)).headers.get('content-security-policy'), /connect-src 'self';/);
  const { page, complaints } = await browse(t, { webgpu: false });
  await page.goto(`${url}/wallet`);
  await page.getByText('This coordinator does not settle on a chain.').waitFor();
  assert.deepEqual(complaints.filter((text) => !/404/.test(text)), []);

  const file = path.join(scratch(t), 'chain.json');
  const mint = 'So11111111111111111111111111111111111111112';
  for (const rpc of ["http://127.0.0.1:9 'unsafe-eval'", 'ftp://127.0.0.1', "https://a;script-src *"]) {
    fs.writeFileSync(file, JSON.stringify({ rpc, program: mint, mint }));
    const refused = await run(['serve', '--listen', '127.0.0.1:0', '--data', scratch(t), '--settlement', file], { seconds: 20 });
    assert.equal(refused.code, 2, refused.stdout);
    assert.match(refused.stderr, /is not a valid http:\/\/ or https:\/\/ address/);
  }
  fs.writeFileSync(file, JSON.stringify({ rpc: 'http://127.0.0.1:9/path?key=1', program: mint, mint }));
  const named = await serve(t, { args: ['--settlement', file] });
  assert.match((await fetch(`${named.url}/wallet`)).headers.get('content-security-policy'), /connect-src 'self' http:\/\/127\.0\.0\.1:9;/);
  for (const [epoch, status] of [['1', 404], ['x', 400], ['12345678901', 400], ['..%2f..%2fcoordinator.json', 404]]) assert.equal((await fetch(`${named.url}/v1/settlement/rows/${epoch}`)).status, status, epoch);
});
