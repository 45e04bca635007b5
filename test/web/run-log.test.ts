/** The parts of the log window that need no browser. */
import { expect } from "chai";
import fc from "fast-check";
import { groupMark, groupsOf, hiddenLines, RowMap } from "../../web/src/run/log/folds.ts";
import { annotationMark, lineText, markRanges, plainText } from "../../web/src/run/log/line-text.ts";
import { type LogEntry, LogPages, PAGE_LINES, type ReadPage } from "../../web/src/run/log/pages.ts";
import {
  barHeight,
  barMoved,
  type Extent,
  MOST_PX,
  rowsInWindow,
  type Scroll,
  scrollTo,
  topMost,
} from "../../web/src/run/log/scaled-scroll.ts";

const ESC = "\u001b";
const MILLION: Extent = { rows: 1_000_000, rowHeight: 20, viewport: 600 };

describe("scrolling over a million rows", () => {
  it("keeps the bar below the height that browsers cut", () => {
    expect(barHeight(MILLION)).to.equal(MOST_PX);
    expect(barHeight({ rows: 100, rowHeight: 20, viewport: 600 })).to.equal(2_000);
  });

  it("reaches the first and the last row", () => {
    expect(scrollTo(MILLION, 0)).to.deep.equal({ top: 0, bar: 0 });
    const end = scrollTo(MILLION, Infinity);
    expect(end.top).to.equal(topMost(MILLION));
    expect(rowsInWindow(MILLION, end.top, 0)).to.deep.equal({ first: 999_970, end: 1_000_000 });
  });

  it("moves the rows by as many pixels as the bar in a short move, and by its share in a drag", () => {
    const start = scrollTo(MILLION, 5_000_000);
    expect(barMoved(MILLION, start, start.bar + 100).top).to.equal(start.top + 100);
    const dragged = barMoved(MILLION, start, (MOST_PX - 600) / 2);
    expect(dragged.top).to.be.closeTo(topMost(MILLION) / 2, 1);
  });

  it("leaves out no row between the ends, however one scrolls", () => {
    let at: Scroll = scrollTo(MILLION, topMost(MILLION) - 2_500);
    let seenTo = rowsInWindow(MILLION, at.top, 0).end;
    for (let turn = 0; turn < 100 && at.top < topMost(MILLION); turn++) {
      const { first, end } = rowsInWindow(MILLION, (at = barMoved(MILLION, at, at.bar + 120)).top, 0);
      expect(first).to.be.at.most(seenTo);
      seenTo = end;
    }
    expect(seenTo).to.equal(1_000_000);
  });

  it("shows rows that exist, whatever the bar does", () => {
    const extent = fc.record({
      rows: fc.integer({ min: 0, max: 3_000_000 }),
      rowHeight: fc.constant(20),
      viewport: fc.integer({ min: 20, max: 2_000 }),
    });
    fc.assert(
      fc.property(extent, fc.array(fc.double({ min: -1_000, max: MOST_PX + 1_000, noNaN: true })), (of, bars) => {
        let at = scrollTo(of, 0);
        for (const bar of bars) {
          at = barMoved(of, at, bar);
          expect(at.top).to.be.within(0, topMost(of));
          expect(at.bar).to.be.at.most(Math.max(bar, barHeight(of)));
          const { first, end } = rowsInWindow(of, at.top, 5);
          expect(first).to.be.within(0, end);
          expect(end).to.be.at.most(of.rows);
        }
      }),
    );
  });
});

