// The limits that the user sets for this tab, and the reasons why it pauses now. The settings are stored between visits. Tab and battery
// are watched while the app is open, on every page.
import type { Engine } from './engine';

export type Settings = {
  /** The share of the time in percent, 5 to 100. */
  readonly sharePercent: number;
  readonly pauseHidden: boolean;
  readonly pauseOnBattery: boolean;
  /** The memory of tasks and models together; null: the default amount. */
  readonly memoryBytes: number | null;
  /** True: two tasks share the device, each with half of the memory for tasks. */
  readonly twoTasks: boolean;
  /** True: lines to other members go only through relays, so that other members do not learn this machine's address. */
  readonly relayOnly: boolean;
  /** The lowest price of a compute unit that the tab accepts, in micro-credits; 0: any price. */
  readonly priceMin: number;
};
export type PauseReason = 'hidden' | 'battery';

export const defaults: Settings = { sharePercent: 100, pauseHidden: false, pauseOnBattery: true, memoryBytes: null, twoTasks: false, relayOnly: false, priceMin: 0 };
export const priceChoices: readonly number[] = [500_000, 1_000_000, 1_500_000, 2_000_000, 4_000_000];
export const memoryChoices: readonly number[] = [2 ** 28, 2 ** 29, 2 ** 30, 2 ** 31, 2 ** 32, 2 ** 33];

export type Battery = EventTarget & { readonly charging: boolean };
/** The parts of the browser that are watched, so that a test can replace the tab and the battery. */
export type Place = {
  readonly page: EventTarget & { readonly hidden: boolean };
  readonly battery: () => Promise<Battery | null>;
  readonly storage: Pick<Storage, 'getItem' | 'setItem'>;
};
export type ThrottleState = { readonly settings: Settings; readonly pausedBy: readonly PauseReason[]; readonly hasBattery: boolean };

const key = 'weft.limits';

/** Reads stored settings, which may be of another version or written by another program. */
export function readSettings(text: string | null): Settings {
  let kept: unknown;
  try {
    kept = JSON.parse(text ?? 'null');
  } catch {
    return defaults;
  }
  if (typeof kept !== 'object' || kept === null) return defaults;
  const { sharePercent, pauseHidden, pauseOnBattery, memoryBytes, twoTasks, relayOnly, priceMin } = kept as Record<string, unknown>;
  return {
    sharePercent: typeof sharePercent === 'number' && Number.isFinite(sharePercent) ? Math.min(100, Math.max(5, Math.round(sharePercent))) : defaults.sharePercent,
    pauseHidden: typeof pauseHidden === 'boolean' ? pauseHidden : defaults.pauseHidden,
    pauseOnBattery: typeof pauseOnBattery === 'boolean' ? pauseOnBattery : defaults.pauseOnBattery,
    memoryBytes: typeof memoryBytes === 'number' && memoryChoices.includes(memoryBytes) ? memoryBytes : null,
    twoTasks: typeof twoTasks === 'boolean' ? twoTasks : defaults.twoTasks,
    relayOnly: typeof relayOnly === 'boolean' ? relayOnly : defaults.relayOnly,
    priceMin: typeof priceMin === 'number' && priceChoices.includes(priceMin) ? priceMin : defaults.priceMin,
  };
}

type WithBattery = Navigator & { getBattery?: () => Promise<Battery> };

export const browserPlace = (): Place => ({
  page: document,
  battery: async () => (await (navigator as WithBattery).getBattery?.().catch(() => null)) ?? null,
  storage: localStorage,
});

export class Throttle {
  readonly #engine: Pick<Engine, 'limit'>;
  readonly #place: Place;
  readonly #listeners = new Set<() => void>();
  #battery: Battery | null = null;
  #state: ThrottleState;

  constructor(engine: Pick<Engine, 'limit'>, place: Place = browserPlace()) {
    this.#engine = engine;
    this.#place = place;
    this.#state = { settings: this.#read(), pausedBy: [], hasBattery: false };
    this.#weigh();
    place.page.addEventListener('visibilitychange', () => this.#weigh());
    void place.battery().then((battery) => {
      if (battery === null) return;
      this.#battery = battery;
      battery.addEventListener('chargingchange', () => this.#weigh());
      this.#weigh();
    });
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
  readonly snapshot = (): ThrottleState => this.#state;

  change(changes: Partial<Settings>): void {
    this.#state = { ...this.#state, settings: { ...this.#state.settings, ...changes } };
    try {
      this.#place.storage.setItem(key, JSON.stringify(this.#state.settings));
    } catch {
      // If there is no storage, the settings still apply until the tab is closed.
    }
    this.#weigh();
  }

  #read(): Settings {
    try {
      return readSettings(this.#place.storage.getItem(key));
    } catch {
      return defaults;
    }
  }

  #weigh(): void {
    const { settings } = this.#state;
    const pausedBy: PauseReason[] = [];
    if (settings.pauseHidden && this.#place.page.hidden) pausedBy.push('hidden');
    if (settings.pauseOnBattery && this.#battery?.charging === false) pausedBy.push('battery');
    this.#state = { settings, pausedBy, hasBattery: this.#battery !== null };
    this.#engine.limit({ share: settings.sharePercent / 100, memoryBytes: settings.memoryBytes, slices: settings.twoTasks ? 2 : 1, relayOnly: settings.relayOnly, priceMin: settings.priceMin, pausedBy });
    for (const listener of this.#listeners) listener();
  }
}
