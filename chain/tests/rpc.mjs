#!/usr/bin/env node
// A Solana JSON-RPC server that passes calls to the real virtual machine (LiteSVM), for tests, on
// loopback only:
//   node chain/tests/rpc.mjs [--port 0] [--wall-clock]      prints the port that it listens on
//
// It behaves like a cluster. A blockhash is valid for 150 slots. The same bytes land once. A
// transaction that fails in a block leaves a status and costs its fee. Confirmations grow with
// slots: processed at once, confirmed after 2 slots, finalized after 32, which getProgramAccounts
// can be asked for. A slot passes with each landed transaction, each time that the height is asked
// for, and with litesvm_advance.
//
// Calls that only this server has: litesvm_advance [SLOTS]; litesvm_warp [SECONDS]; litesvm_fork
// [K] (builds the machine again from its log without the last K transactions); litesvm_patch [KEY,
// AT, BASE64] (writes bytes into an account, as a defect of the program would); litesvm_faults
// [{method, lose, swallow, double, delay, hold, overcharge}] (the next answers are lost after the
// request was carried out; requests are swallowed before, carried out twice, answered late, never
// answered, or answered with a fee of 10^18 lamports); litesvm_held (how many requests were never
// answered).
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { parseArgs } from 'node:util';
import { fromBase58, toBase58 } from './wire.mjs';

const { values: option } = parseArgs({ options: { port: { type: 'string', default: '0' }, 'wall-clock': { type: 'boolean' } } });
const native = createRequire(import.meta.url)('litesvm/dist/internal.js');
const blockhash_slots = 150, finalized_slots = 32;
const bad = (message, code = -32602, data) => Object.assign(new Error(message), { code, data });
const key = (text) => { if (typeof text !== 'string' || text.length > 44) throw bad('Invalid param: not a key'); try { const bytes = fromBase58(text); if (bytes.length !== 32) throw bad('Invalid param: WrongSize'); return bytes; } catch (error) { throw error.code ? error : bad('Invalid param: Invalid'); } };

