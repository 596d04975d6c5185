import { expect, it } from "vitest";
import { transferable } from "../src/worker/transfer";

it("new planes, points and files move to the page", () => {
  const values = new Float64Array(1000);
  expect(transferable("raster", { planes: [{ values, validity: null }] })).toEqual([values.buffer]);
  expect(transferable("points", { x: values, y: values })).toEqual([values.buffer]);
  const bytes = new Uint8Array(10_000);
  expect(transferable("export", { bytes, rows: 1 })).toEqual([bytes.buffer]);
  expect(transferable("raster", { planes: [{ values: values.subarray(1), validity: null }] })).toEqual([]);
});

it("values that an open array keeps stay usable", () => {
  const cached = [new Uint8Array(10_000)];
  structuredClone(cached, { transfer: transferable("enumeration", cached) });
  expect(cached[0]?.length).toBe(10_000);
  expect(transferable("array", { schema: { fill: cached[0] } })).toEqual([]);
});
