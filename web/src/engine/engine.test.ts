// Tests that Engine makes its Worker only when it is needed, ends it completely, and settles every promise.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FakePort } from '../../test/FakePort';
import { Engine } from './engine';

const options = { coordinator: 'http://localhost', device: 'gpu' } as const;

function setUp() {
  const ports: FakePort[] = [];
  const engine = new Engine({
    createPort: () => {
      const port = new FakePort();
      ports.push(port);
      return port;
    },
    now: () => 0,
    stopMsMax: 1000,
  });
  return { engine, ports };
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('Engine', () => {
  it('makes no Worker before it is asked for something', () => {
    const { engine, ports } = setUp();

    engine.stop();
    engine.wake();
    expect(ports).toHaveLength(0);

    engine.start(options);
    expect(ports).toHaveLength(1);
    expect(ports[0]?.received).toMatchObject([{ type: 'start', ...options }]);
  });

  it('starts once, however often it is told to', () => {
    const { engine, ports } = setUp();

    engine.start(options);
    engine.start(options);

    expect(ports[0]?.received).toHaveLength(1);
  });

  it('ends the Worker when it has said that it stopped, and takes a new one for the next start', () => {
    const { engine, ports } = setUp();
    engine.start(options);

    engine.stop();
    expect(engine.snapshot().phase).toBe('stopping');
    expect(ports[0]?.terminated).toBe(false);
    ports[0]?.say({ type: 'stopped' });

    expect(engine.snapshot().phase).toBe('stopped');
    expect(ports[0]?.terminated).toBe(true);
    engine.start(options);
    expect(ports).toHaveLength(2);
  });

  it('ends a Worker that does not stop in time', () => {
    const { engine, ports } = setUp();
    engine.start(options);
    engine.stop();

    vi.advanceTimersByTime(1000);

    expect(engine.snapshot().phase).toBe('stopped');
    expect(ports[0]?.terminated).toBe(true);
  });

  it('reports a Worker that breaks', () => {
    const { engine, ports } = setUp();
    engine.start(options);

    ports[0]?.break('out of memory');

    expect(engine.snapshot()).toMatchObject({ phase: 'failed', failure: { code: 'worker', message: 'out of memory' } });
  });

  it('tells its listeners at once of a new phase, and of many messages in one go, until they leave', () => {
    const { engine, ports } = setUp();
    const seen = vi.fn();
    const leave = engine.subscribe(seen);
    engine.start(options);
    expect(seen).toHaveBeenCalledTimes(1);

    for (let index = 0; index < 50; index += 1) ports[0]?.say({ type: 'task-started', task: { job: 'j', index, attempt: 0 } });
    expect(seen).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(100);
    expect(seen).toHaveBeenCalledTimes(2);

    leave();
    ports[0]?.say({ type: 'connecting' });
    expect(seen).toHaveBeenCalledTimes(2);
    expect(engine.snapshot().tasks).toHaveLength(50);
  });

  it('hands out the wallet when the Worker has read it', async () => {
    const { engine, ports } = setUp();

    const answer = engine.exportWallet();
    ports[0]?.say({ type: 'wallet-file', numbers: [1, 2, 3] });

    await expect(answer).resolves.toEqual([1, 2, 3]);
  });

  it('says why the wallet cannot be read', async () => {
    const { engine, ports } = setUp();

    const refused = engine.exportWallet();
    ports[0]?.say({ type: 'wallet-refused', message: 'The browser does not export the key.' });
    const broken = engine.exportWallet();
    ports[0]?.break('out of memory');

    await expect(refused).rejects.toThrow('The browser does not export the key.');
    await expect(broken).rejects.toThrow('out of memory');
  });
});
