// Reads an owner's state on the chain, and makes the transactions that it can send, each with a sentence that says what is signed.
import { base58 } from '../../engine/keptWallet';
import { creditsText, spanText } from './credits';
import { checkDevice, checkReceipt, digestOf, parseReceipt, type ReceiptCheck, type Recorded } from './receipts';
import { readProposals, type Proposal } from './proposals';
import { clockSysvar, makeTokens, tokensOf } from './addresses';
import { fromBase58, hex, numberAt, same, type Bytes } from './bytes';
import { call, Network, ownersOfPage, ring, State } from './program';
import { Rpc, type Account } from './rpc';
import { parseRows, SumTree, type Row } from './sumTree';
import { transactionBytesMax, unsigned, type Instruction } from './transaction';

export type NetworkNames = { readonly rpc: string; readonly program: string; readonly mint: string };
export type Earnings = {
  readonly epoch: number;
  readonly slot: number;
  readonly row: Row | null;
  readonly tree: SumTree;
  readonly position: number;
  readonly claimed: bigint;
  readonly due: bigint;
};
export type Stake = { readonly amount: bigint; readonly unbonding: bigint; readonly unbondAt: number; readonly lockedUntil: number; readonly rewards: bigint };
export type Holding = {
  readonly tokens: bigint;
  readonly lamports: number;
  readonly stake: Stake | null;
  readonly unbondingSeconds: number;
  readonly now: number;  // The chain's time, in seconds since 1970.
  readonly earnings: Earnings | null;
  readonly earningsNote: string;  // The reason why there are no earnings.
  readonly proposals: readonly Proposal[];
};
/** The checks of a receipt file, and the time at which it was recorded on the chain (null: it is not recorded). */
export type CheckedReceipt = { readonly checks: readonly ReceiptCheck[]; readonly digest: string; readonly recordedAt: number | null };
/** One transaction: a sentence that says what is signed, and the rent of the accounts that it makes. */
export type Act = { readonly what: string; readonly instructions: readonly Instruction[]; readonly rent: number };

const amountAt = 64;  // The offset of the amount in a token account.
const tokenAccountBytes = 165;
const unixTimeAt = 32;  // The offset of the time in the clock account.
const finalState = 2n;
const configAt = 8;  // Offset in every account of the program except the config; the subject of the account follows it.
const devicesMost = 50;  // The most devices of an owner that are read, because each takes a request to the node.
const timeOf = (clock: Account | null | undefined): number => (clock ? Number(numberAt(clock.data, unixTimeAt, 8)) : 0);

export class Desk {
  readonly rpc: Rpc;
  private readonly network: Network;
  readonly program: string;
  private readonly epochs = new Map<string, Promise<SumTree>>();  // The trees of the epochs, by their roots.

  constructor(
    names: NetworkNames,
    private readonly base: string,
  ) {
    this.rpc = new Rpc(names.rpc);
    this.network = new Network(names);
    this.program = names.program;
  }

  private async rows(epoch: number, root: Uint8Array, amount: bigint): Promise<SumTree> {
    const id = base58(root as Bytes);
    const known = this.epochs.get(id);
    if (known !== undefined) return known;
    const made = (async () => {
      const response = await fetch(new URL(`/v1/settlement/rows/${epoch}`, this.base).href);
      if (!response.ok) throw new Error(((await response.json().catch(() => ({}))) as { detail?: string }).detail ?? `The rows of epoch ${epoch} cannot be read.`);
      const tree = await SumTree.create(parseRows(await response.text()));
      if (!tree.makes(root, amount)) throw new Error(`The rows of epoch ${epoch} that this coordinator publishes do not make the root on the chain. Nothing can be claimed by them.`);
      return tree;
    })();
    this.epochs.set(id, made);
    made.catch(() => this.epochs.delete(id));
    return made;
  }

  private async config(): Promise<State> {
    const [account] = await this.rpc.accounts([await this.network.config()]);
    const state = account && account.owner === this.program ? State.read('config', account.data) : null;
    if (state === null) throw new Error('The node knows no such settlement network.');
    return state;
  }

  private async earnings(config: State, owner: Bytes): Promise<Earnings | string> {
    let best: { epoch: bigint; slot: number } | null = null;
    for (let slot = 0; slot < ring; slot += 1) {
      const epoch = config.number(`epochs.${slot}.epoch`);
      if (config.number(`epochs.${slot}.state`) === finalState && (best === null || epoch > best.epoch)) best = { epoch, slot };
    }
    if (best === null) return 'No epoch is final yet.';
    const { slot } = best;
    const epoch = Number(best.epoch);
    const tree = await this.rows(epoch, config.key(`epochs.${slot}.root`), config.number(`epochs.${slot}.amount`));
    const position = tree.position(owner);
    const row = tree.rows[position] ?? null;
    if (row === null) return `Epoch ${epoch}, the last final one, gives this owner nothing: what it earns is settled by \`weft chain settle\`.`;
    const [page] = await this.rpc.accounts([(await this.network.page(Math.floor(row.index / ownersOfPage))).key]);
    const claimed = page && page.owner === this.program ? numberAt(page.data, 8 * (row.index % ownersOfPage), 8) : 0n;
    return { epoch, slot, row, tree, position, claimed, due: row.amount > claimed ? row.amount - claimed : 0n };
  }

