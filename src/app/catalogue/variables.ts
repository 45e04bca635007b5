/** Variables of tenants and projects: listed, set and deleted. Everybody who may see the owner may see the values. */
import { z } from "zod";
import { recorded } from "../../audit/trail.ts";
import { MillraceError } from "../../domain/errors.ts";
import type { Area } from "../../domain/roles.ts";
import { VARIABLE_NAME } from "../../domain/names.ts";
import { type OwnedDocument, ownerOf, type Variable } from "../../stores/ports/documents.ts";
import type { AppContext, WithStores } from "../context.ts";
import type { ActingUser, Caller } from "../identity/access.ts";
import type { OperationOf } from "../identity/operations.ts";
import type { Precondition, WithPrecondition } from "../preconditions.ts";
import { reachProject, reachTenant } from "../reaching.ts";
import { shape, time } from "../shapes.ts";
import { rfc3339 } from "../times.ts";
import { forgetInheritedVariables } from "./inherited-variables.ts";
import { VARIABLE_BOUNDS, variableNameProblem, variableSetProblem } from "./variable-set.ts";

const { bytes } = VARIABLE_BOUNDS;
/** How often a change is tried again when others change the same set at the same moment. */
const TRIES = 20;

type VariableContext = Pick<AppContext, "clock" | "log"> & WithStores<"pipelines" | "rights" | "documents">;

export const variableBody = z.strictObject({
  value: z
    .string()
    .refine((text) => Buffer.byteLength(text) <= bytes, `must have at most ${bytes} bytes`)
    .refine((text) => !text.includes("\0"), "must have no NUL character: no step could be given it")
    .refine((text) => Buffer.from(text).toString() === text, "must be well-formed Unicode"),
});

export const VariableShape = shape("Variable", () => ({
  name: z.string(),
  value: z.string(),
  updatedAt: time,
  updatedBy: z.string(),
}));

type VariableView = z.infer<typeof VariableShape>;

interface Named {
  readonly area: Area;
  readonly name: string;
}

/** By their names. Throws `not_found` for an unknown owner. */
export async function listVariables(
  context: VariableContext,
  caller: Caller,
  { area }: { readonly area: Area },
): Promise<{ readonly list: readonly VariableView[]; readonly total: number }> {
  await reachOwner(context, caller, area, "read");
  const list = (await load(context, area)).body.variables.map(variableView);
  return { list, total: list.length };
}

/** Throws `not_found`. */
export async function getVariable(
  context: VariableContext,
  caller: Caller,
  { area, name }: Named,
): Promise<VariableView> {
  await reachOwner(context, caller, area, "read");
  const found = (await load(context, area)).body.variables.find((one) => one.name === name);
  if (found === undefined) throw noVariable(name);
  return variableView(found);
}

/**
 * Creates a variable, or gives it another value. Runs that exist keep the value that they began with; new runs get it within
 * 2 s. Throws `not_found` for an unknown owner, `malformed_request` for a name that no variable may have, and `too_large`.
 */
export async function putVariable(
  context: VariableContext,
  caller: Caller,
  { area, name, value, match }: Named & z.output<typeof variableBody> & WithPrecondition<VariableView>,
): Promise<VariableView> {
  const user = await reachOwner(context, caller, area, "write");
  requireName(name);
  const variable: Variable = { name, value, updatedAt: context.clock.now(), updatedBy: user.name };
  await change(context, user, { area, name }, (variables) => {
    requireAsWanted(variables, name, match);
    const others = variables.filter((one) => one.name !== name);
    const next = { variables: [...others, variable].toSorted((a, b) => (a.name < b.name ? -1 : 1)) };
    const problem = variableSetProblem(next);
    if (problem !== undefined) throw new MillraceError("too_large", problem);
    return next.variables;
  });
  context.log.info({ ...area, name, by: user.name, userId: user.userId }, "a variable was set");
  return variableView(variable);
}

