// Tests that missing features of a browser are named, and that the page joins with the features that it has.
import { describe, expect, it } from 'vitest';
import { preflight, type Surroundings } from './preflight';

const subtle = { generateKey: async () => ({}) } as unknown as SubtleCrypto;
const oldSubtle = { generateKey: async () => Promise.reject(new Error('unknown algorithm')) } as unknown as SubtleCrypto;
const adapter = { info: { vendor: 'nvidia', architecture: 'ada', description: '' } };
const whole: Surroundings = { isSecureContext: true, gpu: { requestAdapter: async () => adapter }, subtle, indexedDB: {}, WebAssembly: {} };

describe('preflight', () => {
  it('finds nothing missing in a browser that has everything', async () => {
    expect(await preflight(whole)).toEqual({ missing: [], insecure: false, gpu: { state: 'ready', name: 'nvidia ada', software: false } });
  });

  it('does without WebGPU, saying why', async () => {
    const none = await preflight({ ...whole, gpu: undefined });
    const noAdapter = await preflight({ ...whole, gpu: { requestAdapter: async () => null } });
    const broken = await preflight({ ...whole, gpu: { requestAdapter: () => Promise.reject(new Error('driver is gone')) } });

    expect(none).toEqual({ missing: [], insecure: false, gpu: { state: 'none', why: 'This browser has no WebGPU.' } });
    expect(noAdapter.gpu).toMatchObject({ state: 'none', why: expect.stringContaining('no adapter') });
    expect(broken.gpu).toMatchObject({ state: 'none', why: expect.stringContaining('driver is gone') });
  });

  it('knows an adapter that computes in software', async () => {
    const software = { info: { vendor: 'google', architecture: 'swiftshader', description: '' } };

    expect((await preflight({ ...whole, gpu: { requestAdapter: async () => software } })).gpu).toMatchObject({ software: true });
  });

  it.each([
    ['WebAssembly', { WebAssembly: undefined }],
    ['WebCrypto', { subtle: undefined }],
    ['Ed25519', { subtle: oldSubtle }],
    ['IndexedDB', { indexedDB: undefined }],
  ])('cannot join without %s', async (name, without) => {
    const found = await preflight({ ...whole, ...without });

    expect(found.missing).toHaveLength(1);
    expect(found.missing[0]).toContain(name);
  });

  it('counts WebGPU as missing where TLS would bring it', async () => {
    const found = await preflight({ ...whole, isSecureContext: false, gpu: undefined, subtle: undefined });

    expect(found.insecure).toBe(true);
    expect(found.missing.join()).toMatch(/WebCrypto.*WebGPU/);
  });
});
