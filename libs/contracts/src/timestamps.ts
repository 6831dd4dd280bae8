import { z } from 'zod';

/** A date and time with a zone, as every timestamp on the wire: RFC 3339 in UTC, `2026-11-21T06:23:00.000Z`. */
export const TimestampSchema = z.iso.datetime({ offset: true });
