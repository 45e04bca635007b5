/** Ends the servers that test files share. */
import { stopTestMongo } from "./mongo.ts";

export const mochaHooks = {
  afterAll: (): Promise<void> => stopTestMongo(),
};
