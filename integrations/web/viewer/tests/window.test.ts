import { describe, expect, it } from "vitest";
import { MAX_HEIGHT, pagesOf, scrollHeight, scrollTopOf, visibleRows } from "../src/window";

const ROW = 26;
const VIEW = 520;

describe("virtual windows", () => {
  it("of short tables follow the pixels", () => {
    expect(visibleRows(100, ROW, VIEW, 0)).toEqual({ first: 0, count: 21, offset: 0 });
    expect(visibleRows(100, ROW, VIEW, 39)).toEqual({ first: 1, count: 21, offset: -13 });
    expect(visibleRows(3, ROW, VIEW, 0).count).toBe(3);
    expect(visibleRows(0, ROW, VIEW, 0).count).toBe(0);
  });

  it("of long tables reach the first and the last row", () => {
    const rows = 1e9;
    const height = scrollHeight(rows, ROW, VIEW);
    expect(height).toBe(MAX_HEIGHT);
    expect(visibleRows(rows, ROW, VIEW, 0).first).toBe(0);
    const end = visibleRows(rows, ROW, VIEW, height - VIEW);
    expect(end.first + end.count).toBe(rows);
  });

  it("show a row at its scroll position", () => {
    for (const [row, rows] of [
      [0, 10],
      [50, 1000],
      [123_456_789, 1e9],
    ] as const) {
      const { first } = visibleRows(rows, ROW, VIEW, scrollTopOf(row, rows, ROW, VIEW));
      expect(Math.abs(first - row)).toBeLessThanOrEqual(1);
    }
  });
});

it("pages cover the visible rows", () => {
  expect(pagesOf(199, 2, 200)).toEqual([0, 1]);
  expect(pagesOf(0, 200, 200)).toEqual([0]);
  expect(pagesOf(5, 0, 200)).toEqual([]);
});
