/** How the web page is built. JSX is translated by the automatic runtime of Preact, so no plugin is needed. */
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  base: "/",
  publicDir: false,
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    target: "es2023",
    // Newer than `light-dark()`, which would otherwise be replaced.
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    assetsDir: "assets",
    // The content security policy has no `data:`.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // The editor of YAML is a chunk of its own, which only its page loads. A test bounds what a first visit loads.
    chunkSizeWarningLimit: 600,
    emptyOutDir: true,
    // On a slow machine the bundler would print how long its plugins take.
    rolldownOptions: { checks: { pluginTimings: false } },
  },
  // For `npx vite web`: the page of the sources, with the API of a server that runs on this machine.
  server: { proxy: { "/api": { target: "http://127.0.0.1:8080", ws: true }, "/login": "http://127.0.0.1:8080" } },
});
