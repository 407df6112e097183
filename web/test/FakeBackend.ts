// Replaces a model in tests of the chat: it writes the text that a test gives it, piece by piece,
// and records the questions that it got.
import type { AnswerEnd, AnswerOptions, ChatBackend, ChatMessage, Thought } from '../src/features/chat/backend';

export const whole: AnswerEnd = { stop: 'eos', tokens: 5, firstMs: 120, restMs: 100 };

export class FakeBackend implements ChatBackend {
  readonly name = 'Tiny';
  readonly place = 'In a test';
  readonly asked: (readonly ChatMessage[])[] = [];
  readonly options: AnswerOptions[] = [];
  closed = false;
  #say: (part: string | Thought | AnswerEnd | Error) => void = () => {};

  /** A text or a thought is a piece of the answer that is being written; anything else ends it. */
  say(part: string | Thought | AnswerEnd | Error): void {
    this.#say(part);
  }

  async *answer(messages: readonly ChatMessage[], options: AnswerOptions): AsyncGenerator<string | Thought, AnswerEnd, void> {
    const { signal } = options;
    this.asked.push(messages);
    this.options.push(options);
    const parts: (string | Thought | AnswerEnd | Error)[] = [];
    let wake = (): void => {};
    this.#say = (part) => {
      parts.push(part);
      wake();
    };
    signal.addEventListener('abort', () => this.say({ ...whole, stop: 'cancelled' }));
    for (;;) {
      const part = parts.shift();
      if (part === undefined) await new Promise<void>((resolve) => (wake = resolve));
      else if (part instanceof Error) throw part;
      else if (typeof part === 'string' || 'thought' in part) yield part;
      else return part;
    }
  }

  async close(): Promise<void> {
    this.closed = true;
  }
}
