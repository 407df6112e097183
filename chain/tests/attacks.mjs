// For every numbered check an attack: a call that succeeds in the world, changed in one way so that
// this check must refuse it. Attacks on accounts, flags and lengths follow from the layout; the
// others are written below. Each attack returns what is sent: { before, call, signers }. Forged
// accounts are written into the world.
import * as layout from '../layout.mjs';
import { build, compile } from '../build.mjs';
import { link } from '../linker/link.mjs';
import { laterAttacks } from './later-attacks.mjs';
import { write, writeData, call } from './program.mjs';
import { Tree } from './tree.mjs';
import * as wire from './wire.mjs';
import { cap, credit, day, examples, initial, start } from './world.mjs';

const { keyOf } = wire;
const mallory = keyOf('mallory');
const stranger = keyOf('another program').key;

const slot = (one, name) => one.call.accounts.find((account) => account.name === name);
const sign = (one, ...names) => { one.signers.push(...names); };
// Another person signs instead of the account's owner.
const impersonate = (one, account, name = 'mallory') => {
  slot(one, account).key = keyOf(name).key;
  sign(one, name);
};
const data = (one, field, value) => writeData(one.call.name, one.call.data, field, value);
// Forges an address that the caller chooses: a key pair that signs for itself.
const ownAddress = (one, account, name) => { Object.assign(slot(one, account), { key: keyOf(name).key, signer: true }); sign(one, name); };
const claimOf = (w, owner, to) => { const c = w.claimCall(1, w.tree1, owner, to); return { call: call('claim', { ...w.keys, ...c.keys }, c.values, c.tail), signers: [] }; };
const badParameter = (field, value) => (w, one) => data(one, field, value);

// Makes an account in the form of the instructions sysvar that claims another history: in it the
// call follows `before`.
export function forgedHistory(before, own) {
  const serial = ({ program, accounts, data: bytes }) => {
    const head = Buffer.alloc(2 + 33 * accounts.length);
    head.writeUInt16LE(accounts.length, 0);
    const size = Buffer.alloc(2);
    size.writeUInt16LE(bytes.length, 0);
    return Buffer.concat([head, program, size, bytes]);
  };
  const parts = [...before, own].map(serial);
  const table = Buffer.alloc(2 + 2 * parts.length);
  table.writeUInt16LE(parts.length, 0);
  let at = table.length;
  parts.forEach((part, i) => { table.writeUInt16LE(at, 2 + 2 * i); at += part.length; });
  const tail = Buffer.alloc(2);
  tail.writeUInt16LE(before.length, 0);
  return Buffer.concat([table, ...parts, tail]);
}

