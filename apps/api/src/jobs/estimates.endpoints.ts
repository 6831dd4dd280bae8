import { EstimateSchema, JobSubmissionSchema } from '@millrace/contracts';
import { REUSE_HEADER, SPEND_LIMIT_HEADER, defineEndpoint } from '../endpoints';
import { EXAMPLE_SUBMISSION } from './jobs.endpoints';

/** The graph's own text is examined, so the handler reads the body as it came. */
export const postEstimates = defineEndpoint({
  method: 'post',
  tag: 'jobs',
  access: { by: 'surface', scope: 'jobs:write' },
  id: 'postEstimates',
  path: '/platform/v1/estimates',
  summary: 'Estimate a submission',
  description:
    'Takes the body of a submission and says what it would come to now: whether it would be accepted, what would be held, and, ' +
    'from the run times of earlier jobs, what it will probably cost and how long it will run and wait. Nothing is recorded, and no ' +
    'worker is started. What would refuse the submission is in `error`, with every fault of the graph.\n\n' +
    'Earlier jobs count when they are of the same account and ran the same graph there: the same nodes, links, models, sizes and ' +
    'steps. Texts, seeds, files and fractions may differ.\n\n' +
    'For a deployment, send it to the address of the deployment: `/deployment/<id>/platform/v1/estimates`.',
  parameters: [REUSE_HEADER, SPEND_LIMIT_HEADER],
  quota: 'estimates',
  rawBody: { contentType: 'application/json', schema: JobSubmissionSchema },
  example: EXAMPLE_SUBMISSION,
  answers: { 200: { description: 'The estimate.', schema: EstimateSchema } },
  errors: ['invalid_field', 'payload_too_large', 'unsupported_media_type', 'late_body'],
});
