/** The number of rows of a table before any is read. */

import { type Axis, denseRanges, rangeSizes } from "./dimensions";
import type { ArrayDescription, Selection } from "./protocol";

/** Returns the number of rows: exact, or an upper bound. Returns `null` if it is unknown. */
export function expectedRows(
  data: Pick<ArrayDescription, "schema" | "fragments" | "nonEmptyDomain"> & { axes: Axis[] },
  selection: Selection,
): { rows: number; isExact: boolean } | null {
  if (selection.where.trim() !== "") {
    return null;
  }
  if (data.schema.arrayType === "dense") {
    const region = denseRanges(data.axes, selection.ranges, data.nonEmptyDomain !== null);
    return { rows: region ? rangeSizes(data.axes, region).reduce((a, b) => a * b, 1) : 0, isExact: true };
  }
  const { fragments } = data;
  if (Object.keys(selection.ranges).length > 0 || fragments.some(({ cells }) => cells === null)) {
    return null;
  }
  // Delete commits and newer fragments hide cells, and fragments do not list delete commits.
  const rows = fragments.reduce((sum, { cells }) => sum + Number(cells), 0);
  return { rows, isExact: rows === 0 };
}
