/** A typed client of millrace's HTTP API. It needs only `fetch`, so it works in Node and in browsers. */
export type {
  ApiPath,
  CallArguments,
  CallOf,
  CallSettings,
  DetailOf,
  ErrorReason,
  ItemOf,
  Method,
  Operation,
  PathOf,
  Problem,
  Schemas,
} from "./api-types.ts";
export { type ClientOptions, MillraceClient, type Tagged } from "./client.ts";
export {
  type Credentials,
  fixedToken,
  type LoginTokens,
  RefreshingCredentials,
  type RefreshingOptions,
  type TokenStore,
} from "./credentials.ts";
export { DeviceLoginError, type DeviceLoginOptions, logInByDevice } from "./device-login.ts";
export {
  AnswerTooLargeError,
  ApiError,
  ClientError,
  ConnectionError,
  ForeignAnswerError,
  ParameterError,
} from "./errors.ts";
export {
  type LogEntry,
  LogStream,
  type LogStreamOptions,
  type OpenSocket,
  type Socket,
  type StepName,
} from "./log-stream.ts";
export { isTemporary } from "./retries.ts";
export type { Answer, Request, RetryNotice } from "./transport.ts";
