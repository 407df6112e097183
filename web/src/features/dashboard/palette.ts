// The colours of the design for canvases, as resolved values, because a canvas does not understand light-dark().
import { useEffect, useState } from 'react';

const names = ['ground', 'panel', 'sunk', 'line', 'ink', 'ink-soft', 'weld', 'madder', 'leaf', 'warp', 'warp-deep', 'warp-slack', 'raw', 'raw-deep', 'dye-0', 'dye-1', 'dye-2'] as const;
export type Palette = Readonly<Record<(typeof names)[number], string>>;

export function readPalette(): Palette {
  const probe = document.createElement('span');
  probe.hidden = true;
  document.body.append(probe);
  const palette = Object.fromEntries(
    names.map((name) => {
      probe.style.color = `var(--${name})`;
      return [name, getComputedStyle(probe).color];
    }),
  ) as Palette;
  probe.remove();
  return palette;
}

/** Returns the palette, and a new one when the theme changes, in the page or in the system. */
export function usePalette(): Palette {
  const [palette, setPalette] = useState(readPalette);
  useEffect(() => {
    const read = () => setPalette(readPalette());
    const system = window.matchMedia('(prefers-color-scheme: dark)');
    system.addEventListener('change', read);
    const chosen = new MutationObserver(read);
    chosen.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
    return () => {
      system.removeEventListener('change', read);
      chosen.disconnect();
    };
  }, []);
  return palette;
}

/** Returns the numbers of a colour "rgb(1, 2, 3)"; black for any other text. */
export function channels(colour: string): readonly [number, number, number] {
  const found = /rgba?\((\d+)[ ,]+(\d+)[ ,]+(\d+)/.exec(colour);
  return found ? [Number(found[1]), Number(found[2]), Number(found[3])] : [0, 0, 0];
}
