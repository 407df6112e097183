// Grammars of random schemas: a validator of JSON schemas (ajv) accepts every text that a walk
// through the grammar writes. 300 schemas, with --long 10,000. The seed of a failure is in its
// message.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';
import { test } from 'node:test';
import { long, root } from './lib.mjs';

const require = createRequire(path.join(root, 'web/package.json'));
const Ajv = require('ajv/dist/2020').default;
const addFormats = require('ajv-formats').default;

const walker = path.join(root, 'build/release/tests/schema_walk');

/** Numbers from a seed (mulberry32). */
function randomFrom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const names = ['a', 'b', 'name', 'id', 'é', 'with "quotes"', 'next', 'items', 'x/y', 'tilde~', 'ab', 'abc', ''];
const patterns = ['^[a-z]+$', '^\\d{3}-\\d{4}$', '^(red|green|blue)$', 'foo', '^[^\\s"]*$', '^\\w+@\\w+\\.(com|org)$', '^.{2,5}$', '[A-F0-9]{4}$', '^(a|bc)*d?$', '^[\\u00e0-\\u00ff\\\\]{1,3}',
  '^\\S\\s\\D\\W$', '^x{2,}y+?$|^z'];
const formats = ['date', 'time', 'date-time', 'duration', 'uuid', 'email', 'hostname', 'ipv4', 'ipv6', 'uri'];

/** A random schema; `defs` collects the definitions that it refers to. */
function randomSchema(random, depth, defs) {
  const pick = (list) => list[Math.floor(random() * list.length)];
  const chance = (p) => random() < p;
  const below = (n) => Math.floor(random() * n);
  const inner = () => randomSchema(random, depth - 1, defs);

  const number = () => {
    const type = pick(['integer', 'number']);
    const scale = pick([1, 1, 10, 100, 0.1, 0.25, 1000]);
    const whole = (x) => (type === 'integer' && chance(0.7) ? Math.round(x) : Math.round(x * 1000) / 1000);
    const low = whole((random() - 0.5) * 20 * scale);
    const high = whole(low + 1 + random() * 30 * scale);
    const out = { type };
    if (chance(0.6)) out[pick(['minimum', 'minimum', 'exclusiveMinimum'])] = low;
    if (chance(0.6)) out[pick(['maximum', 'maximum', 'exclusiveMaximum'])] = high;
    if (type === 'integer' && chance(0.15)) return { type, multipleOf: pick([1, 2, 3, 5, 7, 10]), ...(chance(0.5) ? { minimum: -50, maximum: 60 } : {}) };
    return out;
  };
  const string = () => {
    if (chance(0.25)) return { type: 'string', pattern: pick(patterns) };
    if (chance(0.25)) return { type: 'string', format: pick(formats) };
    const out = { type: 'string' };
    const least = below(5);
    if (chance(0.5)) out.minLength = least;
    if (chance(0.5)) out.maxLength = least + below(10);
    return out;
  };
  const listed = () => {
    const values = [null, true, false, 0, -1, 2.5, '', 'a', 'é"\\', 'line\nbreak', [1, 'x'], { k: [null] }, {}];
    return chance(0.5) ? { const: pick(values) } : { enum: [...new Set([pick(values), pick(values), pick(values)])] };
  };
  const array = () => {
    const out = { type: 'array' };
    const least = below(3);
    if (chance(0.4)) out.minItems = least;
    if (chance(0.5)) out.maxItems = least + below(4);
    if (chance(0.3)) out.prefixItems = Array.from({ length: 1 + below(3) }, inner);
    if (chance(0.8)) out.items = chance(0.1) ? pick([true, false]) : inner();
    if (out.items === false && (out.prefixItems?.length ?? 0) < (out.minItems ?? 0)) delete out.minItems;
    return out;
  };
  const object = () => {
    const out = { type: 'object' };
    const keys = [...new Set(Array.from({ length: below(5) }, () => pick(names)))];
    if (keys.length > 0 || chance(0.5)) out.properties = Object.fromEntries(keys.map((key) => [key, inner()]));
    if (chance(0.6)) out.required = keys.filter(() => chance(0.5));
    if (chance(0.4)) out.additionalProperties = chance(0.5) ? pick([true, false]) : inner();
    if (chance(0.15)) out.maxProperties = (out.required?.length ?? 0) + below(3);
    if (chance(0.15)) out.minProperties = Math.min(1, keys.length);
    return out;
  };
  const reference = () => {
    const known = Object.keys(defs);
    if (known.length > 0 && chance(0.6)) return { $ref: `#/$defs/${pick(known)}` };
    const name = `d${known.length}`;
    // The definition has its name before it is written, so that it may refer to itself, if it can
    // also end.
    defs[name] = {};
    defs[name] = chance(0.5)
      ? { type: 'object', properties: { value: inner(), next: { anyOf: [{ $ref: `#/$defs/${name}` }, { type: 'null' }] } }, required: ['next'] }
      : inner();
    return { $ref: `#/$defs/${name}` };
  };

  const leaf = () => pick([number, number, string, string, listed, () => ({ type: 'boolean' }), () => ({ type: 'null' }), () => ({}), () => ({ type: ['string', 'null', 'integer'], minLength: 1, minimum: 3 })])();
  if (depth <= 0) return leaf();
  return pick([leaf, leaf, array, array, object, object, object, reference,
    () => ({ anyOf: Array.from({ length: 1 + below(3) }, inner) }),
    () => ({ oneOf: [{ type: 'object', properties: { kind: { const: 'a' }, v: inner() }, required: ['kind'] }, { type: 'object', properties: { kind: { const: 'b' } }, required: ['kind', 'w'] }, number()] }),
    () => ({ allOf: [{ type: 'object', properties: { p: { type: 'integer', minimum: 1 } }, required: ['p'] }, { properties: { p: { maximum: 9 }, q: inner() } }] }),
    () => ({ ...object(), anyOf: [{ required: [pick(names)] }, { properties: { extra: inner() }, required: ['extra'] }] })])();
}

