// An operator's invitation from the fragment of a link (#invite=CODE), which the browser does not send to a server. It is kept until this
// browser's wallet has received the credits.
const place = 'weft-invitation';
const link = /^#invite=(weft-[0-9a-f]{244})$/;

/** Takes the invitation and removes it from the page's address, so that a user does not copy it with the address. */
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
