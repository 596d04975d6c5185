/** Dimensions as number lines: coordinates, indexes, and ranges that people type. */

import type { Ranges, Scalar, Schema } from "./protocol";
import { dateUnit, scalarText } from "./values";

export type Dimension = Schema["dimensions"][number];
export type Attribute = Schema["attributes"][number];

/** A dimension with the range of coordinates that holds cells. */
export interface Axis {
  name: string;
  datatype: string;
  kind: "integer" | "float" | "string";
  low: Scalar;
  high: Scalar;
  /** Number of coordinates of an integer axis, or the length of a float axis. 0 for strings. */
  size: number;
}

/** Returns the axes of an array. The non-empty domain limits the domain. */
export function axes(schema: Schema, nonEmpty: [Scalar, Scalar][] | null): Axis[] {
  return schema.dimensions.map((dimension, index) => {
    const [low, high] = nonEmpty?.[index] ?? dimension.domain ?? [null, null];
    const kind = kindOf(dimension.datatype, low);
    let size = 0;
    if (kind === "integer" && low !== null && high !== null) {
      size = Number(BigInt(high as number) - BigInt(low as number)) + 1;
    } else if (kind === "float") {
      size = Number(high) - Number(low);
    }
    return { name: dimension.name, datatype: dimension.datatype, kind, low, high, size };
  });
}

function kindOf(datatype: string, low: Scalar): Axis["kind"] {
  if (/^float/i.test(datatype)) {
    return "float";
  }
  return typeof low === "number" || typeof low === "bigint" ? "integer" : "string";
}

/** Returns the coordinate at an offset from the first coordinate of an axis. */
export function coordinate(axis: { low: Scalar; kind: Axis["kind"] }, offset: number): Scalar {
  if (axis.kind === "float") {
    return Number(axis.low) + offset;
  }
  return typeof axis.low === "bigint" ? axis.low + BigInt(Math.round(offset)) : Number(axis.low) + Math.round(offset);
}

/** Returns the offset of a coordinate from the first coordinate of an axis. */
export function offsetOf(axis: Axis, value: Scalar): number {
  if (axis.kind === "float") {
    return Number(value) - Number(axis.low);
  }
  return Number(BigInt(value as number) - BigInt(axis.low as number));
}

export function coordinateText(axis: Axis, offset: number): string {
  if (axis.kind === "float") {
    return String(Number((Number(axis.low) + offset).toPrecision(7)));
  }
  return scalarText(coordinate(axis, offset), axis.datatype);
}

/** Parses a coordinate that a person typed. Throws an error that says what is expected. */
export function parseCoordinate(axis: Axis, text: string): Scalar {
  const trimmed = text.trim();
  if (axis.kind === "string") {
    return text;
  }
  if (axis.kind === "float") {
    const value = Number(trimmed);
    if (trimmed === "" || Number.isNaN(value)) {
      throw new Error(`${axis.name}: expected a number, found "${trimmed}"`);
    }
    return value;
  }
  const unit = dateUnit(axis.datatype);
  const value = unit && /^-?\d+-|^\d{4}$/.test(trimmed) ? parseDate(trimmed, unit) : integerOf(trimmed);
  if (value === null) {
    throw new Error(`${axis.name}: expected ${unit ? "a date such as 2024-05-01" : "an integer"}, found "${trimmed}"`);
  }
  return typeof axis.low === "bigint" ? value : Number(value);
}

function integerOf(text: string): bigint | null {
  return /^[+-]?\d[\d_]*$/.test(text) ? BigInt(text.replaceAll("_", "").replace(/^\+/, "")) : null;
}

const UNITS: Record<string, [numerator: bigint, denominator: bigint]> = {
  W: [604_800_000n, 1n],
  D: [86_400_000n, 1n],
  h: [3_600_000n, 1n],
  m: [60_000n, 1n],
  s: [1000n, 1n],
  ms: [1n, 1n],
  us: [1n, 1000n],
  ns: [1n, 1_000_000n],
  ps: [1n, 1_000_000_000n],
};

