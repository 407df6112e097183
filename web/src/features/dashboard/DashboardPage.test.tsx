// What the page says in words about the feed: a reader that sees no drawing gets the same facts.
import { fireEvent, render, screen, within } from '@testing-library/react';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { history, job, loads, snapshot, worker } from '../../../test/watchSamples';
import { boardOf } from './board';
import { DashboardPage } from './DashboardPage';
import type { Feed, FeedState } from './feed';

const feedOf = (state: FeedState) => ({ subscribe: () => () => {}, state: () => state }) as unknown as Feed;
const board = boardOf(
  snapshot({
    jobs: [
      job({ tasks: 4, counts: [1, 1, 1, 1, 0], map: { first: [1, 2, 3], count: [1, 1, 1], state: 'lca', packed: '' }, price: 400_000, escrow: 1_900_000, units: 0.2 }),
      job({ id: 'b', name: 'older', created: 0, state: 'failed', reason: 'replicas differ', tasks: 2, counts: [2, 0, 0, 0, 0] }),
    ],
    workers: Array.from({ length: 12 }, (_, i) => worker(i + 1)),
    loads: loads(...Array.from({ length: 12 }, (_, i) => [i + 1, i % 4] as const)),
    history: history([1, 2, 3]),
  }),
);
const open = (change: Partial<FeedState> = {}) => render(<DashboardPage feed={feedOf({ board, connection: 'open', reason: '', ...change })} base="http://localhost/" />);

beforeEach(() => {
  vi.stubGlobal('OffscreenCanvas', undefined);
  Reflect.deleteProperty(window, 'OffscreenCanvas');
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input) => {
    const url = new URL(String(input));
    if (url.pathname === '/v1/ledger') {
      const account = url.searchParams.get('account');
      if (account === null) return Response.json({ sum: 0, balances: [{ account: 'worker:Key1xxxxxxxxxx', amount: 1_500_000 }] });
      return Response.json({ account, amount: 1_500_000, entries: [{ key: 'pay:a/1', what: 'task 1 of a', amount: 100, time: 0 }] });
    }
    return Response.json({ detail: 'Job a has no such proof.' }, { status: 404 });
  });
});

describe('DashboardPage', () => {
  it('says how the network is', () => {
    open();

    expect(screen.getByTestId('worker-count').textContent).toBe('12');
    expect(screen.getByTestId('throughput').textContent).toBe('12/s');
    expect(screen.getByTestId('latency').textContent).toBe('40ms');
    expect(screen.getByTestId('price').textContent).toBe('1.50cr');
    expect(screen.getByTestId('feed').textContent).toBe('Live');
  });

  it('shows the running job’s tasks in words and lets the keyboard go through them', () => {
    open();
    const grid = screen.getByTestId('task-grid');

    expect(grid.getAttribute('aria-label')).toContain('1 waiting, 1 leased, 1 checking, 1 accepted, 0 refused');
    expect(screen.getByTestId('count-leased').textContent).toBe('1');
    fireEvent.keyDown(grid, { key: 'ArrowRight' });
    fireEvent.keyDown(grid, { key: 'ArrowRight' });
    expect(screen.getByTestId('pointed').textContent).toBe('Task 1: leased');
  });

  it('changes to the job that is chosen', () => {
    open();
    fireEvent.click(screen.getByRole('button', { name: /older/ }));

    expect(screen.getByTestId('task-grid').getAttribute('aria-label')).toContain('Tasks of older: 2 waiting');
  });

  it('lists workers in pages, in the order that is asked for', () => {
    open();
    const first = () => within(screen.getByTestId('workers')).getAllByRole('row')[0]?.textContent;

    expect(first()).toContain('Key12x');
    fireEvent.click(screen.getByRole('button', { name: 'Round trip' }));
    expect(first()).toContain('Key1xx');
    fireEvent.click(screen.getByRole('button', { name: 'After' }));
    expect(first()).toContain('Key9xx');
  });

  it('shows the ledger and what moved on an account', async () => {
    open();
    fireEvent.click(await screen.findByRole('button', { name: 'worker Key1xx…xxxx' }));

    expect((await screen.findByTestId('trail')).textContent).toContain('task 1 of a');
    expect(screen.getByTestId('ledger-sum').textContent).toBe('All accounts sum to 0');
  });

  it('passes on why a task cannot be checked', async () => {
    open();
    expect(await screen.findByText('Job a has no such proof.')).toBeTruthy();
  });

  it('keeps what it knows while the connection is gone, and says so', () => {
    open({ connection: 'waiting', reason: 'The coordinator cannot be reached.' });

    expect(screen.getByTestId('feed').textContent).toBe('The coordinator cannot be reached. Trying again.');
    expect(screen.getByTestId('worker-count').textContent).toBe('12');
  });

  it('says what to do where nothing is', () => {
    open({ board: boardOf(snapshot({ jobs_running: 0 })) });

    expect(screen.getByText(/weft submit/)).toBeTruthy();
    expect(screen.getByText(/No workers are connected/)).toBeTruthy();
  });
});
