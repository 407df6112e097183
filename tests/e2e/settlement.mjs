// Common code of the end-to-end tests of settlement: a node of the real virtual machine on
// loopback, wallets with lamports, and `weft chain` commands that act for them.
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import * as wire from '../../chain/tests/wire.mjs';
import { Program, root, run, scratch } from './lib.mjs';

/** The program and the virtual machine's packages. */
export const buildChain = () => { execFileSync(path.join(root, 'scripts/build'), ['chain'], { stdio: 'inherit' }); };

export const credit = 1_000_000, day = 86_400;
const seedHead = Buffer.from('302e020100300506032b657004220420', 'hex');

/** A wallet file as a key pair with which the test signs. */
export function keyOf(file) {
  const numbers = Buffer.from(JSON.parse(fs.readFileSync(file, 'utf8')));
  const secret = crypto.createPrivateKey({ key: Buffer.concat([seedHead, numbers.subarray(0, 32)]), format: 'der', type: 'pkcs8' });
  return { key: numbers.subarray(32), text: wire.toBase58(numbers.subarray(32)), sign: (message) => crypto.sign(null, message, secret) };
}
export const u64 = (v) => { const b = Buffer.alloc(8); b.writeBigUInt64LE(BigInt(v)); return b; };
export const tokensOf = (owner, mint) => wire.programAddress([owner, wire.tokenProgram, mint], wire.associatedProgram).key;

/** A node, wallets by name with lamports, and commands that act for one of them. */
export async function chain(t) {
  const node = new Program(t, process.execPath, [path.join(root, 'chain/tests/rpc.mjs')]);
  const [, port] = await node.says(/listening on 127\.0\.0\.1:(\d+)/);
  const url = `http://127.0.0.1:${port}`;
  const folder = scratch(t);
  const file = (name) => path.join(folder, name);
  const rpc = async (method, ...params) => {
    const answer = await fetch(url, { method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }) });
    const { result, error } = await answer.json();
    assert.equal(error, undefined, `${method}: ${JSON.stringify(error)}`);
    return result;
  };
  const wallet = async (name) => {
    const made = await run(['wallet', 'new', '--file', file(`${name}.json`), '--json']);
    assert.equal(made.code, 0, made.stderr);
    const { key } = JSON.parse(made.stdout);
    await rpc('requestAirdrop', key, 20_000_000_000);
    return key;
  };
  const network = file('chain.json');
  const as = (name, args) => run(['chain', ...args, '--network', network, ...(name ? ['--wallet', file(`${name}.json`)] : []), '--json']);
  const status = async (owner) => { const { code, stdout, stderr } = await as(null, ['status', ...(owner ? ['--owner', owner] : [])]); assert.equal(code, 0, stderr); return JSON.parse(stdout); };
  /** Runs `weft chain` with the arguments for a wallet, and checks that the money adds up afterwards. */
  const ok = async (name, ...args) => {
    const { code, stdout, stderr } = await as(name, [...args, '--yes']);
    assert.equal(code, 0, `${args.join(' ')}: ${stderr}${stdout}`);
    assert.match(stderr, /This costs 0\.0\d+ SOL/, 'the costs are shown');
    const s = await status();
    assert.equal(s.vault, s.deposits - s.withdrawals - s.claimed_spends - s.fees, `after ${args.join(' ')}: the vault holds what it should`);
    assert.ok(s.claimed_spends <= s.final_spends && s.final_spends <= s.charged && s.claimed_emission <= s.final_emission);
    return JSON.parse(stdout);
  };
  const refused = async (name, args, code, message) => {
    const found = await as(name, [...args, '--yes']);
    assert.equal(found.code, code, `${args.join(' ')}: ${found.stderr}${found.stdout}`);
    assert.match(found.stderr, message);
    assert.equal(found.stdout, '');
  };
  /** Moves tokens from one wallet to another, by the token program itself. */
  const give = async (from, to, amount, mint) => {
    const payer = keyOf(file(`${from}.json`)), owner = wire.fromBase58(to), mintKey = wire.fromBase58(mint);
    const { value: { blockhash } } = await rpc('getLatestBlockhash');
    const account = tokensOf(owner, mintKey);
    const instructions = [
      { program: wire.associatedProgram, data: Buffer.from([1]), accounts: [{ key: payer.key, signer: true, writable: true }, { key: account, writable: true }, { key: owner }, { key: mintKey }, { key: wire.systemProgram }, { key: wire.tokenProgram }] },
      { program: wire.tokenProgram, data: Buffer.concat([Buffer.from([3]), u64(amount)]), accounts: [{ key: tokensOf(payer.key, mintKey), writable: true }, { key: account, writable: true }, { key: payer.key, signer: true }] },
    ];
    await rpc('sendTransaction', wire.transaction(instructions, payer, [payer], wire.fromBase58(blockhash)).toString('base64'), { encoding: 'base64' });
  };
  const charged = {};
  /** Raises the voucher of the wallet by an amount of micro-credits, and charges it as the operator. */
  const charge = async (name, amount) => {
    charged[name] = (charged[name] ?? 0) + amount;
    const { code, stdout, stderr } = await as(name, ['voucher', (charged[name] / 1e6).toFixed(6)]);
    assert.equal(code, 0, stderr);
    fs.writeFileSync(file(`voucher-${name}.json`), stdout);
    return ok('operator', 'charge', file(`voucher-${name}.json`));
  };
  return { url, file, rpc, wallet, network, as, ok, refused, status, give, charge };
}
export const rowsText = (rows, sorted = true) => {
  const lines = rows.map(({ owner, index, amount, units }) => [wire.fromBase58(owner), `${owner},${index},${amount},${units}`]);
  if (sorted) lines.sort(([a], [b]) => Buffer.compare(a, b));
  return ['owner,index,amount,units', ...lines.map(([, line]) => line), ''].join('\n');
};