// check -> (world, one) => void; or { state, make, alter }: another state or another call to begin
// with.
const own = {
  init_mint_owner: (w, one) => { data(one, 'initial', 0n); data(one, 'founders_amount', 0n); w.vm.forge(w.mint.key, (_, account) => { account.owner = stranger; }); },
  init_mint_shape: (w) => w.putMint({ decimals: 9 }),
  init_mint_authority: (w, one) => { data(one, 'initial', 0n); data(one, 'founders_amount', 0n); w.putMint({ authority: mallory.key }); },
  init_mint_freezable: (w) => w.putMint({ freezable: true }),
  init_vault_shape: (w) => w.putTokens(w.keys.vault, w.config, 0n, { close: true }),
  init_stake_vault_shape: (w) => w.putTokens(w.keys.stake_vault, w.config, 0n, { delegate: true }),
  init_treasury_shape: (w) => w.putTokens(w.keys.treasury, mallory.key, 0n),
  init_vaults_distinct: (w, one) => { slot(one, 'stake_vault').key = w.keys.vault; },
  init_config_address: (w, one) => {
    ownAddress(one, 'config', 'mallory config');
    const config = keyOf('mallory config').key;
    w.putMint({ authority: config });
    for (const key of [w.keys.vault, w.keys.stake_vault, w.keys.treasury]) w.putTokens(key, config, 0n);
  },
  init_config_exists: { state: 'ready', alter: (w) => w.putMint({ supply: 0n }) },
  init_guardians: (w, one) => data(one, 'guardian_quorum', 0),
  init_guardian_twice: (w, one) => data(one, 'guardians', keyOf('guard-2').key),
  init_parameters: badParameter('fee_bps', 5_000n),
  init_unbonding: badParameter('unbonding_seconds', 7n * day),
  init_delay: badParameter('delay_seconds', 13n * day),
  init_epoch: badParameter('epoch_seconds', day / 4n),
  init_halving: badParameter('halving_epochs', 0n),
  init_cap: badParameter('initial', cap + 1n),
  init_founders: badParameter('founders_amount', initial + 1n),
  init_founders_account: (w, one) => { slot(one, 'founders').key = w.keys.vault; },

  deposit_amount: (w, one) => data(one, 'amount', 0n),
  deposit_escrow_address: (w, one) => ownAddress(one, 'escrow', 'mallory escrow'),
  deposit_escrow_config: { state: 'funded', alter: (w) => w.set('escrow', w.escrow('alice'), { config: stranger }) },
  deposit_escrow_owner: { state: 'funded', alter: (w, one) => { slot(one, 'escrow').key = w.escrow('carol'); } },
  deposit_escrow_kind: { state: 'funded', alter: (w) => w.set('escrow', w.escrow('alice'), { kind: 99 }) },
  deposit_overflow: (w) => w.set('config', w.config, { deposits: 2n ** 64n - credit }),

  charge_forward: { state: 'charged', alter: (w, one) => { const old = w.vary(100n * credit, 1n, 100n * credit); data(one, 'cumulative', old); one.before = [wire.ed25519([w.voucher('alice', old)])]; } },
  charge_funds: (w, one) => { const above = 3_000n * credit + w.vary(1n, 1n, 100n * credit); data(one, 'cumulative', above); one.before = [wire.ed25519([w.voucher('alice', above)])]; },
  withdraw_owner: (w, one) => { impersonate(one, 'owner'); slot(one, 'to').key = w.tokens('mallory'); },
  withdraw_funds: (w, one) => data(one, 'amount', 2_900n * credit + w.vary(1n, 1n, credit)),
  withdraw_destination: (w, one) => { slot(one, 'to').key = w.keys.vault; },
  request_withdrawal_owner: (w, one) => impersonate(one, 'owner'),
  request_withdrawal_amount: (w, one) => data(one, 'amount', 0n),
  finish_withdrawal_owner: (w, one) => { impersonate(one, 'owner'); slot(one, 'to').key = w.tokens('mallory'); },
  finish_withdrawal_requested: (w) => w.set('escrow', w.escrow('carol'), { requested: 0n }),
  finish_withdrawal_timeout: { state: 'requested' },
  finish_withdrawal_destination: (w, one) => { slot(one, 'to').key = w.keys.vault; },

  stake_amount: (w, one) => data(one, 'amount', 0n),
  stake_stake_address: (w, one) => ownAddress(one, 'stake', 'mallory stake'),
  stake_stake_config: { state: 'funded', alter: (w) => w.set('stake', w.stakeOf('bob'), { config: stranger }) },
  stake_stake_owner: { state: 'funded', alter: (w, one) => { slot(one, 'stake').key = w.stakeOf('dave'); } },
  stake_stake_kind: { state: 'funded', alter: (w) => w.set('stake', w.stakeOf('bob'), { kind: 99 }) },
  unstake_owner: (w, one) => impersonate(one, 'owner'),
  unstake_amount: (w, one) => data(one, 'amount', 300n * credit + w.vary(1n, 1n, credit)),
  unstake_locked: (w) => w.set('stake', w.stakeOf('bob'), { locked_until: w.vm.time + 1n }),
  withdraw_stake_owner: (w, one) => { impersonate(one, 'owner'); slot(one, 'to').key = w.tokens('mallory'); },
  withdraw_stake_some: (w) => w.set('stake', w.stakeOf('dave'), { unbonding: 0n }),
  withdraw_stake_time: { state: 'unbonding' },
  take_rewards_owner: (w, one) => { impersonate(one, 'owner'); slot(one, 'to').key = w.tokens('mallory'); },
  take_rewards_some: { state: 'funded' },

  post_poster_key: (w, one) => { impersonate(one, 'poster'); slot(one, 'bond_from').key = w.tokens('mallory'); },
  post_frozen: (w) => w.set('config', w.config, { frozen: 1 }),
  post_pending: { state: 'second', alter: (w, one) => { data(one, 'epoch', 3n); data(one, 'amount', w.tree2.root.sum); data(one, 'units', w.tree2.units); w.vm.warp(day); } },
  post_order: { state: 'final', alter: (w, one) => { w.vm.warp(day); } },
  post_range: (w, one) => { data(one, 'epoch', 2n ** 64n / day + 1n); data(one, 'amount', 50n * credit); },
  post_due: (w, one) => data(one, 'epoch', 5n),
  post_depth: (w, one) => data(one, 'depth', layout.depth_max + 1),
  post_ring: { state: 'final', alter: (w, one) => { w.vm.warp(16n * day); data(one, 'epoch', 17n); data(one, 'emission', 0n); } },
  post_amount: { state: 'final', alter: (w, one) => { w.vm.warp(day); data(one, 'epoch', 2n); data(one, 'amount', w.tree1.root.sum - 1n); } },
  post_units: { state: 'final', alter: (w, one) => { w.vm.warp(day); data(one, 'epoch', 2n); data(one, 'units', w.tree1.units - 1n); } },
  post_emission: (w, one) => { data(one, 'amount', 1_000n * credit + w.vary(1n, 1n, credit)); data(one, 'emission', 1_000n * credit + 1n); },
  post_bound: (w, one) => data(one, 'amount', w.tree1.root.sum + w.vary(1n, 1n, credit)),
  finalise_slot: (w, one) => data(one, 'slot', layout.ring + 1),
  finalise_state: { state: 'second' },
  finalise_frozen: (w) => w.set('config', w.config, { frozen: 1 }),
  finalise_window: { state: 'pending' },
  finalise_demands: (w) => w.set('config', w.config, { 'epochs.1.demands': 1 }),
  finalise_bond_to: (w, one) => { slot(one, 'bond_to').key = w.tokens('mallory'); },
  open_page_range: (w, one) => { const number = Math.floor((2 ** layout.depth_max - 1) / layout.page_owners) + 1; data(one, 'page', number); slot(one, 'page').key = w.page(number).key; },
  open_page_exists: { state: 'claimed' },
  open_page_address: (w, one) => ownAddress(one, 'page', 'mallory page'),
  claim_final: (w) => w.set('config', w.config, { 'epochs.1.state': 3 }),
  claim_depth: (w) => w.set('config', w.config, { 'epochs.1.depth': w.tree1.depth + 1 }),
  claim_page_owner: (w, one) => w.vm.forge(slot(one, 'page').key, (_, account) => { account.owner = stranger; }),
  claim_page_address: { alter: (w, one) => { slot(one, 'page').key = w.page(1).key; } },
  claim_path: (w, one) => data(one, 'amount', one.call.data.readBigUInt64LE(8) + w.vary(1n, 1n, 5n * credit)),
  claim_new: { state: 'claimed', make: (w) => claimOf(w, keyOf('bob').key, w.tokens('bob')) },
  claim_emission: (w) => w.set('config', w.config, { final_emission: 10n * credit }),
  claim_to: { make: (w) => claimOf(w, w.config, w.keys.vault) },
};

