// What operators do with a store as a whole, for the command line.
export { backUpStore } from '../stores/backup.ts';
