#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { topWords } from "../src/count-words.js";

const [file, limit = "3"] = process.argv.slice(2);
if (file === undefined) {
  console.error("usage: top-words FILE [LIMIT]");
  process.exit(2);
}
for (const [word, count] of topWords(readFileSync(file, "utf8"), Number(limit))) console.log(`${count} ${word}`);
