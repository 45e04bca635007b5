/** docs/http-api.md lists every route, status code and error of the HTTP edge. */
import { status } from "@grpc/grpc-js";
import { expect } from "chai";
import { Registry } from "prom-client";
import { ERROR_TABLE } from "../../src/domain/errors.ts";
import { JOB_STATUS_CODES, RUN_STATUS_CODES, STEP_STATUS_CODES } from "../../src/domain/status.ts";
import { createHttpServer } from "../../src/http/server/server.ts";
import { openTestEdge } from "../support/edge.ts";
import { readTable } from "../support/markdown-table.ts";
import { readPage, under } from "../support/pages.ts";

const PAGE = readPage("docs/http-api.md");
/** Routes that the page names in a sentence, because they are not below the prefix. */
const AT_THE_ROOT = ["GET /healthz", "GET /readyz"];
const PREFIX = "/api/v1";

/** A middleware of `@koa/router`, which lists its routes. */
interface RouterMiddleware {
  readonly router?: { readonly stack: readonly { readonly methods: readonly string[]; readonly path: string }[] };
}

describe("the page of the HTTP API", () => {
  it("has a row for every route, and no other", async () => {
    const edge = await openTestEdge();
    const { app } = createHttpServer(edge.context, { registry: new Registry(), readiness: {} });
    const stacks = (app.middleware as readonly RouterMiddleware[]).flatMap(({ router }) => router?.stack ?? []);
    await edge.close();
    const served = stacks.flatMap(({ methods, path }) =>
      methods.filter((method) => method !== "HEAD").map((method) => `${method} ${path.replace(PREFIX, "")}`),
    );
    const documented = [...PAGE.matchAll(/^\| `((?:GET|POST|PUT|PATCH|DELETE) \/[^`]*)`/gm)].map(([, route]) => route);
    expect(served).to.have.length.of.at.least(50);
    expect([...documented, ...AT_THE_ROOT]).to.have.members(served);
    for (const route of AT_THE_ROOT) expect(PAGE).to.include(`\`${route}\``);
  });

  it("has the error table of the code", () => {
    const rows = readTable(under(PAGE, "Errors")).map((cells) =>
      cells.slice(0, 4).map((cell) => cell.replaceAll("`", "")),
    );
    const expected = Object.entries(ERROR_TABLE).map(([reason, { http, grpc, retry }]) => {
      return [reason, String(http), status[grpc], retry];
    });
    expect(rows).to.deep.equal(expected);
  });

  it("has the numeric codes of statuses", () => {
    const rows = readTable(under(PAGE, "Runs").slice(under(PAGE, "Runs").indexOf("| Object")));
    const render = (codes: Readonly<Record<string, number>>) =>
      Object.entries(codes)
        .map(([word, code]) => `${word} ${code}`)
        .join(", ");
    expect(rows).to.deep.equal([
      ["run", render(RUN_STATUS_CODES)],
      ["job", render(JOB_STATUS_CODES)],
      ["step", render(STEP_STATUS_CODES)],
    ]);
  });
});
