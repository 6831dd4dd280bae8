export { ProgressTracker } from './progress';
export { planProgress, type ProgressPlan } from './progress-plan';
