// A small network in the virtual machine goes once through its whole life, and the state after each
// step is kept. `examples` has, for every instruction, a call that succeeds in one of these states;
// attacks change these calls.
import assert from 'node:assert/strict';
import * as layout from '../layout.mjs';
import { call, decode, encode, instruction, write } from './program.mjs';
import { Tree } from './tree.mjs';
import { laterExamples, liveLater } from './later.mjs';
import { Vm } from './vm.mjs';
import * as wire from './wire.mjs';

const { keyOf, programAddress, sha256 } = wire;
export const programId = keyOf('program').key;
export const start = 1_800_000_000n; // The network's genesis time.
export const day = 86_400n;
export const credit = 1_000_000n;
const u32 = (v) => { const b = Buffer.alloc(4); b.writeUInt32LE(v); return b; };
const u64 = (v) => { const b = Buffer.alloc(8); b.writeBigUInt64LE(BigInt(v)); return b; };

export const parameters = {
  fee_bps: 100n, challenge_seconds: day / 2n, unbonding_seconds: 14n * day, evidence_seconds: 7n * day, timeout_seconds: 3n * day, voting_seconds: 3n * day,
  delay_seconds: 15n * day, bond_min: credit, bounty_bps: 1_000n, post_bps: 500n, quorum_bps: 2_000n, proposal_stake: 10n * credit, demand_lamports: 10_000_000n,
};
export const initial = 1_000_000n * credit, cap = 10_000_000n * credit, emissionFirst = 1_000n * credit;
export const people = ['alice', 'bob', 'carol', 'dave', 'mallory', 'poster'];
export const guardians = ['guard-1', 'guard-2', 'guard-3'];

export class World {
  constructor(elf) {
    this.vm = new Vm();
    this.vm.addProgram(programId, elf);
    this.mint = keyOf('mint');
    const { key, bump } = programAddress(['config', this.mint.key], programId);
    this.config = key;
    this.configBump = bump;
    this.genesis = sha256('a cluster');
    this.keys = {
      config: this.config, mint: this.mint.key, vault: keyOf('vault').key, stake_vault: keyOf('stake vault').key, treasury: keyOf('treasury').key,
      token_program: wire.tokenProgram, system_program: wire.systemProgram, instructions: wire.instructionsSysvar, coordinator: keyOf('coordinator').key, poster: keyOf('poster').key,
    };
    this.states = new Map();
    this.random = null; // A function with values in [0, 1) that varies amounts, or null.
    this.costs = [];
  }
  vary(usual, least, most) { return this.random ? least + BigInt(Math.floor(this.random() * Number(most - least + 1n))) : usual; }
  seeds(...parts) { return programAddress(parts, programId); }
  escrow(name) { return this.seeds('escrow', this.config, keyOf(name).key).key; }
  stakeOf(name) { return this.seeds('stake', this.config, keyOf(name).key).key; }
  page(number) { return this.seeds('page', this.config, u32(number)); }
  tokens(name) { return keyOf(`tokens of ${name}`).key; }

  putTokens(key, owner, amount, { mint = this.mint.key, delegate = false, close = false } = {}) {
    const data = Buffer.alloc(165);
    mint.copy(data, 0);
    owner.copy(data, 32);
    data.writeBigUInt64LE(amount, 64);
    if (delegate) data.writeUInt32LE(1, 72);
    data[108] = 1;
    if (close) data.writeUInt32LE(1, 129);
    this.vm.put(key, { lamports: 2_039_280n, data, owner: wire.tokenProgram, executable: false });
  }
  putMint({ decimals = 6, authority = this.config, freezable = false, supply = 0n } = {}) {
    const data = Buffer.alloc(82);
    data.writeUInt32LE(1, 0);
    authority.copy(data, 4);
    data.writeBigUInt64LE(supply, 36);
    data[44] = decimals;
    data[45] = 1;
    if (freezable) data.writeUInt32LE(1, 46);
    this.vm.put(this.mint.key, { lamports: 1_461_600n, data, owner: wire.tokenProgram, executable: false });
  }
  set(kind, key, changes) { this.vm.forge(key, (data) => write(kind, data, changes)); }
  read(kind, key) { const account = this.vm.account(key); assert.ok(account, `there is no ${kind}`); return decode(layout.accounts[kind].fields, account.data); }
  get state() { return this.read('config', this.config); }
  amount(key) { return this.vm.account(key)?.data.readBigUInt64LE(64) ?? 0n; }
  get supply() { return this.vm.account(this.mint.key).data.readBigUInt64LE(36); }