// Attacks on the signature checks, by the example of a charge.
const noop = link(compile(new URL('noop.cpp', import.meta.url).pathname)).program;
const noopId = keyOf('a program that accepts anything').key;
const signatures = {
  shared_signature_before: (w, one) => { one.before = []; },
  shared_signature_program: (w, one) => { w.vm.addProgram(noopId, noop); const m = w.voucher('alice', one.cumulative); one.before = [{ ...wire.ed25519([{ ...m, signature: Buffer.alloc(64) }]), program: noopId }]; },
  shared_signature_count: (w, one) => { const m = w.voucher('alice', one.cumulative); one.before = [wire.ed25519([m, m])]; },
  // The runtime checks mallory's bytes; the program would read alice's bytes beside them.
  shared_signature_inside: (w, one) => {
    const real = w.voucher('mallory', 1n), m = w.voucher('alice', one.cumulative);
    one.before = [wire.ed25519([real]), wire.ed25519([{ ...m, signature: Buffer.alloc(64) }], 0)];
  },
  shared_signature_key: (w, one) => { one.before = [wire.ed25519([w.voucher('alice', one.cumulative, 'mallory')])]; },
  shared_signature_message: (w, one) => { one.before = [wire.ed25519([w.voucher('alice', 1n)])]; },
};

