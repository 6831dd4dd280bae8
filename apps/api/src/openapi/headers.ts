import type { Header, Reference } from './openapi-types';

/** Headers that several answers carry. */
export const HEADERS = {
  RequestId: {
    description:
      'Id of the request: the one that was sent, where it has the form of `X-Request-Id`, else a new one. Give it to support. ' +
      '`X-Comfy-Request-Id` has it, too, for the official clients.',
    required: true,
    schema: { type: 'string' },
  },
  RateLimitPolicy: {
    description: 'The limit that the request counted against: its name, the quota `q` and the window `w` in seconds.',
    schema: { type: 'string' },
    example: '"requests";q=12000;w=60',
  },
  RateLimit: {
    description: 'What is left of that limit: `r` more, for the next `t` seconds.',
    schema: { type: 'string' },
    example: '"requests";r=11980;t=42',
  },
  RetryAfter: {
    description: 'Whole seconds to wait, at least 1.',
    required: true,
    schema: { type: 'integer', minimum: 1 },
  },
} as const satisfies Record<string, Header>;

export function headerRef(name: keyof typeof HEADERS): Reference {
  return { $ref: `#/components/headers/${name}` };
}
