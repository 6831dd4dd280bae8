export { JobAudit } from './job-audit';
export { LaneAudit } from './lane-audit';
