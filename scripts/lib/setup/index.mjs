export { IMAGES, billOfMaterials, licenceFaults, licenceList } from './bill-of-materials.mjs';
export { prepareToBuild } from './build.mjs';
export { bundleOwnCode } from './bundle-code.mjs';
export { programs } from './bundles.mjs';
export { PROCESS_IMAGES, billOfProcess, contentsOf } from './image-contents.mjs';
export { completeLockfile, missingPlatformPackages, unverifiedPackages } from './lockfile.mjs';
export { GENERATED_CLIENT, packageClosure, SETUP_ROOTS } from './package-closure.mjs';
export { provenanceOf } from './provenance.mjs';
export { setUp } from './setup.mjs';
