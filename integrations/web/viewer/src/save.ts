import { fileName } from "./csv";

const TYPES = {
  csv: ["csv", "text/csv;charset=utf-8"],
  arrow: ["arrows", "application/vnd.apache.arrow.stream"],
} as const;

/** Hands bytes to the person as a file. */
export function saveFile(bytes: Uint8Array, name: string, format: keyof typeof TYPES): void {
  const [extension, type] = TYPES[format];
  const url = URL.createObjectURL(new Blob([bytes as Uint8Array<ArrayBuffer>], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = fileName(name, extension);
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
