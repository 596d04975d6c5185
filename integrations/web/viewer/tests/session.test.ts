import { expect, it } from "vitest";
import { folderOf, openSource } from "../src/worker/session";

it("a folder lists all of its subfolders", async () => {
  const files = Array.from({ length: 2100 }, (_, index) => ({
    path: `root/array-${index}/__schema/__1_1_f00d`,
    file: new File(["x"], "__1_1_f00d"),
  }));
  const { id } = openSource({ kind: "files", name: "root", files });
  const children = await folderOf({ source: id, path: "", at: null });
  expect(children.map(({ name }) => name)).toEqual(files.map((_, index) => `array-${index}`));
  expect(new Set(children.slice(0, 2000).map(({ type }) => type))).toEqual(new Set(["array"]));
  expect(new Set(children.slice(2000).map(({ type }) => type))).toEqual(new Set(["folder"]));
});
