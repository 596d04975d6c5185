import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import * as tdb from "../dist/index.js";
import { nodeSource } from "../dist/node.js";

const folder = (name) => nodeSource(fileURLToPath(new URL(`../../../../fixtures/${name}`, import.meta.url)));
const dense = () => folder("v22-by-2.30.0-dense-2d-row-row/array");
const sparse = () => folder("v22-by-2.30.0-sparse-2d/array");

test("an array has a schema, fragments and a domain", async () => {
  const array = await tdb.openArray(dense());
  assert.equal(array.schema.arrayType, "dense");
  assert.deepEqual(array.schema.dimensions.map(({ name }) => name), ["y", "x"]);
  const fragments = await array.fragments();
  assert.ok(fragments.length > 0 && fragments[0].bytes > 0n && fragments[0].nonEmptyDomain.length === 2);
  assert.equal((await array.nonEmptyDomain()).length, 2);
  assert.deepEqual(await array.metadata(), {});
  assert.match(await array.toml(), /\[\[dimension\]\]/);
  assert.equal(await tdb.objectType(dense()), "array");
  assert.equal(await tdb.objectType(dense(), "__schema"), null);
  assert.equal(await tdb.objectType(dense(), "no such folder"), null);
  array.close();
  await assert.rejects(array.fragments(), /closed/);
});

test("limits, offsets, conditions and orders select cells", async () => {
  const array = await tdb.openArray(dense());
  const all = await array.read({ columns: ["a"] });
  const values = Array.from(all.column("a").values);
  assert.ok(all.shape !== null && all.shape.reduce((a, b) => a * b) === all.rows);
  const part = await array.read({ columns: ["a"], limit: 5, offset: 3 });
  assert.deepEqual(Array.from(part.column("a").values), values.slice(3, 8));
  assert.equal(part.shape, null);
  const large = await array.read({ columns: ["a"], where: "a > 10" });
  assert.deepEqual(Array.from(large.column("a").values), values.filter((value) => value > 10));
  const none = await array.read({ columns: ["a"], where: "a > 10 and a < 10" });
  assert.equal(none.rows, 0);
  assert.equal(none.column("a").values.length, 0);
  let rows = 0;
  for await (const table of array.batches({ columns: ["a"] })) rows += table.rows;
  assert.equal(rows, all.rows);
  const columns = await array.read({ columns: ["y", "x"], order: "column-major" });
  const order = Array.from({ length: columns.rows }, (_, row) => [columns.column("x").get(row), columns.column("y").get(row)]);
  assert.deepEqual(order, order.toSorted((a, b) => a[0] - b[0] || a[1] - b[1]));
  array.close();
});

test("aggregates are computed, by group too", async () => {
  const array = await tdb.openArray(dense());
  const { a } = Object.fromEntries((await array.read({ columns: ["a"] })).columns.map((column) => [column.name, Array.from(column.values)]));
  const [row] = await array.aggregate({}, [{ op: "count" }, { op: "sum", column: "a" }, { op: "max", column: "a" }, { op: "mean", column: "a" }]);
  const sum = a.reduce((a, b) => a + b);
  assert.equal(Number(row.count), a.length);
  assert.equal(Number(row["sum(a)"]), sum);
  assert.equal(row["max(a)"], Math.max(...a));
  assert.ok(Math.abs(row["mean(a)"] - sum / a.length) < 1e-9);
  const groups = await array.aggregate({}, [{ op: "sum", column: "a" }], ["y"]);
  assert.equal(groups.reduce((all, row) => all + Number(row["sum(a)"]), 0), sum);
  await assert.rejects(array.aggregate({}, [{ op: "median", column: "a" }]), /expected count/);
  array.close();
});

test("errors have fields", async () => {
  const array = await tdb.openArray(dense());
  const failed = (query) => array.read(query).then(() => assert.fail("no error"), (error) => error);
  const column = await failed({ columns: ["nope"] });
  assert.deepEqual([column.category, column.field], ["usage", "nope"]);
  assert.equal((await failed({ ranges: { z: [[0, 1]] } })).field, "z");
  assert.equal((await failed({ ranges: { y: [[0, 10n ** 15n]] } })).category, "usage");
  assert.match((await failed({ where: "a >" })).message, /condition/);
  assert.match((await failed({ order: "random" })).message, /row-major/);
  const key = await tdb.openArray(dense(), { key: new Uint8Array(32) }).catch((error) => error);
  assert.equal(key.category, "key");
  const short = await tdb.openArray(dense(), { key: new Uint8Array(3) }).catch((error) => error);
  assert.equal(short.category, "usage");
  const group = await tdb.openGroup(dense()).catch((error) => error);
  assert.match(group.message, /not a group/);
  array.close();
});

test("an earlier time has no fragments", async () => {
  const array = await tdb.openArray(sparse(), { at: 1 }).catch((error) => error);
  // A schema may be newer, too.
  if (!(array instanceof Error)) assert.equal((await array.fragments()).length, 0);
  else assert.ok(array instanceof tdb.TdbError);
});

test("a plan names requests, and progress counts them", async () => {
  const array = await tdb.openArray(sparse());
  const plan = await array.plan({});
  assert.ok(plan.tiles > 0 && plan.bytes > 0 && plan.requests > 0);
  assert.match(plan.text, /touches/);
  const seen = [];
  const table = await array.read({ onProgress: (progress) => seen.push(progress) });
  assert.equal(seen.at(-1).cells, table.rows);
  array.close();
});

test("Arrow streams have the cells", async () => {
  const array = await tdb.openArray(sparse());
  const stream = (await array.read()).toArrow();
  // A continuation marker begins and ends a stream.
  assert.deepEqual(Array.from(stream.slice(0, 4)), [255, 255, 255, 255]);
  assert.deepEqual(Array.from(stream.slice(-8)), [255, 255, 255, 255, 0, 0, 0, 0]);
  array.close();
});

test("freed tables and results over the budget are refused", async () => {
  const array = await tdb.openArray(dense());
  const table = await array.read();
  table.free();
  table.free();
  assert.throws(() => table.column("a").values, /freed/);
  array.close();
});
