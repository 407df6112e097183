// Tests that any text after the # gives a program within all limits, or one sentence, because a link may come from a stranger.
import { describe, expect, it } from 'vitest';
import { randomNumbers } from './data';
import { examples } from './examples';
import { problemsOf, toManifest, type Program } from './program';
import { fromFragment, LinkError, linkCharactersMax, readProgram, toFragment, withOwnTerms } from './share';

async function fragmentOf(value: unknown): Promise<string> {
  return toFragment(value as Program);
}

describe('links', () => {
  it.each(examples.map(({ title, program }) => [title, program] as const))('carry %s whole, in less than 6,000 characters', async (_, program) => {
    const fragment = await toFragment(program);

    expect(fragment.length).toBeLessThan(6000);
    expect(fragment).toMatch(/^p1=[A-Za-z0-9_-]+$/);
    expect(await fromFragment(`#${fragment}`)).toEqual(program);
  });

  it('say nothing about what a job may cost', () => {
    const [{ program }] = examples as [(typeof examples)[number]];
    const terms = withOwnTerms({ ...program, budget: 1e9, verify: { ...program.verify, replicas: 7 } });
    expect([terms.budget, terms.verify.replicas]).toEqual([100, 2]);
    expect(terms.wgsl).toBe(program.wgsl);
  });

  it('are ignored without their mark', async () => {
    expect(await fromFragment('')).toBeNull();
    expect(await fromFragment('#somewhere')).toBeNull();
  });

  it('refuse a program that is too large for one', async () => {
    const random = randomNumbers(1);
    const noise = Array.from({ length: 60_000 }, () => String.fromCharCode(33 + Math.floor(random() * 90))).join('');

    await expect(toFragment({ ...first(), wgsl: noise })).rejects.toThrow('too large for a link');
  });

  it('are bounded before they are unpacked, and while', async () => {
    await expect(fromFragment(`#p1=${'A'.repeat(linkCharactersMax + 1)}`)).rejects.toThrow('longer than');
    // Five million spaces are compressed to a few thousand characters.
    const packed = await deflated(' '.repeat(5_000_000));
    expect(packed.length).toBeLessThan(linkCharactersMax);
    await expect(fromFragment(`#p1=${packed}`)).rejects.toThrow('unpacks to more');
  });

  it('carry nothing that the program does not name', async () => {
    const extra = JSON.parse(`{"__proto__": {"polluted": true}, "intruder": "<img>", ${JSON.stringify(first()).slice(1)}`) as unknown;

    const read = await fromFragment(`#${await fragmentOf(extra)}`);

    expect(read).toEqual(first());
    expect(Object.keys(read ?? {})).not.toContain('intruder');
    expect('polluted' in (read ?? {})).toBe(false);
  });

  it.each([
    ['no object', 7],
    ['a list', []],
    ['no steps', { ...first(), steps: [] }],
    ['an unknown role', withBinding({ role: 'texture' })],
    ['a shape of zero', withBinding({ shape: [0] })],
    ['a shape of five dimensions', withBinding({ shape: [1, 1, 1, 1, 1] })],
    ['an unknown kind of fill', withBinding({ fill: { kind: 'url', url: 'http://localhost' } })],
    ['bytes that are no base64', withBinding({ fill: { kind: 'bytes', base64: '"><', name: '' } })],
    ['too many tasks', { ...first(), split: { tasks: 65537, axis: 'x' } }],
    ['seventeen bindings', { ...first(), bindings: Array.from({ length: 17 }, () => first().bindings[0]) }],
    ['a dispatch that is too wide', { ...first(), steps: [{ entry: 'main', dispatch: [65536, 1, 1] }] }],
    ['a name that is a number', { ...first(), name: 4 }],
    ['a budget below nothing', { ...first(), budget: -1 }],
  ])('refuse %s in one sentence', async (_, value) => {
    const refused = fromFragment(`#${await fragmentOf(value)}`);

    await expect(refused).rejects.toThrow(LinkError);
    await expect(refused).rejects.toThrow(/^The link.*\.$/);
  });

  it('are never anything but a program or a sentence, whatever is done to them (seed 20)', async () => {
    const random = randomNumbers(20);
    const pick = (count: number) => Math.floor(random() * count);
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_%#= \u{1f600}';
    const whole = await toFragment(first());
    let read = 0;
    for (let round = 0; round < 1500; round += 1) {
      const characters = [...(round % 3 === 0 ? 'p1=' : whole)];
      for (let change = 0; change <= pick(6); change += 1) {
        const at = 3 + pick(Math.max(1, characters.length - 3));
        const letter = [...alphabet][pick([...alphabet].length)] ?? 'A';
        characters.splice(at, pick(3), ...Array.from({ length: pick(round % 3 === 0 ? 80 : 3) }, () => letter));
      }
      const found = await fromFragment(`#${characters.join('')}`).catch((error: unknown) => {
        expect(error, `round ${round}`).toBeInstanceOf(LinkError);
        return null;
      });
      if (found !== null) {
        read += 1;
        expect(readProgram(found), `round ${round}`).toEqual(found);
      }
    }
    expect(read).toBeLessThan(1500);
  });

  it('never break the form or the manifest with values that keep the types but nothing else (seed 21)', async () => {
    const random = randomNumbers(21);
    const odd: readonly unknown[] = [null, true, -1, 0, 0.5, 1e308, 2 ** 53, '', 'main', 'numbers', 'a\u0000b', [], [1], {}, [[]], { kind: 'zeros' }];
    const mutate = (value: unknown, depth: number): unknown => {
      if (random() < 0.08) return odd[Math.floor(random() * odd.length)];
      if (Array.isArray(value)) return value.map((one) => mutate(one, depth + 1));
      if (typeof value === 'object' && value !== null) return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, mutate(one, depth + 1)]));
      return value;
    };
    let accepted = 0;
    for (let round = 0; round < 600; round += 1) {
      const value = mutate(examples[round % examples.length]?.program, 0);
      let program: Program;
      try {
        program = readProgram(value);
      } catch (error) {
        expect(error, `round ${round}`).toBeInstanceOf(LinkError);
        continue;
      }
      accepted += 1;
      if (problemsOf(program).length === 0) JSON.parse(toManifest(program));
    }
    expect(accepted).toBeGreaterThan(0);
  });
});

function first(): Program {
  return examples[0]?.program as Program;
}
function withBinding(change: object): unknown {
  return { ...first(), bindings: [{ ...first().bindings[0], ...change }] };
}
async function deflated(text: string): Promise<string> {
  const packed = await new Response(new Blob([text]).stream().pipeThrough(new CompressionStream('deflate-raw'))).arrayBuffer();
  return btoa(Array.from(new Uint8Array(packed), (byte) => String.fromCharCode(byte)).join('')).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}
