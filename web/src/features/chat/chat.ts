// The conversation as a store: one immutable value, and methods. It lives longer than the page's components, so that it is not lost while
// the visitor is on another page.
import { allAnswered, messagesOf, type Conversations, type KeptTurn } from './conversations';
import { readTools } from './tools';
import { BackendGone, type AnswerEnd, type ChatBackend, type ChatMessage, type OpenBackend, type OpenProgress } from './backend';

export type Turn = {
  readonly id: number;
  readonly role: 'user' | 'assistant';
  readonly text: string;
  readonly state: 'written' | 'writing' | 'failed';
  /** The error message; empty if the turn did not fail. */
  readonly failure: string;
  readonly end: AnswerEnd | null;
  /** The model's thoughts before its answer; empty if it gave none. */
  readonly thought: string;
  /** The results of the answer's calls, in the order of the calls. */
  readonly results: readonly (string | undefined)[];
};

export type ModelState =
  | { readonly state: 'none'; readonly failure: string | null }
  | { readonly state: 'opening'; readonly name: string; readonly progress: OpenProgress | null }
  | { readonly state: 'ready'; readonly name: string; readonly place: string; readonly network: boolean };

/** `json`: answers of the network must be a JSON object. `tools`: the tools that the model may call, as JSON. */
export type Settings = { readonly system: string; readonly temperature: number; readonly maxTokens: number; readonly json: boolean; readonly tools: string };

export type ChatState = { readonly model: ModelState; readonly turns: readonly Turn[]; readonly settings: Settings };

const empty: ChatState = { model: { state: 'none', failure: null }, turns: [], settings: { system: '', temperature: 0.7, maxTokens: 1024, json: false, tools: '' } };
const sentence = (error: unknown): string => (error instanceof Error ? error.message : String(error));
/** The time between two updates of the page, because a fast model writes hundreds of tokens a second. */
const tellMs = 40;

