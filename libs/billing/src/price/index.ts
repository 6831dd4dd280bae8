export { MICROS_PER_CREDIT, creditsText } from './amount';
export {
  type BilledColumn,
  type BilledRun,
  chargeMicros,
  chargePart,
  costMicros,
  exhaustionPart,
  extensionMicros,
  extensionPart,
  type ExtensionTerms,
  isExhausted,
  type MeteredColumn,
  type MeteredRun,
} from './price.store';
