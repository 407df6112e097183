// Checks of every page: it is accessible, at two sizes.
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';
import { root } from './lib.mjs';

const axe = fs.readFileSync(createRequire(path.join(root, 'web/package.json')).resolve('axe-core/axe.min.js'), 'utf8');

/** What axe finds on the page, a line each; the page's browser has `bypassCSP`, since axe is put in from outside. */
export async function violations(page) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => globalThis.axe.run(document));
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' ')}`);
}

export const sizes = { desk: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };

/** The dashboard is told what happens in the network. */
export const live = (page) => page.locator('[data-testid="feed"][data-state="open"]').waitFor();
