// The second start in a browser fetches nothing again and measures nothing again. Bytes are counted
// outside the browser. Times are printed, not judged.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { browse, byId, startButton } from './browser.mjs';
import { countingProxy } from './counting-proxy.mjs';
import { run, scratch, serve } from './lib.mjs';

const rows = 256;
const depth = 4096;

/** A job with two megabytes of operands, so that a second fetch of them would be seen. */
function product(folder) {
  const operand = (name, factor) => {
    fs.writeFileSync(path.join(folder, name), Buffer.from(Uint8Array.from({ length: rows * depth }, (_, i) => i * factor)));
    return { path: name };
  };
  const manifest = { weft: 1, kind: 'kernel', kernel: 'matmul_i8', name: 'product', m: rows, n: rows, k: depth, a: operand('a.bin', 37), b: operand('b.bin', 91), split: { tasks: 4 }, verify: { compare: 'exact', replicas: 1, audit: 0 }, budget: 1000 };
  const file = path.join(folder, 'product.json');
  fs.writeFileSync(file, JSON.stringify(manifest));
  return file;
}

const api = (path) => path.startsWith('/v1/') && !path.startsWith('/v1/blobs/');
const seconds = (ms) => `${(ms / 1000).toFixed(2)} s`;

for (const { device, webgpu } of [{ device: 'GPU', webgpu: true }, { device: 'CPU kernels', webgpu: false }]) {
  test(`${device}: the second start fetches nothing again`, { timeout: 400_000 }, async (t) => {
    const { url: coordinator } = await serve(t);
    const { url, asked } = await countingProxy(t, coordinator);
    const folder = scratch(t);
    const job = product(folder);
    const profile = scratch(t);

    const visit = async () => {
      const browser = await browse(t, { webgpu, profile });
      const { page } = browser;
      const submitted = run(['submit', job, '--coordinator', coordinator, '--wallet', path.join(folder, 'client.json'), '--wait']);
      asked.splice(0);
      await page.goto(url);
      await byId(page, 'offer').waitFor();
      await startButton(page).click();
      const times = page.locator('[data-testid="start-times"][data-first-task-ms]');
      const { code, stderr } = await submitted;
      assert.equal(code, 0, stderr);
      await times.waitFor();
      const ready = Number(await times.getAttribute('data-ready-ms'));
      const first = Number(await times.getAttribute('data-first-task-ms'));
      // The device is measured once a week.
      const measuredAt = await page.evaluate((kind) => JSON.parse(localStorage.getItem(`weft.device.${kind}`)).measuredAt, webgpu ? 'gpu' : 'cpu');
      await browser.context.close();
      return { ready, first, measuredAt, fetched: asked.splice(0).filter((one) => !api(one.path)) };
    };
    const bytes = (fetched) => fetched.reduce((sum, one) => sum + one.bytes, 0);

    const before = await visit();
    const after = await visit();
    for (const [name, one] of [['first', before], ['second', after]]) {
      console.log(`${device}, ${name} start: ready after ${seconds(one.ready)}, first task done after ${seconds(one.first)}; ${bytes(one.fetched).toLocaleString('en')} bytes of files and blobs over the network, ${one.fetched.length} requests`);
    }

    assert.ok(bytes(before.fetched) > 2 * rows * depth, 'the first start fetches engine and operands');
    assert.ok(before.fetched.some((one) => /weft_engine.*wasm/.test(one.path)));
    assert.deepEqual(after.fetched.filter((one) => one.bytes > 0), []);
    assert.equal(after.measuredAt, before.measuredAt);
  });
}
