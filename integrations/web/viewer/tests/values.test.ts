import { describe, expect, it } from "vitest";
import { bytesText, cellText, dateText, dateUnit, numberText, scalarText, timeText } from "../src/values";

describe("dates", () => {
  it("are as precise as their unit", () => {
    expect(dateText(54n, "Y")).toBe("2024");
    expect(dateText(-1n, "M")).toBe("1969-12");
    expect(dateText(19_844n, "D")).toBe("2024-05-01");
    expect(dateText(-1n, "h")).toBe("1969-12-31T23");
    expect(dateText(1_700_000_000_000n, "ms")).toBe("2023-11-14T22:13:20.000");
    expect(dateText(-1n, "ns")).toBe("1969-12-31T23:59:59.999999999");
    expect(dateText(1n, "us")).toBe("1970-01-01T00:00:00.000001");
  });

  it("without ISO form are numbers of units", () => {
    expect(dateText(6060n, "Y")).toBe("8030");
    expect(dateText(9000n, "Y")).toBe("9000Y");
    expect(dateText(10n ** 12n, "D")).toBe("1000000000000D");
    expect(dateText(-(2n ** 63n), "ms")).toBe("NaT");
  });

  it("have the units of TileDB", () => {
    expect(dateUnit("datetime_day")).toBe("D");
    expect(dateUnit("datetime_ns")).toBe("ns");
    expect(dateUnit("DATETIME_MIN")).toBe("m");
    expect(dateUnit("int64")).toBeNull();
  });
});

describe("numbers", () => {
  it("are the shortest text of their type", () => {
    expect(numberText(Math.fround(0.1), "float32")).toBe("0.1");
    expect(numberText(Math.fround(0.1), "float64")).toBe("0.10000000149011612");
    expect(numberText(-0, "float64")).toBe("-0");
    expect(numberText(Number.NaN, "float32")).toBe("NaN");
    expect(numberText(Number.NEGATIVE_INFINITY, "float32")).toBe("-inf");
  });

  it("keep all digits of 64-bit integers", () => {
    expect(scalarText(18_446_744_073_709_551_615n, "uint64")).toBe("18446744073709551615");
  });
});

describe("cells", () => {
  it("of several values look like lists", () => {
    expect(cellText([1, 2, null], "int32")).toBe("[1, 2, null]");
  });

  it("of bytes are hexadecimal", () => {
    expect(cellText(new Uint8Array([0, 255]), "blob")).toBe("00ff");
  });
});

it("sizes have binary units", () => {
  expect([0, 1023, 1024, 10 * 1024 ** 2, 5n * 1024n ** 4n].map(bytesText)).toEqual([
    "0 B",
    "1023 B",
    "1.0 KiB",
    "10 MiB",
    "5.0 TiB",
  ]);
});

it("times omit zero milliseconds", () => {
  expect(timeText(1_700_000_000_000)).toBe("2023-11-14 22:13:20 UTC");
  expect(timeText(1_700_000_000_001)).toBe("2023-11-14 22:13:20.001 UTC");
  expect(timeText(1e18)).toBe("1000000000000000000 ms");
});
