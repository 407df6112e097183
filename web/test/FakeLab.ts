// A fake of the playground's Worker: it answers each call as a test says, and records the calls.
import type { LabPort } from '../src/engine/lab';
import type { FromLab, LabCalls, LabMethod, ToLab } from '../src/engine/labMessages';

export type LabAnswers = { [Method in LabMethod]?: (argument: LabCalls[Method]['argument']) => LabCalls[Method]['answer'] | Promise<LabCalls[Method]['answer']> };

export const labDevice = {
  device: { vendor: 'acme', architecture: 'one', description: 'Acme One', backend: 'webgpu', features: [], limits: {} },
  timestamps: true,
} as const;

export class FakeLab implements LabPort {
  readonly asked: ToLab[] = [];
  terminated = false;
  onmessage: LabPort['onmessage'] = null;
  onerror: LabPort['onerror'] = null;
  readonly #answers: LabAnswers;

  constructor(answers: LabAnswers) {
    this.#answers = { open: () => labDevice, compile: () => ({ messages: [] }), check: () => ({}), counters: () => null, ...answers };
  }

  postMessage(message: ToLab): void {
    this.asked.push(message);
    const answer = this.#answers[message.method] as ((argument: unknown) => LabCalls[LabMethod]['answer']) | undefined;
    // A call for which the test sets no answer waits, as it would for a long run.
    if (answer === undefined) return;
    void (async () => answer(message.argument))().then(
      (value) => this.say({ call: message.call, answer: value }),
      (error: unknown) => this.say({ call: message.call, refusal: error instanceof Error ? error.message : String(error), missing: false }),
    );
  }
  say(data: FromLab): void {
    this.onmessage?.(new MessageEvent('message', { data }));
  }
  terminate(): void {
    this.terminated = true;
  }
  of(method: LabMethod): readonly ToLab[] {
    return this.asked.filter((message) => message.method === method);
  }
}
