// The real virtual machine (LiteSVM: Agave's runtime in this process) with the functions that tests
// need: keep and restore the whole state, move the clock, forge the bytes of an account, run or try
// a transaction.
import { createRequire } from 'node:module';
import { instructionsSysvar, keyOf, systemProgram, transaction } from './wire.mjs';

const native = createRequire(import.meta.url)('litesvm/dist/internal.js');

const fixed = new Set([systemProgram, instructionsSysvar].map((key) => key.toString('hex')));

export class Vm {
  constructor() {
    this.svm = new native.LiteSvm();
    this.svm.setTransactionHistory(0n); // Allows the same bytes to be tried again.
    this.svm.setBlockhashCheck(false);
    this.relay = keyOf('relay'); // Pays every fee, and has no other role.
    this.known = new Map(); // Addresses that a transaction or a forgery has named.
    this.put(this.relay.key, { lamports: 10n ** 15n, data: Buffer.alloc(0), owner: Buffer.alloc(32), executable: false });
    this.time = 0n;
  }
  // Programs and the runtime's own accounts are not recorded, because they do not change.
  touch(key) { if (!fixed.has(key.toString('hex')) && !this.account(key)?.executable) this.known.set(key.toString('hex'), key); }
  addProgram(id, elf) { this.svm.addProgram(id, elf); }
  setTime(seconds) { const clock = this.svm.getClock(); clock.unixTimestamp = BigInt(seconds); clock.slot += 1n; this.svm.setClock(clock); this.time = BigInt(seconds); }
  warp(seconds) { this.setTime(this.time + BigInt(seconds)); }

  account(key) {
    const found = this.svm.getAccount(key);
    return found && found.lamports() > 0n ? { lamports: found.lamports(), data: Buffer.from(found.data()), owner: Buffer.from(found.owner()), executable: found.executable() } : null;
  }
  put(key, account) {
    this.touch(key);
    const { lamports, data, owner, executable } = account ?? { lamports: 0n, data: Buffer.alloc(0), owner: Buffer.alloc(32), executable: false };
    this.svm.setAccount(key, new native.Account(lamports, data, owner, executable, 0n));
  }
  forge(key, change) { const account = this.account(key); if (!account) throw new Error('nothing to forge'); change(account.data, account); this.put(key, account); }

  keep() { return { time: this.time, accounts: [...this.known.values()].map((key) => [key, this.account(key)]) }; }
  restore(kept) {
    const there = new Set(kept.accounts.map(([key]) => key.toString('hex')));
    for (const [id, key] of this.known) if (!there.has(id)) this.put(key, null);
    for (const [key, account] of kept.accounts) this.put(key, account);
    this.setTime(kept.time);
  }

  #result(outcome) {
    const failed = outcome instanceof native.FailedTransactionMetadata, meta = outcome.meta ? outcome.meta() : outcome;
    const out = { ok: !failed, units: Number(meta.computeUnitsConsumed()), logs: meta.logs(), error: null };
    if (failed) {
      const text = outcome.toString();
      const m = /err: (?:InstructionError\((\d+), (\w+)(?:\((\d+)\))?|(\w+))/.exec(text);
      out.error = !m ? { name: text.slice(0, 200) } : m[4] ? { name: m[4] } : { instruction: Number(m[1]), name: m[2], code: m[3] === undefined ? undefined : Number(m[3]) };
    }
    return out;
  }
  #bytes(instructions, signers) {
    for (const { accounts, program } of instructions) { this.touch(program); for (const { key } of accounts) this.touch(key); }
    return transaction(instructions, this.relay, signers);
  }
  #with(method, bytes) {
    try { return { ...this.#result(this.svm[method](bytes)), bytes: bytes.length }; }
    catch (error) { return { ok: false, units: 0, logs: [], bytes: bytes.length, error: { name: error.message } }; }
  }
  send(instructions, signers = []) { return this.#with('sendVersionedTransaction', this.#bytes(instructions, signers)); }
  attempt(instructions, signers = []) { return this.#with('simulateVersionedTransaction', this.#bytes(instructions, signers)); }
}
