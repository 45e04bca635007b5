/** What the blocks of a pipeline, a stage or a job must be beyond their shape. */
import { OPEN } from "../expressions/template.ts";
import { EXPRESSION_PLACES, type ExpressionPlace } from "./expression-places.ts";
import { asMap, blockOf, type Located, mapBlockOf, mapsOf } from "./raw.ts";
import type { Reach } from "./reach.ts";
import { clip } from "./read-text.ts";
import type { Path, Source } from "./source.ts";
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
    const message = `${required.size} users have to approve, so \`count\` cannot be ${count}`;
    source.report("invalid-approval", [...path, "count"], message);
  }
  const able = new Set([...required, ...namesIn(users)]).size;
  if (value["allowed"] !== undefined && roles === undefined && count > able) {
    const message = `${count} approvals are needed, and ${able} users may give one: it can never open`;
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
  const url = /^(?:https?|ssh|git|file):\/\/(?<authority>[^/\s]*)\S*$/.exec(repo);
  const isShort = /^[\w.-]+@[\w.-]+:[^\s-]\S*$/.test(repo);
  if (url === null && !isShort) {
    source.report("invalid-source", path, `"${clip(withoutPassword(repo))}" is no address of a Git repository`, {
      hint: "such as https://host/team/code.git, ssh://git@host/team/code.git or git@host:team/code.git",
    });
  } else if (/^[^@]*:[^@]+@/.test(url?.groups?.["authority"] ?? "")) {
    source.report("invalid-source", path, "this address holds a password, which everyone who reads it would know", {
      hint: "put it into a secret and name that as `credential`",
    });
  }
}

export function checkTarget(source: Source, owner: Located, reach: Reach): void {
  const block = mapBlockOf(owner.value, owner.path, "target");
  if (block === undefined) return;
  for (const key of ["environment", "config"]) {
    checkTexts(source, block.value[key], [...block.path, key], EXPRESSION_PLACES.target, reach, { use: "value" });
  }
}

export function checkNotify(source: Source, owner: Located, place: ExpressionPlace, reach: Reach): void {
  const block = blockOf(owner.value, owner.path, "notify");
  if (block === undefined) return;
  for (const { value, path } of mapsOf(block.value, block.path)) {
    const given = ["webhook", "slack", "email"].filter((way) => value[way] !== undefined);
    if (given.length !== 1) {
      const message = `give one of \`webhook\`, \`slack\` and \`email\`${given.length > 1 ? ", not several" : ""}`;
      source.report("invalid-notification", path, message);
    }
    for (const way of ["webhook", "slack"]) checkAddress(source, asMap(value[way])?.["url"], [...path, way, "url"]);
    for (const way of given) checkTexts(source, value[way], [...path, way], place, reach);
  }
}

function checkAddress(source: Source, url: unknown, path: Path): void {
  if (typeof url !== "string" || url.includes(OPEN) || /^https?:\/\/[^\s/]+\S*$/.test(url)) return;
  source.report("invalid-notification", path, "this is no http or https address");
}

function withoutPassword(address: string): string {
  return address.replace(/:[^:@/]*@/, ":...@");
}

function namesIn(list: unknown): ReadonlySet<string> {
  return new Set(Array.isArray(list) ? list.filter((one): one is string => typeof one === "string") : []);
}
