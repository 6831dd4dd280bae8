import { defineEndpoint, recordId } from '../endpoints';
import {
  LabelRuleListSchema,
  LabelRulePutSchema,
  LabelRuleSchema,
  LabelUseQuery,
  LabelUseSchema,
} from './label-rule.schemas';

const reads = { method: 'get', tag: 'labels', access: { by: 'api_key', scope: 'usage:read' } } as const;
const writes = { tag: 'labels', access: { by: 'api_key', scope: 'keys:admin' } } as const;

export const listLabelRules = defineEndpoint({
  ...reads,
  id: 'listLabelRules',
  path: '/platform/v1/label-rules',
  summary: 'List label rules',
  description: 'What the account allows jobs that carry a label, such as one of its end users.',
  answers: { 200: { description: 'The rules.', schema: LabelRuleListSchema } },
});

export const putLabelRule = defineEndpoint({
  ...writes,
  id: 'putLabelRule',
  method: 'put',
  path: '/platform/v1/label-rules',
  summary: 'Make or change a label rule',
  description:
    'The rule of a label and a value: how many jobs with it may not have ended, and what they may cost in a day and a month. It counts ' +
    'jobs that are submitted from now on. A submission beyond it is refused with 429 `label_limit` or 402 `label_spend_limit`, and the hold of ' +
    'a running job is not extended beyond it. The rule of a value goes before the one for every value.',
  body: LabelRulePutSchema,
  example: { label: 'user', value: 'ada', max_jobs: 5, daily_micros: 2_000_000 },
  answers: { 200: { description: 'The rule as it is now.', schema: LabelRuleSchema } },
});

export const deleteLabelRule = defineEndpoint({
  ...writes,
  id: 'deleteLabelRule',
  method: 'delete',
  path: '/platform/v1/label-rules/{id}',
  params: { id: recordId('label rule') },
  summary: 'Delete a label rule',
  description: 'Its limits no longer apply, to running jobs neither.',
  answers: { 204: { description: 'The rule is deleted.' } },
});

export const getLabelUse = defineEndpoint({
  ...reads,
  id: 'getLabelUse',
  path: '/platform/v1/label-use',
  query: LabelUseQuery,
  summary: 'Read what a label uses',
  description: 'What jobs with a label use of its rule. Usage without rules is in `getUsage`.',
  answers: { 200: { description: 'The use.', schema: LabelUseSchema } },
});
