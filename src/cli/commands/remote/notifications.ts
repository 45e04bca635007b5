/** `millrace notifications`: what the caller has chosen to be told of by e-mail. */
import type { Schemas } from "../../../../clients/typescript/src/index.ts";
import { findProject } from "../../remote/find.ts";
import { type RemoteOptions, type Session, withServer } from "../../remote/session.ts";

type Choices = Schemas["NotificationChoices"];
type Choice = Choices["choices"][number];
type WantedChoice = Pick<Choice, "projectId" | "on" | "runs" | "longerThan">;

export function listChoices(options: RemoteOptions, signal: AbortSignal): Promise<number> {
  return withServer(options, signal, async ({ client, report }) => {
    const { choices } = await client.get("/me/notifications", { signal });
    report.list(
      choices,
      [
        { title: "project", text: ({ projectId }) => projectId },
        { title: "of", text: ({ runs }) => `${runs} runs` },
        { title: "on", text: ({ on }) => on.join(", ") },
        { title: "waits longer than", text: ({ longerThan }) => longerThan ?? "-" },
        { title: "since", text: ({ since }) => since },
      ],
      "you are told nothing; `millrace notifications set --on failure` chooses something",
    );
  });
}

export interface ChoiceOptions extends RemoteOptions {
  readonly project: string;
  readonly on: readonly Choice["on"][number][];
  readonly runs: Choice["runs"];
  readonly longerThan?: string;
}

/** Replaces the choice for one project. */
export function setChoice(options: ChoiceOptions, signal: AbortSignal): Promise<number> {
  return withServer(options, signal, async (session) => {
    const { projectId } = await findProject(session.client, options.project);
    const { on, runs, longerThan = null } = options;
    const after = await change(session, signal, projectId, [{ projectId, on: [...on], runs, longerThan }]);
    session.report.object(
      after,
      `you are told of ${on.join(", ")} of ${runs === "mine" ? "your" : "all"} runs, by e-mail to ${after.email}`,
    );
  });
}

export function deleteChoice(options: Pick<ChoiceOptions, "project"> & RemoteOptions, signal: AbortSignal) {
  return withServer(options, signal, async (session) => {
    const { projectId } = await findProject(session.client, options.project);
    const after = await change(session, signal, projectId, []);
    session.report.object(after, `you are told nothing of ${options.project}`);
  });
}

/** Puts these choices in place of those for the project. Another change at the same moment is a failure: no choice is lost. */
async function change(
  { client }: Session,
  signal: AbortSignal,
  projectId: string,
  chosen: readonly WantedChoice[],
): Promise<Choices> {
  const before = await client.getTagged("/me/notifications", { signal });
  const others = before.detail.choices.filter((one) => one.projectId !== projectId);
  const kept = others.map(({ projectId: of, on, runs, longerThan }) => ({ projectId: of, on, runs, longerThan }));
  const choices = [...kept, ...chosen];
  const ifMatch = before.etag === undefined ? {} : { ifMatch: before.etag };
  return client.put("/me/notifications", { body: { choices }, ...ifMatch, signal });
}
