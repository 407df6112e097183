// The playground in a real browser: the compiler's messages at their lines, the same bytes as `weft
// run`, links that carry a program, and a job that a native worker computes. Then the DevTools
// panel over it.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import test from 'node:test';
import { browse, byId, contribute, picture } from './browser.mjs';
import { matrixJob, writeJob } from './jobs.mjs';
import { invited, pause, read, root, run, scratch, serve, until, work } from './lib.mjs';
import { modelFile } from './model-server.mjs';

const axe = fs.readFileSync(createRequire(path.join(root, 'web/package.json')).resolve('axe-core/axe.min.js'), 'utf8');

async function violations(page) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => globalThis.axe.run(document));
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' ')}`);
}

const small = `@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> squares: array<u32>;

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3u) {
  squares[id.x] = a[id.x] * a[id.x];
}
`;

const editor = (page) => byId(page, 'editor').locator('.cm-content');
const compiles = (page) => page.locator('[data-testid="compiled"][data-tone="good"]').waitFor();
const field = (page, binding, label) => byId(page, `binding-${binding}`).getByLabel(label, { exact: true });

async function write(page, text) {
  await editor(page).click();
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.insertText(text);
}

async function open(t, url, { link, ...options } = {}) {
  const { page, complaints, context } = await browse(t, options);
  if (link) await page.goto(link);
  await page.goto(`${url}/playground`);
  await compiles(page);
  return { page, complaints, context };
}

const runButton = (page) => page.getByRole('button', { name: 'Run', exact: true });

async function runHere(page) {
  await runButton(page).click();
  await byId(page, 'timing').waitFor();
  await page.locator('[data-testid="result"]').first().waitFor();
}

/** The small program in the form: squares of 0, 3, 6, ... */
async function smallProgram(page) {
  await page.getByLabel('Example', { exact: true }).selectOption({ label: 'Vector add' });
  await page.getByLabel('Name', { exact: true }).fill('squares');
  await page.getByRole('button', { name: 'Remove binding 2' }).click();
  await field(page, 0, 'Type').selectOption('u32');
  await field(page, 0, 'Shape').fill('256');
  await field(page, 0, 'Step').fill('3');
  await field(page, 1, 'Role').selectOption('output');
  await field(page, 1, 'Type').selectOption('u32');
  await field(page, 1, 'Shape').fill('256');
  await field(page, 1, 'Over several tasks').selectOption('cut');
  await page.getByLabel('Workgroups').fill('8 x 1 x 1');
  await page.getByLabel('Tasks of a job').fill('1');
  await page.getByLabel('Operations of one run').fill('256');
  await write(page, small);
}

/** The file that a clicked link saves. */
async function saved(page, link) {
  const [download] = await Promise.all([page.waitForEvent('download'), link.click()]);
  return fs.readFileSync(await download.path());
}
const saveOutput = (page) => saved(page, byId(page, 'result').first().getByText(/^Save \d/));

test('a mistake shows at its line and column, mended it runs, gives the bytes of `weft run`, and travels in a link', async (t) => {
  const { url } = await serve(t);
  const { page, complaints, context } = await open(t, url, { acceptDownloads: true });
  await smallProgram(page);
  await compiles(page);

  await write(page, small.replace('a[id.x] * a[id.x]', 'a[id.x] * b[id.x]'));

  await byId(page, 'diagnostics').getByText('6:29').waitFor();
  assert.match(await byId(page, 'diagnostics').textContent(), /unresolved (value|identifier) 'b'/);
  await page.locator('.cm-gutter-lint .cm-lint-marker-error').waitFor();
  assert.equal(await page.locator('.cm-lintRange-error').textContent(), 'b');
  assert.ok(await runButton(page).isDisabled());

  await write(page, small);
  await compiles(page);
  assert.equal(await byId(page, 'diagnostics').count(), 0);
  await runHere(page);
  const bytes = await saveOutput(page);
  const squares = new Uint32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
  assert.deepEqual([...squares.slice(0, 4), squares[255]], [0, 9, 36, 81, (255 * 3) ** 2]);

  const folder = scratch(t);
  fs.writeFileSync(path.join(folder, 'squares.json'), await saved(page, page.getByRole('button', { name: 'Save manifest' })));
  const native = await run(['run', path.join(folder, 'squares.json'), '--out', path.join(folder, 'out')]);
  assert.equal(native.code, 0, native.stderr);
  const [file] = fs.readdirSync(path.join(folder, 'out')).filter((name) => name.endsWith('.bin'));
  assert.deepEqual(fs.readFileSync(path.join(folder, 'out', file)), bytes);

  await page.getByRole('button', { name: 'Share' }).click();
  await page.waitForURL(/#p1=/);
  const link = page.url();
  assert.ok(link.length < 2000, `${link.length} characters`);
  const other = await context.newPage();
  await other.goto(link);
  await other.getByText('This program comes from a link').waitFor();
  assert.equal(await byId(other, 'compiled').textContent(), 'From a link');
  await other.getByRole('button', { name: 'Take it over' }).click();
  await compiles(other);
  await until(async () => (await editor(other).textContent()).includes('squares[id.x]'), 'the shader of the link');
  assert.equal(await field(other, 0, 'Step').inputValue(), '3');
  // The program of a link is compiled after it is taken over, but runs only after a click.
  assert.equal(await byId(other, 'timing').count(), 0);
  await runHere(other);
  assert.deepEqual(await saveOutput(other), bytes);

  await other.goto(`${url}/playground#p1=AAAAnonsense`);
  await other.getByText('The link carries no program').waitFor();
  assert.deepEqual(complaints, []);
});

