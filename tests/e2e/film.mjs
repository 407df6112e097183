// A film whose frames carry their number as a bar code, for tests of the page Vision. The module
// draws the film, gives the boxes that `weft detect` finds in its frames, and reads what the page
// shows.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { browse } from './browser.mjs';
import { root, run, scratch } from './lib.mjs';

const data = path.join(process.env.WEFT_DATA ?? path.resolve(root, '../shared'), 'data/models');
export const detector = path.join(data, 'fastestdet.onnx');
const photo = path.join(data, 'images/bus.jpg');
export const still = path.join(data, 'fastestdet-bus.png');
export const missing = ![detector, photo, still].every((file) => fs.existsSync(file)) && `SKIPPED: ${detector} or its pictures are not there; set WEFT_DATA to the folder that holds data/models`;

const frames = 8;
// Bits of a frame's number; the first cell of the bar code is always white, the last one always
// black.
const bits = 4;
const cell = 64; // The side of a cell in pixels.

/** Pictures of 1280 x 720 as JPEG. Each has the photo at another place, and the frame's number in the upper left corner. */
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

/** The boxes that `weft detect` finds in files: for each file a list of { classId, score, box }. */
export async function detected(files, ...args) {
  const { code, stdout, stderr } = await run(['detect', detector, ...files, '--json', ...args]);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout).images.map(({ detections }) => detections.map((found) => ({ classId: found.class_id, score: found.score, box: found.box_in_image })));
}

/** Makes the film for the browser's camera, and the expected boxes of each of its frames, by their numbers. */
export async function filmed(t, url) {
  const folder = scratch(t);
  const drawing = await browse(t);
  const jpegs = await drawFrames(drawing.page, url);
  await drawing.context.close();
  const files = jpegs.map((bytes, n) => path.join(folder, `frame_${n}.jpg`));
  files.forEach((file, n) => fs.writeFileSync(file, jpegs[n]));
  const film = path.join(folder, 'film.mjpeg');
  fs.writeFileSync(film, Buffer.concat(jpegs));
  const expected = await detected(files);
  // The compared boxes differ from frame to frame.
  expected.forEach((boxes, n) => {
    assert.ok(boxes.some((box) => box.score > surely), `frame ${n} has boxes`);
    expected.forEach((others, m) => assert.ok(n === m || differences(others, boxes, near).length > 0, `frames ${n} and ${m} look alike`));
  });
  return { expected, args: ['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream', `--use-file-for-fake-video-capture=${film}`] };
}

/** The number and the boxes of the frame that the page shows at one moment; null while nothing is drawn. */
export const onStage = (page) =>
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

// Scores are above 0.25. Whether a weak box that overlaps a strong one is found depends on the
// browser's rounding of JPEG and colours.
const surely = 0.45;
export function differences(drawn, expected, { pixels, score }) {
  const found = (box, list) => list.some((other) => other.classId === box.classId && Math.abs(other.score - box.score) <= score && other.box.every((side, i) => Math.abs(side - box.box[i]) <= pixels));
  return [...drawn.filter((box) => box.score > surely && !found(box, expected)), ...expected.filter((box) => box.score > surely && !found(box, drawn))];
}
// Tolerances, because the browser rounds differently from libjpeg when it decodes JPEG; frames are
// 60 pixels apart.
export const near = { pixels: 20, score: 0.12 };

export async function openModel(page, file) {
  await page.getByLabel('Model file').setInputFiles(file);
  await page.locator('[data-testid="runs-on"][data-state="ready"]').waitFor();
}
