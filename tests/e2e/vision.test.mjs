// The page Vision in a real browser: a film as the camera, whose frames carry their number as a bar code; the boxes that are drawn over a
// frame are those of `weft detect` for it. Then what the page says if there is no camera, no leave, no WebGPU and no detector.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { browse, byId, picture } from './browser.mjs';
import { root, run, scratch, serve, until } from './lib.mjs';
import { violations } from './pages.mjs';

const data = path.join(process.env.WEFT_DATA ?? path.resolve(root, '../shared'), 'data/models');
const detector = path.join(data, 'fastestdet.onnx');
const photo = path.join(data, 'images/bus.jpg');
const still = path.join(data, 'fastestdet-bus.png');
const missing = ![detector, photo, still].every((file) => fs.existsSync(file)) && `SKIPPED: ${detector} or its pictures are not there; set WEFT_DATA to the folder that holds data/models`;
const mnist = path.join(root, 'tests/data/models/mnist.onnx');

const frames = 8;
const bits = 4; // How many a number has; the first cell of the bar code is always white, the last always black.
const cell = 64; // Pixels of a side.

/** Pictures of 1280 x 720 as JPEG: the photo at another place in each, and the frame's number in the upper left corner. */
async function drawFrames(page, url) {
  await page.goto(url);
  const drawn = await page.evaluate(
    async ({ base64, frames, bits, cell }) => {
      const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
      const photo = await createImageBitmap(new Blob([bytes]));
      const canvas = new OffscreenCanvas(1280, 720);
      const context = canvas.getContext('2d');
      const out = [];
      for (let n = 0; n < frames; n += 1) {
        context.fillStyle = '#808080';
        context.fillRect(0, 0, 1280, 720);
        const height = 600 - 20 * n;
        const width = (height * photo.width) / photo.height;
        context.drawImage(photo, 340 + 60 * n, 100 + 5 * n, width, height);
        [1, ...Array.from({ length: bits }, (_, i) => (n >> i) & 1), 0].forEach((bit, i) => {
          context.fillStyle = bit ? 'white' : 'black';
          context.fillRect(i * cell, 0, cell, cell);
        });
        const blob = await canvas.convertToBlob({ type: 'image/jpeg', quality: 0.95 });
        out.push(btoa(Array.from(new Uint8Array(await blob.arrayBuffer()), (byte) => String.fromCharCode(byte)).join('')));
      }
      return out;
    },
    { base64: fs.readFileSync(photo).toString('base64'), frames, bits, cell },
  );
  return drawn.map((base64) => Buffer.from(base64, 'base64'));
}

/** What `weft detect` finds in files: for each a list of { classId, score, box }. */
async function detected(files, ...args) {
  const { code, stdout, stderr } = await run(['detect', detector, ...files, '--json', ...args]);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout).images.map(({ detections }) => detections.map((found) => ({ classId: found.class_id, score: found.score, box: found.box_in_image })));
}

/** The frame's number and its boxes as they are on the page at one moment; null while nothing is drawn. */
const onStage = (page) =>
  page.evaluate(
    ({ bits, cell }) => {
      const overlay = document.querySelector('[data-testid="boxes"]');
      if (overlay.dataset.frame === undefined) return null;
      const context = document.querySelector('[data-testid="picture"]').getContext('2d');
      const light = (i) => context.getImageData(i * cell + cell / 2, cell / 2, 1, 1).data[1] > 128;
      if (!light(0) || light(bits + 1)) return { number: null, boxes: [], frame: overlay.dataset.frame };
      let number = 0;
      for (let i = 0; i < bits; i += 1) number |= Number(light(i + 1)) << i;
      const boxes = [...overlay.querySelectorAll('[data-testid="box"]')].map(({ dataset }) => ({ classId: Number(dataset.class), score: Number(dataset.score), box: dataset.box.split(' ').map(Number) }));
      return { number, boxes, frame: overlay.dataset.frame };
    },
    { bits, cell },
  );

const surely = 0.45; // Scores lie above 0.25; a weak box that overlaps a strong one comes and goes with the browser's rounding of JPEG and colours.
function differences(drawn, expected, { pixels, score }) {
  const found = (box, list) => list.some((other) => other.classId === box.classId && Math.abs(other.score - box.score) <= score && other.box.every((side, i) => Math.abs(side - box.box[i]) <= pixels));
  return [...drawn.filter((box) => box.score > surely && !found(box, expected)), ...expected.filter((box) => box.score > surely && !found(box, drawn))];
}
// The browser decodes JPEG by other rules of rounding than libjpeg; frames are 60 pixels apart.
const near = { pixels: 20, score: 0.12 };

async function openModel(page, file) {
  await page.getByLabel('Model file').setInputFiles(file);
  await page.locator('[data-testid="runs-on"][data-state="ready"]').waitFor();
}

test('boxes over a camera are those of weft detect for the very frame, and late frames are skipped', { timeout: 600_000, skip: missing }, async (t) => {
  const { url } = await serve(t);
  const folder = scratch(t);
  const drawing = await browse(t);
  const jpegs = await drawFrames(drawing.page, url);
  await drawing.context.close();
  const files = jpegs.map((bytes, n) => path.join(folder, `frame_${n}.jpg`));
  files.forEach((file, n) => fs.writeFileSync(file, jpegs[n]));
  const film = path.join(folder, 'film.mjpeg');
  fs.writeFileSync(film, Buffer.concat(jpegs));
  const expected = await detected(files);
  // What is compared tells frames apart.
  expected.forEach((boxes, n) => {
    assert.ok(boxes.some((box) => box.score > surely), `frame ${n} has boxes`);
    expected.forEach((others, m) => assert.ok(n === m || differences(others, boxes, near).length > 0, `frames ${n} and ${m} look alike`));
  });

  const { page, complaints } = await browse(t, { args: ['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream', `--use-file-for-fake-video-capture=${film}`] });
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
  assert.match(await byId(page, 'bytes').textContent(), /3\.5 MiB/);
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
  await until(async () => /The model is no detector that is known/.test(await byId(page, 'model-trouble').textContent()), 'a refusal');
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