test('one click makes it a job, which a native worker computes to the same bytes', async (t) => {
  const { url, program } = await serve(t, { args: ['--grant', '1000'] });
  await work(t, url);
  const [link] = await program.says(/http\S+#invite=\S+/);
  const { page } = await open(t, url, { acceptDownloads: true, link });
  await smallProgram(page);
  await page.getByLabel('Tasks of a job').fill('4');
  await write(
    page,
    small.replace('@compute', 'struct Weft { origin: vec3u, extent: vec3u }\n@group(1) @binding(0) var<uniform> weft: Weft;\n@compute').replaceAll('a[id.x]', 'a[id.x + weft.origin.x]'),
  );
  await compiles(page);
  await runHere(page);
  const here = await saveOutput(page);

  await page.getByLabel('Budget in credits').fill('10');
  await page.getByRole('button', { name: 'Submit the job' }).click();
  await page.locator('[data-testid="job"][data-state="done"]').waitFor();
  const panel = byId(page, 'job');
  assert.match(await panel.textContent(), /4 of 4 accepted/);
  await panel.locator('[data-testid="result"]').waitFor();

  const id = await panel.getAttribute('data-job');
  const answer = await read(`${url}/v1/jobs/${id}/outputs/0`);
  assert.deepEqual(Buffer.from(await answer.arrayBuffer()), here);
  await panel.scrollIntoViewIfNeeded();
  await picture(page, 'playground-job-desk-light');
});

test('a job that the coordinator refuses says why', async (t) => {
  const network = await serve(t, { args: ['--grant', '1'] });
  const { page } = await open(t, network.url);
  await page.getByLabel('Budget in credits').fill('5000');
  const refused = async (why) => {
    await page.getByRole('button', { name: 'Submit the job' }).click();
    await byId(page, 'job-panel').getByRole('alert').getByText(why).waitFor();
  };

  await refused('Ask the operator for an invitation');

  await page.goto(await invited(network));
  await page.goto(`${network.url}/playground`);
  await compiles(page);
  await page.getByLabel('Budget in credits').fill('5000');
  await refused("The client's account holds 1.000000 credits; the job's budget is 5000.000000.");
});

test('the tuner measures every choice and names the fastest', async (t) => {
  const { url } = await serve(t);
  const { page } = await open(t, url);
  await page.getByLabel('Example', { exact: true }).selectOption({ label: 'Matrix product' });
  await compiles(page);
  await byId(page, 'tuner').getByLabel('Choices').fill('32, 64');

  await byId(page, 'tuner').getByRole('button', { name: /^Measure 2/ }).click();
  await byId(page, 'tuner').getByText('Fastest here').waitFor();
  assert.equal(await byId(page, 'tuner').locator('tbody tr').count(), 2);
  await byId(page, 'tuner').getByRole('button', { name: 'Fix it' }).click();

  await page.getByLabel('Override', { exact: true }).waitFor();
  assert.match(await page.getByLabel('Value', { exact: true }).inputValue(), /^(32|64)$/);
});

test('every example compiles, runs and shows', async (t) => {
  const { url } = await serve(t);
  const { page, complaints } = await open(t, url);
  for (const [label, name] of [['Vector add', 'vector-add'], ['N-body', 'nbody'], ['SHA-256 search', 'sha256'], ['Matrix product', 'matmul']]) {
    await page.getByLabel('Example', { exact: true }).selectOption({ label });
    // A run first measures its overrides, which is sixteen times the work; here one choice is
    // enough.
    if (label === 'Matrix product') {
      await byId(page, 'tuner').getByLabel('Choices').fill('64');
    }
    await compiles(page);
    const before = await byId(page, 'timing').textContent({ timeout: 100 }).catch(() => '');
    await runButton(page).click();
    await until(async () => (await byId(page, 'timing').textContent({ timeout: 500 }).catch(() => before)) !== before, `${label} runs`, 180);
    await page.evaluate(() => window.scrollTo(0, 0));
    await page.mouse.move(0, 0);
    await picture(page, `playground-${name}-desk-light`);
  }
  assert.deepEqual(complaints, []);
});

test('the panel shows what was measured, over the playground and over the contributing tab', async (t) => {
  const { url } = await serve(t);
  const { page, complaints } = await open(t, url);
  await smallProgram(page);
  await compiles(page);
  await page.getByRole('button', { name: 'DevTools' }).click();
  await byId(page, 'lanes').waitFor();
  const dispatches = async () => Number(await byId(page, 'devtools-totals').getAttribute('data-dispatches'));
  const before = await dispatches();

  await runHere(page);

  await until(async () => (await dispatches()) === before + 1, 'one dispatch more');
  await byId(page, 'kernels').getByText('squares', { exact: true }).waitFor();
  await until(async () => /µs|ms|s/.test(await byId(page, 'kernels').locator('tbody td').nth(2).textContent()), 'the kernel is timed');
  await byId(page, 'memory').getByText(/at most/).waitFor();
  await page.getByRole('button', { name: 'Measure the roofs' }).click();
  await page.locator('[data-testid="roofline"][data-points="1"]').waitFor();
  await page.getByRole('button', { name: 'Close' }).click();
  assert.equal(await byId(page, 'devtools').count(), 0);

  await contribute(page, url);
  await byId(page, 'device').waitFor();
  await page.getByRole('button', { name: 'DevTools' }).click();
  // Waits for the rows of the kernels that measured the device.
  await byId(page, 'kernels').locator('tbody tr').first().waitFor();
  const folder = scratch(t);
  const product = writeJob(folder, matrixJob({ m: 128, n: 64, k: 64, split: { tasks: 2 }, verify: { compare: 'exact', replicas: 1, audit: 0 } }));
  const submitted = await run(['submit', product, '--coordinator', url, '--wallet', path.join(folder, 'client.json'), '--wait']);
  assert.equal(submitted.code, 0, submitted.stderr);
  // Waits until the plot shows the two tasks of the job.
  await page.locator('[data-testid="roofline"][data-points="2"]').waitFor();
  await picture(page, 'devtools-contribute-desk-light');
  assert.deepEqual(complaints, []);
});

test('the panel shows what a model in this tab does', async (t) => {
  const model = modelFile('tiny-llama-chat-q8_0.gguf');
  const { url } = await serve(t);
  const { page, complaints } = await browse(t);
  await page.goto(`${url}/chat`);
  await page.getByLabel('Model file').setInputFiles(model);
  await byId(page, 'model').waitFor();
  await page.getByRole('button', { name: 'DevTools' }).click();
  await byId(page, 'memory').getByText('storage').waitFor();
  const dispatches = async () => Number(await byId(page, 'devtools-totals').getAttribute('data-dispatches'));
  const before = await dispatches();

  await page.getByLabel('Message').fill('What is the capital of Japan?');
  await page.getByLabel('Message').press('Enter');

  await until(async () => (await dispatches()) > before, 'dispatches of the answer');
  await page.locator('li[data-role="assistant"]').last().and(page.locator('[data-state="written"]')).waitFor();
  await until(async () => (await byId(page, 'kernels').locator('tbody td').allTextContents()).some((text) => /^[\d.,]+ (µs|ms)$/.test(text)), 'a timed pass');
  const kernels = await byId(page, 'kernels').locator('tbody th').allTextContents();
  assert.ok(kernels.length > 4 && kernels.every((name) => !name.includes(' + ')), `each kernel by itself: ${kernels}`);
  await page.getByRole('button', { name: 'Measure the roofs' }).click();
  // The two points are the prompt and the drawn tokens.
  await page.locator('[data-testid="roofline"][data-points="2"]').waitFor();
  await picture(page, 'devtools-chat-desk-light');
  assert.deepEqual(complaints, []);
});

test('without WebGPU it says so, and programs can still be written and shared', async (t) => {
  const network = await serve(t);
  const { url } = network;
  const { page } = await browse(t, { webgpu: false });
  await page.goto(await invited(network));
  await page.goto(`${url}/playground`);

  await byId(page, 'no-gpu').getByText('Nothing can run here without WebGPU').waitFor();
  assert.ok(await runButton(page).isDisabled());
  await page.getByRole('button', { name: 'Share' }).click();
  await page.waitForURL(/#p1=/);
  await page.getByLabel('Budget in credits').fill('1');
  await page.getByRole('button', { name: 'Make it a job' }).click();
  await page.locator('[data-testid="job"][data-state="running"]').waitFor();
  await page.evaluate(() => window.scrollTo(0, 0));
  await picture(page, 'playground-none-desk-light');
});

test('light and dark, on a desk and a phone: no accessibility violation, nothing wider than the window', async (t) => {
  const { url } = await serve(t);
  // Needed, because the test injects axe.
  const { page } = await open(t, url, { bypassCSP: true });
  await page.getByLabel('Tasks of a job').fill('4');
  await compiles(page);
  await runHere(page);
  const everywhere = async (state) => {
    for (const colorScheme of ['light', 'dark']) {
      for (const [name, viewport] of [['desk', { width: 1280, height: 800 }], ['phone', { width: 390, height: 844 }]]) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize(viewport);
        await page.evaluate(() => window.scrollTo(0, 0));
        await pause(400);  // The change of colours is animated.
        await picture(page, `${state}-${name}-${colorScheme}`);
        if (state === 'playground') await picture(page, `${state}-whole-${name}-${colorScheme}`, { fullPage: true });
        assert.deepEqual(await violations(page), [], `${state}, ${name}, ${colorScheme}`);
        const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
        assert.ok(over <= 0, `${state}, ${name}: ${over} pixels too wide`);
      }
    }
  };
  await everywhere('playground');

  await page.setViewportSize({ width: 1280, height: 800 });
  await smallProgram(page);
  await compiles(page);
  await page.getByRole('button', { name: 'DevTools' }).click();
  await byId(page, 'lanes').waitFor();
  await page.getByRole('button', { name: 'Measure the roofs' }).click();
  await byId(page, 'roofline').waitFor();
  for (let round = 0; round < 3; round += 1) await runHere(page);
  await page.locator('[data-testid="roofline"]:not([data-points="0"])').waitFor();
  await byId(page, 'kernels').getByText('squares', { exact: true }).waitFor();
  await everywhere('devtools');

  await write(page, small.replace('a[id.x] * a[id.x]', 'a[id.x] * b[id.x]'));
  await byId(page, 'diagnostics').waitFor();
  await page.getByRole('button', { name: 'Close' }).click();
  await everywhere('playground-error');
});

test('a built-in kernel in place of a shader: runs here, travels in a link, and one click makes it a job that a processor computes', async (t) => {
  const network = await serve(t);
  const { url } = network;
  for (let i = 0; i < 2; ++i) await work(t, url, { args: ['--device', 'cpu'] });  // A job from a link has two replicas.
  const { page, complaints } = await open(t, url, { link: await invited(network) });
  await page.getByLabel('Example', { exact: true }).selectOption({ label: 'Kernel: matmul_i8' });
  await byId(page, 'kernel-form').getByLabel('Rows of A and C (m)').fill('96');
  await compiles(page);
  await runHere(page);
  await picture(page, 'playground-kernel', { fullPage: true });

  await page.getByRole('button', { name: 'Share' }).click();
  await until(async () => page.url().includes('#p1='), 'the link is in the address');
  const link = page.url();
  await page.goto('about:blank');
  await page.goto(link);
  await page.getByRole('button', { name: 'Take it over' }).click();
  await compiles(page);
  assert.equal(await byId(page, 'kernel-form').getByLabel('Rows of A and C (m)').inputValue(), '96');

  await page.getByRole('button', { name: 'Make it a job' }).click();
  await page.locator('[data-testid="job"][data-state="done"]').waitFor();
  assert.deepEqual(complaints, []);
});
