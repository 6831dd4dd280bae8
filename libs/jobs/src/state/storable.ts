import type { Progress } from '@millrace/contracts';
import { storable } from '@millrace/database';
import { boundedFailure } from './bounded-failure';
import { boundedProgress, boundedTimings } from './bounded-run';
import type { JobFailure, NodeTiming } from './job';

/** Why a job or an attempt failed, as JSON text that PostgreSQL can store, of bounded size; null for null. */
export function failureOrNull(failure: JobFailure | null): string | null {
  return failure && storableJson(boundedFailure(failure));
}

/** What a worker reports of its progress, as JSON text that PostgreSQL can store, of bounded size; null for null. */
export function progressOrNull(progress: Progress | null): string | null {
  return progress && storableJson(boundedProgress(progress));
}

/** The times of nodes, as JSON text that PostgreSQL can store, of bounded size; null for null. */
export function timingsOrNull(nodes: readonly NodeTiming[] | null): string | null {
  return nodes && storableJson(boundedTimings(nodes));
}

/** A value as JSON text that PostgreSQL can store: every text in it is `storable`, names of fields too. */
export function storableJson(value: object): string {
  return JSON.stringify(value, (_, inner: unknown) => {
    if (typeof inner === 'string') return storable(inner);
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner;
    // Defines own properties: a name `__proto__` stays one.
    return Object.fromEntries(Object.entries(inner).map(([name, field]) => [storable(name), field as unknown]));
  });
}
