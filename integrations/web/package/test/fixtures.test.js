// Comparisons with the native reader: `cargo xtask wasm --test` writes the fixtures.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

import * as tdb from "../dist/index.js";
import { nodeSource } from "../dist/node.js";
import { fixtures, hostile, speed } from "./suite.js";

const folder = process.env.TDB_FIXTURES;
const skip = folder === undefined ? "TDB_FIXTURES is not set" : false;
const environment = {
  tdb,
  source: (name) => nodeSource(join(folder, name)),
  json: async (name) => JSON.parse(await readFile(join(folder, name), "utf8")),
};

test("fixtures have the cells of the native reader", { skip }, (t) => fixtures(environment, (line) => t.diagnostic(line)));

test("damaged arrays give typed errors", { skip }, (t) => hostile(environment, (line) => t.diagnostic(line)));

test("speed", { skip }, (t) => speed(environment, (line) => t.diagnostic(line)));
