// The theme: light, dark, or that of the system. public/theme.js applies a stored choice before the first paint.
export type Theme = 'system' | 'light' | 'dark';

const key = 'weft-theme';

export function keptTheme(): Theme {
  try {
    const kept = localStorage.getItem(key);
    return kept === 'light' || kept === 'dark' ? kept : 'system';
  } catch {
    return 'system';
  }
}

export function applyTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
  try {
    if (theme === 'system') localStorage.removeItem(key);
    else localStorage.setItem(key, theme);
  } catch {
    // If there is no storage, the choice lasts until the page is closed.
  }
}
