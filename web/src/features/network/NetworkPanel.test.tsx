// Tests that the panel shows the lists of the coordinator.
import { render, screen } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { job, worker } from '../../../test/samples';
import { fetchNetwork, type Network } from './api';
import { NetworkPanel } from './NetworkPanel';

const network: Network = {
  jobs: [job],
  workers: [worker, { ...worker, key: 'Other1', kind: 'native', device: 'cpu', balance: 0 }],
  ledgerSum: 0,
};

describe('NetworkPanel', () => {
  it('lists jobs with their progress and workers with their tasks, and points out this tab', () => {
    render(<NetworkPanel state={{ network, error: null }} ownAddress="Own111" />);

    expect(screen.getByLabelText('16 of 64 tasks accepted')).toBeTruthy();
    expect(screen.getAllByText('this tab')).toHaveLength(1);
    expect(screen.getAllByText(/^\d+ tasks?$/)).toHaveLength(2);
    expect(screen.getByTestId('ledger-sum').textContent).toMatch(/sum to 0$/);
  });

  it('says so when the books do not balance', () => {
    render(<NetworkPanel state={{ network: { ...network, ledgerSum: 2_000_000 }, error: null }} ownAddress={null} />);

    expect(screen.getByTestId('ledger-sum').textContent).toBe('The books do not balance: all accounts sum to 2.00');
  });

  it('keeps the last lists beside an error', () => {
    render(<NetworkPanel state={{ network, error: '/v1/jobs answered 503.' }} ownAddress={null} />);

    expect(screen.getByRole('status').textContent).toContain('/v1/jobs answered 503.');
    expect(screen.getByText('mandelbrot')).toBeTruthy();
  });
});

describe('fetchNetwork', () => {
  const signal = new AbortController().signal;
  const answering = (answers: Record<string, unknown>) => async (url: string) => new Response(JSON.stringify(answers[new URL(url).pathname]));

  it('lists who is connected', async () => {
    const gone = { ...worker, key: 'Gone11', connected: false };
    const fetch = answering({ '/v1/jobs': { jobs: [job] }, '/v1/workers': { workers: [worker, gone] }, '/v1/ledger': { sum: 0, balances: [] } });

    expect(await fetchNetwork(fetch, 'http://localhost/', signal)).toEqual({ jobs: [job], workers: [worker], ledgerSum: 0 });
  });

  it('reads every page of the workers', async () => {
    const second = { ...worker, key: 'Second22' };
    const pages: Record<string, unknown> = { '': { workers: [worker], next: '0a' }, '0a': { workers: [second], next: '' } };
    const others = answering({ '/v1/jobs': { jobs: [] }, '/v1/ledger': { sum: 0, balances: [] } });
    const fetch = async (url: string) => {
      const { pathname, searchParams } = new URL(url);
      return pathname === '/v1/workers' ? new Response(JSON.stringify(pages[searchParams.get('from') ?? ''])) : others(url);
    };

    expect((await fetchNetwork(fetch, 'http://localhost/', signal)).workers).toEqual([worker, second]);
  });

  it('passes on what a problem document says', async () => {
    const fetch = async () => new Response(JSON.stringify({ detail: 'Too many requests.' }), { status: 429 });

    await expect(fetchNetwork(fetch, 'http://localhost/', signal)).rejects.toThrow('/v1/jobs answered 429: Too many requests.');
  });

  it('refuses an answer that is something else', async () => {
    await expect(fetchNetwork(answering({ '/v1/jobs': [], '/v1/workers': {}, '/v1/ledger': {} }), 'http://localhost/', signal)).rejects.toThrow(
      '/v1/jobs answered with an unexpected document.',
    );
  });
});
