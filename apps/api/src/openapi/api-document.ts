import { SESSION_COOKIE, type Endpoint } from '../endpoints';
import { describeEndpoints, type DocumentFrame } from './document';
import type { OpenApiDocument } from './openapi-types';

const DESCRIPTION = `
Runs node-graph workflows as durable jobs: upload inputs, submit a graph, follow it, fetch its outputs.

- **Polling is enough.** The event stream sends the same sooner, and never sends anything that polling does not show.
- **Follow links.** \`urls\` of a job are relative to the host and include the prefix of the surface: resolve them against
  the origin of the request, never against a base address with a path. Links to bytes are absolute.
- **Every error is an envelope**: \`{error: {code, message, details?}}\`. Decide by \`error.code\`. After a 429 wait as long as
  \`Retry-After\` says, then send the same request, with the same \`Idempotency-Key\`.
- **Changes within v2 are additive.** Ignore fields that you do not know.
- **Requests come from servers.** No CORS headers are sent, so that pages of other origins cannot read an answer: anyone
  can read an API key in a browser.
- **An id for every request.** \`X-Request-Id\` is accepted and echoed when it fits, and replaced when it does not.
`.trim();

const ORIGIN = { default: 'http://localhost:8080', description: 'Scheme and host, without a path.' };

const FRAME: DocumentFrame = {
  title: 'Millrace API',
  version: '2.0.0',
  summary: 'Node-graph workflows as durable jobs.',
  description: DESCRIPTION,
  tags: [
    { name: 'jobs', description: 'One execution of a workflow: durable, pollable, cancelable.' },
    { name: 'batches', description: 'Many jobs under one id, accepted together.' },
    { name: 'assets', description: 'Records over immutable bytes, which are known by their hash.' },
    {
      name: 'uploads',
      description: 'Large files, sent in parts that can be sent again. Smaller ones need one request.',
    },
    { name: 'mcp', description: 'The Model Context Protocol: what agents do with the service.' },
  ],
  // Where the surfaces are (contract, section 1).
  servers: [
    {
      url: '{origin}',
      description: 'A self-hosted surface, the cloud surface, or a deployment that has the host to itself.',
      variables: { origin: ORIGIN },
    },
    {
      url: '{origin}/deployment/{deployment_id}',
      description: 'A deployment under its prefix.',
      variables: {
        origin: ORIGIN,
        deployment_id: { default: '00000000-0000-0000-0000-000000000000', description: 'Id of the deployment.' },
      },
    },
  ],
  // A self-hosted surface is open unless it has a token; a public demo deployment requires none.
  security: [{ bearer: [] }, { session: [] }, {}],
  credential: 'An API key of the account; on a self-hosted surface its one token, if it has one.',
  session: {
    cookie: SESSION_COOKIE,
    description:
      'A session of the console (`signIn` of the platform API), in a request without an Authorization header. A request that ' +
      'changes something must carry `Millrace-Console: 1`. One with `Millrace-Account` is refused (`another_account`) when the session ' +
      'is of another account than that id names.',
  },
  paths: ['/api/v2/', '/content/', '/upload-parts/', '/mcp'],
};

/** The public API as an OpenAPI document: docs/openapi.json. */
export function describeApi(served: readonly Endpoint[]): OpenApiDocument {
  return describeEndpoints(FRAME, served);
}