function parseDate(text: string, unit: string): bigint | null {
  const match = /^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[T ](.+))?)?)?$/.exec(text);
  if (!match) {
    return null;
  }
  if (unit === "Y") {
    return BigInt(match[1]!) - 1970n;
  }
  if (unit === "M") {
    return (BigInt(match[1]!) - 1970n) * 12n + BigInt(match[2] ?? "1") - 1n;
  }
  const time = match[4] ? `T${match[4].length === 2 ? `${match[4]}:00` : match[4]}Z` : "T00:00Z";
  const ms = Date.parse(`${match[1]}-${match[2] ?? "01"}-${match[3] ?? "01"}${time}`);
  const factor = UNITS[unit];
  if (Number.isNaN(ms) || !factor) {
    return null;
  }
  const scaled = BigInt(ms) * factor[1];
  const rest = ((scaled % factor[0]) + factor[0]) % factor[0];
  return (scaled - rest) / factor[0];
}

/** Parses `FIRST..LAST` or a single coordinate. Either end may be missing. Returns `null` for the whole axis. */
export function parseRange(axis: Axis, text: string): [Scalar, Scalar] | null {
  if (text.trim() === "") {
    return null;
  }
  const split = text.indexOf("..");
  const [first, last] = split < 0 ? [text, text] : [text.slice(0, split), text.slice(split + 2)];
  const end = (part: string, otherwise: Scalar) => (part.trim() === "" ? otherwise : parseCoordinate(axis, part));
  const range: [Scalar, Scalar] = [end(first, axis.low), end(last, axis.high)];
  if (range[0]! > range[1]!) {
    throw new Error(`${axis.name}: the range ${text} is empty; write the smaller coordinate first`);
  }
  return range;
}

/** Returns the ranges of typed slices, without axes that have none. */
export function sliceRanges(all: Axis[], slices: Record<string, string>): Ranges {
  const ranges: Ranges = Object.create(null);
  for (const axis of all) {
    const range = parseRange(axis, slices[axis.name] ?? "");
    if (range) {
      ranges[axis.name] = [range];
    }
  }
  return ranges;
}

/** Returns `true` for attributes with one number in each cell. */
export function isNumeric(attribute: Attribute): boolean {
  const numeric = /^(u?int\d+|float\d+|bool|datetime_|time_)/i.test(attribute.datatype);
  return numeric && attribute.cellValNum === 1 && attribute.enumeration === null;
}

export interface Box {
  /** First and last index of each dimension, inclusive. */
  ranges: [number, number][];
}

/**
 * Splits the cells `from` to `to` (exclusive) in row-major order of a box into smaller boxes, in order.
 *
 * A page of a large dense array then reads only its own cells.
 */
export function boxes(shape: number[], from: number, to: number): Box[] {
  if (from >= to) {
    return [];
  }
  if (shape.length === 1) {
    return [{ ranges: [[from, to - 1]] }];
  }
  const [, ...inner] = shape;
  const size = inner.reduce((product, length) => product * length, 1);
  const first = Math.floor(from / size);
  const last = Math.floor((to - 1) / size);
  const within = (row: number, start: number, end: number) =>
    boxes(inner, start, end).map((box) => ({ ranges: [[row, row] as [number, number], ...box.ranges] }));
  if (first === last && (from % size !== 0 || to % size !== 0)) {
    return within(first, from - first * size, to - first * size);
  }
  const result: Box[] = [];
  let start = first;
  if (from % size !== 0) {
    result.push(...within(first, from - first * size, size));
    start += 1;
  }
  const end = to % size === 0 ? last : last - 1;
  if (start <= end) {
    result.push({ ranges: [[start, end], ...inner.map((length): [number, number] => [0, length - 1])] });
  }
  if (to % size !== 0) {
    result.push(...within(last, 0, to - last * size));
  }
  return result;
}
