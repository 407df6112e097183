// The one source of every byte layout of the on-chain program: accounts, instructions, the accounts
// that an instruction takes, and the numbered checks. chain/generate.mjs writes program/layout.h
// and LAYOUT.md from it; the tests encode with it.
//
// Fields are little-endian and are stored one after the other. 'key' is 32 bytes. A number after
// the type repeats the field. An account of an instruction is [name, flags, kind, attributes].
// Flags: s signer, w writable. Kinds:
//   (name of an account)  an account of the program; its owner, size, kind and config are checked
//   new                   an address that the program makes in this instruction (or that may exist already, if the entry says so)
//   token                 a token account of the config's mint, of either owner
//   vault, stake_vault, treasury, mint, poster, coordinator, guardian ...  the key that the config names
//   token_program, system_program, instructions                            that key
//   any                   checked by the instruction itself

export const ring = 16; // Epochs that the config remembers.
export const page_owners = 1280; // Claimed amounts in one page: 8 bytes each, 10,240 bytes, the most that one call may make.
export const depth_max = 21; // Levels of an epoch's tree: 2,097,152 owners.
export const guardians_max = 5;

const head = () => [['kind', 'u8'], ['version', 'u8'], ['bump', 'u8'], ['unused', 'u8', 5], ['config', 'key']];
export const accounts = {
  config: {
    kind: 1, seeds: '"config", mint',
    purpose: 'One network: its keys, parameters, totals and the ring of epochs. Its address is the authority of the mint and the owner of all vaults.',
    fields: [
      ['kind', 'u8'], ['version', 'u8'], ['bump', 'u8'], ['guardian_count', 'u8'], ['guardian_quorum', 'u8'], ['frozen', 'u8'], ['pending', 'u8'], ['unused', 'u8'],
      ['mint', 'key'], ['vault', 'key'], ['stake_vault', 'key'], ['treasury', 'key'], ['poster', 'key'], ['coordinator', 'key'], ['genesis', 'key'],
      ['guardians', 'key', guardians_max],
      // Values that never change after init.
      ['genesis_time', 'u64'], ['epoch_seconds', 'u64'], ['emission_first', 'u64'], ['halving_epochs', 'u64'], ['cap', 'u64'], ['initial', 'u64'],
      // Parameters that governance may change within the bounds of the list `parameters`.
      ['fee_bps', 'u64'], ['challenge_seconds', 'u64'], ['unbonding_seconds', 'u64'], ['evidence_seconds', 'u64'], ['timeout_seconds', 'u64'],
      ['voting_seconds', 'u64'], ['delay_seconds', 'u64'], ['bond_min', 'u64'], ['bounty_bps', 'u64'], ['post_bps', 'u64'], ['quorum_bps', 'u64'],
      ['proposal_stake', 'u64'], ['demand_lamports', 'u64'],
      // Totals of epochs, charges and claims.
      ['frozen_at', 'u64'], ['last_epoch', 'u64'], ['last_amount', 'u64'], ['last_units', 'u64'], ['emitted', 'u64'], ['charged', 'u64'], ['spends_posted', 'u64'],
      ['final_spends', 'u64'], ['final_emission', 'u64'], ['claimed_spends', 'u64'], ['claimed_emission', 'u64'],
      ['deposits', 'u64'], ['withdrawals', 'u64'], ['fees', 'u64'], ['burned', 'u64'],
      ['staked', 'u64'], ['rewards_per_stake', 'u64'], ['vote_pool', 'u64'], ['proposals', 'u64'], ['posts', 'u64'],
      ['epochs', 'epoch', ring],
    ],
  },
  escrow: {
    kind: 2, seeds: '"escrow", config, owner', purpose: "A client's deposit, the amount that its signed vouchers have charged, and a requested withdrawal.",
    fields: [['kind', 'u8'], ['version', 'u8'], ['bump', 'u8'], ['unused', 'u8', 5], ['config', 'key'], ['owner', 'key'],
      ['deposited', 'u64'], ['withdrawn', 'u64'], ['charged', 'u64'], ['requested', 'u64'], ['requested_at', 'u64']],
  },
  stake: {
    kind: 3, seeds: '"stake", config, owner', purpose: "An owner's stake, the part of it that is unbonding, and its rewards.",
    fields: [['kind', 'u8'], ['version', 'u8'], ['bump', 'u8'], ['unused', 'u8', 5], ['config', 'key'], ['owner', 'key'],
      ['amount', 'u64'], ['unbonding', 'u64'], ['unbond_at', 'u64'], ['staked_at', 'u64'], ['locked_until', 'u64'], ['rewards_mark', 'u64'], ['rewards', 'u64']],
  },
};

