import { z } from 'zod';
import { PREVIEW_BYTES, PreviewSchema } from '../events';
import { JobErrorSchema, JobStatusSchema, ProgressSchema } from '../job';
import { DispatchMessageSchema } from '../messages';
import { InputSpecSchema, NodeClassSchema, OutputSpecSchema } from '../node-catalogue';
import { listToFirstFault, recordToFirstFault } from './first-fault';

/*
 * What a worker outside the cluster and the gateway say to each other: JSON over HTTPS, apart from bytes. The worker asks, the
 * gateway answers; nothing is ever sent to a worker that did not ask.
 */

/** The version of these shapes. It changes when a worker or a gateway of the version before could not be understood any more. */
export const GATEWAY_PROTOCOL = 1;

/** Path under which the gateway serves all of it. */
export const GATEWAY_PATH = '/gateway/v1';

/** Headers that a worker sends beside its token: in every request, with every request for an attempt, and with the bytes of a part. */
export const GATEWAY_HEADERS = {
  protocol: 'millrace-gateway-protocol',
  lease: 'millrace-lease',
  upload: 'millrace-upload',
} as const;

/** How long the gateway lets a worker wait for a message, in milliseconds: less than proxies let a connection be idle. */
export const GATEWAY_POLL_MS = 20_000;

/** Longest text of one field that a worker reports of itself. */
const SHORT = 200;
/** Longest text for an operator in a report of a worker, in UTF-16 units; it cuts what is longer. */
export const REPORT_TEXT_LENGTH = 2_000;
const MAX_MODELS = 10_000;
const modelNames = listToFirstFault(z.string().max(1_024), MAX_MODELS);
/** A message as a worker sends it back. */
const SentMessageSchema = DispatchMessageSchema.extend({ models: listToFirstFault(z.string()).optional() });

/** What a worker must know before it joins its pool. */
export const GatewayTermsSchema = z.object({
  protocol: z.int(),
  version: z.string(),
  pool: z.string(),
  leaseSeconds: z.number(),
  maxOutputsPerJob: z.int(),
  logTailBytes: z.int(),
  /** A graph in API format that the worker runs before it is ready; absent or null: none. */
  warmUp: z.string().nullable().optional(),
  /** Size of the parts in which outputs are sent; the last one is smaller. */
  partBytes: z.int(),
  /** Whether models of the library can be read by this gateway. */
  servesModels: z.boolean().optional(),
  /** Whether those of the warm-up can be, too: for a worker of the pool that holds no attempt. */
  servesWarmUpModels: z.boolean().optional(),
});
export type GatewayTerms = z.infer<typeof GatewayTermsSchema>;

export const GatewayRegistrationSchema = z.object({
  engine: z.enum(['cpu', 'comfyui']),
  version: z.string().max(SHORT),
  host: z.string().max(SHORT),
  pid: z.int().min(0),
  capacity: z.int().min(1).max(1_024),
});
export type GatewayRegistration = z.infer<typeof GatewayRegistrationSchema>;

const WorkerStateSchema = z.enum(['starting', 'ready', 'draining', 'stopped']);

const Milliseconds = z.int().min(0).max(2_000_000_000);

export const GatewayReportSchema = z.object({
  state: WorkerStateSchema,
  residentModels: modelNames,
  diskModels: modelNames.optional(),
  /** What its cache of models can hold; absent: it has none. */
  modelCacheBytes: z.int().min(0).optional(),
  problem: z.string().max(REPORT_TEXT_LENGTH).nullable(),
  /** What is to be said of the models that the pool's deployment names; absent: nothing. */
  modelsNote: z.string().max(REPORT_TEXT_LENGTH).nullable().optional(),
  attemptMs: z.int().min(0).max(2_000_000_000).nullable().optional(),
  capacity: z.int().min(1).max(1_024).optional(),
  start: z
    .object({ bootMs: Milliseconds, modelsMs: Milliseconds.nullable(), warmUpMs: Milliseconds.nullable() })
    .optional(),
});
export type GatewayReport = z.infer<typeof GatewayReportSchema>;
/** Null: the gateway does not know the worker any more. */
export const GatewayReportAnswerSchema = z.object({ state: WorkerStateSchema.nullable() });

