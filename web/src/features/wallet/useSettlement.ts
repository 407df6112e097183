// The state of the wallet page: the network, the wallet, the owner's state, and transactions from the sentence that is shown to the block
// in which they land.
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { askNetwork, Desk, type Act, type Holding } from './desk';
import { follow, keep, kept, type Sent } from './sent';
import { unsigned } from './transaction';
import { fromBase58 } from './bytes';
import { connect, sign, watchWallets, type Wallet, type WalletAccount } from './wallets';

export const lamportsASignature = 5_000;
export type Offer = { readonly acts: readonly Act[] };
export type Done = { readonly what: string; readonly why: string | null };
export type Phase = { readonly kind: 'loading' } | { readonly kind: 'none' } | { readonly kind: 'failed'; readonly why: string } | { readonly kind: 'ready'; readonly desk: Desk };

const sentence = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export function useSettlement(base: string) {
  const [phase, setPhase] = useState<Phase>({ kind: 'loading' });
  const [wallets, setWallets] = useState<readonly Wallet[]>([]);
  const [session, setSession] = useState<{ readonly wallet: Wallet; readonly account: WalletAccount } | null>(null);
  const [holding, setHolding] = useState<Holding | null>(null);
  const [offer, setOffer] = useState<Offer | null>(null);
  const [sending, setSending] = useState<readonly Sent[]>([]);
  const [done, setDone] = useState<readonly Done[]>([]);
  const [trouble, setTrouble] = useState('');
  const [silence, setSilence] = useState('');
  const following = useRef(false);

  useEffect(() => {
    let gone = false;
    askNetwork(base).then(
      (names) => !gone && setPhase(names === null ? { kind: 'none' } : { kind: 'ready', desk: new Desk(names, base) }),
      (error: unknown) => !gone && setPhase({ kind: 'failed', why: sentence(error) }),
    );
    return () => {
      gone = true;
    };
  }, [base]);
  useEffect(() => watchWallets(setWallets), []);

  const desk = phase.kind === 'ready' ? phase.desk : null;
  const address = session?.account.address ?? null;
  const refresh = useCallback(async () => {
    if (desk === null || address === null) return;
    try {
      setHolding(await desk.holding(address));
      setTrouble('');
    } catch (error) {
      setTrouble(sentence(error));
    }
  }, [desk, address]);
  useEffect(() => {
    setHolding(null);
    void refresh();
  }, [refresh]);

  /** Follows all stored transactions one after the other, those of this visit and of earlier visits. */
  const followAll = useCallback(async () => {
    if (desk === null || following.current) return;
    following.current = true;
    try {
      for (let next = kept(desk.program); next[0] !== undefined; next = kept(desk.program)) {
        setSending(next);
        const first = next[0];
        const outcome = await follow(desk.rpc, first, setSilence);
        setDone((before) => [...before, { what: first.what, why: outcome.landed ? null : outcome.why }]);
      }
    } finally {
      following.current = false;
      setSending([]);
      void refresh();
    }
  }, [desk, refresh]);
  useEffect(() => void followAll(), [followAll]);

  const actions = useMemo(
    () => ({
      connect: (wallet: Wallet) =>
        void connect(wallet).then(
          (account) => {
            setSession({ wallet, account });
            setTrouble('');
          },
          (error: unknown) => setTrouble(`${wallet.name} is not connected: ${sentence(error)}`),
        ),
      /** Shows what would be signed; nothing is signed before confirm(). */
      propose: async (make: () => Promise<Act[]>) => {
        if (desk === null || address === null) return;
        try {
          const acts = await make();
          const [first] = acts;
          const { hash } = await desk.rpc.blockhash();
          if (first !== undefined) await desk.rpc.tryOut(unsigned(fromBase58(address), first.instructions, hash));
          setTrouble('');
          setOffer({ acts });
        } catch (error) {
          setOffer(null);
          setTrouble(sentence(error));
        }
      },
      cancel: () => setOffer(null),
      confirm: async () => {
        if (desk === null || session === null || offer === null) return;
        setOffer(null);
        try {
          const { hash, lastHeight } = await desk.rpc.blockhash();
          const payer = fromBase58(session.account.address);
          const made = offer.acts.map(({ instructions }) => unsigned(payer, instructions, hash));
          const signed = await sign(session.wallet, session.account, made);
          keep(signed.map((bytes, i) => ({ what: offer.acts[i]?.what ?? '', bytes })), desk.program, lastHeight);
          setTrouble('');
        } catch (error) {
          setTrouble(`Nothing was sent: ${sentence(error)}`);
          return;
        }
        await followAll();
      },
    }),
    [desk, address, session, offer, followAll],
  );
  return { phase, wallets, session, holding, offer, sending, done, trouble, silence, refresh, ...actions };
}
