/** What the blocks of a pipeline, a stage or a job must be beyond their shape. */
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
    const message = `\`${capital}\` and \`${key}\` are the same block: give one of them`;
    source.report("duplicate-key", [...path, key], message, { spot: "key" });
  }
}

export function checkConcurrency(source: Source, { value, path }: Located, place: ExpressionPlace, reach: Reach): void {
  checkTexts(source, asMap(value["concurrency"])?.["group"], [...path, "concurrency", "group"], place, reach);
}

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
      hint: "leave it out, or move those of whom some will do to `allowed.users`",
    });
  }
  const able = new Set([...required, ...namesIn(users)]).size;
  if (value["allowed"] !== undefined && roles === undefined && count > able) {
    const message = `this can never open: it needs ${number(count, "approval")}, and ${number(able, "user")} may approve`;
    source.report("invalid-approval", [...path, "allowed"], message, { hint: "name more `users`, or `roles`" });
  }
}

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

/** Reports what is no address of a repository, and one that holds a password. Texts with expressions are known later. */
export function checkRepository(source: Source, repo: unknown, path: Path): void {
  if (typeof repo !== "string" || repo.includes(OPEN)) return;
  const isUrl = /^(?:https?|ssh|git|file):\/\/\S+$/.test(repo);
  const isShort = /^[\w.-]+@[\w.-]+:[^\s-]\S*$/.test(repo);
  if (!isUrl && !isShort) {
    source.report("invalid-source", path, `"${clip(withoutPassword(repo))}" is no address of a Git repository`, {
      hint: "such as https://host/team/code.git, ssh://git@host/team/code.git or git@host:team/code.git",
    });
  } else if (holdsPassword(repo)) {
    source.report("invalid-source", path, PASSWORD_SHOWN, {
      hint: "put it into a secret and name that as `credential`",
    });
  }
}

export function checkTarget(source: Source, owner: Located, reach: Reach): void {
  const block = mapBlockOf(owner.value, owner.path, "target");
  if (block === undefined) return;
  const { value, path } = block;
  checkTexts(source, value["environment"], [...path, "environment"], EXPRESSION_PLACES.target, reach);
  checkTexts(source, value["config"], [...path, "config"], EXPRESSION_PLACES.target, reach, { use: "value" });
}

/** What a job tells of itself. */
export function checkJobNotify(source: Source, job: Located, reach: Reach): void {
  checkNotify(source, job, reach);
  const block = blockOf(job.value, job.path, "notify");
  for (const { value, path } of mapsOf(block?.value, block?.path ?? [])) {
    for (const { text, path: at } of textsOf(value["on"], [...path, "on"])) {
      if (text !== "partial") continue;
      source.report("invalid-notification", at, "a job is never `partial`, so this is never told", {
        hint: "a run is, when only jobs with `continueOnError` failed: move it to the `notify` of the pipeline",
      });
    }
  }
}

export function checkNotify(source: Source, owner: Located, reach: Reach): void {
  const block = blockOf(owner.value, owner.path, "notify");
  if (block === undefined) return;
  for (const { value, path } of mapsOf(block.value, block.path)) {
    const given = ["webhook", "slack", "email"].filter((way) => value[way] !== undefined);
    if (given.length !== 1) {
      const message = `give one of \`webhook\`, \`slack\` and \`email\`${given.length > 1 ? ", not several" : ""}`;
      source.report("invalid-notification", path, message);
    }
    for (const way of ["webhook", "slack"]) checkAddress(source, asMap(value[way])?.["url"], [...path, way, "url"]);
    for (const way of given) checkTexts(source, value[way], [...path, way], EXPRESSION_PLACES.notify, reach);
  }
}

function checkAddress(source: Source, url: unknown, path: Path): void {
  if (typeof url !== "string" || url.includes(OPEN)) return;
  if (!/^https?:\/\/[^\s/]+\S*$/.test(url)) {
    source.report("invalid-notification", path, "this is no http or https address", {
      hint: "such as https://host/path, or `${{ secrets.NAME }}`",
    });
  } else if (holdsPassword(url)) {
    const hint = "put the whole address into a secret and write `${{ secrets.NAME }}`";
    source.report("invalid-notification", path, PASSWORD_SHOWN, { hint });
  }
}

const PASSWORD_SHOWN = "this address holds a password, which everyone who reads it would know";

function holdsPassword(address: string): boolean {
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
