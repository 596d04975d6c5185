import { expect, it } from "vitest";
import { parseKey } from "../src/keys";
import { parseServed } from "../src/served";

it("keys have 32 bytes", () => {
  expect(parseKey(`${"00".repeat(31)}fF`)).toEqual(Uint8Array.from([...Array(31).fill(0), 255]));
  expect(parseKey("0123456789abcdef0123456789ABCDEF")).toHaveLength(32);
  expect(() => parseKey("abc")).toThrow("64 hexadecimal digits");
});

it("served names become addresses of the same server", () => {
  const root = new URL("http://localhost:1/data/");
  const list = [
    { name: "a b", kind: "array", url: "/data/a%20b/" },
    { name: "g/x", kind: "group", url: "/data/g/x/" },
    { name: "elsewhere", kind: "array", url: "https://example.org/" },
    { name: "script", kind: "array", url: "javascript:alert(1)" },
    3,
    null,
  ];
  expect(parseServed(list, root)).toEqual([
    { name: "a b", kind: "array", url: "http://localhost:1/data/a%20b/" },
    { name: "g/x", kind: "group", url: "http://localhost:1/data/g/x/" },
  ]);
  expect(parseServed({}, root)).toEqual([]);
});
