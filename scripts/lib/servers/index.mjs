export { s3Program } from './s3-program.mjs';
export { startTestS3 } from './s3.mjs';
export { readSecrets, saveSecrets } from './secrets.mjs';
export { notePorts, prepareServers, readPorts, startServers } from './servers.mjs';
