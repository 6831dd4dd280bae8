import { ACCOUNT_LABEL, KEY_LABEL, type SpendStanding } from '@millrace/jobs';
import type { AnswerHeader } from './described';

const NAME = 'Millrace-Spend-Warning';

export const SPEND_WARNING: AnswerHeader = {
  description:
    'Caps of which half or more is used, and how much, in percent: 50, 80 or 100, the most that it came to in the day or month. A list of ' +
    '`account`, `key` and `label`, such as `account;day=80, label;name="user";month=50`. Absent where there is none.',
  schema: { type: 'string', examples: ['account;day=80'] },
};

/** The header of a submission's answer; null where nothing is to be said. */
export function spendWarning(spend: readonly SpendStanding[]): [name: string, value: string] | null {
  return spend.length === 0 ? null : [NAME, spend.map(itemOf).join(', ')];
}

function itemOf({ label, day, month }: SpendStanding): string {
  const what = label === ACCOUNT_LABEL ? 'account' : label === KEY_LABEL ? 'key' : `label;name="${label}"`;
  return what + (day === 0 ? '' : `;day=${day}`) + (month === 0 ? '' : `;month=${month}`);
}