  run(one, { signers = [], before = [] } = {}) {
    return this.vm.send([...before, instruction(programId, one)], signers.map((name) => (typeof name === 'string' ? keyOf(name) : name)));
  }
  must(name, keys, values, { signers, before, tail } = {}) {
    const result = this.run(call(name, { ...this.keys, ...keys }, values, tail), { signers, before });
    assert.ok(result.ok, `${name}: ${JSON.stringify(result.error)}\n${result.logs.join('\n')}`);
    this.invariants(name);
    return result;
  }
  // Checks the sums that must hold after every step.
  invariants(after) {
    const c = this.state, vault = this.amount(this.keys.vault);
    assert.equal(vault, c.deposits - c.withdrawals - c.claimed_spends - c.fees, `after ${after}: the vault holds deposits - withdrawals - claimed spends - fees`);
    assert.equal(this.supply, c.initial + c.claimed_emission - c.burned, `after ${after}: supply = initial + claimed emission - burned`);
    assert.ok(this.supply <= c.cap, `after ${after}: the supply is within the cap`);
    assert.ok(c.initial + c.emitted <= c.cap, `after ${after}: what was emitted is within the cap`);
    let unspent = 0n, bonded = 0n, staked = 0n;
    for (const key of this.vm.known.values()) {
      const account = this.vm.account(key);
      if (!account?.owner.equals(programId)) continue;
      if (account.data[0] === layout.accounts.escrow.kind && account.data.length === layout.lengthOf(layout.accounts.escrow.fields)) {
        const e = decode(layout.accounts.escrow.fields, account.data);
        unspent += e.deposited - e.withdrawn - e.charged;
      }
      if (account.data[0] === layout.accounts.stake.kind && account.data.length === layout.lengthOf(layout.accounts.stake.fields)) {
        const s = decode(layout.accounts.stake.fields, account.data);
        bonded += s.amount + s.unbonding;
        staked += s.amount;
      }
    }
    assert.equal(vault, unspent + c.charged - c.claimed_spends, `after ${after}: the vault holds what is unspent and what is earned and not claimed`);
    assert.equal(staked, c.staked, `after ${after}: the stakes add up`);
    for (const epoch of c.epochs) if (epoch.state === 1) bonded += epoch.bond;
    assert.ok(this.amount(this.keys.stake_vault) >= bonded, `after ${after}: the stake vault holds stakes and bonds`);
    assert.ok(c.claimed_spends <= c.final_spends && c.claimed_emission <= c.final_emission, `after ${after}: no more is claimed than is final`);
    assert.ok(c.spends_posted <= c.charged, `after ${after}: no more is posted than vouchers charged`);
  }
  at(state) { const kept = this.states.get(state); assert.ok(kept, `no state ${state}`); this.vm.restore(kept); }
  mark(state) { this.states.set(state, this.vm.keep()); }

  digest(word, ...fields) { return sha256(word, this.genesis, programId, this.config, ...fields); }
  voucher(name, cumulative, signer = name) {
    const message = this.digest('weft-voucher-1', keyOf(name).key, u64(cumulative));
    return { key: keyOf(signer).key, message, signature: keyOf(signer).sign(message) };
  }
  initValues(changes = {}) {
    return { guardian_count: guardians.length, guardian_quorum: 2, poster: this.keys.poster, coordinator: this.keys.coordinator, genesis: this.genesis, guardians: guardians.map((one) => keyOf(one).key),
      genesis_time: start, epoch_seconds: day, emission_first: emissionFirst, halving_epochs: 365n, cap, initial, founders_amount: 60_000n * credit, ...parameters, ...changes };
  }
  claimCall(slot, tree, owner, to, { bump, page } = {}) {
    const position = tree.position(owner), row = tree.owners[position];
    const number = page ?? Math.floor(row.index / layout.page_owners);
    const address = this.page(number);
    return { keys: { page: address.key, to }, values: { page_bump: bump ?? address.bump, place: BigInt(slot) | (BigInt(row.index) << 4n) | (BigInt(position) << 25n), amount: row.amount, units: row.units }, tail: tree.path(position) };
  }

