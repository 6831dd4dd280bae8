import { PLATFORM_CONTROLLERS } from '../platform.controllers';
import { describeEndpoints } from './endpoint-document';
import type { OpenApiDocument } from './openapi-types';

const DESCRIPTION = `
What an account does with itself: its keys, its limits and what it uses. Jobs and assets are described elsewhere
(\`/api/v2/openapi.json\`).

- **Every error is an envelope**: \`{error: {code, message, details?}}\`. Decide by \`error.code\`. After a 429 wait as long as
  \`Retry-After\` says.
- **Scopes.** Every operation names the one scope that a key needs for it.
- **Changes within v1 are additive.** Ignore fields that you do not know.
`.trim();

/** The platform API as an OpenAPI document. The same every time: docs/platform-openapi.json is compared with it. */
export function describePlatformApi(): OpenApiDocument {
  const frame = {
    title: 'Millrace platform API',
    summary: 'Accounts, keys and credits, for account holders.',
    description: DESCRIPTION,
    tags: [
      { name: 'account', description: 'The account of the key that asks.' },
      { name: 'api-keys', description: 'Keys: made, replaced, revoked.' },
      { name: 'deployments', description: 'Surfaces of the account alone, and their states.' },
      { name: 'credits', description: 'Balance, ledger, usage, statements.' },
    ],
    servers: [
      {
        url: '{origin}',
        description: 'The public listener.',
        variables: { origin: { default: 'http://localhost:8080', description: 'Scheme and host, without a path.' } },
      },
    ],
    credential: 'An API key of the account.',
    path: '/platform/v1/openapi.json',
  };
  return describeEndpoints(frame, PLATFORM_CONTROLLERS);
}
