export { AccessRulesService } from './access-rules.service';
export { AccessRulesStore, type AccessRules } from './access-rules.store';
export { AddressGate } from './address-gate';
