// Replaces the engine's Worker in tests: it records the messages of the page, and sends the
// messages that a test gives it.
import type { Port } from '../src/engine/engine';
import type { FromWorker, ToWorker } from '../src/engine/messages';

export class FakePort implements Port {
  readonly received: ToWorker[] = [];
  terminated = false;
  onmessage: Port['onmessage'] = null;
  onerror: Port['onerror'] = null;

  postMessage(message: ToWorker): void {
    this.received.push(message);
  }
  terminate(): void {
    this.terminated = true;
  }
  say(...messages: FromWorker[]): void {
    for (const data of messages) this.onmessage?.(new MessageEvent('message', { data }));
  }
  break(message: string): void {
    this.onerror?.(new ErrorEvent('error', { message }));
  }
}
