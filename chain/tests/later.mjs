// Continues the life of the network in world.mjs: devices and receipts, evidence against roots,
// guardians, governance.
import assert from 'node:assert/strict';
import * as layout from '../layout.mjs';
import { call } from './program.mjs';
import { Tree, nodeBytes } from './tree.mjs';
import * as wire from './wire.mjs';

const { keyOf, sha256 } = wire;
const day = 86_400n, credit = 1_000_000n, start = 1_800_000_000n;
const u32 = (v) => { const b = Buffer.alloc(4); b.writeUInt32LE(v); return b; };
const u64 = (v) => { const b = Buffer.alloc(8); b.writeBigUInt64LE(BigInt(v)); return b; };
export const task = { job: [0x1122334455667788n, 0x99aabbccddeeff00n], index: 7, attempt: 2 };

export const deviceOf = (w, owner, device) => w.seeds('device', w.config, keyOf(owner).key, keyOf(device).key).key;
export const leafOf = (w, tree, position, payer = 'payer') => w.seeds('leaf', w.config, tree.root.hash, u64(position), keyOf(payer).key).key;
export const demandOf = (w, post, owner) => w.seeds('demand', w.config, u64(post), owner).key;
export const proposalOf = (w, number) => w.seeds('proposal', w.config, u64(number)).key;
export const voteOf = (w, number, name) => w.seeds('vote', proposalOf(w, number), w.stakeOf(name)).key;

// Makes a receipt of one claim with further claims beside it: RFC 9162's tree over hashes of
// claims.
const leafHash = (hash) => sha256(Buffer.from([0]), hash);
export function receiptOf(w, device, { result, session = sha256('session'), worker = sha256('worker'), siblings = [] }) {
  const claim = sha256('weft-claim-2', u64(task.job[0]), u64(task.job[1]), u32(task.index), u32(task.attempt), result);
  let root = leafHash(claim), sides = 0;
  siblings.forEach((sibling, i) => { const right = i & 1; sides |= right << i; root = right ? sha256(Buffer.from([1]), sibling, root) : sha256(Buffer.from([1]), root, sibling); });
  const message = sha256('weft-receipt-2', w.genesis, wire.fromBase58(wire.toBase58(keyOf('program').key)), w.keys.coordinator, session, worker, root);
  return { message, key: keyOf(device).key, signature: keyOf(device).sign(message), session, worker, root, result, sides, levels: siblings.length, siblings };
}
export function slashCall(w, a, b, { stake = w.stakeOf('bob') } = {}) {
  return call('slash', { ...w.keys, device: deviceOf(w, 'bob', 'bob phone'), stake, bounty_to: w.tokens('carol') },
    { levels_a: a.levels, levels_b: b.levels, sides_a: a.sides, sides_b: b.sides, ...task, result_a: a.result, result_b: b.result, session_a: a.session, worker_a: a.worker, session_b: b.session, worker_b: b.worker }, [...a.siblings, ...b.siblings]);
}
const forgeryA = (w) => receiptOf(w, 'bob phone', { result: sha256('an honest result'), siblings: [sha256('s1'), sha256('s2')] });
const forgeryB = (w) => receiptOf(w, 'bob phone', { result: sha256('another result'), worker: sha256('another nonce'), siblings: [sha256('s3')] });

