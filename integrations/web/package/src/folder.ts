import { GoneError } from "./engine.js";
import { TdbError } from "./errors.js";
import { isSafe, Tree } from "./tree.js";
import type { Entry, Source } from "./types.js";

/**
 * A folder that the user has chosen or dropped: a directory handle, a directory entry, or the files
 * of an input with `webkitdirectory`.
 */
export function folderSource(folder: FileSystemDirectoryHandle | Iterable<File> | FileSystemDirectoryEntry): Source {
  if (Symbol.iterator in folder) return new FileList(folder);
  return "getFileHandle" in folder ? new HandleSource(folder) : new EntrySource(folder);
}

async function bytesOf(name: string, file: File, start: number, end: number): Promise<Uint8Array> {
  try {
    return new Uint8Array(await file.slice(start, end).arrayBuffer());
  } catch (cause) {
    const hint = "choose the folder again; the file has changed since";
    throw new TdbError("unavailable", `${name}: cannot read the file`, { path: name, cause, hint });
  }
}

function isNotFound(error: unknown): boolean {
  return error instanceof Error && ["NotFoundError", "TypeMismatchError"].includes(error.name);
}

/** Files with paths, such as those of an input. */
class FileList implements Source {
  readonly name: string;
  private readonly tree = new Tree();
  private readonly files = new Map<string, File>();

  constructor(files: Iterable<File>) {
    let root: string | undefined;
    for (const file of files) {
      const [first = "", ...inner] = (file.webkitRelativePath || file.name).split("/");
      root ??= inner.length > 0 ? first : undefined;
      const path = inner.length > 0 ? inner.join("/") : first;
      if (!isSafe(path)) continue;
      this.files.set(path, file);
      this.tree.addFile(path, file.size);
    }
    this.name = root ?? "files";
  }

  async list(folder: string): Promise<Entry[]> {
    return this.tree.list(folder);
  }

  async read(path: string, start: number, end: number): Promise<Uint8Array> {
    const file = this.files.get(path);
    if (file === undefined) throw new GoneError(path);
    return bytesOf(`${this.name}/${path}`, file, start, end);
  }
}

/** A folder whose files are found on demand. */
abstract class LazySource implements Source {
  abstract readonly name: string;
  private readonly files = new Map<string, Promise<File>>();

  abstract list(folder: string): Promise<Entry[]>;
  protected abstract open(path: string): Promise<File>;

  /** Returns the file at a path. */
  protected file(path: string): Promise<File> {
    let file = this.files.get(path);
    if (file === undefined) {
      file = this.open(path);
      this.files.set(path, file);
      file.catch(() => this.files.delete(path));
    }
    return file;
  }

  async read(path: string, start: number, end: number): Promise<Uint8Array> {
    let file: File;
    try {
      file = await this.file(path);
    } catch (error) {
      if (isNotFound(error)) throw new GoneError(path);
      throw error;
    }
    return bytesOf(`${this.name}/${path}`, file, start, end);
  }
}

class HandleSource extends LazySource {
  readonly name: string;
  private readonly root: FileSystemDirectoryHandle;

  constructor(root: FileSystemDirectoryHandle) {
    super();
    this.root = root;
    this.name = root.name || "folder";
  }

  private async folder(path: string): Promise<FileSystemDirectoryHandle> {
    let folder = this.root;
    for (const name of path.split("/")) if (name !== "") folder = await folder.getDirectoryHandle(name);
    return folder;
  }

  protected async open(path: string): Promise<File> {
    const place = path.lastIndexOf("/");
    const folder = await this.folder(path.slice(0, Math.max(place, 0)));
    return (await folder.getFileHandle(path.slice(place + 1))).getFile();
  }

  async list(folder: string): Promise<Entry[]> {
    let handles: FileSystemHandle[];
    try {
      const entries = (await this.folder(folder)) as FileSystemDirectoryHandle & AsyncIterable<[string, FileSystemHandle]>;
      handles = [];
      for await (const [, handle] of entries) handles.push(handle);
    } catch (error) {
      if (isNotFound(error)) throw new GoneError(folder);
      throw error;
    }
    const entry = async (handle: FileSystemHandle): Promise<Entry> => {
      if (handle.kind === "directory") return { name: handle.name, kind: "folder" };
      const path = folder === "" ? handle.name : `${folder}/${handle.name}`;
      return { name: handle.name, kind: "file", size: (await this.file(path)).size };
    };
    return Promise.all(handles.map(entry));
  }
}

/** A dropped folder, in browsers without handles. */
class EntrySource extends LazySource {
  readonly name: string;
  private readonly root: FileSystemDirectoryEntry;

  constructor(root: FileSystemDirectoryEntry) {
    super();
    this.root = root;
    this.name = root.name || "folder";
  }

  private folder(path: string): Promise<FileSystemDirectoryEntry> {
    if (path === "") return Promise.resolve(this.root);
    return new Promise((resolve, reject) =>
      this.root.getDirectory(path, {}, (found) => resolve(found as FileSystemDirectoryEntry), reject),
    );
  }

  protected open(path: string): Promise<File> {
    return new Promise((resolve, reject) =>
      this.root.getFile(path, {}, (found) => (found as FileSystemFileEntry).file(resolve, reject), reject),
    );
  }

  async list(folder: string): Promise<Entry[]> {
    const found: FileSystemEntry[] = [];
    try {
      const reader = (await this.folder(folder)).createReader();
      // A reader returns entries in groups, and an empty group at the end.
      for (;;) {
        const group = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
        if (group.length === 0) break;
        found.push(...group);
      }
    } catch (error) {
      if (isNotFound(error)) throw new GoneError(folder);
      throw error;
    }
    const entry = async ({ name, isDirectory }: FileSystemEntry): Promise<Entry> => {
      if (isDirectory) return { name, kind: "folder" };
      const path = folder === "" ? name : `${folder}/${name}`;
      return { name, kind: "file", size: (await this.file(path)).size };
    };
    return Promise.all(found.map(entry));
  }
}
