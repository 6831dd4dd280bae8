import type { z } from 'zod';
import type { ExportDelivery, ExportDestination } from '@millrace/billing';
import type { ExportDeliverySchema, ExportDestinationSchema } from './export-destination.schemas';

/** What a destination looks like on the wire: never its secret. */
export function presentDestination(destination: ExportDestination): z.output<typeof ExportDestinationSchema> {
  return {
    bucket: destination.bucket,
    region: destination.region,
    endpoint: destination.endpoint,
    access_key_id: destination.accessKeyId,
    prefix: destination.prefix,
    enabled: destination.disabledAt === null,
    disabled_at: destination.disabledAt?.toISOString() ?? null,
    disabled_reason: destination.disabledReason,
    failing_since: destination.failingSince?.toISOString() ?? null,
    created_at: destination.createdAt.toISOString(),
    updated_at: destination.updatedAt.toISOString(),
  };
}

/** What a delivery looks like in the list. */
export function presentDelivery(delivery: ExportDelivery): z.output<typeof ExportDeliverySchema> {
  return {
    id: delivery.id,
    day: delivery.day,
    state: delivery.state,
    location: delivery.location,
    usage: sumsOf(delivery.usageRows, delivery.usageMicros),
    ledger: sumsOf(delivery.ledgerRows, delivery.ledgerMicros),
    created_at: delivery.createdAt.toISOString(),
    ended_at: delivery.endedAt?.toISOString() ?? null,
    next_attempt_at: delivery.dueAt?.toISOString() ?? null,
    attempts: delivery.attempts.map(({ attempt, at, error, durationMs }) => ({
      attempt,
      at: at.toISOString(),
      error,
      duration_ms: durationMs,
    })),
  };
}

function sumsOf(rows: bigint | null, micros: bigint | null): { rows: number; charged_micros: number } | null {
  return rows === null || micros === null ? null : { rows: Number(rows), charged_micros: Number(micros) };
}
