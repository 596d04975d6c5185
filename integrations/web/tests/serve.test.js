// The command `tdb serve` with the viewer, in Chromium.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { createInterface } from "node:readline";
import { after, before, describe, test } from "node:test";
import { compareCells, launch, newPage } from "./browser.js";
import { makeData, REPOSITORY, tdb } from "./data.js";
import { serve } from "./server.js";

const DIST = join(REPOSITORY, "integrations/web/viewer/dist");
// A program of `tdb-full` that was built with `TDB_VIEWER`.
const { TDB_SERVE } = process.env;
const skip = TDB_SERVE === undefined ? "TDB_SERVE is not set to a program with the command `serve`" : false;

let folder;
let browser;

before(async () => {
  if (skip) {
    return;
  }
  folder = mkdtempSync(join(tmpdir(), "tdb-serve-"));
  makeData(folder);
  browser = await launch();
});

after(async () => {
  await browser?.close();
  if (folder) {
    rmSync(folder, { recursive: true, force: true });
  }
});

/** Starts the server of the group. Returns the process, and the addresses of the start page and of the group. */
async function start(...options) {
  const program = spawn(TDB_SERVE, ["serve", join(folder, "survey"), "--port", "0", ...options], { stdio: ["ignore", "pipe", "inherit"] });
  const lines = createInterface({ input: program.stdout })[Symbol.asyncIterator]();
  const url = (await lines.next()).value;
  const survey = (await lines.next()).value;
  return { program, url, survey };
}

function stop(program) {
  if (program && program.exitCode === null) {
    program.kill("SIGKILL");
  }
}

describe("tdb serve with its own viewer", { skip }, () => {
  let program;
  let url;

  before(async () => {
    ({ program, url } = await start());
  });

  after(() => stop(program));

  test("contains the files of the viewer", async () => {
    const files = readdirSync(DIST, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile() && !entry.name.endsWith(".map"));
    assert(files.length > 3);
    for (const { parentPath, name } of files) {
      const path = relative(DIST, join(parentPath, name));
      const answer = await fetch(new URL(path, url));
      assert.equal(answer.status, 200, `${path}: build tdb-full with TDB_VIEWER set to ${DIST}`);
      const bytes = Buffer.from(await answer.arrayBuffer());
      // The server marks the page.
      const served = name === "index.html" ? Buffer.from(bytes.toString().replace(/<meta name="tdb-serve"[^>]*>/, "")) : bytes;
      assert(served.equals(readFileSync(join(DIST, path))), `${path} differs from the build of the viewer`);
    }
  });

  test("shows the tree and cells without requests to other servers", async () => {
    const { page, check } = await newPage(browser);
    const requests = [];
    page.context().on("request", (request) => requests.push(request.url()));
    const answer = await page.goto(url);
    const policy = Object.fromEntries(
      answer.headers()["content-security-policy"].split(";").map((part) => {
        const [name, ...values] = part.trim().split(" ");
        return [name, values.join(" ")];
      }),
    );
    assert.equal(policy["default-src"], "'none'");
    assert.equal(policy["script-src"], "'self' 'wasm-unsafe-eval'");
    assert.equal(policy["style-src"], "'self'");
    assert.equal(policy["worker-src"], "'self'");
    assert.equal(policy["frame-ancestors"], "'none'");
    await page.getByRole("button", { name: "survey", exact: true }).click();
    await page.getByRole("treeitem", { name: /elevation/ }).waitFor();
    const items = await page.getByRole("treeitem").allTextContents();
    for (const name of ["elevation", "field", "photo", "quakes", "rainfall"]) {
      assert(items.some((text) => text.includes(name)), `${name} in ${items.join(", ")}`);
    }
    await page.getByRole("treeitem", { name: /elevation/ }).click();
    await compareCells(page, join(folder, "survey/elevation"));
    const { origin } = new URL(url);
    assert(requests.some((request) => request.endsWith(".wasm")), requests.join(" "));
    assert.deepEqual(requests.filter((request) => new URL(request).origin !== origin && !request.startsWith("blob:")), []);
    check();
  });
});

describe("tdb serve with a folder of the viewer", { skip }, () => {
  let program;
  let url;
  let survey;

  before(async () => {
    ({ program, url, survey } = await start("--viewer", DIST));
  });

  after(() => stop(program));

  test("shows the arrays of a group", async () => {
    const { page, check } = await newPage(browser);
    await page.goto(url);
    await page.getByRole("button", { name: "survey", exact: true }).click();
    await page.getByRole("treeitem", { name: /elevation/ }).click();
    await compareCells(page, join(folder, "survey/elevation"));
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
      await compareCells(page, join(folder, "survey/elevation"));
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
