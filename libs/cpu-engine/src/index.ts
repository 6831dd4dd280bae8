export { CpuEngine } from './cpu.engine';
