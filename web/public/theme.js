// Runs before the first paint, so that a chosen theme does not flash. src/app/theme.ts has the rest
// of the theme's code.
try {
  const chosen = localStorage.getItem('weft-theme');
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
} catch {
  // Without storage (as in a private window) the page has the system's theme.
}
