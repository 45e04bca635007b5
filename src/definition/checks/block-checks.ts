/** Checks of the blocks of a pipeline, a stage or a job, beyond their shape. */
import { OPEN } from "../../expressions/template.ts";
import { EXPRESSION_PLACES, type ExpressionPlace } from "../text/expression-places.ts";
import { asMap, blockOf, type Located, mapBlockOf, mapsOf, textsOf } from "../text/raw.ts";
import type { Reach } from "./reach.ts";
import { clip } from "../text/read-text.ts";
import type { Path, Source } from "../text/source.ts";
import { checkTexts, refuseExpressions } from "./texts.ts";

/** Reports blocks that are given under both of their names. */
export function refuseBothSpellings(source: Source, { value, path }: Located, keys: readonly string[]): void {
  for (const key of keys) {
    const capital = key[0]!.toUpperCase() + key.slice(1);
    if (value[key] === undefined || value[capital] === undefined) continue;
    const message = `\`${capital}\` and \`${key}\` are the same block: give only one of them`;
    source.report("duplicate-key", [...path, key], message, { spot: "key" });
  }
}

/** `place` says what the name of the group may read: of a pipeline's or of a job's `concurrency`. */
export function checkConcurrency(source: Source, { value, path }: Located, place: ExpressionPlace, reach: Reach): void {
  checkTexts(source, asMap(value["concurrency"])?.["group"], [...path, "concurrency", "group"], place, reach);
}

/** Reports an approval that can never be given, and expressions that it cannot evaluate. */
export function checkApproval(source: Source, owner: Located, reach: Reach): void {
  const block = mapBlockOf(owner.value, owner.path, "approval");
  if (block === undefined) return;
  const { value, path } = block;
  checkTexts(source, value["message"], [...path, "message"], EXPRESSION_PLACES.approval, reach);
  refuseExpressions(source, value["requiredApprovers"], [...path, "requiredApprovers"], "`requiredApprovers`");
  refuseExpressions(source, value["allowed"], [...path, "allowed"], "`allowed`");
  const required = namesIn(value["requiredApprovers"]);
  const { users, roles } = asMap(value["allowed"]) ?? {};
  const count = typeof value["count"] === "number" ? value["count"] : Math.max(1, required.size);
  if (count < required.size) {
    const message = `${number(required.size, "user")} must approve, so \`count\` cannot be ${count}`;
    source.report("invalid-approval", [...path, "count"], message, {
      hint: "remove `count`, or move users who may approve but need not to `allowed.users`",
    });
  }
  const able = new Set([...required, ...namesIn(users)]).size;
  if (value["allowed"] !== undefined && roles === undefined && count > able) {
    const message = `this approval can never be given: it needs ${number(count, "approval")}, and only ${number(able, "user")} may approve`;
    source.report("invalid-approval", [...path, "allowed"], message, { hint: "name more `users`, or `roles`" });
  }
}

/** Checks a `source`: its expressions, the address of its repository, and that it has only one of `branch` and `ref`. */
export function checkSource(source: Source, owner: Located, reach: Reach): void {
  const block = mapBlockOf(owner.value, owner.path, "source");
  if (block === undefined) return;
  const { value, path } = block;
  for (const key of ["repo", "branch", "ref"]) {
    checkTexts(source, value[key], [...path, key], EXPRESSION_PLACES.source, reach);
  }
  if (value["branch"] !== undefined && value["ref"] !== undefined) {
    source.report("invalid-source", [...path, "ref"], "give either `branch` or `ref`, not both", { spot: "key" });
  }
  checkRepository(source, value["repo"], [...path, "repo"]);
}

/** Reports a text that is not the address of a repository, and an address that contains a password. Skips a text with expressions. */
export function checkRepository(source: Source, repo: unknown, path: Path): void {
  if (typeof repo !== "string" || repo.includes(OPEN)) return;
  const isUrl = /^(?:https?|ssh|git|file):\/\/\S+$/.test(repo);
  const isShort = /^[\w.-]+@[\w.-]+:[^\s-]\S*$/.test(repo);
  if (!isUrl && !isShort) {
    source.report("invalid-source", path, `"${clip(withoutPassword(repo))}" is not the address of a Git repository`, {
      hint: "write it like https://host/team/code.git, ssh://git@host/team/code.git or git@host:team/code.git",
    });
  } else if (hasPassword(repo)) {
    source.report("invalid-source", path, PASSWORD_SHOWN, {
      hint: "put the password into a secret, and name the secret in `credential`",
    });
  }
}

