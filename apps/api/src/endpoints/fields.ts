import { z } from 'zod';

/** A name that people give to a record. Control characters would let one record pass for another in a list or a log. */
export const recordName = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .regex(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]*$/u, 'must have no control characters');
