/** `millrace variables`: the variables of a project or of a tenant, which definitions read. */
import { type Owner, ownerOf, type OwnerOptions } from "../../remote/owner-option.ts";
import { type RemoteOptions, type Session, withServer } from "../../remote/session.ts";

export function listVariables(options: OwnerOptions, signal: AbortSignal): Promise<number> {
  return withOwner(options, signal, async ({ client, report }, owner) => {
    const { list } =
      "projectId" in owner
        ? await client.get("/projects/{projectId}/variables", { path: owner, signal })
        : await client.get("/tenants/{tenantId}/variables", { path: owner, signal });
    report.list(
      list,
      [
        { title: "name", text: ({ name }) => name },
        { title: "value", text: ({ value }) => value },
        { title: "changed", text: ({ updatedAt }) => updatedAt },
        { title: "by", text: ({ updatedBy }) => updatedBy },
      ],
      "no variables; `millrace variables set NAME VALUE` makes one",
    );
  });
}

/** Creates the variable, or gives it another value. */
export function setVariable(name: string, value: string, options: OwnerOptions, signal: AbortSignal): Promise<number> {
  return withOwner(options, signal, async ({ client, report }, owner) => {
    const set =
      "projectId" in owner
        ? await client.put("/projects/{projectId}/variables/{name}", {
            path: { ...owner, name },
            body: { value },
            signal,
          })
        : await client.put("/tenants/{tenantId}/variables/{name}", {
            path: { ...owner, name },
            body: { value },
            signal,
          });
    report.object(set, `set ${name}`);
  });
}

export function deleteVariable(name: string, options: OwnerOptions, signal: AbortSignal): Promise<number> {
  return withOwner(options, signal, async ({ client, report }, owner) => {
    if ("projectId" in owner) {
      await client.delete("/projects/{projectId}/variables/{name}", { path: { ...owner, name }, signal });
    } else {
      await client.delete("/tenants/{tenantId}/variables/{name}", { path: { ...owner, name }, signal });
    }
    report.object({ name, deleted: true }, `deleted ${name}`);
  });
}

/** The owner that the options name; without any, the project `default`. */
function withOwner(
  options: OwnerOptions & RemoteOptions,
  signal: AbortSignal,
  work: (session: Session, owner: Owner) => Promise<void>,
): Promise<number> {
  return withServer(options, signal, async (session) => {
    return work(session, (await ownerOf(session.client, options)) ?? { projectId: "default" });
  });
}
