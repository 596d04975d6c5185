import { describe, expect, it } from "vitest";
import type { Axis } from "../src/dimensions";
import { axisTicks } from "../src/ticks";
import { clampWindow, fitSquare, pan, toCoordinates, toOffsets, zoom } from "../src/viewport";

const rows: Axis = { name: "row", datatype: "int32", kind: "integer", low: 1, high: 100, size: 100 };

describe("ticks", () => {
  it("are at round coordinates, in the middle of cells", () => {
    expect(axisTicks(rows, 0, 100, 5, true)).toEqual([
      { offset: 19.5, label: "20" },
      { offset: 39.5, label: "40" },
      { offset: 59.5, label: "60" },
      { offset: 79.5, label: "80" },
      { offset: 99.5, label: "100" },
    ]);
  });

  it("of integers are never between coordinates", () => {
    const ticks = axisTicks(rows, 10, 12, 10, true);
    expect(ticks.map(({ label }) => label)).toEqual(["11", "12"]);
  });

  it("of dates have the text of dates", () => {
    const days: Axis = { name: "day", datatype: "datetime_day", kind: "integer", low: 0n, high: 99n, size: 100 };
    expect(axisTicks(days, 0, 100, 2, false)[0]?.label).toBe("1970-01-01");
  });

  it("of floats are round", () => {
    const x: Axis = { name: "x", datatype: "float64", kind: "float", low: -0.1, high: 0.9, size: 1 };
    expect(axisTicks(x, 0, 1, 5, false).map(({ label }) => label)).toEqual(["0", "0.2", "0.4", "0.6", "0.8"]);
  });
});

describe("windows", () => {
  const all = { x0: 0, x1: 100, y0: 0, y1: 50 };

  it("zoom about a point", () => {
    expect(zoom(all, 0.5, 100, 0, 1)).toEqual({ x0: 50, x1: 100, y0: 0, y1: 25 });
  });

  it("never zoom below the least size", () => {
    const small = zoom({ x0: 0, x1: 2, y0: 0, y1: 2 }, 0.1, 1, 1, 2);
    expect(small.x1 - small.x0).toBeCloseTo(2);
  });

  it("stay within the cells", () => {
    expect(clampWindow(pan({ x0: 0, x1: 10, y0: 0, y1: 10 }, -5, 100), all)).toEqual({ x0: 0, x1: 10, y0: 40, y1: 50 });
    expect(clampWindow({ x0: -50, x1: 150, y0: 0, y1: 10 }, all)).toEqual({ x0: 0, x1: 100, y0: 0, y1: 10 });
  });

  it("hold coordinates in links", () => {
    const days: Axis = {
      name: "day",
      datatype: "datetime_day",
      kind: "integer",
      low: 19_000n,
      high: 20_000n,
      size: 1001,
    };
    const window = { x0: 1, x1: 2, y0: 5, y1: 7 };
    expect(toCoordinates(window, rows, days)).toEqual({ x0: 2, x1: 3, y0: 19_005, y1: 19_007 });
    expect(toOffsets(toCoordinates(window, rows, days), rows, days)).toEqual(window);
  });

  it("of pictures have one scale", () => {
    expect(fitSquare(all, { width: 100, height: 100 })).toEqual({ x0: 0, x1: 100, y0: -25, y1: 75 });
  });
});
