/** The blocks of a definition: source, approval, target, notify, triggers, concurrency and retry. */
import { expect } from "chai";
import { applyInputs, findInputProblem } from "../../src/definition/inputs.ts";
import { parseDefinition } from "../../src/definition/parse.ts";

const JOB = "jobs:\n  - name: a\n    steps: [{ uses: shell, args: { script: x } }]\n";

/** A definition, and `code line:column` of each of its diagnostics. */
type Case = readonly [what: string, text: string, expected: readonly string[]];

const onPipeline = (block: string): string => `${block}\n${JOB}`;
const onStage = (block: string): string =>
  `stages:\n  - name: s\n    ${block}\n    ${JOB.replaceAll("\n", "\n    ")}\n`;
const onJob = (block: string): string => `${JOB}    ${block}\n`;
const onStep = (block: string): string =>
  `jobs:\n  - name: a\n    steps:\n      - uses: shell\n        args: { script: x }\n        ${block}\n`;
const events = (filter: string, event = "push"): string =>
  onPipeline(`triggers: { event: [{ provider: github, event: ${event}, ${filter} }] }`);
const cron = (rest: string): string => onPipeline(`triggers: { cron: [{ ${rest} }] }`);
const inputs = (input: string): string => onPipeline(`triggers: { manual: { inputs: { i: ${input} } } }`);

function found(text: string): readonly string[] {
  return parseDefinition(text, "yaml").diagnostics.map(({ code, line, column }) => `${code} ${line}:${column}`);
}

function check(cases: readonly Case[]): void {
  for (const [what, text, expected] of cases) {
    it(`${expected.length === 0 ? "may have" : "may not have"} ${what}`, () => {
      expect(found(text)).to.deep.equal(expected);
    });
  }
}

describe("an approval", () => {
  check([
    ["no keys", onPipeline("approval: {}"), []],
    ["no keys, under its name in SPEC.md", onPipeline("Approval: {}"), []],
    ["both of its names on the pipeline", onPipeline("approval: {}\nApproval: {}"), ["duplicate-key 1:1"]],
    ["both of its names on a stage", onStage("approval: {}\n    Approval: {}"), ["duplicate-key 3:5"]],
    ["both of its names on a job", onJob("approval: {}\n    Approval: {}"), ["duplicate-key 4:5"]],
    ["as many users as it needs", onStage("approval: { allowed: { users: [u, v] }, count: 2 }"), []],
    ["fewer users than it needs", onJob("Approval: { allowed: { users: [u] }, count: 2 }"), ["invalid-approval 4:26"]],
    [
      "fewer users than it needs when one is named twice",
      onJob("approval: { allowed: { users: [u, u] }, count: 2 }"),
      ["invalid-approval 4:26"],
    ],
    ["no user who may approve it", onStage("approval: { allowed: {} }"), ["invalid-approval 3:26"]],
    [
      "required approvers besides those who are allowed",
      onJob("approval: { requiredApprovers: [u], allowed: { users: [v] }, count: 2 }"),
      [],
    ],
    ["a role, whose users are not known", onJob("approval: { allowed: { roles: [owner] }, count: 3 }"), []],
    ["an unknown role", onJob("approval: { allowed: { roles: [boss] } }"), ["invalid-value 4:36"]],
    [
      "a count below that of the required approvers",
      onPipeline("approval: { requiredApprovers: [u, v], count: 1 }"),
      ["invalid-approval 1:47"],
    ],
    ["a count above that of the required approvers", onPipeline("approval: { requiredApprovers: [u], count: 2 }"), []],
    ["a count of 0", onPipeline("approval: { count: 0 }"), ["invalid-value 1:20"]],
    ["a timeout of an hour", onPipeline("approval: { timeout: 1h }"), []],
    ["a timeout of a second", onPipeline("approval: { timeout: 1s }"), ["invalid-duration 1:22"]],
    ["a message with an expression", onJob("approval: { message: '${{ trigger.ref }}' }"), []],
    ["a message about a cell", onJob("approval: { message: '${{ matrix.os }}' }"), ["expression-misplaced 4:31"]],
    [
      "approvers from an expression",
      onJob("approval: { requiredApprovers: ['${{variables.u}}'] }"),
      ["expression-misplaced 4:38"],
    ],
  ]);
});

