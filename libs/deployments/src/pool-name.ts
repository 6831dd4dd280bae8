import { z } from 'zod';

/** How a pool may be named; the shared one is `default`. The name is part of Redis keys. */
export const poolName = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, dashes and underscores')
  .default('default');
