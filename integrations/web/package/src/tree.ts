import { GoneError } from "./engine.js";
import type { Entry } from "./types.js";

/** The folders of a source whose files are all known. */
export class Tree {
  private readonly folders = new Map<string, Map<string, Entry>>([["", new Map()]]);

  /** Adds a folder with its parents. */
  addFolder(path: string): Map<string, Entry> {
    const known = this.folders.get(path);
    if (known !== undefined) return known;
    const [parent, name] = split(path);
    this.addFolder(parent).set(name, { name, kind: "folder" });
    const entries = new Map<string, Entry>();
    this.folders.set(path, entries);
    return entries;
  }

  addFile(path: string, size: number): void {
    const [parent, name] = split(path);
    this.addFolder(parent).set(name, { name, kind: "file", size });
  }

  /** Returns `true` if no folder above a path is a file. */
  canHold(path: string): boolean {
    const [parent] = split(path);
    return this.folders.has(parent) || (this.size(parent) === undefined && this.canHold(parent));
  }

  list(folder: string): Entry[] {
    const entries = this.folders.get(folder);
    if (entries === undefined) throw new GoneError(folder);
    return [...entries.values()];
  }

  size(path: string): number | undefined {
    const [parent, name] = split(path);
    return this.folders.get(parent)?.get(name)?.size;
  }
}

function split(path: string): [parent: string, name: string] {
  const place = path.lastIndexOf("/");
  return [path.slice(0, Math.max(place, 0)), path.slice(place + 1)];
}

/** Returns `true` if a path from elsewhere stays below the root. */
export function isSafe(path: string): boolean {
  return path.split("/").every((part) => part !== "" && part !== "." && part !== "..");
}