describe("a source", () => {
  const repo = (url: string): string => onPipeline(`source: { repo: "${url}" }`);
  check([
    ["an https address", repo("https://example.org/team/code.git"), []],
    ["an ssh address", repo("ssh://git@example.org/team/code.git"), []],
    ["the short form of ssh", repo("git@example.org:team/code.git"), []],
    ["an address from an expression", repo("${{ variables.repo }}"), []],
    ["a user in its address", repo("https://user@example.org/code.git"), []],
    ["a password in its address", repo("https://user:word@example.org/code.git"), ["invalid-source 1:17"]],
    ["a port that is no password", repo("https://example.org:8443/a@b.git"), []],
    ["an address that is a sentence", repo("the team's code"), ["invalid-source 1:17"]],
    ["an option of Git as its address", repo("--upload-pack=x"), ["invalid-source 1:17"]],
    ["no address", onPipeline("source: { branch: main }"), ["missing-key 1:1"]],
    ["a branch and a ref", onJob("Source: { repo: git@h:c.git, branch: a, ref: b }"), ["invalid-source 4:45"]],
    [
      "both of its names",
      onJob("source: { repo: git@h:c.git }\n    Source: { repo: git@h:c.git }"),
      ["duplicate-key 4:5"],
    ],
    ["a place on a stage", onStage("source: { repo: git@h:c.git }"), ["unknown-key 3:5"]],
    ["a branch of a cell", onJob("source: { repo: git@h:c.git, branch: '${{ trigger.ref }}' }"), []],
    ["a secret in its texts", onJob("source: { repo: '${{ secrets.R }}' }"), ["expression-misplaced 4:26"]],
    [
      "a credential that could be no name",
      onJob("source: { repo: git@h:c.git, credential: a b }"),
      ["invalid-value 4:46"],
    ],
    ["submodules of submodules", onJob("source: { repo: git@h:c.git, submodules: recursive }"), []],
    ["a negative depth", onJob("source: { repo: git@h:c.git, depth: -1 }"), ["invalid-value 4:41"]],
  ]);

  it("with a password gets a message without the password", () => {
    const { diagnostics } = parseDefinition(repo("htps://user:word@example.org/code.git"), "yaml");
    expect(diagnostics.map(({ message }) => message).join())
      .to.include("user:...@")
      .and.not.to.include("word");
  });
});

describe("a target", () => {
  check([
    ["an environment and settings", onPipeline("Target: { environment: live, config: { n: [1, { a: true }] } }"), []],
    ["no environment", onJob("target: { kind: vm }"), ["missing-key 4:5"]],
    ["an environment from an expression", onJob("target: { environment: '${{ variables.e }}' }"), []],
    ["an object for its environment", onJob("target: { environment: '${{ pipeline }}' }"), ["type-mismatch 4:33"]],
    ["an object among its settings", onJob("target: { environment: live, config: { p: '${{ pipeline }}' } }"), []],
    ["both of its names", onPipeline("target: { environment: a }\nTarget: { environment: a }"), ["duplicate-key 1:1"]],
    ["a place on a stage", onStage("target: { environment: live }"), ["unknown-key 3:5"]],
  ]);
});

describe("a notification", () => {
  const notify = (entry: string): string => onPipeline(`notify: [{ on: [failure], ${entry} }]`);
  check([
    ["a webhook", notify("webhook: { url: 'https://example.org/hook', secret: KEY }"), []],
    ["an address that is a secret", notify("slack: { url: '${{ secrets.SLACK }}' }"), []],
    ["e-mail addresses", notify("email: { to: [team@example.org], subject: '${{ run.id }}' }"), []],
    ["no webhook, no message and no e-mail", onJob("notify: [{ on: [failure] }]"), ["invalid-notification 4:14"]],
    [
      "two ways to tell it",
      notify("email: { to: [a@b] }, slack: { url: 'https://h/x' }"),
      ["invalid-notification 1:10"],
    ],
    ["no address", notify("webhook: { url: hook }"), ["invalid-notification 1:43"]],
    ["an address of another kind", notify("slack: { url: 'ftp://example.org' }"), ["invalid-notification 1:41"]],
    ["a password in its address", notify("webhook: { url: 'https://u:w@h/x' }"), ["invalid-notification 1:43"]],
    ["an e-mail address without a host", notify("email: { to: [team] }"), ["invalid-value 1:41"]],
    ["no end for which it is sent", onJob("Notify: [{ on: [], email: { to: [a@b] } }]"), ["invalid-value 4:20"]],
    ["`partial` of a run", onPipeline("Notify: [{ on: [partial], email: { to: [a@b] } }]"), []],
    [
      "`partial` of a job",
      onJob("Notify: [{ on: [failure, partial], email: { to: [a@b] } }]"),
      ["invalid-notification 4:30"],
    ],
    ["the results of jobs in its texts", notify("email: { to: [a@b], subject: '${{ jobs.a.result }}' }"), []],
    [
      "a result of an unknown job",
      notify("email: { to: [a@b], subject: '${{ jobs.b.result }}' }"),
      ["unknown-job 1:61"],
    ],
    ["both of its names", onJob("notify: []\n    Notify: []"), ["duplicate-key 4:5"]],
    ["a map instead of a list", onJob("Notify: {}"), ["invalid-type 4:13"]],
  ]);
});

