// Attacks on evidence, receipts, guardians and governance; see attacks.mjs.
import { call, writeData } from './program.mjs';
import { absentIn, demandCall, leafOf, proposalOf, proveFell, proveLess, proveMissing, proveOrder, proveSum, receiptOf, slashCall, statement, task } from './later.mjs';
import * as wire from './wire.mjs';

const { keyOf, sha256 } = wire;
const day = 86_400n, credit = 1_000_000n;
const stranger = keyOf('another program').key;
const slot = (one, name) => one.call.accounts.find((account) => account.name === name);
const data = (one, field, value) => writeData(one.call.name, one.call.data, field, value);
const impersonate = (one, account) => { slot(one, account).key = keyOf('mallory').key; one.signers.push('mallory'); };
const ownAddress = (one, account) => { const name = `mallory ${account}`; Object.assign(slot(one, account), { key: keyOf(name).key, signer: true }); one.signers.push(name); };
const finalRoot = (w) => w.set('config', w.config, { 'epochs.1.state': 2 });
const otherRoot = (account) => (w, one) => w.set('shown', slot(one, account).key, { root: stranger });
const shownOf = (w, name) => leafOf(w, w.tree1, w.tree1.position(keyOf(name).key));
const proposal = (changes) => (w) => w.set('proposal', proposalOf(w, 0n), changes);

