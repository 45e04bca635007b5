/** The builtin `checkout`: the process that carries it out, and what its exit code says. */
import { mkdtempSync, rmSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { MillraceError } from "../../../domain/errors.ts";
import { CHECKOUT_EXITS } from "./checkout-problem.ts";
import type { PreparedCommand } from "../shell-step.ts";

const here = fileURLToPath(import.meta.url);
const MAIN_FILE = fileURLToPath(new URL(`checkout-main${extname(here)}`, import.meta.url));

/** How the process is told its order: by its environment, which holds the credential as that of any step holds secrets. */
export const CHECKOUT_ENV = { args: "MILLRACE_CHECKOUT_ARGS", home: "MILLRACE_CHECKOUT_HOME" } as const;

/** What of a step's environment Git and Node may see; the rest could change what they do. */
const PASSED =
  /^(?:PATH|USER|LOGNAME|LANG|TZ|TMPDIR|CI|MILLRACE(?:_\w+)?|GIT_SSL_\w+|(?:https?|all|no)_proxy|(?:HTTPS?|ALL|NO)_PROXY)$/;

export function isCheckout(uses: string): boolean {
  return uses === "checkout" || uses === "checkout@v1";
}

/** `env` is that of a step. What is wrong with the arguments is told by the process. */
export function prepareCheckout(
  { action, argsJson }: { readonly action: string; readonly argsJson: string },
  env: Readonly<Record<string, string>>,
  scratchDir: string,
): PreparedCommand {
  if (action !== "") throw new MillraceError("malformed_request", `checkout has no action "${action}"`);
  const home = mkdtempSync(join(scratchDir, "co-"));
  const passed = Object.entries(env).filter(([name]) => PASSED.test(name));
  return {
    command: [process.execPath, ...process.execArgv, MAIN_FILE],
    // Where the agent's own command line was given, a part of which this one is.
    cwd: process.cwd(),
    env: { ...Object.fromEntries(passed), [CHECKOUT_ENV.args]: argsJson, [CHECKOUT_ENV.home]: home },
    explain: (exitCode) => Object.values(CHECKOUT_EXITS).find(({ code }) => code === exitCode)?.words,
    dispose: () => rmSync(home, { recursive: true, force: true }),
  };
}
