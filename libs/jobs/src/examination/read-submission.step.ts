import {
  EXTRA_DATA_KEYS,
  EXTRA_DATA_LIMITS,
  METADATA_KEY,
  METADATA_LIMITS,
  RESERVED_FIELDS,
  Refusal,
  beginningOf,
  faultOfMetadataValue,
  type ExtraData,
  type FieldError,
  type JobMetadata,
} from '@millrace/contracts';
import {
  JsonSyntaxError,
  isUiFormat,
  jsonFault,
  member,
  members,
  parseJson,
  workflowOf,
  type JsonNode,
  type WorkflowGraph,
} from '@millrace/workflow';

/** With more keys than that each is no longer looked at. */
const EXTRA_DATA_PAIRS = 16;

/** Of a name that a client chose, in the field of a fault, in UTF-16 units. */
export const SHOWN_NAME_LENGTH = 80;

/** What a client asks for, read from the body and checked against nothing stored yet. */
export interface RequestedJob {
  graph: WorkflowGraph;
  metadata: JobMetadata;
  extraData: ExtraData | null;
}

/**
 * Read the body of a submission. Unknown fields beside the known ones are ignored: newer clients send more.
 *
 * @param bytes JSON in UTF-8.
 * @throws Refusal `invalid_request`, `metadata_invalid` or `workflow_format_ui`.
 */
export function readSubmission(bytes: Uint8Array): RequestedJob {
  const body = textOf(bytes);
  return requestedJob(parseBody(body), body);
}

/**
 * What a parsed submission asks for.
 *
 * @param text that `root` was parsed from, and is a part of.
 * @throws Refusal as `readSubmission` does.
 */
export function requestedJob(root: JsonNode, text: string): RequestedJob {
  if (root.kind !== 'object') throw Refusal.ofFields([{ field: '', reason: 'a submission must be a JSON object' }]);
  const faults: FieldError[] = RESERVED_FIELDS.filter((field) => member(root, field) !== undefined).map((field) => ({
    field,
    reason: 'is reserved for a later version and cannot be sent',
  }));
  const workflow = member(root, 'workflow');
  if (workflow === undefined) faults.push({ field: 'workflow', reason: 'is required: the graph in API format' });
  else if (workflow.kind !== 'object') faults.push({ field: 'workflow', reason: 'must be an object' });
  const extraData = readExtraData(member(root, 'extra_data'), faults);
  if (faults.length > 0 || workflow === undefined) throw Refusal.ofFields(faults);
  const metadata = readMetadata(member(root, 'metadata'));
  if (isUiFormat(workflow)) {
    throw new Refusal(
      'workflow_format_ui',
      'This is a graph as the editor saves it, with nodes and links. Export it in API format and submit that.',
    );
  }
  return { graph: workflowOf(workflow, text), metadata, extraData };
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Refusal('invalid_request', 'The body is not valid UTF-8.', { status: 400 });
  }
}

function parseBody(body: string): JsonNode {
  let root: JsonNode;
  try {
    root = parseJson(body);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw new Refusal('invalid_request', jsonFault(error), { status: 400 });
  }
  if (root.kind !== 'object') throw Refusal.ofFields([{ field: '', reason: 'the body must be a JSON object' }]);
  return root;
}

function readExtraData(node: JsonNode | undefined, faults: FieldError[]): ExtraData | null {
  if (node === undefined || node.kind === 'null') return null;
  if (node.kind !== 'object') {
    faults.push({ field: 'extra_data', reason: 'must be an object' });
    return null;
  }
  const extraData: ExtraData = {};
  const pairs = members(node);
  if (pairs.size > EXTRA_DATA_PAIRS) {
    faults.push({ field: 'extra_data', reason: `has ${pairs.size} keys; it takes ${EXTRA_DATA_KEYS.join(', ')}` });
    return null;
  }
  for (const [key, value] of pairs) {
    const known = EXTRA_DATA_KEYS.find((name) => name === key);
    const field = `extra_data.${beginningOf(key, SHOWN_NAME_LENGTH)}`;
    if (known === undefined) faults.push({ field, reason: `is not known; use ${EXTRA_DATA_KEYS.join(', ')}` });
    else if (value.kind === 'string') extraData[known] = value.value;
    else if (value.kind !== 'null') faults.push({ field, reason: 'must be a string' });
  }
  faults.push(...faultsOfSize(extraData));
  return Object.keys(extraData).length === 0 ? null : extraData;
}

function faultsOfSize(extraData: ExtraData): FieldError[] {
  const most = EXTRA_DATA_LIMITS;
  const long = Object.entries(extraData).filter(([, { length }]) => length > most.characters);
  if (long.length > 0) {
    return long.map(([key, { length }]) => {
      const reason = `has ${length} characters; at most ${most.characters} are forwarded`;
      return { field: `extra_data.${key}`, reason };
    });
  }
  const bytes = Buffer.byteLength(JSON.stringify(extraData));
  if (bytes <= most.bytes) return [];
  return [{ field: 'extra_data', reason: `has ${bytes} bytes as JSON; at most ${most.bytes} are forwarded` }];
}

function readMetadata(node: JsonNode | undefined): JobMetadata {
  if (node === undefined || node.kind === 'null') return {};
  if (node.kind !== 'object') throw Refusal.ofMetadata([{ field: 'metadata', reason: 'must be an object of strings' }]);
  const pairs = members(node);
  const faults: FieldError[] = [];
  if (pairs.size > METADATA_LIMITS.pairs) {
    faults.push({ field: 'metadata', reason: `has ${pairs.size} pairs; at most ${METADATA_LIMITS.pairs} are kept` });
  }
  const metadata: [string, string][] = [];
  for (const [key, value] of [...pairs].slice(0, METADATA_LIMITS.pairs)) {
    const reason = faultOfPair(key, value);
    if (reason !== null) faults.push({ field: `metadata.${beginningOf(key, SHOWN_NAME_LENGTH)}`, reason });
    else if (value.kind === 'string') metadata.push([key, value.value]);
  }
  if (faults.length > 0) throw Refusal.ofMetadata(faults);
  return Object.fromEntries(metadata);
}

function faultOfPair(key: string, value: JsonNode): string | null {
  if (!METADATA_KEY.test(key)) return 'keys are 1 to 40 letters, digits, dots, dashes and underscores';
  if (value.kind !== 'string') return 'must be a string';
  return faultOfMetadataValue(value.value);
}
