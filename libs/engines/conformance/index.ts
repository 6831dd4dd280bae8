/** What the specs of every engine are written with; not shipped. */
export { engineConformance, type EngineUnderTest } from './engine.conformance';
export {
  bytesOf,
  logOf,
  lossOf,
  outputsOf,
  quickestStopMs,
  scratchDir,
  startRun,
  textOf,
  type EventOf,
  type Graph,
  type RunUnderTest,
} from './run-workflow';
