// Bundles the example page into build/page, as an application's own build would.

import { cp } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const path = (name) => fileURLToPath(new URL(name, import.meta.url));

await build({
  entryPoints: [path("page/page.ts")],
  outdir: path("../build/page"),
  bundle: true,
  format: "esm",
  platform: "browser",
  target: "es2022",
});
await cp(path("page/index.html"), path("../build/page/index.html"));
