/**
 * The group's decisions: which member gets a place, which member must end for another one, and which one is refused.
 * Pure.
 */
import type { EnterCommand, PlaceCommand } from "../../src/domain/commands.ts";
import type { Decision, OwedEffect } from "../../src/domain/effects.ts";
import { memberKey, memberOf } from "../../src/domain/groups.ts";
import { commandIdOf, type RunId } from "../../src/domain/ids.ts";
import { lookUp } from "../../src/domain/transition-table.ts";
import type { GroupMessage } from "./messages.ts";
import { type GroupState, holderOf, MAX_WAITING, type Seat } from "./state.ts";
import { GROUP_TRANSITIONS, type GroupInput } from "./transitions.ts";

type GroupDecision = Decision<GroupState, OwedEffect>;

/**
 * Decides one message. `now` is the owner's clock in Unix milliseconds. Throws `IllegalTransition` where the table says
 * `never`.
 */
export function decideGroup(group: GroupState, message: GroupMessage, now: number): GroupDecision {
  const input = inputOf(group, message);
  const entry = lookUp("group", GROUP_TRANSITIONS, input, group.state);
  if (entry === "late" || entry === "same") {
    return { entry, next: group, effects: answerUnchanged(group, message, input) };
  }
  const changed = message.kind === "enter" ? enter(group, message, now) : leave(group, memberKey(message.member));
  const next = assignPlaces(changed);
  return { entry: "moved", next, effects: [...answer(next, message), ...tellMembers(group, next, message)] };
}

function inputOf(group: GroupState, message: GroupMessage): GroupInput {
  const isMember = seatOf(group, memberKey(message.member)) !== undefined;
  if (message.kind === "leave") {
    if (!isMember) return "nonMemberLeaves";
    return group.seats.length === 1 ? "lastLeaves" : "leaves";
  }
  if (isMember) return "entersAgain";
  const isFull = group.seats.length >= limitWith(group, message).limit;
  const isRefused =
    message.group.onConflict === "reject" ? isFull : group.seats.filter(({ held }) => !held).length >= MAX_WAITING;
  return isRefused && group.state === "busy" ? "entryRefused" : "enters";
}

/** The limit that holds once this member has entered: that of the newest definition, whichever member brings it. */
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

function leave(group: GroupState, leaver: string): GroupState {
  const seats = group.seats.filter(({ key }) => key !== leaver);
  return { ...group, seats, state: seats.length === 0 ? "idle" : "busy" };
}

/**
 * First, for members with `cancelRunning`, marks older members that have to end; then gives the free places to the
 * members that wait, in the order of creation.
 */
function assignPlaces(group: GroupState): GroupState {
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

/** Tells each member what has changed for it. */
function tellMembers(before: GroupState, after: GroupState, message: GroupMessage): readonly OwedEffect[] {
  const seatsBefore = new Map(before.seats.map((seat) => [seat.key, seat]));
  // A run that reserves a place is not stored yet: it asks for the place again when it is.
  const reserving = message.kind === "enter" && message.isReservation ? memberKey(message.member) : undefined;
  return after.seats.flatMap((seat): readonly OwedEffect[] => {
    const was = seatsBefore.get(seat.key);
    if (was === seat || seat.key === reserving) return [];
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

/** The answer to a message that leaves the group as it is. */
function answerUnchanged(group: GroupState, message: GroupMessage, input: GroupInput): readonly OwedEffect[] {
  const key = memberKey(message.member);
  const by = holderOf(group);
  if (input === "entryRefused") {
    const isStored = message.kind === "enter" && !message.isReservation;
    return [...answer(group, message, by), ...(isStored ? [tell(group, key, "placeRefused", by)] : [])];
  }
  // The run that has reserved this place is stored now, and asks for the place again.
  const isHolder = input === "entersAgain" && seatOf(group, key)!.held;
  return [...answer(group, message), ...(isHolder ? [tell(group, key, "placed", null)] : [])];
}

function seatOf({ seats }: GroupState, member: string): Seat | undefined {
  return seats.find(({ key }) => key === member);
}

/** The verdict on the command. `refusedBy`: the run that has the place, when the member is refused. */
function answer(group: GroupState, message: GroupMessage, refusedBy?: RunId | null): readonly OwedEffect[] {
  const status = seatOf(group, memberKey(message.member))?.held === true ? "running" : "pending";
  const verdict =
    refusedBy === undefined
      ? ({ outcome: "accepted", status } as const)
      : ({ outcome: "refused", status, by: refusedBy } as const);
  return [{ type: "answer", commandId: message.commandId, verdict }];
}
