// A camera in a tab that is shared, for tests: the tab has a film of numbered frames as its camera, and
// the boxes drawn for a frame are compared with those that this tab alone found in it.
import assert from 'node:assert/strict';
import { browse, byId } from './browser.mjs';
import { detector, differences, filmed, near, onStage, openModel } from './film.mjs';
import { until } from './lib.mjs';

// Tolerances for one picture on two devices of a kind.
const same = { pixels: 0.05, score: 0.001 };
// Tests that need many frames run models on processors, because a software GPU takes seconds for a
// frame on a busy machine.
export const onProcessor = { webgpu: false };

/** Makes the page keep every frame that it draws from now on. */
const record = (page) =>
  page.evaluate(() => {
    const overlay = document.querySelector('[data-testid="boxes"]');
    window.drawn = [];
    new MutationObserver(() => {
      const context = document.querySelector('[data-testid="picture"]').getContext('2d');
      const light = (i) => context.getImageData(i * 64 + 32, 32, 1, 1).data[1] > 128;
      let number = light(0) && !light(5) ? 0 : NaN;
      for (let i = 0; i < 4; i += 1) number |= Number(light(i + 1)) << i;
      const boxes = [...overlay.querySelectorAll('[data-testid="box"]')].map(({ dataset }) => ({ classId: Number(dataset.class), score: Number(dataset.score), box: dataset.box.split(' ').map(Number) }));
      window.drawn.push({ frame: Number(overlay.dataset.frame), by: overlay.dataset.by, number, boxes, at: performance.now() });
    }).observe(overlay, { attributes: true, attributeFilter: ['data-frame'] });
  });
/** The frames that were drawn since the last call. */
const taken = (page) => page.evaluate(() => window.drawn.splice(0));

/** Makes the camera's device slow: the boxes of its own model are delayed by this time, so that helpers are worth their link. */
const slowMs = 250;
const slowly = (context) =>
  context.addInitScript((slowMs) => {
    const Real = window.Worker;
    window.Worker = class extends Real {
      set onmessage(take) {
        super.onmessage = ({ data }) => (data.answer?.boxes ? setTimeout(() => take({ data }), slowMs) : take({ data }));
      }
    };
  }, slowMs);

/** A tab with the film as its camera. It computes alone until it has seen every number; the boxes of all other devices are compared with its boxes. */
export async function camera(t, url) {
  const { expected, args } = await filmed(t, url);
  const { page, context, complaints } = await browse(t, { args, ...onProcessor });
  await slowly(context);
  await page.goto(`${url}/vision`);
  await openModel(page, detector);
  await page.getByRole('button', { name: 'Camera' }).click();
  await until(async () => (await onStage(page)) !== null, 'a frame', 120);
  await record(page);
  const alone = new Map();
  let pace = 0; // The longest time between two frames while this tab computes alone.
  let before = null;
  await until(async () => {
    for (const { number, boxes, by, at } of await taken(page)) {
      if (before !== null) pace = Math.max(pace, at - before);
      before = at;
      assert.equal(by, 'this tab');
      assert.deepEqual(differences(boxes, expected[number], near), []);
      alone.set(number, boxes);
    }
    return alone.size === expected.length;
  }, 'every number', 120);

  let last = -1;
  const all = [];
  /** Checks the frames that were drawn since the last call. */
  const check = async () => {
    const list = await taken(page);
    for (const one of list) {
      assert.ok(one.frame > last, `frame ${one.frame} after ${last}`);
      last = one.frame;
      assert.deepEqual(differences(one.boxes, alone.get(one.number), same), [], `frame ${one.number} by ${one.by}: ${JSON.stringify(one.boxes)} beside ${JSON.stringify(alone.get(one.number))}`);
    }
    all.push(...list);
    return list;
  };
  /** Waits until each helper has drawn this many more frames than at the last call of `check`. */
  const drawnBy = async (ids, least, seconds = 120) => {
    const counts = new Map(ids.map((id) => [id, 0]));
    await until(async () => {
      for (const { by } of await check()) if (counts.has(by)) counts.set(by, counts.get(by) + 1);
      return [...counts.values()].every((count) => count >= least);
    }, `${least} frames by each of ${ids}`, seconds);
  };
  const share = async () => {
    await page.getByRole('button', { name: 'Share the work' }).click();
    await page.locator('[data-testid="share"][data-state="open"]').waitFor();
    return byId(page, 'share-link').inputValue();
  };
  return { page, complaints, check, drawnBy, share, all, pace };
}

export async function help(page, link) {
  await page.goto(link);
  await byId(page, 'helper-warning').getByText(/pictures/).waitFor();
  await page.getByRole('button', { name: 'Join', exact: true }).click();
}
export const helps = (page) => page.locator('[data-testid="helper"][data-stage="helping"]').waitFor();
export const ended = (page) => page.locator('[data-testid="helper"][data-stage="ended"]').waitFor();
export const nodes = (page) => page.evaluate(() => [...document.querySelectorAll('[data-testid="node"]')].map(({ dataset }) => ({ ...dataset })));
