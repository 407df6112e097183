// The network's lists as the coordinator tells them.
import { render, screen } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { fetchNetwork, type Network } from './api';
import { NetworkPanel } from './NetworkPanel';

const network: Network = {
  jobs: [{ id: 'aa', name: 'mandelbrot', kind: 'wgsl', state: 'running', tasks: 64, accepted: 16 }],
  workers: [
    { id: 'Own111', kind: 'browser', device: 'gpu', description: 'RTX', tasks: 3, credits: 1_500_000 },
    { id: 'Other1', kind: 'native', device: 'cpu', description: '', tasks: 9, credits: 0 },
  ],
  ledgerSum: 0,
};

describe('NetworkPanel', () => {
  it('lists jobs with their progress and workers with their pay, and points out this tab', () => {
    render(<NetworkPanel state={{ network, error: null }} ownAddress="Own111" />);

    expect(screen.getByLabelText('16 of 64 tasks accepted')).toBeTruthy();
    expect(screen.getAllByText('this tab')).toHaveLength(1);
    expect(screen.getByText('1.50 cr')).toBeTruthy();
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
  it('turns an error answer into one sentence', async () => {
    const fetch = async () => new Response('', { status: 503 });

    await expect(fetchNetwork(fetch, 'http://localhost/', new AbortController().signal)).rejects.toThrow('v1/jobs answered 503.');
  });
});
