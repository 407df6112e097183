// Prices before they are paid, with real processes: weft quote, weft submit --quote and
// --max-price, weft serve --price-base and weft work --price.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { matrixJob, writeJob } from './jobs.mjs';
import { getJson, run, scratch, serve, work } from './lib.mjs';

const credits = (micro) => (micro / 1e6).toFixed(6);

test('the price that weft quote shows is the price that is charged', { timeout: 180_000 }, async (t) => {
  const { url } = await serve(t, { args: ['--price-base', '2'] });
  const folder = scratch(t);
  const wallet = path.join(folder, 'client.json');
  const at = ['--coordinator', url, '--wallet', wallet];
  const file = writeJob(folder, matrixJob({ m: 256, n: 64, k: 512, split: { tasks: 8 }, verify: { compare: 'exact', replicas: 1 } }));
  const submit = (...more) => run(['submit', file, ...at, '--wait', '--json', ...more]);
  const quote = async () => JSON.parse((await run(['quote', file, ...at, '--json'])).stdout);

  const unknown = await quote();
  assert.equal(unknown.per_unit, 2_000_000, 'the base, in an idle network');
  assert.equal(unknown.price, 0, 'this work was not measured before');
  assert.match((await run(['quote', file, ...at])).stdout, /price {5}not known yet: this work was not measured before/);

  await work(t, url, { args: ['--device', 'cpu', '--price', '1.5'] });
  const [{ price_min: least }] = (await getJson(`${url}/v1/workers`)).workers;
  assert.ok(least >= 1_500_000 && least < 1_600_000, `it accepts ${least}`);
  assert.match((await run(['worker', 'list', '--coordinator', url])).stdout, / 1\.5\d{5} /);
  const first = await submit('--quoted', unknown.quote);
  assert.equal(first.code, 0, first.stderr);

  // The canary's time of such short work varies. The price is at most the quoted one, or the job
  // gives the reason why it is higher.
  const known = await quote();
  assert.ok(known.price > 0 && known.price_per_task * 8 === known.price, JSON.stringify(known));
  const asked = await run(['submit', file, ...at, '--quote']);
  assert.equal(asked.code, 2, 'there is no terminal to ask at');
  assert.match(asked.stderr, new RegExp(`price {5}${credits(known.price).replace('.', '\\.')} credits for .* compute units: 8 tasks`));
  assert.match(asked.stderr, /Nothing was submitted: .* --yes agrees to the price/);
  const second = await submit('--quote', '--yes');
  const { state, price, price_quoted: quoted, reason } = JSON.parse(second.stdout);
  assert.ok(quoted > 0);
  if (state === 'done') assert.ok(price <= quoted, `${price} of ${quoted}`);
  else assert.match(reason, /its quote is/);

  const tampered = known.quote.replace(/^([0-9a-f]+)\.(\d+)\./, '$1.1.');
  const refused = await submit('--quoted', tampered);
  assert.notEqual(refused.code, 0);
  assert.match(refused.stderr, /The quote is for another manifest or client, or from another coordinator/);
  const another = writeJob(folder, matrixJob({ name: 'other', m: 8, n: 8, k: 8 }));
  const misused = await run(['submit', another, ...at, '--quoted', known.quote]);
  assert.match(misused.stderr, /The quote is for another manifest or client/);

  const over = await submit('--max-price', '0.0001');
  assert.notEqual(over.code, 0);
  assert.match(over.stderr, /8 tasks of 1 replica cost 0\.000800 credits at least; max_price is 0\.000100/);
});

test('a worker is given no job below what it accepts, and the job says so', { timeout: 120_000 }, async (t) => {
  const { url } = await serve(t);
  const folder = scratch(t);
  const wallet = path.join(folder, 'client.json');
  const at = ['--coordinator', url, '--wallet', wallet];
  await work(t, url, { args: ['--device', 'cpu', '--price', '3'] });
  const file = writeJob(folder, matrixJob());
  const submitted = await run(['submit', file, ...at, '--json']);
  assert.equal(submitted.code, 0, submitted.stderr);
  const { id } = JSON.parse(submitted.stdout);
  const shown = await run(['submit', '--show', id, ...at]);
  assert.match(shown.stdout, /waiting \(price\) {2}None of 1 worker that can run the job accepts its price of 1\.000000 credits a unit; the lowest accepted price is 3\.\d{6}\./);

  await work(t, url, { args: ['--device', 'cpu', '--price', '1'] });
  const followed = await run(['submit', '--follow', id, ...at, '--json']);
  assert.equal(JSON.parse(followed.stdout).state, 'done', followed.stderr);
});
