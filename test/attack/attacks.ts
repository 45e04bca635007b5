/** All attacks, in the order of their names. */
import type { Attack } from "./attack.ts";
import { attack as brackets } from "./attacks/brackets.ts";
import { attack as deafCalls } from "./attacks/deaf-calls.ts";
import { attack as deafDownloads } from "./attacks/deaf-downloads.ts";
import { attack as deafStreams } from "./attacks/deaf-streams.ts";
import { attack as deleteAndTrigger } from "./attacks/delete-and-trigger.ts";
import { attack as fullSpeedLog } from "./attacks/full-speed-log.ts";
import { attack as largeDefinitions } from "./attacks/large-definitions.ts";
import { attack as largeReads } from "./attacks/large-reads.ts";
import { attack as longQueries } from "./attacks/long-queries.ts";
import { attack as manySaves } from "./attacks/many-saves.ts";
import { attack as manySubscriptions } from "./attacks/many-subscriptions.ts";
import { attack as nestedExpressions } from "./attacks/nested-expressions.ts";
import { attack as oddPaths } from "./attacks/odd-paths.ts";
import { attack as slowHeads } from "./attacks/slow-heads.ts";
import { attack as stolenToken } from "./attacks/stolen-token.ts";
import { attack as subscribeUnsubscribe } from "./attacks/subscribe-unsubscribe.ts";
import { attack as unknownKeys } from "./attacks/unknown-keys.ts";
import { attack as wideMatrices } from "./attacks/wide-matrices.ts";
import { attack as wrongLogins } from "./attacks/wrong-logins.ts";

export const ATTACKS: readonly Attack[] = [
  brackets,
  deafCalls,
  deafDownloads,
  deafStreams,
  deleteAndTrigger,
  fullSpeedLog,
  largeDefinitions,
  largeReads,
  longQueries,
  manySaves,
  manySubscriptions,
  nestedExpressions,
  oddPaths,
  slowHeads,
  stolenToken,
  subscribeUnsubscribe,
  unknownKeys,
  wideMatrices,
  wrongLogins,
];