export const laterAttacks = {
  freeze_once: { state: 'frozen' },
  decide_count: (w, one) => { one.call.accounts = one.call.accounts.slice(0, 3); },
  decide_quorum: (w, one) => { one.call.accounts.pop(); one.call.accounts.push({ name: 'quorum', key: keyOf('guard-1').key, signer: true, writable: false }); },
  decide_action: (w, one) => data(one, 'voids', 2),
  decide_pending: (w) => w.set('config', w.config, { pending: 0 }),
  decide_frozen: { state: 'pending', alter: (w, one) => data(one, 'voids', 0) },
  add_device_exists: { state: 'device' },
  add_device_address: (w, one) => ownAddress(one, 'device'),
  end_device_owner: (w, one) => impersonate(one, 'owner'),
  end_device_once: { state: 'ended' },
  record_receipt_exists: { state: 'receipt' },
  record_receipt_address: (w, one) => ownAddress(one, 'receipt'),
  close_receipt_payer: (w, one) => impersonate(one, 'payer'),
  close_receipt_time: { state: 'receipt' },
  slash_stake_owner: (w, one) => { slot(one, 'stake').key = w.stakeOf('dave'); },
  slash_ended: (w, one) => w.set('device', slot(one, 'device').key, { ends_at: w.vm.time }),
  slash_differ: { make: (w) => { const [a, b] = ['one', 'two'].map((nonce) => receiptOf(w, 'bob phone', { result: sha256('a result'), worker: sha256(nonce) })); return { call: slashCall(w, a, b), signers: [], before: [wire.ed25519([a, b])] }; } },
  // The machine stores the program's id after the data, so that it would be taken as a sibling.
  slash_levels: {
    make: (w) => {
      const a = receiptOf(w, 'bob phone', { result: sha256('one result'), siblings: [keyOf('program').key] }), b = receiptOf(w, 'bob phone', { result: sha256('another') });
      return { call: slashCall(w, { ...a, siblings: [] }, b), signers: [], before: [wire.ed25519([a, b])] };
    },
  },
  slash_some: (w) => { w.set('config', w.config, { staked: w.state.staked - 300n * credit }); w.set('stake', w.stakeOf('bob'), { amount: 0n }); },
  show_leaf_state: (w) => w.set('config', w.config, { 'epochs.1.state': 0 }),
  show_leaf_depth: (w) => w.set('config', w.config, { 'epochs.1.depth': w.tree1.depth + 1 }),
  show_leaf_index: (w, one) => data(one, 'index', 2n ** 32n),
  show_leaf_path: (w, one) => data(one, 'amount', 900n * credit + 1n),
  show_leaf_exists: { state: 'shown' },
  show_leaf_address: (w, one) => ownAddress(one, 'leaf'),
  close_leaf_payer: (w, one) => impersonate(one, 'payer'),
  prove_less_pending: finalRoot,
  prove_less_root: otherRoot('leaf'),
  prove_less_filled: (w, one) => w.set('shown', slot(one, 'leaf').key, { filled: 0 }),
  prove_less_less: (w, one) => { data(one, 'amount', 900n * credit); one.before = [wire.ed25519([statement(w, keyOf('bob').key, 1n, 900n * credit, 900n)])]; },
  prove_less_epoch: { make: (w) => proveLess(w, { epoch: 2n }) },
  prove_missing_pending: finalRoot,
  prove_missing_left_root: otherRoot('left'),
  prove_missing_right_root: otherRoot('right'),
  prove_missing_some: { make: (w) => proveMissing(w, { amount: 0n }) },
  prove_missing_missing: { make: (w) => proveMissing(w, { owner: keyOf('bob').key, left: 0 }) },
  prove_missing_epoch: { make: (w) => proveMissing(w, { epoch: 2n }) },
  prove_fell_pending: (w) => w.set('config', w.config, { 'epochs.2.state': 2 }),
  prove_fell_final: (w) => w.set('config', w.config, { 'epochs.1.state': 3 }),
  prove_fell_before_root: otherRoot('before'),
  prove_fell_left_root: otherRoot('left'),
  prove_fell_right_root: (w, one) => { slot(one, 'right').key = leafOf(w, w.tree1, 0); },
  prove_fell_filled: (w, one) => w.set('shown', slot(one, 'before').key, { filled: 0 }),
  prove_fell_fell: { state: 'kept', make: (w) => proveFell(w, w.kept, keyOf('dave').key) },
  prove_order_pending: finalRoot,
  prove_order_left_root: otherRoot('left'),
  prove_order_right_root: otherRoot('right'),
  prove_order_positions: { state: 'shown', make: (w) => proveOrder(w, w.tree1, 1, 0) },
  prove_order_wrong: { state: 'shown', make: (w) => proveOrder(w, w.tree1, 0, 1) },
  prove_sum_pending: finalRoot,
  prove_sum_path: (w, one) => data(one, 'sum', 1n),
  prove_sum_wrong: { state: 'pending', make: (w) => proveSum(w, w.tree1, 1, 1) },
  demand_pending: finalRoot,
  demand_window: { state: 'due' },
  demand_many: (w) => w.set('config', w.config, { 'epochs.1.demands': 65_535 }),
  demand_exists: { state: 'demanded' },
  demand_address: (w, one) => ownAddress(one, 'demand'),
  answer_pending: finalRoot,
  answer_post: (w, one) => w.set('demand', slot(one, 'demand').key, { post: 99n }),
  answer_left_root: otherRoot('left'),
  answer_right_root: otherRoot('right'),
  answer_shows: (w, one) => { slot(one, 'left').key = shownOf(w, 'dave'); slot(one, 'right').key = shownOf(w, 'erin'); },
  void_unanswered_payer: (w, one) => { slot(one, 'payer').key = keyOf('mallory').key; },
  void_unanswered_time: { state: 'demanded' },
  propose_owner: (w, one) => impersonate(one, 'owner'),
  propose_stake_least: (w) => w.set('stake', w.stakeOf('bob'), { amount: credit }),
  propose_action: (w, one) => data(one, 'action', 5),
  propose_parameter: (w, one) => data(one, 'parameter', 13),
  propose_address: (w, one) => ownAddress(one, 'proposal'),
  vote_owner: (w, one) => impersonate(one, 'owner'),
  vote_open: (w) => w.vm.warp(3n * day),
  vote_age: (w) => w.set('stake', w.stakeOf('bob'), { staked_at: w.vm.time }),
  vote_weight: (w) => w.set('stake', w.stakeOf('bob'), { amount: 0n }),
  vote_exists: { state: 'voted' },
  vote_address: (w, one) => ownAddress(one, 'vote'),
  execute_once: proposal({ executed: 1 }),
  execute_ready: { state: 'voted' },
  execute_quorum: proposal({ yes: 1n, no: 0n }),
  execute_majority: proposal({ no: 400n * credit }),
  execute_bounds: proposal({ value: 5_000n }),
  execute_windows: proposal({ parameter: 2, value: 7n * day }),
  execute_to: (w, one) => { w.set('proposal', proposalOf(w, 0n), { action: 1, value: credit, target: w.tokens('alice') }); slot(one, 'to').key = w.tokens('mallory'); },
  execute_guardian: proposal({ action: 3, value: 9n }),
  execute_guardian_twice: (w) => w.set('proposal', proposalOf(w, 0n), { action: 3, value: 0n, target: keyOf('guard-2').key }),
};
export { absentIn, call, demandCall, task };
