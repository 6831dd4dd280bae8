export { composeLabelRules, composeSpendCaps, labelLoops } from './compose-labels';
export { AT_CAP, type LabelRule, type LabelUse } from './label-rule';
export { labelOutlook, labelRooms } from './label-outlook.store';
export { LabelRooms } from './label-rooms';
export { ACCOUNT_LABEL, KEY_LABEL, labelRefusal } from './label-refusal';
export { LabelRuleStore } from './label-rule.store';
export { LabelRules } from './label-rules.service';
export {
  countLabelsParts,
  countLaterParts,
  isCountedBy,
  labelCountsParts,
  leaveLabelsPart,
  retentionByLabel,
  withinLabelsParts,
  type LabelCount,
} from './label-use.store';
export { SpendCapStore, type FreshCap, type SpendCap, type SpentJob } from './spend-cap.store';
export { SpendMailStore, type DueWarning } from './spend-mail.store';
export { SpendCaps, type SpendCapDraft } from './spend-caps.service';
export { mostUsed, showsStanding, type SpendStanding } from './spend-standing';
export { noteCapReached, noteCapsReached } from './note-cap-reached';
export { withOwnLabels } from './own-labels';
