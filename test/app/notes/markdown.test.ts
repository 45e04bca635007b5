import { expect } from "chai";
import { renderMarkdown } from "../../../src/app/notes/markdown.ts";

describe("a summary as HTML", () => {
  it("has headings, tables, lists and code", async () => {
    const html = await renderMarkdown(
      "# Tests\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n- x\n- `y`\n\n```sh\nls <b>\n```\n",
    );
    for (const part of ["<h1>Tests</h1>", "<table>", "<li>x</li>", "<code>y</code>", "ls &lt;b&gt;"]) {
      expect(html).to.include(part);
    }
  });

  it("has no HTML of its writer", async () => {
    const hostile = [
      "<script>alert(1)</script>",
      "<img src=x onerror=alert(1)>",
      "a <b onclick=alert(1)>b</b>",
      "<style>*{display:none}</style>",
      "<!-- x --><iframe src=//a></iframe>",
      "<svg/onload=alert(1)>",
    ];
    for (const markdown of hostile) expect(await renderMarkdown(markdown), markdown).not.to.match(/<(?!\/?p>)/);
  });

  it("links to http, https and mailto only, whatever the form of the link", async () => {
    const refused = [
      "[x](javascript:alert(1))",
      "[x](JaVaScRiPt:alert(1))",
      "[x](java\tscript:alert(1))",
      "[x](&#106;avascript:alert(1))",
      "[x](data:text/html;base64,PHNjcmlwdD4=)",
      "[x](vbscript:x)",
      "[x](//evil.example/a)",
      "[x](/api/v1/users)",
      "[x][1]\n\n[1]: javascript:alert(1)",
      "<javascript:alert(1)>",
      "![x](javascript:alert(1))",
      "![x](data:image/svg+xml,<svg/onload=alert(1)>)",
    ];
    for (const markdown of refused) expect(await renderMarkdown(markdown), markdown).not.to.match(/href|src=/);
    expect(await renderMarkdown("[x](https://a.example/?b=1&c) <mailto:a@b.example>")).to.equal(
      '<p><a href="https://a.example/?b=1&amp;c" rel="noopener noreferrer nofollow">x</a> <a href="mailto:a@b.example" rel="noopener noreferrer nofollow">mailto:a@b.example</a></p>\n',
    );
  });

  it("lets no title, address or text leave its attribute", async () => {
    const html = await renderMarkdown(
      '[x](https://a.example/"onclick="y "t\\"onmouseover=z") ![" onerror="x](https://a/b)',
    );
    expect(html.replace(/"[^"]*"/g, '""')).not.to.match(/<[^>]*\son\w+=/);
  });

  it("has a link in place of an image, so that nothing is loaded from elsewhere", async () => {
    expect(await renderMarkdown("![badge](https://a.example/b.svg)")).to.equal(
      '<p><a href="https://a.example/b.svg" rel="noopener noreferrer nofollow">badge</a></p>\n',
    );
  });

  it("is made in bounded time and size of 64 kB that are made to take long", async () => {
    const size = 65_536;
    const cells = `${"|a".repeat(size / 4)}\n${"|-".repeat(size / 4)}\n${"|\n".repeat(size / 4)}`;
    const repeated = [">", "* ", "[", "![", "*a_", "`", "[a](", "<", "&", "\\", "|", "- [ ] ", "![](<"];
    const texts = [cells.slice(0, size), ...repeated.map((part) => part.repeat(size / part.length))];
    const before = process.cpuUsage();
    for (const text of texts) expect((await renderMarkdown(text)).length, text.slice(0, 9)).to.be.below(40 * size);
    expect(process.cpuUsage(before).user / 1_000).to.be.below(4_000);
  });
});
