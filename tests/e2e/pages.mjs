// Code for the checks of every page: its accessibility, at two sizes.
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';
import { root } from './lib.mjs';

const axe = fs.readFileSync(createRequire(path.join(root, 'web/package.json')).resolve('axe-core/axe.min.js'), 'utf8');

/** The violations that axe finds on the page, one line each. The page's browser needs `bypassCSP`, because the test injects axe. */
export async function violations(page) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => globalThis.axe.run(document));
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' ')}`);
}

export const sizes = { desk: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };

/** Waits until the dashboard is connected to the feed of the network. */
export const live = (page) => page.locator('[data-testid="feed"][data-state="open"]').waitFor();
