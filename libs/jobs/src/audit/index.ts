export { composeAudits } from './compose-audits';
export { JobAudit } from './job-audit';
