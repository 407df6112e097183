// A real Chromium for the end-to-end tests, with its own profile folder and WebGPU on the software
// adapter. The test always ends it.
import fs from 'node:fs';
import path from 'node:path';
import { chromiumFlags, findChromium, loadPlaywright } from '../web/run.mjs';
import { root, scratch, until } from './lib.mjs';

/** The folder for pictures of the pages, which people look at. */
export const pictures = path.join(root, 'build/test-results/screenshots');

// Long enough for a machine that builds at the same time; these tests measure no times.
const patienceMs = 120_000;

/**
 * A browser with one profile. `webgpu: false` is a browser without WebGPU; `profile` continues an earlier profile. `complaints` collects the
 * errors of its pages.
 */
export async function browse(t, { webgpu = true, profile, args = [], ...options } = {}) {
  const playwright = loadPlaywright();
  if (!playwright) throw new Error('playwright-core is missing: run npm ci in web/.');
  const flags = webgpu ? chromiumFlags : [...chromiumFlags.filter((flag) => !/webgpu/.test(flag)), '--disable-features=WebGPU,WebGPUService'];
  let context = null;
  // Registered first, so that the browser closes before the profile's folder is removed.
  t.after(() => context?.close());
  const folder = profile ?? scratch(t);
  context = await playwright.chromium.launchPersistentContext(folder, {
    executablePath: findChromium(),
    headless: true,
    timeout: patienceMs,
    args: [...flags, '--disable-dev-shm-usage', ...args],
    viewport: { width: 1280, height: 800 },
    ...options,
  });
  context.setDefaultTimeout(patienceMs);
  const complaints = [];
  context.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  context.on('weberror', (error) => complaints.push(String(error.error())));
  return { context, complaints, profile: folder, page: context.pages()[0] ?? (await context.newPage()) };
}

export const byId = (page, id) => page.locator(`[data-testid="${id}"]`);
export const startButton = (page) => page.getByRole('button', { name: 'Start contributing' });
export const stopButton = (page) => page.getByRole('button', { name: 'Stop contributing' });

/** Presses the button and waits until the coordinator has let this tab in. */
export async function contribute(page, url) {
  await page.goto(url);
  await startButton(page).click();
  await page.locator('[data-testid="connection"][data-state="open"]').waitFor();
}

/** Waits until the number of a counter on the page reaches `least`. */
export async function counts(page, id, least) {
  return until(async () => {
    const shown = Number((await byId(page, id).first().textContent()).replaceAll(',', ''));
    return shown >= least ? shown : null;
  }, `${id} is at least ${least}`, 120);
}

export async function picture(page, name, options = {}) {
  fs.mkdirSync(pictures, { recursive: true });
  await page.screenshot({ path: path.join(pictures, `${name}.png`), ...options });
}
