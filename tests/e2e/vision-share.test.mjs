// A camera that is shared over browsers: one tab has a film of numbered frames as its camera, and
// helpers are in browsers of their own. The boxes drawn for a frame are those that the camera's tab
// alone finds in it, whatever device computed them. Helpers join, leave, crash, lie, and send
// invalid data. Wrong links join nothing.
import assert from 'node:assert/strict';
import test from 'node:test';
import { browse, byId, picture } from './browser.mjs';
import { filmed, missing, openModel, detector } from './film.mjs';
import { long, serve, until } from './lib.mjs';
import { violations } from './pages.mjs';
import { camera, ended, help, helps, nodes, onProcessor } from './shared-camera.mjs';

const losses = long ? 50 : 4;
test('two helpers in browsers of their own take their part, and every frame has the boxes that one device finds', { timeout: 900_000, skip: missing }, async (t) => {
  const { url } = await serve(t);
  const { page, complaints, check, drawnBy, share } = await camera(t, url);
  assert.match(await byId(page, 'share-warning').textContent(), /sees the pictures/);
  const link = await share();
  assert.match(link, /\/vision#camera=[A-Za-z0-9_-]{43}$/);
  await byId(page, 'qr').waitFor();
  const helpers = [await browse(t, onProcessor), await browse(t, onProcessor)];
  for (const helper of helpers) {
    await help(helper.page, link);
    await helps(helper.page);
  }

  await drawnBy(['helper 1', 'helper 2'], 5);

  const rows = await nodes(page);
  assert.deepEqual(rows.map(({ id }) => id).sort(), ['helper 1', 'helper 2', 'this tab']);
  for (const { id, frames, share: part } of rows) assert.ok(Number(frames) > 0 && Number(part) > 0, `${id}: ${frames} frames, share ${part}`);
  await picture(page, 'vision-shared', { fullPage: true });
  await picture(helpers[0].page, 'vision-helper', { fullPage: true });
  assert.deepEqual(await violations(helpers[0].page), []);

  // The camera's side ends the sharing: helpers stop, and this tab continues.
  await page.getByRole('button', { name: 'End sharing' }).click();
  for (const helper of helpers) await ended(helper.page);
  await check();
  await drawnBy(['this tab'], 5);
  assert.deepEqual((await nodes(page)).map(({ id }) => id), ['this tab']);
  assert.deepEqual(complaints, []);
});

test('helpers leave, are closed and crash in the middle: no wrong frame, and the others go on', { timeout: long ? 5_400_000 : 900_000, skip: missing }, async (t) => {
  const { url } = await serve(t);
  const { page, check, drawnBy, share, all, pace } = await camera(t, url);
  const link = await share();
  const { context } = await browse(t, onProcessor);
  for (let round = 1; round <= losses; round += 1) {
    const helper = await context.newPage();
    await help(helper, link);
    await helps(helper);
    await drawnBy([`helper ${round}`], 1);
    await check();
    all.length = 0;
    const before = await page.evaluate(() => performance.now());
    if (round % 3 === 1) await helper.close();
    else if (round % 3 === 2) await helper.goto('chrome://crash').catch(() => undefined);
    else await helper.getByRole('button', { name: 'Leave' }).click();
    await drawnBy(['this tab'], 4);
    const times = [before, ...all.map(({ at }) => at).filter((at) => at > before)];
    const gap = Math.max(...times.slice(1).map((at, i) => at - times[i]));
    t.diagnostic(`round ${round}: ${Math.round(gap)} ms without a frame at most; ${Math.round(pace)} ms alone, before`);
    // A new frame comes within a second and the time that this tab needs for a frame on a machine
    // that is busy with other tests.
    assert.ok(gap < 1000 + pace, `round ${round}: ${gap} ms without a frame`);
    await helper.close();
    // The only helper has left, and this tab is alone.
    await until(async () => (await nodes(page)).length === 1, 'the helper is gone', 60);
  }
});

test('liars, garbage and links that are wrong change nothing', { timeout: 900_000, skip: missing }, async (t) => {
  const { url } = await serve(t);
  const { page, check, drawnBy, share } = await camera(t, url);
  const link = await share();
  const { context } = await browse(t, onProcessor);
  const left = () => byId(page, 'left').textContent();

  // The engine of this helper gives all boxes at wrong places.
  const liar = await context.newPage();
  await liar.addInitScript(() => {
    const Real = window.Worker;
    window.Worker = class extends Real {
      set onmessage(take) {
        super.onmessage = ({ data }) => take({ data: data.answer?.boxes ? { ...data, answer: { ...data.answer, boxes: [{ classId: 3, label: 'a lie', score: 0.99, box: [0, 0, 50, 50] }] } } : data });
      }
    };
  });
  await help(liar, link);
  await ended(liar);
  await until(async () => /helper 1.*differ from those that this tab finds/.test(await left()), 'the liar is left out');

  // This page is a helper that sends random bytes after it has joined.
  const noisy = await context.newPage();
  await noisy.addInitScript(() => {
    const send = RTCDataChannel.prototype.send;
    let sent = 0;
    RTCDataChannel.prototype.send = function (data) {
      sent += 1;
      return send.call(this, sent > 2 ? crypto.getRandomValues(new Uint8Array(300)) : data);
    };
  });
  await help(noisy, link);
  await ended(noisy);
  await until(async () => /helper 2.*sent a message that is not allowed here/.test(await left()), 'the noisy one is left out');

  // A link with another secret leads to no meeting. A link with another key is not this camera's.
  const turned = (at) => {
    const [address, letters] = link.split('#camera=');
    return `${address}#camera=${letters.slice(0, at)}${letters[at] === 'A' ? 'B' : 'A'}${letters.slice(at + 1)}`;
  };
  for (const [at, why] of [[3, /meeting does not exist/], [30, /not the camera of this link/]]) {
    const wrong = await context.newPage();
    await help(wrong, turned(at));
    await ended(wrong);
    assert.match(await byId(wrong, 'helper-why').textContent(), why);
    await wrong.close();
  }

  // A stranger that knows the meeting but not the secret sends texts over the coordinator.
  const stranger = await context.newPage();
  await stranger.goto(url);
  const heard = await stranger.evaluate(async (link) => {
    const secret = Uint8Array.from(atob(link.split('#camera=')[1].replaceAll('-', '+').replaceAll('_', '/')), (letter) => letter.charCodeAt(0)).slice(0, 16);
    const from = await crypto.subtle.importKey('raw', secret, 'HKDF', false, ['deriveBits']);
    const id = new Uint8Array(await crypto.subtle.deriveBits({ name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(0), info: new TextEncoder().encode('weft-camera-meeting-1') }, from, 128));
    const socket = new WebSocket(new URL('/v1/meet', location.href.replace(/^http/, 'ws')));
    const texts = [];
    socket.onmessage = ({ data }) => texts.push(data);
    await new Promise((resolve) => (socket.onopen = resolve));
    socket.send(JSON.stringify({ meet: Array.from(id, (byte) => byte.toString(16).padStart(2, '0')).join(''), as: 'guest' }));
    for (const text of ['garbage', JSON.stringify({ attempt: 'A'.repeat(22), publicKey: '', sdp: '' }), 'A'.repeat(4000)]) socket.send(text);
    await new Promise((resolve) => setTimeout(resolve, 3000));
    return texts;
  }, link);
  assert.equal(heard.length, 1, 'the coordinator lets it in, and the camera says nothing to it');

  // During all attacks this tab continued with the right boxes, and the next honest helper may
  // join.
  await check();
  assert.deepEqual((await nodes(page)).map(({ id }) => id), ['this tab']);
  const honest = await context.newPage();
  await help(honest, link);
  await helps(honest);
  await drawnBy(['helper 3'], 3);
});

test('on GPUs a helper finds in a frame that was fitted on the GPU what the camera finds in it', { timeout: 900_000, skip: missing }, async (t) => {
  const { url } = await serve(t);
  const { args } = await filmed(t, url);
  const { page } = await browse(t, { args });
  await page.goto(`${url}/vision`);
  await openModel(page, detector);
  await page.getByRole('button', { name: 'Camera' }).click();
  await page.getByRole('button', { name: 'Share the work' }).click();
  await page.locator('[data-testid="share"][data-state="open"]').waitFor();
  const helper = await browse(t);
  await help(helper.page, await byId(page, 'share-link').inputValue());
  await helps(helper.page);
  assert.match(await byId(helper.page, 'helper').textContent(), /by WebGPU/);

  // Until the helper has found the same boxes as this tab twice, its boxes are only compared.
  await until(async () => (await nodes(page)).some(({ id, state, frames }) => id === 'helper 1' && state !== 'checked' && Number(frames) >= 2), 'the helper has shown that it finds the same', 200);
  assert.equal(await page.locator('[data-testid="left"]').count(), 0);
});