const SentInputSchema = InputSpecSchema.extend({
  options: listToFirstFault(z.union([z.string(), z.number(), z.boolean()])).optional(),
});
/** Inputs of a class, and outputs: node packs have hundreds of them. What describes a class goes through all of them. */
const MAX_PORTS = 2_000;
const SentClassSchema = NodeClassSchema.extend({
  inputs: recordToFirstFault(SentInputSchema, MAX_PORTS),
  outputs: listToFirstFault(OutputSpecSchema, MAX_PORTS),
});
/** `catalogue` as `NodeCatalogueSchema` has it. */
export const GatewayCatalogueSchema = z.object({
  engine: z.enum(['cpu', 'comfyui']),
  catalogue: recordToFirstFault(SentClassSchema),
});
export const GatewayCatalogueAnswerSchema = z.object({ digest: z.string() });

/** A message of the pool's lane that waits for the worker to claim or leave it; null: there was none in time. */
export const GatewayOfferSchema = z.object({ message: DispatchMessageSchema.nullable() });
export const GatewayLeftSchema = z.object({ message: SentMessageSchema });
/** Jobs of the worker that are to be canceled. */
export const GatewayControlsSchema = z.object({ cancel: z.array(z.uuid()) });

export const GatewayClaimSchema = z.object({
  message: SentMessageSchema,
  warm: modelNames,
  /** Models on the worker's disk beside those, and of those of the message what it would have to fetch; absent: none. */
  disk: modelNames.optional(),
  lacking: modelNames.optional(),
  /** The worker makes it for each claim: the token of the lease, by which it asks again. Absent: it never does. */
  claimId: z.uuid().optional(),
  /** Whether the worker reads a large graph by a request of its own; absent: it needs it in the answer. */
  graphApart: z.boolean().optional(),
});
export type GatewayClaim = z.infer<typeof GatewayClaimSchema>;
const leaseSeconds = z.number().positive().optional();

/** Everything that one attempt needs. `scope` is the same for all attempts of one account, and says nothing else of it. */
export const GatewayAttemptSchema = z.object({
  jobId: z.uuid(),
  attempt: z.int(),
  leaseToken: z.uuid(),
  scope: z.string(),
  poolId: z.string(),
  status: JobStatusSchema,
  /** Absent: it is large, and read apart, while the lease is renewed. */
  workflow: z.string().optional(),
  deadlineAt: z.iso.datetime(),
  hasSecrets: z.boolean(),
  models: z.array(z.string()),
  progress: ProgressSchema.nullable(),
  traceparent: z.string().nullable(),
  keepsLogs: z.boolean(),
  isHoldShort: z.boolean(),
  /** How long its lease lasts, as each heartbeat says again; absent: as the terms say. */
  leaseSeconds,
});
export type GatewayAttempt = z.infer<typeof GatewayAttemptSchema>;
export const GatewayClaimAnswerSchema = z.object({
  claimed: GatewayAttemptSchema.nullable(),
  left: DispatchMessageSchema.nullable(),
});

/** The graph of an attempt. */
export const GatewayGraphSchema = z.object({ workflow: z.string() });

const milliseconds = z.int().min(0);

export const GatewayHeartbeatSchema = z.object({ progress: ProgressSchema.nullable(), engineMs: milliseconds });
/** Null: the lease is lost. */
export const GatewayHeartbeatAnswerSchema = z.object({
  answer: z
    .object({
      status: JobStatusSchema,
      exhausted: z.boolean(),
      overtime: z.boolean(),
      /** How long the lease lasts from now on: gateways may be changing to another length. Absent: as before. */
      leaseSeconds,
    })
    .nullable(),
});
export type GatewayHeartbeatAnswer = z.infer<typeof GatewayHeartbeatAnswerSchema>;

/** Base64 has four characters for three bytes. */
const PREVIEW_LENGTH = (PREVIEW_BYTES / 3) * 4;
const SentPreviewSchema = PreviewSchema.extend({
  node_id: z.string().max(1_024),
  data_base64: z
    .string()
    .max(PREVIEW_LENGTH, `has more than ${PREVIEW_LENGTH} characters; send a JPEG of ${PREVIEW_BYTES} bytes at most`),
});

export const GatewayEventSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('progress'), progress: ProgressSchema }),
  z.object({ kind: z.literal('preview'), preview: SentPreviewSchema }),
]);
export type GatewayEvent = z.infer<typeof GatewayEventSchema>;

export const GatewayLogSchema = z.object({ text: z.string(), truncated: z.boolean() });

