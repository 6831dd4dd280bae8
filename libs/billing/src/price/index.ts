export {
  costMicros,
  creditsText,
  extensionMicros,
  isExhausted,
  MICROS_PER_CREDIT,
  type ExtensionTerms,
  type MeteredRun,
} from './price';
