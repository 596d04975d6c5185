/** Rectangles of dense arrays as planes of numbers. */

import type { Query, Table, TileArray } from "tdb-array";
import { coordinate } from "../dimensions";
import type { Plane, PlaneValues, Progress, Ranges, Raster, RasterQuery } from "../protocol";
import type { Job } from "./session";

/** Cells of one read. Larger rectangles are read in blocks, so that memory stays bounded. */
const BLOCK_CELLS = 1 << 22;

interface Block {
  x: [from: number, to: number];
  y: [from: number, to: number];
}

/** Position of a cell's value in a table, as strides in elements. */
interface Layout {
  x: number;
  y: number;
  stack: number;
  /** Distance of the parts of a pixel. */
  part: number;
  perCell: number;
}

export async function readRaster(
  array: TileArray,
  query: RasterQuery,
  job: Job,
  report: (progress: Partial<Progress>) => void,
): Promise<Raster> {
  const columns = query.x.to - query.x.from;
  const rows = query.y.to - query.y.from;
  const step = Math.max(1, Math.ceil(columns / query.maxWidth), Math.ceil(rows / query.maxHeight));
  const width = Math.ceil(columns / step);
  const height = Math.ceil(rows / step);
  const attribute = array.schema.attributes.find(({ name }) => name === query.attribute);
  const perCell = typeof attribute?.cellValNum === "number" ? attribute.cellValNum : 1;
  const stacked = query.stack ? query.stack.to - query.stack.from : 1;
  const parts = perCell * query.interleave;
  const count = stacked * parts;
  const sink = step === 1 ? new Exact(width, height, count) : new Means(width, height, count, step, query);
  const list = blocksOf(array, query, step, stacked * query.interleave);
  for (const [index, block] of list.entries()) {
    job.signal.throwIfAborted();
    report({ fraction: index / list.length, note: list.length > 1 ? `block ${index + 1} of ${list.length}` : null });
    const table = await array.read(blockQuery(query, block, job));
    const column = table.column(query.attribute);
    if (!column.values) {
      throw new Error(`${query.attribute}: not a number; choose another attribute`);
    }
    const layout = layoutOf(array, query, table, block, perCell);
    sink.add(column.values, column.validity, layout, block, query, parts);
    table.free();
  }
  return { width, height, step, x: query.x.from, y: query.y.from, planes: sink.planes() };
}

function blocksOf(array: TileArray, query: RasterQuery, step: number, stacked: number): Block[] {
  const extent = (name: string) => {
    const dimension = array.schema.dimensions.find((dimension) => dimension.name === name);
    const pixels = Number(dimension?.extent ?? 1) / (name === query.x.dimension ? query.interleave : 1);
    return Math.max(1, Math.min(Math.floor(pixels), 1 << 20));
  };
  const columns = query.x.to - query.x.from;
  const wide = Math.min(
    columns,
    Math.max(extent(query.x.dimension), Math.floor(BLOCK_CELLS / extent(query.y.dimension) / stacked)),
  );
  const high = Math.max(1, Math.floor(BLOCK_CELLS / wide / stacked));
  const blocks: Block[] = [];
  for (const y of split(query.y.from, query.y.to, high, extent(query.y.dimension), step)) {
    for (const x of split(query.x.from, query.x.to, wide, extent(query.x.dimension), step)) {
      blocks.push({ x, y });
    }
  }
  return blocks;
}

/** Splits a range. Parts are multiples of the tile extent if they can be, so that no tile is read twice. */
function split(from: number, to: number, length: number, extent: number, step: number): [number, number][] {
  const unit = length >= extent ? extent : 1;
  const size = Math.max(1, Math.floor(length / unit) * unit);
  const result: [number, number][] = [];
  let start = from;
  while (start < to) {
    const end = Math.min(to, Math.max(start + 1, (Math.floor(start / unit) * unit || 0) + Math.max(size, step)));
    result.push([start, end]);
    start = end;
  }
  return result;
}

function blockQuery(query: RasterQuery, block: Block, job: Job): Query {
  const ranges: Ranges = {};
  const set = (name: string, from: number, to: number) => {
    const low = query.origin[name]!;
    ranges[name] = [[coordinate({ low, kind: "integer" }, from), coordinate({ low, kind: "integer" }, to)]];
  };
  for (const [name, index] of Object.entries(query.fixed)) {
    set(name, index, index);
  }
  if (query.stack) {
    set(query.stack.dimension, query.stack.from, query.stack.to - 1);
  }
  set(query.x.dimension, block.x[0] * query.interleave, block.x[1] * query.interleave - 1);
  set(query.y.dimension, block.y[0], block.y[1] - 1);
  return { columns: [query.attribute], ranges, order: "row-major", signal: job.signal, onProgress: job.onProgress };
}

