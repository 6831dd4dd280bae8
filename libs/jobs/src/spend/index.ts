export { AdoptCappedJobsLoop } from './adopt-capped-jobs.loop';
export { CancelSpentJobsLoop } from './cancel-spent-jobs.loop';
export { MailSpendWarningsLoop } from './mail-spend-warnings.loop';
