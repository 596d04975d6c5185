/** Text of cells, numbers, sizes and times. */

import type { Cell, Scalar } from "./protocol";

const UNITS_MS: Record<string, number> = { W: 604_800_000, D: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 };
const UNITS_PER_MS: Record<string, [divisor: bigint, digits: number]> = {
  us: [1000n, 6],
  ns: [1_000_000n, 9],
  ps: [1_000_000_000n, 12],
  fs: [1_000_000_000_000n, 15],
  as: [1_000_000_000_000_000n, 18],
};
const NOT_A_TIME = -(2n ** 63n);
const LAST_MS = 253_402_300_799_999;
const FIRST_MS = -62_167_219_200_000;

const UNIT_NAMES: Record<string, string> = {
  year: "Y",
  month: "M",
  week: "W",
  day: "D",
  hr: "h",
  min: "m",
  sec: "s",
};

/** Returns the unit of `datetime_ms` and the like, or `null` for other types. */
export function dateUnit(datatype: string): string | null {
  const match = /^datetime_(\w+)$/i.exec(datatype);
  return match ? (UNIT_NAMES[match[1]!.toLowerCase()] ?? match[1]!.toLowerCase()) : null;
}

/** Returns a number of units since 1970 in ISO form, as precise as the unit. */
export function dateText(value: bigint, unit: string): string {
  if (value === NOT_A_TIME) {
    return "NaT";
  }
  const plain = `${value}${unit}`;
  if (unit === "Y" || unit === "M") {
    const months = unit === "Y" ? value * 12n : value;
    const year = 1970 + Number((months - (((months % 12n) + 12n) % 12n)) / 12n);
    if (year < 0 || year > 9999) {
      return plain;
    }
    const text = String(year).padStart(4, "0");
    return unit === "Y" ? text : `${text}-${String(Number(((months % 12n) + 12n) % 12n) + 1).padStart(2, "0")}`;
  }
  const fine = UNITS_PER_MS[unit];
  if (fine) {
    const perSecond = fine[0] * 1000n;
    const rest = ((value % perSecond) + perSecond) % perSecond;
    const seconds = Number((value - rest) / perSecond);
    return inRange(seconds * 1000)
      ? `${new Date(seconds * 1000).toISOString().slice(0, 19)}.${String(rest).padStart(fine[1], "0")}`
      : plain;
  }
  const factor = UNITS_MS[unit];
  const ms = factor === undefined ? Number.NaN : Number(value) * factor;
  if (!inRange(ms)) {
    return plain;
  }
  const iso = new Date(ms).toISOString();
  const length: Record<string, number> = { W: 10, D: 10, h: 13, m: 16, s: 19, ms: 23 };
  return iso.slice(0, length[unit]);
}

function inRange(ms: number): boolean {
  return ms >= FIRST_MS && ms <= LAST_MS;
}

/** Returns the text of one value. */
export function scalarText(value: Scalar, datatype: string): string {
  if (value === null) {
    return "null";
  }
  if (value instanceof Uint8Array) {
    if (datatype === "geom_wkt") {
      return new TextDecoder().decode(value);
    }
    return Array.from(value.subarray(0, 1024), (byte) => byte.toString(16).padStart(2, "0")).join("");
  }
  const unit = dateUnit(datatype);
  if (unit && (typeof value === "bigint" || typeof value === "number")) {
    return dateText(BigInt(value), unit);
  }
  if (typeof value === "number") {
    return numberText(value, datatype);
  }
  return String(value);
}

/** Returns the shortest text that reads back as the same number of its type. */
export function numberText(value: number, datatype: string): string {
  if (!Number.isFinite(value)) {
    return Number.isNaN(value) ? "NaN" : value > 0 ? "inf" : "-inf";
  }
  if (/^float32$/i.test(datatype)) {
    for (let digits = 1; digits <= 9; digits++) {
      const short = Number(value.toPrecision(digits));
      if (Math.fround(short) === value) {
        return String(short);
      }
    }
  }
  return Object.is(value, -0) ? "-0" : String(value);
}

/** Returns the text of a cell. Cells of several values look like JSON arrays. */
export function cellText(cell: Cell, datatype: string): string {
  return Array.isArray(cell)
    ? `[${cell.map((value) => scalarText(value, datatype)).join(", ")}]`
    : scalarText(cell, datatype);
}

const SIZES = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

export function bytesText(bytes: number | bigint): string {
  let size = Number(bytes);
  let unit = 0;
  while (size >= 1024 && unit < SIZES.length - 1) {
    size /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? size : size.toFixed(size < 10 ? 1 : 0)} ${SIZES[unit]}`;
}

const GROUPED = new Intl.NumberFormat("en-US");

export function countText(count: number | bigint): string {
  return GROUPED.format(count);
}

export function plural(count: number | bigint, noun: string): string {
  return `${countText(count)} ${noun}${Number(count) === 1 ? "" : "s"}`;
}

/** Returns a short text of a measured value, for legends and the pointer. */
export function shortNumber(value: number): string {
  if (!Number.isFinite(value) || Number.isInteger(value)) {
    return Number.isInteger(value) && Math.abs(value) < 1e15 ? countText(value) : numberText(value, "float64");
  }
  return String(Number(value.toPrecision(6)));
}

/** Returns a time in milliseconds as ISO text without parts that are zero. */
export function timeText(ms: number): string {
  if (!inRange(ms)) {
    return `${ms} ms`;
  }
  return new Date(ms)
    .toISOString()
    .replace("T", " ")
    .replace(/\.000Z$/, "Z")
    .replace("Z", " UTC");
}
