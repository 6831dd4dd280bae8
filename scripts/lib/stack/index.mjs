export { appSpec, baseEnvironment } from './apps.mjs';
export { startInBackground } from './background.mjs';
export { startFaultyStack } from './faulty-stack.mjs';
export { introduce } from './introduction.mjs';
export { withoutSettings } from './own-settings.mjs';
export { choosePorts, startStack, untilEnded } from './stack.mjs';
export { assertKnown, readStartOptions } from './start-options.mjs';