function layoutOf(array: TileArray, query: RasterQuery, table: Table, block: Block, perCell: number): Layout {
  const sizes = array.schema.dimensions.map(({ name }) => {
    if (name === query.x.dimension) {
      return (block.x[1] - block.x[0]) * query.interleave;
    }
    if (name === query.y.dimension) {
      return block.y[1] - block.y[0];
    }
    return name === query.stack?.dimension ? query.stack.to - query.stack.from : 1;
  });
  const cells = sizes.reduce((product, size) => product * size, 1);
  if (table.rows !== cells) {
    throw new Error(`expected ${cells} cells, found ${table.rows}`);
  }
  const strides: Record<string, number> = {};
  let stride = perCell;
  for (let index = sizes.length - 1; index >= 0; index--) {
    strides[array.schema.dimensions[index]!.name] = stride;
    stride *= sizes[index]!;
  }
  return {
    x: strides[query.x.dimension]! * query.interleave,
    y: strides[query.y.dimension]!,
    stack: query.stack ? strides[query.stack.dimension]! : 0,
    part: query.interleave > 1 ? strides[query.x.dimension]! : 1,
    perCell,
  };
}

/** Keeps each cell as it is, with the type of the attribute. */
class Exact {
  readonly #planes: Plane[] = [];

  constructor(
    readonly width: number,
    readonly height: number,
    readonly count: number,
  ) {}

  add(
    values: PlaneValues,
    validity: Uint8Array | null,
    layout: Layout,
    block: Block,
    query: RasterQuery,
    parts: number,
  ): void {
    const Type = values.constructor as new (length: number) => PlaneValues;
    while (this.#planes.length < this.count) {
      const cells = this.width * this.height;
      this.#planes.push({ values: new Type(cells), validity: validity ? new Uint8Array(cells) : null });
    }
    this.#planes.forEach((plane, number) => {
      const base = Math.floor(number / parts) * layout.stack + (number % parts) * layout.part;
      for (let y = block.y[0]; y < block.y[1]; y++) {
        let from = base + (y - block.y[0]) * layout.y;
        let to = (y - query.y.from) * this.width + block.x[0] - query.x.from;
        for (let x = block.x[0]; x < block.x[1]; x++) {
          plane.values[to] = values[from]!;
          if (plane.validity) {
            plane.validity[to] = validity?.[Math.floor(from / layout.perCell)] ?? 1;
          }
          from += layout.x;
          to += 1;
        }
      }
    });
  }

  planes(): Plane[] {
    return this.#planes;
  }
}

/** Averages square blocks of cells. Nulls and NaN do not count. */
class Means {
  readonly #sums: Float64Array[];
  readonly #counts: Uint32Array[];

  constructor(
    readonly width: number,
    height: number,
    count: number,
    readonly step: number,
    readonly query: RasterQuery,
  ) {
    this.#sums = Array.from({ length: count }, () => new Float64Array(width * height));
    this.#counts = Array.from({ length: count }, () => new Uint32Array(width * height));
  }

  add(
    values: PlaneValues,
    validity: Uint8Array | null,
    layout: Layout,
    block: Block,
    query: RasterQuery,
    parts: number,
  ): void {
    this.#sums.forEach((sums, number) => {
      const counts = this.#counts[number]!;
      const base = Math.floor(number / parts) * layout.stack + (number % parts) * layout.part;
      for (let y = block.y[0]; y < block.y[1]; y++) {
        let from = base + (y - block.y[0]) * layout.y;
        const row = Math.floor((y - query.y.from) / this.step) * this.width;
        for (let x = block.x[0]; x < block.x[1]; x++) {
          const value = Number(values[from]);
          if (!Number.isNaN(value) && validity?.[Math.floor(from / layout.perCell)] !== 0) {
            const to = row + Math.floor((x - query.x.from) / this.step);
            sums[to]! += value;
            counts[to]! += 1;
          }
          from += layout.x;
        }
      }
    });
  }

  planes(): Plane[] {
    return this.#sums.map((sums, number) => {
      const counts = this.#counts[number]!;
      const values = new Float32Array(sums.length);
      for (let index = 0; index < sums.length; index++) {
        values[index] = counts[index] === 0 ? Number.NaN : sums[index]! / counts[index]!;
      }
      return { values, validity: null };
    });
  }
}