  // Runs from an empty chain to the end of the first epochs, and marks every state on the way.
  live() {
    const { vm } = this, k = this.keys;
    vm.setTime(start + 100n);
    for (const name of [...people, ...guardians, 'coordinator', 'payer']) vm.put(keyOf(name).key, { lamports: 10n ** 12n, data: Buffer.alloc(0), owner: wire.systemProgram, executable: false });
    this.putMint();
    for (const key of [k.vault, k.stake_vault, k.treasury]) this.putTokens(key, this.config, 0n);
    this.putTokens(this.tokens('payer'), keyOf('payer').key, 0n);
    this.mark('fresh');
    this.must('init', { payer: keyOf('payer').key, founders: this.tokens('payer') }, this.initValues(), { signers: ['payer', 'mint'] });
    assert.equal(this.amount(k.treasury), initial - 60_000n * credit);
    // The founders distribute their part.
    for (const name of people) this.putTokens(this.tokens(name), keyOf(name).key, 10_000n * credit);
    this.putTokens(this.tokens('payer'), keyOf('payer').key, 0n);
    this.mark('ready');
    const deposit = (name, amount) => this.must('deposit', { owner: keyOf(name).key, escrow: this.escrow(name), from: this.tokens(name) }, { amount }, { signers: [name] });
    deposit('alice', 2_000n * credit);
    deposit('carol', 500n * credit);
    deposit('alice', 1_000n * credit);
    const stake = (name, amount) => this.must('stake', { owner: keyOf(name).key, stake: this.stakeOf(name), from: this.tokens(name) }, { amount }, { signers: [name] });
    stake('bob', 300n * credit);
    stake('dave', 100n * credit);
    this.mark('funded');
    this.must('request_withdrawal', { owner: keyOf('carol').key, escrow: this.escrow('carol') }, { amount: 200n * credit }, { signers: ['carol'] });
    this.mark('requested');
    this.must('charge', { escrow: this.escrow('alice') }, { cumulative: 100n * credit }, { before: [wire.ed25519([this.voucher('alice', 100n * credit)])] });
    assert.equal(this.state.fees, credit, 'the fee is one percent');
    this.mark('charged');
    this.must('unstake', { owner: keyOf('dave').key, stake: this.stakeOf('dave') }, { amount: 40n * credit }, { signers: ['dave'] });
    this.mark('unbonding');
    vm.setTime(start + day);
    // Clients spent 99 credits for work, and the emission of the first epoch is shared by units.
    this.tree1 = new Tree(this.ownersOf([['bob', 900n * credit, 900n], ['dave', 150n * credit, 100n], ['erin', 30n * credit, 10n]], this.config));
    this.must('post', { bond_from: this.tokens('poster') }, { epoch: 1n, root: this.tree1.root.hash, amount: this.tree1.root.sum, units: this.tree1.units, emission: this.tree1.root.sum - 99n * credit, depth: this.tree1.depth }, { signers: ['poster'] });
    this.mark('pending');
    vm.warp(day / 2n);
    this.mark('due');
    this.must('finalise', { bond_to: this.tokens('poster') }, { slot: 1 });
    for (const number of [0, 1]) this.must('open_page', { payer: keyOf('payer').key, page: this.page(number).key }, { page: number }, { signers: ['payer'] });
    this.mark('final');
    const c = this.claimCall(1, this.tree1, keyOf('bob').key, this.tokens('bob'));
    this.must('claim', c.keys, c.values, { tail: c.tail });
    assert.equal(this.amount(this.tokens('bob')), (10_000n - 300n + 900n) * credit, 'bob is paid');
    this.mark('claimed');
    vm.setTime(start + 2n * day);
    this.tree2 = new Tree(this.ownersOf([['bob', 1_700n * credit, 1_700n], ['dave', 350n * credit, 300n], ['erin', 29n * credit + credit, 10n]], this.config));
    this.must('post', { bond_from: this.tokens('poster') }, { epoch: 2n, root: this.tree2.root.hash, amount: this.tree2.root.sum, units: this.tree2.units, emission: this.tree2.root.sum - this.tree1.root.sum, depth: this.tree2.depth }, { signers: ['poster'] });
    this.mark('second');
    vm.warp(40n * day);
    this.mark('late');
  }
  // Indices are fixed: bob 0, dave 1, erin 2, and the config itself 3, whose claim would pay the
  // vault to itself.
  ownersOf(rows, config) {
    const list = rows.map(([name, amount, units], index) => ({ owner: keyOf(name).key, index, amount, units }));
    return [...list, { owner: config, index: rows.length, amount: 5n * credit, units: 1n }];
  }
}