describe("the folds of a log", () => {
  it("knows the lines that begin and end groups", () => {
    expect(groupMark(3, "::group::Install packages")).to.deep.equal({ line: 3, name: "Install packages" });
    expect(groupMark(4, "::endgroup::")).to.deep.equal({ line: 4, name: null });
    expect(groupMark(5, "echo ::group::no")).to.equal(null);
  });

  it("ends a group at its mark, before the next group, and at the end of the log", () => {
    const marks = [
      groupMark(2, "::group::a")!,
      groupMark(5, "::group::b")!,
      groupMark(8, "::endgroup::")!,
      groupMark(10, "::group::c")!,
    ];
    expect(groupsOf(marks, 12).map(({ line, end, hasEndMark }) => [line, end, hasEndMark])).to.deep.equal([
      [2, 4, false],
      [5, 8, true],
      [10, 12, false],
    ]);
  });

  it("hides the lines of a closed group, the mark of an end, and all of a gap but its first line", () => {
    const groups = groupsOf(
      [
        { line: 2, name: "a" },
        { line: 5, name: null },
        { line: 7, name: "b" },
        { line: 9, name: null },
      ],
      12,
    );
    const hidden = hiddenLines(groups, ({ name }) => name === "b", [{ from: 10, to: 11 }]);
    const map = new RowMap(12, hidden);
    expect(Array.from({ length: map.rows }, (_, row) => map.lineAt(row))).to.deep.equal([1, 2, 6, 7, 8, 10, 12]);
    expect(map.rowOf(4)).to.equal(1);
    expect(map.isHidden(4)).to.equal(true);
  });

  it("goes from each line to its row and back", () => {
    const hidden = fc.array(
      fc
        .tuple(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 0, max: 20 }))
        .map(([from, more]) => ({ from, to: from + more })),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 200 }), hidden, (lines, hide) => {
        const map = new RowMap(lines, hide);
        const shown = Array.from({ length: lines }, (_, at) => at + 1).filter(
          (line) => !hide.some(({ from, to }) => from <= line && line <= to),
        );
        expect(map.rows).to.equal(shown.length);
        for (const [row, line] of shown.entries()) {
          expect(map.lineAt(row)).to.equal(line);
          expect(map.rowOf(line)).to.equal(row);
          expect(map.isHidden(line)).to.equal(false);
        }
      }),
    );
  });
});

describe("the text of a line of a log", () => {
  const texts = (content: string) => lineText(content).pieces.map(({ text, classes }) => [text, classes]);

  it("has colours and weights", () => {
    expect(texts(`${ESC}[31mred${ESC}[0m plain ${ESC}[1;32mgreen${ESC}[0m`)).to.deep.equal([
      ["red", "ansi-red"],
      [" plain ", ""],
      ["green", "ansi-green ansi-bold"],
    ]);
    const [palette, exact] = lineText(`${ESC}[38;5;208mo${ESC}[0m${ESC}[38;2;1;2;3mx`).pieces;
    expect(palette).to.include({ text: "o", color: "255, 135, 0" });
    expect(exact).to.include({ text: "x", color: "1, 2, 3" });
  });

  it("has no escape sequence in it, and shows control characters as symbols", () => {
    const hostile = `${ESC}]0;title\u0007a${ESC}[2J${ESC}[10;10Hb\u0000${ESC}]8;;http://x\u0007c${ESC}]8;;\u0007\u202ed${ESC}`;
    const text = plainText(hostile);
    expect(text).to.equal("ab\u2400c\ufffdd");
  });

  it("leaves markup as the text that it is", () => {
    const markup = "<img src=x onerror=alert(1)> &amp; </span>";
    expect(plainText(markup)).to.equal(markup);
  });

  it("shows what follows the last carriage return, and how often the line began again", () => {
    const { pieces, overwritten } = lineText("10%\r50%\r100%");
    expect(pieces.map(({ text }) => text).join("")).to.equal("100%");
    expect(overwritten).to.equal(2);
    expect(plainText("50%\r100%\r")).to.equal("100%");
    expect(texts(`${ESC}[31m10%\r50%`)).to.deep.equal([["50%", "ansi-red"]]);
  });

  it("leaves the command of an annotation out, where the line annotates", () => {
    const shown = (content: string, level: string) => {
      const mark = annotationMark(content, level);
      return [mark?.kind, plainText(content, mark?.messageAt)];
    };
    expect(shown("::error file=a.c,line=3::no such name", "error")).to.deep.equal(["error", "no such name"]);
    expect(shown("  ::warning::careful", "warn")).to.deep.equal(["warning", "careful"]);
    expect(shown(`::notice title=a::${ESC}[31mred${ESC}[0m`, "info")).to.deep.equal(["notice", "red"]);
    expect(shown(`::error file=${ESC}[31m::red\r`, "error")).to.deep.equal(["error", "red"]);
    expect(shown("::error::", "error")).to.deep.equal(["error", ""]);
    // Behind `::stop-commands::`, the line has the level of its stream.
    expect(shown("::error::no command", "info")).to.deep.equal([undefined, "::error::no command"]);
    expect(shown("std::error::thing", "error")).to.deep.equal([undefined, "std::error::thing"]);
  });

  it("marks matches at the places that the server names", () => {
    const content = `${ESC}[31mfailed${ESC}[0m to fail`;
    const from = content.indexOf("ailed");
    const marked = markRanges(lineText(content).pieces, [{ from, to: from + 3 }]);
    expect(marked.map(({ text, isMatch }) => (isMatch ? `[${text}]` : text)).join("")).to.equal("f[ail]ed to fail");
  });

  it("has all characters that can be seen, whatever the line", () => {
    const unit = fc.constantFrom("a", "é", "😀", " ", `${ESC}[1m`, `${ESC}[38;5;20m`, `${ESC}[K`, "<b>", "\t");
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 30 }), (units) => {
        const content = units.join("");
        const seen = units.filter((one) => !one.startsWith(ESC)).join("");
        const { pieces } = lineText(content);
        expect(pieces.map(({ text }) => text).join("")).to.equal(seen);
        for (const { text, at } of pieces) expect(content.slice(at, at + text.length)).to.equal(text);
      }),
    );
  });
});

