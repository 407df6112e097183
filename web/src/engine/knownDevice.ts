// The rates of this machine's device that an earlier visit measured. If the device is still the same, the engine uses these rates and
// starts sooner. The rates order a queue and never determine a payment, so rates that are a week old are good enough.
import type { DeviceReport, KnownRates } from './messages';

const key = 'weft.device';
const ageMsMax = 7 * 24 * 3600 * 1000;

type Kept = KnownRates & { readonly kind: DeviceReport['kind']; readonly measuredAt: number };

const isRate = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value) && value >= 0;

export function recallDevice(kind: DeviceReport['kind'], now: number, storage: Pick<Storage, 'getItem'> = localStorage): KnownRates | null {
  try {
    const kept = JSON.parse(storage.getItem(`${key}.${kind}`) ?? 'null') as Partial<Kept> | null;
    if (kept === null || !isRate(kept.measuredAt) || now - kept.measuredAt > ageMsMax || kept.measuredAt > now) return null;
    const { vendor, architecture, description, copyGbPerS, f32GflopPerS } = kept;
    if (typeof vendor !== 'string' || typeof architecture !== 'string' || typeof description !== 'string' || !isRate(copyGbPerS) || !isRate(f32GflopPerS)) return null;
    return { vendor, architecture, description, copyGbPerS, f32GflopPerS };
  } catch {
    return null;
  }
}

/** Stores the rates of a device. Rates that came from storage keep their age. */
export function keepDevice(device: DeviceReport, now: number, storage: Pick<Storage, 'getItem' | 'setItem'> = localStorage): void {
  const { kind, vendor, architecture, description, copyGbPerS, f32GflopPerS } = device;
  if (!(f32GflopPerS > 0)) return;
  const known = recallDevice(kind, now, storage);
  if (known?.f32GflopPerS === f32GflopPerS && known.copyGbPerS === copyGbPerS && known.description === description) return;
  try {
    storage.setItem(`${key}.${kind}`, JSON.stringify({ kind, vendor, architecture, description, copyGbPerS, f32GflopPerS, measuredAt: now } satisfies Kept));
  } catch {
    // If there is no storage, the device is measured again at the next visit.
  }
}
