import { expect } from "chai";
import { asId, type AgentId, newId } from "../../src/domain/ids.ts";
import { sendReport } from "../../src/gateway/actor-messages.ts";
import type { GatewayPorts } from "../../src/gateway/context.ts";
import { readReport } from "../../src/grpc/messages/agent-messages.ts";
import type { StoredNote } from "../../src/stores/ports/outputs.ts";

describe("the notes in a report", () => {
  const stepRunId = newId("step");
  const runId = newId("run");
  const annotation = {
    level: "ANNOTATION_LEVEL_WARNING",
    file: "a.c",
    line: 3,
    endLine: 0,
    column: -2,
    endColumn: 0,
    title: "t".repeat(1_000),
    message: "m",
    logLine: 7n,
  } as const;
  const report = {
    runId: "",
    jobId: "",
    stepRunId,
    token: 1n,
    phase: "STEP_PHASE_FAILED",
    exitCode: 1,
    reason: "",
    lastLine: 9n,
    outputs: {},
    startedAtMs: 0n,
    endedAtMs: 0n,
    usage: undefined,
  } as const;

  it("are stored within their bounds before the report is passed on, and never fail it", async () => {
    const done: string[] = [];
    const stored = new Map<string, StoredNote>();
    const context = {
      stores: {
        notes: {
          put: async (note: StoredNote) => {
            done.push(note.kind);
            stored.set(note.kind, note);
            return "stored";
          },
        },
      },
      mailboxes: { send: async () => void done.push("sent") },
    } as unknown as GatewayPorts;
    const notes = {
      annotations: [...Array<typeof annotation>(51).fill(annotation), { ...annotation, logLine: -1n }],
      annotationsLeftOut: 3,
      summary: { markdown: "é".repeat(40_000), cut: false },
      tests: undefined,
    };
    await sendReport(context, asId<AgentId>("agt_a"), runId, readReport({ ...report, notes }));
    expect(done).to.deep.equal(["annotations", "summary", "sent"]);
    const { list, leftOut } = JSON.parse(stored.get("annotations")!.body);
    expect([list.length, leftOut]).to.deep.equal([50, 5]);
    expect(list[0]).to.deep.include({ level: "warning", file: "a.c", line: 3, column: 0, logLine: 7 });
    expect(list[0].title).to.have.length(256);
    expect(JSON.parse(stored.get("summary")!.body)).to.deep.equal({ markdown: "é".repeat(32_768), isCut: true });
    const { body: _body, ...key } = stored.get("summary")!;
    expect(key).to.deep.equal({ runId, kind: "summary", stepRunId, token: 1, part: 0 });
    done.length = 0;
    await sendReport(context, asId<AgentId>("agt_a"), runId, readReport({ ...report, notes: undefined }));
    expect(done).to.deep.equal(["sent"]);
  });
});