export function showCall(w, tree, position, slot = 1, payer = 'payer') {
  const row = tree.owners[position];
  return call('show_leaf', { ...w.keys, payer: keyOf(payer).key, leaf: leafOf(w, tree, position, payer) }, { slot, filled: row ? 1 : 0, position, owner: row?.owner, index: row?.index, amount: row?.amount, units: row?.units }, tree.path(position));
}
export function statement(w, owner, epoch, amount, units, signer = 'coordinator') {
  const message = w.digest('weft-statement-1', owner, u64(epoch), u64(amount), u64(units));
  return { key: keyOf(signer).key, message, signature: keyOf(signer).sign(message) };
}
// Gives an owner whose leaf would be between two leaves of a tree, and the position of the left
// one.
export function absentIn(tree) {
  for (let i = 0; ; ++i) {
    const { key } = keyOf(`absent ${i}`);
    const right = tree.owners.findIndex((one) => Buffer.compare(one.owner, key) > 0);
    if (right > 0) return { owner: key, left: right - 1 };
  }
}
const forfeitKeys = (w) => ({ ...w.keys, bounty_to: w.tokens('carol') });
export const proveLess = (w, { amount = 950n * credit, units = 900n, epoch = 1n } = {}) => {
  const position = w.tree1.position(keyOf('bob').key);
  return { call: call('prove_less', { ...forfeitKeys(w), leaf: leafOf(w, w.tree1, position) }, { slot: 1, epoch, amount, units }), signers: [], before: [wire.ed25519([statement(w, keyOf('bob').key, epoch, amount, units)])] };
};
export const proveMissing = (w, { owner, left, amount = 5n, epoch = 1n } = {}) => {
  const absent = absentIn(w.tree1);
  const who = owner ?? absent.owner, at = left ?? absent.left;
  return { call: call('prove_missing', { ...forfeitKeys(w), left: leafOf(w, w.tree1, at), right: leafOf(w, w.tree1, at + 1) }, { slot: 1, owner: who, epoch, amount, units: 1n }), signers: [], before: [wire.ed25519([statement(w, who, epoch, amount, 1n)])] };
};
export const proveOrder = (w, tree, left, right) => ({ call: call('prove_order', { ...forfeitKeys(w), left: leafOf(w, tree, left), right: leafOf(w, tree, right) }, { slot: 1 }), signers: [] });
export const proveSum = (w, tree, level, position) => {
  const [left, right] = [tree.levels[level - 1][2 * position], tree.levels[level - 1][2 * position + 1]];
  const tail = [];
  for (let i = level, at = position; i < tree.depth; ++i, at >>= 1) tail.push(nodeBytes(tree.levels[i][at ^ 1]));
  return { call: call('prove_sum', forfeitKeys(w), { slot: 1, position, sum: tree.levels[level][position].sum, left: left.hash, left_sum: left.sum, right: right.hash, right_sum: right.sum }, tail), signers: [] };
};
// Evidence that the root of epoch 2 takes from an owner: its leaf in tree1, then its leaf in the
// later tree and any other leaf, or the neighbours of its place in the later tree.
export const proveFell = (w, tree, owner, left = tree.position(owner), right = left === 0 ? 1 : left - 1) =>
  ({ call: call('prove_fell', { ...forfeitKeys(w), before: leafOf(w, w.tree1, w.tree1.position(owner)), left: leafOf(w, tree, left), right: leafOf(w, tree, right) }, { slot: 2 }), signers: [] });
export const demandCall = (w, owner) => call('demand', { ...w.keys, payer: keyOf('carol').key, demand: demandOf(w, 1n, owner) }, { slot: 1, owner });
const answerCall = (w, owner, left, right) => call('answer', { ...w.keys, answerer: keyOf('poster').key, demand: demandOf(w, 1n, owner), left: leafOf(w, w.tree1, left), right: leafOf(w, w.tree1, right) }, { slot: 1 });
const voteCall = (w, name, yes) => call('vote', { ...w.keys, owner: keyOf(name).key, stake: w.stakeOf(name), proposal: proposalOf(w, 0n), vote: voteOf(w, 0n, name) }, { yes });
const executeCall = (w) => call('execute', { ...w.keys, proposal: proposalOf(w, 0n), to: w.tokens('alice') });
const decideCall = (w, values = {}) => {
  const one = call('decide', w.keys, { voids: 1, thaws: 1, poster: keyOf('another poster').key, ...values });
  for (const name of ['guard-1', 'guard-3']) one.accounts.push({ name: 'quorum', key: keyOf(name).key, signer: true, writable: false });
  return one;
};

