/** `millrace users make-owner`: makes a lost owner an owner again, also while the installation runs. */
import { resolve } from "node:path";
import { readNodeConfig } from "../../settings/config.ts";
import { defaultDataDir } from "../../node/data-dir.ts";
import { makeStoredOwner } from "../../node/machine/make-owner.ts";
import { readSettings } from "../command-line.ts";
import { EXIT } from "../exit-codes.ts";

export interface MakeOwnerOptions {
  readonly dataDir?: string;
  readonly reset?: boolean;
}

/** Resolves with the exit status. Rejects with `not_found` for an unknown user. Safe to repeat. */
export async function makeOwner(name: string, options: MakeOwnerOptions): Promise<number> {
  const config = readSettings(() => readNodeConfig(process.env));
  const dataDir = resolve(options.dataDir ?? config.dataDir ?? defaultDataDir());
  const made = await makeStoredOwner(config, dataDir, name, { reset: options.reset === true });
  process.stdout.write(`${name} is an owner${made.wasOwner ? " already" : " now"}\n`);
  if (made.token !== null) {
    process.stdout.write(
      `the password is forgotten; this token is valid for one hour, and PUT /users/me/password sets another one:\n` +
        `${made.token}\n`,
    );
  }
  return EXIT.ok;
}
