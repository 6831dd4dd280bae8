import { ERROR_CATALOGUE, INVALID_REQUEST, INVALID_REQUEST_STATUSES, JOB_ERROR_CATALOGUE } from '@millrace/contracts';
import { AdminModule } from '../admin.module';
import { endpointsOfModule } from '../endpoints';
import { PublicModule } from '../public.module';
import { describeAdminApi } from './admin-document';
import { describeApi } from './api-document';
import type { OpenApiDocument } from './openapi-types';
import { describePlatformApi } from './platform-document';

/** Pages of docs/ that are made from the code: name and text. */
export function generatedDocs(): { name: string; text: string }[] {
  const served = endpointsOfModule(PublicModule);
  return [
    { name: 'openapi.json', text: textOf(describeApi(served)) },
    { name: 'platform-openapi.json', text: textOf(describePlatformApi(served)) },
    { name: 'admin-openapi.json', text: textOf(describeAdminApi(endpointsOfModule(AdminModule))) },
    { name: 'errors.md', text: errorPage() },
  ];
}

function textOf(document: OpenApiDocument): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}

const INTRODUCTION = `# Errors

Made from \`libs/contracts/src/errors/errors.ts\` and \`job-errors.ts\` beside it; change it there and run \`node dist/apps/api/src/openapi/write-docs.js\`.

Every error answer, of any cause, is \`{"error": {"code", "message", "details"}}\`, with \`details\` only where there is more
to say. Decide by \`code\`; the message is for people. Every answer carries \`X-Request-Id\`. Every 429 carries \`Retry-After\`:
whole seconds, at least 1.

A failure while a job runs is not an HTTP error: it is in \`job.error\`, and [below](#errors-of-jobs).

## Errors of requests
`;

const OF_JOBS = `## Errors of jobs

\`job.error\` of a job whose status is \`failed\`. What each way to end is charged is in [credits.md](credits.md).
`;

function errorPage(): string {
  const entries = [
    ...Object.entries(ERROR_CATALOGUE).map(([code, facts]) => ({ code, ...facts, status: String(facts.status) })),
    { code: 'invalid_request', ...INVALID_REQUEST, status: INVALID_REQUEST_STATUSES.join(', ') },
  ].sort((a, b) => a.status.localeCompare(b.status) || a.code.localeCompare(b.code));
  const sections = entries.map(
    ({ code, status, cause, cure }) => `### \`${code}\`\n\n${status}. ${cause}\n\n**Cure:** ${cure}\n`,
  );
  const ofJobs = Object.entries(JOB_ERROR_CATALOGUE).map(
    ([code, { cause, cure }]) => `### \`${code}\`\n\n${cause}\n\n**Cure:** ${cure}\n`,
  );
  return [INTRODUCTION, ...sections, OF_JOBS, ...ofJobs].join('\n');
}