export const laterExamples = {
  freeze: { state: 'pending', make: (w) => ({ call: call('freeze', { ...w.keys, guardian: keyOf('guard-2').key }), signers: ['guard-2'] }) },
  decide: { state: 'frozen', make: (w) => ({ call: decideCall(w), signers: ['guard-1', 'guard-3'] }) },
  add_device: { state: 'funded', make: (w) => ({ call: call('add_device', { ...w.keys, owner: keyOf('bob').key, device: deviceOf(w, 'bob', 'bob phone') }, { device: keyOf('bob phone').key }), signers: ['bob'] }) },
  end_device: { state: 'device', make: (w) => ({ call: call('end_device', { ...w.keys, owner: keyOf('bob').key, device: deviceOf(w, 'bob', 'bob phone') }), signers: ['bob'] }) },
  record_receipt: {
    state: 'device', make: (w) => {
      const one = forgeryA(w);
      return { call: call('record_receipt', { ...w.keys, payer: keyOf('payer').key, device: deviceOf(w, 'bob', 'bob phone'), receipt: w.seeds('receipt', w.config, one.message).key }, { session: one.session, worker: one.worker, root: one.root }), signers: ['payer'], before: [wire.ed25519([one])] };
    },
  },
  close_receipt: { state: 'receipt-late', make: (w) => ({ call: call('close_receipt', { ...w.keys, payer: keyOf('payer').key, receipt: w.seeds('receipt', w.config, forgeryA(w).message).key }), signers: ['payer'] }) },
  slash: { state: 'device', make: (w) => ({ call: slashCall(w, forgeryA(w), forgeryB(w)), signers: [], before: [wire.ed25519([forgeryA(w), forgeryB(w)])] }) },
  show_leaf: { state: 'pending', make: (w) => ({ call: showCall(w, w.tree1, w.tree1.position(keyOf('bob').key)), signers: ['payer'] }) },
  close_leaf: { state: 'shown', make: (w) => ({ call: call('close_leaf', { ...w.keys, payer: keyOf('payer').key, leaf: leafOf(w, w.tree1, 0) }), signers: ['payer'] }) },
  prove_less: { state: 'shown', make: (w) => proveLess(w) },
  prove_missing: { state: 'shown', make: (w) => proveMissing(w) },
  prove_order: { state: 'unsorted', make: (w) => proveOrder(w, w.unsorted, 0, 1) },
  prove_fell: { state: 'taken', make: (w) => proveFell(w, w.taken, keyOf('dave').key) },
  prove_sum: { state: 'inflated', make: (w) => proveSum(w, w.inflated, 1, 1) },
  demand: { state: 'pending', make: (w) => ({ call: demandCall(w, keyOf('bob').key), signers: ['carol'] }) },
  answer: { state: 'demanded', make: (w) => { const at = w.tree1.position(keyOf('bob').key); return { call: answerCall(w, keyOf('bob').key, at, at ^ 1), signers: ['poster'] }; } },
  void_unanswered: { state: 'unanswered', make: (w) => ({ call: call('void_unanswered', { ...forfeitKeys(w), payer: keyOf('carol').key, demand: demandOf(w, 1n, keyOf('bob').key) }), signers: [] }) },
  propose: { state: 'charged', make: (w) => ({ call: call('propose', { ...w.keys, owner: keyOf('bob').key, stake: w.stakeOf('bob'), proposal: proposalOf(w, 0n) }, { action: 0, parameter: 0, value: 200n }), signers: ['bob'] }) },
  vote: { state: 'proposed', make: (w) => ({ call: voteCall(w, 'bob', 1), signers: ['bob'] }) },
  execute: { state: 'decided', make: (w) => ({ call: executeCall(w), signers: [] }) },
};

