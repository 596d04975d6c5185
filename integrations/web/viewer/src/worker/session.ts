/** Opened sources and arrays. */

import type { Group, OpenOptions, Source, TileArray } from "tdb-array";
import { folderSource, httpSource, objectType, openArray, openGroup, s3Source, TdbError } from "tdb-array";
import type { Child, ObjectType, OpenSource, Ref } from "../protocol";

interface Opened {
  source: Source;
  key: Uint8Array | null;
}

const sources = new Map<number, Opened>();
let nextSource = 1;

/** Arrays in the order of their last use. The oldest are closed. */
const arrays = new Map<string, Promise<TileArray>>();
const MAX_ARRAYS = 8;

export type Listener = NonNullable<OpenOptions["onProgress"]>;

export interface Job {
  signal: AbortSignal;
  onProgress: Listener;
}

function toSource(open: OpenSource): Source {
  switch (open.kind) {
    case "http":
      return httpSource(open.url);
    case "s3":
      return s3Source(open.endpoint, open.bucket, open.prefix);
    case "handle":
      return folderSource(open.handle);
    case "files":
      return folderSource(open.files.map(({ path, file }) => withPath(file, path)));
  }
}

/** Restores the path of a file. Messages to workers drop it. */
function withPath(file: File, path: string): File {
  Object.defineProperty(file, "webkitRelativePath", { value: path });
  return file;
}

export function openSource(open: OpenSource): { id: number; name: string } {
  const source = toSource(open);
  const id = nextSource++;
  sources.set(id, { source, key: null });
  return { id, name: source.name };
}

export function closeSource(id: number): void {
  forgetArrays(id);
  sources.delete(id);
}

export function setKey(id: number, key: Uint8Array | null): void {
  forgetArrays(id);
  opened(id).key = key;
}

function forgetArrays(id: number): void {
  for (const [name, array] of arrays) {
    if (name.startsWith(`${id}\n`)) {
      arrays.delete(name);
      close(array);
    }
  }
}

function opened(id: number): Opened {
  const found = sources.get(id);
  if (!found) {
    throw new Error("the source was closed; open it again");
  }
  return found;
}

function options(ref: Ref, job: Job): OpenOptions & { path?: string } {
  const { key } = opened(ref.source);
  return {
    ...(ref.path && { path: ref.path }),
    ...(ref.at !== null && { at: ref.at }),
    ...(key && { key }),
    signal: job.signal,
    onProgress: job.onProgress,
  };
}

/** Returns an open array. Several calls share it. */
export async function arrayOf(ref: Ref, job: Job): Promise<TileArray> {
  try {
    return await sharedArray(ref, job);
  } catch (error) {
    // Another call may have started to open the array, and then been cancelled.
    if (error instanceof TdbError && error.category === "cancelled" && !job.signal.aborted) {
      return sharedArray(ref, job);
    }
    throw error;
  }
}

function sharedArray(ref: Ref, job: Job): Promise<TileArray> {
  const name = `${ref.source}\n${ref.at}\n${ref.path}`;
  const found = arrays.get(name);
  if (found) {
    arrays.delete(name);
    arrays.set(name, found);
    return found;
  }
  const array = openShared(ref, job);
  arrays.set(name, array);
  array.catch(() => arrays.delete(name));
  for (const [oldest, array] of arrays) {
    if (arrays.size <= MAX_ARRAYS) {
      break;
    }
    arrays.delete(oldest);
    close(array);
  }
  return array;
}

/** Opens an array. The package keeps the signal for later calls, so the job may abort only the opening. */
async function openShared(ref: Ref, job: Job): Promise<TileArray> {
  const controller = new AbortController();
  const abort = () => controller.abort();
  job.signal.addEventListener("abort", abort);
  let isOpen = false;
  const shared: Job = {
    signal: controller.signal,
    onProgress: (progress) => {
      if (!isOpen) {
        job.onProgress(progress);
      }
    },
  };
  try {
    return await openArray(opened(ref.source).source, options(ref, shared));
  } finally {
    isOpen = true;
    job.signal.removeEventListener("abort", abort);
  }
}

function close(array: Promise<TileArray>): void {
  array.then((array) => array.close()).catch(() => {});
}

export async function typeOf(ref: Ref): Promise<ObjectType> {
  const { source } = opened(ref.source);
  const type = await objectType(source, ref.path);
  return type ?? "folder";
}

export async function groupOf(ref: Ref, job: Job): Promise<{ children: Child[]; metadata: Group["metadata"] }> {
  const group = await openGroup(opened(ref.source).source, options(ref, job));
  try {
    const children = group.members.map((member): Child => {
      const name = member.name ?? member.uri.split("/").filter(Boolean).pop() ?? member.uri;
      return { name, type: member.type ?? "folder", path: member.path && join(ref.path, member.path), uri: member.uri };
    });
    return { children: sorted(children), metadata: group.metadata };
  } finally {
    group.close();
  }
}

function join(folder: string, path: string): string {
  return folder ? `${folder}/${path}` : path;
}

/** Subfolders whose type is read at once. A type takes requests. */
const MAX_TYPES = 2000;

/**
 * Lists arrays, groups and folders of a folder that is neither.
 *
 * Further arrays and groups count as folders until they are opened.
 */
export async function folderOf(ref: Ref): Promise<Child[]> {
  const { source } = opened(ref.source);
  const entries = await source.list(ref.path);
  const folders = entries.filter((entry) => entry.kind === "folder" && !entry.name.startsWith("__"));
  const children = sorted(folders).map(async ({ name }, index): Promise<Child> => {
    const path = join(ref.path, name);
    const type = index < MAX_TYPES ? await objectType(source, path) : null;
    return { name, path, type: type ?? "folder", uri: path };
  });
  return Promise.all(children);
}

function sorted<T extends { name: string }>(list: T[]): T[] {
  const collator = new Intl.Collator("en", { numeric: true });
  return list.sort((a, b) => collator.compare(a.name, b.name));
}
