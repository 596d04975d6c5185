import { createHash } from "node:crypto";
import { resolve } from "node:path";
import { defineConfig, type Plugin } from "vite";

/** Writes the list of files, and a version of their contents, into the service worker. */
function offline(): Plugin {
  return {
    name: "offline",
    enforce: "post",
    generateBundle: {
      order: "post",
      handler(_options, bundle) {
        const worker = bundle["sw.js"];
        if (worker?.type !== "chunk") {
          return;
        }
        const hash = createHash("sha256");
        const files = Object.keys(bundle).filter((name) => name !== "sw.js" && !name.endsWith(".map"));
        for (const name of files.sort()) {
          const file = bundle[name]!;
          hash.update(name).update(file.type === "chunk" ? file.code : file.source);
        }
        hash.update(worker.code);
        const list = ["./", "./icon.svg", ...files.map((name) => `./${name}`)].join("\\n");
        worker.code = worker.code.replace("__VERSION__", hash.digest("hex").slice(0, 16)).replace("__FILES__", list);
      },
    },
  };
}

export default defineConfig({
  base: "./",
  // A build of the package next to the viewer. A dependency would copy its development tools into the lockfile.
  resolve: { alias: { "tdb-array": resolve(import.meta.dirname, "../package/dist/index.js") } },
  plugins: [offline()],
  worker: { format: "es" },
  build: {
    target: "es2022",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    rollupOptions: {
      input: { main: resolve(import.meta.dirname, "index.html"), sw: resolve(import.meta.dirname, "src/sw.ts") },
      output: { entryFileNames: (chunk) => (chunk.name === "sw" ? "sw.js" : "assets/[name]-[hash].js") },
    },
  },
});
