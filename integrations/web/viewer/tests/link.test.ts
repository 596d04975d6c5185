import { describe, expect, it } from "vitest";
import { EMPTY, formatLink, forPath, parseLink, type State } from "../src/link";

const full: State = {
  source: { kind: "s3", endpoint: "https://s3.example", bucket: "b", prefix: "a/b" },
  path: "group/inner array",
  view: "heatmap",
  at: 1_700_000_000_000,
  columns: ["a,b", "<i>c</i>"],
  where: "a > 3 and s in ('x', '&#')",
  order: "global",
  row: 12_000_000,
  slices: { z: "3..5", "s.t": "2024-01-01" },
  x: "cols",
  y: "rows",
  attribute: "a",
  map: "magma",
  window: { x0: 0.5, x1: 100, y0: -3, y1: 20 },
  range: [-1.5, 2e9],
  level: 2,
  channels: "c.1",
};

describe("links", () => {
  it("restore every part of the state", () => {
    expect({ ...parseLink(formatLink(full)) }).toEqual(full);
  });

  it("of the empty state are empty", () => {
    expect(formatLink(EMPTY)).toBe("");
    expect(parseLink("")).toEqual(EMPTY);
  });

  it("accept only addresses of the web", () => {
    for (const url of ["javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "x"]) {
      expect(parseLink(`#url=${encodeURIComponent(url)}`).source).toBeNull();
      expect(parseLink(`#s3=${encodeURIComponent(url)}&bucket=b`).source).toBeNull();
    }
  });

  it("ignore malformed parts", () => {
    const state = parseLink("#view=x&at=-1&order=random&row=1e99&window=1,2,,4&range=a,b&level=1.5&col=");
    expect(state).toEqual({ ...EMPTY, columns: [""] });
  });

  it("do not confuse slices with properties of objects", () => {
    const { slices } = parseLink("#s.__proto__=1&s.constructor=2");
    expect(Object.keys(slices)).toEqual(["__proto__", "constructor"]);
    expect(({} as Record<string, unknown>).a).toBeUndefined();
  });

  it("to another array keep the source and the time", () => {
    expect(forPath(full, "p")).toEqual({ ...EMPTY, source: full.source, at: full.at, path: "p" });
  });
});
