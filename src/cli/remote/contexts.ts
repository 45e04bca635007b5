/**
 * The servers that a user has logged in to, each under a name, with its credentials. Each context is a file of its own, so
 * that two programs that renew two logins cannot undo each other's change. Only the user may read the files.
 */
import { randomBytes } from "node:crypto";
import { chmod, mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import type { LoginTokens } from "../../../clients/typescript/src/index.ts";
import { UsageError } from "../command-line.ts";

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** What proves the user: a token that does not change, or the tokens of a login. */
export type StoredCredentials =
  | { readonly kind: "token"; readonly token: string }
  | ({ readonly kind: "login" } & LoginTokens);

export interface Context {
  readonly name: string;
  readonly url: string;
  /** The user's name when the context was made. */
  readonly user: string;
  readonly credentials: StoredCredentials;
}

/** `$XDG_CONFIG_HOME/millrace`, or `~/.config/millrace`. */
export function configDir(environment: NodeJS.ProcessEnv = process.env): string {
  const folder = environment["XDG_CONFIG_HOME"] ?? "";
  // The XDG specification says to ignore a relative path.
  return join(isAbsolute(folder) ? folder : join(homedir(), ".config"), "millrace");
}

export class Contexts {
  readonly #dir: string;

  constructor(dir: string = configDir()) {
    this.#dir = dir;
  }

  /** Undefined for a context that does not exist. Throws a UsageError for a file that others may read or that is damaged. */
  async read(name: string): Promise<Context | undefined> {
    const file = this.#file(name);
    try {
      const { mode } = await stat(file);
      if (process.platform !== "win32" && (mode & 0o077) !== 0) {
        throw new UsageError(`other users of this machine may read ${file}: run \`chmod 600 ${file}\``);
      }
      const context = parse(await readFile(file, "utf8"));
      if (context !== undefined) return { ...context, name };
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
    throw new UsageError(`${file} is damaged: log in again with \`millrace login --context ${name} URL\``);
  }

  async list(): Promise<readonly string[]> {
    try {
      const names = (await readdir(join(this.#dir, "contexts"))).filter((name) => name.endsWith(".json"));
      return names.map((name) => name.slice(0, -".json".length)).toSorted();
    } catch (error) {
      if (isMissing(error)) return [];
      throw error;
    }
  }

  /** Creates or replaces a context. A program that reads meanwhile finds the old one or the new one. */
  async write({ name, ...rest }: Context): Promise<void> {
    await this.#replace(this.#file(name), `${JSON.stringify(rest, undefined, 2)}\n`);
  }

  /** Also for a context that does not exist. The current context may be none from then on. */
  async remove(name: string): Promise<void> {
    await rm(this.#file(name), { force: true });
    if ((await this.current()) === name) await rm(join(this.#dir, "current"), { force: true });
  }

  /** The name of the context that commands use which name none. */
  async current(): Promise<string | undefined> {
    try {
      const name = (await readFile(join(this.#dir, "current"), "utf8")).trim();
      return NAME.test(name) ? name : undefined;
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  async use(name: string): Promise<void> {
    await this.#replace(join(this.#dir, "current"), `${name}\n`);
  }

  #file(name: string): string {
    if (!NAME.test(name)) {
      throw new UsageError(`the context "${name}" must be 1 to 64 letters, digits, ".", "_" and "-"`);
    }
    return join(this.#dir, "contexts", `${name}.json`);
  }

  async #replace(file: string, text: string): Promise<void> {
    const folder = join(this.#dir, "contexts");
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const temporary = `${file}.${randomBytes(6).toString("hex")}`;
    await writeFile(temporary, text, { mode: 0o600, flag: "wx" });
    // The mode of a new file is narrowed by the umask, which may take away the owner's rights too.
    await chmod(temporary, 0o600);
    await rename(temporary, file);
  }
}

function parse(text: string): Omit<Context, "name"> | undefined {
  try {
    const { url, user, credentials } = JSON.parse(text) as Partial<Context>;
    const isWhole = typeof url === "string" && URL.canParse(url) && typeof user === "string";
    if (!isWhole || typeof credentials !== "object" || credentials === null) return undefined;
    const { token, accessToken, refreshToken, expiresAt } = credentials as Partial<Record<string, unknown>>;
    const isToken = credentials.kind === "token" && typeof token === "string";
    const isLogin =
      credentials.kind === "login" &&
      typeof accessToken === "string" &&
      typeof refreshToken === "string" &&
      typeof expiresAt === "number";
    return isToken || isLogin ? { url, user, credentials } : undefined;
  } catch {
    return undefined;
  }
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "ENOENT";
}