describe("concurrency", () => {
  check([
    [
      "a group of each ref",
      onPipeline("concurrency: { group: 'x ${{ trigger.ref }}', onConflict: cancelRunning }"),
      [],
    ],
    [
      "a group of each cell",
      onJob("matrix: { axes: { os: [a] } }\n    concurrency: { group: '${{ matrix.os }}' }"),
      [],
    ],
    [
      "a group of each cell, on the pipeline",
      onPipeline("concurrency: { group: '${{ matrix.os }}' }"),
      ["expression-misplaced 1:28"],
    ],
    ["no group", onJob("concurrency: { limit: 2 }"), ["missing-key 4:5"]],
    ["an unknown word for conflicts", onJob("concurrency: { group: g, onConflict: cancel }"), ["invalid-value 4:42"]],
    ["a limit of 0", onJob("concurrency: { group: g, limit: 0 }"), ["invalid-value 4:37"]],
  ]);
});

describe("a retry", () => {
  check([
    [
      "all that a step's may have",
      onStep("retry: { attempts: 3, on: [failed, timeout], exitCodes: [75], delay: 1s, backoff: 2, maxDelay: 1m }"),
      [],
    ],
    [
      "all that a job's may have",
      onJob("retry: { attempts: 3, on: [agent_lost], delay: 1s, backoff: 2, maxDelay: 1m }"),
      [],
    ],
    ["causes of a step on a job", onJob("retry: { attempts: 3, on: [failed] }"), ["invalid-value 4:32"]],
    ["causes of a job on a step", onStep("retry: { attempts: 3, on: [agent_lost] }"), ["invalid-value 6:36"]],
    ["exit codes on a job", onJob("retry: { attempts: 3, on: [agent_lost], exitCodes: [1] }"), ["unknown-key 4:45"]],
    [
      "exit codes without failures",
      onStep("retry: { attempts: 3, on: [timeout], exitCodes: [1] }"),
      ["invalid-retry 6:57"],
    ],
    ["a back-off without a delay", onStep("retry: { attempts: 3, backoff: 2 }"), ["invalid-retry 6:31"]],
    ["a longest wait without a delay", onJob("retry: { attempts: 3, maxDelay: 2s }"), ["invalid-retry 4:27"]],
    [
      "a longest wait below the first",
      onStep("retry: { attempts: 3, delay: 2m, maxDelay: 90s }"),
      ["invalid-retry 6:52"],
    ],
    ["a longest wait that equals the first one", onStep("retry: { attempts: 3, delay: 90s, maxDelay: 1m30s }"), []],
    ["a delay with one attempt", onStep("retry: { attempts: 1, delay: 1s }"), ["invalid-retry 6:28"]],
    ["one attempt", onJob("retry: { attempts: 1 }"), []],
    ["no attempt", onStep("retry: { attempts: 0 }"), ["invalid-value 6:28"]],
    ["more attempts than are allowed", onStep("retry: { attempts: 11 }"), ["invalid-value 6:28"]],
    ["no number of attempts", onStep("retry: { on: [failed] }"), ["missing-key 6:9"]],
  ]);
});

describe("a manual trigger", () => {
  check([
    [
      "inputs of every type",
      inputs(
        "{ type: choice, options: [a, b], default: a }, n: { type: number, default: 3 }, b: { type: boolean, default: false }, s: { default: '' }",
      ),
      [],
    ],
    ["a default that is a number in quotes", inputs("{ type: number, default: '3' }"), []],
    ["a default of another type", inputs("{ type: number, default: three }"), ["invalid-input 1:61"]],
    ["a number for a text", inputs("{ default: 3 }"), ["invalid-input 1:47"]],
    ["a number for a truth value", inputs("{ type: boolean, default: 1 }"), ["invalid-input 1:62"]],
    ["a default that is no option", inputs("{ type: choice, options: [a], default: b }"), ["invalid-input 1:75"]],
    ["a choice without options", inputs("{ type: choice }"), ["invalid-input 1:33"]],
    ["options of an input that is not a choice", inputs("{ options: [a] }"), ["invalid-input 1:47"]],
    ["a default of a required input", inputs("{ required: true, default: a }"), ["invalid-input 1:48"]],
    ["a name that no variable can have", inputs("{}, 'a-b': {}"), ["invalid-value 1:40"]],
    ["the name of a variable", `variables: { i: x }\n${inputs("{}")}`, ["duplicate-name 2:33"]],
    ["an expression", inputs("{ default: '${{ run.id }}' }"), ["expression-misplaced 1:48"]],
    ["both names of the block", onPipeline("triggers: {}\nTriggers: {}"), ["duplicate-key 1:1"]],
    ["a place on a job", onJob("triggers: {}"), ["unknown-key 4:5"]],
    ["a place on a stage", onStage("Triggers: {}"), ["unknown-key 3:5"]],
  ]);
});

