export { Attempt, type AttemptParts } from './attempt';
