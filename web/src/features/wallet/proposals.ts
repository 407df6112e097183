// The proposals of a network in words, and the votes of an owner on them.
import { base58 } from '../../engine/keptWallet';
import { parameters } from '../../../../chain/layout.mjs';
import { creditsText } from './credits';
import { Network, State } from './program';
import type { Rpc } from './rpc';
import type { Bytes } from './bytes';

export type Proposal = {
  readonly number: number;
  readonly what: string;
  readonly createdAt: number;
  readonly endsAt: number;
  readonly readyAt: number;
  readonly yes: bigint;
  readonly no: bigint;
  readonly quorum: bigint;
  readonly executed: boolean;
  readonly voted: 'yes' | 'no' | null;
};

const shownMost = 20;  // The number of newest proposals that are shown; `weft chain` shows any.

export function proposalText(state: State): string {
  const value = state.number('value');
  const target = base58(state.key('target'));
  switch (Number(state.number('action'))) {
    case 0:
      return `Set ${parameters[Number(state.number('parameter'))]?.[0] ?? 'an unknown parameter'} to ${value}`;
    case 1:
      return `Pay ${creditsText(value)} of the treasury to the token account ${target}`;
    case 2:
      return `Let ${target} post the epochs`;
    case 3:
      return `Make ${target} guardian number ${value}`;
    case 4:
      return `Let ${target} sign as the coordinator`;
    default:
      return 'Something that this page does not know';
  }
}

/** Returns the proposals, the newest first. */
export async function readProposals(rpc: Rpc, network: Network, program: string, config: State, owner: Bytes): Promise<Proposal[]> {
  const count = Number(config.number('proposals'));
  const numbers = Array.from({ length: Math.min(count, shownMost) }, (_, i) => count - 1 - i);
  if (numbers.length === 0) return [];
  const stake = await network.stake(owner);
  const proposals = await Promise.all(numbers.map((number) => network.proposal(number)));
  const votes = await Promise.all(proposals.map((proposal) => network.vote(proposal, stake)));
  const found = await rpc.accounts([...proposals, ...votes]);
  return numbers.flatMap((number, i) => {
    const account = found[i];
    const state = account && account.owner === program ? State.read('proposal', account.data) : null;
    if (state === null) return [];
    const cast = found[proposals.length + i];
    const vote = cast && cast.owner === program ? State.read('vote', cast.data) : null;
    return [{
      number,
      what: proposalText(state),
      createdAt: Number(state.number('created_at')),
      endsAt: Number(state.number('ends_at')),
      readyAt: Number(state.number('ready_at')),
      yes: state.number('yes'),
      no: state.number('no'),
      quorum: (state.number('total') * config.number('quorum_bps')) / 10_000n,
      executed: state.number('executed') !== 0n,
      voted: vote === null ? null : vote.number('yes') !== 0n ? 'yes' : 'no',
    } satisfies Proposal];
  });
}

/** Returns the state of a proposal at the chain's time. */
export function standing(proposal: Proposal, now: number): 'open' | 'carried out' | 'rejected' | 'waiting' | 'ready' {
  if (proposal.executed) return 'carried out';
  if (now < proposal.endsAt) return 'open';
  if (proposal.yes <= proposal.no || proposal.yes + proposal.no < proposal.quorum) return 'rejected';
  return now < proposal.readyAt ? 'waiting' : 'ready';
}
