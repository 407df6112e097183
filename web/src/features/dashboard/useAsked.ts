// A value that is requested from the coordinator repeatedly while the page is visible.
import { useEffect, useState } from 'react';

const refreshMs = 3000;

/** `ask` is called for each new `key`, then every three seconds until `until` holds for the value. */
export function useAsked<Value>(ask: (signal: AbortSignal) => Promise<Value>, key: string, until: (value: Value) => boolean = () => false): { value: Value | null; error: string } {
  const [state, setState] = useState<{ key: string; value: Value | null; error: string }>({ key, value: null, error: '' });
  useEffect(() => {
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const again = async () => {
      try {
        if (!document.hidden) {
          const value = await ask(stop.signal);
          setState({ key, value, error: '' });
          if (until(value)) return;
        }
      } catch (error) {
        if (stop.signal.aborted) return;
        setState((before) => ({ key, value: before.key === key ? before.value : null, error: error instanceof Error ? error.message : String(error) }));
      }
      timer = setTimeout(() => void again(), refreshMs);
    };
    void again();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [key]);
  return state.key === key ? state : { value: null, error: '' };
}
