/** A dry run as a tree of text: what would run, what is skipped and why, and which agents could run each job. Pure. */
import { describeFailing } from "../domain/agent-wait.ts";
import type { Schemas } from "../../clients/typescript/src/index.ts";
import { plural } from "./diagnostics.ts";
import { type Colour, cut, type Paint, printable } from "./screen.ts";

type PlanView = Schemas["Plan"];
type StageView = Schemas["PlannedStage"];
type JobView = Schemas["PlannedJob"];
type Verdict = Schemas["Verdict"];

export interface PlanTreeOptions {
  /** The name of the pipeline or file. */
  readonly name: string;
  readonly paint: Paint;
  /** The width of the terminal; undefined for output that is no terminal, whose lines may be of any length. */
  readonly columns: number | undefined;
}

interface Row {
  readonly branch: string;
  readonly label: string;
  /** Null for a stage that runs without a condition of its own. */
  readonly outcome: Verdict["outcome"] | null;
  readonly notes: readonly string[];
}

/** A stage, job or step with the parts inside it. */
interface Part extends Omit<Row, "branch"> {
  readonly parts: readonly Part[];
}

const OUTCOME_COLOURS: Readonly<Record<Verdict["outcome"], Colour>> = {
  runs: "green",
  skipped: "gray",
  unknown: "yellow",
};
const OUTCOME_WIDTH = "unknown".length;
const GAP = "  ";
/** Without a terminal, a longer name does not move the outcomes of the other lines to the right. */
const MAX_LABEL = 60;
const MIN_LABEL = 16;
/** Names of agents that are shown beside a job. */
const MAX_NAMED = 5;

/** One heading, then a line for each stage, job and step. */
export function renderPlan(plan: PlanView, { name, paint, columns }: PlanTreeOptions): readonly string[] {
  const { trigger, stages, jobsCount, stepsCount } = plan;
  const ref = trigger.ref === "" ? "" : `, ref ${trigger.ref}`;
  const counts = `${plural(jobsCount, "job")}, ${plural(stepsCount, "step")}`;
  const heading = printable(`plan of ${name}: ${counts} (${trigger.kind}${ref})`);
  const rows = layOut(stages.map(stagePart), "");
  const width = labelWidth(rows, columns);
  return [
    paint("bold", columns === undefined ? heading : cut(heading, columns)),
    ...rows.map((row) => renderRow(row, width, paint, columns)),
  ];
}

/** The width of branch and label. On a narrow terminal, labels and notes share the width. */
function labelWidth(rows: readonly Row[], columns: number | undefined): number {
  const widest = (lengths: readonly number[]) => lengths.reduce((most, length) => Math.max(most, length), 0);
  const labels = widest(rows.map(({ branch, label }) => lengthOf(branch + printable(label))));
  if (columns === undefined) return Math.min(labels, MAX_LABEL);
  const beside = OUTCOME_WIDTH + 2 * GAP.length;
  const notes = widest(rows.map((row) => lengthOf(noteOf(row))));
  return Math.min(labels, Math.max(columns - beside - notes, Math.floor(columns / 2), MIN_LABEL));
}

function stagePart({ name, when, verdict, approval, jobs }: StageView): Part {
  const plain = verdict.outcome === "runs" && when === IMPLIED;
  return {
    label: `stage ${name}`,
    outcome: plain ? null : verdict.outcome,
    notes: [...reasons(verdict), ...gate(verdict, approval)],
    parts: jobs.map((job) => jobPart(job, verdict)),
  };
}

/** The condition of a part that states none. */
const IMPLIED = "success()";

function jobPart(job: JobView, stage: Verdict): Part {
  const { name, verdict, approval, cellsFrom, steps } = job;
  return {
    label: `job ${name}`,
    outcome: verdict.outcome,
    notes: [
      ...reasons(verdict, stage),
      ...(cellsFrom === null ? [] : [`a job for each of ${cellsFrom}`]),
      ...gate(verdict, approval),
      ...(verdict.outcome === "skipped" ? [] : [describeAgents(job)]),
    ],
    parts: steps.map((step) => ({
      label: step.name,
      outcome: step.verdict.outcome,
      notes: reasons(step.verdict, verdict),
      parts: [],
    })),
  };
}

/** Why a part is skipped or undecided; empty for a part that runs, and where the reason is that of the whole. */
function reasons({ outcome, decidedBy, certain }: Verdict, whole?: Verdict): readonly string[] {
  if (outcome === "runs" || (whole?.outcome === outcome && whole.decidedBy === decidedBy)) return [];
  return [outcome === "skipped" && !certain ? `${decidedBy}, while nothing fails` : decidedBy];
}

function gate({ outcome }: Verdict, approval: boolean): readonly string[] {
  return approval && outcome !== "skipped" ? ["after an approval"] : [];
}

function describeAgents({ selector, agents }: JobView): string {
  if (agents === null) return selector.length === 0 ? "any agent" : `agents with ${selector.join(", ")}`;
  const { online, matches, matching } = agents;
  if (online === 0) return "no agent is online";
  if (matches === 0) return `no agent matches: ${describeFailing(agents.failing, online)}`;
  const named = matching.slice(0, MAX_NAMED);
  const more = matches > named.length ? ` and ${matches - named.length} more` : "";
  const names = named.map(({ name }) => name).join(", ");
  return `${plural(matches, "agent")} ${matches === 1 ? "matches" : "match"}: ${names}${more}`;
}

function layOut(parts: readonly Part[], margin: string): readonly Row[] {
  return parts.flatMap(({ parts: inner, ...row }, index) => {
    const isLast = index === parts.length - 1;
    return [
      { ...row, branch: `${margin}${isLast ? "└─ " : "├─ "}` },
      ...layOut(inner, `${margin}${isLast ? "   " : "│  "}`),
    ];
  });
}

function renderRow(row: Row, width: number, paint: Paint, columns: number | undefined): string {
  const { branch, label, outcome } = row;
  const name = columns === undefined ? printable(label) : cutMiddle(printable(label), width - lengthOf(branch));
  const start = `${paint("gray", branch)}${name}`;
  if (outcome === null) return start;
  const padding = " ".repeat(Math.max(width - lengthOf(branch + name), 0));
  const note = noteOf(row);
  const word = paint(OUTCOME_COLOURS[outcome], outcome);
  const room = columns === undefined ? Infinity : columns - width - OUTCOME_WIDTH - 2 * GAP.length;
  if (note === "" || room < 2) return `${start}${padding}${GAP}${word}`;
  return `${start}${padding}${GAP}${word}${" ".repeat(OUTCOME_WIDTH - outcome.length)}${GAP}${cut(note, room)}`;
}

function noteOf({ notes }: Row): string {
  return printable(notes.join("; "));
}

/** Cuts a text in its middle, since the names of matrix cells differ at their ends. */
function cutMiddle(text: string, room: number): string {
  const characters = Array.from(text);
  if (characters.length <= room) return text;
  const kept = Math.max(room - 1, 2);
  const end = Math.floor(kept / 2);
  return `${characters.slice(0, kept - end).join("")}…${characters.slice(-end).join("")}`;
}

function lengthOf(text: string): number {
  return Array.from(text).length;
}
