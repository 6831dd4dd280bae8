import type { Progress } from '@millrace/contracts';
import { boundedFailure, boundedProgress, boundedTimings, type JobFailure, type NodeTiming } from '../state';

/** Why a job or an attempt failed, as JSON text that PostgreSQL can store, of bounded size; null for null. */
export function failureOrNull(failure: JobFailure | null): string | null {
  return failure && jsonOrNull(boundedFailure(failure));
}

/** What a worker reports of its progress, as JSON text that PostgreSQL can store, of bounded size; null for null. */
export function progressOrNull(progress: Progress | null): string | null {
  return progress && jsonOrNull(boundedProgress(progress));
}

/** The times of nodes, as JSON text that PostgreSQL can store, of bounded size; null for null. */
export function timingsOrNull(nodes: readonly NodeTiming[] | null): string | null {
  return nodes && jsonOrNull(boundedTimings(nodes));
}

/** A value as JSON text that PostgreSQL can store; null for null. */
function jsonOrNull(value: unknown): string | null {
  return value === null ? null : JSON.stringify(value, (_, inner: unknown) => storable(inner));
}

/** PostgreSQL stores neither NUL nor half a surrogate pair; engines and their nodes print both. */
export function storable<T>(value: T): T {
  return (typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '\ufffd') : value) as T;
}
