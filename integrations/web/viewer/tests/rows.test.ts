import type { Query, TileArray } from "tdb-array";
import { describe, expect, it } from "vitest";
import type { Order, Selection } from "../src/protocol";
import { exportCells } from "../src/worker/export";
import { countRows, estimateRead, readRows } from "../src/worker/rows";

const job = { signal: new AbortController().signal, onProgress() {} };
const ALL = { y: [[500, 509]], x: [[500, 509]] };

/** An array that records its queries. Its tables are empty. */
function recorded(arrayType: "dense" | "sparse", nonEmpty: [number, number][] | null) {
  const queries: Query[] = [];
  const dimension = (name: string) => ({ name, datatype: "int32", domain: [1, 1000], extent: 10, filters: [] });
  const table = { rows: 0, column: () => ({ datatype: "int32" }), free() {}, toArrow: () => new Uint8Array() };
  const record = <T>(query: Query, answer: T): T => {
    queries.push(query);
    return answer;
  };
  const array = {
    schema: { arrayType, dimensions: [dimension("y"), dimension("x")], attributes: [] },
    nonEmptyDomain: async () => nonEmpty,
    read: async (query: Query) => record(query, table),
    async *batches(query: Query) {
      yield record(query, table);
    },
    aggregate: async (query: Query) => record(query, [{ count: 7n }]),
    plan: async (query: Query) => record(query, { requests: 1, bytes: 2, tiles: 3, text: "" }),
  };
  return { array: array as unknown as TileArray, queries };
}

function selected(order: Order, parts: Partial<Selection> = {}): Selection {
  return { columns: ["y", "x", "a"], ranges: {}, where: "", order, ...parts };
}

async function all(array: TileArray, selection: Selection) {
  await readRows(array, selection, 0, 1000, job);
  await exportCells(array, selection, 1000, "csv", job, () => {});
  await exportCells(array, selection, 1000, "arrow", job, () => {});
  const count = await countRows(array, selection.ranges, selection.where, job);
  const estimate = await estimateRead(array, selection.columns, selection.ranges, selection.where, job);
  return { count, estimate };
}

describe("rows of dense arrays", () => {
  it("lie in the non-empty domain, in every order and in every read", async () => {
    for (const order of ["row-major", "column-major", "global", "unordered"] as const) {
      for (const where of ["", "a > 1"]) {
        const { array, queries } = recorded("dense", [
          [500, 509],
          [500, 509],
        ]);
        expect((await all(array, selected(order, { where }))).count).toBe(7);
        expect(queries.map(({ ranges }) => ({ ...ranges }))).toEqual(Array(5).fill(ALL));
      }
    }
  });

  it("keep the chosen ranges", async () => {
    const { array, queries } = recorded("dense", [
      [500, 509],
      [500, 509],
    ]);
    await all(array, selected("column-major", { ranges: { x: [[3, 5]] } }));
    expect(queries.map(({ ranges }) => ({ ...ranges }))).toEqual(Array(5).fill({ ...ALL, x: [[3, 5]] }));
  });

  it("are absent without fragments", async () => {
    const { array, queries } = recorded("dense", null);
    const { count, estimate } = await all(array, selected("row-major"));
    expect([count, estimate.bytes]).toEqual([0, 0]);
    expect(queries.map(({ limit }) => limit)).toEqual([0, 0, 0]);
  });

  it("are read as pages of the selection in row-major order", async () => {
    const { array, queries } = recorded("dense", [
      [500, 509],
      [500, 509],
    ]);
    await readRows(array, selected("row-major"), 15, 10, job);
    expect(queries.map(({ ranges }) => ({ ...ranges }))).toEqual([
      { y: [[501, 501]], x: [[505, 509]] },
      { y: [[502, 502]], x: [[500, 504]] },
    ]);
  });
});

it("sparse arrays are read without added ranges", async () => {
  const { array, queries } = recorded("sparse", [
    [500, 509],
    [500, 509],
  ]);
  await all(array, selected("unordered"));
  expect(queries.map(({ ranges }) => ranges)).toEqual(Array(5).fill({}));
});