  async holding(address: string): Promise<Holding> {
    const owner = fromBase58(address);
    const config = await this.config();
    const [tokens, stake, clock] = await this.rpc.accounts([await tokensOf(owner, this.network.mint), await this.network.stake(owner), clockSysvar]);
    const state = stake && stake.owner === this.program ? State.read('stake', stake.data) : null;
    let found: Earnings | string;
    try {
      found = await this.earnings(config, owner);
    } catch (error) {
      found = error instanceof Error ? error.message : String(error);
    }
    return {
      tokens: amountIn(tokens ?? null),
      lamports: await this.rpc.lamports(owner),
      stake: state === null ? null : {
        amount: state.number('amount'),
        unbonding: state.number('unbonding'),
        unbondAt: Number(state.number('unbond_at')),
        lockedUntil: Number(state.number('locked_until')),
        rewards: state.number('rewards'),
      },
      unbondingSeconds: Number(config.number('unbonding_seconds')),
      now: timeOf(clock),
      earnings: typeof found === 'string' ? null : found,
      earningsNote: typeof found === 'string' ? found : '',
      proposals: await readProposals(this.rpc, this.network, this.program, config, owner),
    };
  }

  /** Checks a receipt against the chain. Throws an Error of one sentence if the text is not a receipt. */
  async checkReceipt(written: string): Promise<CheckedReceipt> {
    const receipt = parseReceipt(written);
    const config = await this.config();
    const place = { genesis: config.key('genesis'), program: this.network.program, coordinator: config.key('coordinator') };
    const digest = await digestOf(receipt, place);
    const named = await this.network.device(fromBase58(receipt.owner), fromBase58(receipt.device));
    const [account, record, clock] = await this.rpc.accounts([named, await this.network.receipt(digest), clockSysvar]);
    const device = this.state('device', account), recorded = this.state('receipt', record);
    const checks = await checkReceipt(receipt, place, device === null ? null : { endsAt: Number(device.number('ends_at')) }, timeOf(clock));
    const on = recorded !== null && same(recorded.key('digest'), digest) && same(recorded.key('device'), named);
    return { checks, digest: hex(digest), recordedAt: on ? Number(recorded.number('recorded_at')) : null };
  }

  /**
   * Returns the recorded receipts of an owner's devices, oldest first, each with the check whether the owner's stake still covers its
   * device.
   */
  async recorded(address: string): Promise<Recorded[]> {
    const owner = fromBase58(address), config = await this.network.config();
    const [clock] = await this.rpc.accounts([clockSysvar]);
    const of = async (kind: string, key: Bytes) =>
      (await this.rpc.accountsOf(this.program, State.bytesOf(kind), [{ at: configAt, bytes: config }, { at: configAt + 32, bytes: key }])).flatMap((one) => this.state(kind, one) ?? []).filter((one) => same(one.key('config'), config));
    const devices = (await of('device', owner)).slice(0, devicesMost);
    const lists = await Promise.all(devices.map(async (device) => {
      const key = device.key('device');
      const check = checkDevice(base58(key), { endsAt: Number(device.number('ends_at')) }, timeOf(clock));
      return (await of('receipt', await this.network.device(owner, key))).map((one) => ({ digest: hex(one.key('digest')), device: base58(key), at: Number(one.number('recorded_at')), check }));
    }));
    return lists.flat().sort((a, b) => a.at - b.at || (a.digest < b.digest ? -1 : 1));
  }
  private state(kind: string, account: Account | null | undefined): State | null {
    return account && account.owner === this.program ? State.read(kind, account.data) : null;
  }

  private async rentIfMissing(key: Bytes, bytes: number): Promise<number> {
    const [there] = await this.rpc.accounts([key]);
    return there && there.data.length > 0 ? 0 : this.rpc.rentOf(bytes);
  }
  private async ownTokens(owner: Bytes): Promise<{ key: Bytes; rent: number; make: Instruction[] }> {
    const key = await tokensOf(owner, this.network.mint);
    const rent = await this.rentIfMissing(key, tokenAccountBytes);
    return { key, rent, make: rent > 0 ? [makeTokens(owner, owner, key, this.network.mint)] : [] };
  }

