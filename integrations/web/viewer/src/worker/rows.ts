/** Pages of cells for the table. */

import type { Column, Query, Table, TileArray } from "tdb-array";
import { type Axis, axes, boxes, coordinate } from "../dimensions";
import type { Ranges, Rows, Selection } from "../protocol";
import type { Job } from "./session";

export function toQuery(selection: Selection, job: Job): Query {
  return {
    columns: selection.columns,
    ranges: selection.ranges,
    order: selection.order,
    ...(selection.where.trim() && { where: selection.where }),
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
  const isDirect = array.schema.arrayType === "dense" && !selection.where.trim() && selection.order === "row-major";
  if (!isDirect) {
    const table = await array.read({ ...toQuery(selection, job), offset, limit });
    return collect([table], selection);
  }
  const all = axes(array.schema, await array.nonEmptyDomain());
  const region = all.map((axis) => within(axis, selection.ranges));
  const shape = region.map(({ size }) => size);
  const total = shape.reduce((product, size) => product * size, 1);
  const tables: Table[] = [];
  for (const box of boxes(shape, Math.min(offset, total), Math.min(offset + limit, total))) {
    const ranges: Ranges = {};
    box.ranges.forEach(([first, last], index) => {
      const axis = region[index]!;
      ranges[axis.name] = [[coordinate(axis, first), coordinate(axis, last)]];
    });
    tables.push(await array.read({ ...toQuery(selection, job), ranges }));
  }
  return collect(tables, selection);
}

/** Returns the part of an axis in the selection. */
function within(axis: Axis, ranges: Ranges): Axis {
  const range = Object.hasOwn(ranges, axis.name) ? ranges[axis.name]?.[0] : undefined;
  if (!range) {
    return axis;
  }
  const [low, high] = range;
  return { ...axis, low, high, size: Number(BigInt(high as number) - BigInt(low as number)) + 1 };
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
