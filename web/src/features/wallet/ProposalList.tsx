import { Button } from '../../design/Button';
import { creditsText, spanText } from './credits';
import { standing, type Proposal } from './proposals';

/** The proposals on which stakers vote. `vote` is null if the owner has no stake to vote with. */
export function ProposalList({ proposals, now, busy, vote }: { proposals: readonly Proposal[]; now: number; busy: boolean; vote: ((proposal: Proposal, yes: boolean) => void) | null }) {
  return (
    <section aria-labelledby="proposals-title">
      <h2 id="proposals-title" className="text-xl font-semibold tracking-tight">Proposals</h2>
      {proposals.length === 0 ? <p className="mt-2 text-soft">Nothing was proposed in this network yet.</p> : null}
      <ul className="mt-3 space-y-4" data-testid="proposals">
        {proposals.map((one) => {
          const stands = standing(one, now);
          return (
            <li key={one.number} data-testid={`proposal-${one.number}`} className="border border-line bg-panel p-4">
              <p className="font-semibold break-words">
                {one.number}. {one.what}
              </p>
              <p className="mt-1 text-soft">
                {creditsText(one.yes)} for it, {creditsText(one.no)} against it; {creditsText(one.quorum)} of votes are needed.{' '}
                {stands === 'open' ? `The vote ends in ${spanText(one.endsAt - now)}.`
                  : stands === 'waiting' ? `Accepted; it can be carried out in ${spanText(one.readyAt - now)}.`
                  : stands === 'ready' ? `Accepted; \`weft chain execute ${one.number}\` carries it out.`
                  : stands === 'rejected' ? 'Rejected.' : 'Carried out.'}
              </p>
              {one.voted !== null ? <p className="mt-1">You voted {one.voted}.</p> : stands === 'open' && vote !== null ? (
                <div className="mt-3 flex gap-3">
                  <Button look="small" disabled={busy} onClick={() => vote(one, true)}>Vote yes</Button>
                  <Button look="small" disabled={busy} onClick={() => vote(one, false)}>Vote no</Button>
                </div>
              ) : null}
            </li>
          );
        })}
      </ul>
    </section>
  );
}
