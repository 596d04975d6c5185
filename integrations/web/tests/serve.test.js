// The command `tdb serve` with the viewer, in Chromium.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, describe, test } from "node:test";
import { idle, launch, newPage, visibleCells } from "./browser.js";
import { makeData, REPOSITORY, tdb } from "./data.js";
import { serve } from "./server.js";

const DIST = join(REPOSITORY, "integrations/web/viewer/dist");
// A program of `tdb-full`. Without `--viewer`, the program must contain the viewer.
const { TDB_SERVE } = process.env;
const skip = TDB_SERVE === undefined ? "TDB_SERVE is not set to a program with the command `serve`" : false;

let folder;
let browser;
let program;
/** The addresses of the start page and of the group. */
let url;
let survey;

before(async () => {
  if (skip) {
    return;
  }
  folder = mkdtempSync(join(tmpdir(), "tdb-serve-"));
  makeData(folder);
  const viewer = process.env.TDB_EMBEDDED ? [] : ["--viewer", DIST];
  program = spawn(TDB_SERVE, ["serve", join(folder, "survey"), "--port", "0", ...viewer], { stdio: ["ignore", "pipe", "inherit"] });
  const lines = createInterface({ input: program.stdout })[Symbol.asyncIterator]();
  url = (await lines.next()).value;
  survey = (await lines.next()).value;
  browser = await launch();
});

after(async () => {
  await browser?.close();
  if (program && program.exitCode === null) {
    program.kill("SIGKILL");
  }
  if (folder) {
    rmSync(folder, { recursive: true, force: true });
  }
});

/** Returns the first rows that the native reader prints. */
function native(array, rows) {
  const text = tdb("read", join(folder, "survey", array), "--format", "jsonl", "--limit", String(rows));
  return text.trim().split("\n").map((line) => Object.values(JSON.parse(line)).map(String));
}

/** Compares the visible rows of an array with the native reader. */
async function compare(page, array) {
  await page.getByRole("tab", { name: "Cells" }).click();
  await page.locator(".grid-rows .grid-row").first().waitFor();
  await idle(page);
  const cells = (await visibleCells(page)).map((row) => row.slice(1));
  assert(cells.length > 5, `${cells.length} rows`);
  assert.deepEqual(cells, native(array, cells.length));
}

describe("tdb serve", { skip }, () => {
  test("shows the arrays of a group", async () => {
    const { page, check } = await newPage(browser);
    await page.goto(url);
    await page.getByRole("button", { name: "survey", exact: true }).click();
    await page.getByRole("treeitem", { name: /elevation/ }).click();
    await page.getByRole("heading", { name: "elevation" }).waitFor();
    await compare(page, "elevation");
    check();
  });

  test("shows what another writer has added", async () => {
    const { page, check } = await newPage(browser);
    await page.goto(url);
    await page.getByRole("button", { name: "survey", exact: true }).click();
    tdb("meta", join(folder, "survey/elevation"), "--put", "author=string_utf8:Ada");
    await page.getByRole("treeitem", { name: /elevation/ }).click();
    await page.getByRole("tab", { name: "Metadata" }).click();
    await page.getByText("author", { exact: true }).waitFor();
    check();
  });

  test("lets a page of this machine read, and no other page", async () => {
    // A page on another port has another origin.
    const other = await serve(DIST);
    try {
      const { page, check } = await newPage(browser);
      await page.goto(`${other.url}/#${new URLSearchParams({ url: survey, path: "elevation" })}`);
      await page.getByRole("heading", { name: "elevation" }).waitFor();
      await compare(page, "elevation");
      check();
      const answer = await fetch(`${survey.replace(/\/$/, "")}/elevation/tdb-manifest.txt`, { headers: { Origin: "https://example.org" } });
      assert.equal(answer.headers.get("Access-Control-Allow-Origin"), null);
    } finally {
      await other.close();
    }
  });

  test("ends after Ctrl-C", async () => {
    const ended = new Promise((resolve) => program.once("exit", (code, signal) => resolve([code, signal])));
    program.kill("SIGINT");
    assert.deepEqual(await ended, [0, null]);
  });
});
