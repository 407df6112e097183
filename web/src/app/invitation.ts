// An operator's invitation that a link carried in its fragment (#invite=CODE), which never reaches a server with the page's address:
// kept until it has brought this browser's wallet its credits.
const place = 'weft-invitation';
const link = /^#invite=(weft-[0-9a-f]{244})$/;

/** Takes it out of the page's address, so that it is not copied along with that. */
export function takeInvitation(): void {
  const code = link.exec(window.location.hash)?.[1];
  if (code === undefined) return;
  window.localStorage.setItem(place, code);
  window.history.replaceState(window.history.state, '', window.location.pathname + window.location.search);
}

export function heldInvitation(): string | null {
  return window.localStorage.getItem(place);
}

export function forgetInvitation(): void {
  window.localStorage.removeItem(place);
}
