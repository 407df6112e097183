// The state of the contribute page: the browser's features, the engine's session, and the clock for rates.
import { useEffect, useState, useSyncExternalStore } from 'react';
import type { Engine } from '../../engine/engine';
import { preflight, type Preflight } from '../../engine/preflight';
import type { Session } from '../../engine/session';

export function useSession(engine: Engine): Session {
  return useSyncExternalStore(engine.subscribe, engine.snapshot);
}

export function usePreflight(look: () => Promise<Preflight> = preflight): Preflight | null {
  const [found, setFound] = useState<Preflight | null>(null);
  useEffect(() => {
    let current = true;
    void look().then((result) => {
      if (current) setFound(result);
    });
    return () => {
      current = false;
    };
  }, [look]);
  return found;
}

/** Returns the time, which is updated once a second while `running`. */
export function useNow(running: boolean): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!running) return undefined;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [running]);
  return now;
}

const sleptMs = 30_000;

/**
 * Tells the engine when the machine wakes up or gets its network back, so that it does not wait for a backoff meant for a failed
 * coordinator.
 */
export function useWakeUps(engine: Engine): void {
  useEffect(() => {
    const wake = () => engine.wake();
    const seen = () => {
      if (!document.hidden) engine.wake();
    };
    // A machine that wakes up gives no event, but its timers are late.
    let seenAt = Date.now();
    const timer = setInterval(() => {
      if (Date.now() - seenAt > sleptMs) engine.wake();
      seenAt = Date.now();
    }, 5000);
    window.addEventListener('online', wake);
    window.addEventListener('pageshow', wake);
    document.addEventListener('visibilitychange', seen);
    // Closing the tab gives its leases back without asking the visitor.
    const leave = () => engine.stop();
    window.addEventListener('pagehide', leave);
    return () => {
      clearInterval(timer);
      window.removeEventListener('online', wake);
      window.removeEventListener('pageshow', wake);
      document.removeEventListener('visibilitychange', seen);
      window.removeEventListener('pagehide', leave);
    };
  }, [engine]);
}