Object.assign(accounts, {
  device: {
    kind: 4, seeds: '"device", config, owner, device', purpose: "A key that signs receipts for an owner. After it is ended, the owner's stake answers for it until ends_at.",
    fields: [...head(), ['owner', 'key'], ['device', 'key'], ['added_at', 'u64'], ['ends_at', 'u64']],
  },
  receipt: {
    kind: 5, seeds: '"receipt", config, digest', purpose: 'A receipt of a device: proof of compute. It pays nothing by itself.',
    fields: [...head(), ['device', 'key'], ['payer', 'key'], ['digest', 'key'], ['root', 'key'], ['recorded_at', 'u64']],
  },
  shown: {
    kind: 6, seeds: '"leaf", config, root, u64 position, payer', purpose: 'A leaf that was shown to be in a tree. `filled` is 0 for a place without an owner. Each payer has its own account of a leaf, so that no other account can close it before it is used.',
    fields: [['kind', 'u8'], ['version', 'u8'], ['bump', 'u8'], ['filled', 'u8'], ['unused', 'u8', 4], ['config', 'key'], ['payer', 'key'], ['root', 'key'], ['owner', 'key'], ['position', 'u64'], ['index', 'u64'], ['amount', 'u64'], ['units', 'u64']],
  },
  demand: {
    kind: 7, seeds: '"demand", config, u64 post, owner', purpose: 'A demand to see one path of the pending root; its lamports pay for the answer.',
    fields: [...head(), ['owner', 'key'], ['payer', 'key'], ['post', 'u64'], ['made_at', 'u64']],
  },
  proposal: {
    kind: 8, seeds: '"proposal", config, u64 number', purpose: 'A proposal on which stakers vote. action: 0 sets the parameter to `value`; 1 pays `value` from the treasury to the token account `target`; 2 makes `target` the poster; 3 makes `target` the guardian with the number `value`; 4 makes `target` the coordinator.',
    fields: [['kind', 'u8'], ['version', 'u8'], ['bump', 'u8'], ['action', 'u8'], ['parameter', 'u8'], ['executed', 'u8'], ['unused', 'u8', 2], ['config', 'key'], ['target', 'key'], ['value', 'u64'], ['number', 'u64'],
      ['created_at', 'u64'], ['ends_at', 'u64'], ['ready_at', 'u64'], ['total', 'u64'], ['yes', 'u64'], ['no', 'u64'], ['reward', 'u64']],
  },
  vote: {
    kind: 9, seeds: '"vote", proposal, stake', purpose: 'The record that a stake has voted on a proposal.',
    fields: [['kind', 'u8'], ['version', 'u8'], ['bump', 'u8'], ['yes', 'u8'], ['unused', 'u8', 4], ['config', 'key'], ['proposal', 'key'], ['stake', 'key'], ['weight', 'u64']],
  },
});

export const records = {
  epoch: {
    purpose: 'One epoch of the ring, at the place epoch modulo 16. state: 0 no root, 1 pending (in its challenge window), 2 final, 3 void.',
    fields: [['epoch', 'u64'], ['posted_at', 'u64'], ['root', 'key'], ['amount', 'u64'], ['units', 'u64'], ['emission', 'u64'], ['spends', 'u64'], ['bond', 'u64'],
      ['state', 'u8'], ['depth', 'u8'], ['demands', 'u16'], ['unused', 'u32'], ['bond_account', 'key'], ['amount_before', 'u64'], ['units_before', 'u64'], ['epoch_before', 'u64'], ['post', 'u64']],
  },
};

