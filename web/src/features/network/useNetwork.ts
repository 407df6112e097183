import { useEffect, useState } from 'react';
import { fetchNetwork, type Network } from './api';

export type NetworkState = { readonly network: Network | null; readonly error: string | null };

/** Fetches the lists every `everyMs` milliseconds while the page is visible; a hidden tab fetches nothing. */
export function useNetwork(base: string, everyMs = 3000): NetworkState {
  const [state, setState] = useState<NetworkState>({ network: null, error: null });
  useEffect(() => {
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = async () => {
      clearTimeout(timer);
      if (!document.hidden) {
        try {
          const network = await fetchNetwork(fetch, base, stop.signal);
          setState({ network, error: null });
        } catch (error) {
          if (stop.signal.aborted) return;
          const message = error instanceof Error ? error.message : String(error);
          setState((before) => ({ network: before.network, error: message }));
        }
      }
      if (!stop.signal.aborted) timer = setTimeout(() => void ask(), everyMs);
    };
    const wake = () => {
      if (!document.hidden) void ask();
    };
    void ask();
    document.addEventListener('visibilitychange', wake);
    return () => {
      stop.abort();
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', wake);
    };
  }, [base, everyMs]);
  return state;
}
