/** How the cells of an array form an image. */

import type { Axis } from "./dimensions";
import type { Scalar, Schema } from "./protocol";

export interface ImageLayout {
  attribute: string;
  datatype: string;
  x: Axis;
  y: Axis;
  /** The dimension of channels, if there is one. */
  channel: Axis | null;
  /** Values of each cell. */
  perCell: number;
  /** Neighboring coordinates of `x` that form a pixel. The axis `x` counts pixels. */
  interleave: number;
  /** Planes in all: channels times values of each cell. */
  planes: number;
  /** Planes of red, green, blue and alpha, if the planes are colors. */
  colors: [number, number, number, number | null] | null;
  /** Other dimensions, such as depth and time. */
  others: Axis[];
}

const CHANNEL_NAMES = /^(c|ch|channels?|bands?|samples?|rgba?|colou?rs?)$/i;
const X_NAMES = /^(x|cols?|columns?|width|w)$/i;
const Y_NAMES = /^(y|rows?|lines?|height|h)$/i;
const MAX_PLANES = 16;

/**
 * Returns the layout of an image, or `null` if the array does not look like one.
 *
 * A dense array is an image if a dimension or the cells hold channels. `isLevel` also accepts arrays
 * with a single channel.
 */
export function imageLayout(schema: Schema, axes: Axis[], isLevel = false): ImageLayout | null {
  if (
    schema.arrayType !== "dense" ||
    axes.length < 2 ||
    axes.some(({ kind, size }) => kind !== "integer" || size < 1)
  ) {
    return null;
  }
  const attribute = schema.attributes.find(
    ({ datatype, cellValNum, enumeration }) =>
      /^(u?int(8|16|32)|float(32|64))$/i.test(datatype) &&
      enumeration === null &&
      cellValNum !== "var" &&
      cellValNum <= MAX_PLANES,
  );
  if (!attribute) {
    return null;
  }
  const perCell = Number(attribute.cellValNum);
  const packed = axes.length === 2 && perCell === 1 ? packedColors(attribute.filters) : null;
  const channel = perCell > 1 ? null : channelOf(axes);
  const spatial = axes.filter((axis) => axis !== channel);
  const x = spatial.find(({ name }) => X_NAMES.test(name)) ?? spatial[spatial.length - 1];
  const y = spatial.find((axis) => axis !== x && Y_NAMES.test(axis.name)) ?? spatial.filter((axis) => axis !== x).pop();
  if (!x || !y) {
    return null;
  }
  const interleave = packed?.length ?? 1;
  const planes = perCell * interleave * (channel?.size ?? 1);
  if ((planes === 1 && !isLevel) || x.size < interleave) {
    return null;
  }
  const pixels: Axis = packed
    ? { ...x, low: 0, high: x.size / interleave - 1, size: Math.floor(x.size / interleave) }
    : x;
  const isRgb = /^uint8$/i.test(attribute.datatype) && (planes === 3 || planes === 4);
  return {
    attribute: attribute.name,
    datatype: attribute.datatype,
    x: pixels,
    y,
    channel,
    perCell,
    interleave,
    planes,
    colors: isRgb ? colorsOf(packed ?? "rgba".slice(0, planes)) : null,
    others: spatial.filter((axis) => axis !== x && axis !== y),
  };
}

/** Returns the order of colors side by side, such as `bgra`. The WebP filter compresses such rows. */
function packedColors(filters: string[]): string | null {
  const found = filters.map((filter) => /^webp\((rgba?|bgra?)\b/i.exec(filter)?.[1]).find(Boolean);
  return found?.toLowerCase() ?? null;
}

function colorsOf(order: string): ImageLayout["colors"] {
  const alpha = order.indexOf("a");
  return [order.indexOf("r"), order.indexOf("g"), order.indexOf("b"), alpha < 0 ? null : alpha];
}

function channelOf(axes: Axis[]): Axis | null {
  if (axes.length < 3) {
    return null;
  }
  const named = axes.find(({ name, size }) => CHANNEL_NAMES.test(name) && size <= MAX_PLANES);
  if (named) {
    return named;
  }
  const ends = [axes[axes.length - 1]!, axes[0]!];
  return (
    ends.find(({ name, size }) => (size === 3 || size === 4) && !X_NAMES.test(name) && !Y_NAMES.test(name)) ?? null
  );
}

/** Returns the names of arrays in the `levels` metadata of a group of image levels. */
export function levelPaths(value: Scalar | Scalar[] | undefined): Set<string> | null {
  const text = value instanceof Uint8Array ? new TextDecoder().decode(value) : value;
  if (typeof text !== "string") {
    return null;
  }
  try {
    const levels: unknown = JSON.parse(text);
    const names = Array.isArray(levels)
      ? levels.flatMap((level: unknown) => {
          const name = (level as { name?: unknown } | null)?.name;
          return typeof name === "string" ? [name] : [];
        })
      : [];
    return names.length > 0 ? new Set(names) : null;
  } catch {
    return null;
  }
}

/** Returns the level whose pixels are nearest to the pixels of the screen, but not coarser. */
export function levelFor(widths: number[], cellsPerPixel: number): number {
  const full = widths[0] ?? 1;
  let best = 0;
  widths.forEach((width, level) => {
    if (full / width <= Math.max(1, cellsPerPixel) * 1.01) {
      best = level;
    }
  });
  return best;
}
