// Keeps a board up to date over /v1/watch. It acknowledges each message after applying it, and connects again by itself when the connection
// ends or a message is invalid. A hidden tab is not connected.
import type { Delta, Seen, Snapshot } from '../../wire/watch';
import { advance, boardOf, type Board } from './board';

export type FeedState = {
  readonly board: Board | null;
  readonly connection: 'connecting' | 'open' | 'waiting';
  /** The reason why the feed waits. */
  readonly reason: string;
};

export type SocketLike = Pick<WebSocket, 'send' | 'close' | 'onopen' | 'onmessage' | 'onclose' | 'onerror'>;
type Options = {
  readonly open?: (url: string) => SocketLike;
  readonly retryMsMin?: number;
  readonly retryMsMax?: number;
};

/** `base` is the coordinator's address; it ends with a slash. */
export function watchAddress(base: string): string {
  const url = new URL('/v1/watch', base);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  return url.href;
}

export class Feed {
  readonly #url: string;
  readonly #open: (url: string) => SocketLike;
  readonly #retryMsMin: number;
  readonly #retryMsMax: number;
  readonly #listeners = new Set<() => void>();
  #state: FeedState = { board: null, connection: 'connecting', reason: '' };
  #socket: SocketLike | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #retryMs: number;
  #started = false;

  constructor(url: string, { open = (to) => new WebSocket(to), retryMsMin = 500, retryMsMax = 10_000 }: Options = {}) {
    this.#url = url;
    this.#open = open;
    this.#retryMsMin = retryMsMin;
    this.#retryMsMax = retryMsMax;
    this.#retryMs = retryMsMin;
  }

  /** The feed is connected while it has a listener. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    if (!this.#started) this.#start();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#stop();
    };
  };
  readonly state = (): FeedState => this.#state;

  #start(): void {
    this.#started = true;
    document.addEventListener('visibilitychange', this.#look);
    window.addEventListener('online', this.#look);
    this.#connect();
  }
  #stop(): void {
    this.#started = false;
    document.removeEventListener('visibilitychange', this.#look);
    window.removeEventListener('online', this.#look);
    clearTimeout(this.#timer);
    this.#leave();
  }
  readonly #look = (): void => {
    if (document.hidden) {
      clearTimeout(this.#timer);
      this.#leave();
    } else if (this.#socket === null) {
      this.#retryMs = this.#retryMsMin;
      this.#connect();
    }
  };

  #connect(): void {
    clearTimeout(this.#timer);
    if (document.hidden) return;
    this.#set({ connection: 'connecting', reason: '' });
    const socket = this.#open(this.#url);
    this.#socket = socket;
    socket.onmessage = (event) => {
      if (this.#socket !== socket) return;
      try {
        this.#take(JSON.parse(String(event.data)) as Snapshot | Delta, socket);
      } catch (error) {
        this.#lost(error instanceof Error ? error.message : String(error));
      }
    };
    socket.onclose = (event) => {
      if (this.#socket === socket) this.#lost(event.reason || 'The coordinator cannot be reached.');
    };
  }

  #take(message: Snapshot | Delta, socket: SocketLike): void {
    let board: Board;
    if (message.type === 'snapshot') board = boardOf(message as Snapshot);
    else if (message.type === 'delta' && this.#state.board !== null) board = advance(this.#state.board, message as Delta);
    else throw new Error('The coordinator sent a message that this page cannot read.');
    this.#retryMs = this.#retryMsMin;
    this.#set({ board, connection: 'open', reason: '' });
    const seen: Seen = { type: 'seen', sequence: board.sequence };
    socket.send(JSON.stringify(seen));
  }

  #lost(reason: string): void {
    this.#leave();
    this.#set({ connection: 'waiting', reason });
    this.#timer = setTimeout(() => this.#connect(), this.#retryMs);
    this.#retryMs = Math.min(2 * this.#retryMs, this.#retryMsMax);
  }
  #leave(): void {
    const socket = this.#socket;
    this.#socket = null;
    if (socket === null) return;
    socket.onmessage = null;
    socket.onclose = null;
    socket.close();
  }
  #set(change: Partial<FeedState>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  }
}
