import { ERROR_CATALOGUE, type ErrorCode, type FieldError, type INVALID_REQUEST_STATUSES } from './errors';

/** Faults in a message; the rest is in the details. A reader does not take in more. The API cuts long lists (`boundedError`). */
const NAMED_FAULTS = 3;

/** Where errors note so many frames; elsewhere the property has no effect. */
const v8 = Error as { stackTraceLimit?: number };

/** Optional parts of a refusal. `retryAfterSeconds` is an integer of at least 1 (wire supplement, section 2). */
export interface RefusalOptions {
  details?: Record<string, unknown>;
  retryAfterSeconds?: number;
  status?: (typeof INVALID_REQUEST_STATUSES)[number];
  headers?: Record<string, string>;
}

/**
 * A request that the service refuses, with a reason for the caller. Thrown anywhere below HTTP; the API turns it into the
 * envelope. Everything else that is thrown becomes `upstream_error` and says nothing about its cause.
 */
export class Refusal extends Error {
  readonly status: number;
  readonly details: Record<string, unknown> | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly headers: Record<string, string>;

  constructor(
    readonly code: ErrorCode,
    message: string,
    options: RefusalOptions = {},
  ) {
    // It is an answer: nobody reads where in the code it was made, and finding that out takes time.
    const { stackTraceLimit } = v8;
    v8.stackTraceLimit = 0;
    super(message);
    v8.stackTraceLimit = stackTraceLimit;
    this.name = 'Refusal';
    this.status = code === 'invalid_request' ? (options.status ?? 422) : ERROR_CATALOGUE[code].status;
    this.details = options.details;
    this.headers = options.headers ?? {};
    this.retryAfterSeconds = this.status === 429 ? Math.max(1, Math.ceil(options.retryAfterSeconds ?? 1)) : undefined;
  }

  /**
   * Fields of a request are wrong: `invalid_request` with `details.fields`.
   *
   * @param status 422 for fields of a body, 400 for those of a query.
   */
  static ofFields(fields: FieldError[], status: 400 | 422 = 422): Refusal {
    const message = `The request is not valid. ${namesOf(fields)}`;
    return new Refusal('invalid_request', message, { details: { fields }, status });
  }

  /** Labels are not valid: `metadata_invalid` with `details.fields`. */
  static ofMetadata(fields: FieldError[]): Refusal {
    const message = `The metadata is not valid. ${namesOf(fields)}`;
    return new Refusal('metadata_invalid', message, { details: { fields } });
  }
}

function namesOf(fields: FieldError[]): string {
  const named = fields
    .slice(0, NAMED_FAULTS)
    .map(({ field, reason }) => (field === '' ? reason : `${field}: ${reason}`));
  const more = fields.length > NAMED_FAULTS ? `; and ${fields.length - NAMED_FAULTS} more` : '';
  return `${named.join('; ')}${more}.`;
}
