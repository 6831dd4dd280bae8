import { z } from 'zod';

/** Fields that are reserved for a later version; a submission with one is refused (contract, section 9). */
export const RESERVED_FIELDS = ['webhook_url', 'inputs'] as const;

/** The closed set of keys of `extra_data`: that of the contract, and those that existing clients send. */
export const EXTRA_DATA_KEYS = ['api_key_vendor_org', 'api_key_comfy_org', 'auth_token_comfy_org'] as const;
export type ExtraDataKey = (typeof EXTRA_DATA_KEYS)[number];
export type ExtraData = Partial<Record<ExtraDataKey, string>>;

/**
 * The most that is forwarded for one job: characters (UTF-16 code units) of a credential, and bytes of all of them as JSON. They
 * wait in a Redis that all accounts share. A credential travels in the header of a request, of which servers take 16 KiB at most.
 */
export const EXTRA_DATA_LIMITS = { characters: 16_384, bytes: 32_768 } as const;

const credential = z.string().max(EXTRA_DATA_LIMITS.characters).nullish();
const ExtraDataSchema = z
  .strictObject({ api_key_vendor_org: credential, api_key_comfy_org: credential, auth_token_comfy_org: credential })
  .meta({
    id: 'ExtraData',
    description:
      'Credentials for partner nodes: forwarded to the worker, never stored. null is as if absent. All of them have at most ' +
      `${EXTRA_DATA_LIMITS.bytes} bytes as JSON.`,
  });

export const JobSubmissionSchema = z
  .object({
    workflow: z.record(z.string(), z.unknown()).meta({ description: 'API-format graph, taken verbatim.' }),
    metadata: z
      .record(z.string(), z.string())
      .nullish()
      .meta({ description: 'Labels of the job. null is as if absent.' }),
    extra_data: ExtraDataSchema.nullish(),
  })
  .meta({ id: 'JobSubmission' });

/** What can be wrong with an input of a node (wire supplement, section 2). */
export const NODE_ERROR_REASONS = [
  'missing_input',
  'unknown_node_class',
  'bad_link',
  'bad_output_slot',
  'type_mismatch',
  'invalid_type',
  'below_min',
  'above_max',
  'not_in_list',
  'dependency_cycle',
  'no_outputs',
  'not_an_object',
] as const;
export type NodeErrorReason = (typeof NODE_ERROR_REASONS)[number];

/** One fault of one node. `message` is additive: a sentence for people that says what was expected. */
export interface NodeError {
  field: string;
  reason: NodeErrorReason;
  message: string;
}
/** Node id (`""` for the graph as a whole) to its faults. */
export type NodeErrors = Record<string, NodeError[]>;

/**
 * Longest id of a node, name of an input and name of a class, in UTF-16 code units. The names of real graphs have fewer than
 * 100; outputs are indexed under the id of their node, and an index of PostgreSQL takes about 2,700 bytes.
 */
export const GRAPH_NAME_LENGTH = 256;
/** The most nodes of a graph. */
export const MAX_GRAPH_NODES = 5_000;

/** What an engine runs at once, and how it is to be given files. */
export interface RunLimits {
  /** Nodes that a run computes: those that an output needs. */
  maxNodes: number;
  /** Of these, nodes in a row, each depending on the next. */
  maxDepth: number;
  /** Names of input files, and paths, must stand in the graph itself: the engine checks them before the run, and a link brings them later. */
  literalFiles: boolean;
}

/**
 * ComfyUI repeats every node that has begun in each message about progress (18 MB for a run of 300 nodes, 98 MB for 700), and works out cache keys
 * along the whole chain before its first node (2.3 s for 300 in a row, 22 s for 700).
 */
export const COMFYUI_RUN_LIMITS: Readonly<RunLimits> = { maxNodes: 300, maxDepth: 300, literalFiles: true };

/** @param engine its kind, as workers publish it. @returns null where a run may be all that a submission may be. */
export function runLimitsOf(engine: string): RunLimits | null {
  return engine === 'comfyui' ? COMFYUI_RUN_LIMITS : null;
}

/**
 * A key made by the client, by which a retry is safe: a string (contract, 4.1), of 1 to 255 printable ASCII characters as official
 * clients send it. HTTP drops spaces at the ends of a header, so none begins or ends with one.
 */
export const IDEMPOTENCY_KEY = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/;
/** Operations that take such a key; each has its own keys. */
export const IDEMPOTENT_OPERATIONS = ['postJobs', 'postAssets'] as const;
export type IdempotentOperation = (typeof IDEMPOTENT_OPERATIONS)[number];