describe("the pages of a log", () => {
  const entry = (line: number): LogEntry => ({
    step_run_id: "step",
    timestamp: 0,
    line_number: line,
    level: "info",
    content: `line ${line}`,
    stream: "stdout",
    plugin_name: "",
    agent_id: "",
  });

  /** A server with so many lines; it answers at most 200 at a time, and has lost some. */
  function server(lines: number, lost: ReadonlySet<number> = new Set()): { readonly read: ReadPage; calls: number } {
    const state = {
      calls: 0,
      read: async (from: number, to: number) => {
        state.calls++;
        const end = Math.min(to, from + 199, lines);
        const list = [];
        for (let line = from; line <= end; line++) if (!lost.has(line)) list.push(entry(line));
        return { list, lines, isComplete: true, next: end < lines ? end + 1 : null };
      },
    };
    return state;
  }

  async function settled(): Promise<void> {
    for (let turn = 0; turn < 40; turn++) await Promise.resolve();
  }

  it("reads what is wanted, in pieces, once", async () => {
    const of = server(1_000_000);
    let changes = 0;
    const pages = new LogPages(of.read, () => changes++);
    pages.learn(1_000_000, true);
    pages.want(999_900, 1_000_000);
    pages.want(999_900, 1_000_000);
    await settled();
    expect(pages.entry(1_000_000)?.content).to.equal("line 1000000");
    expect(pages.entry(999_501)?.content).to.equal("line 999501");
    expect(changes).to.equal(1);
    expect(of.calls).to.equal(3);
  });

  it("keeps a bounded number of pages, however far one scrolls", async () => {
    const pages = new LogPages(server(1_000_000).read, () => {});
    pages.learn(1_000_000, true);
    for (let line = 1; line < 30_000; line += PAGE_LINES) {
      pages.want(line, line + 40);
      await settled();
      expect(pages.entry(line)?.line_number).to.equal(line);
    }
    expect(pages.size).to.be.below(30);
    expect(pages.entry(1)).to.equal(undefined);
  });

  it("knows lines that were lost from lines that were not read", async () => {
    const pages = new LogPages(server(100, new Set([13, 14])).read, () => {});
    pages.learn(100, true);
    expect(pages.isMissing(13)).to.equal(false);
    pages.want(1, 100);
    await settled();
    expect([12, 13, 14, 15].map((line) => pages.isMissing(line))).to.deep.equal([false, true, true, false]);
  });

  it("takes live lines behind those that it has, once each and in order", async () => {
    const pages = new LogPages(server(3).read, () => {});
    pages.learn(3, false);
    pages.want(1, 3);
    await settled();
    pages.append([entry(4), entry(5)]);
    pages.append([entry(5), entry(6)]);
    expect(pages.lines).to.equal(6);
    expect([4, 5, 6].map((line) => pages.entry(line)?.line_number)).to.deep.equal([4, 5, 6]);
  });

  it("stays bounded while 30,000 live lines come", () => {
    const pages = new LogPages(server(0).read, () => {});
    for (let line = 1; line <= 30_000; line += 100)
      pages.append(Array.from({ length: 100 }, (_, at) => entry(line + at)));
    expect(pages.lines).to.equal(30_000);
    expect(pages.size).to.be.below(30);
    expect(pages.entry(30_000)?.line_number).to.equal(30_000);
  });

  it("tells a failed reading, and reads again when asked", async () => {
    const good = server(10).read;
    let isDown = true;
    const problems: unknown[] = [];
    const pages = new LogPages(
      (from, to) => (isDown ? Promise.reject(new Error("down")) : good(from, to)),
      (problem) => problems.push(problem),
    );
    pages.learn(10, true);
    pages.want(1, 10);
    await settled();
    expect(problems).to.have.length(1);
    isDown = false;
    pages.want(1, 10);
    await settled();
    expect(pages.entry(10)?.line_number).to.equal(10);
  });
});