// Parameters in the order of their numbers, each with its bounds, which hold for init and for
// governance.
export const parameters = [
  ['fee_bps', 0, 1_000], ['challenge_seconds', 3_600, 30 * 86_400], ['unbonding_seconds', 7_200, 365 * 86_400], ['evidence_seconds', 3_600, 180 * 86_400],
  ['timeout_seconds', 3_600, 90 * 86_400], ['voting_seconds', 3_600, 60 * 86_400], ['delay_seconds', 7_200, 365 * 86_400], ['bond_min', 1, 1e15],
  ['bounty_bps', 0, 1_000], ['post_bps', 1, 500], ['quorum_bps', 100, 10_000], ['proposal_stake', 1, 1e15], ['demand_lamports', 0, 10 * 1e9],
];

export const instructions = {
  init: {
    tag: 0, purpose: 'Makes the config of a fresh mint. The mint signs, so no other account can take its place, and its only authority is the config. The founders\' account gets `founders_amount` of the initial allocation, and the treasury gets the rest.',
    accounts: [['payer', 'sw'], ['mint', 's', 'any', { writable: true }], ['config', 'w', 'new'], ['vault', '', 'any'], ['stake_vault', '', 'any'], ['treasury', 'w', 'any'], ['founders', 'w', 'any'],
      ['token_program', '', 'token_program'], ['system_program', '', 'system_program']],
    data: [['tag', 'u8'], ['guardian_count', 'u8'], ['guardian_quorum', 'u8'], ['unused', 'u8', 5], ['poster', 'key'], ['coordinator', 'key'], ['genesis', 'key'],
      ['guardians', 'key', guardians_max], ['genesis_time', 'u64'], ['epoch_seconds', 'u64'], ['emission_first', 'u64'], ['halving_epochs', 'u64'], ['cap', 'u64'], ['initial', 'u64'], ['founders_amount', 'u64'],
      ...parameters.map(([name]) => [name, 'u64'])],
    checks: {
      mint_owner: 'a mint that another program owns', mint_shape: 'a mint without 6 decimals, with a supply, or not initialised', mint_authority: 'a mint with another mint authority',
      mint_freezable: 'a mint whose freeze authority can freeze the vaults', vault_shape: 'a vault that another key can empty', stake_vault_shape: 'a stake vault that another key can empty',
      treasury_shape: 'a treasury that another key can empty', vaults_distinct: 'stakes and deposits in one account', config_address: 'a config at an address of the caller\'s choice',
      config_exists: 'a second init that replaces keys and totals', guardians: 'a quorum of no guardians, or of more than there are', parameters: 'a parameter out of its bounds',
      unbonding: 'unbonding that ends before evidence can be brought', delay: 'a decision that is carried out before a loser can leave', epoch: 'epochs shorter than their challenge window, or in the past of all time',
      halving: 'a halving period of none', cap: 'an initial allocation above the cap', founders: 'founders given more than the initial allocation', founders_account: 'tokens in a vault that no deposit or stake has brought', guardian_twice: 'a guardian whose one signature counts as two',
    },
  },
  deposit: {
    tag: 1, purpose: 'Moves tokens into the vault; makes the escrow if there is none.',
    accounts: [['owner', 'sw'], ['config', 'w', 'config'], ['escrow', 'w', 'new'], ['from', 'w', 'token'], ['vault', 'w', 'vault'], ['token_program', '', 'token_program'], ['system_program', '', 'system_program']],
    data: [['tag', 'u8'], ['amount', 'u64']],
    checks: { amount: 'an escrow made for nothing', escrow_address: 'an escrow at an address of the caller\'s choice', escrow_config: "another network's escrow", escrow_owner: "a deposit credited to another's escrow",
      escrow_kind: 'another account of the program in place of an escrow', overflow: 'totals that wrap' },
  },
  charge: {
    tag: 2, purpose: "Charges an escrow up to the cumulative amount of a voucher that its owner signed, in an Ed25519 instruction before this one. The fee goes to stakers.",
    accounts: [['config', 'w', 'config'], ['escrow', 'w', 'escrow'], ['vault', 'w', 'vault'], ['stake_vault', 'w', 'stake_vault'], ['instructions', '', 'instructions'], ['token_program', '', 'token_program']],
    data: [['tag', 'u8'], ['cumulative', 'u64']],
    checks: { forward: 'a voucher charged twice', funds: 'a charge above the deposit' },
  },
  withdraw: {
    tag: 3, purpose: 'Pays an unspent deposit back at once. The owner and the coordinator both sign.',
    accounts: [['owner', 's'], ['coordinator', 's', 'coordinator'], ['config', 'w', 'config'], ['escrow', 'w', 'escrow'], ['vault', 'w', 'vault'], ['to', 'w', 'token'], ['token_program', '', 'token_program']],
    data: [['tag', 'u8'], ['amount', 'u64']],
    checks: { owner: "a withdrawal of another's deposit", funds: 'a withdrawal of what is spent', destination: 'a withdrawal that goes in a circle, counted as paid' },
  },
  request_withdrawal: {
    tag: 4, purpose: 'Starts the time-out of a withdrawal without the coordinator. Vouchers that are charged before its end are paid first.',
    accounts: [['owner', 's'], ['config', '', 'config'], ['escrow', 'w', 'escrow']],
    data: [['tag', 'u8'], ['amount', 'u64']],
    checks: { owner: "a request for another's deposit", amount: 'a request for nothing' },
  },
  finish_withdrawal: {
    tag: 5, purpose: 'Pays a requested withdrawal after its time-out, except the part that was spent meanwhile.',
    accounts: [['owner', 's'], ['config', 'w', 'config'], ['escrow', 'w', 'escrow'], ['vault', 'w', 'vault'], ['to', 'w', 'token'], ['token_program', '', 'token_program']],
    data: [['tag', 'u8']],
    checks: { owner: "a withdrawal of another's deposit", requested: 'a withdrawal without a request', timeout: 'a client that leaves before its vouchers can be charged', destination: 'a withdrawal that goes in a circle, counted as paid' },
  },
  stake: {
    tag: 6, purpose: 'Adds to a stake; makes it if there is none. The age of the whole stake starts again.',
    accounts: [['owner', 'sw'], ['config', 'w', 'config'], ['stake', 'w', 'new'], ['from', 'w', 'token'], ['stake_vault', 'w', 'stake_vault'], ['token_program', '', 'token_program'], ['system_program', '', 'system_program']],
    data: [['tag', 'u8'], ['amount', 'u64']],
    checks: { amount: 'a stake of nothing', stake_address: 'a stake at an address of the caller\'s choice', stake_config: "another network's stake", stake_owner: "another's stake", stake_kind: 'another account of the program in place of a stake' },
  },
  unstake: {
    tag: 7, purpose: 'Begins to unbond an amount of a stake. The amount can be slashed until it is withdrawn.',
    accounts: [['owner', 's'], ['config', 'w', 'config'], ['stake', 'w', 'stake']],
    data: [['tag', 'u8'], ['amount', 'u64']],
    checks: { owner: "another's stake is unbonded", amount: 'more than the stake, or nothing', locked: 'a stake that votes and leaves' },
  },
  withdraw_stake: {
    tag: 8, purpose: 'Pays out the amount that has unbonded.',
    accounts: [['owner', 's'], ['config', '', 'config'], ['stake', 'w', 'stake'], ['stake_vault', 'w', 'stake_vault'], ['to', 'w', 'token'], ['token_program', '', 'token_program']],
    data: [['tag', 'u8']],
    checks: { owner: "another's stake is withdrawn", some: 'a withdrawal of nothing', time: 'a stake that leaves before evidence can reach it' },
  },
  take_rewards: {
    tag: 9, purpose: 'Pays the rewards of a stake.',
    accounts: [['owner', 's'], ['config', '', 'config'], ['stake', 'w', 'stake'], ['stake_vault', 'w', 'stake_vault'], ['to', 'w', 'token'], ['token_program', '', 'token_program']],
    data: [['tag', 'u8']],
    checks: { owner: "another's rewards are taken", some: 'a payment of nothing' },
  },
  post: {
    tag: 10, purpose: "Posts an epoch's root with a bond. `emission` is the part of the growth of the total that is paid in new tokens; vouchers have charged the rest. Only one root at a time is in its challenge window.",
    accounts: [['poster', 's', 'poster'], ['config', 'w', 'config'], ['bond_from', 'w', 'token'], ['vault', '', 'vault'], ['stake_vault', 'w', 'stake_vault'], ['token_program', '', 'token_program']],
    data: [['tag', 'u8'], ['epoch', 'u64'], ['root', 'key'], ['amount', 'u64'], ['units', 'u64'], ['emission', 'u64'], ['depth', 'u8']],
    checks: { frozen: 'a post while guardians look', pending: 'a second root while the first can be challenged', order: 'an epoch twice, or one that was missed', range: 'an epoch number that overflows the clock', due: 'an epoch before its time',
      amount: 'a total that falls', units: 'units that fall', emission: 'more new tokens than the epoch may emit', bound: 'spends that no voucher has charged, or more of the vault than one root may take', depth: 'a tree too deep to claim from',
      ring: 'the last final root overwritten, so that nothing is left to claim against' },
  },
  finalise: {
    tag: 11, purpose: 'Makes a pending epoch final after its challenge window and returns the bond.',
    accounts: [['config', 'w', 'config'], ['bond_to', 'w', 'token'], ['stake_vault', 'w', 'stake_vault'], ['token_program', '', 'token_program']],
    data: [['tag', 'u8'], ['slot', 'u8']],
    checks: { slot: 'an epoch outside the ring', state: 'a void root made final, or a bond returned twice', frozen: 'a root made final while guardians look', window: 'a root that cannot be challenged', demands: 'a root whose path is not shown',
      bond_to: 'the bond sent elsewhere' },
  },
  open_page: {
    tag: 12, purpose: 'Makes a page of claimed amounts for 1,280 owners.',
    accounts: [['payer', 'sw'], ['config', '', 'config'], ['page', 'w', 'new'], ['system_program', '', 'system_program']],
    data: [['tag', 'u8'], ['page', 'u32']],
    checks: { range: 'a page of no owner', exists: 'a page emptied, so that all is claimed again', address: 'a second page for the same owners' },
  },
  claim: {
    tag: 13, purpose: "Pays an owner the difference between its cumulative amount in a final root and the amount that it has claimed before. Any account may call it. `place` has the slot (4 bits), the index (21) and the position (21), from the lowest bit. Siblings of 40 bytes follow: hash, amount.",
    accounts: [['config', 'w', 'config'], ['page', 'w', 'any'], ['vault', 'w', 'vault'], ['to', 'w', 'token'], ['mint', 'w', 'mint'], ['token_program', '', 'token_program']],
    data: [['tag', 'u8'], ['page_bump', 'u8'], ['place', 'u48'], ['amount', 'u64'], ['units', 'u64']], tail: 40,
    checks: { final: 'a claim against a root that can still be challenged, or is void', depth: 'a node shown as a leaf', page_owner: "a page of the claimer's making", page_address: "another page, in which nothing is claimed", path: 'an amount that the root does not hold',
      new: 'a second claim', emission: 'more than all final epochs hold', to: 'a claim counted as paid that stays in the vault' },
  },
};

