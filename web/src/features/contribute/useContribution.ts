// The contribute page's state: what the browser can do, what the engine says, and the clock that rates are shown by.
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

/** The time, moving once a second while `running`. */
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

/** A machine that slept or lost its network should not wait out a backoff that was meant for a dead coordinator. */
export function useWakeUps(engine: Engine): void {
  useEffect(() => {
    const wake = () => engine.wake();
    const seen = () => {
      if (!document.hidden) engine.wake();
    };
    // A machine that slept says no part of it; its timers only come late.
    let seenAt = Date.now();
    const timer = setInterval(() => {
      if (Date.now() - seenAt > sleptMs) engine.wake();
      seenAt = Date.now();
    }, 5000);
    window.addEventListener('online', wake);
    window.addEventListener('pageshow', wake);
    document.addEventListener('visibilitychange', seen);
    // Closing the tab gives back what it holds; asking first would be rude.
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

