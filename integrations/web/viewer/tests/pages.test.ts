import { describe, expect, it } from "vitest";
import { compareCells, Pages } from "../src/pages";

const page = (cells: number[]) => ({ columns: [{ name: "a", datatype: "int32", cells }], rows: cells.length });

describe("pages", () => {
  it("know the end after a page that is not full", () => {
    const pages = new Pages(3);
    expect(pages.end).toBeNull();
    pages.add(0, page([1, 2, 3]));
    expect([pages.end, pages.reached]).toEqual([null, 6]);
    pages.add(1, page([4]));
    expect([pages.end, pages.cell(3, 0), pages.cell(4, 0)]).toEqual([4, 4, undefined]);
    expect(pages.loaded()).toEqual([0, 1, 2, 3]);
  });

  it("do not take an empty page far behind the end for the end", () => {
    const pages = new Pages(3);
    pages.add(0, page([1, 2, 3]));
    pages.add(100, page([]));
    expect(pages.end).toBeNull();
    pages.add(1, page([]));
    expect(pages.end).toBe(3);
  });
});

describe("sorting", () => {
  it("puts nulls and NaN last", () => {
    expect([null, 3, Number.NaN, -1].sort(compareCells).slice(0, 2)).toEqual([-1, 3]);
  });

  it("compares lists, bytes and large integers", () => {
    expect(compareCells([1, 2], [1, 3])).toBe(-1);
    expect(compareCells([1], [1, 0])).toBeLessThan(0);
    expect(compareCells(new Uint8Array([2]), new Uint8Array([1, 9]))).toBe(1);
    expect(compareCells(2n ** 60n, 2n ** 60n + 1n)).toBe(-1);
  });
});
