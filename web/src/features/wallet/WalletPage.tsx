// The wallet on the chain: an owner's earnings, which the owner can claim, and the owner's stake. A wallet of the browser signs; the page
// shows in words what the wallet is asked to sign.
import { useState } from 'react';
import { Button } from '../../design/Button';
import { shorten } from '../../design/format';
import { Notice } from '../../design/Notice';
import { Stat } from '../../design/Stat';
import { creditsText, parseCredits, spanText } from './credits';
import type { Act, Desk, Holding } from './desk';
import { ProposalList } from './ProposalList';
import { ReceiptPanel } from './ReceiptPanel';
import { lamportsASignature, useSettlement } from './useSettlement';

const sol = (lamports: number): string => `${(lamports / 1e9).toFixed(9).replace(/0+$/, '').replace(/\.$/, '')} SOL`;

export function WalletPage({ base }: { base: string }) {
  const s = useSettlement(base);
  return (
    <main className="pb-20 pt-8">
      <h1 className="text-3xl font-bold tracking-tight">Wallet</h1>
      <p className="mt-3 max-w-prose text-soft">
        What you settle of your credits is paid as tokens on a chain, to the key that names you there. This page reads the chain by the node that the coordinator
        names, and checks the operator’s rows against the root on the chain.
      </p>
      <div className="mt-6 max-w-3xl space-y-6">
        {s.phase.kind === 'loading' ? <p className="text-soft">Asking the coordinator…</p> : null}
        {s.phase.kind === 'failed' ? <Notice tone="warn" title={s.phase.why} /> : null}
        {s.phase.kind === 'none' ? (
          <Notice title="This coordinator does not settle on a chain.">
            <p>Credits stay in its ledger. An operator turns settlement on with <code>weft serve --settlement FILE</code>.</p>
          </Notice>
        ) : null}
        {s.sending.length > 0 ? (
          <Notice title="On its way">
            <ul data-testid="sending">
              {s.sending.map(({ what, bytes }) => (
                <li key={bytes}>{what}</li>
              ))}
            </ul>
            <p>You can close this page: what is signed is kept in this browser and goes on when you open it again.</p>
            {s.silence === '' ? null : <p>{s.silence}</p>}
          </Notice>
        ) : null}
        {s.done.length > 0 ? (
          <ul data-testid="done" className="space-y-2">
            {s.done.map(({ what, why }, i) => (
              <li key={i}>
                <Notice tone={why === null ? 'plain' : 'warn'} title={why === null ? 'Done' : 'Not done'}>
                  <p>{what}</p>
                  {why === null ? null : <p>It failed: {why}.</p>}
                </Notice>
              </li>
            ))}
          </ul>
        ) : null}
        {s.trouble === '' ? null : <Notice tone="warn" title={s.trouble} />}
        {s.phase.kind !== 'ready' ? null : s.session === null ? (
          <section aria-labelledby="connect-title">
            <h2 id="connect-title" className="text-xl font-semibold tracking-tight">Connect a wallet</h2>
            {s.wallets.length === 0 ? (
              <p className="mt-2 text-soft">No wallet of Solana is in this browser. The commands <code>weft chain claim</code> and <code>weft chain stake</code> do the same with a wallet file.</p>
            ) : (
              <ul className="mt-3 flex flex-wrap gap-3">
                {s.wallets.map((wallet) => (
                  <li key={wallet.name}>
                    <Button onClick={() => s.connect(wallet)}>{wallet.name}</Button>
                  </li>
                ))}
              </ul>
            )}
          </section>
        ) : (
          <>
            <p className="text-soft">
              Connected: <span className="font-mono text-ink" title={s.session.account.address}>{shorten(s.session.account.address)}</span>
            </p>
            {s.offer === null ? null : <Confirm acts={s.offer.acts} sign={() => void s.confirm()} cancel={s.cancel} />}
            {s.holding === null ? (
              s.trouble === '' ? <p className="text-soft">Reading the chain…</p> : <Button look="small" onClick={() => void s.refresh()}>Read again</Button>
            ) : (
              <Owned holding={s.holding} desk={s.phase.desk} address={s.session.account.address} busy={s.offer !== null || s.sending.length > 0} propose={(make) => void s.propose(make)} />
            )}
          </>
        )}
        {s.phase.kind === 'ready' ? <ReceiptPanel desk={s.phase.desk} owner={s.session?.account.address ?? null} /> : null}
      </div>
    </main>
  );
}

function Confirm({ acts, sign, cancel }: { acts: readonly Act[]; sign: () => void; cancel: () => void }) {
  const rent = acts.reduce((sum, act) => sum + act.rent, 0);
  const fees = acts.length * lamportsASignature;
  return (
    <section aria-labelledby="confirm-title" data-testid="confirm" className="border border-weld bg-panel p-5">
      <h2 id="confirm-title" className="text-xl font-semibold tracking-tight">Your wallet is asked to sign</h2>
      <ol className="mt-3 list-decimal space-y-2 pl-5">
        {acts.map(({ what }) => (
          <li key={what}>{what}</li>
        ))}
      </ol>
      <p className="mt-3 text-soft" data-testid="costs">
        This costs {sol(fees + rent)}: {sol(fees)} in fees, {sol(rent)} in rent of new accounts.
      </p>
      <div className="mt-4 flex gap-3">
        <Button look="quiet" onClick={sign}>Sign and send</Button>
        <Button look="small" onClick={cancel}>Cancel</Button>
      </div>
    </section>
  );
}

