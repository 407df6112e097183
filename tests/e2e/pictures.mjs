// Takes the pictures of the page that README.md shows: node tests/e2e/pictures.mjs. The network is
// real: one coordinator, a native worker and this browser compute the examples.
import fs from 'node:fs';
import path from 'node:path';
import { browse, byId, contribute, counts } from './browser.mjs';
import { Program, pause, root, scratch, serve, until, weft, work } from './lib.mjs';

const images = path.join(root, 'docs/images');
fs.mkdirSync(images, { recursive: true });
const endings = [];
const run = { after: (end) => endings.push(end) };

try {
  const { url } = await serve(run, { args: ['--grant', '100000'] });
  await work(run, url);
  const { page } = await browse(run, { colorScheme: 'dark' });
  await contribute(page, url);
  const wallet = path.join(scratch(run), 'client.json');
  const submit = (example) => new Program(run, weft, ['submit', path.join(root, 'examples', example), '--coordinator', url, '--wallet', wallet, '--wait']);
  await submit('matmul.json').ended;
  submit('nbody.json');
  await pause(300);
  submit('mandelbrot.json');
  await counts(page, 'done', 18);
  await counts(page, 'done', 18);
  await until(async () => !/^(A job|Nothing)/.test(await byId(page, 'now').textContent()), 'a task by its name');
  await page.evaluate(() => {
    for (const animation of document.getAnimations()) if (animation.animationName === 'shuttle') animation.currentTime = 900;
  });
  const take = (name) => page.screenshot({ path: path.join(images, `${name}.png`) });
  await take('contribute');
  await page.emulateMedia({ colorScheme: 'light' });
  await take('contribute-light');
  await page.setViewportSize({ width: 390, height: 844 });
  await pause(500);
  await take('contribute-phone');
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.getByRole('heading', { name: 'On the loom' }).last().scrollIntoViewIfNeeded();
  await page.evaluate(() => window.scrollTo(0, document.querySelector('#network-title').getBoundingClientRect().top + window.scrollY - 120));
  await take('network');
  const submitted = submit('mandelbrot.json');
  await page.getByRole('link', { name: 'Network' }).click();
  await byId(page, 'task-grid').waitFor();
  await counts(page, 'count-accepted', 24);
  await take('dashboard');
  await submitted.ended;
} finally {
  for (const end of endings) await end();
}
