import { open, readdir, stat } from "node:fs/promises";
import { join } from "node:path";

import { GoneError } from "./engine.js";
import { TdbError } from "./errors.js";
import type { Entry, Source } from "./types.js";

/** A folder of the local disk, in Node. */
export function nodeSource(path: string): Source {
  return new NodeSource(path);
}

function isNotFound(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "");
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
    try {
      const names = await readdir(whole);
      const entry = async (name: string): Promise<Entry[]> => {
        const found = await stat(join(whole, name));
        if (found.isDirectory()) return [{ name, kind: "folder" }];
        return found.isFile() ? [{ name, kind: "file", size: found.size }] : [];
      };
      return (await Promise.all(names.map(entry))).flat();
    } catch (cause) {
      throw this.failed(folder, cause);
    }
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
