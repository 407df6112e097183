// Tests what the two sides of a session tell their users before another device sees a picture, and that nothing starts without a click.
import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { VisionPage } from '../VisionPage';
import type { NodeView } from './crew';
import { Helper } from './helper';
import { HelperPage } from './HelperPage';
import type { Invitation } from './invitation';
import type { Line } from './line';
import { NodeTable, ShareCard } from './ShareCard';
import { notShared } from './sharing';

const invitation: Invitation = { secret: new Uint8Array(16), print: new Uint8Array(16) };
const link = `http://localhost/vision#camera=${'A'.repeat(43)}`;
afterEach(() => {
  window.location.hash = '';
});

test('before the camera is shared, the page says that helpers see the pictures', async () => {
  const share = vi.fn();
  render(<ShareCard sharing={notShared} onShare={share} onEnd={() => undefined} />);
  expect(screen.getByTestId('share-warning').textContent).toMatch(/gets the model and sees the pictures.*Give the link only to people who may see them/);
  expect(screen.queryByTestId('share-link')).toBeNull();
  expect(share).not.toHaveBeenCalled();
  await userEvent.click(screen.getByRole('button', { name: 'Share the work' }));
  expect(share).toHaveBeenCalledTimes(1);
});

test('while it is shared there are the link, its QR code, and the end', async () => {
  const end = vi.fn();
  render(<ShareCard sharing={{ ...notShared, link, reachable: true }} onShare={() => undefined} onEnd={end} />);
  expect(screen.getByTestId('share-link')).toHaveProperty('value', link);
  // A code of version 5 has 37 modules on each side and a margin of 4.
  expect(screen.getByTestId('qr').getAttribute('viewBox')).toMatch(/^0 0 (\d+) \1$/);
  await userEvent.click(screen.getByRole('button', { name: 'End sharing' }));
  expect(end).toHaveBeenCalledTimes(1);
});

test('a device that is too slow is said to be', () => {
  const node: NodeView = { id: 'helper 1', name: 'a GPU', isLocal: false, path: 'relay', state: 'too slow', share: 0, frames: 3, bytes: 2048, work: 812.4, link: 31 };
  const own: NodeView = { ...node, id: 'this tab', name: 'This tab', isLocal: true, state: 'works', share: 1, work: 20, link: 0 };
  render(<NodeTable nodes={[own, node]} sharing={{ ...notShared, link, left: ['b (helper 2): It left.'] }} />);
  const [first, second] = screen.getAllByTestId('node');
  expect(first?.textContent).toMatch(/This tab.*takes part.*100 %/);
  expect(second?.textContent).toMatch(/a GPU \(helper 1\)too slow to help.*link: through the coordinator.*812.*31.*3.*2 KiB/);
  expect(screen.getByTestId('left').textContent).toBe('b (helper 2): It left.');
});

test('a tab alone shows no table', () => {
  render(<NodeTable nodes={[]} sharing={notShared} />);
  expect(screen.queryByTestId('nodes')).toBeNull();
});

test('an invited device says what joining means, and joins after a press only', async () => {
  const join = vi.fn(() => new Promise<Line>(() => undefined));
  const helper = new Helper(invitation, undefined, join);
  render(<HelperPage invitation={invitation} helper={helper} onOwn={() => undefined} />);
  expect(screen.getByTestId('helper-warning').textContent).toMatch(/pictures can be seen by this device/);
  expect(screen.getByTestId('helper-warning').textContent).toMatch(/network address/);
  expect(join).not.toHaveBeenCalled();

  await userEvent.click(screen.getByRole('button', { name: 'Join' }));

  expect(join).toHaveBeenCalledWith(invitation);
  expect(screen.getByTestId('helper').dataset['stage']).toBe('joining');
});

test('why it ended is said, and it can join again', async () => {
  const helper = new Helper(invitation, undefined, () => Promise.reject(new Error('The meeting does not exist, or it has ended.')));
  render(<HelperPage invitation={invitation} helper={helper} onOwn={() => undefined} />);
  await userEvent.click(screen.getByRole('button', { name: 'Join' }));
  expect((await screen.findByTestId('helper-why')).textContent).toBe('The meeting does not exist, or it has ended.');
  expect(screen.getByRole('button', { name: 'Join again' })).toBeDefined();
});

test('the address with an invitation is the page of a helper, and without it that of a camera', async () => {
  window.location.hash = link.split('#')[1] ?? '';
  render(<VisionPage />);
  expect(screen.getByRole('heading', { level: 1 }).textContent).toBe('Help a camera');
  await userEvent.click(screen.getByRole('button', { name: /camera of this device/ }));
  window.dispatchEvent(new HashChangeEvent('hashchange'));
  expect((await screen.findByRole('heading', { level: 1 })).textContent).toBe('Vision');
});
