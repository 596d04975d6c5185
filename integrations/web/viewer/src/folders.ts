/** Folders that a person drops or chooses. */

import type { OpenSource } from "./protocol";

declare global {
  interface Window {
    showDirectoryPicker?(options?: { mode?: "read" }): Promise<FileSystemDirectoryHandle>;
  }
  interface DataTransferItem {
    getAsFileSystemHandle?(): Promise<FileSystemHandle | null>;
  }
}

/** Files of a folder without handles are listed at once. A larger folder needs a server. */
const MAX_FILES = 200_000;

export const hasPicker = typeof window !== "undefined" && typeof window.showDirectoryPicker === "function";

export async function pickFolder(): Promise<OpenSource> {
  const handle = await window.showDirectoryPicker!({ mode: "read" });
  return { kind: "handle", name: handle.name, handle };
}

/** Returns the folder of an `<input webkitdirectory>`. */
export function chosenFolder(files: FileList): OpenSource {
  const list = Array.from(files, (file) => ({ path: file.webkitRelativePath || file.name, file }));
  const name = list[0]?.path.split("/")[0];
  if (!name) {
    throw new Error("the folder is empty; choose the folder of an array or group");
  }
  return { kind: "files", name, files: list };
}

/** Returns the folder of a drop. Must be called before the event handler returns. */
export async function droppedFolder(data: DataTransfer): Promise<OpenSource> {
  const items = Array.from(data.items).filter((item) => item.kind === "file");
  const [item] = items;
  if (!item || items.length > 1) {
    throw new Error("drop one folder: that of an array, or of a group");
  }
  const entry = item.webkitGetAsEntry?.() ?? null;
  const handle = await item.getAsFileSystemHandle?.();
  if (handle?.kind === "directory") {
    return { kind: "handle", name: handle.name, handle: handle as FileSystemDirectoryHandle };
  }
  if (!entry?.isDirectory) {
    throw new Error("a file was dropped; drop the folder of an array, or of a group");
  }
  const files: { path: string; file: File }[] = [];
  await walk(entry as FileSystemDirectoryEntry, entry.name, files);
  return { kind: "files", name: entry.name, files };
}

async function walk(
  folder: FileSystemDirectoryEntry,
  path: string,
  files: { path: string; file: File }[],
): Promise<void> {
  const reader = folder.createReader();
  for (;;) {
    const entries = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (entries.length === 0) {
      return;
    }
    for (const entry of entries) {
      const inner = `${path}/${entry.name}`;
      if (entry.isDirectory) {
        await walk(entry as FileSystemDirectoryEntry, inner, files);
      } else {
        const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
        files.push({ path: inner, file });
        if (files.length > MAX_FILES) {
          throw new Error(`the folder has more than ${MAX_FILES} files; run \`tdb serve\` on it and open its address`);
        }
      }
    }
  }
}
