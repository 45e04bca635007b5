import { expect } from "chai";
import { includePathProblem } from "../../src/definition/include/included-files.ts";
import { definitionPathProblem } from "../../src/domain/names.ts";

describe("the path of a definition", () => {
  it("stays in the repository, and names a format", () => {
    for (const path of [".millrace.yaml", ".millrace/a b.yml", "ci/ö.json"])
      expect(definitionPathProblem(path), path).to.equal(undefined);
    for (const path of [
      "",
      "/etc/x.yaml",
      "../x.yaml",
      "a/../x.yaml",
      "./x.yaml",
      "a//x.yaml",
      ".git/x.yaml",
      "a/.GIT/x.yaml",
      "git~1/x.yaml",
      ".git /x.yaml",
      ".g\u200cit/x.yaml",
      "a\\x.yaml",
      "a\nx.yaml",
      "Makefile",
      "x.yaml/",
    ]) {
      expect(definitionPathProblem(path), path).to.be.a("string");
    }
  });

  it("names one file in an include", () => {
    for (const path of ["a/*.yaml", "a?.yaml", "[ab].yaml", "../x.yaml", ".git/x.yaml", "Makefile"]) {
      expect(includePathProblem(path), path).to.be.a("string");
    }
    expect(includePathProblem(".millrace/templates/test.yaml")).to.equal(undefined);
  });
});
