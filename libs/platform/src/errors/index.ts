export { answerOf, envelopeOf } from './error-answer';