// For every instruction: the name of a state, and a call that succeeds in it.
const firstExamples = {
  init: { state: 'fresh', make: (w) => ({ call: call('init', { ...w.keys, payer: keyOf('payer').key, founders: w.tokens('payer') }, w.initValues()), signers: ['payer', 'mint'] }) },
  deposit: { state: 'ready', make: (w) => ({ call: call('deposit', { ...w.keys, owner: keyOf('alice').key, escrow: w.escrow('alice'), from: w.tokens('alice') }, { amount: w.vary(50n * credit, credit, 500n * credit) }), signers: ['alice'] }) },
  charge: {
    state: 'requested', make: (w) => {
      const cumulative = w.vary(100n * credit, credit, 3_000n * credit);
      return { cumulative, call: call('charge', { ...w.keys, escrow: w.escrow('alice') }, { cumulative }), signers: [], before: [wire.ed25519([w.voucher('alice', cumulative)])] };
    },
  },
  withdraw: { state: 'charged', make: (w) => ({ call: call('withdraw', { ...w.keys, owner: keyOf('alice').key, escrow: w.escrow('alice'), to: w.tokens('alice') }, { amount: w.vary(100n * credit, 1n, 2_900n * credit) }), signers: ['alice', 'coordinator'] }) },
  request_withdrawal: { state: 'charged', make: (w) => ({ call: call('request_withdrawal', { ...w.keys, owner: keyOf('alice').key, escrow: w.escrow('alice') }, { amount: w.vary(100n * credit, 1n, 5_000n * credit) }), signers: ['alice'] }) },
  finish_withdrawal: { state: 'late', make: (w) => ({ call: call('finish_withdrawal', { ...w.keys, owner: keyOf('carol').key, escrow: w.escrow('carol'), to: w.tokens('carol') }), signers: ['carol'] }) },
  stake: { state: 'ready', make: (w) => ({ call: call('stake', { ...w.keys, owner: keyOf('bob').key, stake: w.stakeOf('bob'), from: w.tokens('bob') }, { amount: w.vary(30n * credit, 1n, 1_000n * credit) }), signers: ['bob'] }) },
  unstake: { state: 'funded', make: (w) => ({ call: call('unstake', { ...w.keys, owner: keyOf('bob').key, stake: w.stakeOf('bob') }, { amount: w.vary(10n * credit, 1n, 300n * credit) }), signers: ['bob'] }) },
  withdraw_stake: { state: 'late', make: (w) => ({ call: call('withdraw_stake', { ...w.keys, owner: keyOf('dave').key, stake: w.stakeOf('dave'), to: w.tokens('dave') }), signers: ['dave'] }) },
  take_rewards: { state: 'charged', make: (w) => ({ call: call('take_rewards', { ...w.keys, owner: keyOf('bob').key, stake: w.stakeOf('bob'), to: w.tokens('bob') }), signers: ['bob'] }) },
  post: { state: 'unbonding-next', make: (w) => ({ call: call('post', { ...w.keys, bond_from: w.tokens('poster') }, { epoch: 1n, root: w.tree1.root.hash, amount: w.tree1.root.sum, units: w.tree1.units, emission: w.tree1.root.sum - 99n * credit, depth: w.tree1.depth }), signers: ['poster'] }) },
  finalise: { state: 'due', make: (w) => ({ call: call('finalise', { ...w.keys, bond_to: w.tokens('poster') }, { slot: 1 }), signers: [] }) },
  open_page: { state: 'ready', make: (w) => ({ call: call('open_page', { ...w.keys, payer: keyOf('payer').key, page: w.page(0).key }, { page: 0 }), signers: ['payer'] }) },
  claim: { state: 'final', make: (w) => { const who = ['bob', 'dave'][Number(w.vary(0n, 0n, 1n))], c = w.claimCall(1, w.tree1, keyOf(who).key, w.tokens(who)); return { call: call('claim', { ...w.keys, ...c.keys }, c.values, c.tail), signers: [] }; } },
};

export const examples = { ...firstExamples, ...laterExamples };
export function liveWorld(elf) {
  const world = new World(elf);
  world.live();
  world.at('unbonding');
  world.vm.setTime(start + day);
  world.mark('unbonding-next');
  liveLater(world);
  return world;
}
export { encode, u32, u64 };
