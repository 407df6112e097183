// The page Account in a real Chromium: balances, a payment to another owner, statements like the command line's, and the coordinator's key.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { browse, byId, picture } from './browser.mjs';
import { run, scratch, serve } from './lib.mjs';
import { sizes, violations } from './pages.mjs';

async function ok(args) {
  const { code, stdout, stderr } = await run(args);
  assert.equal(code, 0, `${args.join(' ')}: ${stderr}`);
  return stdout;
}

test('an owner sends credits to another one, has its statement, and compares the coordinator’s key', { timeout: 300_000 }, async (t) => {
  const { url, data, program } = await serve(t);
  const folder = scratch(t);
  const file = (name) => path.join(folder, `${name}.json`);
  const at = (name) => ['--wallet', file(name), '--coordinator', url];
  const [alice, bob] = await Promise.all(['alice', 'bob'].map(async (name) => JSON.parse(await ok(['wallet', 'new', '--file', file(name), '--json'])).key));
  // This command grants the wallet the credits of a new client.
  await ok(['key', 'add', 'any', ...at('alice')]);
  await ok(['pay', alice, '10', '--issue', '--data', data, '--coordinator', url]);
  const [, key] = await program.says(/Its key is (\S+) \(--coordinator-key\)/);

  const { page, complaints, context } = await browse(t, { bypassCSP: true, acceptDownloads: true });
  await page.goto(url);
  await page.getByRole('link', { name: 'Account' }).click();
  await page.getByText('This browser has no wallet yet.').waitFor();
  assert.equal(await byId(page, 'coordinator-key').textContent(), key);
  await page.getByRole('link', { name: 'Contribute' }).click();
  await page.getByLabel('Wallet file').setInputFiles(file('alice'));
  await page.locator(`[data-testid="address"][data-address="${alice}"]`).waitFor();
  await page.getByRole('link', { name: 'Account' }).click();
  await byId(page, 'balance-free').getByText('10.000000 credits').waitFor();
  assert.equal(await byId(page, 'owner').textContent(), alice);

  // A payment moves nothing before it is confirmed.
  const balance = async (name) => JSON.parse(await ok(['device', 'list', ...at(name), '--json'])).free;
  const fill = async (to, credits) => {
    await page.getByLabel('The receiver’s key').fill(to);
    await page.getByLabel('Credits', { exact: true }).fill(credits);
    await page.getByRole('button', { name: 'Go on' }).click();
  };
  await fill(bob, '11');
  await byId(page, 'payment-said').getByText('You have 10.000000 credits that can be sent.').waitFor();
  await fill(bob, '2.5');
  const confirm = byId(page, 'confirm-payment');
  await confirm.getByText('Send 2.500000 credits?').waitFor();
  await confirm.getByText(bob).waitFor();
  assert.equal(await balance('alice'), 10_000_000);
  assert.deepEqual(await violations(page), []);
  for (const theme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme: theme });
    for (const [name, size] of Object.entries(sizes)) {
      await page.setViewportSize(size);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), `${name} ${theme} is as wide as the window`);
      assert.deepEqual(await violations(page), [], `${name} ${theme}`);
      await picture(page, `account-${name}-${theme}`, { fullPage: true });
    }
  }

  // The answer to a payment is lost on its way. If the page repeats the request, the payment counts
  // once.
  let lost = 0;
  await context.route('**/v1/owner/payments', async (route) => {
    const response = await route.fetch();
    if (lost++ === 0) await route.abort();
    else await route.fulfill({ response });
  });
  await confirm.getByRole('button', { name: 'Send 2.500000 credits' }).click();
  await byId(page, 'payment-said').getByText(/it is not known whether the credits have moved/).waitFor();
  assert.equal(await balance('bob'), 2_500_000);
  await confirm.getByRole('button', { name: 'Send again' }).click();
  await byId(page, 'payment-said').getByText(`2.500000 credits are sent to ${bob}.`).waitFor();
  await byId(page, 'balance-free').getByText('7.500000 credits').waitFor();
  assert.equal(await balance('bob'), 2_500_000);
  assert.equal(lost, 2);

  // The saved statement is the command line's, byte for byte.
  for (const form of ['csv', 'json']) {
    const [saved] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: `Save as ${form.toUpperCase()}` }).click()]);
    assert.equal(saved.suggestedFilename(), `weft-statement-${alice.slice(0, 6)}.${form}`);
    assert.equal(fs.readFileSync(await saved.path(), 'utf8'), await ok(['wallet', 'statement', `--${form}`, ...at('alice')]));
  }

  // Runs the command that the page shows. With another key it signs nothing.
  const command = (await byId(page, 'pin-command').textContent()).split(' ').slice(1);
  assert.match(await ok([...command, '--wallet', file('alice')]), /pays 2\.500000 credits/);
  const other = await run([...command.slice(0, -1), bob, '--wallet', file('alice')]);
  assert.notEqual(other.code, 0);
  assert.match(other.stderr, /Nothing was signed/);
  assert.deepEqual(complaints.filter((line) => !/net::ERR_FAILED/.test(line)), []);
});
