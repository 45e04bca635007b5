/** Plugin packages for tests, malformed ones included. */
import { gzipSync } from "node:zlib";
import { pack, type Header } from "tar-stream";
import { type PluginFile, writePackage } from "../../src/plugins/package.ts";

export const fileOf = (path: string, text: string | Uint8Array, executable = false): PluginFile => ({
  path,
  content: Buffer.from(text),
  executable,
});

/** A plugin with one action `greet` that is a shell script. */
export function greeter(
  version: string,
  { name = "team/greet", script = 'cat; echo "$MILLRACE_ACTION"' } = {},
): readonly PluginFile[] {
  const manifest = {
    name,
    version,
    description: "Greets.",
    actions: {
      greet: {
        description: "Says it.",
        args: {
          type: "object",
          properties: { to: { type: "string" }, times: { type: "integer", minimum: 1 } },
          required: ["to"],
          additionalProperties: false,
        },
        outputs: ["greeting"],
        command: ["sh", "-e", "./bin/greet.sh"],
      },
    },
  };
  return [fileOf("plugin.yaml", JSON.stringify(manifest)), fileOf("bin/greet.sh", script, true)];
}

export const packageOf = (version: string, options: { name?: string; script?: string } = {}): Promise<Uint8Array> =>
  writePackage(greeter(version, options));

/** A gzipped tar with exactly these entries; nothing checks them. */
export async function rawPackage(
  entries: readonly (Partial<Header> & { readonly name: string; readonly text?: string })[],
): Promise<Uint8Array> {
  const tar = pack();
  for (const { text = "", ...header } of entries) {
    if (header.type === undefined || header.type === "file") tar.entry(header, text);
    else tar.entry(header);
  }
  tar.finalize();
  const blocks: Uint8Array[] = [];
  for await (const block of tar as AsyncIterable<Uint8Array>) blocks.push(block);
  return gzipSync(Buffer.concat(blocks));
}