  async claim(address: string, earnings: Earnings): Promise<Act[]> {
    const { row, slot, position, tree, due } = earnings;
    if (row === null || due === 0n) throw new Error('There is nothing to claim.');
    const owner = fromBase58(address);
    const config = await this.network.config();
    const state = await this.config();
    const number = Math.floor(row.index / ownersOfPage);
    const page = await this.network.page(number);
    const tokens = await this.ownTokens(owner);
    const claim = call(
      this.network.program, 'claim',
      { config, page: page.key, vault: state.key('vault'), to: tokens.key, mint: this.network.mint },
      { page_bump: page.bump, place: BigInt(slot) | (BigInt(row.index) << 4n) | (BigInt(position) << 25n), amount: row.amount, units: row.units },
      tree.path(position),
    );
    const acts: Act[] = [];
    const pageRent = await this.rentIfMissing(page.key, 8 * ownersOfPage);
    if (pageRent > 0)
      acts.push({
        what: `Opens the page of claimed amounts for ${ownersOfPage} owners.`,
        instructions: [call(this.network.program, 'open_page', { payer: owner, config, page: page.key }, { page: number })],
        rent: pageRent,
      });
    const what = `Claims ${creditsText(due)} of epoch ${earnings.epoch}, into this wallet.`;
    // The claim is a separate transaction if both do not fit into one, as with very many owners, whose proofs are long.
    if (unsigned(owner, [...tokens.make, claim], new Uint8Array(32)).length <= transactionBytesMax) return [...acts, { what, instructions: [...tokens.make, claim], rent: tokens.rent }];
    return [...acts, { what: 'Makes the account of this wallet for tokens.', instructions: tokens.make, rent: tokens.rent }, { what, instructions: [claim], rent: 0 }];
  }

  async stake(address: string, amount: bigint): Promise<Act[]> {
    const owner = fromBase58(address);
    const state = await this.config();
    const stake = await this.network.stake(owner);
    const rent = await this.rentIfMissing(stake, State.bytesOf('stake'));
    return [{
      what: `Stakes ${creditsText(amount)}. Leaving takes ${spanText(Number(state.number('unbonding_seconds')))}; the stake is lost if a device of this owner signs two results of one task.`,
      instructions: [call(this.network.program, 'stake', { owner, config: await this.network.config(), stake, from: await tokensOf(owner, this.network.mint), stake_vault: state.key('stake_vault') }, { amount })],
      rent,
    }];
  }

  async unstake(address: string, amount: bigint): Promise<Act[]> {
    const owner = fromBase58(address);
    const state = await this.config();
    return [{
      what: `Begins to unbond ${creditsText(amount)} of the stake. It is paid out after ${spanText(Number(state.number('unbonding_seconds')))}, and can be lost until then.`,
      instructions: [call(this.network.program, 'unstake', { owner, config: await this.network.config(), stake: await this.network.stake(owner) }, { amount })],
      rent: 0,
    }];
  }

  async vote(address: string, { number, what }: Proposal, yes: boolean): Promise<Act[]> {
    const owner = fromBase58(address);
    const stake = await this.network.stake(owner);
    const proposal = await this.network.proposal(number);
    const vote = await this.network.vote(proposal, stake);
    return [{
      what: `Votes ${yes ? 'yes' : 'no'} on proposal ${number}: "${what}". The whole stake votes, and is locked to the end of the vote.`,
      instructions: [call(this.network.program, 'vote', { owner, config: await this.network.config(), stake, proposal, vote }, { yes: yes ? 1 : 0 })],
      rent: await this.rentIfMissing(vote, State.bytesOf('vote')),
    }];
  }

  async withdrawStake(address: string, amount: bigint): Promise<Act[]> {
    const owner = fromBase58(address);
    const state = await this.config();
    const tokens = await this.ownTokens(owner);
    return [{
      what: `Pays out the ${creditsText(amount)} that have unbonded, into this wallet.`,
      instructions: [...tokens.make, call(this.network.program, 'withdraw_stake', { owner, config: await this.network.config(), stake: await this.network.stake(owner), stake_vault: state.key('stake_vault'), to: tokens.key })],
      rent: tokens.rent,
    }];
  }
}

const amountIn = (account: Account | null): bigint => (account === null || account.data.length < tokenAccountBytes ? 0n : numberAt(account.data, amountAt, 8));

export async function askNetwork(base: string): Promise<NetworkNames | null> {
  const response = await fetch(new URL('/v1/settlement/network', base).href);
  if (response.status === 404) return null;
  if (!response.ok) throw new Error(`/v1/settlement/network answered ${response.status}.`);
  return (await response.json()) as NetworkNames;
}
