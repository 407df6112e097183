// Models that earlier loads kept in the browser's storage (OPFS): a folder with two files for each model, one with its bytes and one with a
// record about them. The Worker writes them; the page may list and remove them.

export type StoredModel = {
  readonly key: string;
  readonly url: string;
  readonly bytes: number;
  /** True if all bytes are stored; otherwise load() continues the download. */
  readonly complete: boolean;
};

export type StoredRecord = StoredModel & {
  /** The ETag or Last-Modified header. */
  readonly tag: string;
  /** The number of bytes that are certainly on the disk. */
  readonly flushed: number;
};

export const folderName = 'weft-models';
export const bytesName = (key: string): string => `${key}.gguf`;
export const recordName = (key: string): string => `${key}.json`;

/** Returns the folder, or null if this browser has no such storage (or the page came over plain http). */
export async function openFolder(): Promise<FileSystemDirectoryHandle | null> {
  try {
    const root = await navigator.storage.getDirectory();
    return await root.getDirectoryHandle(folderName, { create: true });
  } catch {
    return null;
  }
}

export async function readRecord(folder: FileSystemDirectoryHandle, key: string): Promise<StoredRecord | null> {
  try {
    const file = await (await folder.getFileHandle(recordName(key))).getFile();
    return JSON.parse(await file.text()) as StoredRecord;
  } catch {
    return null;  // The record is missing, or its writing was interrupted.
  }
}

export async function readRecords(folder: FileSystemDirectoryHandle): Promise<StoredRecord[]> {
  const records: StoredRecord[] = [];
  for await (const name of folder.keys()) {
    const record = name.endsWith('.json') ? await readRecord(folder, name.slice(0, -'.json'.length)) : null;
    if (record !== null) records.push(record);
  }
  return records;
}

export async function storedModels(): Promise<StoredModel[]> {
  const folder = await openFolder();
  if (folder === null) return [];
  return (await readRecords(folder)).map(({ key, url, bytes, complete }) => ({ key, url, bytes, complete }));
}

/** Removes a model. Rejects if a tab is using it. */
export async function removeStoredModel(key: string): Promise<void> {
  const folder = await openFolder();
  if (folder === null) return;
  for (const name of [bytesName(key), recordName(key)]) {
    await folder.removeEntry(name).catch((error: unknown) => {
      if (!(error instanceof DOMException && error.name === 'NotFoundError')) throw error;
    });
  }
}
