/** The builtin `checkout`: the command of its process, and the meaning of its exit codes. */
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { MillraceError } from "../../../domain/errors.ts";
import { programFile } from "../../../program-files.ts";
import { giveTo, type Owner } from "../../process/step-user.ts";
import { CHECKOUT_EXITS } from "./checkout-problem.ts";
import type { PreparedCommand } from "../shell-step.ts";

/**
 * Variables that pass the arguments to the process. They hold the credential, as the environment of any step holds
 * secrets.
 */
export const CHECKOUT_ENV = { args: "MILLRACE_CHECKOUT_ARGS", home: "MILLRACE_CHECKOUT_HOME" } as const;

/** Variables of a step's environment that Git and Node may see. Others could change what these programs do. */
const PASSED =
  /^(?:PATH|USER|LOGNAME|LANG|TZ|TMPDIR|CI|MILLRACE(?:_\w+)?|GIT_SSL_\w+|(?:https?|all|no)_proxy|(?:HTTPS?|ALL|NO)_PROXY)$/;

export function isCheckout(uses: string): boolean {
  return uses === "checkout" || uses === "checkout@v1";
}

/** Prepares the command. `env` is the environment of the step. The process itself reports wrong arguments. */
export function prepareCheckout(
  { action, argsJson }: { readonly action: string; readonly argsJson: string },
  env: Readonly<Record<string, string>>,
  scratchDir: string,
  user?: Owner,
): PreparedCommand {
  if (action !== "") throw new MillraceError("malformed_request", `checkout has no action "${action}"`);
  const main = programFile("checkout-main", import.meta.url);
  const home = mkdtempSync(join(scratchDir, "co-"));
  giveTo(user, home);
  const passed = Object.entries(env).filter(([name]) => PASSED.test(name));
  return {
    command: [process.execPath, ...main.options, main.path],
    // This command repeats a part of the agent's own command line, whose paths may be relative to this directory.
    cwd: process.cwd(),
    env: { ...Object.fromEntries(passed), [CHECKOUT_ENV.args]: argsJson, [CHECKOUT_ENV.home]: home },
    explain: (exitCode) => Object.values(CHECKOUT_EXITS).find(({ code }) => code === exitCode)?.words,
    dispose: () => rmSync(home, { recursive: true, force: true }),
  };
}
