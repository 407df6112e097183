// Statistics of the latest frames for the page.

export type Drawn = {
  /** Milliseconds from capture to drawing. */
  readonly latency: number;
  /** The time of drawing, in milliseconds. */
  readonly at: number;
};
export type Figures = {
  readonly drawn: number;
  readonly skipped: number;
  /** Null until there is a frame; for a rate, until there are two. */
  readonly p50: number | null;
  readonly p95: number | null;
  readonly framesPerSecond: number | null;
};

const kept = 120;

/** Returns the quantile of the values by the nearest rank; null without values. */
export function quantile(values: readonly number[], share: number): number | null {
  if (values.length === 0) return null;
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null;
}

export class FrameLog {
  #drawn: Drawn[] = [];
  #count = 0;
  #skipped = 0;

  draw(one: Drawn): void {
    this.#count += 1;
    this.#drawn = [...this.#drawn, one].slice(-kept);
  }

  skip(frames: number): void {
    this.#skipped += frames;
  }

  figures(): Figures {
    const latencies = this.#drawn.map((one) => one.latency);
    const first = this.#drawn[0];
    const last = this.#drawn.at(-1);
    const seconds = first !== undefined && last !== undefined ? (last.at - first.at) / 1000 : 0;
    return {
      drawn: this.#count,
      skipped: this.#skipped,
      p50: quantile(latencies, 0.5),
      p95: quantile(latencies, 0.95),
      framesPerSecond: seconds > 0 ? (this.#drawn.length - 1) / seconds : null,
    };
  }
}
