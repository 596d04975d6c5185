/** Pages of cells for the table. */

import type { Column, Query, Table, TileArray } from "tdb-array";
import { axes, boxes, coordinate, denseRanges, rangeSizes } from "../dimensions";
import type { Estimate, Ranges, Rows, Selection } from "../protocol";
import type { Job } from "./session";

/**
 * Returns the ranges of a selection, or `null` if it has no rows.
 *
 * Without ranges, the engine reads the whole domain of a dense array, with fill values.
 */
export async function rangesOf(array: TileArray, ranges: Ranges): Promise<Ranges | null> {
  if (array.schema.arrayType !== "dense") {
    return ranges;
  }
  const domain = await array.nonEmptyDomain();
  return denseRanges(axes(array.schema, domain), ranges, domain !== null);
}

/** Returns the query of up to `limit` rows. */
export async function toQuery(
  array: TileArray,
  { columns, ranges, where, order }: Selection,
  limit: number,
  job: Job,
): Promise<Query> {
  const filled = await rangesOf(array, ranges);
  return {
    columns,
    ranges: filled ?? ranges,
    order,
    limit: filled ? limit : 0,
    ...(where.trim() && { where }),
    signal: job.signal,
    onProgress: job.onProgress,
  };
}

/** Reads a page. Pages of dense arrays without a condition read only their own cells. */
export async function readRows(
  array: TileArray,
  selection: Selection,
  offset: number,
  limit: number,
  job: Job,
): Promise<Rows> {
  const query = await toQuery(array, selection, limit, job);
  const isDirect =
    query.limit !== 0 && array.schema.arrayType === "dense" && !query.where && selection.order === "row-major";
  if (!isDirect) {
    return collect([await array.read({ ...query, offset })], selection);
  }
  const all = axes(array.schema, null);
  const region = query.ranges!;
  const shape = rangeSizes(all, region);
  const total = shape.reduce((product, size) => product * size, 1);
  const tables: Table[] = [];
  for (const box of boxes(shape, Math.min(offset, total), Math.min(offset + limit, total))) {
    const ranges: Ranges = Object.create(null);
    box.ranges.forEach(([first, last], index) => {
      const { name, kind } = all[index]!;
      const axis = { kind, low: region[name]![0]![0] };
      ranges[name] = [[coordinate(axis, first), coordinate(axis, last)]];
    });
    const { limit: _, ...whole } = query;
    tables.push(await array.read({ ...whole, ranges }));
  }
  return collect(tables, selection);
}

/** Counts the rows of a selection. */
export async function countRows(array: TileArray, given: Ranges, where: string, job: Job): Promise<number> {
  const ranges = await rangesOf(array, given);
  if (!ranges) {
    return 0;
  }
  const query = { ranges, ...(where.trim() && { where }), signal: job.signal, onProgress: job.onProgress };
  const [row] = await array.aggregate(query, [{ op: "count" }]);
  return Number(Object.values(row ?? {})[0] ?? 0);
}

/** Returns the cost of reading a selection. */
export async function estimateRead(
  array: TileArray,
  columns: string[],
  given: Ranges,
  where: string,
  job: Job,
): Promise<Estimate> {
  const ranges = await rangesOf(array, given);
  return ranges
    ? array.plan({ columns, ranges, ...(where.trim() && { where }), signal: job.signal })
    : { requests: 0, bytes: 0, tiles: 0 };
}

function collect(tables: Table[], selection: Selection): Rows {
  const columns = selection.columns.map((name) => ({
    name,
    datatype: "",
    cells: [] as Rows["columns"][number]["cells"],
  }));
  let rows = 0;
  for (const table of tables) {
    rows += table.rows;
    for (const target of columns) {
      const column = table.column(target.name);
      target.datatype = column.datatype;
      append(target.cells, column, table.rows);
    }
    table.free();
  }
  return { columns, rows };
}

function append(cells: Rows["columns"][number]["cells"], column: Column, rows: number): void {
  for (let row = 0; row < rows; row++) {
    const value = column.get(row);
    // A view of WebAssembly memory cannot be sent.
    cells.push(value instanceof Uint8Array ? value.slice() : value);
  }
}
