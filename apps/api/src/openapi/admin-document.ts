import { ADMIN_CONTROLLERS } from '../admin.controllers';
import { describeEndpoints } from './endpoint-document';
import type { OpenApiDocument } from './openapi-types';

const DESCRIPTION = `
What operators of the service do. On the ops listener only, never on the one that customers reach.

- **Every error is an envelope**: \`{error: {code, message, details?}}\`. Decide by \`error.code\`.
- **Every act is recorded** in the audit log, in the transaction of the act itself.
`.trim();

/** The admin API as an OpenAPI document. The same every time: docs/admin-openapi.json is compared with it. */
export function describeAdminApi(): OpenApiDocument {
  const frame = {
    title: 'Millrace admin API',
    summary: 'Accounts, money and machines, for operators.',
    description: DESCRIPTION,
    tags: [
      { name: 'accounts', description: 'Who may use the service, and how much of it.' },
      { name: 'api-keys', description: "Accounts' keys." },
      { name: 'credits', description: "Accounts' money." },
      { name: 'deployments', description: 'Surfaces with workers of their own: made, started, stopped.' },
      { name: 'jobs', description: "Anybody's jobs." },
      { name: 'queues', description: 'Work that waits.' },
      { name: 'workers', description: 'Processes that run jobs.' },
      { name: 'audit', description: 'The invariants, proven on demand.' },
      { name: 'audit-log', description: 'Who did what.' },
    ],
    servers: [
      {
        url: '{origin}',
        description: 'The ops listener.',
        variables: { origin: { default: 'http://localhost:9090', description: 'Scheme and host, without a path.' } },
      },
    ],
    credential: 'The admin token, MILLRACE_ADMIN_TOKEN.',
    path: '/admin/v1/openapi.json',
  };
  return describeEndpoints(frame, ADMIN_CONTROLLERS);
}
