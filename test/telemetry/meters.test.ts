/** Tests of the meters: histograms, measured ports, and what the saves of a run count. */
import { expect } from "chai";
import { Registry } from "prom-client";
import { FAMILIES, type Family } from "../../src/telemetry/families.ts";
import { Histogram } from "../../src/telemetry/histogram.ts";
import { measured } from "../../src/telemetry/measured.ts";
import { CallMeter } from "../../src/telemetry/meters.ts";
import { register } from "../../src/telemetry/register.ts";

describe("a histogram", () => {
  it("counts each duration in the first bucket that it fits into, and beyond the last one too", () => {
    const histogram = new Histogram([0.1, 1]);
    for (const seconds of [0, 0.1, 0.2, 1, 5]) histogram.observe(seconds);
    expect(histogram.upTo).to.deep.equal([2, 4]);
    expect(histogram.count).to.equal(5);
    expect(histogram.sum).to.be.closeTo(6.3, 1e-9);
  });

  it("is written as Prometheus reads it", async () => {
    const registry = new Registry();
    const histogram = new Histogram([0.5, 1]);
    histogram.observe(0.7);
    register(registry, "millrace_step_seconds", () => [[{ status: "success" }, histogram]]);
    expect((await registry.metrics()).split("\n").slice(1)).to.deep.equal([
      "# TYPE millrace_step_seconds histogram",
      'millrace_step_seconds_bucket{status="success",le="0.5"} 0',
      'millrace_step_seconds_bucket{status="success",le="1"} 1',
      'millrace_step_seconds_bucket{status="success",le="+Inf"} 1',
      'millrace_step_seconds_sum{status="success"} 0.7',
      'millrace_step_seconds_count{status="success"} 1',
      "",
    ]);
  });
});

describe("a measured port", () => {
  class Records {
    readonly #stored = ["a"];
    get size(): number {
      return this.#stored.length;
    }
    async add(text: string): Promise<number> {
      await Promise.resolve();
      if (text === "") throw new RangeError("empty");
      return this.#stored.push(text);
    }
    *all(): Iterable<string> {
      yield* this.#stored;
    }
  }

  it("answers as the port does, and counts answers and errors under its name", async () => {
    const meter = new CallMeter("millrace_store_call_seconds");
    const port = measured(new Records(), "records", meter);
    expect(await port.add("b")).to.equal(2);
    const refused = await port.add("").catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(RangeError);
    expect(port.size).to.equal(2);
    expect([...port.all()]).to.deep.equal(["a", "b"]);
    expect([...meter.seconds.all].map(([key, { count }]) => [key, count])).to.deep.equal([["records add", 2]]);
    expect([...meter.errors.all]).to.deep.equal([["records add", 1]]);
  });

  it("calls a port behind a proxy through the proxy, as the stores on MongoDB are", async () => {
    const translated = new Proxy(new Records(), {
      get(target, name) {
        const member: unknown = Reflect.get(target, name, target);
        return typeof member === "function" ? (member.bind(target) as unknown) : member;
      },
    });
    expect(await measured(translated, "records", new CallMeter("millrace_store_call_seconds")).add("b")).to.equal(2);
  });
});

describe("the table of families", () => {
  const families = Object.entries<Family>(FAMILIES);

  it("gives counters, and only them, names that end in _total, and histograms the unit", () => {
    for (const [name, { type }] of families) {
      expect(name.endsWith("_total"), name).to.equal(type === "counter");
      if (type === "histogram") expect(name).to.match(/_seconds$/);
    }
  });

  it("has ascending buckets", () => {
    for (const [name, family] of families) {
      if (family.type !== "histogram") continue;
      expect(family.buckets, name).to.deep.equal([...new Set(family.buckets)].toSorted((a, b) => a - b));
    }
  });
});
