/** Points of sparse arrays, and their density. */

import type { Column, TileArray } from "tdb-array";
import type { Points, PointsQuery, Progress, Scalar } from "../protocol";
import type { Job } from "./session";

export async function readPoints(
  array: TileArray,
  query: PointsQuery,
  job: Job,
  report: (progress: Partial<Progress>) => void,
): Promise<Points> {
  const columns = [...new Set([query.x, query.y, ...(query.color ? [query.color] : [])])];
  const { view, bins } = query;
  const counts = new Uint32Array(bins.width * bins.height);
  const xs: number[] = [];
  const ys: number[] = [];
  const colors: number[] = [];
  let count = 0;
  const scaleX = bins.width / (view.x1 - view.x0);
  const scaleY = bins.height / (view.y1 - view.y0);
  const batches = array.batches({
    columns,
    ranges: query.ranges,
    order: "unordered",
    ...(query.where.trim() && { where: query.where }),
    signal: job.signal,
    onProgress: job.onProgress,
  });
  for await (const table of batches) {
    const x = offsets(table.column(query.x), query.origin[0], table.rows);
    const y = offsets(table.column(query.y), query.origin[1], table.rows);
    const color = query.color ? numbers(table.column(query.color), table.rows) : null;
    for (let row = 0; row < table.rows; row++) {
      const column = Math.floor((x[row]! - view.x0) * scaleX);
      const line = Math.floor((y[row]! - view.y0) * scaleY);
      if (column < 0 || line < 0 || column >= bins.width || line >= bins.height) {
        continue;
      }
      counts[line * bins.width + column]! += 1;
      if (count < query.keep) {
        xs.push(x[row]!);
        ys.push(y[row]!);
        if (color) {
          colors.push(color[row]!);
        }
      }
      count += 1;
    }
    table.free();
    report({ note: `${count.toLocaleString("en-US")} points` });
  }
  return {
    x: Float64Array.from(xs),
    y: Float64Array.from(ys),
    color: query.color ? Float64Array.from(colors) : null,
    bins: counts,
    count,
  };
}

/** Returns distances from an origin. Large integers lose no precision near the origin. */
function offsets(column: Column, origin: Scalar, rows: number): Float64Array {
  const result = new Float64Array(rows);
  const { values } = column;
  if (values instanceof BigInt64Array || values instanceof BigUint64Array) {
    const first = BigInt(origin as bigint);
    for (let row = 0; row < rows; row++) {
      result[row] = Number(values[row]! - first);
    }
  } else if (values) {
    const first = Number(origin);
    for (let row = 0; row < rows; row++) {
      result[row] = values[row]! - first;
    }
  }
  return result;
}

function numbers(column: Column, rows: number): Float64Array {
  const result = new Float64Array(rows);
  const { validity, values } = column;
  for (let row = 0; row < rows; row++) {
    result[row] = validity?.[row] === 0 ? Number.NaN : Number(values?.[row] ?? Number.NaN);
  }
  return result;
}