// The chain: a machine, and the log of the calls that led to its state.
let svm, landed, hashes, height, order, recent;
const log = [];
function reset() {
  svm = new native.LiteSvm();
  svm.setTransactionHistory(0n);
  svm.setBlockhashCheck(false); // This server itself keeps the last 150 blockhashes.
  landed = new Map(); // signature -> { slot, err, logs, units, keys }
  order = [];
  // For each transaction that a fork can still take back, the earlier state of the accounts that it
  // could change: { slot, before }.
  recent = [];
  hashes = new Map();
  height = 0;
  pass(1);
}
const slot = () => Number(svm.getClock().slot);
function pass(slots) {
  const clock = svm.getClock();
  clock.slot += BigInt(slots);
  if (option['wall-clock']) clock.unixTimestamp = BigInt(Math.floor(Date.now() / 1000));
  svm.setClock(clock);
  height += slots;
  svm.expireBlockhash();
  hashes.set(svm.latestBlockhash(), height);
  return slot();
}
function parts(raw) {
  const count = raw[0], message = raw.subarray(1 + 64 * count);
  let at = (message[0] & 0x80 ? 1 : 0) + 3, keys = message[at];
  at += keys < 128 ? 1 : ((keys = (keys & 127) | (message[at + 1] << 7)), 2);
  return { signature: toBase58(raw.subarray(1, 65)), blockhash: toBase58(message.subarray(at + 32 * keys, at + 32 * keys + 32)), keys: Array.from({ length: keys }, (_, i) => toBase58(message.subarray(at + 32 * i, at + 32 * i + 32))) };
}
// The writable keys of a message without lookup tables.
function writableKeys(raw) {
  const { keys } = parts(raw), at = 1 + 64 * raw[0] + (raw[1 + 64 * raw[0]] & 0x80 ? 1 : 0), [signers, signersRead, othersRead] = raw.subarray(at, at + 3);
  return keys.filter((_, i) => (i < signers ? i < signers - signersRead : i < keys.length - othersRead));
}
// Errors in a cluster's form; the native module names its errors only in their debug text.
function errorOf(failed) {
  const m = /err: (?:InstructionError\((\d+), (\w+)(?:\((\d+)\))?|(\w+))/.exec(failed.toString());
  return !m ? 'Unknown' : m[4] ?? { InstructionError: [Number(m[1]), m[3] === undefined ? m[2] : { [m[2]]: Number(m[3]) }] };
}
function outcome(result) {
  const failed = result instanceof native.FailedTransactionMetadata, meta = result.meta ? result.meta() : result;
  return { err: failed ? errorOf(result) : null, logs: meta.logs(), units: Number(meta.computeUnitsConsumed()) };
}
// The calls that change the chain; each is written into the log and can be played again.
const steps = {
  send(raw) {
    const { signature, blockhash, keys } = parts(raw);
    if (landed.has(signature)) return { err: 'AlreadyProcessed', logs: [], units: 0 };
    if (!hashes.has(blockhash) || hashes.get(blockhash) + blockhash_slots < height) return { err: 'BlockhashNotFound', logs: [], units: 0 };
    const before = writableKeys(raw).map((one) => [one, svm.getAccount(fromBase58(one))]);
    const payer = fromBase58(keys[0]), held = svm.getBalance(payer) ?? 0n;
    const result = outcome(svm.sendVersionedTransaction(raw));
    if (typeof result.err === 'string') return result; // The transaction never reached a block.
    // Equals the fee if the payer moves no other lamports.
    result.paid = Number(held - (svm.getBalance(payer) ?? 0n));
    while (recent.length && slot() - recent[0].slot >= finalized_slots) recent.shift();
    recent.push({ slot: slot(), before });
    landed.set(signature, { slot: slot(), keys, ...result });
    order.push(signature);
    pass(1);
    return result;
  },
  advance: (slots) => pass(slots),
  warp(seconds) { const clock = svm.getClock(); clock.unixTimestamp += BigInt(seconds); svm.setClock(clock); return Number(clock.unixTimestamp); },
  patch(one, at, bytes) {
    const found = svm.getAccount(key(one)), data = Buffer.from(found.data());
    Buffer.from(bytes, 'base64').copy(data, at);
    svm.setAccount(key(one), new native.Account(found.lamports(), data, found.owner(), found.executable(), 0n));
    return data.length;
  },
  airdrop(to, lamports) { svm.airdrop(key(to), BigInt(lamports)); return pass(1); },
};
const act = (name, ...values) => { const at = slot(), result = steps[name](...values); if (name !== 'send' || typeof result.err !== 'string') log.push([name, values, at]); return result; };
reset();
steps.warp(1_800_000_000);
log.push(['warp', [1_800_000_000]]);

const context = (value) => ({ context: { slot: slot(), apiVersion: '2.0.0' }, value });
const whole = (value) => { const n = Number(value); if (!Number.isSafeInteger(n) || n < 0) throw bad('Invalid param: not a number'); return n; };
function wire([text, { encoding } = {}]) {
  if (encoding !== 'base64') throw bad('only base64 transactions are taken');
  const raw = Buffer.from(String(text), 'base64');
  if (raw.length < 134 || raw.length > 1232) throw bad(`transaction of ${raw.length} bytes (1232 at most)`);
  if (raw[0] < 1 || raw[0] > 12) throw bad('no signatures');
  return raw;
}
const account = (text) => shown(svm.getAccount(key(text)));
function shown(found) {
  return found && found.lamports() > 0n ? { data: [Buffer.from(found.data()).toString('base64'), 'base64'], executable: found.executable(), lamports: Number(found.lamports()), owner: toBase58(found.owner()), rentEpoch: 18446744073709552000, space: found.data().length } : null;
}
function simulated(raw, verify) {
  const { blockhash } = parts(raw);
  if (!hashes.has(blockhash) || hashes.get(blockhash) + blockhash_slots < height) return { err: 'BlockhashNotFound', logs: [], units: 0 };
  svm.setSigverify(verify);
  try { return outcome(svm.simulateVersionedTransaction(raw)); } catch (error) { throw bad('failed to deserialize transaction: ' + error.message); } finally { svm.setSigverify(true); }
}
// A program's accounts: [address, account]. With `settled` they are without the transactions that a
// fork can still take: in the state that the oldest of these transactions found.
function accountsOf(program, settled) {
  const found = new Map(svm.getProgramAccounts(key(program)).map((row) => [toBase58(row.address), row.account()]));
  if (settled) for (const { slot: at, before } of recent.toReversed()) if (slot() - at < finalized_slots) for (const [one, was] of before)
    if (was && was.lamports() > 0n && toBase58(was.owner()) === program) found.set(one, was); else found.delete(one);
  return [...found];
}
const inContext = (wanted, settled, value) => (wanted ? { context: { slot: Math.max(0, slot() - (settled ? finalized_slots : 0)), apiVersion: '2.0.0' }, value } : value);
const ripe = (since) => (slot() - since >= finalized_slots ? 'finalized' : slot() > since + 1 ? 'confirmed' : 'processed');

const methods = {
  getHealth: () => 'ok',
  getVersion: () => ({ 'solana-core': '2.0.0', 'feature-set': 0 }),
  getGenesisHash: () => toBase58(Buffer.alloc(32, 5)),
  getSlot: () => slot(),
  getBlockHeight: () => { act('advance', 1); return height; },
  getLatestBlockhash: () => context({ blockhash: svm.latestBlockhash(), lastValidBlockHeight: height + blockhash_slots }),
  getMinimumBalanceForRentExemption: ([bytes]) => Number(svm.minimumBalanceForRentExemption(BigInt(whole(bytes)))),
  getBalance: ([one]) => context(Number(svm.getBalance(key(one)) ?? 0n)),
  getAccountInfo: ([one]) => context(account(one)),
  getMultipleAccounts: ([many]) => { if (!Array.isArray(many) || many.length > 100) throw bad('Too many inputs provided; max 100'); return context(many.map(account)); },
  getProgramAccounts: ([program, { filters = [], commitment, withContext } = {}]) => inContext(withContext, commitment === 'finalized', accountsOf(program, commitment === 'finalized')
    .filter(([, one]) => filters.every(({ dataSize, memcmp }) => (dataSize === undefined || one.data().length === dataSize) && (!memcmp || Buffer.from(one.data()).subarray(memcmp.offset).indexOf(Buffer.from(memcmp.bytes, 'base64')) === 0)))
    .map(([pubkey, one]) => ({ pubkey, account: shown(one) }))),
  getSignaturesForAddress: ([one, { limit = 1000 } = {}]) => order.filter((signature) => landed.get(signature).keys.includes(one)).reverse().slice(0, limit)
    .map((signature) => { const { slot: at, err } = landed.get(signature); return { signature, slot: at, err, memo: null, blockTime: null, confirmationStatus: ripe(at) }; }),
  getRecentPrioritizationFees: () => Array.from({ length: 5 }, (_, i) => ({ slot: slot() - i, prioritizationFee: 1_000 * i })),
  requestAirdrop: ([one, lamports]) => { act('airdrop', String(one), whole(lamports)); return toBase58(Buffer.alloc(64, 1)); },
  simulateTransaction: (values) => { const { err, logs, units } = simulated(wire(values), values[1]?.sigVerify === true); return context({ err, logs, unitsConsumed: units, accounts: null, returnData: null }); },
  sendTransaction: (values) => {
    const raw = wire(values), { signature } = parts(raw);
    const refuse = ({ err, logs, units }) => { throw bad('Transaction simulation failed: ' + JSON.stringify(err), -32002, { err, logs, unitsConsumed: units }); };
    if (landed.has(signature)) refuse({ err: 'AlreadyProcessed', logs: [], units: 0 });
    if (!values[1].skipPreflight) { const first = simulated(raw, true); if (first.err) refuse(first); }
    const result = act('send', raw);
    if (typeof result.err === 'string' && !values[1].skipPreflight) refuse(result);
    return signature;
  },
  getSignatureStatuses: ([signatures]) => context(signatures.map((one) => { const found = landed.get(one); return found ? { slot: found.slot, confirmations: ripe(found.slot) === 'finalized' ? null : slot() - found.slot, err: found.err, status: found.err ? { Err: found.err } : { Ok: null }, confirmationStatus: ripe(found.slot) } : null; })),
  getTransaction: ([one]) => { const found = landed.get(one); return found ? { slot: found.slot, blockTime: null, meta: { err: found.err, fee: found.paid, logMessages: found.logs, computeUnitsConsumed: found.units } } : null; },
  litesvm_advance: ([slots]) => act('advance', whole(slots ?? 1)),
  litesvm_warp: ([seconds]) => act('warp', whole(seconds)),
  litesvm_patch: ([one, at, bytes]) => act('patch', String(one), whole(at), String(bytes)),
  litesvm_fork: ([k]) => {
    const sends = log.flatMap(([name], i) => (name === 'send' ? [i] : [])), gone = new Set(sends.slice(sends.length - Math.min(whole(k), sends.length)));
    const kept = log.filter((_, i) => !gone.has(i));
    const dropped = gone.size;
    log.length = 0;
    reset();
    for (const [name, values] of kept) act(name, ...values);
    // The other branch has the same length: blockhashes of the lost branch are forgotten, the
    // height is not.
    if (dropped) act('advance', dropped); // Written into the log: a later fork plays it again.
    return dropped;
  },
  litesvm_faults: ([list]) => { faults = list.map((one) => ({ ...one })); return faults.length; },
  litesvm_held: () => held,
};

let held = 0;
let faults = []; // Each fault applies to the given number of next requests of its method.
function faultOf(method) {
  for (const one of faults) if (!one.method || one.method === method)
    for (const kind of ['swallow', 'lose', 'double', 'delay', 'hold', 'overcharge']) if (one[kind] > 0) { --one[kind]; return kind; }
  return null;
}
function answer(question) {
  const head = { jsonrpc: '2.0', id: question?.id ?? null };
  try {
    if (!Object.hasOwn(methods, question?.method ?? '')) throw bad('Method not found', -32601);
    return { ...head, result: methods[question.method](question.params ?? []) };
  } catch (error) {
    if (!error.code) console.error(error);
    return { ...head, error: { code: error.code ?? -32603, message: error.message, ...(error.data ? { data: error.data } : {}) } };
  }
}
// Any page may ask, as with public nodes.
const open = { 'access-control-allow-origin': '*', 'access-control-allow-headers': 'content-type', 'access-control-allow-methods': 'POST' };
createServer((request, response) => {
  if (request.method === 'OPTIONS') return void response.writeHead(204, open).end();
  const chunks = [];
  let size = 0;
  request.on('data', (chunk) => { size += chunk.length; if (size > 8 << 20) request.destroy(); else chunks.push(chunk); });
  request.on('end', () => {
    let question;
    try { question = JSON.parse(Buffer.concat(chunks)); } catch { question = null; }
    const fault = question && !String(question.method).startsWith('litesvm_') ? faultOf(question.method) : null;
    if (fault === 'swallow') return void request.destroy();
    if (fault === 'hold') return void ++held;
    let out = answer(question);
    if (fault === 'double') out = answer(question);
    if (fault === 'overcharge' && out.result?.meta) out.result = { ...out.result, meta: { ...out.result.meta, fee: 1e18 } };
    if (fault === 'lose') return void request.destroy();
    const body = JSON.stringify(out);
    const reply = () => response.writeHead(200, { ...open, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }).end(body);
    if (fault === 'delay') setTimeout(reply, 300); else reply();
  });
}).listen(Number(option.port), '127.0.0.1', function () { console.log(`listening on 127.0.0.1:${this.address().port}`); });
