import { describe, expect, it } from "vitest";
import { axes } from "../src/dimensions";
import { expectedRows } from "../src/expected";
import type { Fragment, Ranges, Schema } from "../src/protocol";

function described(arrayType: "dense" | "sparse", cells: bigint[], nonEmpty: [number, number][] | null) {
  const dimension = (name: string) => ({ name, datatype: "int32", domain: [1, 1000], extent: 10, filters: [] });
  const schema = { arrayType, dimensions: [dimension("y"), dimension("x")] } as unknown as Schema;
  const fragments = cells.map((cells) => ({ cells, hasDeletes: false }) as Fragment);
  return { schema, fragments, nonEmptyDomain: nonEmpty, axes: axes(schema, nonEmpty) };
}

const selected = (ranges: Ranges = {}, where = "") => ({ columns: ["a"], ranges, where, order: "row-major" as const });

describe("expected rows", () => {
  it("of dense arrays are the cells of the non-empty domain", () => {
    const data = described(
      "dense",
      [100n],
      [
        [500, 509],
        [500, 509],
      ],
    );
    expect(expectedRows(data, selected())).toEqual({ rows: 100, isExact: true });
    expect(expectedRows(data, selected({ x: [[1, 30]] }))).toEqual({ rows: 300, isExact: true });
    expect(expectedRows(data, selected({}, "a > 1"))).toBeNull();
    expect(expectedRows(described("dense", [], null), selected())).toEqual({ rows: 0, isExact: true });
  });

  it("of sparse arrays are an upper bound, because deletes may hide cells", () => {
    expect(
      expectedRows(
        described(
          "sparse",
          [100n],
          [
            [1, 9],
            [1, 9],
          ],
        ),
        selected(),
      ),
    ).toEqual({ rows: 100, isExact: false });
    expect(expectedRows(described("sparse", [], null), selected())).toEqual({ rows: 0, isExact: true });
    expect(
      expectedRows(
        described(
          "sparse",
          [100n],
          [
            [1, 9],
            [1, 9],
          ],
        ),
        selected({ x: [[1, 3]] }),
      ),
    ).toBeNull();
  });
});