export class Chat {
  readonly #open: OpenBackend;
  readonly #listeners = new Set<() => void>();
  #state: ChatState = empty;
  #backend: ChatBackend | null = null;
  #opening: AbortController | null = null;
  #writing: AbortController | null = null;
  #ids = 0;
  /** The id of the stored conversation; empty before its first answer. */
  #kept = '';
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    open: OpenBackend,
    readonly conversations: Conversations | null = null,
  ) {
    this.#open = open;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
  readonly snapshot = (): ChatState => this.#state;

  /** Opens a model. It replaces the current model, or one that is being opened; the conversation stays. */
  async open(source: string | File, name: string): Promise<void> {
    const closed = this.close();
    const controller = new AbortController();
    this.#opening = controller;
    const mine = (): boolean => this.#opening === controller;
    this.#set({ model: { state: 'opening', name, progress: null } });
    try {
      await closed;
      if (!mine()) return;
      const onProgress = (progress: OpenProgress): void => {
        if (mine()) this.#set({ model: { state: 'opening', name, progress } });
      };
      const backend = await this.#open(source, { signal: controller.signal, onProgress });
      if (!mine()) {
        await backend.close();
        return;
      }
      this.#opening = null;
      this.#backend = backend;
      this.#set({ model: { state: 'ready', name: backend.name, place: backend.place, network: backend.network ?? false } });
    } catch (error) {
      if (!mine()) return;
      this.#opening = null;
      this.#set({ model: { state: 'none', failure: controller.signal.aborted ? null : sentence(error) } });
    }
  }

  /** Cancels an opening model and an answer in progress, and closes the model. */
  async close(failure: string | null = null): Promise<void> {
    this.#opening?.abort();
    this.#opening = null;
    this.stop();
    const backend = this.#backend;
    this.#backend = null;
    if (this.#state.model.state !== 'none' || this.#state.model.failure !== failure) this.#set({ model: { state: 'none', failure } });
    await backend?.close();
  }

  change(settings: Partial<Settings>): void {
    this.#set({ settings: { ...this.#state.settings, ...settings } });
  }

  get busy(): boolean {
    return this.#writing !== null;
  }

  send(text: string): Promise<void> {
    if (this.#backend === null || this.busy || text.trim() === '') return Promise.resolve();
    this.#set({ turns: [...this.#state.turns, this.#turn('user', text)] });
    return this.#answer(this.#backend);
  }

  stop(): void {
    this.#writing?.abort();
  }

  /** Sets the result of a call of the last answer. The model continues when every call has a result. */
  giveResult(id: number, call: number, result: string): Promise<void> {
    const turn = this.#state.turns.at(-1);
    if (turn?.id !== id || this.busy || turn.end?.calls?.[call] === undefined) return Promise.resolve();
    const results = turn.end.calls.map((_, i) => (i === call ? result : turn.results[i]));
    this.#change(id, { results, state: turn.state });
    return this.#backend !== null && allAnswered({ end: turn.end, results }) ? this.#answer(this.#backend) : Promise.resolve();
  }

  /** Answers the last question again. */
  regenerate(): Promise<void> {
    if (this.#backend === null || this.busy || !this.#state.turns.some(({ role }) => role === 'user')) return Promise.resolve();
    const last = this.#state.turns.findLastIndex(({ role }) => role === 'user');
    this.#set({ turns: this.#state.turns.slice(0, last + 1) });
    return this.#answer(this.#backend);
  }

  clear(): void {
    this.stop();
    this.#kept = '';
    this.#set({ turns: [] });
  }

  /** Continues a conversation that this browser has stored. */
  resume(id: string): void {
    const kept = this.conversations?.get(id);
    if (kept === undefined || this.busy) return;
    this.#kept = id;
    this.#set({ turns: kept.turns.map((turn) => ({ ...this.#turn(turn.role, turn.text), state: 'written' as const, end: turn.end ?? null, thought: turn.thought ?? '', results: (turn.results ?? []).map((one) => one ?? undefined) })) });
  }
  forget(id: string): void {
    this.conversations?.remove(id);
    if (id === this.#kept) this.#kept = '';
    this.#set({});
  }

  #keep(): void {
    const { turns, model } = this.#state;
    const written: KeptTurn[] = turns
      .filter(({ state, text, end }) => state === 'written' && (text !== '' || end?.calls !== undefined))
      .map(({ role, text, end, thought, results }) => ({
        role,
        text,
        ...(end === null ? {} : { end }),
        ...(thought === '' ? {} : { thought }),
        ...(results.length === 0 ? {} : { results }),
      }));
    if (this.conversations === null || written.length === 0) return;
    this.#kept = this.conversations.put(this.#kept, model.state === 'ready' ? model.name : '', written);
  }

  #turn(role: Turn['role'], text: string): Turn {
    return { id: ++this.#ids, role, text, state: role === 'user' ? 'written' : 'writing', failure: '', end: null, thought: '', results: [] };
  }

  #messages(): ChatMessage[] {
    const { settings, turns } = this.#state;
    const said = messagesOf(turns);
    return settings.system.trim() === '' ? said : [{ role: 'system', content: settings.system }, ...said];
  }

  async #answer(backend: ChatBackend): Promise<void> {
    const messages = this.#messages();
    const { temperature, maxTokens, json } = this.#state.settings;
    const { tools } = readTools(this.#state.settings.tools);
    const turn = this.#turn('assistant', '');
    const controller = new AbortController();
    this.#writing = controller;
    this.#set({ turns: [...this.#state.turns, turn] });
    let text = '';
    let thought = '';
    try {
      const parts = backend.answer(messages, { temperature, maxTokens, signal: controller.signal, ...(backend.network === true ? { ...(json ? { json } : {}), ...(tools.length > 0 ? { tools } : {}) } : {}) });
      for (let part = await parts.next(); ; part = await parts.next()) {
        if (part.done === true) {
          this.#writing = null;
          this.#change(turn.id, { text, state: 'written', end: part.value });
          this.#keep();
          return;
        }
        if (typeof part.value === 'string') text += part.value;
        else thought += part.value.thought;
        this.#change(turn.id, { text, thought });
      }
    } catch (error) {
      this.#writing = null;
      // A turn that the visitor stopped keeps its text; any other error is shown as a failure.
      this.#change(turn.id, controller.signal.aborted ? { text, state: 'written' } : { text, state: 'failed', failure: sentence(error) });
      if (error instanceof BackendGone && this.#backend === backend) await this.close(error.message);
    }
  }

  #change(id: number, changes: Partial<Turn>): void {
    this.#set({ turns: this.#state.turns.map((turn) => (turn.id === id ? { ...turn, ...changes } : turn)) }, changes.state === undefined);
  }

  #set(changes: Partial<ChatState>, later = false): void {
    this.#state = { ...this.#state, ...changes };
    if (later) this.#timer ??= setTimeout(() => this.#tell(), tellMs);
    else this.#tell();
  }

  #tell(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const listener of this.#listeners) listener();
  }
}
