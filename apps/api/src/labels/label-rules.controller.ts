import { Controller } from '@nestjs/common';
import type { z } from 'zod';
import { AuditLog } from '@millrace/accounts';
import { LabelRules, type LabelRule } from '@millrace/jobs';
import { Serves, actorOf, type AnswerOf, type InputOf } from '../endpoints';
import type { LabelRuleSchema } from './label-rule.schemas';
import { deleteLabelRule, getLabelUse, listLabelRules, putLabelRule } from './label-rules.endpoints';

/** What the account allows jobs that carry a label. */
@Controller()
export class LabelRulesController {
  constructor(
    private readonly audit: AuditLog,
    private readonly rules: LabelRules,
  ) {}

  @Serves(listLabelRules)
  async list({ visitor }: InputOf<typeof listLabelRules>): Promise<AnswerOf<typeof listLabelRules>> {
    return { label_rules: (await this.rules.list(visitor.caller.accountId)).map(presentLabelRule) };
  }

  @Serves(putLabelRule)
  async put({ visitor, body, request }: InputOf<typeof putLabelRule>): Promise<AnswerOf<typeof putLabelRule>> {
    const { accountId } = visitor.caller;
    const { label, value, max_jobs: maxJobs, retention_seconds: retentionSeconds } = body;
    const [dailyMicros, monthlyMicros] = [microsOf(body.daily_micros), microsOf(body.monthly_micros)];
    const atCap = { dailyAtCap: body.daily_at_cap, monthlyAtCap: body.monthly_at_cap };
    const draft = { label, value, maxJobs, dailyMicros, monthlyMicros, ...atCap, retentionSeconds };
    const rule = await this.audit.record(actorOf(visitor.caller, request), async (tx, note) => {
      const made = await this.rules.put(tx, accountId, draft);
      const act = { action: 'label_rule.put', subjectType: 'label_rule', subjectId: made.id, accountId };
      note({ ...act, details: { rule: JSON.stringify(body) } });
      return made;
    });
    return presentLabelRule(rule);
  }

  @Serves(deleteLabelRule)
  async remove({ visitor, params, request }: InputOf<typeof deleteLabelRule>): Promise<void> {
    const { accountId } = visitor.caller;
    await this.audit.record(actorOf(visitor.caller, request), async (tx, note) => {
      const { label, value } = await this.rules.delete(tx, accountId, params.id);
      const act = { action: 'label_rule.delete', subjectType: 'label_rule', subjectId: params.id, accountId };
      note({ ...act, details: { label, value } });
    });
  }

  @Serves(getLabelUse)
  async use({ visitor, query }: InputOf<typeof getLabelUse>): Promise<AnswerOf<typeof getLabelUse>> {
    const { label, value, live, ...micros } = await this.rules.use(visitor.caller.accountId, query.label, query.value);
    const { heldMicros, dayMicros, monthMicros } = micros;
    const used = { held_micros: Number(heldMicros), day_micros: Number(dayMicros), month_micros: Number(monthMicros) };
    return { label, value, jobs: live, ...used };
  }
}

const microsOf = (micros: number | null): bigint | null => (micros === null ? null : BigInt(micros));
const numberOf = (micros: bigint | null): number | null => (micros === null ? null : Number(micros));

function presentLabelRule(rule: LabelRule): z.output<typeof LabelRuleSchema> {
  return {
    id: rule.id,
    label: rule.label,
    value: rule.value,
    max_jobs: rule.maxJobs,
    daily_micros: numberOf(rule.dailyMicros),
    monthly_micros: numberOf(rule.monthlyMicros),
    daily_at_cap: rule.dailyAtCap,
    monthly_at_cap: rule.monthlyAtCap,
    retention_seconds: rule.retentionSeconds,
    created_at: rule.createdAt.toISOString(),
    updated_at: rule.updatedAt.toISOString(),
  };
}
