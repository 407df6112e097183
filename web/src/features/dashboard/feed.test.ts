// Tests that the feed acknowledges each message that it has applied, and that it connects again by itself: after a broken connection, after
// an invalid message, and when a hidden tab becomes visible.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { delta, snapshot } from '../../../test/watchSamples';
import { Feed, watchAddress, type SocketLike } from './feed';

class FakeSocket implements SocketLike {
  onopen: SocketLike['onopen'] = null;
  onmessage: SocketLike['onmessage'] = null;
  onclose: SocketLike['onclose'] = null;
  onerror: SocketLike['onerror'] = null;
  readonly sent: string[] = [];
  closed = false;
  send(data: unknown) {
    this.sent.push(String(data));
  }
  close() {
    this.closed = true;
  }
  hear(message: unknown) {
    this.onmessage?.call(this as unknown as WebSocket, { data: typeof message === 'string' ? message : JSON.stringify(message) } as MessageEvent);
  }
  end(reason = '') {
    this.onclose?.call(this as unknown as WebSocket, { reason } as CloseEvent);
  }
}

let sockets: FakeSocket[];
let feed: Feed;
let hidden = false;
const last = () => {
  const socket = sockets.at(-1);
  if (socket === undefined) throw new Error('No socket was opened.');
  return socket;
};

beforeEach(() => {
  vi.useFakeTimers();
  sockets = [];
  hidden = false;
  vi.spyOn(document, 'hidden', 'get').mockImplementation(() => hidden);
  feed = new Feed('ws://x/v1/watch', {
    open: () => {
      sockets.push(new FakeSocket());
      return last();
    },
  });
});
const stops: (() => void)[] = [];
const watch = () => {
  const stop = feed.subscribe(() => {});
  stops.push(stop);
  return stop;
};
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
  vi.useRealTimers();
});

describe('Feed', () => {
  it('says what it has seen', () => {
    watch();
    last().hear(snapshot());
    last().hear(delta({ sequence: 8 }));

    expect(last().sent.map((text) => JSON.parse(text))).toEqual([{ type: 'seen', sequence: 7 }, { type: 'seen', sequence: 8 }]);
    expect(feed.state().connection).toBe('open');
    expect(feed.state().board?.sequence).toBe(8);
  });

  it('connects again by itself, ever more slowly, and keeps what it showed', () => {
    watch();
    last().hear(snapshot());
    last().end('the coordinator stops');
    expect(feed.state()).toMatchObject({ connection: 'waiting', reason: 'the coordinator stops' });
    expect(feed.state().board?.sequence).toBe(7);

    vi.advanceTimersByTime(500);
    expect(sockets).toHaveLength(2);
    last().end();
    vi.advanceTimersByTime(500);
    expect(sockets).toHaveLength(2);
    vi.advanceTimersByTime(500);
    expect(sockets).toHaveLength(3);
    last().hear(snapshot({ sequence: 1 }));
    expect(feed.state().board?.sequence).toBe(1);
  });

  it.each(['{', '[]', '{"type":"welcome"}', JSON.stringify(delta({ sequence: 12 }))])('asks again after %s', (nonsense) => {
    watch();
    last().hear(snapshot());
    last().hear(nonsense);

    expect(sockets[0]?.closed).toBe(true);
    expect(feed.state().connection).toBe('waiting');
    vi.advanceTimersByTime(500);
    expect(sockets).toHaveLength(2);
  });

  it('is connected only while it has a listener', () => {
    const stop = watch();
    hidden = true;
    document.dispatchEvent(new Event('visibilitychange'));
    expect(sockets[0]?.closed).toBe(true);
    hidden = false;
    document.dispatchEvent(new Event('visibilitychange'));
    expect(sockets).toHaveLength(2);
    stop();
    expect(last().closed).toBe(true);
    vi.advanceTimersByTime(60_000);
    expect(sockets).toHaveLength(2);
  });
});

it('watches over TLS where the page came over it', () => {
  expect(watchAddress('https://a.example:7300/')).toBe('wss://a.example:7300/v1/watch');
  expect(watchAddress('http://127.0.0.1:7300/')).toBe('ws://127.0.0.1:7300/v1/watch');
});
