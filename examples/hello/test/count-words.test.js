import assert from "node:assert/strict";
import { test } from "node:test";
import { countWords, topWords } from "../src/count-words.js";

// The pipeline runs these once for short texts and once for a long one.
const repeat = process.env.TEXT === "long" ? 10_000 : 1;
const text = "The mill grinds; the race runs. Le moulin tourne! ".repeat(repeat);

test("words are counted without regard to case", () => {
  assert.equal(countWords(text).get("the"), 2 * repeat);
});

test("letters beyond ASCII belong to words", () => {
  assert.equal(countWords("Ça va? ça va!").get("ça"), 2);
});

test("the most frequent words come first", () => {
  assert.deepEqual(topWords(text, 2), [
    ["the", 2 * repeat],
    ["grinds", repeat],
  ]);
});
