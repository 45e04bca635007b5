import { expect } from "chai";
import { candidatesOf, refOf } from "../../src/git/names.ts";
import { parseRemote } from "../../src/git/remote.ts";

describe("the address of a repository", () => {
  it("is https, http, ssh or the short form of ssh", () => {
    for (const [text, remote] of [
      [
        "https://Git.Example.org/a/b.git",
        { transport: "https", host: "git.example.org", port: 443, user: null, url: "https://git.example.org/a/b.git" },
      ],
      [
        "https://ann@example.org:8443/b",
        { transport: "https", host: "example.org", port: 8443, user: "ann", url: "https://example.org:8443/b" },
      ],
      [
        "https://[2001:db8::1]/b",
        { transport: "https", host: "2001:db8::1", port: 443, user: null, url: "https://[2001:db8::1]/b" },
      ],
      ["http://0x7f.1/b", { transport: "http", host: "127.0.0.1", port: 80, user: null, url: "http://127.0.0.1/b" }],
      [
        "ssh://example.org/~ann/b.git",
        { transport: "ssh", host: "example.org", port: 22, user: "git", url: "ssh://git@example.org/~ann/b.git" },
      ],
      [
        "ssh://deploy@example.org:2222/b",
        { transport: "ssh", host: "example.org", port: 2222, user: "deploy", url: "ssh://deploy@example.org:2222/b" },
      ],
      [
        "git@example.org:a/b.git",
        { transport: "ssh", host: "example.org", port: 22, user: "git", url: "git@example.org:a/b.git" },
      ],
    ] as const) {
      expect(parseRemote(text), text).to.deep.equal(remote);
    }
  });

  it("is refused when it is something else, or could be taken for a command", () => {
    for (const text of [
      "",
      "example.org/a",
      "file:///etc",
      "git://example.org/a",
      "ext::sh -c id",
      "/srv/a.git",
      "https://ann:secret@example.org/a",
      "https://ghp_abcdefgh@example.org/a",
      "https://example.org/",
      "https://example.org/a?x=1",
      "https://example.org/a#x",
      "https://example.org/a b",
      "https://-oProxyCommand=id/a",
      "ssh://-oProxyCommand=id/a",
      "ssh://-l@example.org/a",
      "ssh://example.org/a'b",
      "ssh://example.org/a;id",
      "ssh://example.org/$(id)",
      "git@-oProxyCommand=id:a",
      "git@example.org:-upload-pack=x",
      "-x@example.org:a",
      "git@exa mple.org:a",
      `https://example.org/${"a".repeat(2_000)}`,
    ]) {
      const problem = parseRemote(text);
      expect(problem, text)
        .to.be.a("string")
        .that.matches(/^must /);
      expect(problem).to.not.include("secret@");
    }
  });
});

describe("the name of a ref", () => {
  it("is a full commit id, a full name, or the name of a branch or tag", () => {
    expect(refOf("A".repeat(40))).to.deep.equal({ kind: "commit", id: "a".repeat(40) });
    expect(refOf("refs/pull/1/head")).to.deep.equal({ kind: "ref", name: "refs/pull/1/head" });
    expect(refOf("abc1234")).to.deep.equal({ kind: "name", name: "abc1234" });
    for (const text of ["", "-x", "--upload-pack=x", "a..b", "a b", "a:b", "a^", "a~1", "@{1}", "a/", "x.lock", "*"]) {
      expect(refOf(text), text).to.equal(undefined);
    }
  });

  it("is tried by full names only", () => {
    expect(candidatesOf({ kind: "name", name: "+a" })).to.deep.equal(["refs/heads/+a", "refs/tags/+a"]);
    expect(candidatesOf({ kind: "branch", name: "a" })).to.deep.equal(["refs/heads/a"]);
  });
});
