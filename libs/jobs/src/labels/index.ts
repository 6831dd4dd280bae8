export { composeLabelRules, labelLoops } from './compose-labels';
export { type LabelRule, type LabelUse } from './label-rule';
export { labelOutlook } from './label-outlook.store';
export { labelRefusal } from './label-refusal';
export { LabelRuleStore } from './label-rule.store';
export { LabelRules } from './label-rules.service';
export { countLabelsParts, leaveLabelsPart, retentionByLabel, withinLabelsParts } from './label-use.store';
