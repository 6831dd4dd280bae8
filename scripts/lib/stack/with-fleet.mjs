/** Asks a stack in the background for the workers of deployments from the beginning. */
export const WITH_FLEET = '--fleet';