/** Makes a network in the shortest way: its program, its mint and tokens for `people`. `more`: further arguments of `weft chain init`. */
export async function found(c, operator, people, more = []) {
  const place = ['--rpc', c.url, '--wallet', c.file('operator.json'), '--json', '--yes'];
  const deployed = await run(['chain', 'deploy', '--elf', path.join(root, 'build/chain/weft.so'), '--program-key', c.file('program.json'), ...place]);
  assert.equal(deployed.code, 0, deployed.stderr);
  const { program } = JSON.parse(deployed.stdout);
  const made = await run(['chain', 'init', '--program', program, '--mint-key', c.file('mint.json'), '--out', c.network, '--founders-amount', '60000', '--guardian', operator, ...place, ...more]);
  assert.equal(made.code, 0, made.stderr);
  const { mint } = JSON.parse(made.stdout);
  for (const one of people) await c.give('operator', one, 1_000 * credit, mint);
  return { program, mint };
}

/** Makes the evidence file that `weft chain slash` reads: a device of an owner signed two results of task 7, attempt 2. */
export function twoResults(c, { program, operator, owner, device, job }) {
  const session = wire.sha256('session'), hex = (bytes) => bytes.toString('hex');
  const signedResult = (word, siblings) => {
    const number = Buffer.alloc(8);
    number.writeUInt32LE(7, 0);
    number.writeUInt32LE(2, 4);
    const result = wire.sha256(word), claim = wire.sha256('weft-claim-2', Buffer.from(job, 'hex'), number, result);
    const root = siblings.reduce((node, sibling, i) => (i & 1 ? wire.sha256(Buffer.from([1]), sibling, node) : wire.sha256(Buffer.from([1]), node, sibling)), wire.sha256(Buffer.from([0]), claim));
    const nonce = wire.sha256('worker', word);
    const message = wire.sha256('weft-receipt-2', Buffer.alloc(32, 5), wire.fromBase58(program), wire.fromBase58(operator), session, nonce, root);
    return { result: hex(result), session: hex(session), worker: hex(nonce), siblings: siblings.map(hex), sides: siblings.reduce((bits, _, i) => bits | (i & 1) << i, 0), signature: wire.toBase58(device.sign(message)) };
  };
  const evidence = (change = {}) => {
    fs.writeFileSync(c.file('two.json'), JSON.stringify({ owner, device: device.text, job, task: 7, attempt: 2, first: signedResult('a', [wire.sha256('s'), wire.sha256('t')]), second: signedResult('b', []), ...change }));
    return c.file('two.json');
  };
  return { signedResult, evidence };
}
