// The tests of the package in Chromium: each column of each fixture has the bytes of the native reader.

import assert from "node:assert/strict";
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { launch, newPage } from "./browser.js";
import { REPOSITORY } from "./data.js";
import { serve } from "./server.js";

const PACKAGE = join(REPOSITORY, "integrations/web/package");
const { TDB_FIXTURES } = process.env;
const skip = TDB_FIXTURES === undefined ? "TDB_FIXTURES is not set; `cargo xtask wasm --test` writes the folder" : false;

let folder;
let server;
let browser;

before(async () => {
  if (skip) {
    return;
  }
  folder = mkdtempSync(join(tmpdir(), "tdb-package-"));
  cpSync(join(PACKAGE, "dist"), join(folder, "dist"), { recursive: true });
  cpSync(join(PACKAGE, "test/suite.js"), join(folder, "suite.js"));
  symlinkSync(resolve(TDB_FIXTURES), join(folder, "data"));
  writeFileSync(join(folder, "index.html"), '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><title>tests</title>');
  server = await serve(folder);
  browser = await launch();
});

after(async () => {
  await browser?.close();
  await server?.close();
  if (folder) {
    rmSync(folder, { recursive: true, force: true });
  }
});

for (const [name, what] of [
  ["fixtures", "fixtures have the cells of the native reader"],
  ["hostile", "damaged arrays give typed errors"],
]) {
  test(what, { skip, timeout: 600_000 }, async (t) => {
    const { page, context, check } = await newPage(browser);
    await page.goto(server.url);
    const lines = await page.evaluate(async (name) => {
      const [tdb, suite] = await Promise.all([import("/dist/index.js"), import("/suite.js")]);
      const log = [];
      const environment = {
        tdb,
        source: (path) => tdb.httpSource(new URL(`/data/${path}`, location.href).href),
        json: async (path) => (await fetch(`/data/${path}`)).json(),
      };
      await suite[name](environment, (line) => log.push(line));
      return log;
    }, name);
    for (const line of lines) {
      t.diagnostic(line);
    }
    assert(lines.length > 0);
    check();
    await context.close();
  });
}
