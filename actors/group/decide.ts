/** The group's decisions: who gets a place, who gives way, who is refused. Pure. */
import type { EnterCommand, PlaceCommand } from "../../src/domain/commands.ts";
import type { Decision, OwedEffect } from "../../src/domain/effects.ts";
import { memberKey, memberOf } from "../../src/domain/groups.ts";
import { commandIdOf, type RunId } from "../../src/domain/ids.ts";
import { lookUp } from "../../src/domain/transition-table.ts";
import type { GroupMessage } from "./messages.ts";
import { type GroupState, holderOf, MAX_WAITING, type Seat } from "./state.ts";
import { GROUP_TRANSITIONS, type GroupInput } from "./transitions.ts";

type GroupDecision = Decision<GroupState, OwedEffect>;

/** Decides one message. `now` is the owner's clock in Unix milliseconds. Throws `IllegalTransition` for a `never` cell. */
export function decideGroup(group: GroupState, message: GroupMessage, now: number): GroupDecision {
  const input = inputOf(group, message);
  const cell = lookUp("group", GROUP_TRANSITIONS, input, group.state);
  if (cell === "late" || cell === "same") return { cell, next: group, effects: answerUnmoved(group, message, input) };
  const next = settle(message.kind === "enter" ? enter(group, message, now) : leave(group, memberKey(message.member)));
  return { cell: "moved", next, effects: [...answer(next, message), ...tellings(group, next, message)] };
}

function inputOf(group: GroupState, message: GroupMessage): GroupInput {
  const isMember = seatOf(group, memberKey(message.member)) !== undefined;
  if (message.kind === "leave") {
    if (!isMember) return "strangerLeaves";
    return group.seats.length === 1 ? "lastLeaves" : "leaves";
  }
  if (isMember) return "entersAgain";
  const isFull = group.seats.length >= limitWith(group, message).limit;
  const isRefused =
    message.group.onConflict === "reject" ? isFull : group.seats.filter(({ held }) => !held).length >= MAX_WAITING;
  return isRefused && group.state === "busy" ? "refused" : "enters";
}

/** The limit of the newest definition holds, whoever brings it. */
function limitWith(group: GroupState, { group: planned }: EnterCommand): Pick<GroupState, "limit" | "definedBy"> {
  return planned.definedBy >= group.definedBy ? planned : group;
}

function enter(group: GroupState, message: EnterCommand, now: number): GroupState {
  const { member, projectId, group: planned } = message;
  const seat: Seat = {
    key: memberKey(member),
    onConflict: planned.onConflict,
    enteredAt: now,
    held: false,
    supersededBy: null,
  };
  const { limit, definedBy } = limitWith(group, message);
  const after = group.seats.findIndex(({ key }) => key > seat.key);
  const seats = group.seats.toSpliced(after === -1 ? group.seats.length : after, 0, seat);
  return { ...group, projectId, name: planned.name, state: "busy", limit, definedBy, seats };
}

function leave(group: GroupState, gone: string): GroupState {
  const seats = group.seats.filter(({ key }) => key !== gone);
  return { ...group, seats, state: seats.length === 0 ? "idle" : "busy" };
}

/** Ends older ones for those that do not wait, then gives free places to those that wait, in the order of their creation. */
function settle(group: GroupState): GroupState {
  const { limit } = group;
  const seats = [...group.seats];
  const newest = seats.findLast(
    ({ onConflict, supersededBy }) => onConflict === "cancelRunning" && supersededBy === null,
  );
  let active = seats.filter(({ supersededBy }) => supersededBy === null).length;
  for (let at = 0; newest !== undefined && active > limit && seats[at]!.key < newest.key; at++) {
    if (seats[at]!.supersededBy !== null) continue;
    seats[at] = { ...seats[at]!, supersededBy: memberOf(newest.key).runId };
    active--;
  }
  let free = limit - seats.filter(({ held }) => held).length;
  for (let at = 0; free > 0 && at < seats.length; at++) {
    const seat = seats[at]!;
    if (seat.held || seat.supersededBy !== null) continue;
    seats[at] = { ...seat, held: true };
    free--;
  }
  return { ...group, seats };
}

/** What members are told that differs from what they know. */
function tellings(before: GroupState, after: GroupState, message: GroupMessage): readonly OwedEffect[] {
  const known = new Map(before.seats.map((seat) => [seat.key, seat]));
  // One that reserves a place is not there yet: it asks again when it is.
  const absent = message.kind === "enter" && message.isReservation ? memberKey(message.member) : undefined;
  return after.seats.flatMap((seat): readonly OwedEffect[] => {
    const was = known.get(seat.key);
    if (was === seat || seat.key === absent) return [];
    const isSuperseded = seat.supersededBy !== null && was?.supersededBy !== seat.supersededBy;
    return [
      ...(isSuperseded ? [tell(after, seat.key, "superseded", seat.supersededBy)] : []),
      ...(seat.held && was?.held !== true ? [tell(after, seat.key, "placed", null)] : []),
    ];
  });
}

function tell({ groupId }: GroupState, key: string, kind: PlaceCommand["kind"], by: RunId | null): OwedEffect {
  const member = memberOf(key);
  return {
    type: "command",
    to: member.runId,
    commandId: commandIdOf(kind, groupId, key),
    body: { kind, member, by },
  };
}

function answerUnmoved(group: GroupState, message: GroupMessage, input: GroupInput): readonly OwedEffect[] {
  const key = memberKey(message.member);
  const by = holderOf(group);
  if (input === "refused") {
    const isTold = message.kind === "enter" && !message.isReservation;
    return [...answer(group, message, by), ...(isTold ? [tell(group, key, "placeRefused", by)] : [])];
  }
  // Whoever has reserved the place is there now.
  const isHolder = input === "entersAgain" && seatOf(group, key)!.held;
  return [...answer(group, message), ...(isHolder ? [tell(group, key, "placed", null)] : [])];
}

function seatOf({ seats }: GroupState, wanted: string): Seat | undefined {
  return seats.find(({ key }) => key === wanted);
}

/** `refusedBy`: the run that has the place. */
function answer(group: GroupState, message: GroupMessage, refusedBy?: RunId | null): readonly OwedEffect[] {
  const status = seatOf(group, memberKey(message.member))?.held === true ? "running" : "pending";
  const verdict =
    refusedBy === undefined
      ? ({ outcome: "accepted", status } as const)
      : ({ outcome: "refused", status, by: refusedBy } as const);
  return [{ type: "answer", commandId: message.commandId, verdict }];
}
