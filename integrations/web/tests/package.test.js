// The package in Chromium, with the suite that also runs in Node.

import assert from "node:assert/strict";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fixtures } from "../package/test/fixtures.js";
import { launch, newPage } from "./browser.js";
import { REPOSITORY } from "./data.js";
import { serve } from "./server.js";

const PACKAGE = join(REPOSITORY, "integrations/web/package");

let folder;
let server;
let browser;
let arrays;
let groups;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "tdb-package-"));
  cpSync(join(PACKAGE, "dist"), join(folder, "dist"), { recursive: true });
  cpSync(join(PACKAGE, "test/suite.js"), join(folder, "suite.js"));
  writeFileSync(join(folder, "index.html"), '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><title>tests</title>');
  mkdirSync(join(folder, "data"));
  const all = fixtures(join(folder, "data"));
  // Fixtures that are no archives stay in the repository.
  symlinkSync(join(REPOSITORY, "fixtures"), join(folder, "fixtures"));
  const url = (path) => path.replace(`${folder}/`, "/").replace(join(REPOSITORY, "fixtures/"), "/fixtures/");
  const served = ({ name, root, results, files }) => ({ name, root: url(root), results: url(results), files });
  [arrays, groups] = [all.arrays.map(served), all.groups.map(served)];
  server = await serve(folder);
  browser = await launch();
});

after(async () => {
  await browser?.close();
  await server?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs `work` in the page, with the modules and the opened fixtures. */
async function run(list, work) {
  const { page, context, check } = await newPage(browser);
  await page.goto(server.url);
  const found = await page.evaluate(
    async ([list, work]) => {
      const [tdb, suite] = await Promise.all([import("/dist/index.js"), import("/suite.js")]);
      const opened = async ({ name, root, results, files }) => ({
        name,
        source: tdb.httpSource(new URL(root, location.href).href),
        expected: suite.parseResults(await (await fetch(results)).text()),
        files,
      });
      const fixtures = await Promise.all(list.map(opened));
      // This page has no content security policy.
      return new Function("tdb", "suite", "fixtures", `return (${work})(tdb, suite, fixtures)`)(tdb, suite, fixtures);
    },
    [list, String(work)],
  );
  check();
  await context.close();
  return found;
}

test("arrays have the cells that the reference library reads", { timeout: 600_000 }, async (t) => {
  const { log, problems } = await run(arrays, async (tdb, suite, fixtures) => {
    const log = { queries: 0, cells: 0, skipped: 0 };
    const problems = [];
    for (const array of fixtures) problems.push(...(await suite.compareArray(tdb, array, log)));
    return { log, problems };
  });
  t.diagnostic(`${arrays.length} arrays, ${log.queries} queries, ${log.cells} cells; ${log.skipped} queries skipped`);
  assert(log.queries > 20 * log.skipped);
  assert.deepEqual(problems, []);
});

test("groups have the members that the reference library reads", async (t) => {
  const count = await run(groups, async (tdb, suite, fixtures) => {
    for (const group of fixtures) await suite.compareGroup(tdb, group);
    return fixtures.length;
  });
  t.diagnostic(`${count} groups`);
  assert(count > 0);
});

test("damaged arrays give typed errors", { timeout: 600_000 }, async (t) => {
  const log = await run(arrays, async (tdb, suite, fixtures) => {
    const log = { sound: 0, failed: 0 };
    for (const [seed, array] of fixtures.entries()) await suite.readDamaged(tdb, array, 2, seed, log);
    return log;
  });
  t.diagnostic(`${log.sound + log.failed} damaged arrays, ${log.failed} with an error`);
  assert(log.failed > 0);
});
