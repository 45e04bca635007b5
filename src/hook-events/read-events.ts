/** What a delivery says, in the same words for all kinds of senders. The kind of the hook decides how it is read. Pure. */
import type { EventFacts, HookKind } from "./words.ts";
import { readBitbucket } from "./bitbucket.ts";
import {
  type Body,
  commitAt,
  factsOf,
  firstText,
  idAt,
  isTrueAt,
  namesAt,
  numberAt,
  pushed,
  textAt,
} from "./fields.ts";
import { readGithub } from "./github.ts";
import { readGitlab } from "./gitlab.ts";

/** Events of one delivery that count. */
export const MAX_EVENTS = 20;
/** A body of more bytes is not given to expressions as `trigger.payload`. */
export const MAX_PAYLOAD_BYTES = 1024 * 1024;
/** The word of an event whose sender gives none. */
const ANY_WORD = "event";
const EVENT_WORD = /^[\w.:-]{1,100}$/;

/** The events of a body; none for an event that starts nothing. `event`: the word in the header of the kind. */
export function readEvents(kind: HookKind, event: string, body: Body): readonly EventFacts[] {
  switch (kind) {
    case "github":
    case "gitea":
    case "forgejo":
      return present(readGithub(event, body));
    case "gitlab":
      return present(readGitlab(body));
    case "bitbucket":
      return readBitbucket(event, body).slice(0, MAX_EVENTS);
    case "generic":
      return [readGeneric(event, body)];
  }
}

/**
 * What expressions read as `trigger.payload`: the body, or for one of more than {@link MAX_PAYLOAD_BYTES} the facts alone, with
 * `reduced: true`.
 */
export function payloadOf(body: Body, bytes: number, facts: EventFacts): Body {
  return bytes <= MAX_PAYLOAD_BYTES ? body : { ...facts, reduced: true };
}

/** Any sender may give fields of the facts under their own names. */
function readGeneric(header: string, body: Body): EventFacts {
  const words = [header, textAt(body, "event"), textAt(body, "type")];
  const event = words.find((word) => EVENT_WORD.test(word)) ?? ANY_WORD;
  const ref = textAt(body, "ref");
  const full = ref.startsWith("refs/") ? ref : "";
  const { event: _, action: _a, ...named } = full === "" ? { event, ref } : pushed(full, false);
  return factsOf({
    ...named,
    event,
    branch: firstText({ ...named, ...body }, ["branch"]),
    tag: firstText({ ...named, ...body }, ["tag"]),
    action: textAt(body, "action"),
    sha: commitAt(body, "sha"),
    before: commitAt(body, "before"),
    repository: textAt(body, "repository"),
    actor: textAt(body, "actor"),
    actorId: idAt(body, ["actorId"]),
    message: textAt(body, "message"),
    number: numberAt(body, "number"),
    labels: namesAt(body, ["labels"], "name"),
    fork: isTrueAt(body, "fork"),
  });
}

function present(facts: EventFacts | undefined): readonly EventFacts[] {
  return facts === undefined ? [] : [facts];
}
