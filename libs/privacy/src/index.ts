export {
  composeAccountExports,
  composeErasureAudit,
  composeErasureChores,
  composeErasures,
  composeReappliedErasures,
} from './composition';
export { ERASURE_COUNTS, Erasures, type Erasure } from './erasure';
export { AccountExports, JOBS_PAGE_BYTES } from './export';
export { privacySettings } from './privacy.settings';
