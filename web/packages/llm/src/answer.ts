// An answer while it is generated: its pieces as an async iterator, and a summary at the end.
import type { WeftError } from './errors.js';
import type { Piece, Summary } from './types.js';

type Waiting = { readonly resolve: (result: IteratorResult<Piece, Summary>) => void; readonly reject: (error: WeftError) => void };

/**
 *   for await (const piece of answer) show(piece.text);
 *   const { stop, tokens } = await answer.summary;
 *
 * Leaving the loop cancels the answer within a token. The answer is generated even if the caller does not read it.
 */
export class Answer implements AsyncIterableIterator<Piece, Summary, void> {
  /** Rejects with the error that the iteration throws. */
  readonly summary: Promise<Summary>;
  readonly #cancel: () => void;
  readonly #pieces: Piece[] = [];
  readonly #waiting: Waiting[] = [];
  #finish: (summary: Summary) => void = () => {};
  #fail: (error: WeftError) => void = () => {};
  #ended = false;

  /** Made by Model.generate(). */
  constructor(cancel: () => void) {
    this.#cancel = cancel;
    this.summary = new Promise((resolve, reject) => {
      this.#finish = resolve;
      this.#fail = reject;
    });
    // Marks the rejection as handled, because a caller that only iterates gets the error from the iteration.
    this.summary.catch(() => {});
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Piece, Summary>> {
    const piece = this.#pieces.shift();
    if (piece !== undefined) return Promise.resolve({ done: false, value: piece });
    if (this.#ended) return this.summary.then((value) => ({ done: true, value }));
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  /** Called when a `for await` loop is left. */
  async return(): Promise<IteratorResult<Piece, Summary>> {
    this.cancel();
    this.#pieces.length = 0;
    return { done: true, value: await this.summary };
  }

  /** Ends the answer within a token; the `stop` of its summary is then `cancelled`. */
  cancel(): void {
    if (!this.#ended) this.#cancel();
  }

  /** @internal */
  push(piece: Piece): void {
    const waiting = this.#waiting.shift();
    if (waiting === undefined) this.#pieces.push(piece);
    else waiting.resolve({ done: false, value: piece });
  }

  /** @internal */
  end(summary: Summary): void {
    this.#ended = true;
    this.#finish(summary);
    for (const { resolve } of this.#waiting.splice(0)) resolve({ done: true, value: summary });
  }

  /** @internal */
  fail(error: WeftError): void {
    this.#ended = true;
    this.#fail(error);
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }
}
