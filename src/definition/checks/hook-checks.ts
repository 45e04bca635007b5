/** Checks of event triggers against the hooks of the project: whether any delivery can start them. */
import { asMap, blockOf, mapsOf } from "../text/raw.ts";
import { clip } from "../text/read-text.ts";
import type { Source } from "../text/source.ts";

/** A hook as far as triggers name it. */
export interface KnownHook {
  readonly kind: string;
  /** The name of its secret; null for a hook without proof. */
  readonly secret: string | null;
}

/** Reports event triggers that no hook can start: there is none of their provider, or none with their secret. */
export function checkHooks(source: Source, hooks: readonly KnownHook[]): void {
  const root = asMap(source.value);
  const triggers = root === undefined ? undefined : blockOf(root, [], "triggers");
  if (triggers === undefined) return;
  for (const { value, path } of mapsOf(asMap(triggers.value)?.["event"], [...triggers.path, "event"])) {
    const { provider, secret } = value;
    if (typeof provider !== "string") continue;
    const ofProvider = hooks.filter(({ kind }) => kind === provider);
    if (ofProvider.length === 0) {
      source.report("no-hook", [...path, "provider"], `the project has no hook of the provider ${clip(provider)}`, {
        severity: "warning",
        hint: "make one, or no event starts this trigger",
      });
    } else if (typeof secret === "string" && !ofProvider.some((hook) => hook.secret === secret)) {
      const secrets = [...new Set(ofProvider.map((hook) => hook.secret ?? "none"))].join(", ");
      const message = `no hook of the provider ${clip(provider)} has the secret ${clip(secret)}: they have ${clip(secrets)}`;
      const hint = "name the secret of the hook, or leave `secret` out to take events of every hook of the provider";
      source.report("no-hook", [...path, "secret"], message, { severity: "warning", hint });
    }
  }
}
