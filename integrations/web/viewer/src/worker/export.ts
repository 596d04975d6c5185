/** Cells as files. */

import type { TileArray } from "tdb-array";
import { csvField, csvHeader, csvLine } from "../csv";
import type { Progress, Selection } from "../protocol";
import { toQuery } from "./rows";
import type { Job } from "./session";

/** Bytes of text after which the export stops, because the file is built in memory. */
const MAX_CSV = 512 << 20;

export async function exportCells(
  array: TileArray,
  selection: Selection,
  limit: number,
  format: "csv" | "arrow",
  job: Job,
  report: (progress: Partial<Progress>) => void,
): Promise<{ bytes: Uint8Array; rows: number }> {
  const query = await toQuery(array, selection, limit, job);
  if (format === "arrow") {
    const table = await array.read(query);
    const result = { bytes: table.toArrow(), rows: table.rows };
    table.free();
    return result;
  }
  const encoder = new TextEncoder();
  const parts = [encoder.encode(csvHeader(selection.columns))];
  let size = 0;
  let rows = 0;
  for await (const table of array.batches(query)) {
    const columns = selection.columns.map((name) => table.column(name));
    const lines: string[] = [];
    for (let row = 0; row < table.rows; row++) {
      lines.push(csvLine(columns.map((column) => csvField(column.get(row), column.datatype))));
    }
    rows += table.rows;
    table.free();
    const bytes = encoder.encode(lines.join(""));
    size += bytes.length;
    if (size > MAX_CSV) {
      throw new Error("the file would exceed 512 MiB; select fewer cells, or run `tdb export`");
    }
    parts.push(bytes);
    report({ note: `${rows.toLocaleString("en-US")} rows` });
  }
  return { bytes: concatenate(parts), rows };
}

function concatenate(parts: Uint8Array[]): Uint8Array {
  const result = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    result.set(part, at);
    at += part.length;
  }
  return result;
}