export const GatewayCredentialsSchema = z.object({ credentials: z.record(z.string(), z.string()).nullable() });

/** An input of the attempt. Without a `url` its bytes are at the gateway. */
export const GatewayInputSchema = z.object({
  filePath: z.string().nullable(),
  contentType: z.string(),
  sizeBytes: z.int(),
  /** What its bytes must have; a gateway of a version before does not say it. */
  hash: z.string().optional(),
  url: z.url().nullable(),
});
/** Whether bytes that arrived with another hash are damaged where they lie. */
export const GatewayDoubtSchema = z.object({ damaged: z.boolean() });

/** What the pool's deployment names for its workers to have before they are ready. */
export const GatewayPoolModelsSchema = z.object({
  models: z.array(z.object({ folder: z.string(), name: z.string() })),
});

/** Names of model files in the graph of an attempt. */
export const GatewayModelNamesSchema = z.object({ names: modelNames });
/** Those of them that the library has for the account of the attempt. */
export const GatewayModelsSchema = z.object({
  files: z.array(z.object({ folder: z.string(), name: z.string(), digest: z.string(), sizeBytes: z.int() })),
});
/** Where the bytes of a model are. Without a `url` they are at the gateway. Either place takes `Range`. */
export const GatewayModelPlaceSchema = z.object({ url: z.url().nullable() });

const partNumber = z.int().min(1).max(10_000);

/** One part of an output that is about to be sent. Without an `upload` it is the first part of a new one. */
export const GatewayPartSchema = z.object({
  upload: z.string().max(4_096).nullable(),
  number: partNumber,
  sizeBytes: z.int().min(0),
});
/** Where to PUT the part: to the store itself, or without a `url` to the gateway. */
export const GatewayPartAnswerSchema = z.object({ upload: z.string(), url: z.url().nullable() });

/** All parts have arrived. `hash` (`blake3:<hex>`) is what they must come to. */
export const GatewayUploadEndSchema = z.object({
  upload: z.string().max(4_096),
  parts: partNumber,
  hash: z.string().regex(/^blake3:[0-9a-f]{64}$/),
  name: z.string().max(1_024),
});
/** `receipt` stands for the stored bytes when the output is recorded; it is worth nothing to another attempt. */
export const GatewayStoredSchema = z.object({
  receipt: z.string(),
  contentType: z.string(),
  hash: z.string(),
  sizeBytes: z.int(),
});

export const GatewayOutputSchema = z.object({
  nodeId: z.string(),
  nodeIndex: z.int().min(0),
  ordinal: z.int().min(0),
  name: z.string(),
  contentType: z.string().max(SHORT),
  receipt: z.string().max(4_096),
});
export type GatewayOutput = z.infer<typeof GatewayOutputSchema>;
/** False: the lease is lost, and nothing was recorded. */
export const GatewayRecordedSchema = z.object({ recorded: z.boolean() });

const NodeTimingSchema = z.object({
  nodeId: z.string(),
  classType: z.string(),
  state: z.enum(['done', 'cached', 'running', 'failed']),
  ms: z.number().nullable(),
});
export const GatewayEndSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('finished'),
    result: z.object({
      ending: z.string(),
      failure: JobErrorSchema.nullable(),
      engineMs: milliseconds,
      progress: ProgressSchema.nullable(),
      nodes: listToFirstFault(NodeTimingSchema).nullable(),
      log: GatewayLogSchema.nullable(),
    }),
    /** The output that is recorded with the end. */
    last: GatewayOutputSchema.nullable(),
  }),
  z.object({
    kind: z.literal('handed_back'),
    /** The worker has no room for the models of the attempt; absent: it goes. */
    lack: z
      .object({
        message: z.string().max(2_000),
        neededBytes: z.int().min(0),
        nodeId: z.string().nullable(),
        /** What is in use takes the room, and will give it back; absent: false. */
        isPassing: z.boolean().optional(),
      })
      .optional(),
  }),
  z.object({
    kind: z.literal('given_up'),
    loss: z.discriminatedUnion('by', [
      z.object({ by: z.literal('engine'), reason: z.string(), engineMs: milliseconds }),
      z.object({ by: z.literal('worker'), reason: z.string() }),
    ]),
  }),
]);
export type GatewayEnd = z.infer<typeof GatewayEndSchema>;
/** False: nothing was recorded, because the last output has to be recorded before. */
export const GatewayEndAnswerSchema = z.object({ recorded: z.boolean() });
