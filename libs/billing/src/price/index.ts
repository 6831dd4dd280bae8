export { MICROS_PER_CREDIT, creditsText } from './amount';
export {
  chargeMicros,
  chargePart,
  costMicros,
  exhaustionPart,
  extensionMicros,
  extensionPart,
  isExhausted,
  needsMore,
  type BilledColumn,
  type ExtensibleColumn,
  type ExtensionTerms,
  type MeteredColumn,
  type MeteredRun,
} from './price.store';
