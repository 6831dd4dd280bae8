export { CpuEngine, type CpuEngineSettings } from './cpu.engine';
