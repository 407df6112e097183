// Replaces the browser's tab, battery and storage in tests: a test can hide the tab and plug in the
// battery.
import type { Battery, Place } from '../src/engine/throttle';

export class FakeBattery extends EventTarget implements Battery {
  charging: boolean;
  constructor(charging: boolean) {
    super();
    this.charging = charging;
  }
  plug(charging: boolean): void {
    this.charging = charging;
    this.dispatchEvent(new Event('chargingchange'));
  }
}

export class FakeStorage {
  readonly #values = new Map<string, string>();
  getItem = (key: string): string | null => this.#values.get(key) ?? null;
  setItem = (key: string, value: string): void => {
    this.#values.set(key, value);
  };
  kept(key: string): unknown {
    return JSON.parse(this.getItem(key) ?? 'null');
  }
}

class FakePage extends EventTarget {
  hidden = false;
}

export class FakePlace implements Place {
  readonly page = new FakePage();
  readonly storage = new FakeStorage();
  readonly battery: () => Promise<Battery | null>;
  constructor(battery: FakeBattery | null = null) {
    this.battery = async () => battery;
  }
  hide(hidden: boolean): void {
    this.page.hidden = hidden;
    this.page.dispatchEvent(new Event('visibilitychange'));
  }
}
