// Reads all fixtures of the repository.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";

import * as tdb from "../dist/index.js";
import { nodeSource } from "../dist/node.js";
import { compareArray, compareGroup, parseResults, readDamaged } from "./suite.js";

const ROOT = fileURLToPath(new URL("../../../../fixtures", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "tdb-fixtures-"));
after(() => rmSync(folder, { recursive: true }));

/** Unpacks the fixtures. Returns their folders. */
function unpacked() {
  return readdirSync(ROOT).filter((name) => name.startsWith("v")).map((entry) => {
    const name = entry.replace(/\.tar\.gz$/, "");
    const path = join(ROOT, entry);
    if (entry === name) return { name, path };
    const target = join(folder, name);
    execFileSync("mkdir", ["-p", target]);
    execFileSync("tar", ["-xzf", path, "-C", target]);
    return { name, path: target };
  });
}

const all = unpacked();
const found = (file, inner) =>
  all.filter(({ path }) => existsSync(join(path, file))).map(({ name, path }) => {
    const folder = join(path, inner);
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const paths = files.map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(folder.length + 1)).sort();
    return { name, source: nodeSource(folder), expected: parseResults(readFileSync(join(path, file), "utf8")), files: paths };
  });
const arrays = found("expected.json", "array");
const groups = found("group.json", "group");

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
