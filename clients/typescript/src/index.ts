export { Credenda } from "./client.ts";
export {
  Conflict,
  Corrupt,
  CredendaError,
  Forbidden,
  Invalid,
  LimitExceeded,
  NotFound,
  Unauthenticated,
  Unavailable,
} from "./errors.ts";
export { readEvents, type ServerEvent } from "./events.ts";
export type * from "./generated.ts";
export type { Answer, CallOptions, ClientOptions, OperationName } from "./request.ts";
export { readingTools, tools, type Recalled, type Tool, type ToolProblem, type ToolSchema, type ToolsOptions } from "./tools.ts";
