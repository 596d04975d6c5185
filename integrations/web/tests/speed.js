// Measures the package in Chromium, and the native engine on one thread: `TDB_PYTHON=python3 node speed.js`.
//
// TDB_PYTHON is a Python with a release build of the package `tdb`. Both engines open an array, and compute aggregates
// with a condition that reads every tile, nine times in one process, in five rounds. The files are in the memory of the page, and in
// the page cache of the system. The script prints a table in Markdown.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { launch, newPage } from "./browser.js";
import { REPOSITORY, tdb } from "./data.js";
import { serve } from "./server.js";

const CELLS = 3_000_000;
const RUNS = 9;
/** Rounds in which both engines run alternately, because other programs disturb some of them. */
const ROUNDS = 5;
const PYTHON = process.env.TDB_PYTHON ?? "python3";
const CONDITION = "height > 12.5";

/** Filters of the attributes `count`, an `int32`, and `height`, a `float64`. */
const CHAINS = [
  ["`zstd`", '"zstd"', '"zstd"'],
  ["`gzip`", '"gzip"', '"gzip"'],
  ["`double_delta`; `bitshuffle`, `zstd`", '"double_delta"', '"bitshuffle", "zstd"'],
  ["`byteshuffle`, `lz4`", '"byteshuffle", "lz4"', '"byteshuffle", "lz4"'],
];

function makeArrays(folder) {
  const rows = ["x,count,height"];
  for (let x = 0; x < CELLS; x++) {
    rows.push(`${x},${Math.floor(x / 7) + ((x * 7919) % 31)},${(12 + 9 * Math.sin(x / 5000) + ((x * 104729) % 100) / 100).toFixed(2)}`);
  }
  const csv = join(folder, "cells.csv");
  writeFileSync(csv, `${rows.join("\n")}\n`);
  return CHAINS.map(([, count, height], index) => {
    const schema = join(folder, `${index}.toml`);
    writeFileSync(
      schema,
      `array_type = "dense"
[[dimension]]\nname = "x"\ndatatype = "int32"\ndomain = [0, ${CELLS - 1}]\ntile_extent = 100000
[[attribute]]\nname = "count"\ndatatype = "int32"\nfilters = [${count}]
[[attribute]]\nname = "height"\ndatatype = "float64"\nfilters = [${height}]\n`,
    );
    const array = join(folder, `array-${index}`);
    tdb("import", array, csv, "--schema", schema);
    return array;
  });
}

/** A script with the arguments array, runs and condition. Prints the aggregates and the minimum CPU time. */
const NATIVE = `
import json, os, sys, time
os.sched_setaffinity(0, {0})
import tdb
def run():
    began = time.process_time()
    read = tdb.open(sys.argv[1]).read(where=sys.argv[3])
    row = read.aggregate(tdb.count(), tdb.col("count").sum(), tdb.col("height").mean())
    return time.process_time() - began, list(row.values())
runs = [run() for _ in range(int(sys.argv[2]))]
print(json.dumps({"result": runs[0][1], "time": 1000 * min(time for time, _ in runs)}))
`;

function measureNative(array) {
  return JSON.parse(execFileSync(PYTHON, ["-c", NATIVE, array, String(RUNS), CONDITION], { encoding: "utf8" }));
}

/** Runs in the page: loads the files of an array, and prepares `computeAggregates`. */
async function prepare([files, condition]) {
  const { openArray } = await import("/dist/index.js");
  const contents = new Map();
  for (const [path, url] of files) {
    contents.set(path, new Uint8Array(await (await fetch(url)).arrayBuffer()));
  }
  const source = {
    name: "memory",
    async list(folder) {
      const prefix = folder ? `${folder}/` : "";
      const entries = new Map();
      for (const [path, bytes] of contents) {
        if (path.startsWith(prefix)) {
          const [name, ...inner] = path.slice(prefix.length).split("/");
          entries.set(name, inner.length > 0 ? { name, kind: "folder" } : { name, kind: "file", size: bytes.length });
        }
      }
      return [...entries.values()];
    },
    async read(path, start, end) {
      return contents.get(path).subarray(start, end);
    },
  };
  globalThis.computeAggregates = async () => {
    const array = await openArray(source);
    const [row] = await array.aggregate({ where: condition }, [{ op: "count" }, { op: "sum", column: "count" }, { op: "mean", column: "height" }]);
    return Object.values(row).map(Number);
  };
}

/** Returns the aggregates and the minimum CPU time of the page's thread, in milliseconds. */
async function measurePackage(page, files) {
  await page.evaluate(prepare, [files, CONDITION]);
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Performance.enable", { timeDomain: "threadTicks" });
  const cpuTime = async () => {
    const { metrics } = await devtools.send("Performance.getMetrics");
    return 1000 * metrics.find(({ name }) => name === "TaskDuration").value;
  };
  const times = [];
  let result;
  for (let run = 0; run < RUNS; run++) {
    const began = await cpuTime();
    result = await page.evaluate(() => globalThis.computeAggregates());
    times.push((await cpuTime()) - began);
  }
  return { result, time: Math.min(...times) };
}

const folder = mkdtempSync(join(tmpdir(), "tdb-speed-"));
let server;
let browser;
try {
  const arrays = makeArrays(folder);
  symlinkSync(join(REPOSITORY, "integrations/web/package/dist"), join(folder, "dist"));
  writeFileSync(join(folder, "index.html"), '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><title>speed</title>');
  server = await serve(folder);
  browser = await launch();
  console.log(`Chromium ${browser.version()}`);
  console.log("| filters | package | native | share of the native speed |\n| --- | --: | --: | --: |");
  for (const [index, array] of arrays.entries()) {
    const files = readdirSync(array, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [relative(array, path), `/${relative(folder, path)}`]);
    const times = { native: [], found: [] };
    for (let round = 0; round < ROUNDS; round++) {
      const native = measureNative(array);
      const { page, context, check } = await newPage(browser);
      await page.goto(server.url);
      const found = await measurePackage(page, files);
      check();
      await context.close();
      times.native.push(native.time);
      times.found.push(found.time);
      assert.equal(found.result.length, native.result.length);
      for (const [place, value] of found.result.entries()) {
        assert(Math.abs(value - native.result[place]) <= 1e-9 * Math.abs(value), `${found.result} and ${native.result}`);
      }
    }
    const [native, found] = [Math.min(...times.native), Math.min(...times.found)];
    console.log(`| ${CHAINS[index][0]} | ${found.toFixed(0)} ms | ${native.toFixed(0)} ms | ${Math.round((100 * native) / found)} % |`);
  }
} finally {
  await browser?.close();
  await server?.close();
  rmSync(folder, { recursive: true, force: true });
}
