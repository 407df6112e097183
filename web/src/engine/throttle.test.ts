// Tests that a user's settings are stored, that stored settings are checked before use, and that reasons to pause are added and removed.
import { describe, expect, it, vi } from 'vitest';
import { FakeBattery, FakePlace, FakeStorage } from '../../test/FakePlace';
import { keepDevice, recallDevice } from './knownDevice';
import type { DeviceReport, Limits } from './messages';
import { defaults, readSettings, Throttle } from './throttle';

const device: DeviceReport = { kind: 'gpu', vendor: 'nvidia', architecture: 'ada', description: 'nvidia ada', backend: 'webgpu', features: [], memoryBytes: 1, copyGbPerS: 400, f32GflopPerS: 20_000 };
const rates = { vendor: 'nvidia', architecture: 'ada', description: 'nvidia ada', copyGbPerS: 400, f32GflopPerS: 20_000 };

describe('kept settings', () => {
  it.each([
    [null, defaults],
    ['nonsense', defaults],
    ['[]', defaults],
    ['{"sharePercent":0}', { ...defaults, sharePercent: 5 }],
    ['{"sharePercent":1e9,"pauseHidden":true}', { ...defaults, sharePercent: 100, pauseHidden: true }],
    ['{"sharePercent":"50","pauseOnBattery":"no","memoryBytes":12345,"twoTasks":2}', defaults],
    ['{"relayOnly":true}', { ...defaults, relayOnly: true }],
    ['{"relayOnly":"yes"}', defaults],
    ['{"priceMin":2000000}', { ...defaults, priceMin: 2_000_000 }],
    ['{"priceMin":-1}', defaults],
    ['{"memoryBytes":536870912}', { ...defaults, memoryBytes: 2 ** 29 }],
  ])('%s', (text, settings) => {
    expect(readSettings(text)).toEqual(settings);
  });
});

describe('Throttle', () => {
  it('takes up what an earlier visit chose', () => {
    const engine = { limit: vi.fn<(limits: Limits) => void>() };
    const place = new FakePlace();
    new Throttle(engine, place).change({ sharePercent: 30, memoryBytes: 2 ** 30, twoTasks: true, relayOnly: true, priceMin: 1_500_000 });

    const later = new FakePlace();
    later.storage.setItem('weft.limits', place.storage.getItem('weft.limits') ?? '');
    new Throttle(engine, later);

    expect(engine.limit.mock.lastCall).toEqual([{ share: 0.3, memoryBytes: 2 ** 30, slices: 2, relayOnly: true, priceMin: 1_500_000, pausedBy: [] }]);
  });

  it('gives both reasons while both hold', async () => {
    const engine = { limit: vi.fn<(limits: Limits) => void>() };
    const battery = new FakeBattery(true);
    const place = new FakePlace(battery);
    const throttle = new Throttle(engine, place);
    await place.battery();
    throttle.change({ pauseHidden: true });

    place.hide(true);
    battery.plug(false);
    expect(throttle.snapshot().pausedBy).toEqual(['hidden', 'battery']);

    place.hide(false);
    expect(throttle.snapshot().pausedBy).toEqual(['battery']);
  });
});

describe('a known device', () => {
  it('is recalled for a week, from when it was measured', () => {
    const storage = new FakeStorage();
    keepDevice(device, 1000, storage);
    keepDevice(device, 5000, storage);

    const week = 7 * 24 * 3600 * 1000;
    expect(recallDevice('gpu', week + 1000, storage)).toEqual(rates);
    expect(recallDevice('gpu', week + 1001, storage)).toBeNull();
    expect(recallDevice('cpu', 2000, storage)).toBeNull();
  });

  it('is not taken from what cannot be read', () => {
    const storage = new FakeStorage();
    storage.setItem('weft.device.gpu', JSON.stringify({ ...rates, f32GflopPerS: 'fast', measuredAt: 0 }));

    expect(recallDevice('gpu', 1, storage)).toBeNull();
  });
});
