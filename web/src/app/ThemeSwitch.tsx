import { useState } from 'react';
import { applyTheme, keptTheme, type Theme } from './theme';

const next: Record<Theme, Theme> = { system: 'light', light: 'dark', dark: 'system' };
const words: Record<Theme, string> = { system: 'Auto', light: 'Light', dark: 'Dark' };

export function ThemeSwitch() {
  const [theme, setTheme] = useState<Theme>(keptTheme);
  return (
    <button
      type="button"
      className="rounded px-2.5 py-1.5 text-sm text-soft hover:text-ink"
      aria-label={`Theme: ${words[theme]}. Change to ${words[next[theme]]}.`}
      onClick={() => {
        applyTheme(next[theme]);
        setTheme(next[theme]);
      }}
    >
      <span aria-hidden="true" className="flex items-center gap-2">
        <svg viewBox="0 0 16 16" className="size-4" focusable="false">
          <circle cx="8" cy="8" r="6.500" fill="none" stroke="currentColor" strokeWidth="1.500" />
          <path d={theme === 'light' ? '' : theme === 'dark' ? 'M8 1.500a6.500 6.500 0 1 0 0 13a6.500 6.500 0 1 0 0-13z' : 'M8 1.500a6.500 6.500 0 0 0 0 13z'} fill="currentColor" />
        </svg>
        {words[theme]}
      </span>
    </button>
  );
}
