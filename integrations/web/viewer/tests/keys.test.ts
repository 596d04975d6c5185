import { expect, it } from "vitest";
import { parseKey } from "../src/keys";
import { parseServed } from "../src/served";

it("keys have 32 bytes", () => {
  expect(parseKey("00".repeat(31) + "fF")).toEqual(Uint8Array.from([...Array(31).fill(0), 255]));
  expect(parseKey("0123456789abcdef0123456789ABCDEF")).toHaveLength(32);
  expect(() => parseKey("abc")).toThrow("64 hexadecimal digits");
});

it("served names become addresses", () => {
  const root = new URL("http://localhost:1/data/");
  expect(parseServed(["a b", { name: "../x" }, 3, null], root)).toEqual([
    { name: "a b", url: "http://localhost:1/data/a%20b" },
    { name: "../x", url: "http://localhost:1/data/..%2Fx" },
  ]);
  expect(parseServed({}, root)).toEqual([]);
});
