import { z } from 'zod';

/** An error code's HTTP status, when it is answered, and what the caller can do. */
interface ErrorFacts {
  status: number;
  cause: string;
  cure: string;
}

const WAIT = 'Wait for the seconds in Retry-After, then send the same request again.';

/** The only list of error codes but `invalid_request` (contract 7.2; wire supplement, 2): HTTP, OpenAPI and docs/errors.md follow it. */
export const ERROR_CATALOGUE = {
  invalid_workflow: {
    status: 422,
    cause: 'The graph, or an input of one of its nodes, is not valid.',
    cure: 'Correct the inputs that details.node_errors lists.',
  },
  workflow_format_ui: {
    status: 422,
    cause: 'The graph is in the format that the editor saves: an object with `nodes` and `links`.',
    cure: 'Export the graph in API format and submit that.',
  },
  missing_asset: {
    status: 422,
    cause: 'The graph refers to an asset that does not exist, has expired, or belongs to another account.',
    cure: 'Upload the file, or use an asset id of your own account.',
  },
  idempotency_key_reuse: {
    status: 422,
    cause: 'An earlier request used the same Idempotency-Key; this one was not executed.',
    cure: 'Find what the first request made: a job in the list of jobs, an asset by its hash (`POST /api/v2/assets/from-hash`). Use a new key for something else, and where no list has it: a demo deployment lists no jobs.',
  },
  metadata_invalid: {
    status: 422,
    cause:
      'There are too many pairs, or a key or value is too long, is no string, or has characters that are not allowed.',
    cure: 'Send at most 16 pairs of short strings.',
  },
  batch_refused: {
    status: 422,
    cause: 'Jobs of the batch cannot be accepted. None of it was recorded.',
    cure: 'Correct the jobs that details.items lists, or send the batch with `"admission": "each"`.',
  },
  deployment_stopped: {
    status: 422,
    cause: 'The operator of the deployment has stopped it; it takes no jobs.',
    cure: 'Ask the operator of the deployment to start it.',
  },
  storage_full: {
    status: 422,
    cause: 'The account stores as many bytes as it may, or too few are left for the upload. Outputs of jobs count.',
    cure: 'Delete assets, let them and jobs expire, or ask the operator of the service for more.',
  },
  deployment_limit: {
    status: 422,
    cause: 'The account has as many deployments, or as many workers in them, as its plan allows.',
    cure: 'Delete a deployment, lower its max_workers, wait until workers that are too many by now have stopped, or ask the operator of the service for more.',
  },
  model_limit: {
    status: 422,
    cause: 'The account has as many models as it may have.',
    cure: 'Delete a model, or ask the operator of the service for more.',
  },
  model_refused: {
    status: 422,
    cause: 'The file is not what its name says, is damaged, or is of a format that the service does not take.',
    cure: 'Upload a whole .safetensors or .gguf file; the message says what is wrong with this one.',
  },
  webhook_endpoint_limit: {
    status: 422,
    cause: 'The account has as many webhook endpoints as it may have.',
    cure: 'Delete an endpoint, or have one endpoint receive more kinds of events.',
  },
  payments_not_configured: {
    status: 422,
    cause: 'The operator of the service has not set up a payment provider: credits are not sold here.',
    cure: 'Ask the operator of the service for credits.',
  },
  invalid_cursor: {
    status: 400,
    cause: 'The cursor is not one that this list returned.',
    cure: 'Start again without a cursor.',
  },
  invalid_metadata_filter: {
    status: 400,
    cause: 'A metadata filter has an invalid key or value, is repeated, or is one too many.',
    cure: 'Use metadata[key]=value, at most three times.',
  },
  unauthorized: {
    status: 401,
    cause: 'The credential is missing or not valid: mistyped, expired, or revoked.',
    cure: 'Send Authorization: Bearer <API key>.',
  },
  insufficient_credits: {
    status: 402,
    cause: 'The account has fewer credits than a job holds. A self-hosted surface never answers this.',
    cure: 'Add credits to the account.',
  },
  label_spend_limit: {
    status: 402,
    cause:
      'Jobs with a label may cost so much in a day or a month, by a rule of the account; this one could exceed it.',
    cure: 'Wait until jobs with the label have ended, or for the next day or month; or raise the limit of the rule.',
  },
  spend_cap: {
    status: 402,
    cause:
      'All jobs of the account, or of the key, may cost so much in a day or a month, by a cap; this one could exceed it.',
    cure: 'Wait until other jobs have ended, or for the next day or month (UTC); or raise the cap.',
  },
  forbidden: {
    status: 403,
    cause: 'The key lacks a scope, the account is suspended, or a signed link was altered or has expired.',
    cure: 'Where there are keys, use one with the scope that the message names; or read a fresh link.',
  },
  not_found: {
    status: 404,
    cause: 'The path is unknown, or the record does not exist, has expired, is not yours, or is on another surface.',
    cure: 'Check the id, the surface and whether it has expired.',
  },
  blob_not_found: {
    status: 404,
    cause: 'The account has no bytes with this hash.',
    cure: 'Upload the bytes instead.',
  },
  content_lost: {
    status: 410,
    cause:
      'The service has lost the bytes of the asset. Its record stands; the request is right, and will be answered the same again.',
    cure: 'Upload the file again, or run the job again, and give the request id to support.',
  },
  method_not_allowed: {
    status: 405,
    cause: 'The path exists, but not with this method.',
    cure: 'Use a method listed in the Allow header.',
  },
  another_account: {
    status: 409,
    cause: 'The browser is signed in to another account than the page shows that sent the request. Nothing was done.',
    cure: 'Load the page again, or sign in to the account that you mean.',
  },
  hash_mismatch: {
    status: 409,
    cause: 'The bytes that arrived do not have the expected hash. No asset was made.',
    cure: 'Send the bytes that expected_hash was computed from.',
  },
  asset_in_use: {
    status: 409,
    cause:
      'A job that has not ended, or a batch that is being submitted, uses the asset as input, a retained job produced it, or a model is of it.',
    cure: 'Wait until the job that refers to it has ended or expired; delete the model.',
  },
  model_exists: {
    status: 409,
    cause: 'There is a model of this folder and name.',
    cure: 'Delete that model first, or choose another name.',
  },
  model_in_use: {
    status: 409,
    cause:
      'A job that has not ended, or a batch that is being submitted, names the model, or the operator of the service shares it.',
    cure: 'Wait until the jobs that name it have ended, or cancel them; ask the operator to stop sharing it.',
  },
  batch_busy: {
    status: 409,
    cause: 'Jobs of the batch are being canceled, or tried again by another request. Nothing was changed.',
    cure: 'Send a cancel again after some seconds. For a retry, read the batch until its jobs have ended, then send it again.',
  },
  deployment_busy: {
    status: 409,
    cause: 'The deployment has jobs that wait or run, or some are being submitted at this moment. It was not deleted.',
    cure: 'Wait for them, cancel them, or delete it with `drain=true`: it then takes no more jobs, and goes when it has none.',
  },
  upload_incomplete: {
    status: 409,
    cause: 'Parts of the upload have not arrived or have another size, or another request is completing the upload.',
    cure: 'Send the parts that details.missing lists, then complete the upload again. Where it lists none, complete it again in a moment: the answer is the asset.',
  },
  payload_too_large: {
    status: 413,
    cause: 'The body, or a file in it, is larger than the service accepts.',
    cure: 'Send less; the limit is in the message.',
  },
  unsupported_media_type: {
    status: 415,
    cause: 'The body has another content type than the operation reads, or a content encoding.',
    cure: 'Send the content type that the message names.',
  },
  queue_full: {
    status: 429,
    cause:
      'The account, or the pool, has as many waiting jobs as it may have; or no worker has announced its nodes yet.',
    cure: WAIT,
  },
  label_limit: {
    status: 429,
    cause: 'As many jobs with a label as a rule of the account allows have not ended.',
    cure: WAIT,
  },
  deployment_not_ready: {
    status: 429,
    cause: 'The deployment is being provisioned or is starting.',
    cure: WAIT,
  },
  rate_limited: {
    status: 429,
    cause:
      'The caller has sent more requests or bytes than allowed in the period, or as much is being processed as can be at once.',
    cure: WAIT,
  },
  too_many_streams: {
    status: 429,
    cause: 'The account has as many event streams, downloads of batches and exports open as it may have.',
    cure: 'Close event streams that you no longer read, or poll; let a download or an export end before the next.',
  },
  upstream_error: {
    status: 500,
    cause: 'A part of the service failed. The message says nothing more, on purpose.',
    cure: 'Try again; if it continues, give the request id to support.',
  },
} as const satisfies Record<string, ErrorFacts>;

