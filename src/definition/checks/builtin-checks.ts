/** What the arguments of builtins must be beyond their shape. Texts with expressions are known later. */
import { OPEN } from "../../expressions/template.ts";
import { checkRepository } from "./block-checks.ts";
import { checkInside } from "./path-checks.ts";
import { asMap, type Raw } from "../text/raw.ts";
import { clip } from "../text/read-text.ts";
import type { Path, Source } from "../text/source.ts";

/** `at` is the place of `args`. */
export function checkCheckout(source: Source, args: Raw, at: Path): void {
  if (args["branch"] !== undefined && args["ref"] !== undefined) {
    source.report("invalid-args", [...at, "ref"], "give either `branch` or `ref`, not both", { spot: "key" });
  }
  checkRepository(source, args["repo"], [...at, "repo"]);
  const path = written(args["path"]);
  if (path !== undefined) checkInside(source, path, [...at, "path"]);
}

/** `at` is the place of `args`. */
export function checkHttp(source: Source, { url, method, headers, body }: Raw, at: Path): void {
  const report = (path: Path, message: string, hint: string): void =>
    source.report("invalid-args", [...at, ...path], message, { hint });
  const address = written(url);
  if (address !== undefined) {
    const parsed = URL.canParse(address) ? new URL(address) : undefined;
    if (parsed === undefined || !/^https?:$/.test(parsed.protocol)) {
      report(["url"], "this is no http or https address", "such as https://host/path");
    } else if (parsed.username !== "" || parsed.password !== "") {
      report(["url"], "an address holds no name and password", "put them into an `Authorization` header, as a secret");
    }
  }
  if (body !== undefined && (method === undefined || method === "GET" || method === "HEAD")) {
    report(["body"], "GET and HEAD send no body", "give a `method` such as POST");
  }
  for (const name of Object.keys(asMap(headers) ?? {})) {
    if (/^[\w!#$%&'*+.^`|~-]+$/.test(name)) continue;
    report(["headers", name], `"${clip(name)}" is no name of a header`, "names are letters, digits and `-`");
  }
}

/** Undefined for what is no text, and for one with expressions. */
function written(value: unknown): string | undefined {
  return typeof value === "string" && !value.includes(OPEN) ? value : undefined;
}
