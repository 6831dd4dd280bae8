import { z } from 'zod';

/** A name that people give to a record. Control characters would let one record pass for another in a list or a log. */
export const recordName = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .regex(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]*$/u, 'must have no control characters');

/** A time with a zone (RFC 3339), read as a Date. */
export const time = z.iso
  .datetime({ offset: true, error: 'must be a time with a zone, e.g. 2030-01-31T12:00:00Z' })
  .transform((text) => new Date(text));

/** A time with a zone, or the begin of a day of UTC, as a query says it. */
export const dayOrTime = z
  .union([z.iso.date(), z.iso.datetime({ offset: true })], {
    error: 'must be a day (2026-11-01) or a time with a zone (2026-11-01T12:00:00Z)',
  })
  .transform((text) => new Date(text));

/** When something expires; null or absent means never. */
export const expiry = time
  .refine((at) => at.getTime() > Date.now(), 'must be in the future')
  .nullable()
  .default(null);

/** An address of mail, as mail servers take it without quotes (RFC 5321, 4.1.2). */
export const EMAIL = z
  .string()
  .trim()
  .max(254)
  .regex(
    /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9-]{1,63}(\.[A-Za-z0-9-]{1,63}){1,8}$/,
    'must be an address such as ada@example.com',
  );
