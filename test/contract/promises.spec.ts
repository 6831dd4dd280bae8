import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ERROR_CATALOGUE, JOB_STATUSES, OUTPUT_TYPES, TERMINAL_STATUSES } from '@millrace/contracts';

interface Schema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  enum?: string[];
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
}
interface Operation {
  responses: Record<string, unknown>;
  parameters?: { name?: string; required?: boolean }[];
}
interface Document {
  info: { version: string };
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

const { info, paths, components } = JSON.parse(
  readFileSync(join(__dirname, '../../docs/openapi.json'), 'utf8'),
) as Document;

/**
 * The fields that v2 has promised: `!` is always there, `?` may be absent, `0` may be null. Changes within v2 are additive
 * (contract, 9.2): lines are added here and none is ever changed or removed.
 */
const FIELDS: Record<string, Record<string, string>> = {
  Job: {
    id: '! uuid',
    status: '! JobStatus',
    created_at: '! date-time',
    started_at: '!0 date-time',
    completed_at: '!0 date-time',
    expires_at: '! date-time',
    queue_position: '!0 integer',
    progress: '!0 Progress',
    outputs: '! array of Output',
    error: '!0 JobError',
    metadata: '! JobMetadata',
    metrics: '! JobMetrics',
    urls: '! JobUrls',
    logs: '? JobLogs',
  },
  Progress: {
    value: '! number',
    nodes_done: '! integer',
    nodes_total: '! integer',
    current_node: '?0 string',
    current_node_class: '?0 string',
    step: '?0 integer',
    steps: '?0 integer',
    message: '?0 string',
    staging: '? Staging',
  },
  Staging: { staged_bytes: '! integer', total_bytes: '! integer' },
  Output: {
    node_id: '! string',
    name: '! string',
    type: '! OutputType',
    content_type: '! string',
    size_bytes: '! int64',
    id: '! uuid',
    hash: '!0 BlobHash',
    url: '! uri',
    url_expires_at: '! date-time',
    job_id: '?0 uuid',
  },
  JobError: {
    code: '! string',
    message: '! string',
    node_id: '?0 string',
    class_type: '?0 string',
    traceback: '?0 string',
  },
  JobUrls: { self: '! uri-reference', events: '! uri-reference', cancel: '! uri-reference', logs: '? uri-reference' },
  JobLogs: { text: '! string', truncated: '! boolean', captured_at: '! date-time' },
  CapturedLogs: { text: '! string', truncated: '! boolean', captured_at: '! date-time', complete: '! boolean' },
  JobMetrics: { queue_ms: '!0 integer', execution_ms: '!0 integer' },
  JobPage: { jobs: '! array of JobListItem', next_cursor: '? string' },
  JobListItem: { create_time: '! date-time', update_time: '! date-time', deployment_id: '!0 string' },
  AssetPage: { assets: '! array of AssetListItem', next_cursor: '? string' },
  AssetListItem: { id: '! uuid', url: '! uri', expires_at: '!0 date-time', job_id: '? uuid' },
  Asset: {
    id: '! uuid',
    hash: '!0 BlobHash',
    size_bytes: '! int64',
    content_type: '! string',
    created_at: '! date-time',
    url: '! uri',
    url_expires_at: '! date-time',
    file_path: '?0 string',
    created_new: '? boolean',
    tags: '! array of string',
    expires_at: '!0 date-time',
    job_id: '? uuid',
  },
};

/** The operations, and the status of success. */
const OPERATIONS: [string, string, string[]][] = [
  ['post', '/api/v2/jobs', ['201', '401', '402', '403', '422', '429', '500']],
  ['get', '/api/v2/jobs', ['200', '400']],
  ['get', '/api/v2/jobs/{id}', ['200', '404']],
  ['get', '/api/v2/jobs/{id}/workflow', ['200', '404']],
  ['get', '/api/v2/jobs/{id}/logs', ['200', '204', '404']],
  ['get', '/api/v2/jobs/{id}/events', ['200', '404', '429']],
  ['post', '/api/v2/jobs/{id}/cancel', ['200', '404']],
  ['post', '/api/v2/assets', ['200', '201', '409', '413', '422']],
  ['get', '/api/v2/assets', ['200', '400']],
  ['post', '/api/v2/assets/from-hash', ['200', '201', '404']],
  ['head', '/api/v2/assets/by-hash/{hash}', ['200', '404']],
  ['get', '/api/v2/assets/{id}', ['200', '404']],
  ['delete', '/api/v2/assets/{id}', ['204', '404', '409']],
  ['get', '/api/v2/assets/{id}/content', ['200', '206', '302', '416']],
  ['get', '/api/v2/openapi.json', ['200']],
  ['get', '/api/v2/reference', ['200']],
];

/** What a request must hold: nothing is ever added, or requests that are right today would be refused. */
const REQUIRED: Record<string, string[]> = {
  JobSubmission: ['workflow'],
  AssetUploadForm: ['content_type', 'file_path', 'file'],
  AssetFromHashRequest: ['hash'],
};

/** A field as a line of `FIELDS` says it. */
function lineOf({ properties = {}, required = [] }: Schema, name: string): string {
  const field = properties[name];
  if (field === undefined) return 'it is gone';
  const kinds = (field.anyOf ?? [field]).flatMap(kindsOf);
  const named = kinds.filter((kind) => kind !== 'null');
  return `${required.includes(name) ? '!' : '?'}${named.length < kinds.length ? '0' : ''} ${named.join(' or ')}`;
}

function kindsOf({ $ref, format, type, items }: Schema): string[] {
  if ($ref !== undefined) return [$ref.slice($ref.lastIndexOf('/') + 1)];
  return [type].flat().map((one) => {
    if (one === 'array') return `array of ${kindsOf(items ?? {}).join(' or ')}`;
    return one === 'null' ? one : (format ?? one ?? 'anything');
  });
}

describe('what version 2 has promised stands', () => {
  it('is version 2.0.0, every path of which begins with its name, is a link that answers hold, or is of a protocol with versions of its own', () => {
    expect(info.version).toBe('2.0.0');
    const others = Object.keys(paths).filter((path) => !/^\/(api\/v2|content|upload-parts)\//.test(path));
    expect(others).toEqual(['/mcp']);
  });

  it.each(Object.entries(FIELDS))(
    'every field of %s, its kind, and whether it may be absent or null',
    (name, fields) => {
      const schema = components.schemas[name] ?? {};
      const lines = Object.keys(fields).map((field) => [field, lineOf(schema, field)]);
      expect(Object.fromEntries(lines)).toEqual(fields);
    },
  );

  it.each(OPERATIONS)('%s %s and its answers', (method, path, statuses) => {
    const answers = Object.keys(paths[path]?.[method]?.responses ?? {});
    expect(statuses.filter((status) => !answers.includes(status))).toEqual([]);
  });

  it.each(Object.entries(REQUIRED))('no request needs more than it did: %s', (name, fields) => {
    expect([...(components.schemas[name]?.required ?? [])].sort()).toEqual([...fields].sort());
  });

  it('no parameter that was not there has become necessary', () => {
    const needed = Object.values(paths).flatMap((item) =>
      Object.values(item).flatMap(({ parameters = [] }) =>
        parameters.filter(({ required }) => required === true).map(({ name }) => name),
      ),
    );
    expect([...new Set(needed)].sort()).toEqual(['account', 'expires', 'hash', 'id', 'key', 'number', 'signature']);
  });

  it('the closed lists: states of a job, those that nothing leaves, and kinds of output', () => {
    expect(JOB_STATUSES).toEqual(['queued', 'running', 'succeeded', 'canceling', 'canceled', 'failed', 'expired']);
    expect(TERMINAL_STATUSES).toEqual(['succeeded', 'canceled', 'failed', 'expired']);
    expect(OUTPUT_TYPES).toEqual(['image', 'video', 'audio', 'text', 'file', 'latent']);
  });

  it('every error code and its status', () => {
    const statuses = Object.entries(ERROR_CATALOGUE).map(([code, { status }]) => [code, status]);
    expect(Object.fromEntries(statuses)).toMatchObject({
      invalid_workflow: 422,
      workflow_format_ui: 422,
      missing_asset: 422,
      idempotency_key_reuse: 422,
      metadata_invalid: 422,
      deployment_stopped: 422,
      storage_full: 422,
      hash_mismatch: 409,
      asset_in_use: 409,
      blob_not_found: 404,
      not_found: 404,
      method_not_allowed: 405,
      payload_too_large: 413,
      unsupported_media_type: 415,
      queue_full: 429,
      label_limit: 429,
      label_spend_limit: 402,
      spend_cap: 402,
      deployment_not_ready: 429,
      rate_limited: 429,
      too_many_streams: 429,
      insufficient_credits: 402,
      unauthorized: 401,
      forbidden: 403,
      invalid_cursor: 400,
      invalid_metadata_filter: 400,
      upstream_error: 500,
    });
  });
});
