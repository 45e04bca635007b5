/** A plugin registry that holds only the plugin of the examples, for the pages that show diagnostics about plugins. */
import { readFileSync } from "node:fs";
import { newestMatching } from "../../src/domain/plugin-versions.ts";
import { type PluginLookup, splitReference } from "../../src/domain/plugins.ts";
import { checkArgs } from "../../src/plugins/args-check.ts";
import { parseManifest } from "../../src/plugins/manifest.ts";

const MANIFEST = new URL("../../examples/plugins/json-patch/plugin.yaml", import.meta.url);

export function knownPlugins(): PluginLookup {
  const manifest = parseManifest(readFileSync(MANIFEST, "utf8"));
  return (uses) => {
    const { name, version } = splitReference(uses);
    if (name !== manifest.name) return { found: "nothing", names: [manifest.name] };
    if (newestMatching(version, [manifest.version]) === undefined) {
      return { found: "otherVersions", versions: [manifest.version] };
    }
    return {
      found: "release",
      release: { manifest, sha256: "0".repeat(64), sizeBytes: 1, owner: "installation" },
      checkArgs: ({ args: schema }, args, isDeferred) => checkArgs(schema, args, isDeferred),
    };
  };
}
