/** A line of a log as viewers read it. Source: SPEC "Log entry (`Log`)". */
import type { StepRunId } from "../../domain/ids.ts";
import { lastLineOf, type LogLine } from "../../stores/ports/logs.ts";

/** Where a line comes from. `uses` is the builtin or plugin that wrote it. */
export interface LogSource {
  readonly stepRunId: StepRunId;
  readonly agentId: string;
  readonly uses: string;
}

/**
 * The entry of a line. A gap record has a content that says which lines are lost, and the number of the first of them.
 */
export function logEntry(line: LogLine, source: LogSource) {
  const { level, content } = shownText(line);
  return {
    step_run_id: source.stepRunId,
    timestamp: Math.floor(line.timeMs / 1_000),
    line_number: line.line,
    level,
    content,
    stream: line.stream,
    plugin_name: source.uses,
    agent_id: source.agentId,
  };
}

/** Makes a function that writes entries of one source as JSON, as `JSON.stringify` does. What they share is written once. */
export function logEntryWriter({ stepRunId, agentId, uses }: LogSource): (line: LogLine) => string {
  const head = `{"step_run_id":${JSON.stringify(stepRunId)},"timestamp":`;
  const tail = `,"plugin_name":${JSON.stringify(uses)},"agent_id":${JSON.stringify(agentId)}}`;
  return (line) => {
    const { level, content } = shownText(line);
    return (
      `${head}${Math.floor(line.timeMs / 1_000)},"line_number":${line.line},"level":${JSON.stringify(level)}` +
      `,"content":${JSON.stringify(content)},"stream":"${line.stream}"${tail}`
    );
  };
}

/** A gap record is shown as a line, too. */
function shownText(line: LogLine): Pick<LogLine, "level" | "content"> {
  return line.lost > 0 ? { level: "warn", content: gapText(line) } : line;
}

/** What a gap record says to people. */
export function gapText(gap: LogLine): string {
  return `lines ${gap.line}-${lastLineOf(gap)} lost`;
}
