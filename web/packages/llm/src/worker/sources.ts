// Files that a Worker reads synchronously, so that weights are copied to the device piece by piece.
import type { ByteSource } from './module.js';

export function fromBytes(parts: readonly Uint8Array[]): ByteSource {
  const starts: number[] = [];
  let bytes = 0;
  for (const part of parts) {
    starts.push(bytes);
    bytes += part.length;
  }
  return {
    bytes,
    read(offset, into) {
      // Finds the last part that begins at or before the offset.
      let low = 0;
      let high = starts.length - 1;
      while (low < high) {
        const middle = Math.ceil((low + high) / 2);
        if ((starts[middle] ?? 0) <= offset) low = middle;
        else high = middle - 1;
      }
      for (let filled = 0; filled < into.length; low += 1) {
        const part = parts[low];
        if (part === undefined) throw new Error('The range lies past the end.');
        const from = offset + filled - (starts[low] ?? 0);
        const piece = part.subarray(from, from + into.length - filled);
        into.set(piece, filled);
        filled += piece.length;
      }
    },
  };
}

/** Reads a Blob. A file on the disk may change or be deleted while the page uses it; reading then throws. */
export function fromBlob(blob: Blob): ByteSource {
  const reader = new FileReaderSync();
  return {
    bytes: blob.size,
    read(offset, into) {
      into.set(new Uint8Array(reader.readAsArrayBuffer(blob.slice(offset, offset + into.length))));
    },
  };
}

/** `close` unlocks the file for other tabs. */
export type StoredSource = ByteSource & { close(): void };

/**
 * Opens a file in OPFS. Several tabs can read it if the browser supports shared access; otherwise all tabs but the first read it more
 * slowly.
 */
export async function fromStored(handle: FileSystemFileHandle): Promise<StoredSource> {
  let access: FileSystemSyncAccessHandle;
  try {
    // TypeScript's library does not have `mode` yet; browsers that do not know it ignore it.
    const open = handle.createSyncAccessHandle.bind(handle) as (options: { mode: 'read-only' }) => Promise<FileSystemSyncAccessHandle>;
    access = await open({ mode: 'read-only' });
  } catch {
    return { ...fromBlob(await handle.getFile()), close: () => {} };
  }
  return {
    bytes: access.getSize(),
    read(offset, into) {
      for (let filled = 0; filled < into.length;) {
        const got = access.read(into.subarray(filled), { at: offset + filled });
        if (got === 0) throw new Error('The stored file is shorter than it was.');
        filled += got;
      }
    },
    close: () => access.close(),
  };
}

/** Returns a source that calls `tell` with the number of bytes read, at most every `step` bytes, and at `total`. */
export function counted(source: ByteSource, total: number, tell: (loaded: number) => void, step = 4 << 20): ByteSource {
  let loaded = 0;
  let told = 0;
  return {
    bytes: source.bytes,
    read(offset, into) {
      source.read(offset, into);
      loaded = Math.min(total, loaded + into.length);
      if (loaded - told < step && loaded < total) return;
      told = loaded;
      tell(loaded);
    },
  };
}
