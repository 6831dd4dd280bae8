import type { JobStatus, TerminalStatus } from '@millrace/contracts';

/** The contract's terminal states (section 3). The types refuse a list that differs. */
const ENDED: Record<TerminalStatus, true> = { succeeded: true, canceled: true, failed: true, expired: true };

/** Whether a job of this status changes no more. */
export const isEnded = (status: JobStatus): status is TerminalStatus => Object.hasOwn(ENDED, status);
