import { describe, expect, it } from "vitest";
import type { Axis } from "../src/dimensions";
import { imageLayout, levelFor, levelPaths } from "../src/image-layout";
import type { Schema } from "../src/protocol";

const axis = (name: string, size: number): Axis => ({
  name,
  datatype: "uint32",
  kind: "integer",
  low: 0,
  high: size - 1,
  size,
});
const schema = (datatype: string, cellValNum: number | "var" = 1, arrayType = "dense", filters: string[] = []) =>
  ({
    arrayType,
    attributes: [{ name: "intensity", datatype, cellValNum, enumeration: null, filters }],
  }) as unknown as Schema;

describe("images", () => {
  it("have channels in a dimension, in any order", () => {
    const planar = imageLayout(schema("uint16"), [axis("C", 5), axis("Y", 100), axis("X", 200)])!;
    expect([planar.x.name, planar.y.name, planar.channel?.name, planar.planes]).toEqual(["X", "Y", "C", 5]);
    const packed = imageLayout(schema("uint8"), [axis("rows", 100), axis("cols", 200), axis("d", 3)])!;
    expect([packed.x.name, packed.channel?.name, packed.colors]).toEqual(["cols", "d", [0, 1, 2, null]]);
  });

  it("have channels in the cells", () => {
    const layout = imageLayout(schema("uint8", 4), [axis("y", 10), axis("x", 10)])!;
    expect([layout.perCell, layout.planes, layout.colors]).toEqual([4, 4, [0, 1, 2, 3]]);
  });

  it("have colors side by side under the WebP filter", () => {
    const filters = ["webp(bgra, lossless, 19 rows of 4 bytes)"];
    const layout = imageLayout(schema("uint8", 1, "dense", filters), [axis("y", 10), axis("x", 40)])!;
    expect([layout.x.size, layout.interleave, layout.planes, layout.colors]).toEqual([10, 4, 4, [2, 1, 0, 3]]);
  });

  it("keep depth and time as slices", () => {
    const axes = ["T", "C", "Z", "Y", "X"].map((name, index) => axis(name, index + 2));
    expect(imageLayout(schema("uint16"), axes)!.others.map(({ name }) => name)).toEqual(["T", "Z"]);
  });

  it("are not any dense array", () => {
    const plain = [axis("a", 10), axis("b", 10)];
    expect(imageLayout(schema("uint8"), plain)).toBeNull();
    expect(imageLayout(schema("uint8"), plain, true)?.planes).toBe(1);
    expect(imageLayout(schema("string_utf8", "var"), [axis("y", 10), axis("x", 10), axis("c", 3)])).toBeNull();
    expect(imageLayout(schema("uint8", 3, "sparse"), plain)).toBeNull();
  });
});

describe("levels", () => {
  it("are named by the metadata of the group", () => {
    expect(levelPaths('[{"level":0,"name":"l_0.tdb"},{"level":1,"name":"l_1.tdb"}]')).toEqual(
      new Set(["l_0.tdb", "l_1.tdb"]),
    );
    expect(levelPaths("not JSON")).toBeNull();
    expect(levelPaths("[1,null]")).toBeNull();
    expect(levelPaths(undefined)).toBeNull();
  });

  it("are not coarser than the screen", () => {
    const widths = [4096, 2048, 1024];
    expect([0.5, 1, 1.9, 2, 3.9, 4, 100].map((pixels) => levelFor(widths, pixels))).toEqual([0, 0, 0, 1, 1, 2, 2]);
  });
});
