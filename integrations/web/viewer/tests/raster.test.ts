import type { Query, TileArray } from "tdb-array";
import { describe, expect, it } from "vitest";
import type { RasterQuery } from "../src/protocol";
import { readRaster } from "../src/worker/raster";

/** A dense array whose cells hold their own coordinates. */
function numbered(shape: number[], names: string[], extent: number, perCell = 1) {
  const reads: number[] = [];
  const array = {
    schema: {
      dimensions: names.map((name) => ({ name, extent })),
      attributes: [{ name: "a", cellValNum: perCell }],
    },
    async read(query: Query) {
      const spans = names.map((name) => query.ranges![name]![0] as [number, number]);
      const values: number[] = [];
      const visit = (depth: number, value: number) => {
        if (depth === names.length) {
          for (let part = 0; part < perCell; part++) {
            values.push(value * perCell + part);
          }
          return;
        }
        for (let index = spans[depth]![0]; index <= spans[depth]![1]; index++) {
          visit(depth + 1, value * shape[depth]! + index);
        }
      };
      visit(0, 0);
      reads.push(values.length);
      return {
        rows: values.length / perCell,
        column: () => ({ values: Float64Array.from(values), validity: null }),
        free() {},
      };
    },
  };
  return { array: array as unknown as TileArray, reads };
}

const job = { signal: new AbortController().signal, onProgress() {} };
const origin = { y: 0, x: 0, c: 0 };
const query = (changes: Partial<RasterQuery>): RasterQuery => ({
  attribute: "a",
  x: { dimension: "x", from: 0, to: 4 },
  y: { dimension: "y", from: 0, to: 3 },
  fixed: {},
  stack: null,
  interleave: 1,
  origin,
  maxWidth: 100,
  maxHeight: 100,
  ...changes,
});

describe("rasters", () => {
  it("hold the cells of a rectangle", async () => {
    const { array } = numbered([10, 10], ["y", "x"], 4);
    const raster = await readRaster(
      array,
      query({ x: { dimension: "x", from: 2, to: 4 }, y: { dimension: "y", from: 1, to: 3 } }),
      job,
      () => {},
    );
    expect([...raster.planes[0]!.values]).toEqual([12, 13, 22, 23]);
  });

  it("can be transposed", async () => {
    const { array } = numbered([10, 10], ["x", "y"], 4);
    const raster = await readRaster(
      array,
      query({ x: { dimension: "x", from: 0, to: 2 }, y: { dimension: "y", from: 0, to: 2 } }),
      job,
      () => {},
    );
    expect([...raster.planes[0]!.values]).toEqual([0, 10, 1, 11]);
  });

  it("split channels of a dimension and of cells into planes", async () => {
    const stacked = numbered([2, 2, 3], ["y", "x", "c"], 4);
    const box = { x: { dimension: "x", from: 0, to: 2 }, y: { dimension: "y", from: 0, to: 2 } };
    const raster = await readRaster(
      stacked.array,
      query({ ...box, stack: { dimension: "c", from: 0, to: 3 } }),
      job,
      () => {},
    );
    expect(raster.planes.map(({ values }) => [...values])).toEqual([
      [0, 3, 6, 9],
      [1, 4, 7, 10],
      [2, 5, 8, 11],
    ]);
    const packed = numbered([2, 2], ["y", "x"], 4, 2);
    const other = await readRaster(packed.array, query(box), job, () => {});
    expect(other.planes.map(({ values }) => [...values])).toEqual([
      [0, 2, 4, 6],
      [1, 3, 5, 7],
    ]);
  });

  it("split pixels side by side into planes", async () => {
    const { array } = numbered([2, 6], ["y", "x"], 4);
    const box = { x: { dimension: "x", from: 0, to: 2 }, y: { dimension: "y", from: 0, to: 2 } };
    const raster = await readRaster(array, query({ ...box, interleave: 3 }), job, () => {});
    expect(raster.planes.map(({ values }) => [...values])).toEqual([
      [0, 3, 6, 9],
      [1, 4, 7, 10],
      [2, 5, 8, 11],
    ]);
  });

  it("average blocks of large rectangles, and read every cell once", async () => {
    const { array, reads } = numbered([3000, 3000], ["y", "x"], 1000);
    const box = { x: { dimension: "x", from: 0, to: 3000 }, y: { dimension: "y", from: 0, to: 3000 } };
    const raster = await readRaster(array, query(box), job, () => {});
    expect([raster.width, raster.height, raster.step]).toEqual([100, 100, 30]);
    expect(raster.planes[0]!.values[0]).toBeCloseTo(14.5 * 3000 + 14.5, 0);
    expect(raster.planes[0]!.values[9999]).toBeCloseTo(2984.5 * 3000 + 2984.5, -1);
    expect(reads.reduce((a, b) => a + b, 0)).toBe(9_000_000);
    expect(Math.max(...reads)).toBeLessThanOrEqual(1 << 22);
  });

  it("stop when they are cancelled", async () => {
    const { array } = numbered([10, 10], ["y", "x"], 4);
    const controller = new AbortController();
    controller.abort();
    await expect(readRaster(array, query({}), { ...job, signal: controller.signal }, () => {})).rejects.toThrow();
  });
});
