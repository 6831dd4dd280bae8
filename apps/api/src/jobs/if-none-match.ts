/** The header by which a client says what it has. */
export const IF_NONE_MATCH = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  description: 'The `ETag` of an answer that you have, or several, comma-separated.',
  schema: { type: 'string' },
} as const;
