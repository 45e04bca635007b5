/** The choices of the filter by status, and what an address says about it. */
import { words } from "../words.ts";

type Choice = readonly [value: string, text: string];

const CHOICES: readonly Choice[] = [
  ["", words.runs.all],
  ["pending,running,paused", words.runs.active],
  ["failed,partial", words.status.failed],
  ["success", words.status.success],
  ["cancelled", words.status.cancelled],
];

/** The statuses of an address; those of a choice as the choice has them, in whichever order they came. */
export function knownStatuses(given: string): string {
  const sorted = sort(given);
  return CHOICES.find(([value]) => sort(value) === sorted)?.[0] ?? given;
}

/** The choices, and one more for other statuses, which an address may name: a list never has a filter that it does not show. */
export function statusesWith(given: string): readonly Choice[] {
  if (CHOICES.some(([value]) => value === given)) return CHOICES;
  const names = given.split(",").map((one) => words.status[one as keyof typeof words.status] ?? one);
  return [...CHOICES, [given, words.runs.only(names)]];
}

function sort(statuses: string): string {
  return statuses.split(",").toSorted().join();
}
