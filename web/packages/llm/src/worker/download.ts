// Downloads a model's file. It is streamed into the browser's storage (OPFS), where a later load finds it and an interrupted download
// continues; or into memory, if there is no such storage or the caller does not want it.
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { bytesName, openFolder, readRecord, readRecords, recordName, type StoredRecord } from '../stored.js';
import type { Progress } from '../types.js';
import type { ByteSource } from './module.js';
import { Refusal, sentence } from './refusal.js';
import { fromBytes, fromStored } from './sources.js';

export type Fetched = { readonly source: ByteSource; readonly origin: 'network' | 'cache' | 'memory'; close(): void };

export type FetchOptions = {
  readonly url: string;
  readonly cache: boolean;
  readonly sha256: string | null;
  readonly tell: (progress: Progress) => void;
  readonly signal: AbortSignal;
};

const chunkBytes = 4 << 20;
/** The number of bytes after which the file is flushed and the record is updated. */
const flushBytes = 64 << 20;

type Answer = { readonly response: Response; readonly bytes: number | null; readonly tag: string; readonly partial: boolean };

async function request(url: string, from: number, signal: AbortSignal): Promise<Answer> {
  let response: Response;
  try {
    response = await fetch(url, { signal, headers: from > 0 ? { range: `bytes=${from}-` } : {} });
  } catch (error) {
    signal.throwIfAborted();
    throw new Refusal('unavailable', `${url} cannot be reached: ${sentence(error)}.`);
  }
  if (!response.ok) {
    await response.body?.cancel();
    const code = response.status === 404 || response.status === 410 ? 'not_found' : response.status === 401 || response.status === 403 ? 'permission_denied' : 'unavailable';
    throw new Refusal(code, `${url} answered ${response.status}.`);
  }
  const { headers, status } = response;
  const partial = status === 206;
  // The length of a compressed response is not the length of the file.
  const plain = (headers.get('content-encoding') ?? 'identity') === 'identity';
  const length = plain && headers.has('content-length') ? Number(headers.get('content-length')) : null;
  const bytes = length === null ? null : length + (partial ? from : 0);
  return { response, bytes, tag: headers.get('etag') ?? headers.get('last-modified') ?? '', partial };
}

/** Yields the body in pieces of up to `chunkBytes` bytes; a piece is valid until the next one is requested. */
async function* pieces(response: Response, url: string, signal: AbortSignal): AsyncGenerator<Uint8Array, void, void> {
  if (response.body === null) return;
  const broken = (error: unknown): Refusal => new Refusal('unavailable', `The download of ${url} broke off: ${sentence(error)}.`);
  let byob: ReadableStreamBYOBReader | null = null;
  try {
    byob = response.body.getReader({ mode: 'byob' });
  } catch {
    // The body is not a byte stream.
  }
  const reader = byob ?? response.body.getReader();
  const next = async (): Promise<ReadableStreamReadResult<Uint8Array<ArrayBuffer>>> => {
    try {
      return byob === null ? await (reader as ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>).read() : await byob.read(new Uint8Array(buffer));
    } catch (error) {
      signal.throwIfAborted();
      throw broken(error);
    }
  };
  let buffer = new ArrayBuffer(chunkBytes);
  try {
    for (;;) {
      const { done, value } = await next();
      if (done || value === undefined) return;
      yield value;
      if (byob !== null) buffer = value.buffer;
    }
  } finally {
    reader.cancel().catch(() => {});  // The rest of the body is not needed.
  }
}

