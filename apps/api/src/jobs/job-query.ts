import {
  JOB_STATUSES,
  METADATA_KEY,
  Refusal,
  faultOfMetadataValue,
  type JobMetadata,
  type JobStatus,
} from '@millrace/contracts';

export interface JobQuery {
  status: JobStatus | null;
  metadata: JobMetadata;
  cursor: string | null;
  limit: number;
}

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;
const MAX_FILTERS = 3;
const FILTER = /^metadata\[(.*)\]$/s;

/**
 * Read the query of a job list (wire supplement, section 1). Unknown parameters are ignored.
 *
 * @throws Refusal `invalid_request` or `invalid_metadata_filter`, both 400.
 */
export function parseJobQuery(query: Record<string, unknown>): JobQuery {
  return {
    status: statusOf(single(query, 'status')),
    limit: limitOf(single(query, 'limit')),
    cursor: single(query, 'cursor'),
    metadata: metadataOf(query),
  };
}

function single(query: Record<string, unknown>, name: string): string | null {
  const value = query[name];
  if (value === undefined) return null;
  if (typeof value === 'string') return value;
  throw badQuery(name, 'is given more than once');
}

function statusOf(text: string | null): JobStatus | null {
  if (text === null) return null;
  const status = JOB_STATUSES.find((known) => known === text);
  if (status === undefined) throw badQuery('status', `must be one of ${JOB_STATUSES.join(', ')}`);
  return status;
}

function limitOf(text: string | null): number {
  if (text === null) return DEFAULT_LIMIT;
  const limit = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > MAX_LIMIT) throw badQuery('limit', `must be a whole number from 1 to ${MAX_LIMIT}`);
  return limit;
}

function metadataOf(query: Record<string, unknown>): JobMetadata {
  const filters: [string, string][] = [];
  for (const [name, value] of Object.entries(query)) {
    if (name !== 'metadata' && !name.startsWith('metadata[')) continue;
    const key = FILTER.exec(name)?.[1];
    if (key === undefined || !METADATA_KEY.test(key)) throw badFilter(`${name.slice(0, 80)} does not name a key`);
    if (typeof value !== 'string') throw badFilter(`${key} is given more than once`);
    const fault = faultOfMetadataValue(value);
    if (fault !== null) throw badFilter(`the value of ${key} ${fault}, so that no job can have it`);
    filters.push([key, value]);
  }
  if (filters.length > MAX_FILTERS)
    throw badFilter(`there are ${filters.length} filters; at most ${MAX_FILTERS} apply`);
  return Object.fromEntries(filters);
}

function badQuery(field: string, reason: string): Refusal {
  return Refusal.ofFields([{ field, reason }], 400);
}

function badFilter(reason: string): Refusal {
  return new Refusal(
    'invalid_metadata_filter',
    `The metadata filter is not valid: ${reason}. Use metadata[key]=value.`,
  );
}
