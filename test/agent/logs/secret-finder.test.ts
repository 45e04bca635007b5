import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { expect } from "chai";
import fc from "fast-check";
import { SecretFinder } from "../../../src/agent/logs/secret-finder.ts";
import { formsOf, SHORTEST_BYTES } from "../../../src/agent/logs/secret-forms.ts";
import { SecretMask } from "../../../src/agent/logs/secret-mask.ts";

const PEM = `-----BEGIN KEY-----\n${randomBytes(150).toString("base64").replaceAll(/.{64}/g, "$&\n")}\n-----END KEY-----\n`;

/** Encodes as `base64 -w WIDTH` does. */
const folded = (text: string, width: number): string => text.replaceAll(new RegExp(`.{${width}}`, "g"), "$&\n");
const base64 = (text: string): string => Buffer.from(text).toString("base64");

function stream(finder: SecretFinder, bytes: Buffer, cuts: readonly number[] = []): string {
  const out: Buffer[] = [];
  const mask = new SecretMask(finder, (each) => out.push(each));
  const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].toSorted((one, other) => one - other);
  for (const [index, end] of at.slice(1).entries()) mask.write(bytes.subarray(at[index], end));
  mask.end();
  return Buffer.concat(out).toString();
}

/** What the finder finds in bytes that have no escaped character, by a comparison of every form at every position. */
function comparedAtEachPosition(value: string, bytes: Buffer): { spans: number[][]; openFrom: number } {
  const spans: number[][] = [];
  let openFrom = bytes.length;
  const isBreak = (at: number): boolean => bytes[at] === 0x0a || bytes[at] === 0x0d;
  for (let start = 0; start < bytes.length; start++) {
    for (const form of formsOf(value)) {
      let at = start;
      let index = 0;
      for (; index < form.bytes.length && at < bytes.length; index++, at++) {
        while (form.mayFold && index >= SHORTEST_BYTES && isBreak(at)) at++;
        if (at < bytes.length && bytes[at] !== form.bytes[index]) break;
      }
      if (at >= bytes.length && index <= form.bytes.length && (at > bytes.length || index < form.bytes.length)) {
        openFrom = Math.min(openFrom, start);
      } else if (index === form.bytes.length) {
        const last = spans.at(-1);
        if (last !== undefined && start < last[1]!) last[1] = Math.max(last[1]!, at);
        else spans.push([start, at]);
      }
    }
  }
  return { spans, openFrom };
}

