import { SubmissionDefaultsSchema } from '@millrace/contracts';
import { defineEndpoint } from '../endpoints';

const path = '/platform/v1/account/submission-defaults';

export const getSubmissionDefaults = defineEndpoint({
  id: 'getSubmissionDefaults',
  method: 'get',
  path,
  tag: 'account',
  access: { by: 'api_key', scope: 'jobs:read' },
  summary: 'Read the defaults of submissions',
  description: 'What applies to a submission of the account that does not say it by a header.',
  answers: { 200: { description: 'The defaults.', schema: SubmissionDefaultsSchema } },
});

export const putSubmissionDefaults = defineEndpoint({
  id: 'putSubmissionDefaults',
  method: 'put',
  path,
  tag: 'account',
  access: { by: 'api_key', scope: 'jobs:write' },
  summary: 'Set the defaults of submissions',
  description:
    'Applies to submissions of every key of the account, within a few seconds. A header of a submission goes before it. Jobs that are ' +
    'there keep what they were submitted with.',
  body: SubmissionDefaultsSchema,
  example: { retry: { max: 2, on: ['engine_error', 'worker_lost'], pause_seconds: 30 } },
  answers: { 200: { description: 'The defaults as they are now.', schema: SubmissionDefaultsSchema } },
});
