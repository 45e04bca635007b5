/** What expressions read of an event, also of a delivery that an earlier version has read and stored. */
import { expect } from "chai";
import { toldOf } from "../../../src/app/triggering/told-event.ts";
import { factsOf } from "../../../src/hook-events/fields.ts";

describe("what came with an event", () => {
  it("has the ids of people, which are empty where they are not stored", () => {
    const facts = factsOf({ event: "push", ref: "main", actor: "ann", actorId: "11" });
    const { fields } = toldOf({ bytes: 2 }, facts, {});
    expect(fields).to.include({ actor: "ann", actorId: "11", authorId: "" }).and.not.have.property("ref");
    const { actorId: _, authorId: _a, ...older } = facts;
    expect(toldOf({ bytes: 2 }, older, {}).fields).to.include({ actor: "ann", actorId: "", authorId: "" });
  });
});
