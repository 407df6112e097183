// Runs before the first paint, so that a chosen theme does not flash. src/app/theme.ts is the rest of it.
try {
  const chosen = localStorage.getItem('weft-theme');
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
} catch {
  // No storage (a private window, say): the system's theme it is.
}
