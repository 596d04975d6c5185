/** Buffers that move to the page instead of being copied. */

import type { Method } from "../protocol";

/** The other results hold values that open arrays keep. */
const FRESH: readonly Method[] = ["raster", "points", "export"];

/** Returns the buffers of a result that the worker needs no longer. */
export function transferable(method: Method, result: unknown): Transferable[] {
  if (!FRESH.includes(method)) {
    return [];
  }
  const buffers = new Set<ArrayBuffer>();
  const visit = (value: unknown, depth: number) => {
    if (ArrayBuffer.isView(value)) {
      if (
        value.buffer instanceof ArrayBuffer &&
        value.byteLength === value.buffer.byteLength &&
        value.byteLength > 4096
      ) {
        buffers.add(value.buffer);
      }
    } else if (depth < 3 && value !== null && typeof value === "object") {
      for (const child of Object.values(value)) {
        visit(child, depth + 1);
      }
    }
  };
  visit(result, 0);
  return [...buffers];
}
