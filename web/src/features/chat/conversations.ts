// Stores conversations, only in this browser's storage. Their size is bounded; the oldest is dropped first.
import type { AnswerEnd, ChatMessage, SentCall } from './backend';

export type KeptTurn = {
  readonly role: 'user' | 'assistant';
  readonly text: string;
  readonly end?: AnswerEnd | null;
  /** The model's thoughts before its answer, if it gave any. */
  readonly thought?: string;
  /** The results of the answer's calls, in the order of the calls. */
  readonly results?: readonly (string | undefined)[];
};
export type KeptConversation = { readonly id: string; readonly model: string; readonly at: number; readonly turns: readonly KeptTurn[] };

const place = 'weft-conversations';
export const conversationsMost = 50;
/** The most characters of all conversations together; browsers give a site about five million. */
export const charactersMost = 2_000_000;

export interface Conversations {
  /** Returns the conversations, the latest first. */
  list(): readonly KeptConversation[];
  get(id: string): KeptConversation | undefined;
  /** Stores a conversation under `id`, or under a new id if it is empty. Returns the id. */
  put(id: string, model: string, turns: readonly KeptTurn[]): string;
  remove(id: string): void;
}

function isKept(value: unknown): value is KeptConversation {
  const { id, model, at, turns } = (value ?? {}) as Record<string, unknown>;
  return (
    typeof id === 'string' &&
    typeof model === 'string' &&
    typeof at === 'number' &&
    Array.isArray(turns) &&
    turns.every((turn: { readonly role?: unknown; readonly text?: unknown } | null) => (turn?.role === 'user' || turn?.role === 'assistant') && typeof turn.text === 'string')
  );
}

export function keptConversations(storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>, now: () => number = Date.now): Conversations {
  // The list is read each time, because another tab may have changed it or the visitor may have cleared the storage.
  const list = (): KeptConversation[] => {
    try {
      const all: unknown = JSON.parse(storage.getItem(place) ?? '[]');
      return Array.isArray(all) ? all.filter(isKept) : [];
    } catch {
      return [];
    }
  };
  const write = (all: readonly KeptConversation[]): void => {
    const kept = all.slice(0, conversationsMost);
    while (kept.length > 0 && JSON.stringify(kept).length > charactersMost) kept.pop();
    try {
      if (kept.length === 0) storage.removeItem(place);
      else storage.setItem(place, JSON.stringify(kept));
    } catch {
      // The browser's storage is full or switched off; the conversation lasts until the page is closed.
    }
  };
  return {
    list,
    get: (id) => list().find((one) => one.id === id),
    put(id, model, turns) {
      const own = id === '' ? crypto.randomUUID() : id;
      write([{ id: own, model, at: now(), turns }, ...list().filter((one) => one.id !== own)]);
      return own;
    },
    remove: (id) => write(list().filter((one) => one.id !== id)),
  };
}

/** Returns the first question, as the title in a list. */
export function titleOf({ turns }: KeptConversation): string {
  const text = turns.find(({ role }) => role === 'user')?.text.trim() ?? '';
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}

/** True if every call of the answer has its result, so that the model can continue; false for an answer without calls. */
export function allAnswered({ end, results }: Pick<KeptTurn, 'end' | 'results'>): boolean {
  const calls = end?.calls ?? [];
  return calls.length > 0 && calls.every((_, i) => typeof results?.[i] === 'string');
}

/**
 * Returns the turns as messages of OpenAI's interface. The calls of a turn are left out if one of them has no result, because templates
 * need a result for each call; `whole` keeps them.
 */
export function messagesOf(turns: readonly KeptTurn[], { whole = false } = {}): ChatMessage[] {
  return turns.flatMap((turn, at): ChatMessage[] => {
    const { role, text, end, results } = turn;
    const calls = end?.calls ?? [];
    if (role === 'user' || calls.length === 0 || !(whole || allAnswered(turn))) return text === '' ? [] : [{ role, content: text }];
    const sent: SentCall[] = calls.map(({ id, name, arguments: text }, i) => ({ id: id ?? `call${at}x${i}`, type: 'function', function: { name, arguments: text } }));
    const given = sent.flatMap(({ id }, i): ChatMessage[] => {
      const result = results?.[i];
      return typeof result === 'string' ? [{ role: 'tool', tool_call_id: id, content: result }] : [];
    });
    return [{ role, content: text, tool_calls: sent }, ...given];
  });
}

/** Returns a document whose `messages` OpenAI's clients and `weft generate --messages` accept. */
export function exported(model: string, turns: readonly KeptTurn[]): string {
  const messages = messagesOf(turns, { whole: true });
  return `${JSON.stringify({ model, messages }, null, 2)}\n`;
}

/** Saves a text as a file on the visitor's machine. */
export function save(text: string, name = 'conversation.json'): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href));
}
