export { composeErasures, composeErasureChores, composeAccountExports } from './composition';
export { ERASURE_COUNTS, Erasures, type Erasure } from './erasure';
export { AccountExports, type ExportedFile } from './export';
export { privacySettings, type PrivacySettings } from './privacy.settings';
