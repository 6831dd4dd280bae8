export { EngineWarmUp, WarmUpFailed, type WarmUpTimes } from './engine-warm-up';
