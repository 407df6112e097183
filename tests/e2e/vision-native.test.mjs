// Devices without a direct connection help a shared camera through the coordinator's relay: a native
// helper (`weft vision help`), and a tab whose browser makes no direct connections. The boxes drawn
// for a frame are those that the camera's tab alone finds in it. A helper is killed, and others send
// garbage or more than they may.
import assert from 'node:assert/strict';
import test from 'node:test';
import { browse, byId } from './browser.mjs';
import { missing } from './film.mjs';
import { Program, run, serve, until, weft } from './lib.mjs';
import { camera, ended, help, helps, nodes, onProcessor } from './shared-camera.mjs';

/** Lets pages use TURN servers only, of which there are none, so that they make no direct connection. */
const withoutDirect = (context) =>
  context.addInitScript(() => {
    const Real = window.RTCPeerConnection;
    window.RTCPeerConnection = class extends Real {
      constructor(options) {
        super({ ...options, iceTransportPolicy: 'relay' });
      }
    };
  });
const pathOf = async (page, id) => (await nodes(page)).find((node) => node.id === id)?.path;

test('a native helper takes its part through the coordinator, is killed, and another one ends at Ctrl-C', { timeout: 600_000, skip: missing }, async (t) => {
  const { url } = await serve(t);
  const { page, complaints, check, drawnBy, share } = await camera(t, url);
  const link = await share();
  const native = (...args) => new Program(t, weft, ['vision', 'help', link, '--device', 'cpu', ...args]);

  const first = native();
  await first.says(/Joined the camera through the coordinator/);
  await first.says(/Computes frames of 352 x 352 pixels on the processor/, 60);
  await drawnBy(['helper 1'], 5);
  assert.equal(await pathOf(page, 'helper 1'), 'relay');
  assert.match(await page.locator('[data-testid="node"][data-id="helper 1"]').textContent(), /A processor.*through the coordinator/);

  await first.kill();
  await drawnBy(['this tab'], 4);
  await until(async () => (await nodes(page)).length === 1, 'the helper is gone', 60);
  assert.match(await byId(page, 'left').textContent(), /helper 1.*closed its connection to the coordinator/);

  const second = native('--json');
  await drawnBy(['helper 2'], 2);
  second.signal('SIGINT');
  assert.equal((await second.ended).code, 0, second.output());
  const { device, model, frames, bytes } = JSON.parse(second.stdout);
  assert.equal(device, 'cpu');
  assert.match(model, /fastestdet/);
  assert.ok(frames >= 2 && bytes > frames * 352 * 352 * 3, `${frames} frames, ${bytes} bytes`);

  // The camera ends the sharing while a helper is there.
  const third = native();
  await drawnBy(['helper 3'], 1);
  await page.getByRole('button', { name: 'End sharing' }).click();
  assert.equal((await third.ended).code, 0, third.output());
  assert.match(third.stdout, /frames on cpu.*The camera has ended the connection/);
  await check();
  assert.deepEqual(complaints, []);
});

test('a tab without direct connections takes its part through the coordinator, and garbage in the relay changes nothing', { timeout: 600_000, skip: missing }, async (t) => {
  const { url } = await serve(t);
  const { page, check, drawnBy, share } = await camera(t, url);
  const link = await share();
  const left = () => byId(page, 'left').textContent();

  const { context } = await browse(t, onProcessor);
  await withoutDirect(context);
  const helper = await context.newPage();
  await help(helper, link);
  await helps(helper);
  await drawnBy(['helper 1'], 3);
  assert.equal(await pathOf(page, 'helper 1'), 'relay');
  assert.match(await helper.locator('main').textContent(), /through the coordinator/);
  await helper.close();

  // One sends random bytes in place of its third message on, and one sends more than it has credit for.
  const spoil = {
    'helper 2': ['not allowed here', (data) => data.map(() => crypto.getRandomValues(new Uint8Array(1))[0]).fill(0, 0, 1)],
    'helper 3': ['(not allowed here|with credit for)', () => new Uint8Array(60_000)],
  };
  for (const [id, [why, change]] of Object.entries(spoil)) {
    const noisy = await context.newPage();
    await noisy.addInitScript((change) => {
      const changed = (0, eval)(`(${change})`);
      const send = WebSocket.prototype.send;
      let records = 0;
      WebSocket.prototype.send = function (data) {
        if (typeof data === 'string' || data[0] !== 0) return send.call(this, data);
        records += 1;
        if (records < 3) return send.call(this, data);
        for (let i = 0; i < 4; i += 1) send.call(this, changed(data));
      };
    }, String(change));
    await help(noisy, link);
    await ended(noisy);
    await until(async () => new RegExp(`${id}.*${why}`).test(await left()), `${id} is left out`, 60);
    await noisy.close();
  }
  await check();
  await drawnBy(['this tab'], 3);
});

test('a link that is wrong joins nothing', { timeout: 120_000 }, async (t) => {
  const { url } = await serve(t);
  for (const [link, code, why] of [
    [`${url}/vision`, 2, /not one of a shared camera/],
    [`${url}/vision#camera=${'A'.repeat(43)}`, 3, /The meeting does not exist, or it has ended/],
    [`http://127.0.0.1:1/vision#camera=${'A'.repeat(43)}`, 3, /cannot be opened/],
  ]) {
    const ended = await run(['vision', 'help', link, '--device', 'cpu']);
    assert.equal(ended.code, code, ended.stderr);
    assert.match(ended.stderr, why);
    assert.equal(ended.stdout, '');
  }
});
