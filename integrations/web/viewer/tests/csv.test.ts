import { describe, expect, it } from "vitest";
import { csvField, csvHeader, csvLine, fileName } from "../src/csv";

describe("CSV", () => {
  it("has the form of the command", () => {
    expect(csvField(null, "int32")).toBe("");
    expect(csvField("", "string_utf8")).toBe('""');
    expect(csvField('a "b", c\n', "string_utf8")).toBe('"a ""b"", c\n"');
    expect(csvField([1, 2], "int32")).toBe('"[1,2]"');
    expect(csvField([1n, 9_007_199_254_740_993n], "int64")).toBe('"[1,9007199254740993]"');
    expect(csvField([Number.NaN], "float64")).toBe('"[""NaN""]"');
    expect(csvField(true, "bool")).toBe("true");
    expect(csvField(new Uint8Array([10]), "blob")).toBe("0a");
    expect(csvField(19_844n, "datetime_day")).toBe("2024-05-01");
  });

  it("keeps strings that look like formulas as they are", () => {
    expect(csvField("=1+1", "string_utf8")).toBe("=1+1");
  });

  it("has a header and lines that end with a line feed", () => {
    expect(csvHeader(["a,b", "c"]) + csvLine(["1", "2"])).toBe('"a,b",c\n1,2\n');
  });

  it("is saved under a harmless name", () => {
    expect(fileName("group/../..", "csv")).toBe("cells.csv");
    expect(fileName("a/b<c>:d", "csv")).toBe("b_c_d.csv");
    expect(fileName("a/.hidden", "arrows")).toBe("hidden.arrows");
    expect(fileName("", "csv")).toBe("cells.csv");
  });
});