// The accounts of an instruction that takes a bond or a stake: the mint to burn from, the account
// that holds the tokens, and the account that gets the bounty.
const forfeit = [['mint', 'w', 'mint'], ['stake_vault', 'w', 'stake_vault'], ['bounty_to', 'w', 'token']];
const signedBefore = [['instructions', '', 'instructions']], tokens = [['token_program', '', 'token_program']];
const address = (what, why) => ({ exists: `${what} made twice`, address: why ?? `${what} at an address of the caller's choice` });
Object.assign(instructions, {
  freeze: {
    tag: 14, purpose: 'A guardian stops posts and the challenge window, until a quorum decides. Claims against final roots and withdrawals continue.',
    accounts: [['guardian', 's', 'guardian'], ['config', 'w', 'config']], data: [['tag', 'u8']],
    checks: { once: 'a freeze that restarts its own clock' },
  },
  decide: {
    tag: 15, purpose: 'A quorum of guardians, whose accounts follow the named ones, voids the pending root, ends the freeze, and names another posting key (32 zeros: the key stays).',
    accounts: [['config', 'w', 'config'], ['mint', 'w', 'mint'], ['stake_vault', 'w', 'stake_vault'], ...tokens], data: [['tag', 'u8'], ['voids', 'u8'], ['thaws', 'u8'], ['poster', 'key']],
    checks: { quorum: 'one guardian that decides alone', action: 'a flag of another meaning', pending: 'a final root voided', frozen: 'a window that is longer than it was' },
  },
  add_device: {
    tag: 16, purpose: 'An owner names a device. The stake of the owner covers the receipts of the device.',
    accounts: [['owner', 'sw'], ['config', '', 'config'], ['device', 'w', 'new'], ['system_program', '', 'system_program']], data: [['tag', 'u8'], ['device', 'key']],
    checks: address('a device'),
  },
  end_device: {
    tag: 17, purpose: 'An owner ends a device. The stake of the owner covers the device until the evidence window is over.',
    accounts: [['owner', 's'], ['config', '', 'config'], ['device', 'w', 'device']], data: [['tag', 'u8']],
    checks: { owner: "another's device is ended", once: 'an end that moves away' },
  },
  record_receipt: {
    tag: 18, purpose: 'Records a receipt of a device, which signed it in the Ed25519 instruction before this one.',
    accounts: [['payer', 'sw'], ['config', '', 'config'], ['device', '', 'device'], ['receipt', 'w', 'new'], ...signedBefore, ['system_program', '', 'system_program']],
    data: [['tag', 'u8'], ['session', 'key'], ['worker', 'key'], ['root', 'key']],
    checks: address('a receipt'),
  },
  close_receipt: {
    tag: 19, purpose: 'Returns the lamports of a receipt after the evidence window.',
    accounts: [['payer', 'sw'], ['config', '', 'config'], ['receipt', 'w', 'receipt']], data: [['tag', 'u8']],
    checks: { payer: "another's lamports", time: 'evidence that is gone too soon' },
  },
  slash: {
    tag: 20, purpose: "Takes the whole stake of an owner whose device signed two results for one attempt of a task, also the part that is unbonding. Both signatures are in one Ed25519 instruction before this one. Siblings of 32 bytes follow: a's, then b's.",
    accounts: [['config', 'w', 'config'], ['device', '', 'device'], ['stake', 'w', 'stake'], ...forfeit, ...signedBefore, ...tokens],
    data: [['tag', 'u8'], ['levels_a', 'u8'], ['levels_b', 'u8'], ['sides_a', 'u8'], ['sides_b', 'u8'], ['job', 'u64', 2], ['index', 'u32'], ['attempt', 'u32'], ['result_a', 'key'], ['result_b', 'key'],
      ['session_a', 'key'], ['worker_a', 'key'], ['session_b', 'key'], ['worker_b', 'key']], tail: 32,
    checks: { stake_owner: "another owner's stake is slashed", ended: 'a device ended long ago', differ: 'one result twice', levels: 'siblings read from behind the data', some: 'a stake that is slashed twice' },
  },
  show_leaf: {
    tag: 21, purpose: "Records a leaf of the tree of an epoch in the ring, for evidence and answers. Siblings of 40 bytes follow: hash, amount.",
    accounts: [['payer', 'sw'], ['config', '', 'config'], ['leaf', 'w', 'new'], ['system_program', '', 'system_program']],
    data: [['tag', 'u8'], ['slot', 'u8'], ['filled', 'u8'], ['position', 'u64'], ['owner', 'key'], ['index', 'u64'], ['amount', 'u64'], ['units', 'u64']], tail: 40,
    checks: { state: 'a leaf of no tree', depth: 'a node shown as a leaf', index: 'an index whose upper half is in no leaf', path: 'a leaf that the root does not hold', ...address('a leaf') },
  },
  close_leaf: {
    tag: 22, purpose: 'Returns the lamports of a shown leaf.',
    accounts: [['payer', 'sw'], ['config', '', 'config'], ['leaf', 'w', 'shown']], data: [['tag', 'u8']],
    checks: { payer: "another's lamports" },
  },
  prove_less: {
    tag: 23, purpose: 'Voids the pending root because it gives an owner less than the coordinator signed for its epoch or an earlier one (in the Ed25519 instruction before this one).',
    accounts: [['config', 'w', 'config'], ['leaf', '', 'shown'], ...forfeit, ...signedBefore, ...tokens], data: [['tag', 'u8'], ['slot', 'u8'], ['epoch', 'u64'], ['amount', 'u64'], ['units', 'u64']],
    checks: { pending: 'a final root voided', root: 'a leaf of another root', filled: 'an owner of 32 zeros', less: 'a root voided that gives what was promised', epoch: 'a promise for a later epoch' },
  },
  prove_missing: {
    tag: 24, purpose: 'Voids the pending root because it omits an owner for whom the coordinator signed an amount. The evidence is two neighbours between which the owner would be, or the leaf at an end, given twice.',
    accounts: [['config', 'w', 'config'], ['left', '', 'shown'], ['right', '', 'shown'], ...forfeit, ...signedBefore, ...tokens], data: [['tag', 'u8'], ['slot', 'u8'], ['owner', 'key'], ['epoch', 'u64'], ['amount', 'u64'], ['units', 'u64']],
    checks: { pending: 'a final root voided', left_root: 'a left neighbour of another root', right_root: 'a right neighbour of another root', some: 'a promise of nothing', missing: 'an owner that is there', epoch: 'a promise for a later epoch' },
  },
  prove_order: {
    tag: 25, purpose: 'Voids the pending root because two of its leaves are out of order or have the same owner or index, or because an empty place is before a filled one.',
    accounts: [['config', 'w', 'config'], ['left', '', 'shown'], ['right', '', 'shown'], ...forfeit, ...tokens], data: [['tag', 'u8'], ['slot', 'u8']],
    checks: { pending: 'a final root voided', left_root: 'a left leaf of another root', right_root: 'a right leaf of another root', positions: 'the same two leaves the other way round', wrong: 'a root voided that is in order' },
  },
  prove_sum: {
    tag: 26, purpose: "Voids the pending root because the sum of a node is not the sum of its children. Siblings of 40 bytes follow, from that node up.",
    accounts: [['config', 'w', 'config'], ...forfeit, ...tokens], data: [['tag', 'u8'], ['slot', 'u8'], ['position', 'u64'], ['sum', 'u64'], ['left', 'key'], ['left_sum', 'u64'], ['right', 'key'], ['right_sum', 'u64']], tail: 40,
    checks: { pending: 'a final root voided', path: 'a node of another tree', wrong: 'a root voided whose sums are right' },
  },
  demand: {
    tag: 27, purpose: "Demands the path of an owner in the pending root. Without an answer within a challenge window the root can be voided. An answer is paid with `demand_lamports`.",
    accounts: [['payer', 'sw'], ['config', 'w', 'config'], ['demand', 'w', 'new'], ['system_program', '', 'system_program']], data: [['tag', 'u8'], ['slot', 'u8'], ['owner', 'key']],
    checks: { pending: 'a demand on a final root', window: 'a demand after the window, so that the root never ends', many: 'a counter that wraps', ...address('a demand') },
  },
  answer: {
    tag: 28, purpose: "Answers a demand with a shown leaf of its owner (given twice), or with the neighbours between which the owner would be.",
    accounts: [['answerer', 'sw'], ['config', 'w', 'config'], ['demand', 'w', 'demand'], ['left', '', 'shown'], ['right', '', 'shown']], data: [['tag', 'u8'], ['slot', 'u8']],
    checks: { pending: 'a counter of a final root', post: 'a demand of another root', left_root: 'a leaf of another root', right_root: 'a neighbour of another root', shows: 'another leaf as the answer' },
  },
  void_unanswered: {
    tag: 29, purpose: 'Voids the pending root after an unanswered demand, or closes a demand if its root is no longer pending. Any account may call it. The lamports of the demand go back to the account that paid for it.',
    accounts: [['payer', 'w'], ['config', 'w', 'config'], ['demand', 'w', 'demand'], ...forfeit, ...tokens], data: [['tag', 'u8']],
    checks: { payer: "another's lamports", time: 'a root voided before it can be answered' },
  },
  prove_fell: {
    tag: 33, purpose: "Voids the pending root because it takes from an owner an amount that the last final root gave. The evidence is the shown leaf of the owner in the final root and, in the pending root, the leaf of the owner (given twice) with less or another index, or the two neighbours between which the owner would be.",
    accounts: [['config', 'w', 'config'], ['before', '', 'shown'], ['left', '', 'shown'], ['right', '', 'shown'], ...forfeit, ...tokens], data: [['tag', 'u8'], ['slot', 'u8']],
    checks: { pending: 'a final root voided', final: 'amounts of a root that is void', before_root: 'a leaf of a root that never was final', left_root: 'a leaf of another root', right_root: 'a neighbour of another root', filled: 'an owner of 32 zeros',
      fell: 'a root voided that takes from no owner' },
  },
  propose: {
    tag: 30, purpose: 'Proposes a change of a parameter or a key, or a payment of the treasury. The total of stakes is recorded.',
    accounts: [['owner', 'sw'], ['config', 'w', 'config'], ['stake', '', 'stake'], ['proposal', 'w', 'new'], ['system_program', '', 'system_program']],
    data: [['tag', 'u8'], ['action', 'u8'], ['parameter', 'u8'], ['value', 'u64'], ['target', 'key']],
    checks: { owner: "a proposal with another's stake", stake_least: 'a flood of proposals', action: 'an action that does not exist', parameter: 'a field behind the parameters, such as a total', address: "a proposal at an address of the caller's choice" },
  },
  vote: {
    tag: 31, purpose: 'Votes with a whole stake, which is locked until the end of the vote and gets its part of the reward.',
    accounts: [['owner', 'sw'], ['config', '', 'config'], ['stake', 'w', 'stake'], ['proposal', 'w', 'proposal'], ['vote', 'w', 'new'], ['system_program', '', 'system_program']], data: [['tag', 'u8'], ['yes', 'u8']],
    checks: { owner: "another's stake votes", open: 'a vote after the end', age: 'stake bought for the vote', weight: 'a vote of nothing', exists: 'a stake that votes twice', address: 'a stake that votes twice, at two addresses' },
  },
  execute: {
    tag: 32, purpose: 'Carries out a proposal after the delay, if it has the quorum and the majority.',
    accounts: [['config', 'w', 'config'], ['proposal', 'w', 'proposal'], ['treasury', 'w', 'treasury'], ['to', 'w', 'token'], ...tokens], data: [['tag', 'u8']],
    checks: { once: 'a payment twice', ready: 'a change before a loser can leave', quorum: 'a decision of few', majority: 'a decision against the majority', bounds: 'a parameter out of its bounds', windows: 'unbonding that ends before evidence can be brought',
      to: 'a payment to another account', guardian: 'a guardian behind the last', guardian_twice: 'a guardian whose one signature counts as two' },
  },
});

