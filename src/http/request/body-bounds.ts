/** How large the body of each route may be, and why. */
import { PLUGIN_BOUNDS } from "../../domain/plugins.ts";
import type { ApiContext } from "./state.ts";

export interface BodyBounds {
  readonly bytes: number;
  /** Members of all objects and items of all lists together. */
  readonly values: number;
  readonly why: string;
}

const KB = 1_024;
const MB = 1_024 * KB;

const DEFINITION: BodyBounds = {
  bytes: 4 * MB,
  values: 150_000,
  why: "a definition has up to 1 MB and 100,000 values, and JSON may be several times as long as its text",
};
const SECRET: BodyBounds = {
  bytes: 512 * KB,
  values: 100,
  why: "a value has up to 64 kB, and an escaped character is six times as long",
};
const DEVICE: BodyBounds = {
  bytes: 16 * KB,
  values: 100,
  why: "a caller without a token may send it: the codes of a device",
};
const PIPELINE: BodyBounds = {
  bytes: 1 * MB,
  values: 10_000,
  why: "metadata may have many texts of 10,000 characters",
};
const PACKAGE: BodyBounds = { bytes: PLUGIN_BOUNDS.packedBytes, values: 0, why: "a package, which is no JSON" };

/** The bounds of routes with a body of their own size, by method and pattern below `/api/v1`. */
export const BODY_BOUNDS: Readonly<Record<string, BodyBounds>> = {
  "POST /auth/login": {
    bytes: 16 * KB,
    values: 100,
    why: "a caller without a token may send it: a name and a password",
  },
  "POST /auth/refresh": {
    bytes: 16 * KB,
    values: 100,
    why: "a caller without a token may send it: a refresh token",
  },
  "POST /auth/device/code": DEVICE,
  "POST /auth/device/token": DEVICE,
  "POST /pipelines": PIPELINE,
  "PUT /pipelines/:pipelineId": PIPELINE,
  "POST /pipelines/:pipelineId/spec/validate": DEFINITION,
  "POST /pipelines/:pipelineId/spec/save": DEFINITION,
  "POST /pipelines/:pipelineId/plan": DEFINITION,
  "POST /pipelines/:pipelineId/trigger": {
    bytes: 4 * MB,
    values: 50_000,
    why: "variables have up to 1 MB, and JSON may be several times as long",
  },
  "POST /projects/:projectId/secrets": SECRET,
  "PUT /projects/:projectId/secrets/:name": SECRET,
  "POST /pipelines/:pipelineId/secrets": SECRET,
  "PUT /pipelines/:pipelineId/secrets/:name": SECRET,
  "POST /plugins": PACKAGE,
  "POST /tenants/:tenantId/plugins": PACKAGE,
  "POST /projects/:projectId/plugins": PACKAGE,
};

/** The bounds of every other route. */
export const SMALL_BODY: BodyBounds = {
  bytes: 64 * KB,
  values: 1_000,
  why: "names, ids, and a comment of 2,000 characters, which has 12 kB when each of them is escaped",
};

const PREFIX = "/api/v1";

export function bodyBoundsOf({ method, _matchedRoute: route }: ApiContext): BodyBounds {
  return BODY_BOUNDS[`${method} ${String(route).slice(PREFIX.length)}`] ?? SMALL_BODY;
}

/** A size as people write it. */
export function sizeText(bytes: number): string {
  return bytes < MB ? `${bytes / KB} kB` : `${bytes / MB} MB`;
}
