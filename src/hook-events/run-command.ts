/** The comment `/millrace run` on a pull request, and who has written it. Pure. */
import { at, type Body, firstText, numberAt, textAt } from "./fields.ts";
import type { EventFacts, HookKind } from "./words.ts";

export const RUN_COMMAND = "/millrace run";

/** A user at the sender. */
export interface Commenter {
  readonly login: string;
  /** What the sender knows the user by for good; empty where it is not told. */
  readonly id: string;
}

/** Such names and ids are parts of paths. */
const SAFE = /^(?!\.{1,2}$)[\w.-]{1,100}$/;
const UUID = /^\{[\da-f-]{36}\}$/i;

/** Whether an event is a new comment on the pull request of a fork whose first line is the command. */
export function isRunCommand({ event, action, comment, fork, number }: EventFacts): boolean {
  const [line = ""] = comment.trimStart().split("\n", 1);
  return event === "comment" && action === "created" && fork && number !== null && line.trim() === RUN_COMMAND;
}

/** Undefined where the body names no one that the API of the sender could be asked about. */
export function commenterOf(kind: HookKind, body: Body): Commenter | undefined {
  switch (kind) {
    case "gitlab": {
      const id = String(numberAt(body, "user", "id") ?? "");
      return id === "" ? undefined : { login: textAt(body, "user", "username"), id };
    }
    case "bitbucket": {
      const id = textAt(body, "actor", "uuid");
      const login = firstText(body, ["actor", "nickname"], ["actor", "display_name"]);
      return UUID.test(id) ? { login, id } : undefined;
    }
    case "github":
    case "gitea":
    case "forgejo": {
      const login = textAt(body, "sender", "login");
      const id = at(body, "sender", "id");
      return SAFE.test(login) ? { login, id: typeof id === "number" ? String(id) : "" } : undefined;
    }
    case "generic":
      return undefined;
  }
}
