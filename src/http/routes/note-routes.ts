/** Routes of what steps leave for people beside their logs. */
import type { AppContext } from "../../app/context.ts";
import {
  AnnotationPageShape,
  annotationsQuery,
  readAnnotations,
  readSummaries,
  summariesQuery,
  SummaryPageShape,
} from "../../app/notes/read-notes.ts";
import {
  readTestCases,
  readTestReports,
  TestCasePageShape,
  testCasesQuery,
  TestReportPageShape,
  testReportsQuery,
} from "../../app/notes/read-tests.ts";
import { routesFor } from "../route.ts";

const route = routesFor<AppContext>("Runs");

export const NOTE_ROUTES = [
  route({
    method: "GET",
    path: "/pipelines/runs/:runId/annotations",
    name: "listAnnotations",
    about: "Lists the annotations in the output of a run's steps, step by step.",
    query: annotationsQuery,
    answer: AnnotationPageShape,
    errors: ["not_found"],
    handle: (context, { caller, params, query }) => readAnnotations(context, caller, { ...query, ...params }),
  }),
  route({
    method: "GET",
    path: "/pipelines/runs/:runId/summaries",
    name: "listSummaries",
    about: "Lists the summaries of a run's steps, as Markdown and as safe HTML.",
    query: summariesQuery,
    answer: SummaryPageShape,
    errors: ["not_found"],
    handle: (context, { caller, params, query }) => readSummaries(context, caller, { ...query, ...params }),
  }),
  route({
    method: "GET",
    path: "/pipelines/runs/:runId/test-reports",
    name: "listTestReports",
    about: "Counts the tests of a run, and of each of its steps with test reports.",
    query: testReportsQuery,
    answer: TestReportPageShape,
    errors: ["not_found"],
    handle: (context, { caller, params, query }) => readTestReports(context, caller, { ...query, ...params }),
  }),
  route({
    method: "GET",
    path: "/pipelines/runs/:runId/test-cases",
    name: "listTestCases",
    about: "Lists the test cases of a run: all of them, those that failed, the flaky ones, or the slowest.",
    query: testCasesQuery,
    answer: TestCasePageShape,
    errors: ["not_found"],
    handle: (context, { caller, params, query }) => readTestCases(context, caller, { ...query, ...params }),
  }),
];
