import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { JOB_STATUSES } from '@millrace/contracts';
import { JobReads, type JobRecord } from '@millrace/jobs';
import { readMetadataFilter } from '../../jobs';
import { metadataInput } from '../graph-body';
import type { Tool, ToolAnswer, ToolCall } from '../tool';

const MAX_JOBS = 50;

const definition = {
  name: 'list_jobs',
  title: 'List jobs',
  description:
    'The jobs of this account here, newest first, in short. Use it to find a job whose id was lost. wait_for_job with wait_seconds 0 has ' +
    'all of one job.',
  scope: 'jobs:read',
  input: z.strictObject({
    status: z.enum(JOB_STATUSES).optional().describe('Only jobs in this state.'),
    metadata: metadataInput.optional().describe('Only jobs with these labels, at most three.'),
    limit: z.int().min(1).max(MAX_JOBS).default(10).describe('How many jobs to answer with.'),
    cursor: z.string().max(1_024).optional().describe('next_cursor of the page before.'),
  }),
  annotations: { readOnlyHint: true },
} as const;

/** Lists the jobs of the surface. */
@Injectable()
export class ListJobsTool implements Tool<typeof definition> {
  readonly definition = definition;

  constructor(private readonly reads: JobReads) {}

  async run(input: z.output<typeof definition.input>, { visitor }: ToolCall): Promise<ToolAnswer> {
    const { status = null, metadata = {}, limit, cursor = null } = input;
    const labels = Object.entries(metadata).map(([key, value]) => [`metadata[${key}]`, value]);
    const filter = { limit, cursor, status, createdAfter: null, createdBefore: null };
    const asked = readMetadataFilter(Object.fromEntries(labels) as Record<string, unknown>);
    const { jobs, nextCursor } = await this.reads.list(visitor.scope, { ...filter, metadata: asked });
    const value = { jobs: jobs.map(inShort) };
    return { value: nextCursor === undefined ? value : { ...value, next_cursor: nextCursor } };
  }
}

function inShort({ id, status, createdAt, completedAt, ...job }: JobRecord): object {
  return {
    id,
    status,
    created_at: createdAt.toISOString(),
    completed_at: completedAt?.toISOString() ?? null,
    metadata: job.metadata,
    outputs: job.outputs.length,
    error: job.error && { code: job.error.code, message: job.error.message },
    charged_micros: job.chargedMicros === null ? null : Number(job.chargedMicros),
  };
}