async function keyOf(url: string, bytes: number, tag: string): Promise<string> {
  const text = new TextEncoder().encode(JSON.stringify([url, bytes, tag]));
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', text));
  return [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** A SHA-256 of bytes that arrive in pieces; the browser's own function needs all bytes at once. */
type Hash = ReturnType<typeof sha256.create>;

function checkHash(options: FetchOptions, hash: Hash | null): void {
  if (hash === null || options.sha256 === null) return;
  const found = bytesToHex(hash.digest());
  if (found !== options.sha256) throw new Refusal('data_loss', `${options.url} has the SHA-256 ${found} and not ${options.sha256}.`);
}

function checkSize(options: FetchOptions, expected: number | null, loaded: number): void {
  if (expected !== null && loaded !== expected) throw new Refusal('data_loss', `${options.url} has ${loaded} bytes and not the ${expected} that its server announced.`);
}

async function intoMemory(options: FetchOptions, { response, bytes }: Answer): Promise<Fetched> {
  const parts: Uint8Array[] = [];
  const hash = options.sha256 === null ? null : sha256.create();
  let loaded = 0;
  for await (const piece of pieces(response, options.url, options.signal)) {
    hash?.update(piece);
    parts.push(piece.slice());
    loaded += piece.length;
    options.tell({ phase: 'download', loaded, total: Math.max(bytes ?? 0, loaded) });
  }
  checkSize(options, bytes, loaded);
  checkHash(options, hash);
  return { source: fromBytes(parts), origin: 'network', close: () => {} };
}

async function writeRecord(folder: FileSystemDirectoryHandle, record: StoredRecord): Promise<void> {
  const access = await (await folder.getFileHandle(recordName(record.key), { create: true })).createSyncAccessHandle();
  try {
    access.truncate(0);
    access.write(new TextEncoder().encode(JSON.stringify(record)), { at: 0 });
    access.flush();
  } finally {
    access.close();
  }
}

async function stored(folder: FileSystemDirectoryHandle, { key, bytes }: StoredRecord, origin: 'network' | 'cache'): Promise<Fetched | null> {
  const source = await fromStored(await folder.getFileHandle(bytesName(key)));
  if (source.bytes === bytes) return { source, origin, close: () => source.close() };
  source.close();
  return null;
}

async function room(needed: number): Promise<void> {
  const { quota, usage } = await navigator.storage.estimate();
  if (quota === undefined || usage === undefined || needed <= quota - usage) return;
  throw new Refusal(
    'resource_exhausted',
    `The model takes ${needed} bytes more, and this browser has room for ${quota - usage} to keep; with cache: false it is held in memory instead.`,
  );
}

async function intoFolder(options: FetchOptions, folder: FileSystemDirectoryHandle, first: Answer, record: StoredRecord): Promise<void> {
  const handle = await folder.getFileHandle(bytesName(record.key), { create: true });
  const access = await handle.createSyncAccessHandle();
  let loaded = 0;
  try {
    let from = Math.min(record.flushed, access.getSize());
    await room(record.bytes - from);
    let answer = first;
    if (from > 0) {
      await first.response.body?.cancel();
      answer = await request(options.url, from, options.signal);
      // Starts again if the server sent the whole file, or a file that differs from the stored part.
      if (!answer.partial || answer.bytes !== record.bytes || answer.tag !== record.tag) from = 0;
      if (answer.partial && from === 0) {
        await answer.response.body?.cancel();
        answer = await request(options.url, 0, options.signal);
      }
    }
    access.truncate(from);
    loaded = from;
    const hash = options.sha256 === null ? null : sha256.create();
    if (hash !== null) {
      const kept = new Uint8Array(chunkBytes);
      for (let at = 0; at < from;) {
        const got = access.read(kept.subarray(0, Math.min(kept.length, from - at)), { at });
        hash.update(kept.subarray(0, got));
        at += got;
      }
    }
    let flushed = from;
    const keep = async (): Promise<void> => {
      access.flush();
      flushed = loaded;
      await writeRecord(folder, { ...record, flushed });
    };
    try {
      options.tell({ phase: 'download', loaded, total: record.bytes });
      for await (const piece of pieces(answer.response, options.url, options.signal)) {
        hash?.update(piece);
        access.write(piece, { at: loaded });
        loaded += piece.length;
        options.tell({ phase: 'download', loaded, total: record.bytes });
        if (loaded - flushed >= flushBytes) await keep();
      }
      checkSize(options, record.bytes, loaded);
      checkHash(options, hash);
    } catch (error) {
      // The next load continues from the bytes that have arrived, unless they are wrong.
      if (error instanceof Refusal && error.code === 'data_loss') loaded = 0;
      await keep();
      throw error;
    }
    access.flush();
    await writeRecord(folder, { ...record, flushed: loaded, complete: true });
  } catch (error) {
    if (error instanceof DOMException && error.name === 'QuotaExceededError')
      throw new Refusal('resource_exhausted', `The browser's storage is full after ${loaded} of ${record.bytes} bytes; with cache: false the model is held in memory instead.`);
    throw error;
  } finally {
    access.close();
  }
}

export async function fetchModel(options: FetchOptions): Promise<Fetched> {
  const folder = options.cache ? await openFolder() : null;
  let first: Answer;
  try {
    first = await request(options.url, 0, options.signal);
  } catch (error) {
    // A stored file is used without a check if there is no network.
    if (!(error instanceof Refusal && error.code === 'unavailable') || folder === null) throw error;
    const record = (await readRecords(folder)).find((one) => one.complete && one.url === options.url);
    const kept = record === undefined ? null : await stored(folder, record, 'cache');
    if (kept === null) throw error;
    options.tell({ phase: 'cache', loaded: kept.source.bytes, total: kept.source.bytes });
    return kept;
  }
  if (folder === null || first.bytes === null) return intoMemory(options, first);

  const bytes = first.bytes;
  const key = options.sha256 ?? (await keyOf(options.url, bytes, first.tag));
  // Waits for another tab that is downloading the same file, and then finds the file stored.
  return navigator.locks.request(`weft-model-${key}`, { signal: options.signal }, async () => {
    const known = await readRecord(folder, key);
    if (known !== null && known.complete && known.bytes === bytes) {
      const kept = await stored(folder, known, 'cache');
      if (kept !== null) {
        await first.response.body?.cancel();
        options.tell({ phase: 'cache', loaded: bytes, total: bytes });
        return kept;
      }
    }
    const same = known !== null && !known.complete && known.bytes === bytes && known.tag === first.tag;
    await intoFolder(options, folder, first, { key, url: options.url, bytes, complete: false, tag: first.tag, flushed: same ? known.flushed : 0 });
    const fetched = await stored(folder, { key, url: options.url, bytes, complete: true, tag: first.tag, flushed: bytes }, 'network');
    if (fetched === null) throw new Refusal('data_loss', `The stored copy of ${options.url} does not have its ${bytes} bytes.`);
    return fetched;
  });
}
