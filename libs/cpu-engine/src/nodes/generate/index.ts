import { millraceReactionDiffusion } from './reaction-diffusion/millrace-reaction-diffusion';

export const GENERATE_NODES = [millraceReactionDiffusion];
