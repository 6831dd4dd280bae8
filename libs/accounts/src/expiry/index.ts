export { NoteExpiringKeysLoop } from './note-expiring-keys.loop';
