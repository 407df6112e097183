// Tests the texts of the page about the feed, which give the facts of the drawings to a reader who cannot see them.
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
      job({ tasks: 4, counts: [1, 1, 1, 1, 0], map: { first: [1, 2, 3], count: [1, 1, 1], state: 'lca', packed: '' }, price: 400_000, units: 0.2 }),
      job({ id: 'b', created: 0, state: 'failed', tasks: 2, counts: [2, 0, 0, 0, 0] }),
    ],
    workers: Array.from({ length: 12 }, (_, i) => worker(i + 1)),
    loads: loads(...Array.from({ length: 12 }, (_, i) => [i + 1, i % 4] as const)),
    history: history([1, 2, 3]),
  }),
);
const open = (change: Partial<FeedState> = {}) => render(<DashboardPage feed={feedOf({ board, connection: 'open', reason: '', ...change })} base="http://localhost/" />);

const shared = 'a'.repeat(32);
const link = 'b'.repeat(32);

beforeEach(() => {
  window.history.replaceState(null, '', '/dashboard');
  vi.stubGlobal('OffscreenCanvas', undefined);
  Reflect.deleteProperty(window, 'OffscreenCanvas');
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input) => {
    const url = new URL(String(input));
    if (url.pathname === '/v1/ledger') {
      return Response.json({ sum: 0, balances: [{ account: 'owner', amount: 1_500_000 }, { account: 'mint', amount: -1_500_000 }] });
    }
    if (url.searchParams.get('link') !== link) return Response.json({ detail: 'The link is not one of this job.' }, { status: 403 });
    if (url.pathname === `/v1/jobs/${shared}`)
      return Response.json({
        id: shared, name: 'shared', client: 'Client1xxxxxxxxx', state: 'done', reason: '', tasks: 2, accepted: 2, budget: 2_000_000, price: 0,
        outputs: [{ name: 'output0', hash: 'h', bytes: 16, type: 'u32', shape: [4] }],
        decided: 'All 2 results have the word of a worker that the operator invited.', corrected: 1, unchecked: 1, refunded: 250_000,
        corrections: [
          { task: 0, worker: 'Worker1xxxxxxxxx', time: 1, replaced: true, was: 'a', refunded: 250_000, reason: '' },
          { task: 1, worker: 'Worker1xxxxxxxxx', time: 1, replaced: false, was: 'b', refunded: 0, reason: 'Its inputs are gone.' },
        ],
      });
    return Response.json({ detail: 'The job has no such proof.' }, { status: 404 });
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
    fireEvent.click(screen.getByRole('button', { name: /^b/ }));

    expect(screen.getByTestId('task-grid').getAttribute('aria-label')).toContain('Tasks of b: 2 waiting');
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

  it('shows the totals of the ledger', async () => {
    open();

    expect((await screen.findByTestId('ledger-sum')).textContent).toBe('All accounts sum to 0');
    expect(screen.getByTestId('balances').textContent).toContain('owner1.50');
  });

  it('asks for no job whose link the address has not, and says how to get it', () => {
    open();

    expect(screen.getByText('weft submit --share JOB')).toBeTruthy();
    expect(vi.mocked(fetch).mock.calls.map(([address]) => String(address))).toEqual(['http://localhost/v1/ledger']);
  });

  it('shows the job of the address, with its outputs, and passes on why a task cannot be checked', async () => {
    window.history.replaceState(null, '', `/dashboard#job=${shared}&link=${link}`);
    open();

    expect(await screen.findByText('The job has no such proof.')).toBeTruthy();
    expect(screen.getByTestId('shared-job').textContent).toContain('done, 2 of 2 tasks accepted');
    expect(screen.getByTestId('decided').textContent).toBe('All 2 results have the word of a worker that the operator invited.');
    const corrections = screen.getByTestId('corrections').textContent;
    expect(corrections).toContain('1 result of a convicted worker was wrong and is replaced; 0.2500 credits are returned.');
    expect(corrections).toContain('1 result of a convicted worker could not be computed again.');
    expect(corrections).toContain('Its inputs are gone.');
    expect(screen.getByRole('link', { name: 'output0' }).getAttribute('href')).toBe(`http://localhost/v1/jobs/${shared}/outputs/0?link=${link}`);
  });

  it('passes on that a link is wrong', async () => {
    window.history.replaceState(null, '', `/dashboard#job=${shared}&link=${'c'.repeat(32)}`);
    open();

    expect(await screen.findByText('The link is not one of this job.')).toBeTruthy();
  });

  it('keeps what it knows while the connection is gone, and says so', () => {
    open({ connection: 'waiting', reason: 'The coordinator cannot be reached.' });

    expect(screen.getByTestId('feed').textContent).toBe('The coordinator cannot be reached. Trying again.');
    expect(screen.getByTestId('worker-count').textContent).toBe('12');
  });

  it('says what to do if there is nothing', () => {
    open({ board: boardOf(snapshot({ jobs_running: 0 })) });

    expect(screen.getByText('weft submit')).toBeTruthy();
    expect(screen.getByText(/No workers are connected/)).toBeTruthy();
  });
});
