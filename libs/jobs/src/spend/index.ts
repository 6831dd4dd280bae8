export { AdoptCappedJobsLoop } from './adopt-capped-jobs.loop';
export { CancelSpentJobsLoop } from './cancel-spent-jobs.loop';
export { composeSpendCaps } from './compose-spend';
export { MailSpendWarningsLoop } from './mail-spend-warnings.loop';
export { noteCapReached, noteCapsReached } from './note-cap-reached';
export { RecountKeyCapsLoop } from './recount-key-caps.loop';
export { SpendCapStore, type SpendCap } from './spend-cap.store';
export { SpendCaps, type SpendCapDraft } from './spend-caps.service';
export { mostUsed, showsStanding, type SpendStanding } from './spend-standing';
