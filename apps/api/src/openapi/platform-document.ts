import { SESSION_COOKIE, type Endpoint } from '../endpoints';
import { describeEndpoints, type DocumentFrame } from './document';
import type { OpenApiDocument } from './openapi-types';

const DESCRIPTION = `
How an account manages itself: its keys, its limits and its usage. Jobs and assets are described elsewhere
(\`/api/v2/openapi.json\`).

- **Every error is an envelope**: \`{error: {code, message, details?}}\`. Decide by \`error.code\`. After a 429 wait as long as
  \`Retry-After\` says.
- **Scopes.** Every operation names the one scope that it requires of a key.
- **Changes within v1 are additive.** Ignore fields that you do not know.
`.trim();

const FRAME: DocumentFrame = {
  title: 'Millrace platform API',
  version: '1.0.0',
  summary: 'Accounts, keys and credits, for account holders.',
  description: DESCRIPTION,
  tags: [
    { name: 'account', description: 'The account of the key that asks.' },
    { name: 'api-keys', description: 'Create, replace and revoke keys.' },
    { name: 'deployments', description: 'Surfaces of the account alone, and their states.' },
    { name: 'credits', description: 'Balance, ledger, usage, statements.' },
    { name: 'labels', description: 'What jobs may use that carry a label.' },
    { name: 'models', description: 'Files of weights that graphs name.' },
    { name: 'privacy', description: 'What the account has, handed out and erased.' },
    { name: 'webhooks', description: 'Where events of the account are sent.' },
    { name: 'members', description: 'The people of the account.' },
    { name: 'audit', description: 'What was done to the account, and by whom.' },
    { name: 'sessions', description: 'Signing in to the console.' },
    { name: 'status', description: 'How the service does.' },
  ],
  servers: [
    {
      url: '{origin}',
      description: 'The public listener.',
      variables: { origin: { default: 'http://localhost:8080', description: 'Scheme and host, without a path.' } },
    },
  ],
  security: [{ bearer: [] }, { session: [] }],
  credential: 'An API key of the account.',
  session: {
    cookie: SESSION_COOKIE,
    description:
      'A session of the console (`signIn` of the platform API), in a request without an Authorization header. A request that ' +
      'changes something must carry `Millrace-Console: 1`. One with `Millrace-Account` is refused (`another_account`) when the session ' +
      'is of another account than that id names.',
  },
  paths: ['/platform/v1/', '/status'],
};

/** The platform API as an OpenAPI document: docs/platform-openapi.json. */
export function describePlatformApi(served: readonly Endpoint[]): OpenApiDocument {
  return describeEndpoints(FRAME, served);
}