/** Checks the expressions of a `target`. */
export function checkTarget(source: Source, owner: Located, reach: Reach): void {
  const block = mapBlockOf(owner.value, owner.path, "target");
  if (block === undefined) return;
  const { value, path } = block;
  checkTexts(source, value["environment"], [...path, "environment"], EXPRESSION_PLACES.target, reach);
  checkTexts(source, value["config"], [...path, "config"], EXPRESSION_PLACES.target, reach, { use: "value" });
}

/** Why a job has no such notification, and what to do. */
const OF_RUNS_ONLY: Readonly<Record<string, { readonly message: string; readonly hint: string }>> = {
  partial: {
    message: "a job never ends as `partial`, so this notification is never sent",
    hint: "a run ends as `partial` when only jobs with `continueOnError` failed: move this to the `notify` of the pipeline",
  },
  fixed: {
    message: "`fixed` compares a run with the runs before it, and a job is not compared",
    hint: "move this to the `notify` of the pipeline",
  },
};

/** As {@link checkNotify}, and reports what only runs have. */
export function checkJobNotify(source: Source, job: Located, reach: Reach): void {
  checkNotify(source, job, reach);
  const block = blockOf(job.value, job.path, "notify");
  for (const { value, path } of mapsOf(block?.value, block?.path ?? [])) {
    for (const { text, path: at } of textsOf(value["on"], [...path, "on"])) {
      const found = Object.hasOwn(OF_RUNS_ONLY, text) ? OF_RUNS_ONLY[text] : undefined;
      if (found !== undefined) source.report("invalid-notification", at, found.message, { hint: found.hint });
    }
  }
}

/** Checks the notifications of a pipeline or a job: one way for each, with an address and expressions that work. */
export function checkNotify(source: Source, owner: Located, reach: Reach): void {
  const block = blockOf(owner.value, owner.path, "notify");
  if (block === undefined) return;
  for (const { value, path } of mapsOf(block.value, block.path)) {
    const given = ["webhook", "slack", "email"].filter((way) => value[way] !== undefined);
    if (given.length !== 1) {
      source.report("invalid-notification", path, "give exactly one of `webhook`, `slack` and `email`");
    }
    checkWait(source, value, path);
    for (const way of ["webhook", "slack"]) checkAddress(source, asMap(value[way])?.["url"], [...path, way, "url"]);
    for (const way of given) {
      for (const [key, part] of Object.entries(asMap(value[way]) ?? {})) {
        const use = key === "body" ? "value" : "text";
        checkTexts(source, part, [...path, way, key], EXPRESSION_PLACES.notify, reach, { use });
      }
    }
  }
}

function checkWait(source: Source, { on, longerThan }: Located["value"], path: Path): void {
  const isForWaits = Array.isArray(on) && on.includes("waiting");
  if (isForWaits && longerThan === undefined) {
    source.report("invalid-notification", path, "`waiting` needs `longerThan`: how long a wait has to last", {
      hint: "add it, for example `longerThan: 30m`",
    });
  } else if (!isForWaits && longerThan !== undefined) {
    source.report("invalid-notification", [...path, "longerThan"], "`longerThan` counts for `waiting` only", {
      spot: "key",
      hint: "add `waiting` to `on`, or remove this",
    });
  }
}

function checkAddress(source: Source, url: unknown, path: Path): void {
  if (typeof url !== "string" || url.includes(OPEN)) return;
  if (!/^https?:\/\/[^\s/]+\S*$/.test(url)) {
    source.report("invalid-notification", path, "this is not an http or https address", {
      hint: "write it like https://host/path, or read it from a secret: `${{ secrets.NAME }}`",
    });
  } else if (hasPassword(url)) {
    const hint = "put the whole address into a secret and write `${{ secrets.NAME }}`";
    source.report("invalid-notification", path, PASSWORD_SHOWN, { hint });
  }
}

const PASSWORD_SHOWN = "this address contains a password, which everyone who reads the definition can see";

function hasPassword(address: string): boolean {
  return /^\w+:\/\/[^/\s@]*:[^/\s@]+@/.test(address);
}

function number(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

function withoutPassword(address: string): string {
  return address.replace(/:[^:@/]*@/, ":...@");
}

function namesIn(list: unknown): ReadonlySet<string> {
  return new Set(Array.isArray(list) ? list.filter((one): one is string => typeof one === "string") : []);
}
