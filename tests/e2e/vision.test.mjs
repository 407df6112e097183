// The page Vision in a real browser, with a film as the camera, whose frames carry their number as
// a bar code. The boxes that are drawn over a frame are those of `weft detect` for that frame. Then
// the page's messages if there is no camera, no permission, no WebGPU and no detector.
import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';
import { browse, byId, picture } from './browser.mjs';
import { detected, detector, differences, filmed, missing, near, onStage, openModel, still } from './film.mjs';
import { root, serve, until } from './lib.mjs';
import { violations } from './pages.mjs';

const mnist = path.join(root, 'tests/data/models/mnist.onnx');

test('boxes over a camera are those of weft detect for the very frame, and late frames are skipped', { timeout: 600_000, skip: missing }, async (t) => {
  const { url } = await serve(t);
  const { expected, args } = await filmed(t, url);
  const { page, complaints } = await browse(t, { args });
  await page.goto(`${url}/vision`);
  await openModel(page, detector);
  assert.match(await byId(page, 'runs-on').textContent(), /by WebGPU, in 32-bit floats/);
  assert.match(await byId(page, 'fitted').textContent(), /letterboxed to 352 × 352/);
  await page.getByRole('button', { name: 'Camera' }).click();

  const seen = new Map();
  await until(async () => {
    const now = await onStage(page);
    if (now === null || seen.has(now.frame)) return null;
    assert.notEqual(now.number, null, 'the bar code can be read');
    seen.set(now.frame, now.number);
    assert.deepEqual(differences(now.boxes, expected[now.number], near), [], `frame ${now.number}: ${JSON.stringify(now.boxes)} beside ${JSON.stringify(expected[now.number])}`);
    return seen.size >= 12 && new Set(seen.values()).size >= 4;
  }, 'twelve frames, four of them different', 120);
  assert.match(await byId(page, 'source').textContent(), /1280 × 720/);
  await until(async () => /\d/.test(await byId(page, 'p95').textContent()), 'a latency');
  await until(async () => Number((await byId(page, 'skipped').textContent()).replaceAll(',', '')) > 0, 'a frame that was skipped');
  assert.match(await byId(page, 'bytes').textContent(), /3\.5 MiB\D*\+ 32 KiB/);
  await picture(page, 'vision-camera', { fullPage: true });
  await page.getByRole('button', { name: 'Stop' }).click();
  assert.equal(await page.getByRole('button', { name: 'Stop' }).count(), 0);
  assert.deepEqual(complaints, []);
});

test('without WebGPU the processor finds the same in a picture, and the page says so', { timeout: 600_000, skip: missing }, async (t) => {
  const { url } = await serve(t);
  const [expected] = await detected([still], '--device', 'cpu');
  const { page } = await browse(t, { webgpu: false });
  await page.goto(`${url}/vision`);

  await page.getByLabel('Film or picture file').setInputFiles(still);
  await openModel(page, detector);

  await until(async () => (await onStage(page)) !== null, 'the picture', 120);
  const { boxes } = await onStage(page);
  const all = await page.evaluate(() => [...document.querySelectorAll('[data-testid="box"]')].map(({ dataset }) => ({ classId: Number(dataset.class), score: Number(dataset.score), box: dataset.box.split(' ').map(Number) })));
  assert.ok(expected.length > 0 && boxes !== null);
  assert.deepEqual(differences(all, expected, { pixels: 1, score: 0.01 }), []);
  assert.match(await byId(page, 'no-gpu').textContent(), /WebGPU|GPU/);
  assert.match(await byId(page, 'runs-on').textContent(), /by WebAssembly/);
});

test('no camera, no leave and no detector are sentences; the page is accessible and fits, light and dark, at four sizes', { timeout: 300_000 }, async (t) => {
  const { url } = await serve(t);
  const { page, context } = await browse(t, { bypassCSP: true });
  await page.goto(`${url}/vision`);
  await page.getByRole('button', { name: 'Camera' }).click();
  await until(async () => /This machine has no camera|may not use the camera/.test(await byId(page, 'trouble').textContent()), 'a sentence');

  await page.getByLabel('Model file').setInputFiles(mnist);
  await until(async () => /The model is not a supported detector/.test(await byId(page, 'model-trouble').textContent()), 'a refusal');
  await page.getByLabel('Model file').setInputFiles({ name: 'noise.onnx', mimeType: 'application/octet-stream', buffer: Buffer.from('noise that is no model at all') });
  await until(async () => !/no detector/.test(await byId(page, 'model-trouble').textContent()), 'another refusal');
  await page.getByLabel('Film or picture file').setInputFiles({ name: 'noise.png', mimeType: 'image/png', buffer: Buffer.from('noise') });
  await until(async () => /cannot read noise\.png/.test(await byId(page, 'trouble').textContent()), 'a refusal of the picture');

  await page.getByText('Help: phones').click();
  await byId(page, 'help').getByText('--tls-self-signed').waitFor();
  for (const colorScheme of ['light', 'dark']) {
    for (const [width, height] of [[390, 844], [768, 1024], [1280, 800], [1920, 1080]]) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height });
      await picture(page, `vision-${width}-${colorScheme}`, { fullPage: true });
      assert.deepEqual(await violations(page), [], `${width}, ${colorScheme}`);
      const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      assert.ok(over <= 0, `${width}: ${over} pixels too wide`);
    }
  }
  await context.close();
});
