// Sends free credits to another owner. It first shows in words what will happen, and sends the request only after that.
import { useState } from 'react';
import { Button } from '../../design/Button';
import { Notice } from '../../design/Notice';
import type { Owner } from '../../wire/api';
import { Swatch } from '../../weave/Swatch';
import { creditsText, parseCredits } from '../wallet/credits';
import { Unanswered, type Payment } from './api';
import { refusalOf } from './recipient';

type Asked = { readonly to: string; readonly amount: bigint };
type Said = { readonly tone: 'plain' | 'warn'; readonly title: string };
const howToKnow = 'Save the statement and look for the payment in it before you send any again: where it is listed, the credits have moved.';

export function SendCard({ owner, coordinator, sign, onPaid }: { owner: Owner; coordinator: string; sign: (to: string, amount: bigint) => Promise<Payment>; onPaid: (owner: Owner) => void }) {
  const [to, setTo] = useState('');
  const [credits, setCredits] = useState('');
  const [asked, setAsked] = useState<Asked | null>(null);
  // A payment that may have been sent. It is dropped only by an answer to its first request or by Cancel.
  const [signed, setSigned] = useState<Payment | null>(null);
  const [busy, setBusy] = useState(false);
  const [said, setSaid] = useState<Said | null>(null);

  const ask = () => {
    const key = to.trim();
    const amount = parseCredits(credits);
    const refusal =
      refusalOf(key, owner, coordinator) ||
      (amount === null ? 'This is not an amount of credits: digits, and up to six after a point, such as 2.5.'
        : amount > BigInt(owner.free) ? `You have ${creditsText(BigInt(owner.free))} that can be sent. Granted, held and staked ones cannot.` : '');
    setSaid(refusal === '' ? null : { tone: 'warn', title: refusal });
    if (refusal === '' && amount !== null) setAsked({ to: key, amount });
  };
  const send = async ({ to: key, amount }: Asked) => {
    const inDoubt = signed !== null;
    setBusy(true);
    setSaid(null);
    try {
      const payment = signed ?? (await sign(key, amount));
      setSigned(payment);
      onPaid(await payment.send());
      setSaid({ tone: 'plain', title: `${creditsText(amount)} are sent to ${key}.` });
      setSigned(null);
      setAsked(null);
      setTo('');
      setCredits('');
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      if (error instanceof Unanswered) setSaid({ tone: 'warn', title: `${why} “Send again” sends the same request, which counts once.` });
      // The refusal of a repeated request does not tell the result of the first one: its signature is too old after minutes, even if the
      // payment succeeded.
      else if (inDoubt) setSaid({ tone: 'warn', title: `It is still not known whether the credits have moved. The request sent again was refused: ${why} ${howToKnow}` });
      else {
        setSigned(null);
        setSaid({ tone: 'warn', title: `Nothing was sent. ${why}` });
      }
    }
    setBusy(false);
  };
  const cancel = () => {
    setAsked(null);
    setSaid(signed === null ? null : { tone: 'warn', title: `It is not known whether the credits have moved. ${howToKnow}` });
    setSigned(null);
  };

  return (
    <section aria-labelledby="send-title">
      <h2 id="send-title" className="text-xl font-semibold tracking-tight">Send credits</h2>
      <p className="mt-2 max-w-prose text-soft">To another owner, at once. A payment is final: only its receiver can send the credits back.</p>
      {asked === null ? (
        <form
          className="mt-4 space-y-3"
          onSubmit={(event) => {
            event.preventDefault();
            ask();
          }}
        >
          <div>
            <label htmlFor="send-to" className="block text-sm text-soft">The receiver’s key</label>
            <input id="send-to" value={to} onChange={(event) => setTo(event.target.value)} autoComplete="off" spellCheck={false} maxLength={100} className="mt-1 w-full rounded border border-line bg-panel px-3 py-2 font-mono text-sm" />
          </div>
          <div>
            <label htmlFor="send-credits" className="block text-sm text-soft">Credits</label>
            <input id="send-credits" value={credits} onChange={(event) => setCredits(event.target.value)} inputMode="decimal" autoComplete="off" maxLength={30} className="mt-1 w-40 rounded border border-line bg-panel px-3 py-2 font-mono text-sm" />
          </div>
          <Button type="submit" look="small">Go on</Button>
        </form>
      ) : (
        <div className="mt-4 border border-line bg-panel p-4" data-testid="confirm-payment">
          <p className="text-lg font-semibold">Send {creditsText(asked.amount)}?</p>
          <div className="mt-3 flex items-center gap-3">
            <Swatch seed={asked.to} className="size-10 shrink-0 rounded-sm" />
            <p className="min-w-0 font-mono text-sm break-all">{asked.to}</p>
          </div>
          <p className="mt-3 max-w-prose text-soft">
            They leave your free balance of {creditsText(BigInt(owner.free))}, of which {creditsText(BigInt(owner.free) - asked.amount)} stay, and belong to this
            owner from then on. Neither you nor the operator can take them back. Compare the whole key with what its owner gave you.
          </p>
          <div className="mt-4 flex flex-wrap gap-3">
            <Button look="small" disabled={busy} onClick={() => void send(asked)}>{signed === null ? `Send ${creditsText(asked.amount)}` : 'Send again'}</Button>
            <Button look="small" disabled={busy} onClick={cancel}>Cancel</Button>
          </div>
        </div>
      )}
      <div role="status" className="mt-4 break-words" data-testid="payment-said">{said === null ? null : <Notice tone={said.tone} title={said.title} />}</div>
    </section>
  );
}
