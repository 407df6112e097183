// Tests that the panel asks only while it is open, only the selected engine, and shows what was measured.
import { cleanup, render, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { emptyCounters } from '../../../test/samples';
import { offerGpuSource, type GpuCounters, type GpuSource } from '../../engine/gpuCounters';
import { DevTools } from './DevTools';

const user = userEvent.setup();
const withdrawals: (() => void)[] = [];
const offer = (source: GpuSource) => withdrawals.push(offerGpuSource(source));

afterEach(() => {
  cleanup();
  for (const withdraw of withdrawals.splice(0)) withdraw();
});

const busy: GpuCounters = {
  ...emptyCounters,
  now: 1000,
  totals: { ...emptyCounters.totals, dispatches: 12, submits: 3, reads: 2, readBytes: 2048, readSeconds: 0.5 },
  kernels: [{ name: 'nbody', dispatches: 12, timedDispatches: 12, seconds: 0.024 }],
  spans: [{ lane: 'queue', label: 'task', from: 0, to: 1000 }],
};

describe('DevTools', () => {
  it('shows the engine of the page, and another when it is asked to', async () => {
    offer({ name: 'Contribute', counters: async () => null });
    offer({ name: 'Playground', counters: async () => busy });

    render(<DevTools wish="Playground" onClose={() => {}} />);

    expect((await screen.findByTestId('devtools-totals')).textContent).toContain('12 dispatches');
    expect(screen.getByTestId('kernels').textContent).toContain('nbody122 ms24 ms');
    expect(screen.getByTestId('lanes').textContent).toContain('Queue10 %');
    expect(screen.getByTestId('transfers').textContent).toContain('250 ms on average');

    await user.click(screen.getByRole('button', { name: 'Contribute' }));
    await screen.findByText(/Nothing is loaded here yet: start contributing/);
  });

  it('shows no time if there is no GPU clock', async () => {
    offer({ name: 'Chat', counters: async () => ({ ...busy, timestamps: false, kernels: [{ name: 'matmul', dispatches: 7, timedDispatches: 0, seconds: 0 }] }) });

    render(<DevTools wish="Chat" onClose={() => {}} />);

    expect((await screen.findByTestId('kernels')).textContent).toContain('matmul7––');
    expect(screen.getByTestId('kernels').textContent).toContain('counted, not timed');
  });

  it('watches while it is open, and no longer', async () => {
    const counters = vi.fn(async (_watch: boolean) => busy);
    offer({ name: 'Playground', counters });
    const { unmount } = render(<DevTools wish="Playground" onClose={() => {}} />);
    await screen.findByTestId('lanes');

    unmount();

    expect(counters.mock.calls[0]).toEqual([true]);
    expect(counters.mock.calls.at(-1)).toEqual([false]);
  });

  it('measures the roofs when asked to, and places under them what ran', async () => {
    const roofs = vi.fn(async () => ({ bytesPerSecond: 1e9, operationsPerSecond: 1e10, what: 'f32 multiply-adds' }));
    const runs = [
      { name: 'nbody', bytes: 1e6, operations: 1e6, seconds: 0.01, byTimestamps: true },
      { name: 'mandelbrot', bytes: 1e6, operations: null, seconds: 0.01, byTimestamps: true },
    ];
    offer({ name: 'Playground', counters: async () => busy, roofs, runs: () => runs });
    render(<DevTools wish="Playground" onClose={() => {}} />);

    await user.click(await screen.findByRole('button', { name: 'Measure the roofs' }));

    await waitFor(() => expect(screen.getByTestId('roofline').dataset['points']).toBe('1'));
    expect(screen.getByTestId('roofline').textContent).toContain('nbody just ran at 100 Mop/s, 10 % of what its bytes allow');
    expect(screen.getByText(/mandelbrot moved 100 MB\/s/)).toBeTruthy();
  });

  it('closes with Escape', async () => {
    const onClose = vi.fn();
    offer({ name: 'Playground', counters: async () => busy });
    render(<DevTools wish="Playground" onClose={onClose} />);
    (await screen.findByRole('region', { name: 'Measurements' })).focus();

    await user.keyboard('{Escape}');

    expect(onClose).toHaveBeenCalled();
  });
});
