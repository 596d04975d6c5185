// The fixtures of the repository, in folders.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../../fixtures", import.meta.url));

/** Unpacks the fixtures to a folder. Returns the name and the path of each. */
function unpacked(folder) {
  return readdirSync(ROOT).filter((name) => name.startsWith("v")).map((entry) => {
    const name = entry.replace(/\.tar\.gz$/, "");
    const path = join(ROOT, entry);
    if (entry === name) return { name, path };
    const target = join(folder, name);
    mkdirSync(target);
    execFileSync("tar", ["-xzf", path, "-C", target]);
    return { name, path: target };
  });
}

/**
 * Unpacks the fixtures to a folder. Returns the arrays and groups: the name, the path of the array or group, the
 * path of the expected results, and the paths of the files.
 */
export function fixtures(folder) {
  const all = unpacked(folder);
  const found = (file, inner) =>
    all.filter(({ path }) => existsSync(join(path, file))).map(({ name, path }) => {
      const root = join(path, inner);
      const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
      const paths = files.map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(root.length + 1)).sort();
      return { name, root, results: join(path, file), files: paths };
    });
  return { arrays: found("expected.json", "array"), groups: found("group.json", "group") };
}
