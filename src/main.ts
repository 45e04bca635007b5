#!/usr/bin/env node
/** The program `millrace`. */
import { runProgram } from "./cli/commands/program.ts";

// Explicit, since a handle that something has left open must not keep a finished command alive.
process.exit(await runProgram(process.argv.slice(2)));
