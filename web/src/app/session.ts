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

export async function loadSession(signal?: AbortSignal): Promise<void> {
  const whoami = await api.get("/whoami", { signal });
  const list = await api.get("/projects", { signal });
  projects.value = list.list.filter(({ archived }) => !archived);
  session.value = whoami;
}

export async function logOut(): Promise<void> {
  await api.post("/auth/logout");
  location.assign("/login");
}
