/** Ticks of axes. */

import { scaleLinear } from "d3-scale";
import type { Axis } from "./dimensions";
import { coordinateText } from "./dimensions";

export interface Tick {
  /** Offset from the first coordinate of the axis. */
  offset: number;
  label: string;
}

/**
 * Returns round coordinates between two offsets of an axis.
 *
 * Integer axes have ticks only at coordinates. `center` moves them to the middle of the cell.
 */
export function axisTicks(axis: Axis, from: number, to: number, count: number, center: boolean): Tick[] {
  const isDate = /^datetime/i.test(axis.datatype);
  const low = isDate || axis.kind === "string" ? 0 : Number(axis.low);
  const values = scaleLinear([from + low, to + low], [0, 1]).ticks(Math.max(2, count));
  const ticks: Tick[] = [];
  for (const value of values) {
    const offset = value - low;
    const isBetween = axis.kind === "integer" && !Number.isInteger(value);
    if (isBetween || (center && (offset < 0 || offset >= axis.size))) {
      continue;
    }
    const middle = center ? offset + 0.5 : offset;
    if (middle >= from && middle <= to) {
      ticks.push({ offset: middle, label: coordinateText(axis, offset) });
    }
  }
  return ticks;
}
