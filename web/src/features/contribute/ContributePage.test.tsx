// Tests the contribute page as a visitor uses it, with a fake Worker and the real Engine.
import { act, fireEvent, render, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { FakeBattery, FakePlace } from '../../../test/FakePlace';
import { FakePort } from '../../../test/FakePort';
import { job } from '../../../test/samples';
import { Engine } from '../../engine/engine';
import type { Preflight } from '../../engine/preflight';
import { Throttle } from '../../engine/throttle';
import { ContributePage } from './ContributePage';

const ready: Preflight = { missing: [], insecure: false, gpu: { state: 'ready', name: 'nvidia ada', software: false } };
const base = 'http://localhost:3000/';
const task = { job: 'aa', index: 4, attempt: 0 };

beforeEach(() => {
  const answers: Record<string, unknown> = {
    '/v1/jobs': { jobs: [job] },
    '/v1/workers': { workers: [] },
    '/v1/ledger': { sum: 0 },
  };
  vi.stubGlobal('fetch', async (path: string) => new Response(JSON.stringify(answers[new URL(path, base).pathname])));
});

async function open(found: Preflight = ready, battery: FakeBattery | null = null) {
  const ports: FakePort[] = [];
  const engine = new Engine({
    createPort: () => {
      const port = new FakePort();
      ports.push(port);
      return port;
    },
  });
  const look = async () => found;
  const place = new FakePlace(battery);
  const throttle = new Throttle(engine, place);
  render(<ContributePage engine={engine} throttle={throttle} base={base} look={look} />);
  await screen.findByText('On the loom');
  await act(async () => {});
  const port = () => {
    const last = ports.at(-1);
    if (last === undefined) throw new Error('The page has made no Worker.');
    return last;
  };
  // Sends messages of the engine that reach the page in one update.
  const say = async (...messages: Parameters<FakePort['say']>) => {
    vi.useFakeTimers();
    act(() => {
      port().say(...messages);
      vi.advanceTimersByTime(100);
    });
    vi.useRealTimers();
  };
  return { engine, ports, say, port, place };
}
const press = (name: string | RegExp) => userEvent.click(screen.getByRole('button', { name }));

describe('the contribute page', () => {
  it('names the adapter and starts the engine on the GPU at one click', async () => {
    const { port } = await open();
    expect(screen.getByTestId('offer').textContent).toContain('nvidia ada');

    await press('Start contributing');

    expect(port().received.at(-1)).toMatchObject({ type: 'start', coordinator: 'http://localhost:3000', device: 'gpu', limits: { share: 1, memoryBytes: null, slices: 1, pausedBy: [] } });
    expect(screen.getByTestId('headline').textContent).toBe('Loading the engine');
  });

  it('joins with the CPU kernels if there is no WebGPU, and says so', async () => {
    const { port } = await open({ ...ready, gpu: { state: 'none', why: 'This browser has no WebGPU.' } });
    expect(screen.getByTestId('offer').textContent).toMatch(/joins with the CPU kernels.*This browser has no WebGPU\./);

    await press('Start contributing');

    expect(port().received.at(-1)).toMatchObject({ device: 'cpu' });
  });

  it('says what is missing over plain http and how to get it, and offers no button that cannot work', async () => {
    const { ports } = await open({ missing: ["WebCrypto, which makes and keeps this worker's key", 'WebGPU, which runs the work'], insecure: true, gpu: { state: 'none', why: '' } });

    const alert = screen.getByRole('alert').textContent;
    expect(alert).toContain('WebCrypto');
    expect(alert).toContain('WebGPU');
    expect(screen.getByTestId('insecure').textContent).toContain('--tls-self-signed');
    expect(screen.getByRole('link', { name: /^https:/ }).getAttribute('href')).toBe(`https://${window.location.host}/`);
    expect(screen.queryByRole('button', { name: 'Start contributing' })).toBeNull();
    expect(ports).toHaveLength(0);
  });

  it('shows what runs by its job, what was done and what it earned', async () => {
    const { say } = await open();
    await press('Start contributing');

    await say({ type: 'connecting' }, { type: 'connected', balance: 0 }, { type: 'task-started', task });
    expect(screen.getByTestId('headline').textContent).toBe('Weaving');
    expect(screen.getByTestId('now').textContent).toContain('Job aa, task 5');
    expect(screen.getByTestId('connection').dataset['state']).toBe('open');

    await say({ type: 'task-done', task, wallSeconds: 0.2, gpuSeconds: 0.1 }, { type: 'verdict', task, accepted: true, paid: 2_500_000, balance: 2_500_000, reason: '' });
    expect(screen.getByTestId('done').textContent).toBe('1');
    expect(screen.getByTestId('earned').textContent).toBe('2.50');
    const row = within(screen.getByRole('table')).getAllByRole('row')[1];
    expect(row?.textContent).toContain('accepted');
  });

  it('stops when told to and sums up what it did', async () => {
    const { say, port } = await open();
    await press('Start contributing');
    await say({ type: 'connecting' }, { type: 'connected', balance: 0 }, { type: 'task-started', task }, { type: 'task-done', task, wallSeconds: 1, gpuSeconds: 1 });

    await press('Stop contributing');
    expect(port().received.at(-1)).toEqual({ type: 'stop' });
    expect(screen.getByRole('button', { name: 'Stopping…' })).toHaveProperty('disabled', true);
    await say({ type: 'stopped' });

    expect(screen.getByTestId('summary').textContent).toContain('This tab did 1 task');
    expect(screen.getByRole('button', { name: 'Start contributing' })).toBeTruthy();
  });

  it('shows a lost connection with its reason, and that it tries again', async () => {
    const { say } = await open();
    await press('Start contributing');

    await say({ type: 'connecting' }, { type: 'connected', balance: 0 }, { type: 'disconnected', reason: 'The coordinator closed the connection.', retryMs: 4000 });

    expect(screen.getByTestId('headline').textContent).toBe('Connection lost');
    expect(screen.getByTestId('connection').textContent).toMatch(/The coordinator closed the connection\. Trying again in [34] seconds\./);
  });

  it('does not wait out a backoff once the network is back', async () => {
    const { port } = await open();
    await press('Start contributing');

    window.dispatchEvent(new Event('online'));

    expect(port().received.at(-1)).toEqual({ type: 'wake' });
  });

  it('shows a lost GPU until it is back', async () => {
    const { say } = await open();
    await press('Start contributing');
    await say({ type: 'connecting' }, { type: 'connected', balance: 0 }, { type: 'device-lost', message: 'The driver was reset.' });
    expect(screen.getByRole('alert').textContent).toContain('The driver was reset.');

    await say({ type: 'device', device: { kind: 'gpu', vendor: 'nvidia', architecture: 'ada', description: '', backend: 'webgpu', features: [], memoryBytes: 2 ** 30, copyGbPerS: 412, f32GflopPerS: 21_400 } });
    expect(screen.queryByRole('alert')).toBeNull();
    expect(screen.getByTestId('device').textContent).toBe('nvidia ada through WebGPU');
    expect(screen.getByText('21,400')).toBeTruthy();
  });

  it('says when the server has no engine, and what builds it', async () => {
    const { say } = await open();
    await press('Start contributing');

    await say({ type: 'failed', code: 'engine-missing', message: '/engine/weft_engine.mjs answered 404.' });

    expect(screen.getByRole('alert').textContent).toMatch(/answered 404.*weft build/);
  });

  it('shows the wallet before the start and replaces it by that of a file once the visitor agrees', async () => {
    const { say, port } = await open();
    await say({ type: 'wallet', address: '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin' });
    expect(screen.getByTestId('address').dataset['address']).toBe('9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin');
    expect(screen.queryByRole('button', { name: 'Save wallet file' })).toBeNull();

    await userEvent.upload(screen.getByLabelText('Wallet file'), new File(['[1,2]'], 'id.json', { type: 'application/json' }));
    expect(screen.getByText(/This is not a wallet file/)).toBeTruthy();

    const numbers = Array.from({ length: 64 }, (_, i) => i);
    const choose = () => userEvent.upload(screen.getByLabelText('Wallet file'), new File([JSON.stringify(numbers)], 'id.json', { type: 'application/json' }));
    await choose();
    await press('Keep it');
    expect(port().received.filter(({ type }) => type === 'wallet-import')).toEqual([]);
    await choose();
    await press('Replace the wallet');
    expect(port().received.at(-1)).toEqual({ type: 'wallet-import', numbers });
  });

  it('saves a new wallet and gives the engine what it saved', async () => {
    const { port } = await open();
    const saved: Blob[] = [];
    vi.stubGlobal('URL', Object.assign(URL, { createObjectURL: (blob: Blob) => (saved.push(blob), 'blob:wallet'), revokeObjectURL: () => {} }));

    await press('New wallet with a file');

    await screen.findByText(/keep it safe/);
    expect(saved).toHaveLength(1);
    expect(port().received.at(-1)).toEqual({ type: 'wallet-import', numbers: JSON.parse(await (saved[0] as Blob).text()) });
  });

  it('saves a key of an earlier version once', async () => {
    const { say, port } = await open();
    await say({ type: 'wallet', address: '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin', savable: true });
    vi.stubGlobal('URL', Object.assign(URL, { createObjectURL: () => 'blob:wallet', revokeObjectURL: () => {} }));

    await press('Save wallet file');
    expect(port().received.at(-1)).toEqual({ type: 'wallet-export' });
    await say({ type: 'wallet-file', numbers: Array.from({ length: 64 }, (_, i) => i) });

    await screen.findByText(/keep it safe/);
    expect(screen.queryByRole('button', { name: 'Save wallet file' })).toBeNull();
  });

  it('takes a share of the time, keeps it, and tells the engine at once', async () => {
    const { port, place } = await open();
    await press('Start contributing');

    fireEvent.change(screen.getByLabelText('Share of the time'), { target: { value: '25' } });

    expect(port().received.at(-1)).toMatchObject({ type: 'limits', limits: { share: 0.25 } });
    expect(place.storage.kept('weft.limits')).toMatchObject({ sharePercent: 25 });
    expect(screen.getByTestId('busy').textContent).toContain('of 25 %');
  });

  it('pauses in the background, says why, and goes on by itself', async () => {
    const { say, port, place } = await open();
    await press('Start contributing');
    await say({ type: 'connecting' }, { type: 'connected', balance: 0 });
    await userEvent.click(screen.getByRole('checkbox', { name: 'Pause while this tab is in the background' }));

    vi.useFakeTimers();
    act(() => {
      place.hide(true);
      vi.advanceTimersByTime(100);
    });
    expect(port().received.at(-1)).toMatchObject({ type: 'limits', limits: { pausedBy: ['hidden'] } });
    expect(screen.getByTestId('headline').textContent).toBe('Paused');
    expect(screen.getByTestId('now').textContent).toBe('Paused since this tab is in the background; it continues by itself.');

    act(() => {
      place.hide(false);
      vi.advanceTimersByTime(100);
    });
    vi.useRealTimers();
    expect(port().received.at(-1)).toMatchObject({ type: 'limits', limits: { pausedBy: [] } });
    expect(screen.getByTestId('headline').textContent).toBe('Waiting for work');
  });

  it('pauses on battery where there is one, and offers no such choice if there is none', async () => {
    const battery = new FakeBattery(false);
    const { port } = await open(ready, battery);
    await press('Start contributing');
    expect(port().received.at(-1)).toMatchObject({ type: 'start', limits: { pausedBy: ['battery'] } });

    act(() => battery.plug(true));
    expect(port().received.at(-1)).toMatchObject({ type: 'limits', limits: { pausedBy: [] } });

    act(() => battery.plug(false));
    await userEvent.click(screen.getByRole('checkbox', { name: 'Pause while the machine runs on its battery' }));
    expect(port().received.at(-1)).toMatchObject({ type: 'limits', limits: { pausedBy: [] } });
  });

  it('says why pay is held and for how long, in the coordinator’s words', async () => {
    const { say } = await open();
    await press('Start contributing');
    const verdict = { type: 'verdict', task, accepted: true, paid: 2_500_000, balance: 2_500_000 } as const;
    await say({ type: 'connecting' }, { type: 'connected', balance: 0 }, { type: 'task-started', task }, { type: 'task-done', task, wallSeconds: 1, gpuSeconds: 1 });

    await say({ ...verdict, reason: 'The pay is held for 10 minutes.' });
    expect(screen.getByTestId('held-pay').textContent).toBe('The pay is held for 10 minutes.');

    await say({ ...verdict, reason: '' });
    expect(screen.queryByTestId('held-pay')).toBeNull();
  });

  it('joins again with another memory limit, and keeps what it counted', async () => {
    const { say, port, ports } = await open();
    await press('Start contributing');
    await say({ type: 'connecting' }, { type: 'connected', balance: 0 }, { type: 'task-started', task }, { type: 'task-done', task, wallSeconds: 1, gpuSeconds: 1 });

    await userEvent.selectOptions(screen.getByLabelText('Memory for tasks and models'), 'At most 512 MiB');
    expect(port().received.at(-1)).toEqual({ type: 'stop' });
    await say({ type: 'stopped' });

    expect(ports).toHaveLength(2);
    expect(port().received).toMatchObject([{ type: 'start', limits: { memoryBytes: 2 ** 29 } }]);
    expect(screen.getByTestId('done').textContent).toBe('1');
  });

  it('joins again to run two tasks at a time', async () => {
    const { say, port, ports } = await open();
    await press('Start contributing');
    await say({ type: 'connecting' }, { type: 'connected', balance: 0 });

    await userEvent.click(screen.getByRole('checkbox', { name: 'Two tasks at a time, each with half of the memory' }));
    expect(port().received.at(-1)).toEqual({ type: 'stop' });
    await say({ type: 'stopped' });

    expect(ports).toHaveLength(2);
    expect(port().received).toMatchObject([{ type: 'start', limits: { slices: 2, memoryBytes: null } }]);
  });

  it('joins again to be given no job below its price', async () => {
    const { say, port } = await open();
    await press('Start contributing');
    await say({ type: 'connecting' }, { type: 'connected', balance: 0 });

    await userEvent.selectOptions(screen.getByRole('combobox', { name: 'The least that it works for, a compute unit' }), '1500000');
    expect(port().received.at(-1)).toEqual({ type: 'stop' });
    await say({ type: 'stopped' });

    expect(port().received).toMatchObject([{ type: 'start', limits: { priceMin: 1_500_000 } }]);
  });

  it('joins again to reach other members only through relays', async () => {
    const { say, port, ports } = await open();
    await press('Start contributing');
    await say({ type: 'connecting' }, { type: 'connected', balance: 0 });

    await userEvent.click(screen.getByRole('checkbox', { name: /^Reach other members only through relays/ }));
    expect(port().received.at(-1)).toEqual({ type: 'stop' });
    await say({ type: 'stopped' });

    expect(ports).toHaveLength(2);
    expect(port().received).toMatchObject([{ type: 'start', limits: { relayOnly: true } }]);
  });

  it('shows how long the start took, the memory and the time that it takes', async () => {
    const { say } = await open();
    await press('Start contributing');
    await say(
      { type: 'connecting' },
      { type: 'connected', balance: 0 },
      { type: 'usage', usage: { memoryBytes: 48 * 2 ** 20, held: 2, serving: { connected: true, shards: 1, running: 0, tokens: 12 } } },
    );

    expect(screen.getByTestId('start-times').textContent).toMatch(/^Ready in .*s$/);
    expect(screen.getByTestId('memory-now').textContent).toBe('48MiB');
    expect(screen.getByTestId('held').textContent).toBe('2');
    expect(screen.getByTestId('now').textContent).toBe('Serves 1 part of models, 12 tokens drawn.');
  });
});
