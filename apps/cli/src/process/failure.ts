import { isAbort, isDiskFault, reasonOf } from './error-facts';

/** The exit codes of the process: the outcome of a job, or why there is none. */
export const EXIT = {
  succeeded: 0,
  failed: 1,
  usage: 2,
  refused: 3,
  canceled: 4,
  expired: 5,
  unavailable: 6,
  notSaved: 7,
  interrupted: 130,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** What may be known about a failure besides its sentence. */
export interface FailureFacts {
  /** The code of the error envelope, or one of this program's own. */
  code?: string;
  /** HTTP status. */
  status?: number;
  details?: Record<string, unknown> | null;
  requestId?: string;
  /** Seconds that the service asks to wait before the same request is sent again. */
  retryAfterSeconds?: number;
  /** What the reader can do. */
  cure?: string;
  /** What goes on at the service all the same, and how it is taken up again; it follows the cure. */
  goesOn?: string;
  /** The job that the command had when it failed. */
  jobId?: string;
  cause?: unknown;
}

/** A failure with an exit code and a sentence for the reader. Everything else that is thrown is a bug of this program. */
export class CliFailure extends Error {
  readonly code: string;

  constructor(
    readonly exitCode: ExitCode,
    message: string,
    readonly facts: FailureFacts = {},
  ) {
    super(message, { cause: facts.cause });
    this.name = new.target.name;
    this.code = facts.code ?? this.name;
  }
}

/** The command line, a file to read or a setting is wrong; no job was submitted. */
export class UsageFailure extends CliFailure {
  constructor(message: string, cure?: string) {
    super(EXIT.usage, message, { code: 'usage', cure });
  }
}

/** What the service sent cannot be written on this machine; at the service all is done, and stays. */
export class SaveFailure extends CliFailure {
  constructor(message: string, facts: Pick<FailureFacts, 'cure' | 'cause'>) {
    super(EXIT.notSaved, message, { code: 'not_saved', ...facts });
  }
}

/** The service understood and said no (4xx). */
export class ServiceRefusal extends CliFailure {
  /** Class names by node id, for a refusal that names nodes. */
  nodeClasses: ReadonlyMap<string, string> = new Map();

  constructor(message: string, facts: FailureFacts) {
    super(EXIT.refused, message, facts);
  }
}

/** The service cannot be reached, failed (5xx), or sent an answer or bytes that cannot be right. */
export class ServiceFailure extends CliFailure {
  constructor(message: string, facts: FailureFacts = {}) {
    super(EXIT.unavailable, message, { code: 'service_unavailable', ...facts });
  }
}

/** The service is at another address: the one that was asked did nothing. Asking it again does not help. */
export class ServiceRedirect extends CliFailure {
  constructor(message: string, cure: string) {
    super(EXIT.unavailable, message, { code: 'redirected', cure });
  }
}

/** The reader pressed Ctrl-C, and the command left what it was doing. */
export class Interrupted extends CliFailure {
  constructor(message: string, cure?: string) {
    super(EXIT.interrupted, message, { code: 'interrupted', cure });
  }
}

/** What a thrown value is to the reader: an aborted wait is an interruption. Null for a bug of this program. */
export function failureOf(error: unknown): CliFailure | null {
  if (error instanceof CliFailure) return error;
  if (isAbort(error)) return new Interrupted('Interrupted.');
  if (isDiskFault(error))
    return new UsageFailure(`A file cannot be used: ${reasonOf(error)}.`, 'Check the path and its permissions.');
  return null;
}
