/**
 * Calls every operation of HTTP, WebSocket and gRPC as every kind of caller, and compares each outcome with the table of
 * operations. It fails for a route or a method that no row calls.
 */
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { status } from "@grpc/grpc-js";
import type Router from "@koa/router";
import { expect } from "chai";
import { Registry } from "prom-client";
import { WebSocket } from "ws";
import { isWideEnough, type Reach, USER_OPERATIONS, type UserOperation } from "../../src/app/identity/operations.ts";
import { type Role, roleReaches } from "../../src/domain/roles.ts";
import { createHttpServer } from "../../src/http/server/server.ts";
import { TestViewer } from "../support/viewer.ts";
import { until } from "../support/until.ts";
import { GRPC_METHODS, GRPC_ROWS, GrpcCaller } from "./grpc-rows.ts";
import type { HttpRow } from "./http-row.ts";
import { HTTP_ROWS } from "./http-rows.ts";
import { callersOf, type RightsCaller, worthlessTokens } from "./callers.ts";
import { World } from "./world.ts";

type Outcome = "allowed" | "unauthenticated" | "forbidden" | "missing";

/** What the table says about the caller. */
function expected(operation: UserOperation, caller: RightsCaller, kind: HttpRow["kind"]): Outcome {
  const { role, reach, width } = USER_OPERATIONS[operation];
  if (reach !== "own") {
    const roles: Readonly<Record<Exclude<Reach, "own">, Role | null>> = {
      anywhere: caller.anywhere,
      project: caller.inProject,
      tenant: caller.inTenant,
      installation: caller.inInstallation,
    };
    const counting = roles[reach];
    const isSeen = counting !== null;
    if (!isSeen && (reach === "project" || reach === "tenant"))
      return kind === "list" || kind === "filtered" ? "allowed" : "missing";
    if (!roleReaches(counting, role)) return "forbidden";
  } else if (caller.isNarrowed === true && width !== "read") return "forbidden";
  return isWideEnough(caller.scopes, width) ? "allowed" : "forbidden";
}

function expectedOf(
  operation: Exclude<HttpRow["operation"], "open">,
  caller: RightsCaller,
  kind: HttpRow["kind"],
): Outcome {
  if (operation === "anybody") return "allowed";
  return operation === "job" ? "forbidden" : expected(operation, caller, kind);
}

function outcomeOf(status: number, { kind }: HttpRow): Outcome {
  if (status === 401) return "unauthenticated";
  if (status === 403) return "forbidden";
  if (status === 404 && kind !== "absent") return "missing";
  expect(status, "a status of the server's own faults").to.be.below(500);
  return "allowed";
}

/** A caller who may make the call, whatever becomes of it: a definition that is inline has no repository to check. */
const REACHED = [status.OK, status.FAILED_PRECONDITION, status.ABORTED, status.INVALID_ARGUMENT];

