import type { Dirent } from "node:fs";
import { open, readdir, stat } from "node:fs/promises";
import { join } from "node:path";

import { GoneError } from "./engine.js";
import { TdbError } from "./errors.js";
import type { Entry, Source } from "./types.js";

/** A folder of the local disk, in Node. */
export function nodeSource(path: string): Source {
  return new NodeSource(path);
}

/** Listings of a folder whose files disappear meanwhile. */
const ATTEMPTS = 10;

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? "";
}

function isNotFound(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR"].includes(codeOf(error));
}

class NodeSource implements Source {
  readonly name: string;

  constructor(path: string) {
    this.name = path;
  }

  private failed(path: string, cause: unknown): Error {
    if (isNotFound(cause)) return new GoneError(path);
    const name = join(this.name, path);
    return new TdbError("unavailable", `${name}: ${(cause as Error).message}`, { path: name, cause });
  }

  async list(folder: string): Promise<Entry[]> {
    const whole = join(this.name, folder);
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const entries = await this.listed(folder, whole);
      if (entries !== null) return entries;
    }
    const hint = "read again when no program deletes files there";
    throw new TdbError("unavailable", `${whole}: files disappear while the folder is listed`, { path: whole, hint });
  }

  /** Lists a folder. Returns `null` if a file disappears meanwhile. */
  private async listed(folder: string, whole: string): Promise<Entry[] | null> {
    let found;
    try {
      found = await readdir(whole, { withFileTypes: true });
    } catch (cause) {
      throw this.failed(folder, cause);
    }
    const entry = async (item: Dirent): Promise<Entry[] | null> => {
      const { name } = item;
      try {
        const target = await stat(join(whole, name));
        if (target.isDirectory()) return [{ name, kind: "folder" }];
        return target.isFile() ? [{ name, kind: "file", size: target.size }] : [];
      } catch (cause) {
        // A link without target is no entry.
        if (item.isSymbolicLink() && (isNotFound(cause) || codeOf(cause) === "ELOOP")) return [];
        if (isNotFound(cause)) return null;
        throw this.failed(folder === "" ? name : `${folder}/${name}`, cause);
      }
    };
    const entries = await Promise.all(found.map(entry));
    return entries.every((list) => list !== null) ? entries.flat() : null;
  }

  async read(path: string, start: number, end: number): Promise<Uint8Array> {
    let file;
    try {
      file = await open(join(this.name, path));
      const bytes = new Uint8Array(end - start);
      let length = 0;
      while (length < bytes.length) {
        const { bytesRead } = await file.read(bytes, length, bytes.length - length, start + length);
        if (bytesRead === 0) break;
        length += bytesRead;
      }
      return bytes.subarray(0, length);
    } catch (cause) {
      throw this.failed(path, cause);
    } finally {
      await file?.close();
    }
  }
}