function schemaOf(seed) {
  const random = randomFrom(seed);
  const defs = {};
  const schema = randomSchema(random, 3, defs);
  return Object.keys(defs).length > 0 ? { ...schema, $defs: defs } : schema;
}

/** For each schema, the texts that its grammar writes, or its refusal. */
function walk(schemas, seed, texts) {
  const { status, stdout, stderr } = spawnSync(walker, [String(seed), String(texts)], { input: schemas.map((schema) => JSON.stringify(schema)).join('\n'), encoding: 'utf8', maxBuffer: 1 << 30 });
  assert.equal(status, 0, stderr);
  return stdout.trimEnd().split('\n').map((line) => JSON.parse(line));
}

test('every text that the grammar of a random schema writes is valid', { timeout: 3_600_000 }, () => {
  const count = long ? 10_000 : 300;
  const first = 1;
  const schemas = Array.from({ length: count }, (_, i) => schemaOf(first + i));
  const answers = walk(schemas, 1, 5);
  assert.equal(answers.length, count);
  let refused = 0;
  let checked = 0;
  answers.forEach((answer, i) => {
    const schema = schemas[i];
    const told = `seed ${first + i}: ${JSON.stringify(schema)}`;
    if (!Array.isArray(answer)) {
      // A random schema can be too large or allow no text. The refusal is one sentence.
      refused += 1;
      assert.match(answer.error, /^(The (schema|pattern|rule) ?.*)\.$/, told);
      assert.doesNotMatch(answer.error, /walk/, told);
      return;
    }
    const ajv = new Ajv({ strict: false, allErrors: false, logger: false });
    addFormats(ajv);
    const validate = ajv.compile(schema);
    for (const text of answer) {
      let value;
      try { value = JSON.parse(text); } catch (error) { assert.fail(`${told}\n${text} is not JSON: ${error.message}`); }
      assert.ok(validate(value), `${told}\n${text}\n${JSON.stringify(validate.errors)}`);
      checked += 1;
    }
  });
  assert.ok(refused < count * 0.15, `${refused} of ${count} schemas were refused`);
  assert.ok(checked > count * 3);
});