export function liveLater(w) {
  const run = (one, signers = [], before = []) => {
    const result = w.run(one, { signers, before });
    assert.ok(result.ok, `${one.name}: ${JSON.stringify(result.error)}\n${result.logs.join('\n')}`);
    w.invariants(one.name);
    return result;
  };
  const play = (name) => { const { call: one, signers, before = [] } = laterExamples[name].make(w); return run(one, signers, before); };
  const postOf = (tree) => run(call('post', { ...w.keys, bond_from: w.tokens('poster') }, { epoch: 1n, root: tree.root.hash, amount: tree.root.sum, units: tree.units, emission: tree.root.sum - 99n * credit, depth: tree.depth }), ['poster']);

  // Guardians: one freezes and two decide. The root is void, the posting key is another one, and
  // posts continue.
  w.at('pending');
  play('freeze');
  w.mark('frozen');
  const bond = w.state.epochs[1].bond;
  play('decide');
  assert.equal(w.state.last_epoch, 0n, 'the epoch may be posted again');
  assert.equal(w.state.burned, bond, 'the bond is burned');
  assert.ok(w.state.poster.equals(keyOf('another poster').key));

  // A freeze stops neither final claims nor withdrawals of stakes and deposits.
  w.at('late');
  run(call('freeze', { ...w.keys, guardian: keyOf('guard-1').key }), ['guard-1']);
  const daves = w.claimCall(1, w.tree1, keyOf('dave').key, w.tokens('dave'));
  const holding = { dave: w.amount(w.tokens('dave')), carol: w.amount(w.tokens('carol')) };
  run(call('claim', { ...w.keys, ...daves.keys }, daves.values, daves.tail));
  run(call('withdraw_stake', { ...w.keys, owner: keyOf('dave').key, stake: w.stakeOf('dave'), to: w.tokens('dave') }), ['dave']);
  run(call('finish_withdrawal', { ...w.keys, owner: keyOf('carol').key, escrow: w.escrow('carol'), to: w.tokens('carol') }), ['carol']);
  assert.deepEqual({ dave: w.amount(w.tokens('dave')) - holding.dave, carol: w.amount(w.tokens('carol')) - holding.carol }, { dave: 190n * credit, carol: 200n * credit });

  // A withdrawal without the coordinator: a worker that holds the client's voucher charges it
  // before the time-out, and the rest returns to the client.
  w.at('requested');
  const voucher = w.voucher('carol', 450n * credit);
  run(call('charge', { ...w.keys, escrow: w.escrow('carol') }, { cumulative: 450n * credit }), [], [wire.ed25519([voucher])]);
  w.vm.warp(4n * day);
  const carols = w.amount(w.tokens('carol'));
  run(call('finish_withdrawal', { ...w.keys, owner: keyOf('carol').key, escrow: w.escrow('carol'), to: w.tokens('carol') }), ['carol']);
  assert.equal(w.amount(w.tokens('carol')) - carols, 50n * credit, 'what the voucher charged stays for the worker');

  // Devices and receipts.
  w.at('funded');
  play('add_device');
  w.mark('device');
  play('record_receipt');
  w.mark('receipt');
  w.vm.warp(8n * day);
  w.mark('receipt-late');
  const lamports = w.vm.account(keyOf('payer').key).lamports;
  play('close_receipt');
  assert.ok(w.vm.account(keyOf('payer').key).lamports > lamports, 'the rent comes back');
  w.at('device');
  play('end_device');
  w.mark('ended');
  w.at('device');
  const carol = w.amount(w.tokens('carol'));
  play('slash');
  assert.equal(w.amount(w.tokens('carol')) - carol, 30n * credit, 'the bounty is a tenth of the stake');
  assert.equal(w.read('stake', w.stakeOf('bob')).amount, 0n);
  assert.equal(w.state.burned, 270n * credit, 'the rest is burned');

  // Leaves and evidence.
  w.at('pending');
  for (let i = 0; i < 4; ++i) run(showCall(w, w.tree1, i), ['payer']);
  w.mark('shown');
  for (const name of ['prove_less', 'prove_missing']) { w.at('shown'); play(name); assert.equal(w.state.epochs[1].state, 3, `${name} voids the root`); }
  w.at('unbonding-next');
  w.unsorted = new Tree([...w.tree1.owners].reverse(), { sorted: false });
  postOf(w.unsorted);
  for (const i of [0, 1]) run(showCall(w, w.unsorted, i), ['payer']);
  w.mark('unsorted');
  play('prove_order');
  w.at('unbonding-next'); // One index for two owners is wrong.
  w.doubled = new Tree(w.tree1.owners.map((one) => ({ ...one, index: 0 })));
  postOf(w.doubled);
  for (const i of [0, 1]) run(showCall(w, w.doubled, i), ['payer']);
  run(proveOrder(w, w.doubled, 0, 1).call);
  w.at('unbonding-next');
  w.inflated = new Tree(w.tree1.owners, { inflate: { level: 1, position: 1, by: credit } });
  postOf(w.inflated);
  w.mark('inflated');
  play('prove_sum');

  // A root takes amounts that a final root gave from their owners, while its total stays the same.
  // All unclaimed amounts are at risk: if such a root became final, it would pay the thief what bob
  // and dave have earned. Any account can show this loss, without a signature of the coordinator.
  const take = (rows) => {
    w.at('claimed');
    w.vm.setTime(start + 2n * day);
    const tree = new Tree(rows);
    run(call('post', { ...w.keys, bond_from: w.tokens('poster') }, { epoch: 2n, root: tree.root.hash, amount: tree.root.sum, units: tree.units, emission: 0n, depth: tree.depth }), ['poster']);
    for (let i = 0; i < 4; ++i) run(showCall(w, w.tree1, i, 1), ['payer']);
    for (let i = 0; i < tree.owners.length; ++i) run(showCall(w, tree, i, 2), ['payer']);
    return tree;
  };
  const dave = keyOf('dave').key, rowsOf = (change) => w.tree1.owners.flatMap((one) => (one.owner.equals(dave) ? change(one) : [one]));
  const thief = { owner: keyOf('mallory').key, index: 9, amount: 150n * credit, units: 100n };
  w.taken = take(rowsOf((one) => [{ ...one, amount: 0n, units: 100n }, { ...thief, units: 0n }]));
  w.mark('taken');
  const stranger = w.amount(w.tokens('carol'));
  play('prove_fell');
  assert.equal(w.state.epochs[2].state, 3);
  assert.equal(w.state.last_amount, w.tree1.root.sum, 'the totals are those of the final root');
  assert.ok(w.amount(w.tokens('carol')) > stranger, 'the evidence is paid');
  // If no account shows this evidence, the root is final after its window, and takes dave's amount.
  w.at('taken');
  w.vm.warp(day / 2n);
  run(call('finalise', { ...w.keys, bond_to: w.tokens('poster') }, { slot: 2 }));
  const stolen = w.claimCall(2, w.taken, thief.owner, w.tokens('mallory')), held = w.amount(w.tokens('mallory'));
  run(call('claim', { ...w.keys, ...stolen.keys }, stolen.values, stolen.tail));
  assert.equal(w.amount(w.tokens('mallory')) - held, 150n * credit, 'so much was at stake');
  // The network continues from the wrong root: roots before the last final one are no evidence.
  w.vm.setTime(start + 3n * day);
  const next = new Tree(w.taken.owners.map((one) => ({ ...one, units: one.units + 1n })));
  run(call('post', { ...w.keys, bond_from: w.tokens('poster') }, { epoch: 3n, root: next.root.hash, amount: next.root.sum, units: next.units, emission: 0n, depth: next.depth }), ['poster']);
  run(showCall(w, next, next.position(dave), 3), ['payer']);
  const older = call('prove_fell', { ...forfeitKeys(w), before: leafOf(w, w.tree1, w.tree1.position(dave)), left: leafOf(w, next, next.position(dave)), right: leafOf(w, next, next.position(dave)) }, { slot: 3 });
  assert.equal(layout.numbered().get(w.run(older).error.code).name, 'prove_fell_before_root');
  // Nothing is claimed at another index yet, so that the whole amount would be paid again.
  const moved = take(rowsOf((one) => [{ ...one, index: 9 }]));
  run(proveFell(w, moved, dave).call);
  assert.equal(w.state.epochs[2].state, 3);
  const gone = take(rowsOf(() => [thief]));
  const after = gone.owners.findIndex((one) => Buffer.compare(one.owner, dave) > 0);
  run(proveFell(w, gone, dave, Math.max(0, after - 1), after < 0 ? gone.owners.length - 1 : after).call);
  assert.equal(w.state.epochs[2].state, 3);
  w.kept = take(rowsOf((one) => [{ ...one, units: one.units + 1n }]));
  w.mark('kept');

  // A dishonest operator shows leaves before the challenger does, and closes them before they are
  // used. The challenger's own shown leaves stay.
  w.at('pending');
  const at = w.tree1.position(keyOf('bob').key);
  run(showCall(w, w.tree1, at, 1, 'poster'), ['poster']);
  run(showCall(w, w.tree1, at, 1), ['payer']);
  run(call('close_leaf', { ...w.keys, payer: keyOf('poster').key, leaf: leafOf(w, w.tree1, at, 'poster') }), ['poster']);
  play('prove_less');
  assert.equal(w.state.epochs[1].state, 3);
  // A statement that the coordinator signed for an epoch binds the next root too, even if that
  // epoch was left out.
  w.at('second');
  run(showCall(w, w.tree2, w.tree2.position(keyOf('bob').key), 2), ['payer']);
  const promised = statement(w, keyOf('bob').key, 1n, 1_800n * credit, 900n);
  run(call('prove_less', { ...forfeitKeys(w), leaf: leafOf(w, w.tree2, w.tree2.position(keyOf('bob').key)) }, { slot: 2, epoch: 1n, amount: 1_800n * credit, units: 900n }), [], [wire.ed25519([promised])]);
  assert.equal(w.state.epochs[2].state, 3);

  // Demands: answered, answered by neighbours, and not answered.
  w.at('shown');
  play('demand');
  w.mark('demanded');
  const poster = w.vm.account(keyOf('poster').key).lamports;
  play('answer');
  assert.ok(w.vm.account(keyOf('poster').key).lamports >= poster + 10_000_000n, 'the answer is paid');
  assert.equal(w.state.epochs[1].demands, 0);
  const absent = absentIn(w.tree1);
  run(demandCall(w, absent.owner), ['carol']);
  run(answerCall(w, absent.owner, absent.left, absent.left + 1), ['poster']);
  w.at('demanded');
  w.vm.warp(day / 2n);
  w.mark('unanswered');
  // Carol paid for the demand and does nothing. Any account can void the root, and carol's lamports
  // return to carol.
  const lamportsOfCarol = w.vm.account(keyOf('carol').key).lamports;
  play('void_unanswered');
  assert.equal(w.state.epochs[1].state, 3);
  assert.ok(w.vm.account(keyOf('carol').key).lamports >= lamportsOfCarol + 10_000_000n);

  // Governance: bob has three quarters of the stake.
  w.at('charged');
  w.vm.warp(10n);
  play('propose');
  w.mark('proposed');
  const pool = w.read('proposal', proposalOf(w, 0n)).reward;
  assert.ok(pool > 0n, 'there is a reward for voting');
  play('vote');
  w.mark('voted');
  assert.ok(w.read('stake', w.stakeOf('bob')).rewards >= (pool * 3n) / 4n, 'a voter is paid its part');
  run(voteCall(w, 'dave', 0), ['dave']);
  w.vm.warp(18n * day);
  w.mark('decided');
  play('execute');
  assert.equal(w.state.fee_bps, 200n);
}
