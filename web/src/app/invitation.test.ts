// Tests that an invitation is taken from a link once, that its code is removed from the address, and that other links are ignored.
import { afterEach, describe, expect, it } from 'vitest';
import { forgetInvitation, heldInvitation, takeInvitation } from './invitation';

const code = `weft-${'0a'.repeat(122)}`;

afterEach(() => {
  window.localStorage.clear();
  window.history.replaceState(null, '', '/');
});

describe('an invitation in a link', () => {
  it('is kept, and leaves the address', () => {
    window.history.replaceState(null, '', `/playground?x=1#invite=${code}`);

    takeInvitation();

    expect(heldInvitation()).toBe(code);
    expect(window.location.href).toMatch(/\/playground\?x=1$/);
    forgetInvitation();
    expect(heldInvitation()).toBeNull();
  });

  it.each(['#invite=', `#invite=${code}0`, `#invite=${code.toUpperCase()}`, `#p1=${code}`, ''])('is not %s', (fragment) => {
    window.history.replaceState(null, '', `/${fragment}`);

    takeInvitation();

    expect(heldInvitation()).toBeNull();
    expect(window.location.hash).toBe(fragment);
  });
});
