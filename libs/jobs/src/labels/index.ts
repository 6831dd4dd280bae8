export { composeLabelRules, labelLoops } from './compose-labels';
export { AT_CAP, type AtCap, type LabelRule, type LabelUse, type RuleKey } from './label-rule';
export { labelOutlook, labelRooms } from './label-outlook.store';
export { LabelRooms } from './label-rooms';
export { ACCOUNT_LABEL, KEY_LABEL, capOf, labelRefusal, type Excess } from './label-refusal';
export { LabelRuleStore } from './label-rule.store';
export { LabelRules } from './label-rules.service';
export {
  countLabelsParts,
  countLaterParts,
  countedBy,
  dayMicros,
  inThisMonth,
  isCountedBy,
  isToday,
  labelCountsParts,
  leaveLabelsPart,
  lockUse,
  monthMicros,
  retentionByLabel,
  today,
  withinLabelsParts,
  type LabelCount,
} from './label-use.store';
export { withOwnLabels } from './own-labels';
