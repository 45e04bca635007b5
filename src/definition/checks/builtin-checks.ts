/** Checks of the arguments of builtins, beyond their shape. Texts with expressions are skipped: their values are known later. */
import { isFileName } from "../../domain/artifacts.ts";
import { OPEN } from "../../expressions/template.ts";
import { checkRepository } from "./block-checks.ts";
import { checkInside } from "./path-checks.ts";
import { asMap, type Raw } from "../text/raw.ts";
import { clip } from "../text/read-text.ts";
import type { Path, Source } from "../text/source.ts";

/** Checks the arguments of `checkout`; `at` is the place of `args`. */
export function checkCheckout(source: Source, args: Raw, at: Path): void {
  if (args["branch"] !== undefined && args["ref"] !== undefined) {
    source.report("invalid-args", [...at, "ref"], "give either `branch` or `ref`, not both", { spot: "key" });
  }
  checkRepository(source, args["repo"], [...at, "repo"]);
  const path = written(args["path"]);
  if (path !== undefined) checkInside(source, path, [...at, "path"]);
}

/** Checks the arguments of `http`; `at` is the place of `args`. */
export function checkHttp(source: Source, { url, method, headers, body }: Raw, at: Path): void {
  const report = (path: Path, message: string, hint: string): void =>
    source.report("invalid-args", [...at, ...path], message, { hint });
  const address = written(url);
  if (address !== undefined) {
    const parsed = URL.canParse(address) ? new URL(address) : undefined;
    if (parsed === undefined || !/^https?:$/.test(parsed.protocol)) {
      report(["url"], "this is not an http or https address", "write it like https://host/path");
    } else if (parsed.username !== "" || parsed.password !== "") {
      const hint = "send them in an `Authorization` header, from a secret";
      report(["url"], "this address contains a user name or a password", hint);
    }
  }
  if (body !== undefined && (method === undefined || method === "GET" || method === "HEAD")) {
    report(["body"], "a GET or HEAD request has no body", "give a `method` such as POST");
  }
  for (const name of Object.keys(asMap(headers) ?? {})) {
    if (/^[\w!#$%&'*+.^`|~-]+$/.test(name)) continue;
    report(["headers", name], `"${clip(name)}" is not a valid name of a header`, "use letters, digits and `-`");
  }
}

/** Checks the arguments of `upload`; `at` is the place of `args`. */
export function checkUpload(source: Source, args: Raw, at: Path): void {
  const path = written(args["path"]);
  if (path !== undefined) checkInside(source, path, [...at, "path"]);
  const as = written(args["as"]);
  if (as === undefined || as === "" || isFileName(as)) return;
  const hint = "give the folder as `path`";
  source.report("invalid-args", [...at, "as"], `"${clip(as)}" is not the name of one file`, { hint });
}

/** The value if it is a text without expressions; else undefined. */
function written(value: unknown): string | undefined {
  return typeof value === "string" && !value.includes(OPEN) ? value : undefined;
}
