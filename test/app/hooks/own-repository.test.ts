/** Which deliveries are of the repository of a pipeline. */
import { expect } from "chai";
import { isOwnRepository } from "../../../src/app/git/own-repository.ts";

describe("the repository of a delivery", () => {
  it("is known however its address is written", () => {
    const own = (repoUrl: string, ...addresses: string[]) => isOwnRepository({ repoUrl }, addresses);
    expect(own("https://git.example.org/team/app.git", "", "https://git.example.org/Team/App")).to.equal(true);
    expect(own("git@git.example.org:team/app.git", "https://GIT.example.org/team/app/")).to.equal(true);
    expect(own("ssh://git@git.example.org:2222/team/app", "https://git.example.org/team/app.git")).to.equal(true);
    expect(own("ssh://git@git.example.org:2222/team/app", "ssh://git@git.example.org:22/team/app")).to.equal(false);
    expect(own("http://127.0.0.1:8001/r1.git", "http://127.0.0.1:8002/r1.git")).to.equal(false);
    expect(own("https://git.example.org/team/app", "https://git.example.org/team/app2")).to.equal(false);
    expect(own("https://git.example.org/team/app", "https://example.org/team/app", "team/app")).to.equal(false);
    expect(own("", "", "https://git.example.org/team/app")).to.equal(false);
  });
});
