/** Who reads the page, what this person may do, and the project that the lists show. */
import { computed, signal } from "@preact/signals";
import { api, type Schemas } from "../api/client.ts";

type Operation = Schemas["Whoami"]["operations"][number];

const PROJECT_KEY = "millrace.project";

/** Undefined until the server has said it. */
export const session = signal<Schemas["Whoami"] | undefined>(undefined);
export const projects = signal<readonly Schemas["Project"][]>([]);
const chosen = signal(localStorage.getItem(PROJECT_KEY) ?? "");

/** The project that lists are narrowed to; undefined shows all. A project that is gone narrows nothing. */
export const currentProject = computed(() =>
  projects.value.length > 1 ? projects.value.find(({ projectId }) => projectId === chosen.value) : undefined,
);

export function chooseProject(projectId: string): void {
  chosen.value = projectId;
  if (projectId === "") localStorage.removeItem(PROJECT_KEY);
  else localStorage.setItem(PROJECT_KEY, projectId);
}

/** True when the reader may do it everywhere, or in some project. The server decides each call again. */
export function may(operation: Operation): boolean {
  const known = session.value;
  if (known === undefined) return false;
  return known.operations.includes(operation) || known.bound.some(({ operations }) => operations.includes(operation));
}

/** True when the reader may do it in this project, by a role there, in its tenant or in the installation. */
export function mayIn(operation: Operation, area: { readonly tenantId: string; readonly projectId?: string }): boolean {
  const known = session.value;
  if (known === undefined) return false;
  return (
    known.operations.includes(operation) ||
    known.bound.some(
      (one) =>
        one.operations.includes(operation) &&
        ("tenantId" in one.area ? one.area.tenantId === area.tenantId : one.area.projectId === area.projectId),
    )
  );
}

type Approval = Schemas["ApprovalForCaller"];

/** True when the reader has approved it, and others are missing. */
export function hasApproved({ approvals }: Pick<Approval, "approvals">): boolean {
  return approvals.some(({ userId }) => userId === session.value?.user.userId);
}

/** True when the approval waits for the reader. One who has approved it may still reject it, and need not. */
export function waitsForReader(approval: Pick<Approval, "approvals" | "mayDecide">): boolean {
  return approval.mayDecide && !hasApproved(approval);
}

/** Reads the projects again, after one was made or changed. */
export async function loadProjects(signal?: AbortSignal): Promise<void> {
  const { list } = await api.get("/projects", { query: { pageSize: 100 }, signal });
  projects.value = list.filter(({ archived }) => !archived);
}

export async function loadSession(signal?: AbortSignal): Promise<void> {
  const whoami = await api.get("/whoami", { signal });
  await loadProjects(signal);
  session.value = whoami;
}

export async function logOut(): Promise<void> {
  await api.post("/auth/logout");
  location.assign("/login");
}
