// Wallets of other programs (extensions), which the Wallet Standard offers to pages: an event from either side introduces them, whichever
// loads first. The page asks them for accounts and for signatures of transactions, and sends the transactions itself.
export type WalletAccount = { readonly address: string; readonly chains: readonly string[] };
type Connect = { connect(): Promise<{ readonly accounts: readonly WalletAccount[] }> };
type SignTransaction = {
  signTransaction(...inputs: readonly { readonly account: WalletAccount; readonly transaction: Uint8Array }[]): Promise<readonly { readonly signedTransaction: Uint8Array }[]>;
};
export type Wallet = {
  readonly name: string;
  readonly icon?: string;
  readonly accounts: readonly WalletAccount[];
  readonly features: Readonly<Record<string, unknown>>;
};

const connectName = 'standard:connect';
const signName = 'solana:signTransaction';

export const canSign = (wallet: Wallet): boolean => connectName in wallet.features && signName in wallet.features;

export async function connect(wallet: Wallet): Promise<WalletAccount> {
  const { accounts } = await (wallet.features[connectName] as Connect).connect();
  const account = accounts.find(({ chains }) => chains.some((chain) => chain.startsWith('solana:')));
  if (account === undefined) throw new Error(`${wallet.name} gives the page no account of Solana.`);
  return account;
}

/** Returns the transactions with the wallet's signatures, in the same order. */
export async function sign(wallet: Wallet, account: WalletAccount, transactions: readonly Uint8Array[]): Promise<Uint8Array[]> {
  const signed = await (wallet.features[signName] as SignTransaction).signTransaction(...transactions.map((transaction) => ({ account, transaction })));
  if (signed.length !== transactions.length) throw new Error(`${wallet.name} signed ${signed.length} of ${transactions.length} transactions; nothing was sent.`);
  return signed.map(({ signedTransaction }) => signedTransaction);
}

type Register = (...wallets: readonly Wallet[]) => void;

/** Calls `changed` with all wallets that can sign, now and whenever another one is added. Returns a function that ends this. */
export function watchWallets(changed: (wallets: readonly Wallet[]) => void): () => void {
  const known: Wallet[] = [];
  const register: Register = (...wallets) => {
    for (const wallet of wallets) if (!known.includes(wallet) && canSign(wallet)) known.push(wallet);
    changed([...known]);
  };
  const introduced = (event: Event) => {
    const { detail } = event as CustomEvent<unknown>;
    if (typeof detail === 'function') (detail as (api: { register: Register }) => void)({ register });
  };
  window.addEventListener('wallet-standard:register-wallet', introduced);
  window.dispatchEvent(new CustomEvent('wallet-standard:app-ready', { detail: { register } }));
  return () => window.removeEventListener('wallet-standard:register-wallet', introduced);
}
