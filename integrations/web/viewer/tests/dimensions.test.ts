import { describe, expect, it } from "vitest";
import {
  type Axis,
  axes,
  boxes,
  coordinate,
  offsetOf,
  parseCoordinate,
  parseRange,
  sliceRanges,
} from "../src/dimensions";

const days: Axis = { name: "day", datatype: "datetime_day", kind: "integer", low: -10n, high: 20_000n, size: 20_011 };
const rows: Axis = { name: "row", datatype: "int32", kind: "integer", low: 1, high: 100, size: 100 };
const names: Axis = { name: "name", datatype: "string_ascii", kind: "string", low: "a", high: "z", size: 0 };
const x: Axis = { name: "x", datatype: "float64", kind: "float", low: -1, high: 1, size: 2 };

describe("boxes", () => {
  const cells = (shape: number[], ranges: [number, number][]): number[] => {
    const [range, ...rest] = ranges;
    if (!range) {
      return [0];
    }
    const size = shape.slice(1).reduce((a, b) => a * b, 1);
    const inner = cells(shape.slice(1), rest);
    const result: number[] = [];
    for (let index = range[0]; index <= range[1]; index++) {
      result.push(...inner.map((cell) => index * size + cell));
    }
    return result;
  };

  it("hold exactly the cells of a page, in order", () => {
    for (const shape of [[12], [3, 4], [4, 3], [2, 3, 2], [1, 12], [12, 1], [2, 1, 6]]) {
      for (let from = 0; from <= 12; from++) {
        for (let to = from; to <= 12; to++) {
          const found = boxes(shape, from, to).flatMap(({ ranges }) => cells(shape, ranges));
          expect(found).toEqual(Array.from({ length: to - from }, (_, index) => from + index));
        }
      }
    }
  });

  it("are few", () => {
    expect(boxes([1_000_000, 1000], 500, 2_000_500)).toHaveLength(3);
    expect(boxes([10, 10, 10], 0, 1000)).toHaveLength(1);
  });
});

describe("coordinates", () => {
  it("convert to offsets and back", () => {
    expect(offsetOf(days, 0n)).toBe(10);
    expect(coordinate(days, 10)).toBe(0n);
    expect(coordinate(rows, 99)).toBe(100);
    expect(offsetOf(x, 0.5)).toBe(1.5);
  });

  it("are parsed by the type of the dimension", () => {
    expect(parseCoordinate(days, "2024-05-01")).toBe(19_844n);
    expect(parseCoordinate(days, "7")).toBe(7n);
    expect(parseCoordinate(rows, "1_0")).toBe(10);
    expect(parseCoordinate(x, "-0.5")).toBe(-0.5);
    expect(parseCoordinate(names, " b")).toBe(" b");
    expect(() => parseCoordinate(rows, "1.5")).toThrow("expected an integer");
    expect(() => parseCoordinate(days, "May")).toThrow("expected a date");
    expect(() => parseCoordinate(x, "")).toThrow("expected a number");
  });

  it("form ranges with open ends", () => {
    expect(parseRange(rows, "5..7")).toEqual([5, 7]);
    expect(parseRange(rows, "5..")).toEqual([5, 100]);
    expect(parseRange(rows, "..7")).toEqual([1, 7]);
    expect(parseRange(rows, "5")).toEqual([5, 5]);
    expect(parseRange(rows, " ")).toBeNull();
    expect(() => parseRange(rows, "7..5")).toThrow("empty");
  });

  it("of dates end with the last value of the period", () => {
    const axis = (unit: string): Axis => ({
      ...days,
      datatype: `datetime_${unit}`,
      low: -(2n ** 62n),
      high: 2n ** 62n,
    });
    expect(parseRange(days, "2024-05")).toEqual([19_844n, 19_874n]);
    expect(parseRange(days, "2024")).toEqual([19_723n, 20_088n]);
    expect(parseRange(days, "2024-02..2024-02")).toEqual([19_754n, 19_782n]);
    expect(parseRange(axis("sec"), "1970-01-02")).toEqual([86_400n, 172_799n]);
    expect(parseRange(axis("sec"), "1970-01-01T00:01..1970-01-01T01")).toEqual([60n, 7199n]);
    expect(parseRange(axis("month"), "1969")).toEqual([-12n, -1n]);
    expect(parseRange(axis("year"), "2024")).toEqual([54n, 54n]);
    expect(parseRange(axis("week"), "1970-01")).toEqual([0n, 4n]);
    expect(parseRange(axis("ns"), "1970-01-01 00:00:00.123456789")).toEqual([123_456_789n, 123_456_789n]);
    expect(parseRange(axis("ns"), "1969-12-31T23:59:59.9Z")).toEqual([-100_000_000n, -1n]);
    expect(parseRange(axis("as"), "1970-01-01T00:00:01")).toEqual([10n ** 18n, 2n * 10n ** 18n - 1n]);
    expect(parseRange(days, "7D..9")).toEqual([7n, 9n]);
  });

  it("of dates are refused if no value begins within the period", () => {
    expect(() => parseRange(days, "2024-05-01T12")).toThrow("no coordinate begins within");
    expect(parseCoordinate(days, "2024-05-01T12")).toBe(19_844n);
    for (const text of ["2023-02-29", "2024-13", "2024-05-01T24", "2024-05-01T10:60", "2024-05-01T10:00:00."]) {
      expect(() => parseRange(days, text), text).toThrow("expected a date");
    }
  });

  it("of hostile names stay own properties", () => {
    const axis = { ...rows, name: "__proto__" };
    const ranges = sliceRanges([axis], Object.assign(Object.create(null), { ["__proto__"]: "2..3" }));
    expect(Object.keys(ranges)).toEqual(["__proto__"]);
  });
});

it("the non-empty domain limits axes", () => {
  const dimension = {
    name: "row",
    datatype: "int64",
    domain: [0n, 10n ** 18n] as [bigint, bigint],
    extent: 10n,
    filters: [],
  };
  const schema = { dimensions: [dimension] } as unknown as Parameters<typeof axes>[0];
  expect(axes(schema, [[5n, 9n]])[0]).toMatchObject({ low: 5n, high: 9n, size: 5, kind: "integer" });
  expect(axes(schema, null)[0]?.size).toBe(1e18);
});
