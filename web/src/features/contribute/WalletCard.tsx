// The wallet that this tab earns into. The key never leaves this browser unless its owner saves it.
import { useRef, useState } from 'react';
import { Button } from '../../design/Button';
import { formatCredits, shorten } from '../../design/format';
import type { Engine } from '../../engine/engine';
import { isActive, type Session } from '../../engine/session';
import { Swatch } from '../../weave/Swatch';
import { parseWallet } from './walletFile';

export function WalletCard({ engine, session }: { engine: Engine; session: Session }) {
  const file = useRef<HTMLInputElement>(null);
  const [note, setNote] = useState<string | null>(null);
  const { address } = session;
  if (address === null) return null;

  const copy = async () => {
    await navigator.clipboard.writeText(address);
    setNote('Address copied.');
  };
  const save = async () => {
    let numbers: readonly number[];
    try {
      numbers = await engine.exportWallet();
    } catch (error) {
      setNote(error instanceof Error ? error.message : String(error));
      return;
    }
    const url = URL.createObjectURL(new Blob([JSON.stringify(numbers)], { type: 'application/json' }));
    const link = document.createElement('a');
    link.href = url;
    link.download = `weft-wallet-${address.slice(0, 6)}.json`;
    link.click();
    URL.revokeObjectURL(url);
    setNote('Saved. This file alone is enough to spend the credits of the wallet: keep it safe.');
  };
  const load = async (chosen: File) => {
    const numbers = parseWallet(await chosen.text());
    if (typeof numbers === 'string') {
      setNote(numbers);
      return;
    }
    engine.importWallet(numbers);
    setNote(null);
  };

  return (
    <section aria-labelledby="wallet-title">
      <h2 id="wallet-title" className="text-xl font-semibold tracking-tight">
        Wallet
      </h2>
      <div className="mt-4 flex items-center gap-4">
        <Swatch seed={address} className="size-14 shrink-0 rounded" size={16} />
        <div className="min-w-0">
          <p className="truncate font-mono" data-testid="address" data-address={address} title={address}>
            {shorten(address, 8, 6)}
          </p>
          <p className="text-sm text-soft">{session.balance === null ? 'Its cloth is woven in this pattern.' : `Holds ${formatCredits(session.balance)} credits`}</p>
        </div>
      </div>
      <div className="mt-4 flex flex-wrap gap-2">
        <Button look="small" onClick={() => void copy()}>
          Copy address
        </Button>
        <Button look="small" onClick={() => void save()}>
          Save wallet file
        </Button>
        <Button look="small" disabled={isActive(session.phase)} onClick={() => file.current?.click()}>
          Use another wallet
        </Button>
        <input
          ref={file}
          type="file"
          accept="application/json,.json"
          aria-label="Wallet file"
          className="sr-only"
          tabIndex={-1}
          onChange={(event) => {
            const [chosen] = event.target.files ?? [];
            if (chosen) void load(chosen);
            event.target.value = '';
          }}
        />
      </div>
      <p role="status" className="mt-3 text-sm text-soft">
        {session.walletNote ?? note ?? ''}
      </p>
    </section>
  );
}
