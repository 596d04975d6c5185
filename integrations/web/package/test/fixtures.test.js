// Reads all fixtures of the repository.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import * as tdb from "../dist/index.js";
import { nodeSource } from "../dist/node.js";
import { fixtures } from "./fixtures.js";
import { compareArray, compareGroup, parseResults, readDamaged } from "./suite.js";

const folder = mkdtempSync(join(tmpdir(), "tdb-fixtures-"));
after(() => rmSync(folder, { recursive: true }));

const opened = ({ name, root, results, files }) => ({
  name,
  source: nodeSource(root),
  expected: parseResults(readFileSync(results, "utf8")),
  files,
});
const all = fixtures(folder);
const arrays = all.arrays.map(opened);
const groups = all.groups.map(opened);

test("arrays have the cells that the reference library reads", async (t) => {
  const log = { queries: 0, cells: 0, skipped: 0 };
  const problems = [];
  for (const array of arrays) problems.push(...(await compareArray(tdb, array, log)));
  t.diagnostic(`${arrays.length} arrays, ${log.queries} queries, ${log.cells} cells; ${log.skipped} queries skipped`);
  assert.ok(log.queries > 20 * log.skipped);
  assert.deepEqual(problems, []);
});

test("groups have the members that the reference library reads", async (t) => {
  for (const group of groups) await compareGroup(tdb, group);
  t.diagnostic(`${groups.length} groups`);
  assert.ok(groups.length > 0);
});

test("damaged arrays give typed errors", async (t) => {
  const log = { sound: 0, failed: 0 };
  for (const [seed, array] of arrays.entries()) await readDamaged(tdb, array, 6, seed, log);
  t.diagnostic(`${log.sound + log.failed} damaged arrays, ${log.failed} with an error`);
  assert.ok(log.failed > 0);
});
