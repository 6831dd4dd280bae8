export { completeLockfile, missingPlatformPackages, unverifiedPackages } from './lockfile.mjs';
export { GENERATED_CLIENT, packageClosure, serviceRoots, SETUP_ROOTS } from './package-closure.mjs';
export { setUp } from './setup.mjs';
