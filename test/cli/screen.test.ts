import { expect } from "chai";
import { Screen } from "../../src/cli/screen.ts";

class FakeOutput {
  text = "";
  readonly isTTY: boolean;
  readonly columns = 20;
  readonly rows = 5;

  constructor(isTTY: boolean) {
    this.isTTY = isTTY;
  }

  write(text: string): void {
    this.text += text;
  }

  take(): string {
    const { text } = this;
    this.text = "";
    return text;
  }
}

const COLOURLESS = { NO_COLOR: "1" };

describe("the screen", () => {
  it("keeps printed lines above the block, which it redraws", () => {
    const output = new FakeOutput(true);
    const screen = new Screen(output, COLOURLESS);
    screen.draw([
      { indent: 0, status: "running", text: "one" },
      { indent: 1, status: null, text: "two" },
    ]);
    expect(output.take()).to.equal("● one\n  two\n");
    screen.print("a line");
    expect(output.take()).to.equal("\r\u001b[2A\u001b[Ja line\n● one\n  two\n");
    screen.draw([{ indent: 0, status: "success", text: "one" }]);
    expect(output.take()).to.equal("\r\u001b[2A\u001b[J✔ one\n");
  });

  it("leaves a settled block as it is", () => {
    const output = new FakeOutput(true);
    const screen = new Screen(output, COLOURLESS);
    screen.draw([{ indent: 0, status: "success", text: "one" }]);
    screen.settle();
    output.take();
    screen.print("below");
    expect(output.take()).to.equal("below\n");
  });

  it("cuts lines of the block that would wrap", () => {
    const output = new FakeOutput(true);
    new Screen(output, COLOURLESS).draw([{ indent: 1, status: "running", text: "x".repeat(100) }]);
    expect(Array.from(output.take().trimEnd())).to.have.length(19);
  });

  it("draws no block without a terminal", () => {
    const output = new FakeOutput(false);
    const screen = new Screen(output, {});
    screen.draw([{ indent: 0, status: "running", text: "one" }]);
    screen.print("a line");
    expect(output.take()).to.equal("a line\n");
  });

  it("uses colours only on a terminal, and not with NO_COLOR", () => {
    const painted = (tty: boolean, environment: NodeJS.ProcessEnv) =>
      new Screen(new FakeOutput(tty), environment).paint("red", "x");
    expect(painted(true, {})).to.equal("\u001b[31mx\u001b[39m");
    expect(painted(true, COLOURLESS)).to.equal("x");
    expect(painted(true, { TERM: "dumb" })).to.equal("x");
    expect(painted(false, {})).to.equal("x");
  });

  it("prints no control characters of other texts", () => {
    const output = new FakeOutput(true);
    new Screen(output, COLOURLESS).draw([{ indent: 0, status: null, text: "a\u001b[2J\u001b]0;title\u0007b\r\nc" }]);
    expect(output.take()).to.equal("abc\n");
  });
});