type Propose = (make: () => Promise<Act[]>) => void;

function Owned({ holding, desk, address, busy, propose }: { holding: Holding; desk: Desk; address: string; busy: boolean; propose: Propose }) {
  const { earnings, stake } = holding;
  const credits = (micro: bigint) => creditsText(micro).replace(' credits', '');
  return (
    <>
      <section aria-labelledby="earnings-title">
        <h2 id="earnings-title" className="text-xl font-semibold tracking-tight">Earnings</h2>
        <dl className="mt-3 flex flex-wrap gap-x-10 gap-y-4">
          <Stat label="tokens in this wallet" value={credits(holding.tokens)} unit="credits" testId="tokens" />
          <Stat label="to pay fees" value={sol(holding.lamports).replace(' SOL', '')} unit="SOL" testId="lamports" />
          {earnings === null ? null : (
            <>
              <Stat label={`earned up to epoch ${earnings.epoch}`} value={credits(earnings.row?.amount ?? 0n)} unit="credits" testId="earned" />
              <Stat label="claimed" value={credits(earnings.claimed)} unit="credits" testId="claimed" />
              <Stat label="to claim" value={credits(earnings.due)} unit="credits" testId="due" />
            </>
          )}
        </dl>
        {earnings === null ? <p className="mt-3 max-w-prose text-soft" data-testid="earnings-note">{holding.earningsNote}</p> : (
          <>
            <p className="mt-3 text-sm text-soft">The {earnings.tree.rows.length} rows that the operator publishes make the root on the chain.</p>
            <Button look="primary" className="mt-4" disabled={busy || earnings.due === 0n} onClick={() => propose(() => desk.claim(address, earnings))}>Claim</Button>
          </>
        )}
      </section>
      <section aria-labelledby="stake-title">
        <h2 id="stake-title" className="text-xl font-semibold tracking-tight">Stake</h2>
        <p className="mt-2 max-w-prose text-soft">
          A stake is what your devices’ word is worth: it has a share of fees and a vote, and is lost if one of them signs two results of one task. It leaves after {spanText(holding.unbondingSeconds)}.
        </p>
        <dl className="mt-3 flex flex-wrap gap-x-10 gap-y-4">
          <Stat label="staked" value={credits(stake?.amount ?? 0n)} unit="credits" testId="staked" />
          <Stat label="unbonding" value={credits(stake?.unbonding ?? 0n)} unit="credits" testId="unbonding" />
        </dl>
        <div className="mt-4 flex flex-wrap gap-x-8 gap-y-4">
          <Amount label="Stake" busy={busy} act={(amount) => propose(() => desk.stake(address, amount))} />
          {stake !== null && stake.amount > 0n ? (
            <Amount label="Unbond" busy={busy} act={(amount) => propose(() => desk.unstake(address, amount))} />
          ) : null}
        </div>
        {stake !== null && stake.unbonding > 0n ? (
          holding.now >= stake.unbondAt ? (
            <Button className="mt-4" disabled={busy} onClick={() => propose(() => desk.withdrawStake(address, stake.unbonding))}>Pay out what has unbonded</Button>
          ) : (
            <p className="mt-3 text-soft" data-testid="unbond-at">What unbonds is paid out in {spanText(stake.unbondAt - holding.now)}.</p>
          )
        ) : null}
        {stake !== null && stake.lockedUntil > holding.now ? <p className="mt-3 text-soft">The stake has voted and is locked for {spanText(stake.lockedUntil - holding.now)}.</p> : null}
      </section>
      <ProposalList
        proposals={holding.proposals}
        now={holding.now}
        busy={busy}
        vote={stake !== null && stake.amount > 0n ? (proposal, yes) => propose(() => desk.vote(address, proposal, yes)) : null}
      />
    </>
  );
}

function Amount({ label, busy, act }: { label: string; busy: boolean; act: (micro: bigint) => void }) {
  const [text, setText] = useState('');
  const [note, setNote] = useState('');
  const id = `amount-${label.toLowerCase()}`;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const amount = parseCredits(text);
        setNote(amount === null ? 'An amount of credits, such as 25 or 0.5, with at most six digits after the point.' : '');
        if (amount !== null) act(amount);
      }}
    >
      <label htmlFor={id} className="block text-sm text-soft">{label}, in credits</label>
      <div className="mt-1 flex gap-2">
        <input id={id} value={text} onChange={(event) => setText(event.target.value)} inputMode="decimal" className="w-36 border border-line bg-panel px-3 py-1.5 font-mono" />
        <Button look="small" type="submit" disabled={busy}>{label}</Button>
      </div>
      {note === '' ? null : <p role="alert" className="mt-1 max-w-xs text-sm text-madder">{note}</p>}
    </form>
  );
}
