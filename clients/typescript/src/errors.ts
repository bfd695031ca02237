// Errors of the server as classes, by the `code` of its problem documents (RFC 9457).

import type { Problem } from "./generated.ts";

/** An error of the server, or of the way to it. */
export class CredendaError extends Error {
  /** The kind of error, for programs. */
  readonly code: string;
  /** The HTTP status; 0 if there was no answer. */
  readonly status: number;
  /** Why it happened. */
  readonly why: string;
  /** What to do. */
  readonly fix: string;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  /** Names of things that the error is about, such as the versions of a refused change. */
  readonly ids: Readonly<Record<string, string>>;
  /** Seconds after which the server asks to be called again, if it does. */
  readonly retryAfter: number | undefined;

  constructor(problem: Problem, retryAfter?: number, options?: ErrorOptions) {
    super([problem.title, problem.detail, problem.fix].filter(Boolean).join("; "), options);
    this.name = new.target.name;
    this.code = problem.code;
    this.status = problem.status;
    this.why = problem.detail ?? "";
    this.fix = problem.fix ?? "";
    this.retryable = problem.retryable;
    this.ids = problem.ids ?? {};
    this.retryAfter = retryAfter;
  }
}

/** The request cannot be meant: nothing was changed. */
export class Invalid extends CredendaError {}
/** There is nothing of that name in this memory. */
export class NotFound extends CredendaError {}
/** The request contradicts the present state, such as a version that is no longer current. */
export class Conflict extends CredendaError {}
/** The request is beyond a bound, or there were too many. */
export class LimitExceeded extends CredendaError {}
/** The server cannot answer now. */
export class Unavailable extends CredendaError {}
/** The database is damaged. */
export class Corrupt extends CredendaError {}
/** The token is missing, unknown or expired. */
export class Unauthenticated extends CredendaError {}
/** The token does not permit this. */
export class Forbidden extends CredendaError {}

const BY_CODE: Readonly<Record<string, typeof CredendaError>> = {
  invalid: Invalid,
  not_found: NotFound,
  conflict: Conflict,
  limit_exceeded: LimitExceeded,
  unavailable: Unavailable,
  corrupt: Corrupt,
  unauthenticated: Unauthenticated,
  forbidden: Forbidden,
};
const BY_STATUS: Readonly<Record<number, typeof CredendaError>> = {
  401: Unauthenticated,
  403: Forbidden,
  404: NotFound,
  409: Conflict,
  412: Conflict,
  413: LimitExceeded,
  422: Invalid,
  429: LimitExceeded,
  502: Unavailable,
  503: Unavailable,
  504: Unavailable,
};
const MAY_PASS = new Set([429, 502, 503, 504]);

/** Make the error of an answer, whatever its body is: a proxy may have sent it. */
export async function readError(response: Response): Promise<CredendaError> {
  const text = await response.text().catch(() => "");
  const problem = readProblem(text, response);
  const kind = BY_CODE[problem.code] ?? BY_STATUS[response.status] ?? CredendaError;
  return new kind(problem, readRetryAfter(response.headers.get("retry-after")));
}

function readProblem(text: string, response: Response): Problem {
  const plain: Problem = {
    title: `the server answered ${response.status} ${response.statusText}`.trim(),
    status: response.status,
    code: "",
    retryable: MAY_PASS.has(response.status),
  };
  try {
    const found: unknown = JSON.parse(text);
    if (typeof found === "object" && found !== null && "title" in found && "code" in found) {
      return { ...plain, ...(found as Partial<Problem>) };
    }
  } catch {
    // Not JSON: the plain description stays.
  }
  return plain;
}

/** Read the seconds of a Retry-After header: a number, or a date. */
export function readRetryAfter(value: string | null, now: number = Date.now()): number | undefined {
  if (value === null || value.trim() === "") return undefined;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return Math.max(0, seconds);
  const moment = Date.parse(value);
  return Number.isNaN(moment) ? undefined : Math.max(0, (moment - now) / 1000);
}

/** Make the error of a request that got no answer. */
export function makeConnectionError(url: string, cause: unknown): Unavailable {
  const problem: Problem = {
    title: `the server at ${url} cannot be reached`,
    status: 0,
    code: "unavailable",
    retryable: true,
    fix: "start it with `credenda serve`, or check the address",
  };
  return new Unavailable(problem, undefined, { cause });
}
