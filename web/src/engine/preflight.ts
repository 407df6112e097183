// Finds out the features of this browser before anything is loaded: the page shows them, and the Start button depends on them.

export type GpuOffer =
  | { readonly state: 'ready'; readonly name: string; readonly software: boolean }
  /** WebGPU is missing or gives no adapter; the CPU kernels are used. */
  | { readonly state: 'none'; readonly why: string };

export type Preflight = {
  /** The features, in words, without which this tab cannot join; empty if it can join. */
  readonly missing: readonly string[];
  /** True if features are missing because the page came over plain http from another machine. */
  readonly insecure: boolean;
  readonly gpu: GpuOffer;
};

/** The parts of the browser that are examined, so that a test can leave some out. */
export type Surroundings = {
  readonly isSecureContext: boolean;
  readonly gpu: GpuEntry | undefined;
  readonly subtle: SubtleCrypto | undefined;
  readonly indexedDB: unknown;
  readonly WebAssembly: unknown;
};

type AdapterInfo = { readonly vendor?: string; readonly architecture?: string; readonly device?: string; readonly description?: string; readonly isFallbackAdapter?: boolean };
type Adapter = { readonly info?: AdapterInfo };
export type GpuEntry = { requestAdapter(options?: { powerPreference: 'high-performance' }): Promise<Adapter | null> };

export function surroundings(): Surroundings {
  const { gpu } = navigator as Navigator & { gpu?: GpuEntry };
  return {
    isSecureContext: globalThis.isSecureContext,
    gpu,
    // The type says that `subtle` always exists, but it is absent from pages that are not secure contexts.
    subtle: (globalThis.crypto as Crypto | undefined)?.subtle as SubtleCrypto | undefined,
    indexedDB: (globalThis as { indexedDB?: unknown }).indexedDB,
    WebAssembly: (globalThis as { WebAssembly?: unknown }).WebAssembly,
  };
}

async function lookForGpu(gpu: GpuEntry | undefined): Promise<GpuOffer> {
  if (gpu === undefined) return { state: 'none', why: 'This browser has no WebGPU.' };
  let adapter: Adapter | null;
  try {
    adapter = await gpu.requestAdapter({ powerPreference: 'high-performance' });
  } catch (error) {
    return { state: 'none', why: `WebGPU is there but failed: ${error instanceof Error ? error.message : String(error)}` };
  }
  if (adapter === null) return { state: 'none', why: 'WebGPU is there, but it offers no adapter on this machine.' };
  const info = adapter.info ?? {};
  return { state: 'ready', name: adapterName(info), software: info.isFallbackAdapter === true || /swiftshader|llvmpipe|lavapipe/i.test(`${info.architecture} ${info.description}`) };
}

/** Returns the name of an adapter from the parts that the browser reveals. */
export function adapterName(info: { readonly vendor?: string; readonly architecture?: string; readonly description?: string }): string {
  if (info.description) return info.description;
  const words = [info.vendor, info.architecture].filter((word): word is string => Boolean(word));
  return words.length > 0 ? words.join(' ') : 'an unnamed adapter';
}

async function hasEd25519(subtle: SubtleCrypto): Promise<boolean> {
  try {
    await subtle.generateKey('Ed25519', false, ['sign', 'verify']);
    return true;
  } catch {
    return false;
  }
}

export async function preflight(around: Surroundings = surroundings()): Promise<Preflight> {
  const missing: string[] = [];
  if (around.WebAssembly === undefined) missing.push('WebAssembly, which the engine is built to');
  if (around.subtle === undefined) missing.push("WebCrypto, which makes and keeps this worker's key");
  else if (!(await hasEd25519(around.subtle))) missing.push('Ed25519 in WebCrypto, which this worker signs its results with');
  if (around.indexedDB === undefined) missing.push("IndexedDB, which this worker's key is kept in");
  const insecure = !around.isSecureContext;
  if (insecure && around.gpu === undefined) missing.push('WebGPU, which runs the work');
  return { missing, insecure, gpu: await lookForGpu(around.gpu) };
}
