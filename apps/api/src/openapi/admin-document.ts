import { OPERATOR_COOKIE, type Endpoint } from '../endpoints';
import { describeEndpoints, type DocumentFrame } from './document';
import type { OpenApiDocument } from './openapi-types';

const DESCRIPTION = `
For operators of the service. Served only on the ops listener, never on the one that customers reach.

- **Every error is an envelope**: \`{error: {code, message, details?}}\`. Decide by \`error.code\`.
- **Every act is recorded** in the audit log, in the transaction of the act itself: who, from where, and why (\`Millrace-Reason\`).
- **Operators have roles**: \`viewer\`, \`operator\`, \`finance\`, \`admin\`. The shared admin token may do everything.
`.trim();

const FRAME: DocumentFrame = {
  title: 'Millrace admin API',
  version: '1.0.0',
  summary: 'Accounts, money and machines, for operators.',
  description: DESCRIPTION,
  tags: [
    { name: 'accounts', description: 'Accounts and their limits.' },
    { name: 'api-keys', description: "Accounts' keys." },
    { name: 'credits', description: "Accounts' credits." },
    { name: 'deployments', description: 'Surfaces with workers of their own: create, start, stop.' },
    { name: 'jobs', description: 'Jobs of all accounts.' },
    { name: 'models', description: 'Files of weights of all accounts, and which of them all may use.' },
    { name: 'pools', description: 'What workers serve.' },
    { name: 'privacy', description: 'What accounts have, handed out and erased.' },
    { name: 'queues', description: 'Waiting work.' },
    { name: 'workers', description: 'Processes that run jobs.' },
    { name: 'audit', description: 'The invariants, checked on demand.' },
    { name: 'audit-log', description: 'Who did what.' },
    { name: 'operators', description: 'Who may use this API, and with which role.' },
    { name: 'sessions', description: "Signing in to the operators' console." },
  ],
  servers: [
    {
      url: '{origin}',
      description: 'The ops listener.',
      variables: { origin: { default: 'http://localhost:9090', description: 'Scheme and host, without a path.' } },
    },
  ],
  security: [{ bearer: [] }, { session: [] }],
  credential: 'The shared admin token, MILLRACE_ADMIN_TOKEN, or an operator token (`createOperatorToken`).',
  session: {
    cookie: OPERATOR_COOKIE,
    description:
      "A session of the operators' console (`signInOperator`), in a request without an Authorization header. Every such request " +
      'must carry `Millrace-Console: 1`.',
  },
  paths: ['/admin/v1/'],
};

/** The admin API as an OpenAPI document: docs/admin-openapi.json. */
export function describeAdminApi(served: readonly Endpoint[]): OpenApiDocument {
  return describeEndpoints(FRAME, served);
}
