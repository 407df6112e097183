// Shows the wallet that receives this tab's earnings. Its key cannot leave the browser. A wallet with a file is made and saved first, and
// only then given to the engine.
import { useRef, useState } from 'react';
import { Button } from '../../design/Button';
import { FileChoice } from '../../design/FileChoice';
import { formatCredits, shorten } from '../../design/format';
import type { Engine } from '../../engine/engine';
import { base58 } from '../../engine/keptWallet';
import { isActive, type Session } from '../../engine/session';
import { Swatch } from '../../weave/Swatch';
import { newWallet, parseWallet, saveWallet } from './walletFile';

const sentence = (error: unknown): string => (error instanceof Error ? error.message : String(error));
const addressOf = (numbers: readonly number[]): string => base58(Uint8Array.from(numbers.slice(32)));
const keepSafe = 'This file alone is enough to spend the credits of the wallet: keep it safe.';

/** The wallet that replaces the stored one: a new one with a file, or one from a file. */
type Replacement = { readonly numbers: readonly number[]; readonly isNew: boolean };

export function WalletCard({ engine, session }: { engine: Engine; session: Session }) {
  const file = useRef<HTMLInputElement>(null);
  const [note, setNote] = useState<string | null>(null);
  const [waiting, setWaiting] = useState<Replacement | null>(null);
  const { address } = session;
  const active = isActive(session.phase);

  const use = ({ numbers, isNew }: Replacement) => {
    setWaiting(null);
    if (isNew) saveWallet(numbers, addressOf(numbers));
    engine.importWallet(numbers);
    setNote(isNew ? `The new wallet is saved and in use. ${keepSafe}` : 'The wallet of the file is in use.');
  };
  /** Asks the owner before a replacement, because the credits of the stored wallet can be lost with its key. */
  const offer = (replacement: Replacement) => {
    setNote(null);
    if (address === null) use(replacement);
    else if (addressOf(replacement.numbers) === address) setNote('This wallet is the one in use.');
    else setWaiting(replacement);
  };
  const orSay = (act: () => Promise<void>) => void act().catch((error: unknown) => setNote(sentence(error)));

  const copy = async (text: string) => {
    await navigator.clipboard.writeText(text);
    setNote('Address copied.');
  };
  const save = async (of: string) => {
    saveWallet(await engine.exportWallet(), of);
    setNote(`Saved; from now on the key stays in this browser. ${keepSafe}`);
  };
  const load = async (chosen: File) => {
    const numbers = parseWallet(await chosen.text());
    if (typeof numbers === 'string') setNote(numbers);
    else offer({ numbers, isNew: false });
  };

  return (
    <section aria-labelledby="wallet-title">
      <h2 id="wallet-title" className="text-xl font-semibold tracking-tight">
        Wallet
      </h2>
      {address === null ? (
        <p className="mt-4 text-sm text-soft">
          A wallet is made at the start, and its key stays in this browser. For one that outlives this browser, make it with a file.
        </p>
      ) : (
        <div className="mt-4 flex items-center gap-4">
          <Swatch seed={address} className="size-14 shrink-0 rounded" size={16} />
          <div className="min-w-0">
            <p className="truncate font-mono" data-testid="address" data-address={address} title={address}>
              {shorten(address, 8, 6)}
            </p>
            <p className="text-sm text-soft">{session.balance === null ? 'Its cloth is woven in this pattern.' : `Holds ${formatCredits(session.balance)} credits`}</p>
          </div>
        </div>
      )}
      {waiting === null ? (
        <div className="mt-4 flex flex-wrap gap-2">
          {address !== null && (
            <Button look="small" onClick={() => orSay(() => copy(address))}>
              Copy address
            </Button>
          )}
          {address !== null && session.savable && (
            <Button look="small" onClick={() => orSay(() => save(address))}>
              Save wallet file
            </Button>
          )}
          <Button look="small" disabled={active} onClick={() => orSay(async () => offer({ numbers: await newWallet(), isNew: true }))}>
            New wallet with a file
          </Button>
          <Button look="small" disabled={active} onClick={() => file.current?.click()}>
            Use a wallet file
          </Button>
        </div>
      ) : (
        <div className="mt-4">
          <p className="text-sm">
            {session.savable
              ? 'This browser forgets the wallet in use. Keep it and save its file first, or its credits are lost.'
              : 'This browser forgets the wallet in use. If you have no file of it, its credits are lost.'}
          </p>
          <div className="mt-2 flex flex-wrap gap-2">
            <Button look="small" disabled={active} onClick={() => use(waiting)}>
              Replace the wallet
            </Button>
            <Button look="small" onClick={() => setWaiting(null)}>
              Keep it
            </Button>
          </div>
        </div>
      )}
      <FileChoice input={file} accept="application/json,.json" label="Wallet file" onFile={(chosen) => orSay(() => load(chosen))} />
      <p role="status" className="mt-3 text-sm text-soft">
        {session.walletNote ?? note ?? ''}
      </p>
    </section>
  );
}
