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
  const [first, last] = periodOf(axis, trimmed);
  // If no coordinate begins within the period, `last` is the coordinate that contains it.
  const isBetween = first > last;
  const value = isBetween ? last : first;
  return typeof axis.low === "bigint" ? value : Number(value);
}

/** Returns the first and the last coordinate of an integer or a date. A date may name a month or a year. */
function periodOf(axis: Axis, text: string): [bigint, bigint] {
  const unit = dateUnit(axis.datatype);
  const digits = unit && text.endsWith(unit) ? text.slice(0, -unit.length) : text;
  const count = unit && /^\d{4}$/.test(text) ? null : integerOf(digits);
  const period = count !== null ? ([count, count] as [bigint, bigint]) : unit ? parseDate(text, unit) : null;
  if (period === null) {
    throw new Error(`${axis.name}: expected ${unit ? "a date such as 2024-05-01" : "an integer"}, found "${text}"`);
  }
  return period;
}

function integerOf(text: string): bigint | null {
  return /^[+-]?\d[\d_]*$/.test(text) ? BigInt(text.replaceAll("_", "").replace(/^\+/, "")) : null;
}

/** Attoseconds count all units exactly. */
const PER_SECOND = 10n ** 18n;
const UNITS: Record<string, bigint> = {
  W: 604_800n * PER_SECOND,
  D: 86_400n * PER_SECOND,
  h: 3600n * PER_SECOND,
  m: 60n * PER_SECOND,
  s: PER_SECOND,
  ms: 10n ** 15n,
  us: 10n ** 12n,
  ns: 10n ** 9n,
  ps: 10n ** 6n,
  fs: 10n ** 3n,
  as: 1n,
};

/**
 * Returns the first and the last unit that begin within the period of a date, as the engine does.
 *
 * The engine also parses dates, but pages of dense arrays and sliders need the numbers.
 */
function parseDate(text: string, unit: string): [bigint, bigint] | null {
  const match = /^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[Tt ](\d\d)(?::(\d\d)(?::(\d\d)(?:\.(\d{1,18}))?)?)?)?)?)?[Zz]?$/.exec(
    text,
  );
  if (!match) {
    return null;
  }
  const [, year, month, day, hour, minute, second, fraction] = match.map((part) => part as string | undefined);
  const start = instant(Number(year), Number(month ?? 1), Number(day ?? 1));
  if (start === null || Number(hour ?? 0) > 23 || Number(minute ?? 0) > 59 || Number(second ?? 0) > 59) {
    return null;
  }
  let first = start;
  let length: bigint;
  if (hour !== undefined) {
    const seconds = Number(hour) * 3600 + Number(minute ?? 0) * 60 + Number(second ?? 0);
    first += BigInt(seconds) * PER_SECOND + BigInt((fraction ?? "").padEnd(18, "0"));
    length = fraction
      ? 10n ** BigInt(18 - fraction.length)
      : PER_SECOND * (second !== undefined ? 1n : minute !== undefined ? 60n : 3600n);
  } else if (day !== undefined) {
    length = UNITS.D!;
  } else {
    const isYear = month === undefined;
    length = instant(Number(year) + (isYear ? 1 : 0), isYear ? 1 : Number(month) + 1, 1, true)! - start;
  }
  return [unitAt(first - 1n, unit) + 1n, unitAt(first + length - 1n, unit)];
}

/** Returns the attoseconds from 1970 to a day, or `null` if the month has no such day. */
function instant(year: number, month: number, day: number, isLenient = false): bigint | null {
  // The constructor takes years below 100 for those of the 20th century.
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const isReal = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return isReal || isLenient ? BigInt(date.getTime() / 1000) * PER_SECOND : null;
}

/** Returns the number of the unit that contains an instant. */
function unitAt(attoseconds: bigint, unit: string): bigint {
  if (unit === "Y" || unit === "M") {
    const date = new Date(Number(floored(attoseconds, PER_SECOND)) * 1000);
    const years = date.getUTCFullYear() - 1970;
    return BigInt(unit === "Y" ? years : years * 12 + date.getUTCMonth());
  }
  return floored(attoseconds, UNITS[unit]!);
}

function floored(value: bigint, divisor: bigint): bigint {
  const rest = value % divisor;
  return (value - (rest < 0n ? rest + divisor : rest)) / divisor;
}

/** Parses `FIRST..LAST` or a single coordinate. Either end may be missing. Returns `null` for the whole axis. */
export function parseRange(axis: Axis, text: string): [Scalar, Scalar] | null {
  if (text.trim() === "") {
    return null;
  }
  const split = text.indexOf("..");
  const [first, last] = split < 0 ? [text, text] : [text.slice(0, split), text.slice(split + 2)];
  const range: [Scalar, Scalar] = [
    first.trim() === "" ? axis.low : parseEnd(axis, first, 0),
    last.trim() === "" ? axis.high : parseEnd(axis, last, 1),
  ];
  if (range[0]! > range[1]!) {
    throw new Error(
      split < 0
        ? `${axis.name}: no coordinate begins within ${text.trim()}; write a longer period`
        : `${axis.name}: the range ${text} is empty; write the smaller coordinate first`,
    );
  }
  return range;
}

/** Parses an end of a range: the first or the last coordinate of a date. */
function parseEnd(axis: Axis, text: string, side: 0 | 1): Scalar {
  if (axis.kind !== "integer") {
    return parseCoordinate(axis, text);
  }
  const value = periodOf(axis, text.trim())[side];
  return typeof axis.low === "bigint" ? value : Number(value);
}

/**
 * Returns the ranges of the rows of a dense array, or `null` if it has no rows.
 *
 * Cells outside of the non-empty domain hold fill values. They are rows only if a range selects them.
 */
export function denseRanges(all: Axis[], ranges: Ranges, isWritten: boolean): Ranges | null {
  if (!isWritten && Object.keys(ranges).length === 0) {
    return null;
  }
  const filled: Ranges = Object.create(null);
  for (const { name, low, high } of all) {
    filled[name] = (Object.hasOwn(ranges, name) && ranges[name]) || [[low, high]];
  }
  return filled;
}

/** Returns the number of cells in the first range of each axis. */
export function rangeSizes(all: Axis[], ranges: Ranges): number[] {
  return all.map(({ name }) => {
    const [low, high] = ranges[name]![0]!;
    return Number(BigInt(high as number) - BigInt(low as number)) + 1;
  });
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