describe("an input", () => {
  it("converts the text of a trigger to its type", () => {
    const { values, problems } = applyInputs(
      [
        ["n", { type: "number" }],
        ["b", { type: "boolean" }],
        ["c", { type: "choice", options: ["1", "2"] }],
        ["s", {}],
      ],
      new Map([
        ["n", "-1.5e3"],
        ["b", "true"],
        ["c", "2"],
        ["s", "7"],
      ]),
    );
    expect(problems).to.deep.equal([]);
    expect(Object.fromEntries(values)).to.deep.equal({ n: -1_500, b: true, c: "2", s: "7" });
  });

  it("that is absent has its default, else the empty value of its type", () => {
    const { values, problems } = applyInputs(
      [
        ["d", { default: "x" }],
        ["n", { type: "number" }],
        ["b", { type: "boolean" }],
        ["c", { type: "choice", options: ["a"] }],
        ["r", { required: true }],
      ],
      new Map(),
    );
    expect(Object.fromEntries(values)).to.deep.equal({ d: "x", n: 0, b: false, c: "", r: "" });
    expect(problems.map(({ name, isMissing }) => [name, isMissing])).to.deep.equal([["r", true]]);
  });

  for (const [type, bad] of [
    ["number", ["", "1,5", "0x10", "1e999", "NaN", true]],
    ["boolean", ["", "yes", "TRUE", 1]],
    ["choice", ["", "A", 1]],
    ["string", [1, false]],
  ] as const) {
    it(`of the type ${type} refuses values of other types`, () => {
      for (const value of bad) {
        expect(findInputProblem({ type, options: ["a"] }, value), JSON.stringify(value)).to.be.a("string");
      }
    });
  }
});

describe("a cron trigger", () => {
  check([
    [
      "a schedule and a time zone",
      cron("schedule: '30 5 * * 1-5', timezone: Europe/Berlin, overlap: skip, catchUp: none"),
      [],
    ],
    ["names of days and months", cron("schedule: '0 0 1 JAN,JUL MON'"), []],
    ["six fields", cron("schedule: '0 30 5 * * *'"), ["invalid-cron 1:32"]],
    ["a nickname", cron("schedule: '@daily'"), ["invalid-cron 1:32"]],
    ["a minute that no hour has", cron("schedule: '60 * * * *'"), ["invalid-cron 1:32"]],
    ["the 29th of February", cron("schedule: '0 0 29 2 *'"), []],
    ["the 30th of February", cron("schedule: '0 0 30 2 *'"), ["invalid-cron 1:32"]],
    ["a step of nothing", cron("schedule: '*/0 * * * *'"), ["invalid-cron 1:32"]],
    ["no schedule", cron("timezone: UTC"), ["missing-key 1:20"]],
    ["a time zone that is none", cron("schedule: '0 0 * * *', timezone: Europe/Berln"), ["invalid-cron 1:55"]],
    ["an offset for a time zone", cron("schedule: '0 0 * * *', timezone: '+02:00'"), ["invalid-cron 1:55"]],
    [
      "a name twice",
      cron("name: n, schedule: '0 0 * * *' }, { name: n, schedule: '0 1 * * *'"),
      ["duplicate-name 1:64"],
    ],
    ["an expression", cron("schedule: '0 0 * * *', ref: '${{ variables.r }}'"), ["expression-misplaced 1:51"]],
    [
      "a value that fits the input of that name",
      onPipeline(
        "triggers: { manual: { inputs: { n: { type: number } } }, cron: [{ schedule: '0 0 * * *', variables: { n: 3, o: x } }] }",
      ),
      [],
    ],
    [
      "a value that does not fit the input of that name",
      onPipeline(
        "Triggers: { manual: { inputs: { n: { type: number } } }, cron: [{ schedule: '0 0 * * *', variables: { n: x } }] }",
      ),
      ["invalid-input 1:106"],
    ],
    ["an empty time zone", cron("schedule: '0 0 * * *', timezone: ''"), ["invalid-value 1:55"]],
  ]);

  for (const [schedule, message] of [
    ["0 0 0 * *", "a day of the month is a number from 1 to 31"],
    ["0 0 32 * *", "a day of the month is a number from 1 to 31"],
    ["0 0 1 13 *", "a month is a number from 1 to 12, or a name such as JAN"],
    ["0 24 * * *", "an hour is a number from 0 to 23"],
    ["0 0 * * L", "a day of the week is a number from 0 to 7, or a name such as MON"],
    ["0 22-2 * * *", "the range '22-2' ends before it begins"],
  ] as const) {
    it(`has a message in the numbers of its fields for ${schedule}`, () => {
      const { diagnostics } = parseDefinition(cron(`schedule: '${schedule}'`), "yaml");
      expect(diagnostics.map((one) => one.message)).to.deep.equal([`this schedule cannot be read: ${message}`]);
    });
  }
});

