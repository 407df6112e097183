// Tests the account page as its owner uses it: no credits move before the owner confirms a sentence, and a payment counts once.
import { cleanup, render, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FakeLab } from '../../../test/FakeLab';
import { Lab } from '../../engine/lab';
import { base58 } from '../../engine/keptWallet';
import type { LedgerAccount, Owner } from '../../wire/api';
import { AccountPage } from './AccountPage';
import { makeStatement, statementCsv, statementJson } from './statement';

const key = (seed: number): string => base58(new Uint8Array(32).fill(seed));
const [own, phone, other, coordinator] = [key(1), key(2), key(3), key(4)] as [string, string, string, string];
const base = 'http://account.example/';
const owner: Owner = {
  device: own, owner: own, free: 10_000_000, granted: 5_000_000, held: 0, held_granted: 0, staked: 0, settled: 0,
  devices: [{ key: own, name: '', role: 'full', added: 1, revoked: 0 }, { key: phone, name: 'phone', role: 'full', added: 2, revoked: 0 }],
};

type Sent = { readonly path: string; readonly body: string; readonly headers: Record<string, string> };
let sent: Sent[] = [];
let answers: (() => Response)[] = [];
let reachable = true;

beforeEach(() => {
  sent = [];
  answers = [];
  reachable = true;
  vi.stubGlobal('fetch', async (address: string, init?: RequestInit) => {
    const { pathname } = new URL(address);
    if (pathname === '/v1/info') return Response.json({ coordinator });
    if (pathname === '/v1/owner') {
      if (!reachable) throw new Error('The connection is lost.');
      return Response.json(owner);
    }
    sent.push({ path: pathname, body: String(init?.body), headers: init?.headers as Record<string, string> });
    const answer = answers.shift();
    if (answer === undefined) throw new Error('The connection is lost.');
    return answer();
  });
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const user = userEvent.setup();
let signatures = 0;
function open(wallet: string | null = own) {
  const port = new FakeLab({ sign: () => ({ client: own, nonce: `nonce ${(signatures += 1)}`, time: '1', signature: 's' }) });
  render(<AccountPage base={base} lab={new Lab(() => port)} kept={async () => (wallet === null ? null : { address: wallet, savable: false })} />);
  return port;
}
async function fill(to: string, credits: string) {
  const field = await screen.findByLabelText('The receiver’s key');
  await user.clear(field);
  await user.type(field, to);
  await user.clear(screen.getByLabelText('Credits'));
  await user.type(screen.getByLabelText('Credits'), credits);
  await user.click(screen.getByRole('button', { name: 'Go on' }));
}
const said = () => screen.getByTestId('payment-said').textContent;

describe('a payment', () => {
  it('is said in words with the whole key, and sent only when that is confirmed', async () => {
    open();
    await fill(other, '2.5');

    const confirm = screen.getByTestId('confirm-payment').textContent;
    expect(confirm).toContain('Send 2.500000 credits?');
    expect(confirm).toContain(other);
    expect(confirm).toContain('of which 7.500000 credits stay');
    expect(confirm).toContain('Neither you nor the operator can take them back.');
    expect(sent).toEqual([]);

    answers = [() => Response.json({ ...owner, free: 7_500_000 })];
    await user.click(screen.getByRole('button', { name: 'Send 2.500000 credits' }));

    await waitFor(() => expect(said()).toBe(`2.500000 credits are sent to ${other}.`));
    expect(sent.map(({ path, body }) => [path, body])).toEqual([['/v1/owner/payments', `{"to":"${other}","amount":2500000}`]]);
    expect(screen.getByTestId('balance-free').textContent).toBe('7.500000 credits');
    expect(screen.queryByTestId('confirm-payment')).toBeNull();
  });

  it('that is cancelled sends nothing', async () => {
    const port = open();
    await fill(other, '1');
    const asked = port.of('sign').length;

    await user.click(screen.getByRole('button', { name: 'Cancel' }));

    expect(screen.queryByTestId('confirm-payment')).toBeNull();
    expect(port.of('sign')).toHaveLength(asked);
    expect(sent).toEqual([]);
  });

  it.each([
    ['no key', '1', 'This is not the key of an owner'],
    [own, '1', 'This is a key of your own'],
    [phone, '1', 'This is a key of your own'],
    [coordinator, '1', 'This is the coordinator’s key'],
    [other, '10.000001', 'You have 10.000000 credits that can be sent.'],
    [other, '1e3', 'This is not an amount of credits'],
    [other, '0', 'This is not an amount of credits'],
  ])('to %s of %s is refused before it is asked for', async (to, credits, why) => {
    open();
    await fill(to, credits);

    expect(said()).toContain(why);
    expect(screen.queryByTestId('confirm-payment')).toBeNull();
  });

  it('without an answer is sent again as the same request, which counts once', async () => {
    open();
    await fill(other, '1');
    await user.click(screen.getByRole('button', { name: 'Send 1.000000 credits' }));
    await waitFor(() => expect(said()).toContain('it is not known whether the credits have moved'));

    answers = [() => Response.json({ status: 503, detail: 'Busy.' }, { status: 503 }), () => Response.json({ ...owner, free: 9_000_000 })];
    await user.click(screen.getByRole('button', { name: 'Send again' }));
    await waitFor(() => expect(said()).toContain('answered 503'));
    await user.click(screen.getByRole('button', { name: 'Send again' }));

    await waitFor(() => expect(said()).toContain('are sent'));
    expect(sent).toHaveLength(3);
    expect(new Set(sent.map(({ headers, body }) => `${headers['weft-nonce']} ${body}`)).size).toBe(1);
  });

  it.each([
    ['breaks off', () => new Response(new ReadableStream({ start: (body) => body.error(new TypeError('network error')) }), { status: 200 })],
    ['is a page of something between', () => new Response('<html>Sign in</html>', { status: 200 })],
    ['is another document', () => Response.json(null)],
  ])('whose answer %s may have moved the credits, and is sent again as the same request', async (_, broken) => {
    open();
    await fill(other, '1');
    answers = [broken, () => Response.json({ ...owner, free: 9_000_000 })];
    await user.click(screen.getByRole('button', { name: 'Send 1.000000 credits' }));
    await waitFor(() => expect(said()).toContain('it is not known whether the credits have moved'));

    await user.click(screen.getByRole('button', { name: 'Send again' }));

    await waitFor(() => expect(said()).toContain('are sent'));
    expect(sent.map(({ headers }) => headers['weft-nonce'])).toEqual([sent[0]!.headers['weft-nonce'], sent[0]!.headers['weft-nonce']]);
  });

  it.each([
    [401, 'The signature is too old.'],
    [429, 'Too many requests.'],
  ])('without an answer stays in doubt when it is sent again and refused with %i, until it is cancelled', async (status, detail) => {
    const port = open();
    await fill(other, '1');
    const before = port.of('sign').length;
    await user.click(screen.getByRole('button', { name: 'Send 1.000000 credits' }));
    await waitFor(() => expect(said()).toContain('it is not known whether the credits have moved'));

    const refused = () => Response.json({ status, detail }, { status });
    answers = [refused, refused];
    await user.click(screen.getByRole('button', { name: 'Send again' }));
    await waitFor(() => expect(said()).toContain(detail));
    expect(said()).toContain('It is still not known whether the credits have moved.');
    expect(said()).toContain('Save the statement and look for the payment in it');
    expect(said()).not.toContain('Nothing was sent');
    await user.click(screen.getByRole('button', { name: 'Send again' }));
    await waitFor(() => expect(sent).toHaveLength(3));
    await waitFor(() => expect(said()).toContain(detail));

    expect(port.of('sign')).toHaveLength(before + 1);
    expect(new Set(sent.map(({ headers }) => headers['weft-nonce'])).size).toBe(1);
    await user.click(screen.getByRole('button', { name: 'Cancel' }));
    expect(said()).toContain('It is not known whether the credits have moved. Save the statement');
  });

  it('in doubt is kept when the balances cannot be read again', async () => {
    const port = open();
    await fill(other, '1');
    await user.click(screen.getByRole('button', { name: 'Send 1.000000 credits' }));
    await waitFor(() => expect(said()).toContain('it is not known whether the credits have moved'));

    reachable = false;
    await user.click(screen.getByRole('button', { name: 'Read again' }));
    await screen.findByText('The balances could not be read again: The connection is lost.');
    const before = port.of('sign').length;
    answers = [() => Response.json(owner)];
    await user.click(screen.getByRole('button', { name: 'Send again' }));

    await waitFor(() => expect(said()).toContain('are sent'));
    expect(port.of('sign')).toHaveLength(before);
  });

  it('that the coordinator refuses says so, and the next one is signed again', async () => {
    const port = open();
    await fill(other, '1');
    answers = [() => Response.json({ status: 402, detail: 'The balance is 0.000000 credits.' }, { status: 402 }), () => Response.json(owner)];
    await user.click(screen.getByRole('button', { name: 'Send 1.000000 credits' }));
    await waitFor(() => expect(said()).toBe('Nothing was sent. The balance is 0.000000 credits.'));
    const before = port.of('sign').length;

    await user.click(screen.getByRole('button', { name: 'Send 1.000000 credits' }));

    await waitFor(() => expect(said()).toContain('are sent'));
    expect(port.of('sign')).toHaveLength(before + 1);
  });
});

describe('the account', () => {
  it('shows the balances and the key that all is signed for, with the command that pins it', async () => {
    open();

    expect((await screen.findByTestId('balance-granted')).textContent).toBe('5.000000 credits');
    expect(screen.queryByTestId('balance-staked')).toBeNull();
    expect(screen.getByTestId('coordinator-key').textContent).toBe(coordinator);
    expect(screen.getByTestId('pin-command').textContent).toBe(`weft wallet statement --coordinator http://account.example --coordinator-key ${coordinator}`);
  });

  it('makes no wallet by looking', async () => {
    const port = open(null);

    await screen.findByText('This browser has no wallet yet.');

    expect(port.asked).toEqual([]);
    expect(screen.getByTestId('coordinator-key').textContent).toBe(coordinator);
  });
});

const entry = (time: number, amount: number, balance: number, what = 'a job', id = '') => ({ time, amount, balance, what, job: id, key: `key ${time}`, movements: [] });
const history = (account: string, ...entries: LedgerAccount['entries']): LedgerAccount => ({ account, amount: 0, entries, next: 0 });

describe('a statement', () => {
  const statement = makeStatement(own, [history('owner:x', entry(3000, -2_500_000, 7_500_000, '=HYPERLINK("x")', 'ab'), entry(1000, 10_000_000, 10_000_000)), history('granted:x', entry(2000, 5, 5))]);

  it('has every movement, oldest first, and no text that a spreadsheet runs', () => {
    expect(statementCsv(statement)).toBe(
      [
        'time,account,amount,balance,what,job,transaction',
        '1970-01-01T00:00:01Z,free,10.000000,10.000000,"a job",,"key 1000"',
        '1970-01-01T00:00:02Z,granted,0.000005,0.000005,"a job",,"key 2000"',
        '1970-01-01T00:00:03Z,free,-2.500000,7.500000,"\'=HYPERLINK(""x"")",ab,"key 3000"',
        '',
      ].join('\r\n'),
    );
    expect(JSON.parse(statementJson(statement))).toEqual(statement);
  });

  it('is refused where a balance does not follow from the one before', () => {
    expect(() => makeStatement(own, [history('owner:x', entry(2, 1, 12), entry(1, 10, 10))])).toThrow("The ledger's entries do not add up: after key 1 the account owner:x holds 0.000010, key 2 changes it by 0.000001, and 0.000012 are left.");
  });
});
