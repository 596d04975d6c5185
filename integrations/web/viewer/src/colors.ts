/** Color maps and value ranges. */

import {
  interpolateCividis,
  interpolateInferno,
  interpolateMagma,
  interpolateRdBu,
  interpolateTurbo,
  interpolateViridis,
} from "d3-scale-chromatic";
import type { Plane } from "./protocol";

/** A color map as 256 RGB triples. */
export type Lut = Uint8Array;

const MAPS: Record<string, (t: number) => string> = {
  viridis: interpolateViridis,
  cividis: interpolateCividis,
  magma: interpolateMagma,
  inferno: interpolateInferno,
  turbo: interpolateTurbo,
  "red-blue": (t) => interpolateRdBu(1 - t),
  gray: (t) => `rgb(${Math.round(t * 255)},${Math.round(t * 255)},${Math.round(t * 255)})`,
};

export const MAP_NAMES = Object.keys(MAPS);

const tables = new Map<string, Lut>();

/** Returns a color map by name, or viridis. */
export function colorMap(name: string | null): Lut {
  const known = name && Object.hasOwn(MAPS, name) ? name : "viridis";
  let table = tables.get(known);
  if (!table) {
    table = new Uint8Array(256 * 3);
    for (let index = 0; index < 256; index++) {
      table.set(parseColor(MAPS[known]!(index / 255)), index * 3);
    }
    tables.set(known, table);
  }
  return table;
}

/** Parses `#rrggbb` and `rgb(r, g, b)`. */
export function parseColor(text: string): [number, number, number] {
  const hex = /^#([\da-f]{2})([\da-f]{2})([\da-f]{2})$/i.exec(text);
  if (hex) {
    return [Number.parseInt(hex[1]!, 16), Number.parseInt(hex[2]!, 16), Number.parseInt(hex[3]!, 16)];
  }
  const parts =
    /^rgba?\(([^)]*)\)$/
      .exec(text)?.[1]
      ?.split(/[\s,]+/)
      .map(Number) ?? [];
  return [parts[0] ?? 0, parts[1] ?? 0, parts[2] ?? 0];
}

/** Returns the index of a value in a color map of 256 colors. */
export function lutIndex(value: number, low: number, high: number): number {
  if (high <= low) {
    return value < low ? 0 : value > high ? 255 : 128;
  }
  return Math.max(0, Math.min(255, Math.floor(((value - low) / (high - low)) * 256)));
}

export interface ValueRange {
  low: number;
  high: number;
}

/** Returns the smallest and largest finite value of a plane, or the given percentiles of a sample. */
export function rangeOf(plane: Plane, percentile = 0): ValueRange | null {
  const { values, validity } = plane;
  const stride = percentile > 0 ? Math.max(1, Math.floor(values.length / 50_000)) : 1;
  const sample: number[] = [];
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (let index = 0; index < values.length; index += stride) {
    const value = Number(values[index]);
    if (!Number.isFinite(value) || (validity && validity[index] === 0)) {
      continue;
    }
    if (percentile > 0) {
      sample.push(value);
    }
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (low > high) {
    return null;
  }
  if (percentile > 0) {
    sample.sort((a, b) => a - b);
    const at = (fraction: number) => sample[Math.round(fraction * (sample.length - 1))]!;
    return { low: at(percentile), high: at(1 - percentile) };
  }
  return { low, high };
}

/** Colors a plane. Nulls and NaN stay transparent. */
export function paintPlane(plane: Plane, lut: Lut, range: ValueRange, out: Uint8ClampedArray): void {
  const { values, validity } = plane;
  for (let index = 0; index < values.length; index++) {
    const value = Number(values[index]);
    if (Number.isNaN(value) || (validity && validity[index] === 0)) {
      continue;
    }
    const color = lutIndex(value, range.low, range.high) * 3;
    out[index * 4] = lut[color]!;
    out[index * 4 + 1] = lut[color + 1]!;
    out[index * 4 + 2] = lut[color + 2]!;
    out[index * 4 + 3] = 255;
  }
}

export interface Channel {
  name: string;
  color: string;
  visible: boolean;
  range: ValueRange;
}

/** Adds the light of all visible channels. */
export function paintChannels(planes: Plane[], channels: Channel[], out: Uint8ClampedArray): void {
  const count = out.length / 4;
  const sums = new Float32Array(count * 3);
  planes.forEach((plane, number) => {
    const channel = channels[number];
    if (!channel?.visible) {
      return;
    }
    const [red, green, blue] = parseColor(channel.color);
    const { low, high } = channel.range;
    const scale = high > low ? 1 / (high - low) : 1;
    for (let index = 0; index < count; index++) {
      if (plane.validity && plane.validity[index] === 0) {
        continue;
      }
      const light = Math.max(0, Math.min(1, (Number(plane.values[index]) - low) * scale)) || 0;
      sums[index * 3]! += light * red;
      sums[index * 3 + 1]! += light * green;
      sums[index * 3 + 2]! += light * blue;
    }
  });
  for (let index = 0; index < count; index++) {
    out[index * 4] = sums[index * 3]!;
    out[index * 4 + 1] = sums[index * 3 + 1]!;
    out[index * 4 + 2] = sums[index * 3 + 2]!;
    out[index * 4 + 3] = 255;
  }
}

/** Copies 8-bit red, green, blue and alpha planes. */
export function paintRgb(
  planes: Plane[],
  order: [number, number, number, number | null],
  out: Uint8ClampedArray,
): void {
  const [red, green, blue, alpha] = order.map((plane) => (plane === null ? null : planes[plane]!.values));
  for (let index = 0; index < out.length / 4; index++) {
    out[index * 4] = Number(red![index]);
    out[index * 4 + 1] = Number(green![index]);
    out[index * 4 + 2] = Number(blue![index]);
    out[index * 4 + 3] = alpha ? Number(alpha[index]) : 255;
  }
}

/** Colors of channels that stay apart for most color-blind people. */
const CHANNEL_COLORS = ["#ff4040", "#40ff40", "#5070ff", "#ffffff", "#ff40ff", "#40ffff", "#ffff40", "#ff9020"];

export function channelColor(index: number, count: number): string {
  return count === 1 ? "#ffffff" : CHANNEL_COLORS[index % CHANNEL_COLORS.length]!;
}

/** Colors density: the logarithm of the count. */
export function paintDensity(bins: Uint32Array, lut: Lut, out: Uint8ClampedArray): number {
  let most = 0;
  for (const count of bins) {
    most = Math.max(most, count);
  }
  const scale = 1 / Math.log1p(Math.max(1, most));
  for (let index = 0; index < bins.length; index++) {
    const count = bins[index]!;
    if (count > 0) {
      const color = lutIndex(Math.log1p(count) * scale, 0, 1) * 3;
      out.set([lut[color]!, lut[color + 1]!, lut[color + 2]!, 255], index * 4);
    }
  }
  return most;
}
