import { boundedFailure, type JobFailure } from '../state';

/** Why a job or an attempt failed, as JSON text that PostgreSQL can store, of bounded size; null for null. */
export function failureOrNull(failure: JobFailure | null): string | null {
  return failure && jsonOrNull(boundedFailure(failure));
}

/** A value as JSON text that PostgreSQL can store; null for null. */
export function jsonOrNull(value: unknown): string | null {
  return value === null ? null : JSON.stringify(value, (_, inner: unknown) => storable(inner));
}

/** PostgreSQL stores neither NUL nor half a surrogate pair; engines and their nodes print both. */
export function storable<T>(value: T): T {
  return (typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '\ufffd') : value) as T;
}
