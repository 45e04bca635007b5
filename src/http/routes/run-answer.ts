/** A run as the JSON of its answer, made in pieces. */
import { successEnvelope } from "../../app/envelope.ts";
import type { RunFormat } from "../../app/runs/run-detail.ts";

const OPENING = '"jobs":[';
const COMMA = Buffer.from(",");

export const RUN_JSON: RunFormat = {
  name: "json",
  jobs: (jobs) => Buffer.from(jobs.map((job) => JSON.stringify(job)).join(",")),
  whole(run, jobs, nowMs) {
    const empty = JSON.stringify(successEnvelope({ ...run, jobs: [] }, nowMs));
    // Only the end of the envelope follows, which has no text of a user.
    const at = empty.lastIndexOf(OPENING) + OPENING.length;
    const separated = jobs.flatMap((piece, index) => (index === 0 ? [piece] : [COMMA, piece]));
    return Buffer.concat([Buffer.from(empty.slice(0, at)), ...separated, Buffer.from(empty.slice(at))]);
  },
};