describe("an event trigger", () => {
  check([
    ["branches and paths of a push", events("branches: [main, 'release/**'], paths: { exclude: ['docs/**'] }"), []],
    ["tags of a tag", events("tags: ['v[0-9]*']", "tag"), []],
    ["tags of a push", events("tags: ['v*']"), ["invalid-event 1:54"]],
    ["branches of a tag", events("branches: [main]", "tag"), ["invalid-event 1:53"]],
    ["paths of a release", events("paths: ['src/**']", "release"), ["invalid-event 1:57"]],
    ["an event that there is not", events("branches: [main]", "pushed"), ["invalid-event 1:48"]],
    [
      "an event of its own, filtered by anything",
      onPipeline("triggers: { event: [{ provider: generic, event: deploy.done, tags: [a], branches: [b] }] }"),
      [],
    ],
    [
      "a provider that there is not",
      onPipeline("triggers: { event: [{ provider: svn, event: push }] }"),
      ["invalid-value 1:33"],
    ],
    ["a condition over the trigger", events("when: trigger.draft == false"), []],
    ["a condition over variables", events("when: variables.x == 'a'"), ["expression-misplaced 1:60"]],
    ["a condition over what ran before", events("when: failure()"), ["expression-misplaced 1:60"]],
    ["a secret that could be no name", events("secret: a b"), ["invalid-value 1:62"]],
    ["a regular expression for a branch", events("branches: ['^release/.*$']"), ["invalid-pattern 1:65"]],
    ["the whole name of a ref", events("branches: [refs/heads/main]"), ["invalid-pattern 1:65"]],
    [
      "a branch that no Git has",
      events("branches: [a b, /c, d/, e..f]"),
      ["invalid-pattern 1:65", "invalid-pattern 1:70", "invalid-pattern 1:74", "invalid-pattern 1:78"],
    ],
    ["what to leave out by `!`", events("branches: ['!main']"), ["invalid-pattern 1:65"]],
    [
      "a bracket without its other end",
      events("branches: ['v[0-9', '{a,b', 'c]', '}{']"),
      ["invalid-pattern 1:65", "invalid-pattern 1:74", "invalid-pattern 1:82", "invalid-pattern 1:88"],
    ],
    ["brackets in pairs or behind a backslash", events("branches: ['v[0-9]', '[^a]*', '{a,{b,c}}', '\\[a']"), []],
    ["a folder for its files", events("paths: [src/]"), ["invalid-pattern 1:62"]],
    [
      "paths from the root of the machine",
      events("paths: [/src/**, ./src/**]"),
      ["invalid-pattern 1:62", "invalid-pattern 1:71"],
    ],
    ["a path out of the repository", events("paths: ['../other/**']"), ["invalid-pattern 1:62"]],
    ["to leave out all", events("branches: { exclude: ['**'] }"), ["invalid-pattern 1:75"]],
    ["to leave out what it takes", events("branches: { include: [a, b], exclude: [b, a] }"), ["invalid-pattern 1:92"]],
    ["to leave out some of what it takes", events("branches: { include: [a, b], exclude: [b] }"), []],
    ["an expression in a pattern", events("branches: ['${{ variables.b }}']"), ["expression-misplaced 1:66"]],
  ]);
});

describe("a condition", () => {
  check([
    ["a value that nothing can change", onJob("when: true || failure()"), ["constant-condition 4:11"]],
    ["`always()`, which nothing should change", onJob("when: always()"), []],
    ["true or false, as who writes it means", onStep("when: false"), []],
  ]);
});