// Attacks that follow from the layout: on an account's flag, owner, kind, network, mint or key, on
// the length of data, on the number of accounts.
function automatic(check, spec) {
  if (check === 'length') return (w, one) => { one.call.data = Buffer.concat([one.call.data, Buffer.from([0])]); };
  if (check === 'count') return (w, one) => { one.call.accounts.pop(); };
  const [account, , kind = 'any'] = spec.accounts.filter(([name]) => check.startsWith(`${name}_`)).sort((a, b) => b[0].length - a[0].length)[0];
  const rule = check.slice(account.length + 1);
  return (w, one) => {
    const at = slot(one, account);
    if (rule === 'signer') at.signer = false;
    else if (rule === 'writable') at.writable = false;
    else if (rule === 'program') w.vm.forge(at.key, (_, found) => { found.owner = stranger; });
    else if (rule === 'kind') w.vm.forge(at.key, (bytes) => { bytes[0] = 99; });
    else if (rule === 'network') w.set(kind, at.key, { config: stranger });
    else if (rule === 'mint') w.vm.forge(at.key, (bytes) => { stranger.copy(bytes, 0); });
    else if (rule === 'key') {
      const old = w.vm.account(at.key);
      at.key = keyOf('impostor').key;
      if (at.signer) sign(one, 'impostor');
      if (kind === 'instructions') {
        w.vm.put(at.key, { lamports: 10n ** 9n, owner: stranger, executable: false, data: forgedHistory(one.before, { program: stranger, accounts: [], data: Buffer.alloc(0) }) });
        one.before = []; // Nothing was signed.
      } else w.vm.put(at.key, old ? { ...old, executable: false } : { lamports: 10n ** 9n, data: Buffer.alloc(0), owner: Buffer.alloc(32), executable: false });
    } else throw new Error(`no attack on ${check}`);
  };
}

// number -> { name, attack, state, prepare(world) } for every check of the program.
export function allAttacks() {
  const out = new Map();
  for (const [number, { instruction, check, attack, name, automatic: auto }] of layout.numbered()) {
    const on = instruction === 'shared' ? 'charge' : instruction;
    const spec = layout.instructions[on];
    const found = (instruction === 'shared' ? signatures[name] : own[name] ?? laterAttacks[name]) ?? (auto ? automatic(check, spec) : undefined);
    if (!found) throw new Error(`no attack is written for the check ${name}`);
    const { state = examples[on].state, alter = typeof found === 'function' ? found : () => {}, make = examples[on].make } = found;
    out.set(number, { number, name, attack, state, instruction: on, prepare(world) { world.at(state); const one = { before: [], ...make(world) }; one.signers = [...one.signers]; alter(world, one); return one; } });
  }
  return out;
}
export { build, cap, initial, start, write };
