/** Searches in logs as messages of steprun.v1. */
import type { LogEntry, SearchLogsRequest, SearchLogsResponse } from "../../../proto/generated/steprun/v1/steprun.ts";
import type { LogSearch } from "../../app/logs/search-logs.ts";
import { type SearchQuery, searchQuery } from "../../app/logs/search-query.ts";
import { nonEmpty } from "./fields.ts";
import { parseMessage } from "./parse-message.ts";
import { LOG_STREAMS, wordOf } from "./words.ts";

/** Throws `malformed_request` with every problem. */
export function readSearch(request: SearchLogsRequest): SearchQuery {
  const { text, pattern, ignoreCase, context, limit, after, levels, stream } = request;
  return parseMessage(searchQuery, {
    q: text,
    pattern: String(pattern),
    ignoreCase: String(ignoreCase),
    context: String(context),
    limit: limit === 0 ? undefined : String(limit),
    after: nonEmpty(after),
    level: levels.length === 0 ? undefined : levels.join(","),
    stream: wordOf(LOG_STREAMS, stream),
  });
}

export function searchMessage({ list, searchedLines, next }: LogSearch): SearchLogsResponse {
  const matches = list.map(({ entry, ranges, before, after, ...match }) => ({
    ...match,
    ranges: [...ranges],
    entry: entryMessage(entry),
    before: before.map(entryMessage),
    after: after.map(entryMessage),
  }));
  return { matches, searchedLines: BigInt(searchedLines), next: next ?? "" };
}

function entryMessage(entry: LogSearch["list"][number]["entry"]): LogEntry {
  return {
    stepRunId: entry.step_run_id,
    timestamp: BigInt(entry.timestamp),
    lineNumber: entry.line_number,
    level: entry.level,
    content: entry.content,
    stream: LOG_STREAMS[entry.stream],
    pluginName: entry.plugin_name,
    agentId: entry.agent_id,
  };
}