describe("the table of operations", function () {
  this.timeout(120_000);
  let world: World;
  let callers: readonly RightsCaller[];
  let worthless: Awaited<ReturnType<typeof worthlessTokens>>;
  before(async () => {
    world = await World.open();
    callers = await callersOf(world);
    worthless = await worthlessTokens(world);
  });
  after(() => world.close());

  const pathOf = (row: HttpRow, values: Readonly<Record<string, string>>): string => {
    const path = row.route.slice(row.route.indexOf(" ") + 1).replace("{/*path}", "");
    return (path + (row.query ?? "")).replaceAll(/[:*](\w+)/g, (_, name: string) => values[name]!);
  };
  const send = (row: HttpRow, token: string | null, values = row.at?.(world) ?? {}) =>
    world.fetch(row.route.split(" ")[0]!, pathOf(row, values), token, row.body?.(world));

  it("has a row for every route", () => {
    const readiness = { others: () => Promise.resolve() };
    const { app } = createHttpServer(world.context as never, { registry: new Registry(), readiness });
    const routers = app.middleware.flatMap((one) => ("router" in one ? [one.router as Router] : []));
    const routes = routers.flatMap(({ stack }) =>
      stack.flatMap(({ path, methods }) =>
        methods.flatMap((method) => (method === "HEAD" ? [] : [`${method} ${String(path)}`])),
      ),
    );
    const served = routes.flatMap((route) => (route.includes("/api/v1/") ? [route.replace("/api/v1", "")] : []));
    expect(served.length).to.be.above(60);
    expect([...new Set(HTTP_ROWS.map(({ route }) => route))].toSorted()).to.deep.equal([...new Set(served)].toSorted());
  });

  for (const row of HTTP_ROWS) {
    it(`${row.route} as every caller: ${row.operation}`, async () => {
      for (const [label, token] of worthless) {
        const { status } = await send(row, token);
        if (row.operation === "open") expect(status, label).to.be.below(500);
        else expect(status, label).to.equal(401);
      }
      const { operation } = row;
      if (operation === "open") return;
      for (const caller of callers) {
        const should = expectedOf(operation, caller, row.kind);
        await row.prepare?.(world);
        const { status, text } = await send(row, caller.token);
        if (should === "missing" && row.kind === "inBody") expect(status, caller.label).to.equal(400);
        else expect(outcomeOf(status, row), `${caller.label}: ${status} ${text}`).to.equal(should);
        if (row.kind === "list") {
          const isOfTenant = USER_OPERATIONS[operation as UserOperation].reach === "tenant";
          const sees = (isOfTenant ? caller.inTenant : caller.inProject) !== null && should === "allowed";
          expect(text.includes(isOfTenant ? world.tenantId : world.projectId), caller.label).to.equal(sees);
        }
      }
    });
  }

  describe("over gRPC", () => {
    let grpc: GrpcCaller;
    before(() => (grpc = new GrpcCaller(world.node.grpc!)));
    after(() => grpc.close());

    it("has a row for every method", () => {
      const served = readdirSync("proto", { recursive: true, encoding: "utf8" })
        .filter((file) => file.endsWith(".proto") && !/health|reflection/.test(file))
        .flatMap((file) => readFileSync(join("proto", file), "utf8").match(/^ *rpc /gm) ?? []);
      expect(GRPC_METHODS.size).to.equal(served.length).and.above(45);
      expect(GRPC_ROWS.map(({ method }) => method)).to.have.members([...GRPC_METHODS.keys()]);
    });

    for (const row of GRPC_ROWS) {
      it(`${row.method} as every caller: ${row.operation}`, async () => {
        for (const [label, token] of worthless) {
          expect((await grpc.call(row, token, world)).code, label).to.equal(status.UNAUTHENTICATED);
        }
        const { operation } = row;
        for (const caller of callers) {
          const { code, text } = await grpc.call(row, caller.token, world);
          const told = `${caller.label}: ${status[code]} ${text}`;
          if (operation === "agents") {
            expect(code, told).to.equal(status.PERMISSION_DENIED);
            continue;
          }
          const should = expected(operation, caller, row.kind);
          if (should === "missing") {
            expect(code, told).to.equal(row.kind === "inBody" ? status.INVALID_ARGUMENT : status.NOT_FOUND);
          } else if (should === "forbidden") expect(code, told).to.equal(status.PERMISSION_DENIED);
          else expect(code, told).to.be.oneOf(REACHED);
          // The approval has ended when the lists of HTTP were called.
          if (row.kind === "list" && (caller.inProject === null || row.method.endsWith("Pipelines"))) {
            expect(text.includes(world.projectId), told).to.equal(caller.inProject !== null);
          }
        }
      });
    }
  });

  it("lets callers follow over WebSocket what they may read, and answers the words for an unknown id else", async () => {
    const { pipelineId, jobId, stepRunId } = world;
    for (const caller of callers) {
      const port = Number(world.node.http!.split(":")[1]);
      const viewer = await TestViewer.open({ port, adminToken: caller.token });
      for (const channel of ["channel_log", "channel_status"]) {
        const params = { pipelineId, jobId, stepRunId };
        viewer.send({ action: "subscribe", channel, params });
        viewer.send({ action: "subscribe", channel, params: { ...params, stepRunId: "step_unknown" } });
      }
      await until(
        "all are answered",
        () =>
          viewer.ofType("error").length +
            viewer.ofType("subscribed").length +
            viewer.ofType("status_snapshot").length >=
          4,
      );
      const errors = viewer.ofType("error").map(({ error }) => error!);
      const unknown = `there is no step run "step_unknown"`;
      const own = caller.inProject === null ? [`there is no step run "${stepRunId}"`] : [];
      expect(errors, caller.label).to.have.members([unknown, unknown, ...own, ...own]);
      await viewer.close();
    }
    for (const [label, token] of worthless) {
      const socket = new WebSocket(`ws://${world.node.http}/api/v1/ws`, ["millrace.v1", `bearer.${token ?? ""}`]);
      const [error] = (await once(socket, "error")) as [Error];
      expect(error.message, label).to.include("401");
    }
  });

  it("lets callers follow runs and agents over WebSocket as far as they may read them", async () => {
    const { runId, liveRunId, agentId } = world;
    await world.keepAgent();
    for (const caller of callers) {
      const port = Number(world.node.http!.split(":")[1]);
      const viewer = await TestViewer.open({ port, adminToken: caller.token });
      const subscribe = (channel: string, params: object) => viewer.send({ action: "subscribe", channel, params });
      subscribe("channel_run", { runId });
      subscribe("channel_run", { runId: "run_unknown" });
      subscribe("channel_runs", {});
      subscribe("channel_agents", {});
      subscribe("channel_agents", { agentId });
      const of = (channel: string, ...types: string[]) =>
        viewer.received.filter((one) => one.channel === channel && types.includes(one.type));
      await until(
        `all are answered to the ${caller.label}`,
        () =>
          of("channel_run", "error", "snapshotDone").length >= 2 &&
          of("channel_runs", "caughtUp").length >= 1 &&
          of("channel_agents", "error", "caughtUp").length >= 2,
      );
      const isSeen = caller.inProject !== null;
      const errors = (channel: string) => of(channel, "error").map(({ error }) => error!);
      const hidden = (words: string) => (isSeen ? [] : [words]);
      expect(errors("channel_run"), caller.label).to.have.members([
        ...hidden(`there is no run "${runId}"`),
        `there is no run "run_unknown"`,
      ]);
      expect(errors("channel_agents"), caller.label).to.deep.equal(
        hidden(`there is no agent ${agentId}: register it again`),
      );
      expect(errors("channel_runs"), caller.label).to.deep.equal([]);
      const runs = of("channel_runs", "run").map(({ data }) => data.runId);
      expect(runs.includes(liveRunId), caller.label).to.equal(isSeen);
      const agents = of("channel_agents", "agent").map(({ data }) => data.agentId);
      expect(agents.includes(agentId), caller.label).to.equal(isSeen);
      await viewer.close();
    }
  });

  it("answers an object of another tenant with the words for an unknown id", async () => {
    const foreign = callers.find(({ label }) => label === "owner of another tenant")!;
    const objects = HTTP_ROWS.filter(
      ({ operation, at, kind }) =>
        operation in USER_OPERATIONS &&
        ["project", "tenant"].includes(USER_OPERATIONS[operation as UserOperation].reach) &&
        at !== undefined &&
        kind === undefined,
    );
    expect(objects.length).to.be.above(30);
    for (const row of objects) {
      await row.prepare?.(world);
      const values = Object.entries(row.at!(world));
      const unknown = Object.fromEntries(
        values.map(([name, value]) => [name, name === "name" ? value : `${value.split("_")[0]}_unknown`]),
      );
      const hidden = await send(row, foreign.token);
      const words = values.reduce((text, [name, value]) => text.replaceAll(value, unknown[name]!), hidden.text);
      const absent = await send(row, foreign.token, unknown);
      const told = (text: string): unknown => ({ ...(JSON.parse(text) as object), timestamp: 0 });
      expect(hidden.status, row.route).to.equal(404);
      expect(told(words), row.route).to.deep.equal(told(absent.text));
    }
  });
});