/** Throws `not_found`. */
export async function deleteVariable(
  context: VariableContext,
  caller: Caller,
  { area, name, match }: Named & WithPrecondition<VariableView>,
): Promise<void> {
  const user = await reachOwner(context, caller, area, "write");
  await change(context, user, { area, name }, (variables) => {
    if (!variables.some((one) => one.name === name)) throw noVariable(name);
    requireAsWanted(variables, name, match);
    return variables.filter((one) => one.name !== name);
  });
  context.log.info({ ...area, name, by: user.name, userId: user.userId }, "a variable was deleted");
}

type Purpose = "read" | "write";
const OF_TENANT = { read: "readTenantVariables", write: "writeTenantVariables" } as const satisfies Record<
  Purpose,
  OperationOf<"tenant">
>;
const OF_PROJECT = { read: "readVariables", write: "writeVariables" } as const satisfies Record<
  Purpose,
  OperationOf<"project">
>;

async function reachOwner(context: VariableContext, caller: Caller, area: Area, purpose: Purpose): Promise<ActingUser> {
  const { user } =
    "tenantId" in area
      ? await reachTenant(context, caller, OF_TENANT[purpose], area.tenantId)
      : await reachProject(context, caller, OF_PROJECT[purpose], area.projectId);
  return user;
}

/** Without a document, one that no save has stored yet. */
async function load({ stores }: VariableContext, area: Area): Promise<OwnedDocument<"variables">> {
  const owner = ownerOf(area);
  const [found] = await stores.documents.find("variables", [owner]);
  return found ?? { kind: "variables", owner, version: 0, body: { variables: [] } };
}

/** Throws `unavailable` when others change the set all the time. */
async function change(
  context: VariableContext,
  user: ActingUser,
  { area, name }: Named,
  by: (variables: readonly Variable[]) => readonly Variable[],
): Promise<void> {
  for (let tries = 0; tries < TRIES; tries++) {
    const before = await load(context, area);
    const after = { ...before, version: before.version + 1, body: { variables: by(before.body.variables) } };
    const object = { kind: "variable", id: `${before.owner}/${name}`, name } as const;
    const [old, fresh] = [before, after].map(({ body }) => recordable(body.variables, name));
    const sides = { ...(old && { before: old }), ...(fresh && { after: fresh }) };
    if (!(await recorded(user, { ...object, ...sides }, () => context.stores.documents.save(after)))) continue;
    forgetInheritedVariables(context);
    return;
  }
  throw new MillraceError("unavailable", "others change these variables all the time: try again");
}

/** Throws `precondition_failed`, and `not_found` for a variable that is to be as the caller has read it and is not there. */
function requireAsWanted(variables: readonly Variable[], name: string, match: Precondition<VariableView> | undefined) {
  if (match === undefined) return;
  const found = variables.find((one) => one.name === name);
  if (found === undefined) throw noVariable(name);
  match(variableView(found));
}

/** The value stays out of the audit log: people put into variables what is to be a secret. */
function recordable(variables: readonly Variable[], name: string): { readonly bytes: number } | undefined {
  const found = variables.find((one) => one.name === name);
  return found && { bytes: Buffer.byteLength(found.value) };
}

function requireName(name: string): void {
  const message = VARIABLE_NAME.test(name)
    ? variableNameProblem(name)
    : "must begin with a letter or `_`, followed by at most 127 letters, digits or `_`";
  if (message === undefined) return;
  const problems = [{ code: "invalid", pointer: "/name", message }];
  throw new MillraceError("malformed_request", `the name of the variable ${message}`, { problems });
}

function variableView({ updatedAt, ...shown }: Variable): VariableView {
  return { ...shown, updatedAt: rfc3339(updatedAt) };
}

function noVariable(name: string): MillraceError {
  return new MillraceError("not_found", `there is no variable ${JSON.stringify(name)} here`);
}