/**
 * `invalid_request` is 400 for what cannot be read (malformed JSON, a bad query) and 422 for a field of the body. The other
 * statuses are for connections on which not even a request could be read, and 416 for a range beyond the end of a file.
 */
export const INVALID_REQUEST_STATUSES = [400, 408, 416, 417, 422, 431] as const;
export const INVALID_REQUEST = {
  cause: 'The request cannot be read, or a field is wrong; details.fields then has each field and the reason.',
  cure: 'Correct what the message names.',
} as const;

export type ErrorCode = keyof typeof ERROR_CATALOGUE | 'invalid_request';
export const ERROR_CODES = [...Object.keys(ERROR_CATALOGUE), 'invalid_request'] as ErrorCode[];

/** One fault of one field: `field` is a path such as `metadata.user`, `reason` a sentence or a listed code. */
export interface FieldError {
  field: string;
  reason: string;
}

export const ErrorEnvelopeSchema = z
  .object({
    error: z.object({
      code: z.string(),
      message: z.string(),
      details: z.record(z.string(), z.unknown()).nullable().optional(),
    }),
  })
  .meta({ id: 'ErrorEnvelope', description: 'The body of every HTTP error.' });
export type ErrorEnvelope = z.infer<typeof ErrorEnvelopeSchema>;