describe("the finder of secrets", () => {
  const masked = (secret: string, text: string) => new SecretFinder([secret]).mask(text);

  it("finds a value in base64 at any position of the encoded text", () => {
    for (const before of ["", "u", "us", "user:"]) {
      for (const after of ["", "\n", ":more"]) {
        const shown = masked("hunter22pass", `Authorization: Basic ${base64(`${before}hunter22pass${after}`)}.`);
        expect(shown).to.match(/^Authorization: Basic \w{0,8}\*\*\*[\w=]{0,10}\.$/);
      }
    }
    expect(masked("a?b>c~d?e>f", Buffer.from("a?b>c~d?e>f").toString("base64url"))).to.match(/^\*\*\*\w?$/);
  });

  it("finds a value in folded base64, wherever the chunks end", () => {
    const secret = randomBytes(90).toString("hex");
    for (const width of [60, 64, 76]) {
      for (let before = 0; before < 80; before++) {
        const shown = masked(secret, folded(base64(`${"x".repeat(before)}${secret}`), width));
        // Characters of the text before it, of the character between, and of line ends that are too short to be
        // recognized.
        expect(shown.slice(shown.indexOf("***"))).to.match(/^\*\*\*[\w+/]?=*\n?$/);
        expect(shown.indexOf("***")).to.be.at.most((before * 4) / 3 + 3 + SHORTEST_BYTES + 2);
      }
    }
    expect(masked(PEM, folded(base64(PEM), 76))).to.match(/^\*\*\*\w{0,3}=*\n?$/);
  });

  it("finds each line of a value, with any margin and line end", () => {
    const shown = masked(PEM, PEM.replaceAll("\n", "\r\n  | "));
    for (const line of PEM.split("\n").filter((text) => text.length >= SHORTEST_BYTES)) {
      expect(shown).not.to.include(line);
    }
    expect(masked("{\n  a\n}\nlong enough", "a { } long enough")).to.equal("a { } ***");
  });

  it("finds a value as URLs, JSON and traces of shells show it", () => {
    const secret = `p"a's & w<o>r\\d/(1)!ü`;
    for (const text of [
      encodeURIComponent(secret),
      new URLSearchParams({ secret }).toString().slice("secret=".length),
      JSON.stringify(secret).slice(1, -1),
      JSON.stringify(secret)
        .slice(1, -1)
        .replaceAll("<", "\\u003c")
        .replaceAll(">", "\\u003e")
        .replaceAll("&", "\\u0026"),
      secret.replaceAll("'", `'\\''`),
      secret.replaceAll("'", `'"'"'`),
    ]) {
      expect(masked(secret, `<${text}>`), text).to.equal("<***>");
    }
  });

  for (const locale of ["C", "C.UTF-8"]) {
    const secret = `p4ss/w&rd "q'x$\`\\é\x01,~#`;
    const linesOf = (program: string, script: string): string[] => {
      const env = { PATH: process.env["PATH"], LC_ALL: locale, V: secret };
      const { stdout, stderr } = spawnSync(program, ["-c", script], { env, stdio: ["ignore", "pipe", "pipe"] });
      const bytes = Buffer.concat([stderr, stdout]);
      return stream(new SecretFinder([secret]), bytes, [7, 19, 101, 230])
        .trimEnd()
        .split("\n");
    };

    it(`finds a value as bash shows it with the locale ${locale}: in each trace, with printf %q and declare`, () => {
      const shown = linesOf(
        "bash",
        `set -x; [[ x == "$V" ]]; [[ $V == x ]]; : "$V"; { set +x; } 2>/dev/null
         printf '%q\n' "$V"; echo "\${V@Q}"; declare -p V; printf %s "$V" | od -An -v -tx1 | tr -d ' \n'`,
      );
      expect(shown.slice(0, 3)).to.deep.equal(["+ [[ x == *** ]]", "+ [[ *** == x ]]", "+ : '***'"]);
      expect(shown.slice(3, 5)).to.satisfy((lines: string[]) => lines.every((line) => /^\$?'?\*{3}'?$/.test(line)));
      expect(shown.slice(5)).to.have.length(2);
      expect(shown[5]).to.match(/^declare -x V=\$?["']\*{3}["']$/);
      expect(shown[6]).to.equal("***");
    });

    it(`finds a value as Python encodes it with the locale ${locale}: for URLs, JSON, HTML, shells and itself`, () => {
      const shown = linesOf(
        "python3",
        `import os, json, html, shlex, re, urllib.parse as u
v = os.environ["V"]
for text in (u.quote(v), u.quote(v, safe=""), u.quote_plus(v), u.quote(v, safe=":/?&"), u.quote(v).lower(),
  json.dumps(v), json.dumps(v, ensure_ascii=False), ascii(v), repr(v.encode()), html.escape(v), shlex.quote(v),
  re.escape(v), v.encode().hex(), v.encode("unicode_escape").decode()): print(text.encode("utf-8", "surrogateescape").decode())`,
      );
      expect(shown).to.have.length(14);
      for (const line of shown) expect(line).to.match(/^b?["']?\*{3}["']?$/);
    });
  }

  it("finds a value without the white space around it", () => {
    expect(masked(" hunter22\n", "hunter22")).to.equal("***");
    expect(masked("hunter22\n", base64("hunter22"))).to.match(/^\*\*\*\w?=*$/);
  });

  it("holds no line back that only ends like the beginning of a folded form", () => {
    const out: string[] = [];
    const mask = new SecretMask(new SecretFinder(["a-token-of-some-length"]), (bytes) => out.push(String(bytes)));
    mask.write(Buffer.from("this is a\n"));
    expect(out).to.deep.equal(["this is a\n"]);
  });

  it("finds a value that repeats itself wherever it stands", () => {
    const repeated = fc
      .tuple(fc.stringMatching(/^[ab]{1,5}$/), fc.integer({ min: 14, max: 90 }), fc.stringMatching(/^[ab]{0,5}$/))
      .map(([unit, times, rest]) => unit.repeat(times) + rest);
    const piece = fc.oneof(fc.constant(null), repeated, fc.stringMatching(/^[ab\n]{0,9}$/));
    fc.assert(
      fc.property(repeated, fc.array(piece, { maxLength: 8 }), (secret, pieces) => {
        const bytes = Buffer.from(pieces.map((each) => each ?? secret).join(""));
        expect(new SecretFinder([secret]).find(bytes)).to.deep.equal(comparedAtEachPosition(secret, bytes));
      }),
      { numRuns: 100 },
    );
  });

  it("holds the agent up for no secret of equal characters, however a step shows it", () => {
    // What a tool may escape costs more: beyond some effort, all that may be the secret is covered.
    for (const [character, length] of [
      ["x", 60_000],
      ["<", 60_000],
      ['"', 6_000],
    ] as const) {
      const secret = character.repeat(length);
      const text = `before\n${secret}\nbetween\n${JSON.stringify(secret)}\nafter`;
      const cuts = Array.from({ length: 20 }, (_, piece) => Math.ceil((piece * text.length) / 20));
      const out = stream(new SecretFinder([secret]), Buffer.from(text), cuts);
      if (character === '"')
        expect(out)
          .to.match(/^before\n\*\*\*/)
          .and.not.to.include(secret);
      else expect(out).to.equal('before\n***\nbetween\n"***"\nafter');
    }
  });

  it("lets no form of a value through wherever the chunks end, and shows the rest", () => {
    const value = fc
      .oneof(fc.string({ minLength: 4, maxLength: 80, unit: "binary" }), fc.stringMatching(/^[ -~]{4,40}$/))
      .filter((text) => Array.from(text.trim()).length >= SHORTEST_BYTES);
    const encodings: readonly ((text: string) => string)[] = [
      (text) => text,
      (text) => encodeURIComponent(text),
      (text) => JSON.stringify(text).slice(1, -1),
      base64,
      (text) => folded(base64(`${text}${text}`), 76),
      (text) => Buffer.from(text).toString("base64url"),
      (text) => Buffer.from(`:${text}`).toString("base64").slice(2),
    ];
    const shown = fc.tuple(fc.nat(10), fc.nat(encodings.length - 1), fc.stringMatching(/^[ -~\n]{0,20}$/));
    fc.assert(
      fc.property(
        fc.array(value, { minLength: 1, maxLength: 5 }),
        fc.array(shown, { maxLength: 6 }),
        fc.array(fc.nat(), { maxLength: 30 }),
        (secrets, parts, cuts) => {
          const finder = new SecretFinder(secrets);
          const forms = parts.map(([which, how]) => encodings[how]!(secrets[which % secrets.length]!));
          const bytes = Buffer.from(forms.map((form, at) => `${parts[at]![2]}${form}`).join(""));
          const out = stream(finder, bytes, cuts);
          expect(out).to.equal(stream(finder, bytes));
          for (const secret of secrets) {
            const clean = secret.trim();
            // A secret may contain the text of the mask.
            const left = out.split("***");
            for (const form of [clean, encodeURIComponent(clean), JSON.stringify(clean).slice(1, -1), base64(clean)]) {
              for (const part of left) expect(part).not.to.include(form);
            }
          }
        },
      ),
      { numRuns: 200 },
    );
  });
});
