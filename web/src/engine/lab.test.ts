// Tests that the playground's engine starts late, answers each call once, and can be ended at any time.
import { describe, expect, it } from 'vitest';
import { FakeLab } from '../../test/FakeLab';
import { Lab, LabEnded, LabMissing } from './lab';

const rates = { copyBytesPerSecond: 1e9, f32OperationsPerSecond: 2e9, int8OperationsPerSecond: 0, byTimestamps: true };

function setUp(answers: ConstructorParameters<typeof FakeLab>[0] = {}) {
  const ports: FakeLab[] = [];
  const lab = new Lab(() => {
    const port = new FakeLab(answers);
    ports.push(port);
    return port;
  });
  return { lab, ports };
}

describe('Lab', () => {
  it('makes no Worker before it is asked something, also for its counters', async () => {
    const { lab, ports } = setUp();

    expect(await lab.source().counters(true)).toBeNull();
    expect(ports).toHaveLength(0);

    await lab.open();
    expect(ports).toHaveLength(1);
  });

  it('answers calls by their number, in whatever order they end', async () => {
    const { lab, ports } = setUp();
    await lab.open();
    const first = lab.run('first');
    const second = lab.call('sign', 'second');
    const [run, sign] = [ports[0]?.of('run')[0]?.call ?? 0, ports[0]?.of('sign')[0]?.call ?? 0];

    ports[0]?.say({ call: sign, answer: { client: 'c', nonce: 'n', time: '1', signature: 's' } });
    ports[0]?.say({ call: run, refusal: 'bindings[0]: wrong', missing: false });

    await expect(second).resolves.toEqual({ client: 'c', nonce: 'n', time: '1', signature: 's' });
    await expect(first).rejects.toThrow('bindings[0]: wrong');
  });

  it('says when the engine is not on the server', async () => {
    const { lab, ports } = setUp();
    const opening = lab.call('run', '');

    ports[0]?.say({ call: ports[0].of('run')[0]?.call ?? 0, refusal: '/engine/weft_engine.mjs answered 404.', missing: true });

    await expect(opening).rejects.toBeInstanceOf(LabMissing);
  });

  it('ends what runs by ending the Worker, and starts a new one at the next call', async () => {
    const { lab, ports } = setUp();
    const running = lab.run('');

    lab.stop();

    await expect(running).rejects.toBeInstanceOf(LabEnded);
    expect(ports[0]?.terminated).toBe(true);
    await lab.open();
    expect(ports).toHaveLength(2);
  });

  it('ends all calls with a reason when its Worker breaks', async () => {
    const { lab, ports } = setUp();
    const running = lab.run('');

    ports[0]?.onerror?.(new ErrorEvent('error', { message: 'out of memory' }));

    await expect(running).rejects.toThrow('out of memory');
  });

  it('measures once, and again after a measurement that failed', async () => {
    let fails = true;
    const { lab, ports } = setUp({
      measure: () => {
        if (!fails) return rates;
        fails = false;
        throw new Error('Another run or measurement is not finished; wait until it ends.');
      },
    });
    await lab.open();

    await expect(lab.rates()).rejects.toThrow('Another run or measurement is not finished; wait until it ends.');
    await lab.rates();
    expect(await lab.source().roofs?.()).toEqual({ bytesPerSecond: 1e9, operationsPerSecond: 2e9, what: 'f32 multiply-adds' });

    expect(ports[0]?.of('measure')).toHaveLength(2);
  });
});