// Checks of functions that several instructions share.
export const shared = {
  tag: 60,
  checks: { signature_before: 'no Ed25519 instruction directly before', signature_program: 'another program\'s instruction in the place of the signature check',
    signature_count: 'another number of signatures', signature_inside: 'a signature check over bytes of another instruction', signature_key: "another's signature", signature_message: 'a signature over another message' },
};

export const sizes = { u8: 1, u16: 2, u32: 4, u48: 6, u64: 8, key: 32 };
export const widthOf = ([, type, count = 1]) => (sizes[type] ?? lengthOf(records[type].fields)) * count;
export const lengthOf = (fields) => fields.reduce((sum, field) => sum + widthOf(field), 0);

// The checks of an instruction in the order of their numbers: those of its data and accounts, then its own.
export function checksOf(name) {
  const { accounts: list, checks } = instructions[name];
  const all = [['length', 'data of another length'], ['count', 'an account too few']];
  for (const [account, flags, kind = 'any', more = {}] of list) {
    if (flags.includes('s')) all.push([`${account}_signer`, `${account} has not signed`]);
    if (flags.includes('w') || more.writable) all.push([`${account}_writable`, `${account} is read-only`]);
    if (accounts[kind]) {
      all.push([`${account}_program`, `${account} with the right bytes, owned by another program`], [`${account}_kind`, `an account of another kind as ${account}`]);
      if (kind !== 'config') all.push([`${account}_network`, `${account} of another network`]);
    } else if (kind === 'token') all.push([`${account}_program`, `${account} with the right bytes, owned by another program`], [`${account}_mint`, `${account} of another mint`]);
    else if (!['any', 'new'].includes(kind)) all.push([`${account}_key`, `another account as ${account}`]);
  }
  return [...all, ...Object.entries(checks)];
}
// number -> { instruction, check, attack, automatic }
export function numbered() {
  const out = new Map();
  const add = (instruction, tag, list, own) => list.forEach(([check, attack], i) => out.set(0x1000 + tag * 64 + i, { instruction, check, attack, automatic: !own.includes(check), name: `${instruction}_${check}` }));
  for (const [name, { tag, checks }] of Object.entries(instructions)) add(name, tag, checksOf(name), Object.keys(checks));
  add('shared', shared.tag, Object.entries(shared.checks), Object.keys(shared.checks));
  return out;
}
