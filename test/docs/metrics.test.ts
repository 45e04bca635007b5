/** The page of metrics, the dashboard and the alerts: each family and label that they name is in the table. */
import { join } from "node:path";
import { expect } from "chai";
import { parse } from "yaml";
import { FAMILIES, type Family } from "../../src/telemetry/families.ts";
import { deriveMetricsPage } from "../support/metrics-page.ts";
import { readPage, ROOT } from "../support/pages.ts";
import { complaintsOfPromtool } from "../support/promtool.ts";

const TABLE: Readonly<Record<string, Family>> = FAMILIES;
const ALERTS = "ops/alerts.yaml";

interface Alerts {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[];
}
interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets?: readonly Target[] }[];
}
interface Target {
  readonly expr: string;
  readonly legendFormat: string;
}

const alerts = (parse(readPage(ALERTS)) as Alerts).groups.flatMap(({ rules }) => rules);
const dashboard = JSON.parse(readPage("ops/dashboard.json")) as Dashboard;
const targets = dashboard.panels.flatMap(({ targets: shown = [] }) => shown);

/** The families that a query names, and the labels that it names beside those that Prometheus adds. */
function namesIn(query: string): { readonly families: readonly string[]; readonly labels: readonly string[] } {
  const families = [...query.matchAll(/\b(?:millrace|process|nodejs)_\w+/g)].map(([name]) => familyOf(name));
  const matched = [...query.matchAll(/(\w+)\s*(?:=~|!=|!~|=)\s*"/g)].map(([, label]) => label!);
  const grouped = [...query.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list]) => list!.split(/,\s*/));
  return { families, labels: [...matched, ...grouped].filter((label) => !["le", "instance", "job"].includes(label)) };
}

function familyOf(series: string): string {
  const base = series.replace(/_(bucket|sum|count)$/, "");
  return TABLE[base]?.type === "histogram" ? base : series;
}

/** What a query names and the table does not have. */
function missingOf(query: string): readonly string[] {
  const { families, labels } = namesIn(query);
  const known = families.flatMap((name) => Object.keys(TABLE[name]?.labels ?? {}));
  return [...families.filter((name) => !(name in TABLE)), ...labels.filter((label) => !known.includes(label))];
}

describe("the page of metrics", () => {
  it("has the tables of the code (else run `npm run generate`)", () => {
    const page = readPage("docs/metrics.md");
    expect(deriveMetricsPage(page)).to.equal(page);
    for (const name of Object.keys(FAMILIES)) expect(page).to.include(`\`${name}\``);
  });
});

describe("the alerts and the dashboard", () => {
  it("name families and labels that exist", () => {
    const queries = [...alerts.map(({ expr }) => expr), ...targets.map(({ expr }) => expr)];
    expect(queries.length).to.be.above(50);
    expect(queries.flatMap(missingOf)).to.deep.equal([]);
    expect(queries.filter((query) => namesIn(query).families.length === 0)).to.deep.equal(['up{job="millrace"} == 0']);
  });

  it("are checked for a family, the part of a histogram, and a label that do not exist", () => {
    expect(missingOf("sum(millrace_nothing)")).to.deep.equal(["millrace_nothing"]);
    expect(missingOf("rate(millrace_viewers_bucket[5m])")).to.deep.equal(["millrace_viewers_bucket"]);
    expect(missingOf('sum by (le, kind) (millrace_runs_ended_total{result="x"})')).to.deep.equal(["result", "kind"]);
  });

  it("use no deprecated family, and show every label of a legend", () => {
    for (const { expr, legendFormat } of targets) {
      for (const [, label] of legendFormat.matchAll(/\{\{(\w+)\}\}/g)) {
        const isShown = namesIn(expr).labels.includes(label!) || label === "instance";
        expect(isShown, `${legendFormat} of ${expr}`).to.equal(true);
      }
      for (const name of namesIn(expr).families) expect(TABLE[name]!.help, name).not.to.match(/^Deprecated/);
    }
  });

  it("pass promtool, and are laid out as it wants them everywhere", () => {
    expect(complaintsOfPromtool(["check", "rules", join(ROOT, ALERTS)])).to.equal("");
    expect(new Set(alerts.map(({ alert }) => alert)).size).to.equal(alerts.length);
    for (const { expr } of alerts) {
      for (const [open, close] of ["()", "{}", "[]"]) {
        expect(expr.split(open!).length, expr).to.equal(expr.split(close!).length);
      }
    }
  });
});
